"""Kept trees send every row to the leaf of the imodels model and decide as it does."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

import keeptree as kt
from tests.importers.neighbours import LARGEST, trying_rows

imodels = pytest.importorskip("imodels")
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore:X has feature names", "ignore::RuntimeWarning"
)


def sample(seed, n=60, classes=2):
    """Return numbers with ties, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b (x)", "b-x"])
    X["a"] = X["a"].round(1)
    y = (X["a"] > 0.2).astype(int) + (X["b (x)"] * X["b-x"] > 0) * rng.integers(1, 3)
    y = np.where(rng.random(n) < 0.15, rng.integers(classes, size=n), y % classes)
    y[:classes] = range(classes)
    return X, np.array(["no", "yes", "perhaps"])[y]


def tried(tree, X, seed):
    """Return finite rows on and beside the thresholds, because imodels accepts no others."""
    rows = trying_rows(tree, np.tile(X.to_numpy(), (4, 1)), seed, missing=False)
    return pd.DataFrame(rows, columns=X.columns)


@pytest.mark.parametrize("name", ["GreedyTreeClassifier", "HSTreeClassifier", "HSTreeClassifierCV"])
def test_models_built_on_scikit_learn_trees_keep_their_leaves_and_decisions(name):
    X, y = load_breast_cancer(return_X_y=True)
    model = getattr(imodels, name)(max_leaf_nodes=8).fit(X, y)
    if name.startswith("HS"):
        with pytest.warns(UserWarning, match="Hierarchical shrinkage has replaced the class"):
            tree = kt.keep(model)
    else:
        tree = kt.keep(model)
    inner = getattr(model, "estimator_", model)
    rows = trying_rows(tree, X, largest=LARGEST)
    np.testing.assert_array_equal(tree.apply(rows), inner.apply(rows))
    np.testing.assert_array_equal(tree.predict(rows), inner.predict(rows))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**16), st.sampled_from([2, 3]), st.sampled_from([None, 1, 3]))
def test_c45_trees_keep_their_decisions(seed, classes, rules):
    X, y = sample(seed, classes=classes)
    model = imodels.C45TreeClassifier(max_rules=rules).fit(X, y)
    tree = kt.keep(model, X, y)
    assert tree.feature_names == tuple(X.columns)
    assert tree.weight[0] == len(y)
    rows = tried(tree, X, seed)
    np.testing.assert_array_equal(tree.predict(rows), model.predict(rows))


def test_a_shrunk_c45_tree_decides_by_its_shrunk_leaves():
    X, y = sample(3, n=120)
    shrunk = imodels.tree.c45_tree.c45_tree.HSC45TreeClassifier
    model = shrunk(imodels.C45TreeClassifier(), reg_param=200.0)
    model.fit(X.to_numpy(), (y == "yes").astype(int))
    tree = kt.keep(model)
    rows = tried(tree, X, 3).to_numpy()
    np.testing.assert_array_equal(tree.predict(rows), model.predict(rows))
    plain = imodels.C45TreeClassifier().fit(X.to_numpy(), (y == "yes").astype(int))
    assert (plain.predict(rows) != model.predict(rows)).any(), "shrinkage changes decisions"


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**16), st.sampled_from([2, 3]))
def test_tao_trees_keep_their_leaves_and_decisions(seed, classes):
    X, y = sample(seed, classes=classes)
    model = imodels.TaoTreeClassifier(n_iters=3, model_args={"max_leaf_nodes": 6}).fit(X, y)
    with pytest.warns(UserWarning, match="TAO moves the tests"):
        tree = kt.keep(model)
    assert tree.weight[0] == 0
    rows = trying_rows(tree, X, seed, missing=False, largest=LARGEST)
    np.testing.assert_array_equal(tree.apply(rows), model.model.apply(rows))
    np.testing.assert_array_equal(tree.predict(rows), model.predict(rows))


