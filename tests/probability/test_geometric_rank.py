"""Geometric ranking orders cases by distance, globally or within leaves."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt


def naive_local_order(probability, score):
    """Return the position of each case: by leaf probability first, then by geometric score."""
    order = np.lexsort([score, np.round(probability, 12)])
    position = np.empty(len(order), dtype=int)
    position[order] = np.arange(len(order))
    return position


def test_the_global_score_is_the_distance_with_a_positive_sign_for_the_positive_class(
    cancer, cancer_tree
):
    X, y = cancer
    score = kt.GeometricRankClassifier(cancer_tree).fit(X, y).decision_function(X)
    boundary = kt.Boundary(cancer_tree).fit(X)
    np.testing.assert_allclose(np.abs(score), boundary.distance(X))
    np.testing.assert_array_equal(score > 0, cancer_tree.predict(X) == 1)


def test_the_choice_of_the_positive_class_determines_the_sign(cancer, cancer_tree):
    X, y = cancer
    labels = np.array(["malignant", "benign"])[y]
    tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, labels)
    rank = kt.GeometricRankClassifier(tree).fit(X, labels)
    assert rank.classes_.tolist() == ["benign", "malignant"]
    np.testing.assert_array_equal(rank.rank_score(X, "malignant"), rank.decision_function(X))
    np.testing.assert_array_equal(rank.rank_score(X, "benign"), -rank.decision_function(X))
    with pytest.raises(ValueError, match=r"does not know the labels \['unclear'\]"):
        rank.rank_score(X, "unclear")


@pytest.mark.parametrize("smoothing", ["laplace", "m-estimate", "leaves", "shrinkage"])
def test_the_local_score_orders_leaves_by_probability_and_their_cases_by_distance(
    cancer, cancer_tree, smoothing
):
    X, y = cancer
    rank = kt.GeometricRankClassifier(cancer_tree, "local", smoothing=smoothing).fit(X, y)
    smooth = kt.SmoothedTreeClassifier(cancer_tree, smoothing).fit(X, y)
    distance = kt.GeometricRankClassifier(cancer_tree).fit(X, y).decision_function(X)
    expected = naive_local_order(smooth.predict_proba(X)[:, 1], distance)
    score = rank.decision_function(X)
    np.testing.assert_array_equal(np.argsort(np.argsort(score, kind="stable")), expected)


def test_leaves_of_equal_probability_are_one_group():
    # Two pure leaves of the same size have equal probability, so their cases are mixed by distance.
    X = np.concatenate(
        [np.linspace(-3, -1, 10), np.linspace(-0.5, 0.5, 10), np.linspace(1, 5.3, 10)]
    )
    y = np.repeat([1, 0, 1], 10)
    tree = DecisionTreeClassifier().fit(X[:, None], y)
    assert kt.keep(tree).n_leaves == 3
    rank = kt.GeometricRankClassifier(tree, "local").fit(X[:, None], y)
    score, distance = (
        rank.decision_function(X[:, None]),
        kt.Boundary(tree).fit(X[:, None]).distance(X[:, None]),
    )
    positive = y == 1
    np.testing.assert_array_equal(np.argsort(score[positive]), np.argsort(distance[positive]))


def test_each_of_several_classes_is_scored_by_its_own_or_the_whole_boundary(iris, iris_tree):
    X, y = iris
    boundary = kt.Boundary(iris_tree, grid="observed").fit(X)
    own = kt.GeometricRankClassifier(iris_tree).fit(X, y).decision_function(X)
    np.testing.assert_allclose(own, -boundary.signed_distance(X))
    whole = kt.GeometricRankClassifier(iris_tree, boundary="whole").fit(X, y).decision_function(X)
    predicted = iris_tree.predict(X)
    expected = np.where(predicted[:, None] == np.arange(3), 1, -1) * boundary.distance(X)[:, None]
    np.testing.assert_allclose(whole, expected)


def test_a_case_on_the_boundary_has_the_sign_of_the_decision(iris):
    X, y = iris
    # C4.5 uses values of the sample as thresholds, so some cases lie on a threshold.
    rank = kt.GeometricRankClassifier(kt.C45Classifier(), grid=None).fit(X, y)
    score = rank.decision_function(X)
    assert (rank.boundary_.distance(X) == 0).any()
    np.testing.assert_array_equal(score.argmax(axis=1), rank.predict(X))
    assert ((score > 0).sum(axis=1) == 1).all()


def test_the_local_ranking_beats_smoothing_on_average(cancer):
    X, y = cancer
    gains = []
    for seed in range(10):
        X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=seed)
        clf = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X_train, y_train)
        local = kt.GeometricRankClassifier(clf, "local").fit(X_train, y_train)
        laplace = kt.SmoothedTreeClassifier(clf).fit(X_train, y_train)
        gains.append(
            roc_auc_score(y_test, local.decision_function(X_test))
            - roc_auc_score(y_test, laplace.predict_proba(X_test)[:, 1])
        )
    assert np.mean(gains) > 0.005
    assert np.mean(np.array(gains) >= 0) >= 0.9
