"""Error estimates from a tree's counts agree with a textbook and with C4.5."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import keeptree as kt
from keeptree.evaluation import tree_error
from keeptree.evaluation.training_error import upper_errors
from tests.learners.test_textbook import four_leaves
from tests.reference.c45 import added


def test_estimates_for_the_textbook_tree_with_four_leaves():
    tree = four_leaves()
    assert tree_error(tree, "optimistic") == pytest.approx(9 / 30)
    assert tree_error(tree) == pytest.approx(11 / 30)
    pruned = kt.prune(tree, "pessimistic")
    assert tree_error(pruned) == pytest.approx(10.5 / 30)
    assert tree_error(tree, penalty=1) == pytest.approx(13 / 30)


@given(
    st.floats(0.5, 1000),
    st.floats(0, 1),
    st.sampled_from([0.05, 0.1, 0.25, 0.5, 0.8]),
)
def test_the_upper_limit_agrees_with_j48(weight, share, factor):
    errors = weight * share
    expected = errors + added(weight, errors, factor)
    assert upper_errors([weight], [errors], factor)[0] == pytest.approx(expected, rel=1e-9)


def test_optimistic_is_the_error_on_the_training_sample_and_the_others_are_larger():
    X, y = load_iris(return_X_y=True)
    for leaves in (2, 3, 6, 12):
        clf = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(X, y)
        optimistic = tree_error(clf, "optimistic")
        assert optimistic == pytest.approx(1 - clf.score(X, y))
        assert tree_error(clf) == pytest.approx(optimistic + 0.5 * clf.get_n_leaves() / len(y))
        assert tree_error(clf, "error-based") > optimistic
        assert tree_error(clf, "error-based", confidence_factor=0.01) > tree_error(
            clf, "error-based"
        )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"method": "hopeful"}, "There is no error estimate 'hopeful'"),
        ({"penalty": -1}, "penalty must not be negative"),
        ({"method": "error-based", "confidence_factor": 0}, "confidence_factor must be in"),
    ],
)
def test_bad_arguments_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        tree_error(four_leaves(), **arguments)


def test_trees_without_classes_or_counts_are_refused():
    X = np.arange(10.0)[:, None]
    with pytest.raises(ValueError, match="regression tree"):
        tree_error(DecisionTreeRegressor().fit(X, X[:, 0]))
    tree = kt.keep("age <= 3: young\nage > 3: old")
    with pytest.raises(ValueError, match="no class counts"):
        tree_error(tree)
