"""Every probability method accepts trees with oblique tests."""

import numpy as np
import pytest

import keeptree as kt
from keeptree.probability.methods import METHODS, make_method
from tests.strategies import random_oblique_tree, random_rows


def sample(seed=3, **options):
    tree = random_oblique_tree(seed, n_leaves=10, n_classes=2, n_nominal=1, **options)
    X = random_rows(tree, seed, n=200)
    y = tree.classes[np.where(np.random.default_rng(seed).random(200) < 0.1, 1, tree.decide(X))]
    return tree, tree.decode(X), y


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_fitted_scored_and_saved(method, tmp_path):
    tree, X, y = sample()
    model = make_method(method, tree).fit(X, y)
    ask = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    scores = getattr(model, ask)(X)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(model.predict(X), tree.predict(X))
    kt.save(model, tmp_path / "model.json")
    again = kt.load(tmp_path / "model.json")
    np.testing.assert_array_equal(getattr(again, ask)(X), scores)
    assert model.scorer()(X[0]).leaf == tree.apply(X[:1])[0]


@pytest.mark.parametrize("method", ["soft", "margin", "kept", "confdtree"])
def test_oblique_tests_are_treated_like_tests_of_a_column_with_the_weighted_sum(method):
    """Adding the weighted sums as columns by hand gives identical probabilities."""
    tree, X, y = sample(compare_dtype="float64")
    lifted = tree.lift(tree.encode(X))
    by_hand = tree.lifted.decode(lifted)
    p = make_method(method, tree).fit(X, y).predict_proba(X)
    again = make_method(method, tree.lifted).fit(by_hand, y).predict_proba(by_hand)
    np.testing.assert_array_equal(again, p)


def test_huge_and_missing_values_give_finite_probabilities():
    tree, X, y = sample(missing="share")
    X[0, :3], X[1, :3], X[2, 0] = 1e300, -1e300, np.nan
    for method in ("kept", "confdtree", "kernel"):
        p = make_method(method, tree).fit(X, y).predict_proba(X)
        assert np.isfinite(p).all(), method
        np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_contributions_add_up_to_the_decision_function():
    tree, X, y = sample()
    model = kt.MarginTreeClassifier(tree).fit(X, y)
    parts = model.contributions(X[:5])
    total = parts.intercept + parts.value.sum(axis=1)
    np.testing.assert_allclose(total, model.decision_function(X[:5]), rtol=1e-9)
