"""Rare rules of J48, each tested on a table made for it."""

import numpy as np
import pandas as pd
import pytest

from keeptree._compiled.prune_counts import collapse_nodes
from keeptree._compiled.prune_error import estimate_errors, find_largest
from keeptree._compiled.shape import Shape
from keeptree.learners import C45Classifier
from keeptree.learners.prune import quantile
from tests.reference.c45 import added

GROWN = {"pruning": "none", "collapse": False}


def grow(X, y, weight=None, **options):
    return C45Classifier(**GROWN | options).fit(X, y, sample_weight=weight).tree_


def column(*values):
    return np.array(values, dtype=float)[:, None]


def nominal(**columns):
    return pd.DataFrame({name: pd.Categorical(values) for name, values in columns.items()})


def test_a_branch_never_needs_more_than_25_rows():
    """A tenth of the mean class size would be 50 here."""
    X = np.arange(1000.0)[:, None]
    assert grow(X, X[:, 0] >= 30).threshold[0] == 29
    assert grow(X, X[:, 0] >= 20).threshold[0] == 24


def test_a_branch_needs_a_tenth_of_the_mean_class_size():
    X = np.arange(200.0)[:, None]
    assert grow(X, X[:, 0] >= 4).threshold[0] == 9


@pytest.mark.parametrize(("gap", "leaves"), [(1e-5, 1), (1.1e-5, 2)])
def test_values_within_1e_5_are_never_separated(gap, leaves):
    X = np.repeat([0.0, gap], 10)[:, None]
    assert grow(X, np.repeat([0, 1], 10)).n_leaves == leaves


def test_closeness_is_not_transitive():
    """With steps of 0.7e-5, neighbours stay together, but values two steps apart may not."""
    X = np.repeat([0.0, 0.7e-5, 1.4e-5], 10)[:, None]
    assert grow(X, np.repeat([0, 1, 1], 10)).n_leaves == 1
    assert grow(np.delete(X, np.s_[10:20], axis=0), np.repeat([0, 1], 10)).n_leaves == 2


def test_the_lowest_of_tied_thresholds_wins():
    X = np.arange(60.0)[:, None]
    assert grow(X, np.repeat([0, 1, 0], 20)).threshold[0] == 19


def test_an_increase_in_gain_below_1e_6_does_not_raise_the_threshold():
    """Fifty rows of weight 1e-8 raise the gain by less than 1e-6 in total."""
    values = np.concatenate([np.arange(10), np.arange(10, 20, 0.2), np.arange(30, 40)])
    y, weight = np.repeat([0, 0, 1], [10, 50, 10]), np.repeat([1, 1e-8, 1], [10, 50, 10])
    assert grow(values[:, None], y, weight, snap_thresholds=False).threshold[0] == 9.5
    weight = np.repeat([1, 1e-3, 1], [10, 50, 10])
    assert grow(values[:, None], y, weight, snap_thresholds=False).threshold[0] > 24


def test_the_first_of_equal_columns_wins():
    X = np.arange(20.0)[:, None]
    assert grow(np.hstack([X, X]), X[:, 0] > 9).feature[0] == 0


def test_numeric_branches_need_rows_not_weight():
    weight = np.full(4, 10.0)
    assert grow(column(1, 2, 3), [0, 1, 1], weight[:3]).n_leaves == 1
    assert grow(column(1, 2, 3, 4), [0, 0, 1, 1], weight).n_leaves == 2


def test_the_penalty_counts_only_thresholds_with_enough_rows():
    """Five thresholds cost log2(5) / 8 = 0.29, more than the gain; with M = 4 only one is left."""
    X, y = np.arange(8.0)[:, None], [0, 1, 0, 0, 1, 1, 0, 1]
    assert grow(X, y).n_leaves == 1
    assert grow(X, y, min_samples_leaf=4).n_leaves == 2
    assert grow(X, y, mdl_correction=False).n_leaves > 1


def test_a_column_with_very_many_categories_does_not_raise_the_mean_gain():
    y = np.repeat([0, 1], 20)
    id_column = np.arange(40) // 2
    flag = np.arange(40) >= 34
    tree = grow(nominal(id=id_column.astype(str), flag=flag.astype(str)), y)
    assert tree.feature[0] == 1, "if the mean included id, only id would exceed it"


