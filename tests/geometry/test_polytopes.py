"""Distances to the regions of oblique trees agree with a quadratic program for each leaf."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import keeptree as kt
from keeptree.tree.oblique import example_tree
from tests.reference.oblique import class_distances
from tests.strategies import oblique_trees, random_oblique_tree, random_rows, random_tree


def spread_rows(tree, seed, n=60):
    """Return a sample whose columns have different scales."""
    rng = np.random.default_rng(seed)
    X = random_rows(tree, seed, n)
    numeric = [f for f, labels in enumerate(tree.categories) if labels is None]
    X[:, numeric] *= np.exp(rng.normal(size=len(numeric)))
    return X


@settings(deadline=None, max_examples=40)
@given(oblique_trees(max_leaves=12, nominal=False), st.integers(0, 1000))
def test_distances_agree_with_a_quadratic_program(tree, seed):
    boundary = kt.Boundary(tree).fit(spread_rows(tree, seed))
    X = random_rows(tree, seed, n=6).astype(tree.compare_dtype).astype(float)
    own = tree.decide(X)
    expected = class_distances(tree, boundary.metric_.factor_, X)
    expected[np.arange(len(X)), own] = np.inf
    nearest = expected.min(axis=1)
    expected[np.arange(len(X)), own] = -nearest
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(boundary.signed_distance(X), expected, **close)
    np.testing.assert_allclose(boundary.distance(X), nearest, **close)
    np.testing.assert_allclose(boundary.nearest(X).distance, nearest, **close)


def tree_with_thin_leaves(seed, compare_dtype):
    options = {"n_leaves": 4, "n_classes": 3, "n_features": 1, "grid": [0.0, 1.0, 2.0]}
    return random_oblique_tree(seed, compare_dtype=compare_dtype, **options)


@settings(deadline=None, max_examples=40)
@given(oblique_trees(max_leaves=12), st.integers(0, 1000))
@example(tree_with_thin_leaves(113, "float32"), 0)
@example(tree_with_thin_leaves(113, "float64"), 0)
def test_the_nearest_point_has_another_class_and_lies_at_the_stated_distance(tree, seed):
    boundary = kt.Boundary(tree).fit(tree.decode(spread_rows(tree, seed)))
    X = random_rows(tree, seed, n=8)
    found = boundary.nearest(tree.decode(X))
    changes = np.isfinite(found.distance)
    own = tree.classes[tree.decide(X)]
    assert (found.predicted[changes] != own[changes]).all()
    again = tree.classes[tree.decide(found.point[changes])]
    np.testing.assert_array_equal(again, found.predicted[changes])
    metric = boundary.metric_
    # Rows move beyond a border until the tree's own sums place them there. Sums in float32 round
    # coarsely, and in a sharp corner a row moves several times as far as each half-space.
    close = 1e-3 if tree.compare_dtype == "float32" else 1e-8
    for i in np.flatnonzero(changes):
        x, point = X[i], found.point[i]
        square = 0.0
        for f, labels in enumerate(tree.categories):
            if labels is None:
                square += ((point[f] - x[f]) * metric.factor_[f]) ** 2
            elif x[f] != point[f]:
                square += metric.category_costs_[f][int(x[f]), int(point[f])] ** 2
        assert np.sqrt(square) == pytest.approx(found.distance[i], rel=close, abs=close)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(["float64", "float32"]), st.integers(0, 2))
def test_an_axis_aligned_tree_in_oblique_form_keeps_its_distances(seed, dtype, n_nominal):
    """Sums of one column with weight 1 divide space into boxes, so both methods must agree."""
    options = {"n_leaves": 12, "n_nominal": n_nominal, "compare_dtype": dtype, "n_classes": 3}
    tree = random_tree(seed, **options)
    numeric = tree.kind == 1
    oblique = kt.Tree.from_dict(
        {
            **tree.to_dict(),
            "kind": np.where(numeric, 3, tree.kind).tolist(),
            "feature": np.where(numeric, -1, tree.feature).tolist(),
            "term_start": np.concatenate([[0], np.cumsum(numeric)]).tolist(),
            "term_feature": tree.feature[numeric].tolist(),
            "term_weight": [1.0] * int(numeric.sum()),
        }
    )
    X = tree.decode(spread_rows(tree, seed))
    boxes, polytopes = kt.Boundary(tree).fit(X), kt.Boundary(oblique).fit(X)
    rows = random_rows(tree, seed, n=20)
    given = tree.decode(rows)
    ours, theirs = polytopes.signed_distance(given), boxes.signed_distance(given)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    ours, theirs = polytopes.nearest(given), boxes.nearest(given)
    moved = np.sort(abs(theirs.point - rows) * boxes.metric_.factor_, axis=1)
    clear = np.isfinite(theirs.distance) & (moved[:, -1] - moved[:, -2] > 1e-6) & (n_nominal == 0)
    same = ours.leaf[clear] == theirs.leaf[clear]  # otherwise two regions are equally far away
    np.testing.assert_array_equal(ours.separator[clear][same], theirs.separator[clear][same])


def shifted(tree, by):
    """Return the tree after adding a number to every column."""
    threshold = tree.threshold.copy()
    threshold[tree.kind == 1] += by
    for node in np.flatnonzero(tree.kind == 3):
        threshold[node] += by * sum(weight for _, weight in tree.terms(node))
    return replace(tree, threshold=threshold)


@settings(deadline=None, max_examples=60)
@given(oblique_trees(max_leaves=12, nominal=False), st.integers(0, 1000), st.integers(3, 16))
@example(random_oblique_tree(1, n_leaves=8, n_classes=3), 0, 12)
@example(random_oblique_tree(1, n_leaves=8, n_classes=3, compare_dtype="float32"), 0, 6)
def test_a_point_of_large_numbers_has_another_class_or_is_not_found(tree, seed, power):
    """Where the next number does not change a sum, a row has to move further."""
    tree, by = shifted(tree, 10.0**power), 10.0**power
    rng = np.random.default_rng(seed)
    boundary = kt.Boundary(tree).fit(by + rng.normal(size=(60, tree.n_features)))
    X = by + rng.normal(size=(8, tree.n_features))
    found, own = boundary.nearest(X), tree.classes[tree.decide(X)]
    reached = ~np.isnan(found.point).any(axis=1)
    again = tree.classes[tree.decide(found.point[reached])]
    np.testing.assert_array_equal(again, found.predicted[reached])
    assert (found.predicted[reached] != own[reached]).all()
    np.testing.assert_array_equal(tree.route(found.point[reached]), found.leaf[reached])
    assert (found.leaf[~reached] == -1).all()


@pytest.mark.parametrize(("compare_dtype", "by"), [("float64", 1e12), ("float32", 1e4)])
def test_nearest_points_of_large_numbers_are_found(compare_dtype, by):
    for seed in range(20):
        tree = random_oblique_tree(seed, n_leaves=8, n_classes=3, compare_dtype=compare_dtype)
        tree = shifted(tree, by)
        X = by + np.random.default_rng(seed).normal(size=(60, tree.n_features))
        found = kt.Boundary(tree).fit(X).nearest(X)
        assert (tree.predict(found.point) != tree.predict(X)).all()


def test_a_region_within_the_rounding_errors_has_no_point():
    tree = shifted(random_oblique_tree(15, n_leaves=8, n_classes=3), 1e15)
    rng = np.random.default_rng(15)
    boundary = kt.Boundary(tree).fit(1e15 + rng.normal(size=(60, tree.n_features)))
    found = boundary.nearest(1e15 + rng.normal(size=(8, tree.n_features)))
    lost = np.isnan(found.point).all(axis=1)
    assert 0 < lost.sum() < len(lost)
    assert (found.leaf[lost] == -1).all()
    assert np.isfinite(found.distance).all()


def test_a_row_does_not_move_onto_a_threshold_where_the_tree_decides_otherwise():
    """Only rows with x = 1 reach the leaf in the middle, and the row has that value already."""
    tree = kt.keep(
        "y <= 0\n  1 * x <= 1\n    -1 * x <= -1: b\n    -1 * x > -1: a\n  1 * x > 1: a\ny > 0: b"
    )
    boundary = kt.Boundary(tree, metric=kt.Metric(scales=[1.0, 1.0])).fit([[0.0, 0.0], [1.0, 1.0]])
    found = boundary.nearest([[5.0, 1.0]])
    assert tree.predict([[0.0, 1.0]]).tolist() == ["b"]
    assert tree.predict(found.point).tolist() == found.predicted.tolist() == ["a"]
    assert found.distance.tolist() == [5.0]


@pytest.mark.parametrize("sums", ["1 * x + 1 * y", "1 * x"])
def test_a_leaf_that_no_row_reaches_does_not_divide_a_region(sums):
    tree = kt.keep(
        f"{sums} <= 1\n  {sums} > 1: b\n  {sums} <= 1: a\n{sums} > 1\n  y <= 0: a\n  y > 0: b"
    )
    program = kt.Boundary(tree).fit([[0.0, 0.0], [1.0, 1.0]]).program_
    assert program.boxes.node[0] == 1


def test_the_separator_is_the_plane_along_whose_normal_the_row_moves_most():
    tree = kt.keep("1 * a + 1 * b <= 0\n  a <= -1: x\n  a > -1: y\nelse: x")
    boundary = kt.Boundary(tree, metric=kt.Metric(scales=[1.0, 1.0])).fit([[0.0, 0.0], [1.0, 1.0]])
    found = boundary.nearest([[3.0, 3.0], [-3.0, -3.0], [-1.2, 5.0]])
    assert found.separator.tolist() == [0, 1, 0]
    np.testing.assert_allclose(found.distance, [np.sqrt(18), 2.0, np.hypot(0.2, 4.0)], rtol=1e-12)


def test_tests_that_need_a_missing_value_do_not_add_to_the_distance():
    tree = kt.keep(example_tree(), missing="majority")
    boundary = kt.Boundary(tree).fit([[1.0, 2.0], [5.0, 1.0], [9.0, 3.0]])
    assert boundary.distance([[1.0, np.nan]]).tolist() == [0.0]
    point = boundary.nearest([[1.0, np.nan]]).point
    assert tree.predict(point).tolist() == ["yes"]


def test_a_given_grid_is_refused_and_the_observed_grid_is_ignored():
    X = np.array([[1.0, 2.0], [5.0, 1.0], [9.0, 3.0]])
    with pytest.raises(ValueError, match=r"oblique tests .* leave the grid out"):
        kt.Boundary(example_tree(), grid={"age": 1}).fit(X)
    assert kt.Boundary(example_tree(), grid="observed").fit(X).grid_.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_and_blocks_do_not_change_the_distances(n_jobs):
    tree = random_oblique_tree(5, n_leaves=15, n_classes=3)
    X = random_rows(tree, 6, n=3000)
    whole = kt.Boundary(tree, n_jobs=n_jobs).fit(X).signed_distance(X)
    for start in (0, 1000, 2993):
        part = kt.Boundary(tree).fit(X).signed_distance(X[start : start + 7])
        np.testing.assert_array_equal(part, whole[start : start + 7])
