"""The terminal shows the same figures as the page."""

import io
import json

import pytest

from keeptree.reporting.quality import SHOWN_METRICS
from keeptree.reporting.terminal import figures, print_report

console = pytest.importorskip("rich.console")


def printed(data, **options):
    out = io.StringIO()
    print_report({**data, "page": "/x/page.html"}, console.Console(file=out, **options))
    return out.getvalue()


def test_the_table_contains_the_figures(demo_data):
    lines = printed(demo_data, width=100).splitlines()
    for key, (name, _) in SHOWN_METRICS.items():
        line = next(text for text in lines if text.startswith(f"{name}  "))
        for who in ("ours", "leaves"):
            assert f"{demo_data['quality']['metrics'][key][who]['value']:.3f}" in line


def test_the_demo_compares_the_methods_on_the_same_tree(demo_data):
    text = printed(demo_data, width=100)
    rows = {row["name"]: row for row in demo_data["methods"]}
    leaves = rows["leaves"]
    for name, row in rows.items():
        line = next(line for line in text.splitlines() if line.startswith(f"{name} "))
        assert f"{row['auc']:.3f}" in line
        assert line.endswith(f" {row['distinct']}")
        assert (row["log_loss"] is None) == ("rank" in name)
    metrics = demo_data["quality"]["metrics"]
    kept = rows["ours (kept)"]
    assert kept["auc"] == pytest.approx(metrics["auc"]["ours"]["value"])
    assert leaves["auc"] == pytest.approx(metrics["auc"]["leaves"]["value"])
    assert leaves["distinct"] < 10 < kept["distinct"]


def test_the_output_fits_a_terminal_of_eighty_columns(demo_data):
    text = printed(demo_data, width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text  # no text is shortened


def test_without_held_out_cases_there_is_no_table(demo_data):
    text = printed({**demo_data, "methods": None, "quality": None}, width=100)
    assert "Brier" not in text
    assert "Page: /x/page.html" in text


def test_an_auc_without_an_interval_has_no_interval_in_the_table(demo_data):
    quality = demo_data["quality"]
    auc = {
        who: {**row, "low": None, "high": None} for who, row in quality["metrics"]["auc"].items()
    }
    data = {**demo_data, "quality": {**quality, "metrics": {**quality["metrics"], "auc": auc}}}
    line = next(text for text in printed(data, width=100).splitlines() if text.startswith("AUC  "))
    assert line.rstrip().endswith("-")


def test_a_long_path_is_not_broken_into_lines(demo_data):
    out = io.StringIO()
    path = "/long" * 40 + "/page.html"
    print_report({**demo_data, "page": path}, console.Console(file=out, width=60))
    assert path in out.getvalue()


def test_the_figures_for_programs_are_short_json(demo_data):
    text = json.dumps(figures(demo_data), allow_nan=False)
    assert len(text) < 5_000
    assert json.loads(text)["metrics"] == demo_data["quality"]["metrics"]