def test_a_column_with_very_many_categories_can_still_be_chosen():
    y = np.repeat([0, 1], 20)
    noise = np.arange(40) % 2
    noise[0] = 1
    tree = grow(nominal(id=(np.arange(40) // 2).astype(str), noise=noise.astype(str)), y)
    assert tree.feature[0] == 0


def test_columns_with_many_categories_count_if_there_are_no_others():
    tree = grow(nominal(id=(np.arange(40) // 2).astype(str)), np.repeat([0, 1], 20))
    assert tree.n_leaves == 20


def test_one_large_branch_is_not_enough_for_a_test():
    """Two branches must have at least M rows; one of eight and four of one are not enough."""
    X = nominal(a=list("aaaaaaaabcde"))
    assert grow(X, np.repeat([0, 1], [8, 4])).n_leaves == 1
    assert grow(nominal(a=list("aaaaaaaabbde")), np.repeat([0, 1], [8, 4])).n_leaves == 4


def test_the_midpoint_is_never_the_upper_neighbour():
    lower, upper = 1e16 + 2, 1e16 + 4
    assert (lower + upper) / 2 == upper
    X = np.repeat([lower, upper], 10)[:, None]
    assert grow(X, np.repeat([0, 1], 10), snap_thresholds=False).threshold[0] == lower


def test_thresholds_are_values_of_the_whole_training_set():
    left = np.column_stack([np.zeros(20), np.repeat([0, 10], 10)])
    right = np.column_stack([np.ones(20), np.full(20, 4)])
    X, y = np.vstack([left, right]), np.repeat([0, 1, 2], [10, 10, 20])
    tree = grow(X, y)
    assert tree.feature[tree.children(0)[0]] == 1
    assert tree.threshold[tree.children(0)[0]] == 4


def test_weka_3_6_may_take_a_value_above_the_midpoint():
    """The midpoint of 0.151 and 0.175 is 0.16299999999999998."""
    left = np.column_stack([np.zeros(20), np.repeat([0.151, 0.175], 10)])
    right = np.column_stack([np.ones(20), np.repeat([0.163, 0.159], 10)])
    X, y = np.vstack([left, right]), np.repeat([0, 1, 2], [10, 10, 20])
    for snap, threshold in (("exact", 0.159), ("tolerant", 0.163)):
        tree = grow(X, y, snap_thresholds=snap)
        assert tree.threshold[tree.children(0)[0]] == threshold


def test_weka_3_6_depends_on_the_order_of_close_values():
    close = np.array([1, 1 + 5e-7])
    y = np.repeat([0, 1], 10)
    for low in (close, close[::-1]):
        X = np.concatenate([np.repeat(low, 5), np.full(10, 9)])[:, None]
        assert grow(X, y, snap_thresholds="tolerant").threshold[0] == low[0]
        assert grow(X, y).threshold[0] == close[1]


def test_an_empty_branch_has_the_probabilities_of_its_parent():
    a = pd.Categorical(list("xxxxxyyyyy"), categories=list("xyz"))
    y = np.repeat([0, 1], [5, 5])
    y[0] = 1
    model = C45Classifier(**GROWN).fit(pd.DataFrame({"a": a}), y)
    unseen = pd.DataFrame({"a": pd.Categorical(["z", "x"], categories=list("xyz"))})
    np.testing.assert_allclose(model.predict_proba(unseen), [[0.4, 0.6], [0.8, 0.2]])
    model.set_params(laplace=True)
    np.testing.assert_allclose(model.predict_proba(unseen), [[5 / 12, 7 / 12], [5 / 7, 2 / 7]])


def test_ties_go_to_the_first_declared_class():
    y = pd.Categorical(["no", "yes"] * 4, categories=["yes", "no"])
    model = C45Classifier().fit(np.zeros((8, 1)), y)
    assert model.predict([[0]]) == ["yes"]


def test_laplace_smoothing_counts_classes_without_rows():
    y = pd.Categorical(["a", "b"] * 4, categories=["a", "b", "c", "d"])
    model = C45Classifier(laplace=True).fit(np.zeros((8, 1)), y)
    np.testing.assert_allclose(model.predict_proba([[0]]), [[5 / 12, 5 / 12, 1 / 12, 1 / 12]])


def test_collapsing_works_top_down():
    """Two tests save 0.0008 errors each: together enough for the root, but not for the lower test.

    Bottom-up, the lower one would be removed first, and then the root.
    """
    n_children = np.array([2, 0, 2, 0, 0], np.int32)
    first_child = np.array([1, 0, 3, 0, 0], np.int32)
    counts = np.array([[8, 2], [1, 1.0008], [7, 0.9992], [6.0, 0.1984], [0.8, 0.8008]])
    label = np.array([0, 1, 0, 0, 1], np.int32)
    unused = np.zeros(5, np.int32)
    shape = Shape(unused, np.zeros(5), first_child, n_children, unused, unused, unused, counts)
    collapse_nodes(shape, label)
    assert n_children.tolist() == [2, 0, 0, 0, 0]


def test_the_last_of_tied_branches_counts_as_the_largest():
    n_children, first_child = np.array([3, 0, 0, 0], np.int32), np.array([1, 0, 0, 0], np.int32)
    counts = np.array([[9.0, 1], [4, 0], [3, 1], [2, 0]])
    unused = np.zeros(4, np.int32)
    shape = Shape(unused, np.zeros(4), first_child, n_children, unused, unused, unused, counts)
    assert find_largest(shape, 0) == 2


@pytest.mark.parametrize("confidence", [0.05, 0.25, 0.5, 0.7])
@pytest.mark.parametrize("counts", [(9, 0), (5.5, 0.25), (6, 1), (1, 0.8), (200, 30.5), (2, 1.7)])
def test_error_estimates_match_the_reference(counts, confidence):
    errors = counts[1] + added(sum(counts), counts[1], confidence)
    table = np.array([counts], dtype=float)
    assert estimate_errors(table, 0, *quantile(confidence)) == pytest.approx(errors, rel=1e-12)


def test_the_confidence_factor_has_single_precision():
    assert quantile(0.05)[0] == float(np.float32(0.05)) != 0.05
