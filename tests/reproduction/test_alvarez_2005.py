"""The tables of the 2005 paper, computed from made-up results with known values."""

import numpy as np
import pytest

from reproduction import alvarez_2005 as paper
from reproduction.alvarez import TREES, draw_sample
from reproduction.alvarez_2005_figure import rank_sample
from reproduction.results import Results

AUC = {
    "laplace": 0.80,
    "m-estimate": 0.82,
    "global": 0.85,
    "global minmax": 0.84,
    "local laplace": 0.81,
    "local m-estimate": 0.83,
}


def make_results(n=8, datasets=("bupa", "wine"), **auc):
    """Return results in which every method has its own AUC, with a little noise."""
    rng = np.random.default_rng(0)
    auc = {**AUC, **auc}
    records = []
    for dataset in datasets:
        for sample in range(n):
            rows = [{"tree": "nbtree", "method": "nbtree", "auc": 0.9 + rng.normal(0, 0.001)}]
            for tree in TREES:
                size = {"leaves": 6 if tree == "unpruned" else 4, "accuracy": 0.9}
                rows += [{"tree": tree, "method": "tree", "hits_and_errors": 0.2 + sample / 100,
                          "kappa": 1.0 if sample % 2 else 3.0, **size}]  # fmt: skip
                for method, mean in auc.items():
                    area = mean + rng.normal(0, 0.001)
                    areas = (area * np.linspace(0, 1, 101)).tolist()
                    rows += [{"tree": tree, "method": method, "auc": area, "areas": areas}]
            records.append({"task": {"dataset": dataset, "sample": sample}, "rows": rows})
    return Results(records)


def test_sizes_and_accuracies_are_compared():
    row = paper.table_1(make_results()).rows["wine"]
    assert [cell.ours.mean for cell in row] == [4, 6, 2, 1.5, 0]


def test_hits_and_errors_are_averaged_over_samples():
    results = make_results()
    row = paper.table_2(results).rows["bupa"]
    assert row[0].ours.mean == pytest.approx(0.2 + np.arange(8).mean() / 100)
    assert row[1].ours.mean == 2
    assert row[2].ours.mean == 50  # half of the samples have kappa 3


def test_a_data_set_without_errors_is_not_compared():
    records = [{"task": {"dataset": "wine", "sample": 0},
                "rows": [{"tree": "normal", "method": "tree"}]}]  # fmt: skip
    assert paper.table_2(Results(records)).rows["wine"][0].ours is None


def test_rankings_are_compared_with_the_better_smoothing():
    results = make_results()
    assert paper.best_smoothing(results, "wine", "normal") == "m-estimate"
    assert paper.best_smoothing(make_results(laplace=0.9), "wine", "normal") == "laplace"
    row = paper.table_3(results).rows["wine"]
    assert [round(cell.ours.mean) for cell in row] == [3, 3, 3, -5]
    local = paper.table_4(results).rows["wine"]
    assert [round(cell.ours.mean) for cell in local] == [1, 1, 1]


def test_only_a_significant_sign_contradicts_the_published_one():
    table = paper.table_3(make_results())
    assert [cell.agreement for cell in table.rows["wine"]] == ["same"] * 4  # published + + + −
    assert [cell.agreement for cell in table.rows["bupa"]] == ["same", "other", "other", "other"]
    tied = paper.table_3(make_results(**{"global": 0.82})).rows["bupa"][1]
    assert tied.agreement in ("same", "open")
    assert "(+) ✓" in table.to_markdown()
    assert "The sign agrees in 5 of 8 cells (≠ 3)." in table.to_markdown()


def test_the_abscissa_is_one_if_the_ranking_is_always_ahead():
    table = paper.table_5(make_results())
    assert [cell.ours.mean for cell in table.rows["wine"]] == [1, 1, 1, 1]
    assert {cell.agreement for cell in table.rows["wine"]} == {"same"}  # published: to the end
    assert {cell.agreement for cell in table.rows["bupa"]} == {"other"}  # published: in part
    behind = paper.table_5(make_results(**{"global": 0.7})).rows["bupa"][2]
    assert behind.ours.mean == 0
    assert behind.agreement == "open"  # the paper's number is illegible


def test_pima_must_be_ahead_at_the_beginning_as_the_paper_states():
    behind = paper.table_5(make_results(datasets=("pima",), **{"global": 0.7})).rows["pima"][2]
    assert behind.agreement == "other"


def test_the_claims_are_judged_by_the_measured_results():
    verdicts = judge_claims(make_results())
    local = next(text for text in verdicts if text.startswith("Local ranking is always"))
    assert verdicts[local] == "holds"
    worse = make_results(**{"local laplace": 0.7, "local m-estimate": 0.7})
    assert judge_claims(worse)[local] == "does not hold"


def judge_claims(results):
    return {claim["text"]: claim["verdict"] for claim in paper.claims(results).to_dict()["claims"]}


def test_local_ranking_keeps_the_order_of_the_leaves():
    # "The local geometric ranking curve intersects the basic m-estimate curve at leaf points."
    scores = rank_sample(draw_sample("wdbc", 0, "plain"))
    order = np.argsort(scores["local ranking"])
    assert (np.diff(scores["m-estimate"][order]) >= -1e-12).all()
    assert len(np.unique(scores["local ranking"])) > 5 * len(np.unique(scores["m-estimate"]))
