"""Distances on a grid equal the cost of the nearest possible change, found by brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree import Boundary, Metric, Tree
from keeptree.geometry import program
from tests.reference import grid as reference
from tests.strategies import decode, random_rows, random_tree

STEPS = [1.0, 0.5, 0.1, 0.25]


@st.composite
def problems(draw, missing=0.0, max_features=2, all_columns=True):
    """Return a tree, rows on and off a grid, and the step of each numeric column.

    Hypothesis draws only a seed; otherwise most trees would be stumps.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    step = float(rng.choice(STEPS[:2] if max_features > 1 and all_columns else STEPS))
    n_features = int(rng.integers(1, max_features + 1))
    thresholds = [None, [0.0, 1.0, 2.0], np.arange(-10, 11) / 10, [-1.5, -0.5, 0.5, 1.5]]
    tree = random_tree(
        seed=rng.integers(2**32),
        n_leaves=int(rng.integers(1, 12)),
        n_classes=int(rng.integers(1, 5)),
        n_features=n_features,
        n_nominal=int(rng.integers(n_features + 1)),
        missing="share" if missing else "error",
        compare_dtype=str(rng.choice(["float64", "float32"])),
        grid=thresholds[rng.integers(4)],
    )
    X = np.clip(random_rows(tree, rng.integers(2**32), n=12), -2.5, 6)
    numeric = [f for f, labels in enumerate(tree.categories) if labels is None]
    steps = {f: step for f in numeric if all_columns or rng.random() < 0.6}
    for f in steps:
        rounded = np.array([float(f"{v:.12g}") for v in np.rint(X[:, f] / step) * step])
        X[:, f] = np.where(rng.random(len(X)) < rng.choice([0.5, 1.0]), rounded, X[:, f])
    X[rng.random(X.shape) < missing] = np.nan
    return tree, X, steps, step


def boundaries(problem):
    tree, X, steps, _ = problem
    rows = decode(tree, X)
    return Boundary(tree, grid=steps).fit(rows), Boundary(tree).fit(rows)


def distance_to_classes(signed, own):
    """Return the cost of reaching each class, with 0 for the row's own class."""
    to_class = signed.copy()
    to_class[np.arange(len(own)), own] = 0.0
    return to_class


@settings(max_examples=80, deadline=None)
@given(problems())
def test_no_case_on_the_grid_with_another_decision_is_nearer(problem):
    tree, X, _, step = problem
    boundary, _ = boundaries(problem)
    expected = [reference.class_distances(tree, boundary.metric_, row, step) for row in X]
    own, signed = tree.decide(X), boundary.signed_distance(decode(tree, X))
    found = distance_to_classes(signed, own)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    least = [np.delete(row, c).min(initial=np.inf) for row, c in zip(expected, own, strict=True)]
    np.testing.assert_allclose(boundary.distance(decode(tree, X)), least, rtol=1e-9, atol=1e-9)


@settings(max_examples=80, deadline=None)
@given(problems(max_features=4, all_columns=False))
def test_the_distance_is_the_cost_of_the_nearest_change(problem):
    tree, X, steps, _ = problem
    boundary, _ = boundaries(problem)
    rows = decode(tree, X)
    options = {"X": rows, "metric": boundary.metric_, "within_data": False, "steps": steps}
    cost = kt.nearest_change(tree, rows, **options).cost
    # Without a step, the distance ends at the threshold, but the change at the next float32 number.
    exact = tree.compare_dtype == "float64"
    np.testing.assert_allclose(boundary.distance(rows), cost, atol=1e-9 if exact else 1e-6)


@settings(max_examples=80, deadline=None)
@given(problems(missing=0.2, max_features=4, all_columns=False))
def test_the_distance_is_never_smaller_than_the_euclidean_one(problem):
    tree, X, _, _ = problem
    on_grid, euclidean = boundaries(problem)
    rows = decode(tree, X)
    assert (on_grid.distance(rows) >= euclidean.distance(rows) - 1e-6).all()


