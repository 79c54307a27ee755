"""Katz et al. (2012): folds, AUCs and marks, and the whole paper on small data."""

import json
from pathlib import Path

import numpy as np
import pytest

from reproduction.agreement import Estimate
from reproduction.katz import (
    AREAS,
    CODINGS,
    LAPLACE,
    SEVERAL,
    SIZES,
    VARIANTS,
    list_size_tasks,
    score_task,
)
from reproduction.katz_gains import CloseCell, PValueCell, ShareCell
from reproduction.published_2012 import TABLE_I, TABLE_I_WEIGHTED, TABLE_II, TABLE_III
from reproduction.reproduce import reproduce


def test_every_published_value_has_a_data_set():
    assert set(TABLE_I) == set(TABLE_III) == set(CODINGS)
    assert set(TABLE_I_WEIGHTED) == set(SEVERAL)
    assert TABLE_I["spam"]["TDIST"].mean == -6.9
    assert {variant for row in TABLE_II.values() for variant in row} | {"COMB, n"} == set(VARIANTS)


@pytest.fixture(scope="module")
def rows():
    return {row["method"]: row for row in score_task({"dataset": "glass", "sample": 0})}


def test_a_task_measures_every_auc_of_every_method(rows):
    assert set(rows) == {"C4.5", LAPLACE, *VARIANTS, "random forest", "noise"}
    for row in rows.values():
        assert row["tree"] == "folds"
        assert all(0.5 < row[area] <= 1 for area in AREAS)
    assert [method for method, row in rows.items() if "affected" in row] == list(VARIANTS)
    assert rows["TDIST"]["affected"] > rows["NORM"]["affected"]


def test_counting_ties_as_zero_costs_the_tree_most_and_favours_noise(rows):
    cost = {method: row["auc"] - row["auc_ties_0"] for method, row in rows.items()}
    assert cost["noise"] == pytest.approx(0, abs=1e-9)  # it has no ties left
    assert cost["C4.5"] > cost["TDIST"] > 0
    assert abs(rows["noise"]["auc"] / rows["C4.5"]["auc"] - 1) < 0.03
    assert rows["noise"]["auc_ties_0"] / rows["C4.5"]["auc_ties_0"] - 1 > 0.08


def test_each_size_trains_on_its_share_of_the_data():
    tasks = list_size_tasks(2, ["glass"], {"glass": "here"}, "10-fold")
    assert [task["size"] for task in tasks] == 2 * [*SIZES]
    small, large = (
        score_task({"dataset": "glass", "sample": 0, "size": size})[0] for size in (10, 90)
    )
    assert (small["tree"], large["tree"]) == ("10 %", "90 %")
    assert small["auc"] < large["auc"]


@pytest.mark.parametrize(
    ("ours", "published", "mark"),
    [(3.0, 3.1, "same"), (6.0, 3.1, "weaker"), (-0.5, 3.1, "other"), (0.1, 3.1, "other"),
     (1.0, 0.0, "same"), (-9.0, -6.9, "weaker")],
)  # fmt: skip
def test_gains_are_marked_by_sign_and_closeness(ours, published, mark):
    assert CloseCell(Estimate(ours), Estimate(published)).agreement == mark


def test_shares_and_p_values_are_marked_by_agreement():
    assert ShareCell(Estimate(80.0), Estimate(84.3)).agreement == "same"
    assert ShareCell(Estimate(36.0), Estimate(15.0)).agreement == "weaker"
    assert ShareCell(None, Estimate(15.0)).agreement == "open"
    sure, unsure = Estimate(1.0, p=0.01), Estimate(1.0, p=0.5)
    assert PValueCell(sure, Estimate(5.0, p=0.02)).agreement == "same"
    assert PValueCell(unsure, Estimate(5.0, p=0.02)).agreement == "weaker"
    assert PValueCell(unsure, Estimate(5.0, p=0.33)).agreement == "same"
    assert PValueCell(Estimate(-1.0, p=0.01), Estimate(5.0, p=0.02)).agreement == "other"


def test_the_whole_paper_is_reproduced_on_small_data(tmp_path):
    names = ["ecoli", "glass", "vehicle", "MiniBooNE"]
    report = reproduce(
        "katz-2012", samples=1, datasets=names, out=tmp_path, n_jobs=1, progress=False
    )
    assert list(report["unavailable"]) == ["MiniBooNE"]
    assert report["failures"] == []
    tables = {part["table"]: part for part in report["sections"] if "table" in part}
    assert list(tables) == ["I", "I-TIES-0", "II", "II-TIES-0", "III", "claims"]
    assert list(tables["I"]["rows"]) == ["ecoli", "MiniBooNE", "glass", "glass, weighted",
                                         "vehicle", "vehicle, weighted"]  # fmt: skip
    assert {cell["agreement"] for cell in tables["III"]["rows"]["MiniBooNE"]} == {"open"}
    assert {claim["verdict"] for claim in tables["claims"]["claims"]} == {"too few to say"}
    for key in ("I", "I-TIES-0"):
        for row in tables[key]["rows"].values():
            assert [cell["published"] is None for cell in row] == [False] * 4 + [True] * 2
    # The multiclass columns can be reproduced only if ties count as 0.
    half, nothing = (
        np.array([cell["ours"]["mean"] for cell in tables[key]["rows"]["vehicle"][1:3]])
        for key in ("I", "I-TIES-0")
    )
    assert (half < 4).all()
    np.testing.assert_allclose(nothing, [8.34, 8.07], atol=2)
    assert len(tables["II"]["rows"]) == 9
    assert (tmp_path / "katz-2012-figure-6.svg").read_text().startswith("<?xml")
    assert all(Path(path).is_file() for path in report["files"])
    text = (tmp_path / "katz-2012.md").read_text(encoding="utf-8")
    for part in ("Table I:", "Table I-TIES-0", "Table II", "Table III", "Claims", "Figure 6"):
        assert f"## {part}" in text
    # The published value is shown even though we have no result.
    assert "| MiniBooNE | not available here (14.30) ? |" in text
    assert "(p 0.018)" in text
    json.loads((tmp_path / "katz-2012.json").read_text())
    lines = (tmp_path / "katz-samples.jsonl").read_text().splitlines()
    assert len(lines) == 3 + 3 * len(SIZES)
