"""Metric: scales, costs and invalid input."""

import tracemalloc

import numpy as np
import pytest

from keeptree import Boundary, Metric, Tree
from keeptree.data.sample import Sample
from tests.strategies import random_tree

TREE = random_tree(0, n_leaves=12, n_features=4, n_nominal=1)
N_CATEGORIES = len(TREE.categories[3])


def rows(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(3, [1, 10, 1e6, 1], size=(n, 4))
    X[:, 3] = np.arange(n) % N_CATEGORIES
    return X


def test_the_standard_scale_is_the_weighted_standard_deviation_of_known_values():
    X, weight = rows(), np.arange(60) % 3.0
    X[::7, 1] = np.nan
    repeated = np.repeat(X, weight.astype(int), axis=0)
    metric = Metric().fit(X, TREE, sample_weight=weight)
    np.testing.assert_allclose(metric.scale_[:3], np.nanstd(repeated[:, :3], axis=0))
    np.testing.assert_allclose(metric.center_[:3], np.nanmean(repeated[:, :3], axis=0))


def test_weights_may_be_a_column_of_a_table_or_a_list():
    X, weights = rows(), np.column_stack([np.arange(60) % 3.0, np.ones(60)])
    y = np.arange(60) % 2
    for nominal in ("overlap", "value-difference"):
        metric = Metric(nominal=nominal).fit(X, TREE, y, weights[:, 0].copy())
        for weight in (weights[:, 0], weights[:, 0].tolist(), weights[:, 0].astype(np.int32)):
            same = Metric(nominal=nominal).fit(X, TREE, y, weight)
            np.testing.assert_array_equal(same.factor_, metric.factor_)
            np.testing.assert_array_equal(same.category_costs_[3], metric.category_costs_[3])


def test_the_minmax_scale_is_the_range_of_rows_with_positive_weight():
    X, weight = rows(), np.ones(60)
    X[5], weight[5] = 1e9, 0.0
    X[5, 3] = 0
    metric = Metric("minmax").fit(X, TREE, sample_weight=weight)
    kept = np.delete(X, 5, axis=0)[:, :3]
    np.testing.assert_allclose(metric.scale_[:3], np.ptp(kept, axis=0))


def test_constant_and_entirely_missing_attributes_have_scale_one():
    X = rows()
    X[:, 0], X[:, 1] = 0.1, np.nan
    for kind in ("standard", "minmax"):
        np.testing.assert_array_equal(Metric(kind).fit(X, TREE).scale_[[0, 1]], [1.0, 1.0])


def test_very_large_numbers_do_not_overflow():
    X = rows()
    X[:, 0] *= 1e290
    scale = Metric().fit(X, TREE).scale_
    assert scale[0] == pytest.approx(1e290 * rows()[:, 0].std())


def test_custom_scales_and_costs_are_used_and_the_given_metric_is_not_changed():
    costs = {1: 3.0}
    metric = Metric(scales=[1, 2, 4, 1], costs=costs)
    fitted = Boundary(TREE, metric).fit_sample(Sample(TREE, rows())).metric_
    np.testing.assert_allclose(fitted.factor_, [1, 1.5, 0.25, 1])
    assert costs == {1: 3.0}
    assert not hasattr(metric, "factor_")


def test_nominal_costs_are_the_overlap_times_the_cost_of_the_attribute():
    metric = Metric(costs={3: 2.5}).fit(rows(), TREE)
    expected = 2.5 * (1 - np.eye(N_CATEGORIES))
    np.testing.assert_array_equal(metric.category_costs_[3], expected)
    assert metric.category_costs_[0] is None


def test_only_columns_that_the_tree_tests_get_a_cost_matrix():
    labels = tuple(f"id{k}" for k in range(20_000))  # the full matrix would take 3 GB
    tree = Tree(
        kind=[1, 0, 0], feature=[0, -1, -1], threshold=[2.5, np.nan, np.nan],
        child_start=[0, 2, 2, 2], child=[1, 2], missing=[-2] * 3, counts=[[2, 2], [2, 0], [0, 2]],
        classes=[0, 1], n_features=2, categories=[None, labels],
    )  # fmt: skip
    X = np.array([[1.0, 5], [4.0, 9], [2.0, 19_999]])
    for nominal in ("overlap", "value-difference"):
        metric = Metric(nominal=nominal)
        tracemalloc.start()
        boundary = Boundary(tree, metric).fit_sample(Sample(tree, X, [0, 1, 0]))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 50e6
        assert boundary.metric_.category_costs_ == [None, None]
        assert np.isfinite(boundary.class_distances(X)).all()
    unused = random_tree(0, n_leaves=1, n_features=1, n_nominal=1)
    n = len(unused.categories[0])
    metric = Metric(nominal={0: 1 - np.eye(n)}).fit(np.zeros((2, 1)), unused)
    assert metric.category_costs_ == [None]
    # An invalid matrix is an error even if no test uses it.
    with pytest.raises(ValueError, match="cost matrix"):
        Metric(nominal={0: np.ones((n, n))}).fit(np.zeros((2, 1)), unused)


def test_value_difference_is_the_distance_between_class_proportions():
    X = rows(8)
    X[:, 3] = [0, 0, 0, 0, 1, 1, 1, 1]
    y = np.array(list("aabbabbb"))
    matrix = Metric(nominal="value-difference").fit(X, TREE, y).category_costs_[3]
    assert matrix[0, 1] == pytest.approx(np.hypot(0.5 - 0.25, 0.5 - 0.75))
    if N_CATEGORIES > 2:  # a category without cases gets the proportions of the sample, 3/8 and 5/8
        assert matrix[0, 2] == pytest.approx(np.hypot(0.125, 0.125))
    with pytest.raises(ValueError, match="needs y"):
        Metric(nominal="value-difference").fit(X, TREE)


def test_a_custom_matrix_gives_the_costs_from_row_to_column():
    own = np.arange(N_CATEGORIES**2, dtype=float).reshape(N_CATEGORIES, -1)
    np.fill_diagonal(own, 0)
    metric = Metric(nominal={3: own}).fit(rows(), TREE)
    np.testing.assert_array_equal(metric.category_costs_[3], own)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("what", ["scales", "costs"])
def test_a_scale_or_cost_must_be_positive_and_finite(what, value):
    with pytest.raises(ValueError, match=rf"{what} is .* for 'x\[1\]', but must be a positive"):
        Metric(**{what: {1: value}}).fit(rows(), TREE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "euclid"}, "is not a metric"),
        ({"scales": [1, 2]}, "but the tree has 4 columns"),
        ({"scales": {"height": 1}}, "not a column of the tree"),
        ({"costs": {9: 1}}, "not a column of the tree"),
        ({"nominal": "hamming"}, "is not known"),
        ({"nominal": {0: [[0]]}}, "which is numeric"),
        ({"nominal": {3: [[0, 1], [1, 1]]}}, "cost matrix"),
        ({"nominal": {3: -np.ones((N_CATEGORIES, N_CATEGORIES))}}, "cost matrix"),
    ],
)
def test_an_invalid_metric_raises_a_clear_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        Metric(**arguments).fit(rows(), TREE)
