"""Smoothed leaf probabilities agree with their formulas."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.probability.smoothing import smoothed_nodes


def shrink_one_leaf(tree, leaf, strength):
    """Return the hierarchical shrinkage of one leaf by the formula of Agarwal et al. (2022)."""
    path = tree.path(leaf)
    p = tree.counts / tree.counts.sum(axis=1, keepdims=True)
    value = p[path[0]].copy()
    for up, down in pairwise(path):
        value += (p[down] - p[up]) / (1 + strength / tree.counts[up].sum())
    return value


def test_leaf_proportions_are_the_probabilities_of_the_tree(iris, iris_tree):
    X, y = iris
    model = kt.SmoothedTreeClassifier(iris_tree, "leaves").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), iris_tree.predict_proba(X), atol=1e-15)


def test_laplace_adds_one_case_of_each_class(iris, iris_tree):
    X, y = iris
    p = kt.SmoothedTreeClassifier(iris_tree).fit(X, y).predict_proba(X)
    leaf = iris_tree.apply(X)
    for node in np.unique(leaf):
        k = np.bincount(y[leaf == node], minlength=3)
        np.testing.assert_allclose(p[leaf == node], np.tile((k + 1) / (k.sum() + 3), (k.sum(), 1)))


def test_the_m_estimate_adds_ten_prior_cases_of_the_rarest_class(cancer, cancer_tree):
    X, y = cancer
    prior = np.bincount(y) / len(y)
    m = 10 / prior.min()
    p = kt.SmoothedTreeClassifier(cancer_tree, "m-estimate").fit(X, y).predict_proba(X)
    leaf = cancer_tree.apply(X)
    for node in np.unique(leaf):
        k = np.bincount(y[leaf == node], minlength=2)
        np.testing.assert_allclose(p[leaf == node][0], (k + m * prior) / (k.sum() + m))
    given = kt.SmoothedTreeClassifier(cancer_tree, "m-estimate", m=0).fit(X, y)
    np.testing.assert_allclose(given.predict_proba(X), cancer_tree.predict_proba(X), atol=1e-15)


@pytest.mark.parametrize("strength", [0.0, 1.0, 10.0, 1e12])
def test_shrinkage_agrees_with_the_formula_along_the_path(iris_tree, strength):
    tree = kt.keep(iris_tree)
    p = smoothed_nodes(tree, "shrinkage", strength=strength)
    for leaf in np.flatnonzero(tree.kind == 0):
        np.testing.assert_allclose(p[leaf], shrink_one_leaf(tree, leaf, strength), atol=1e-12)
    if strength == 0:
        np.testing.assert_allclose(p, tree.proportions, atol=1e-12)
    if strength == 1e12:
        np.testing.assert_allclose(p, np.tile(tree.proportions[0], (tree.n_nodes, 1)), atol=1e-9)


def test_cross_validation_chooses_strong_shrinkage_for_an_overgrown_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = (X[:, 0] + rng.normal(size=600) > 0).astype(int)
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    clf = DecisionTreeClassifier(random_state=0).fit(train, y_train)
    losses = {}
    for strength in (0.1, "cv"):
        model = kt.SmoothedTreeClassifier(clf, "shrinkage", strength=strength).fit(train, y_train)
        losses[strength] = log_loss(y_test, model.predict_proba(test))
    assert model.strength_ >= 10, "strong noise needs strong shrinkage"
    assert losses["cv"] < 0.5 * losses[0.1]


def test_cross_validation_without_a_learner_or_with_a_single_case_gives_a_warning(iris, iris_tree):
    X, y = iris
    with pytest.warns(UserWarning, match="a Tree has no learner; 10 is used") as caught:
        model = kt.SmoothedTreeClassifier(kt.keep(iris_tree), "shrinkage", strength="cv").fit(X, y)
    assert model.strength_ == 10
    assert len(caught) == 1
    lone = np.where(np.arange(len(y)) == 0, 3, y)
    learner = DecisionTreeClassifier(max_depth=2)
    with pytest.warns(UserWarning, match="single case"):
        kt.SmoothedTreeClassifier(learner, "shrinkage", strength="cv").fit(X, lone)


def test_a_frozen_tree_has_a_learner_to_cross_validate(iris, iris_tree):
    X, y = iris
    frozen = kt.SmoothedTreeClassifier(FrozenEstimator(iris_tree), "shrinkage", strength="cv")
    plain = kt.SmoothedTreeClassifier(iris_tree, "shrinkage", strength="cv")
    assert frozen.fit(X, y).strength_ == plain.fit(X, y).strength_
    assert frozen.tree_.to_dict() == kt.keep(iris_tree).to_dict()


@pytest.mark.parametrize(
    "params", [{"smoothing": "none"}, {"m": -1.0}, {"strength": -1.0}, {"decide": "coin"}]
)
def test_parameters_out_of_range_are_refused(iris, params):
    with pytest.raises(ValueError, match=f"'{next(iter(params))}' parameter"):
        kt.SmoothedTreeClassifier(**params).fit(*iris)


def test_weights_with_too_wide_a_range_are_refused():
    X, y = load_iris(return_X_y=True)
    weight = np.where(np.arange(len(X)) % 2, 1e150, 1e-150)
    with pytest.raises(ValueError, match=r"range from 1e-150 to 1e\+150, a range too wide"):
        kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y, sample_weight=weight)


def test_shrunken_probabilities_are_never_negative():
    X, y = load_iris(return_X_y=True)
    weight = 10.0 ** (np.arange(len(X)) % 60 - 30)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier(min_samples_leaf=1), smoothing="shrinkage")
    assert (model.fit(X, y, sample_weight=weight).predict_proba(X) >= 0).all()
