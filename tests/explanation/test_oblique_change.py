"""The nearest change in a tree with oblique tests is the cheapest, and it flips the decision."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import keeptree as kt
from tests.reference.oblique import class_distances, has_room, leaf_halves
from tests.strategies import oblique_trees, random_oblique_tree, random_rows

TEXT = """
1 * age - 1.2 * income <= 2
  debt <= 1: good
  debt > 1: bad
1 * age - 1.2 * income > 2: bad
"""


def credit():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 300).astype(float),
            "income": rng.normal(40, 12, 300).round(),
            "debt": rng.normal(size=300),
        }
    )
    y = np.where((X.age - 1.2 * X.income > 2) | (X.debt > 1), "bad", "good")
    return kt.keep(TEXT, X, y), X, y


@settings(deadline=None, max_examples=25)
@given(oblique_trees(max_leaves=10, nominal=False), st.integers(0, 1000))
@example(random_oblique_tree(113, n_leaves=4, n_features=1, grid=[0.0, 1.0, 2.0]), 0)
def test_the_cost_agrees_with_a_quadratic_program_for_each_leaf(tree, seed):
    X = random_rows(tree, seed, n=4)
    metric = kt.Metric().fit(random_rows(tree, seed + 1), tree)
    found = kt.nearest_change(tree, X, metric=metric, within_data=False)
    distance = class_distances(tree, metric.factor_, X)
    distance[np.arange(len(X)), tree.decide(X)] = np.inf
    expected, room = distance.min(axis=1), 1e-5 if tree.compare_dtype == "float32" else 1e-9
    finite = np.isfinite(found.cost)
    # A change may also lead to a leaf on a hyperplane, whose distance the reference leaves out.
    wide = [leaf for leaf, *sides in leaf_halves(tree) if has_room(*sides, metric.factor_)]
    usual = finite & np.isin(found.leaf, wide)
    np.testing.assert_allclose(found.cost[usual], expected[usual], rtol=room, atol=room)
    assert (found.cost[finite] <= expected[finite] * (1 + room) + room).all()
    assert (found.predicted[finite] != tree.predict(X)[finite]).all()
    np.testing.assert_array_equal(tree.route(found.point[finite]), found.leaf[finite])


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([None, 1, 2]))
@example(17987, 2)  # a column must change, so the search may not keep its value
def test_whole_numbers_are_searched_exactly(seed, max_changes):
    """Compare with all points of a small grid, under bounds, a direction and a limit on changes."""
    tree = random_oblique_tree(seed, n_leaves=6, n_features=3, grid=[-1.5, -0.5, 0.0, 1.0, 2.5])
    metric = kt.Metric(scales=[1.0, 2.0, 0.7]).fit(np.zeros((2, 3)), tree)
    x = np.random.default_rng(seed).integers(-3, 4, size=3).astype(float)
    rules = {"increase_only": [0], "bounds": {1: (-3, 3), 0: (-4, 4)}, "steps": {0: 1, 1: 1, 2: 2}}
    found = kt.nearest_change(
        tree, x, metric=metric, within_data=False, max_changes=max_changes, **rules
    )
    own, best = tree.decide(x[None])[0], np.inf
    values = (
        {x[0], *(v for v in range(-4, 5) if v > x[0])},
        {x[1], *range(-3, 4)},
        {x[2], *range(-60, 61, 2)},
    )
    points = np.array(list(product(*values)), dtype=float)
    if max_changes is not None:
        points = points[(points != x).sum(axis=1) <= max_changes]
    other = points[tree.decide(points) != own]
    if len(other):
        best = np.sqrt((((other - x) * metric.factor_) ** 2).sum(axis=1)).min()
    if best < 40 * metric.factor_[2]:  # beyond this cost the grid above may be too small
        assert found.cost == pytest.approx(best, rel=1e-9)
        assert tree.decide(np.array([found.point], dtype=float))[0] != own


def test_constraints_hold_and_the_sentence_names_the_changes():
    tree, X, y = credit()
    model = kt.SmoothedTreeClassifier(tree).fit(X, y)
    case = {"age": 70, "income": 33, "debt": 0.0}
    free = kt.nearest_change(model, case)
    assert free.predicted == "good"
    assert {move.name for move in free.changes} == {"age", "income"}
    assert all(move.after == round(move.after) for move in free.changes)
    alone = kt.nearest_change(model, case, fixed=["age"])
    assert (
        str(alone) == "Becomes good if income rises from 33 to 57 (+24), with nothing else changed."
    )
    dear = kt.nearest_change(model, case, costs={"income": 100})
    assert str(dear) == "Becomes good if age falls from 70 to 41 (−29), with nothing else changed."
    none = kt.nearest_change(model, case, fixed=["age"], bounds={"income": (0, 50)})
    assert np.isinf(none.cost)
    assert "unlock age" in str(none)


def test_the_story_shows_the_weighted_sum():
    tree, X, y = credit()
    model = kt.KeptTreeClassifier(tree).fit(X, y)
    story = str(kt.explain(model, {"age": 57, "income": 34, "debt": 0}))
    assert "age − 1.2 × income = 16.2 > 2, by 14.2" in story
    assert "The nearest change" in story


def test_a_missing_value_follows_its_branch_or_is_refused_if_it_is_divided():
    tree, X, y = credit()
    case = {"age": None, "income": 33, "debt": 0.0}
    routed = kt.keep(TEXT.replace("<= 2", "<= 2 or missing"), X, y)
    change = kt.nearest_change(kt.SmoothedTreeClassifier(routed).fit(X, y), case)
    assert [move.name for move in change.changes] == ["debt"]
    shared = kt.SmoothedTreeClassifier(kt.keep(tree, missing="share")).fit(X, y)
    with pytest.raises(
        ValueError, match=r"lacks a value that the tree divides .* Fill the value in"
    ):
        kt.nearest_change(shared, case)


def test_a_sum_of_one_column_is_crossed_at_the_next_float32():
    tree = kt.keep(
        "round to float32\n1 * a <= -0.743499\n  a <= -2.325031: x (3)\n  a > -2.325031: x (3)\n"
        "1 * a > -0.743499: y (4)\n"
    )
    change = kt.nearest_change(
        tree,
        [0.1],
        metric=kt.Metric(scales=[1.0]).fit(np.array([[0.1], [0.5]]), tree),
        within_data=False,
    )
    # Rounded to float32, the threshold -0.743499 itself is on the other side.
    assert change.cost == pytest.approx(0.843499, abs=1e-6)
    assert tree.predict([change.point])[0] == "x"
