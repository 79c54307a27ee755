from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree._compiled.divide_cells import divide_cells
from keeptree._compiled.landmarks import nearest_landmark
from keeptree.data.sample import Sample
from keeptree.probability import kernel_expert
from keeptree.probability.condense import condense
from keeptree.probability.kernel_expert import (
    GAUSSIAN,
    LAPLACE,
    MOST_LANDMARKS,
    KernelSettings,
    fit_kernel,
    leave_one_out,
)
from keeptree.probability.kernel_metric import Comparison, penalised_loss
from keeptree.probability.kernel_space import embed, importances
from tests.reference import cells as naive_cells
from tests.reference import landmarks as reference
from tests.strategies import random_rows, random_tree, trees

CHOSEN = KernelSettings(0.3, 0.5, 0.1)


def probabilities(expert, X):
    out = np.empty((len(X), len(expert.prior)))
    expert.probability(X, out)
    return out


def sample_of(tree, seed, n=60, missing=0.0):
    rng = np.random.default_rng(seed)
    X = random_rows(tree, seed, n=n, missing=missing)
    return X, rng.integers(len(tree.classes), size=n), rng.integers(0, 3, size=n) + 0.5


@settings(max_examples=40, deadline=None)
@given(
    tree=trees(max_leaves=12, missing=("child", "share")),
    seed=st.integers(0, 2**32 - 1),
    missing=st.sampled_from([0.0, 0.3]),
    most=st.sampled_from([7, 1000]),
    shape=st.sampled_from([LAPLACE, GAUSSIAN]),
)
def test_kernel_sums_agree_with_the_reference(tree, seed, missing, most, shape):
    X, y, weight = sample_of(tree, seed, missing=missing)
    expert = fit_kernel(Sample(tree, X, y, weight), CHOSEN, most=most)
    assert expert.shape == LAPLACE
    expert = replace(expert, shape=shape)  # models of older files have the other one
    rows = random_rows(tree, seed + 1, n=20, missing=missing)
    expected = [reference.probability(expert, row) for row in rows]
    np.testing.assert_allclose(probabilities(expert, rows), expected, rtol=1e-11, atol=1e-14)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 300), width=st.sampled_from([4, 8]))
def test_the_nearest_landmark_agrees_with_the_reference(seed, n, width):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, size=(n, width)).astype(np.float32)  # many ties
    landmarks = rng.integers(0, 4, size=(9, width)).astype(np.float32)
    nearest = np.empty(n, dtype=np.int64)
    nearest_landmark(points, landmarks, nearest)
    assert nearest.tolist() == [reference.nearest_landmark(p, landmarks) for p in points]


@settings(max_examples=25, deadline=None)
@given(tree=trees(max_leaves=12), seed=st.integers(0, 2**32 - 1))
def test_probabilities_are_finite_and_sum_to_one_at_any_distance(tree, seed):
    X, y, weight = sample_of(tree, seed)
    expert = fit_kernel(Sample(tree, X, y, weight))
    far = random_rows(tree, seed, n=30)
    numeric = [f for f, labels in enumerate(tree.categories) if labels is None]
    far[:, numeric] *= 10.0 ** np.random.default_rng(seed).integers(-300, 300, len(numeric))
    p = probabilities(expert, far)
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


@pytest.mark.parametrize("shape", [LAPLACE, GAUSSIAN])
@pytest.mark.parametrize("n", [1, 255, 256, 257, 500])
def test_probabilities_do_not_depend_on_the_block_of_a_row(cancer, cancer_tree, n, shape):
    X, y = cancer
    expert = replace(fit_kernel(Sample(kt.keep(cancer_tree), X, y), CHOSEN), shape=shape)
    np.testing.assert_array_equal(
        probabilities(expert, X)[5 : 5 + n], probabilities(expert, X[5 : 5 + n])
    )


def test_one_missing_value_does_not_change_the_other_rows(cancer, cancer_tree):
    # A block with a missing value uses another loop.
    X, y = cancer
    expert = fit_kernel(Sample(kt.keep(cancer_tree), X, y), CHOSEN)
    holed = X.copy()
    holed[3, expert.space.feature[0]] = np.nan
    before, after = probabilities(expert, X), probabilities(expert, holed)
    np.testing.assert_array_equal(np.delete(after, 3, 0), np.delete(before, 3, 0))
    assert not np.allclose(after[3], before[3])


def test_far_from_every_case_the_prior_decides(iris, iris_tree):
    X, y = iris
    expert = fit_kernel(Sample(kt.keep(iris_tree), X, y))
    np.testing.assert_allclose(probabilities(expert, X[:2] + 1e9), [expert.prior] * 2)


