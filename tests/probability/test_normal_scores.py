"""Normal scores depend only on the order of the values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.data.sample import Sample
from keeptree.probability.kernel_expert import fit_kernel
from keeptree.probability.kernel_space import embed
from keeptree.probability.normal_scores import normal_scores
from keeptree.probability.soft_tests import soft_tests

numbers = st.lists(st.integers(-20, 20), min_size=3, max_size=40)


def stump(X, y=None):
    y = (X[:, 0] > np.median(X[:, 0])).astype(int) if y is None else y
    return kt.keep(DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, y)), y


def a_tree():
    return stump(np.arange(10.0)[:, None])[0]


@given(numbers)
def test_scores_depend_only_on_the_order_of_the_values(values):
    X, tree = np.array(values, dtype=float)[:, None], a_tree()
    plain, bent = (normal_scores(Sample(tree, Z), 0) for Z in (X, np.exp(X / 5)))
    np.testing.assert_array_equal(plain.score, bent.score)
    assert (np.diff(plain.score) > 0).all()
    np.testing.assert_array_equal(plain.of(X[:, 0]), bent.of(np.exp(X / 5)[:, 0]))


@given(numbers, st.data())
def test_an_integer_weight_equals_repeated_values(values, data):
    X, tree = np.array(values, dtype=float)[:, None], a_tree()
    size = st.lists(st.integers(1, 3), min_size=len(X), max_size=len(X))
    times = np.array(data.draw(size))
    weighted = normal_scores(Sample(tree, X, weight=times.astype(float)), 0)
    repeated = normal_scores(Sample(tree, np.repeat(X, times, axis=0)), 0)
    np.testing.assert_allclose(weighted.score, repeated.score, atol=1e-12)


def test_missing_values_and_rows_without_weight_do_not_count():
    X = np.array([[1.0], [np.nan], [2.0], [9.0]])
    scores = normal_scores(Sample(a_tree(), X, weight=np.array([1.0, 1, 1, 0])), 0)
    assert scores.value.tolist() == [1, 2]
    np.testing.assert_allclose(scores.score, norm.ppf([0.25, 0.75]))


def test_the_local_spread_of_a_normal_column_is_its_standard_deviation():
    X = 3 + 7 * norm.ppf((np.arange(4000) + 0.5) / 4000)[:, None]
    tree, y = stump(X)
    sample = Sample(tree, X, y)
    local, whole = (soft_tests(sample, scale=scale).spread for scale in ("score", "deviation"))
    np.testing.assert_allclose(local, whole, rtol=0.02)


def test_the_local_spread_of_a_skewed_column_grows_with_the_values():
    X = np.exp(norm.ppf((np.arange(4000) + 0.5) / 4000))[:, None]
    scores = normal_scores(Sample(a_tree(), X), 0)
    places = np.exp([-1.0, 0.0, 1.0])
    slope = np.sinh(0.75) / 0.75  # slope of the chord of exp over a window of ±0.75
    spread = scores.local_spread(places, X.std())
    np.testing.assert_allclose(spread, np.maximum(places * slope, X.std() / 20), rtol=0.02)


@pytest.mark.parametrize("value", [0.0, 1e300, -1e-300])
def test_a_constant_column_keeps_the_given_spread(value):
    scores = normal_scores(Sample(a_tree(), np.full((5, 1), value)), 0)
    np.testing.assert_array_equal(scores.local_spread(np.array([value]), 1.5), [1.5])


@pytest.mark.parametrize("bend", [np.exp, lambda X: X**3, np.round])
def test_transforming_a_column_hardly_changes_an_axis_of_normal_scores(bend):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(1500, 1))
    y = rng.random(1500) < 1 / (1 + np.exp(-2 * Z[:, 0]))
    coordinates = []
    for X in (Z, bend(Z)):
        tree, _ = stump(X, y)
        sample = Sample(tree, X, y.astype(int))
        space, _, _ = embed(sample, sample.observed.columns, "score")
        assert space.scale == "score"
        points = space.coordinates(X)[:, 0]
        np.testing.assert_allclose(points.std(), 1, rtol=0.05)
        coordinates.append(points)
    assert np.corrcoef(*coordinates)[0, 1] > (0.9 if bend is np.round else 0.98)


def test_the_kernel_chooses_normal_scores_for_skewed_columns():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(800, 2))
    y = (rng.random(800) < 1 / (1 + np.exp(-3 * np.sin(2 * Z[:, 0]) - Z[:, 1]))).astype(int)
    for X, scale in ((Z, "deviation"), (np.exp(2 * Z), "score")):
        tree, _ = stump(X, y)
        expert = fit_kernel(Sample(tree, X, y))
        if scale == "score":
            assert expert.settings.scale == scale
        again = fit_kernel(Sample(tree, X, y), expert.settings)
        assert again.settings == expert.settings