@settings(max_examples=80, deadline=None)
@given(problems(missing=0.2, max_features=4, all_columns=False))
def test_the_nearest_point_is_on_the_grid_in_another_class_at_the_stated_distance(problem):
    tree, X, steps, step = problem
    boundary, _ = boundaries(problem)
    nearest = boundary.nearest(decode(tree, X))
    distance, known = boundary.distance(decode(tree, X)), ~np.isnan(X).any(axis=1)
    np.testing.assert_allclose(nearest.distance[known], distance[known], rtol=1e-9)
    there = np.isfinite(nearest.distance)
    assert np.isnan(nearest.point[~there]).all()
    point, row = nearest.point[there], X[there]
    decided = tree.decide(point)
    np.testing.assert_array_equal(tree.classes[decided], nearest.predicted[there])
    assert (decided[known[there]] != tree.decide(row[known[there]])).all()
    np.testing.assert_array_equal(tree.route(point, strict=False), nearest.leaf[there])
    for f in steps:
        moved = (point[:, f] != row[:, f]) & ~np.isnan(row[:, f])
        whole = point[moved, f] / step
        np.testing.assert_allclose(whole, np.rint(whole), atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(problems(missing=0.1, max_features=4, all_columns=False))
def test_single_precision_and_the_search_agree_with_double_precision(problem):
    _, X, _, _ = problem
    boundary, _ = boundaries(problem)
    h = boundary.algebraic_distance(X, np.float64)
    single = boundary.algebraic_distance(X)
    np.testing.assert_allclose(single, h, atol=2e-5)
    distance, separator = boundary.nearest_separators(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "_MANY", {True: (0, 0), False: (0, 0)})
        boundary, _ = boundaries(problem)
        np.testing.assert_array_equal(boundary.algebraic_distance(X, np.float64), h)
        again = boundary.nearest_separators(X)
        np.testing.assert_array_equal(again[0], distance)
        np.testing.assert_array_equal(again[1], separator)


def stump(threshold, **more):
    tree = {
        "kind": [1, 0, 0],
        "feature": [0, -1, -1],
        "threshold": [threshold, np.nan, np.nan],
        "child_start": [0, 2, 2, 2],
        "child": [1, 2],
        "missing": [-2, -2, -2],
        "counts": [[5, 4], [5, 0], [0, 4]],
        "classes": ["no", "yes"],
        "n_features": 1,
    }
    return Tree(**{**tree, **more})


def on_grid(tree, step, scale=1.0):
    return Boundary(tree, Metric(scales=[scale]), grid={0: step}).fit(np.zeros((1, 1)))


def test_a_whole_number_on_a_threshold_is_at_distance_one():
    boundary = on_grid(stump(0.0), 1)
    assert boundary.distance([[0.0], [1.0], [2.0]]).tolist() == [1.0, 1.0, 2.0]
    assert boundary.nearest([[0.0], [2.0]]).point.ravel().tolist() == [1.0, 0.0]


def test_the_distance_of_a_value_off_the_grid_is_measured_from_that_value():
    boundary = on_grid(stump(2.5), 1)
    assert boundary.distance([[2.4], [2.6], [3.5]]).round(12).tolist() == [0.6, 0.6, 1.5]
    assert boundary.signed_distance([[2.4]]).round(12).tolist() == [[-0.6, 0.6]]
    assert boundary.nearest([[2.4], [2.6]]).point.ravel().tolist() == [3.0, 2.0]


def test_the_side_of_a_multiple_is_checked_in_the_type_that_the_model_compares():
    # Rounded to float32, 0.8 and 0.3 lie above the float64 thresholds of the same value.
    for threshold, point in [(0.8, 0.7), (0.3, 0.2)]:
        tree = stump(threshold, compare_dtype="float32")
        boundary = on_grid(tree, 0.1)
        assert boundary.nearest([[1.5]]).point.ravel().tolist() == [point]
        assert tree.predict([[point]]) == ["no"]
        assert tree.predict([[threshold]]) == ["yes"]
    assert on_grid(stump(0.8), 0.1).nearest([[1.5]]).point.ravel().tolist() == [0.8]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_distances_of_large_whole_numbers_have_the_correct_sign(dtype):
    threshold = 2.0**27 + 16
    tree = stump(threshold, compare_dtype=dtype)
    X = threshold + np.arange(-20.0, 21.0)[:, None]
    signed = on_grid(tree, 1).signed_distance(X)[:, 1]
    np.testing.assert_array_equal(signed < 0, tree.decide(X) == 1)
    assert (abs(signed) >= 1).all()


def chain(*thresholds):
    """Return a tree that tests one column repeatedly, with alternating classes."""
    n = len(thresholds)
    inner, leaves = range(n), range(n, 2 * n + 1)
    children = [[n + i, i + 1 if i + 1 < n else 2 * n] for i in inner]
    labels = [*(0 for _ in inner), *(k % 2 for k, _ in enumerate(leaves))]
    counts = np.ones((2 * n + 1, 2))
    counts[:n] = [[c, c] for c in (counts[n:].sum() / 2 - np.arange(n)).tolist()]
    return Tree(
        kind=[1] * n + [0] * (n + 1),
        feature=[0] * n + [-1] * (n + 1),
        threshold=[*thresholds, *[np.nan] * (n + 1)],
        child_start=[*range(0, 2 * n, 2), *[2 * n] * (n + 2)],
        child=[c for pair in children for c in pair],
        missing=[-2] * (2 * n + 1),
        counts=counts,
        label=labels,
        classes=["no", "yes"],
        n_features=1,
    )


def test_a_region_without_a_multiple_cannot_be_reached():
    tree = chain(2.2, 2.8)  # classes from left to right: no, yes, no
    assert Boundary(tree).fit([[0.0], [5.0]]).distance([[2.0]])[0] > 0
    boundary = on_grid(tree, 1)
    assert np.isinf(boundary.distance([[2.0], [3.0]])).all()
    # A case between the thresholds can still leave the region.
    assert boundary.distance([[2.5]]).tolist() == [0.5]


def test_a_grid_does_not_change_the_costs_of_categories():
    tree = random_tree(5, 6, 2, 2, 2)
    X = random_rows(tree, 0, n=30)
    rows = decode(tree, X)
    np.testing.assert_array_equal(
        Boundary(tree, grid="observed").fit(rows).distance(rows),
        Boundary(tree).fit(rows).distance(rows),
    )


def test_the_observed_grid_is_derived_from_the_training_sample():
    X, y = load_iris(return_X_y=True)
    X[:, 3] = np.rint(X[:, 3])
    X[:, 2] += np.random.default_rng(0).normal(size=len(X)) / 7
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    used = np.unique(tree.tree_.feature[tree.tree_.feature >= 0])
    assert set(used) >= {2, 3}
    step = Boundary(tree, grid="observed").fit(X).grid_
    assert step[2] == 0
    assert step[3] == 1
    assert all(step[f] == 0.1 for f in {0, 1} & set(used.tolist()))


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ("whole", "grid='whole' is not a grid; give None, 'observed' or a dict"),
        ({0: 0}, r"The step of 'x\[0\]' is 0, not a positive finite number"),
        ({3: 1}, "grid names 3, which is not a column of the tree"),
        ({1: 1}, r"grid has a step for 'x\[1\]', whose values are categories"),
    ],
)
def test_an_invalid_grid_raises_a_clear_error(grid, message):
    tree = random_tree(0, 4, 2, 2, 1)
    with pytest.raises(ValueError, match=message):
        Boundary(tree, grid=grid).fit(decode(tree, random_rows(tree, 0)))


def test_an_observed_grid_without_steps_changes_nothing():
    tree = random_tree(1, 30, 3, 4, 1)
    rows = decode(tree, random_rows(tree, 2, n=50))
    plain, same = Boundary(tree).fit(rows), Boundary(tree, grid="observed").fit(rows)
    assert not same.grid_.any()
    np.testing.assert_array_equal(plain.signed_distance(rows), same.signed_distance(rows))
    np.testing.assert_array_equal(plain.nearest(rows).point, same.nearest(rows).point)
