"""A kept member of an ensemble has that member's leaves, with the ensemble's classes and names."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression

import keeptree as kt
from tests.importers.neighbours import LARGEST, trying_rows

X, Y = load_iris(return_X_y=True, as_frame=True)
NAMED = np.array(["setosa", "versicolor", "virginica"], dtype=object)[Y]


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_a_member_of_a_forest_has_the_classes_and_names_of_the_forest(kind):
    forest = kind(5, random_state=0).fit(X, NAMED)
    tree = kt.keep(forest, tree=3)
    assert tree.classes.tolist() == forest.classes_.tolist()
    assert tree.feature_names == tuple(X.columns)
    rows = trying_rows(tree, np.tile(X.to_numpy(), (3, 1)), largest=LARGEST)
    np.testing.assert_array_equal(tree.apply(rows), forest.estimators_[3].apply(rows))
    votes = forest.classes_[forest.estimators_[3].predict(rows).astype(int)]
    np.testing.assert_array_equal(tree.predict(rows), votes)
    assert tree.source["counts"] == "the bootstrap sample of this tree"
    assert kt.keep(forest, tree=-2).to_dict() == tree.to_dict()


def test_a_member_of_a_regression_forest_can_be_kept():
    forest = RandomForestRegressor(3, max_depth=3, random_state=0).fit(X, Y)
    tree = kt.keep(forest, tree=1)
    np.testing.assert_allclose(tree.predict(X), forest.estimators_[1].predict(X.to_numpy()))


@pytest.mark.filterwarnings("ignore:Using the fractional")
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.3, 1.0), st.floats(0.05, 1.0))
def test_a_bagged_tree_uses_the_columns_of_the_ensemble(seed, columns, rows):
    bag = BaggingClassifier(
        n_estimators=2, max_features=columns, max_samples=rows, random_state=seed % 2**31
    )
    bag.fit(X, NAMED)
    tree = kt.keep(bag, tree=1)
    inner, used = bag.estimators_[1], bag.estimators_features_[1]
    tried = trying_rows(tree, X.to_numpy(), seed, largest=LARGEST)
    np.testing.assert_array_equal(tree.apply(tried), inner.apply(tried[:, used]))
    expected = bag.classes_[inner.predict(tried[:, used]).astype(int)]
    np.testing.assert_array_equal(tree.predict(tried), expected)


def test_a_tree_of_an_ensemble_must_be_chosen():
    forest = RandomForestClassifier(100, max_depth=1).fit(X, Y)
    with pytest.raises(ValueError, match="has 100 trees; choose one with tree=0 to tree=99"):
        kt.keep(forest)
    with pytest.raises(ValueError, match="tree=100 does not exist: this forest has 100 trees"):
        kt.keep(forest, tree=100)
    with pytest.raises(TypeError, match="tree must be a number, not 'first'"):
        kt.keep(forest, tree="first")
    single = RandomForestClassifier(1, max_depth=1).fit(X, Y)
    assert kt.keep(single).n_leaves == 2
    with pytest.raises(ValueError, match="regression trees of residuals, which have no class"):
        kt.keep(GradientBoostingClassifier(n_estimators=2).fit(X, Y), tree=0)
    with pytest.raises(TypeError, match="type LogisticRegression, which is not a tree"):
        kt.keep(BaggingClassifier(LogisticRegression(max_iter=1000), 2).fit(X, Y), tree=0)
    with pytest.raises(
        ValueError, match="tree=2 chooses a tree of an ensemble, but this is a single"
    ):
        kt.keep(kt.keep(single).to_text(), tree=2)


def test_data_replace_the_bootstrap_counts():
    forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, Y)
    assert kt.keep(forest, tree=0).counts[0].tolist() != [50, 50, 50]
    assert kt.keep(forest, X, Y, tree=0).counts[0].tolist() == [50, 50, 50]
