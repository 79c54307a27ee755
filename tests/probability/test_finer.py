"""Leaves divided for the margin expert: the tree stays, and whatever reads the model still does."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.data.sample import Sample
from keeptree.probability.finer import split_leaves


@pytest.fixture(scope="module")
def waves():
    """A tree of six leaves, and a sample with missing values that could tell more leaves apart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 4))
    logit = 4 * np.sin(2 * X[:, 0]) * np.cos(X[:, 1])
    y = (rng.random(2500) < 1 / (1 + np.exp(-logit))).astype(int)
    X[rng.random(X.shape) < 0.02] = np.nan
    return DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def model(waves):
    tree, X, y = waves
    return kt.KeptTreeClassifier(tree).fit(X, y)


def test_rows_go_where_the_splits_send_them(waves):
    clf, X, y = waves
    tree = kt.keep(clf)
    splits = split_leaves(Sample(tree, X, y))
    expected, value = tree.apply(X), X.astype(np.float32)
    for k, (node, feature, threshold) in enumerate(
        zip(splits.node, splits.feature, splits.threshold, strict=True)
    ):
        here = expected == node
        second = np.where(
            np.isnan(value[:, feature]), splits.missing[k], value[:, feature] > threshold
        )
        expected = np.where(here, tree.n_nodes + 2 * k + second, expected).astype(int)
    np.testing.assert_array_equal(splits.divide(tree).apply(X), expected)
    assert set(splits.feature) <= set(tree.feature)
    assert np.bincount(expected)[np.unique(expected)].min() >= 10


def test_a_small_sample_has_no_further_splits(waves):
    clf, X, y = waves
    assert split_leaves(Sample(kt.keep(clf), X[:1999], y[:1999])) is None


def test_the_splits_are_chosen_where_they_gain_and_the_tree_still_decides(waves, model):
    clf, X, _ = waves
    assert model.margin_.splits is not None
    np.testing.assert_array_equal(model.predict(X), clf.predict(X))


def test_contributions_are_of_tests_of_the_tree_and_add_up(waves, model):
    _, X, _ = waves
    parts, p = model.contributions(X[:50]), model.predict_proba(X[:50])
    assert (model.tree_.kind[parts.node] == 1).all()
    np.testing.assert_allclose(parts.value.sum(axis=1), np.log(p[:, 1] / p[:, 0]), atol=1e-9)
    margin = kt.MarginTreeClassifier(model.tree_, C=0.1)
    margin.fit(X, waves[2])
    margin.expert_ = model.margin_
    parts = margin.contributions(X[:50])
    logit = parts.intercept + parts.value.sum(axis=1)
    np.testing.assert_allclose(logit, margin.decision_function(X[:50]), atol=1e-9)


def test_a_loaded_model_and_its_program_give_the_same_probabilities(waves, model, tmp_path):
    _, X, _ = waves
    kt.save(model, tmp_path / "model.json")
    loaded = kt.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert "not checked" not in kt.export(model, tmp_path / "model.py").checked


@pytest.mark.parametrize(
    ("field", "at", "value"),
    [("node", 0, 0), ("node", 1, 10**6), ("feature", 0, 3), ("missing", 0, 2)],
)
def test_damaged_splits_are_refused(model, field, at, value):
    splits, tree = model.margin_.splits, model.tree_
    values = getattr(splits, field).copy()
    values[at] = value
    with pytest.raises(ValueError, match="Not a KeepTree model: a split"):
        replace(splits, **{field: values}).check(tree)