@settings(max_examples=30, deadline=None)
@given(tree=trees(max_leaves=10), seed=st.integers(0, 2**32 - 1), most=st.sampled_from([9, 1000]))
def test_leaving_a_case_out_equals_fitting_without_it(tree, seed, most):
    X, y, weight = sample_of(tree, seed, n=40)
    expert = fit_kernel(Sample(tree, X, y, weight), CHOSEN, most=most)
    member = _members(tree, X, y, weight, most)
    sums = leave_one_out(expert, X, y, weight / weight.mean(), member)
    for i in range(0, 40, 13):
        np.testing.assert_allclose(
            sums[i], _without(expert, X, y, weight / weight.mean(), member, i), rtol=1e-4, atol=1e-5
        )


def _members(tree, X, y, weight, most):
    sample = Sample(tree, X, y, weight / weight.mean())
    space, importance, _ = embed(sample, sample.observed.columns)
    points = space.coordinates(X) * importance**CHOSEN.power
    return condense(points, y, len(tree.classes), most)[0]


def _without(expert, X, y, weight, member, i):
    """Return the class sums at case i, with its landmark computed without case i."""
    points = expert.space.coordinates(X)
    rest = np.flatnonzero((member == member[i]) & (np.arange(len(y)) != i))
    landmarks, mass = expert.landmarks.copy(), expert.mass.copy()
    mass[member[i]] = weight[rest].sum()
    if len(rest):
        mean = np.average(points[rest], axis=0, weights=weight[rest])
        landmarks[member[i], : len(mean)] = mean
    return reference.class_sums(replace(expert, landmarks=landmarks, mass=mass), X[i])


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 200),
    n_classes=st.integers(1, 5),
    most=st.integers(5, 80),
)
def test_cells_contain_cases_of_one_class_and_respect_the_limit(seed, n, n_classes, most):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, size=(n, 3)).astype(float)  # many equal cases
    points[rng.random(points.shape) < 0.1] = np.nan
    y = rng.integers(n_classes, size=n)
    member, n_of_class = condense(points, y, n_classes, most)
    assert n_of_class.sum() <= max(most, n_classes)
    assert (np.repeat(np.arange(n_classes), n_of_class)[member] == y).all()
    assert len(np.unique(member)) == n_of_class.sum()  # no cell is empty


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 120),
    width=st.integers(1, 5),
    most=st.integers(1, 60),
    whole=st.booleans(),
)
def test_cells_are_divided_as_by_the_reference(seed, n, width, most, whole):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, width))
    points = points.round() if whole else points  # equal points, cells of the same size
    points[rng.random(points.shape) < 0.1] = np.nan
    cell = np.empty(n, dtype=np.int64)
    divide_cells(points, most, cell)
    np.testing.assert_array_equal(cell, naive_cells.divide(points, most))


def test_points_without_coordinates_share_a_cell():
    cell = np.empty(3, dtype=np.int64)
    divide_cells(np.empty((3, 0)), 2, cell)
    assert cell.tolist() == [0, 0, 0]


def test_a_limited_number_of_landmarks_gives_almost_the_same_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 3))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=8000) / 3 > 0).astype(int)
    tree = kt.keep(DecisionTreeClassifier(max_leaf_nodes=12, random_state=0).fit(X, y))
    expert = fit_kernel(Sample(tree, X, y))
    assert len(expert.mass) <= MOST_LANDMARKS
    assert expert.mass.sum() == pytest.approx(8000)
    new = rng.normal(size=(2000, 3))
    p = probabilities(expert, new)[:, 1]
    every = probabilities(fit_kernel(Sample(tree, X, y), most=8000), new)[:, 1]
    assert np.abs(p - every).mean() < 0.02


def test_cells_contain_the_cases_around_their_centres():
    # After k-means, no case is nearer to another centre of its class.
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.normal(size=(50, 4)) + 20 * k for k in range(6)])
    member, n_of_class = condense(points, np.zeros(300, dtype=int), 1, most=6)
    assert n_of_class.tolist() == [6]
    assert all(len(set(member[50 * k : 50 * k + 50])) == 1 for k in range(6))


def test_copies_of_cases_do_not_reduce_the_bandwidth():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(900, 3))
    y = (X.sum(axis=1) + rng.normal(size=900) > 0).astype(int)
    tree = kt.keep(DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X[:300], y[:300]))
    once = fit_kernel(Sample(tree, X[:300], y[:300]))
    again = np.tile(np.arange(300), 3)
    thrice = fit_kernel(Sample(tree, X[again], y[again]))
    assert thrice.width == once.width
    assert thrice.power == once.power
    losses = [
        -np.log(probabilities(expert, X[300:])[np.arange(600), y[300:]]).mean()
        for expert in (once, thrice)
    ]
    assert losses[1] < 1.03 * losses[0]


def test_weights_count_as_repeated_cases(iris, iris_tree):
    X, y = iris
    tree = kt.keep(iris_tree)
    rng = np.random.default_rng(1)
    times = rng.integers(0, 4, size=len(y))
    some = fit_kernel(Sample(tree, X, y, times.astype(float)), CHOSEN)
    again = np.repeat(np.arange(len(y)), times)
    every = fit_kernel(Sample(tree, X[again], y[again]), CHOSEN)
    # The mean weight differs, so pseudo-cases do not have exactly the same effect.
    np.testing.assert_allclose(probabilities(some, X), probabilities(every, X), atol=0.05)


