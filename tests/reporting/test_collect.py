"""The dict holds what scikit-learn measures, and the summary says what the dict holds."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from keeptree.importers import keep
from keeptree.reporting.collect import collect_classes, collect_tree, fingerprint
from keeptree.reporting.quality import auc_difference, mark_best, measure_scores
from keeptree.reporting.summary import summarise


def rows_of(data):
    return {row["key"]: row for row in data["methods"]}


def test_json_can_hold_the_dict(demo_data):
    assert json.loads(json.dumps(demo_data, allow_nan=False)) == demo_data


def test_every_method_decides_as_the_tree_and_the_tree_is_unchanged(demo_data):
    assert demo_data["decisions"]["kept"] == demo_data["n_test"] == 190
    assert demo_data["tree"]["unchanged"]


def test_the_rows_are_those_of_the_issue(demo_data):
    rows = rows_of(demo_data)
    assert list(rows)[:5] == ["raw", "laplace", "shrinkage", "kernel-global", "kernel-separator"]
    for row in rows.values():
        assert 0.5 < row["auc"] <= 1
        assert (row["brier"] is None) == (row["log_loss"] is None) == (row["key"] == "rank-local")


def test_leaves_have_few_scores_and_the_distance_many(demo_data):
    rows, leaves = rows_of(demo_data), demo_data["tree"]["n_leaves"]
    assert all(rows[key]["distinct"] <= leaves for key in ("raw", "laplace", "shrinkage"))
    assert rows["kernel-global"]["distinct"] > 100


def test_the_distance_chart_agrees_with_the_tree(demo_data):
    positive = demo_data["positive"]
    cases = demo_data["distance"]["cases"]
    assert len(cases) == demo_data["n_test"]
    for case in cases:  # the algebraic distance is negative inside the positive class
        assert (case["h"] < 0) == (case["decision"] == positive)
    errors = sum(case["error"] for case in cases)
    assert errors == demo_data["n_test"] - demo_data["decisions"]["right"]


def test_the_auc_of_the_cases_is_the_auc_of_the_table(demo_data):
    cases, positive = demo_data["distance"]["cases"], demo_data["positive"]
    truth = [case["truth"] == positive for case in cases]
    for key, column in (("kernel-global", "kernel"), ("laplace", "laplace")):
        auc = roc_auc_score(truth, [case[column] for case in cases])
        assert auc == pytest.approx(rows_of(demo_data)[key]["auc"], abs=1e-12)


def test_the_curve_is_a_function_of_the_distance(demo_data):
    curve = demo_data["distance"]["curve"]
    assert np.all(np.diff(curve["h"]) > 0)
    # A smooth estimate: no jump where the cases are close.
    steep = np.abs(np.diff(curve["p"])) / np.maximum(np.diff(curve["h"]), 1e-3)
    assert steep.max() < 5


def test_probability_zero_for_what_happened_is_counted_and_clipped():
    row = measure_scores(np.array([0.0, 1.0, 0.5]), np.array([True, True, False]), True)
    assert row["impossible"] == 1
    assert row["log_loss"] == pytest.approx((-np.log(np.finfo(float).eps) - np.log(0.5)) / 3)


def test_ties_in_the_digits_shown_are_all_best():
    rows = [{"auc": 0.97641, "brier": 0.1, "log_loss": 0.2},
            {"auc": 0.97639, "brier": 0.2, "log_loss": None}]  # fmt: skip
    mark_best(rows)
    assert [row["best"] for row in rows] == [["auc", "brier", "log_loss"], ["auc"]]


def test_the_interval_of_the_difference_holds_it_and_grows_with_doubt():
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.4
    good, noisy = truth + rng.normal(size=300), truth + 3 * rng.normal(size=300)
    gain = auc_difference(good, noisy, truth)
    expected = roc_auc_score(truth, good) - roc_auc_score(truth, noisy)
    assert gain["difference"] == pytest.approx(expected)
    assert gain["low"] < gain["difference"] < gain["high"]
    same = auc_difference(good, good, truth)
    assert same == {"difference": 0.0, "low": 0.0, "high": 0.0}


def changed(data, gain, **kernel):
    """A copy of the data in which the kernel fared otherwise."""
    rows = [{**r, **kernel} if r["key"] == "kernel-global" else r for r in data["methods"]]
    return {**data, "methods": rows, "ranking_gain": dict(zip(("low", "high"), gain, strict=True))}


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        ((0.01, 0.05), "ranks them better than its leaves do"),
        ((0.0004, 0.05), "no clear difference"),
        ((-0.01, 0.05), "no clear difference"),
        ((-0.05, -0.01), "ranks them worse than its leaves do"),
    ],
)
def test_the_summary_claims_no_more_than_the_interval_allows(demo_data, gain, words):
    assert words in summarise(changed(demo_data, gain))[1]


def test_the_summary_says_where_the_kernel_loses(demo_data):
    third = summarise(changed(demo_data, (0.01, 0.05), brier=0.5, log_loss=0.001))[2]
    assert "Brier score (0.500) loses to the best of the leaves" in third
    assert "log-loss (0.001) beats the best of the leaves" in third


def test_the_summary_has_three_sentences_with_the_measured_figures(demo_data):
    assert len(demo_data["summary"]) == 3
    assert f"{rows_of(demo_data)['kernel-global']['auc']:.3f}" in demo_data["summary"][1]
    assert "is unchanged" in demo_data["summary"][0]


def test_commonest_classes_keep_the_colours_and_the_rest_share_grey():
    X, y = load_digits(return_X_y=True)
    tree = keep(DecisionTreeClassifier(max_leaf_nodes=12, random_state=0).fit(X, y))
    slots = sorted(item["slot"] for item in collect_classes(tree))
    assert slots == [0, 0, 0, 0, 0, 1, 2, 3, 4, 5]


def test_the_nodes_are_those_of_the_tree():
    X, y = load_breast_cancer(return_X_y=True)
    tree = keep(DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(X, y))
    data = collect_tree(tree)
    assert [node["id"] for node in data["nodes"]] == tree.preorder.tolist()
    assert data["nodes"][0]["cases"] == len(y)
    leaves = [node for node in data["nodes"] if node["name"] is None]
    assert sum(node["cases"] for node in leaves) == len(y)
    assert sum(node["errors"] for node in leaves) == np.count_nonzero(tree.predict(X) != y)


def test_the_fingerprint_changes_with_the_tree():
    X, y = load_breast_cancer(return_X_y=True)
    trees = [DecisionTreeClassifier(max_leaf_nodes=n, random_state=0).fit(X, y) for n in (4, 4, 5)]
    prints = [fingerprint(keep(tree)) for tree in trees]
    assert prints[0] == prints[1] != prints[2]