@pytest.mark.filterwarnings("ignore:TAO moves")
def test_the_counts_of_a_tao_tree_come_from_data():
    X, y = sample(1)
    model = imodels.TaoTreeClassifier(n_iters=3).fit(X, y)
    assert kt.keep(model, X, y).counts[0].tolist() == [(y == "no").sum(), (y == "yes").sum()]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**16), st.sampled_from(["GreedyRuleListClassifier", "OneRClassifier"]))
def test_rule_lists_keep_their_decisions_and_counts(seed, name):
    X, y = sample(seed)
    model = getattr(imodels, name)(max_depth=4).fit(X, y)
    tree = kt.keep(model)
    rows = tried(tree, X, seed)
    np.testing.assert_array_equal(tree.predict(rows), model.predict(rows))
    counted = kt.keep(model, X, y)
    np.testing.assert_array_equal(tree.counts, counted.counts)
    np.testing.assert_allclose(tree.predict_proba(rows), model.predict_proba(rows), atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**16))
def test_fast_and_frugal_trees_keep_their_decisions(seed):
    X, y = sample(seed)
    model = imodels.FastFrugalTreeClassifier().fit(X, y)
    tree = kt.keep(model, X, y)
    rows = tried(tree, X, seed)
    np.testing.assert_array_equal(tree.predict(rows), model.predict(rows))


def optimal(X, y):
    """Return a FastSmallTreeClassifier with two tests.

    It is built without its search, which takes 20 s to compile.
    """
    model = imodels.FastSmallTreeClassifier()
    model.classes_, codes = np.unique(y, return_inverse=True)
    model.n_features_in_, model.feature_names_in_ = X.shape[1], np.array(X.columns, dtype=object)

    def leaf(rows, prediction):
        counts = np.bincount(codes[rows], minlength=2).astype(float)
        return {"prediction": prediction, "dist": counts.tolist()}

    low, high = sorted(X["a"].unique())[10], sorted(X["a"].unique())[20]
    rule = {"feature": 0, "type": "integral"}
    model.tree_ = {
        **rule, "reference": low, "false": leaf(X["a"] < low, 1),
        "true": {**rule, "reference": high, "true": leaf(X["a"] >= high, 0),
                 "false": leaf((X["a"] >= low) & (X["a"] < high), 1)},
    }  # fmt: skip
    costs = np.array([[0.0, 1.0], [3.0, 0.0]]) / len(y)
    for node in (model.tree_["false"], model.tree_["true"]["false"], model.tree_["true"]["true"]):
        node["prediction"] = int(np.argmin(costs @ node["dist"]))
    model.estimator_, model._node_proba_ = model._to_sklearn(model.tree_, X, costs)
    model._node_pred_ = model._node_predictions(model.tree_)
    return model


def test_an_optimal_tree_compares_float64_numbers_and_sends_missing_values_left():
    X, y = sample(2, n=80)
    X["a"] = 1e9 + X["a"].rank(method="dense")  # float32 cannot distinguish such numbers
    model = optimal(X, y)
    tree = kt.keep(model)
    assert tree.n_leaves == 3
    assert tree.counts[0].tolist() == [(y == "no").sum(), (y == "yes").sum()]
    rows = pd.DataFrame(trying_rows(tree, np.tile(X.to_numpy(), (3, 1)), 2), columns=X.columns)
    np.testing.assert_array_equal(tree.predict(rows), model.predict(rows))
    np.testing.assert_allclose(tree.predict_proba(rows), model.predict_proba(rows))


def test_models_that_are_not_one_classification_tree_are_refused():
    X, y = sample(4)
    with pytest.raises(TypeError, match="Cannot keep a FIGSClassifier of imodels"):
        kt.keep(imodels.FIGSClassifier(max_rules=3).fit(X, y))
    with pytest.warns(UserWarning, match="experimental"):
        regressor = imodels.TaoTreeRegressor(n_iters=1).fit(X, X["a"])
    with pytest.raises(ValueError, match="This TaoTreeRegressor predicts numbers"):
        kt.keep(regressor)
    with pytest.raises(ValueError, match="tree=1 does not exist"):
        kt.keep(imodels.C45TreeClassifier().fit(X, y), tree=1)