def test_importances_agree_with_scikit_learn(cancer, cancer_tree):
    ours = importances(kt.keep(cancer_tree))
    theirs = cancer_tree.feature_importances_
    np.testing.assert_allclose(ours, theirs / theirs.max(), atol=1e-3)


def test_a_tree_with_one_leaf_gives_the_class_shares():
    tree = random_tree(0, n_leaves=1, n_classes=3)
    X, y, weight = random_rows(tree, 0), np.arange(50) % 3, np.ones(50)
    p = probabilities(fit_kernel(Sample(tree, X, y, weight)), X)
    np.testing.assert_allclose(p, [np.bincount(y) / 50] * 50, rtol=1e-9)


def test_bells_are_wide_where_landmarks_are_sparse():
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(size=(150, 2)), 6 + 4 * rng.normal(size=(150, 2))])
    y = (X[:, 0] + X[:, 1] + rng.normal(size=300) > 4).astype(int)
    tree = kt.keep(DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X, y))
    expert = fit_kernel(Sample(tree, X, y), CHOSEN)
    lonely = np.sort(expert.landmarks[np.argsort(expert.sharpness)[:30]], axis=0)
    crowded = np.sort(expert.landmarks[np.argsort(expert.sharpness)[-30:]], axis=0)
    assert np.ptp(lonely[:, 0]) > 3 * np.ptp(crowded[:, 0])
    # On average, landmarks keep the chosen bandwidth.
    assert np.log(expert.sharpness).mean() == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize(
    "damage",
    [
        {"sharpness": -1.0},
        {"mass": -1.0},
        {"prior": -1.0},
        {"pseudo_cases": 0.0},
        {"shape": "round"},
        {"shape": np.array([LAPLACE])},
    ],
    ids=str,
)
def test_a_damaged_expert_is_refused(iris, iris_tree, damage):
    X, y = iris
    tree = kt.keep(iris_tree)
    expert = fit_kernel(Sample(tree, X, y), CHOSEN)
    expert.check(tree)
    ((name, factor),) = damage.items()
    value = getattr(expert, name)
    value = (value * factor).astype(value.dtype) if isinstance(value, np.ndarray) else factor
    with pytest.raises(ValueError, match=name):
        replace(expert, **{name: value}).check(tree)


def test_the_gradient_of_the_stretched_axes_agrees_with_finite_differences():
    rng = np.random.default_rng(0)
    n, m, d = 40, 60, 3
    of_landmark, y = np.arange(m) % 2, rng.integers(2, size=n)
    comparison = Comparison(
        gaps=rng.exponential(size=(d, n, m)).astype(np.float32),
        mass=rng.uniform(0.5, 2, (n, m)).astype(np.float32),
        own=of_landmark == y[:, None],
        weight=rng.uniform(0.5, 2, n),
        pseudo=(np.full(n, 0.05), 0.1),
    )
    at, step = rng.normal(0, 0.3, d), 1e-2
    expected = [
        penalised_loss(at + step * axis, comparison)[0]
        - penalised_loss(at - step * axis, comparison)[0]
        for axis in np.eye(d)
    ]
    gradient = penalised_loss(at, comparison)[1]
    np.testing.assert_allclose(gradient, np.array(expected) / (2 * step), rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_an_axis_of_noise_shrinks_and_one_that_separates_the_classes_is_stretched(missing):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    X[:, 1:][rng.random((600, 2)) < missing] = np.nan
    tree = kt.keep("a <= 0: 0\na > 0: 1", X=pd.DataFrame(X, columns=["a", "b", "c"]), y=y)
    sample = Sample(tree, X, y, more="all")
    cloud, judges = kernel_expert._cloud(sample, "deviation", 0.0, MOST_LANDMARKS)
    factors = kernel_expert._stretch(cloud, judges, KernelSettings(0.3, 0.0, 0.1))
    assert min(factors[:2]) > 1 > factors[2]


@pytest.mark.parametrize(
    ("more", "n", "most"), [("tree", 600, 600), ("all", 299, 600), ("all", 600, 599)]
)
def test_axes_are_stretched_in_medium_samples_that_may_read_other_columns(more, n, most):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    tree = kt.keep("a <= 0: 0\na > 0: 1", X=pd.DataFrame(X, columns=["a", "b", "c"]), y=y)

    def factor(more, n, most):
        sample = Sample(tree, X[:n], y[:n], more=more)
        cloud, _ = kernel_expert._cloud(sample, "deviation", CHOSEN.power, most)
        return fit_kernel(sample, CHOSEN, most).space.factor / cloud.expert(CHOSEN).space.factor

    np.testing.assert_allclose(factor(more, n, most), 1)
    assert np.ptp(factor("all", 600, 600)) > 0.5
