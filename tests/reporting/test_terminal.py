"""The terminal shows the same figures as the page."""

import io

import pytest

from keeptree.reporting.terminal import print_report

console = pytest.importorskip("rich.console")


def printed(data, **options):
    out = io.StringIO()
    print_report({**data, "page": "/x/page.html"}, console.Console(file=out, **options))
    return out.getvalue()


def test_the_table_has_the_figures_and_marks_the_best(demo_data):
    lines = printed(demo_data, width=100).splitlines()
    for row in demo_data["methods"]:
        line = next(text for text in lines if text.startswith(f"{row['label']}  "))
        assert line.split()[-1] == str(row["distinct"])
        assert f"{row['auc']:.3f}" in line
        assert line.count("*") == len(row["best"])


def test_it_fits_a_terminal_of_eighty_columns(demo_data):
    assert max(map(len, printed(demo_data, width=80).splitlines())) <= 80


def test_the_path_is_never_broken(demo_data):
    data = {**demo_data, "page": ""}
    out = io.StringIO()
    path = "/long" * 40 + "/page.html"
    print_report({**data, "page": path}, console.Console(file=out, width=60))
    assert path in out.getvalue()
