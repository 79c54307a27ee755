"""keep sends every row to the leaf of the scikit-learn tree, and does not change the model."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

import keeptree as kt

MODELS = {
    "unpruned": DecisionTreeClassifier(random_state=0),
    "best first": DecisionTreeClassifier(max_leaf_nodes=9, random_state=0),
    "entropy": DecisionTreeClassifier(criterion="entropy", min_samples_leaf=5, random_state=0),
    "balanced": DecisionTreeClassifier(class_weight="balanced", max_depth=5, random_state=0),
    "random splits": ExtraTreeClassifier(random_state=0),
    "monotonic": DecisionTreeClassifier(monotonic_cst=[-1, 1, *[0] * 28], max_depth=5),
    "one leaf": DecisionTreeClassifier(max_depth=1, min_samples_leaf=500),
    "regression": DecisionTreeRegressor(max_leaf_nodes=20, random_state=0),
    "absolute error": DecisionTreeRegressor(criterion="absolute_error", max_depth=4),
    "random regression": ExtraTreeRegressor(random_state=0),
}


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


def rows_on_and_beside_thresholds(model, X, seed=0):
    """Return rows with values at thresholds and at their neighbours in float32 and float64."""
    rng = np.random.default_rng(seed)
    rows = X[rng.integers(len(X), size=4 * model.tree_.node_count)].astype(np.float64)
    for row in rows:
        node = rng.integers(model.tree_.node_count)
        feature, threshold = model.tree_.feature[node], model.tree_.threshold[node]
        if feature < 0:
            continue
        single = np.float32(threshold)
        row[feature] = rng.choice(
            [
                threshold,
                np.nextafter(threshold, np.inf),
                np.nextafter(threshold, -np.inf),
                single,
                np.nextafter(single, np.float32(np.inf)),
                np.nextafter(single, np.float32(-np.inf)),
            ]
        )
    return rows


@pytest.mark.parametrize("name", MODELS)
def test_every_row_reaches_the_leaf_of_the_model(cancer, name):
    X, y = cancer
    model = MODELS[name].fit(X, y)
    tree = kt.keep(model)
    for rows in (X, rows_on_and_beside_thresholds(model, X), -X, np.asfortranarray(X * 1.5)):
        np.testing.assert_array_equal(tree.apply(rows), model.apply(rows))
        np.testing.assert_array_equal(tree.predict(rows), model.predict(rows))
    assert (tree.decision_path(X) != model.decision_path(X)).nnz == 0
    assert tree.n_leaves == model.get_n_leaves()
    assert tree.max_depth == model.get_depth()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1e-30, 1e30), st.integers(2, 26))
def test_random_trees_keep_their_leaves_at_any_scale(seed, scale, n_classes):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(120, 4)), 1) * scale
    y = rng.integers(n_classes, size=120)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    tree = kt.keep(model)
    rows = rows_on_and_beside_thresholds(model, X, seed)
    np.testing.assert_array_equal(tree.apply(rows), model.apply(rows))
    np.testing.assert_array_equal(tree.predict(rows), model.predict(rows))


@pytest.mark.parametrize("missing_in_training", [True, False])
@pytest.mark.parametrize("name", ["unpruned", "random splits", "regression"])
def test_missing_values_go_where_the_model_sends_them(cancer, name, missing_in_training):
    X, y = cancer
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = MODELS[name].fit(holes if missing_in_training else X, y)
    np.testing.assert_array_equal(kt.keep(model).apply(holes), model.apply(holes))


def test_missing_values_that_a_tree_refuses_are_reported_with_row_and_column():
    # All trees of scikit-learn 1.6 and later accept missing values; those of others may not.
    X, y = load_iris(return_X_y=True)
    tree = kt.keep(NoMissingValues(max_depth=2).fit(X, y))
    with pytest.raises(ValueError, match=r"Row 0 has no value for 'x\[\d\]'"):
        tree.apply(np.full((1, 4), np.nan))


class NoMissingValues(DecisionTreeClassifier):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags


def test_counts_are_the_training_cases_of_each_node(cancer):
    X, y = cancer
    model = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, y)
    tree = kt.keep(model)
    leaf = model.apply(X)
    for node in np.flatnonzero(tree.kind == 0):
        assert tree.counts[node].tolist() == np.bincount(y[leaf == node], minlength=2).tolist()
    np.testing.assert_allclose(tree.predict_proba(X), model.predict_proba(X), atol=1e-15)


def test_weighted_counts_add_up_to_the_weights(cancer):
    X, y = cancer
    weight = np.random.default_rng(0).random(len(y)) * 10
    tree = kt.keep(DecisionTreeClassifier(max_depth=4).fit(X, y, sample_weight=weight))
    np.testing.assert_allclose(tree.counts[0], np.bincount(y, weight))


def test_a_regression_tree_stores_weight_mean_and_variance(cancer):
    X, _ = cancer
    model = DecisionTreeRegressor(max_depth=3).fit(X, X[:, 0])
    tree = kt.keep(model)
    leaf = model.apply(X)
    for node in np.unique(leaf):
        values = X[leaf == node, 0]
        np.testing.assert_allclose(tree.mean[node], values.mean())
        np.testing.assert_allclose(tree.variance[node], values.var(), atol=1e-9)
        assert tree.weight[node] == len(values)


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [-1, 1], [2.0, 7.0], [False, True], np.array(["x", "yy"], dtype=object)],
)
def test_labels_of_any_type_are_preserved(cancer, labels):
    X, y = cancer
    named = np.asarray(labels)[y]
    model = DecisionTreeClassifier(max_depth=3).fit(X, named)
    predicted = kt.keep(model).predict(X)
    np.testing.assert_array_equal(predicted, model.predict(X))
    assert predicted.dtype == model.predict(X).dtype


def test_names_come_from_the_data_frame():
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = kt.keep(DecisionTreeClassifier(max_depth=2).fit(X, y))
    assert tree.feature_names == tuple(X.columns)
    assert tree.source["model"] == "DecisionTreeClassifier"


def test_keep_finds_the_tree_inside_wrappers_and_pipelines(cancer):
    X, y = cancer
    plain = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    expected = kt.keep(plain).to_dict()
    assert kt.keep(FrozenEstimator(plain)).to_dict() == expected
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [3]}).fit(X, y)
    assert kt.keep(search).to_dict() == expected
    pipe = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3, random_state=0))
    pipe.fit(X, y)
    scaled = pipe[:-1].transform(X)
    unfolded = kt.keep(pipe, fold=False)
    np.testing.assert_array_equal(unfolded.apply(scaled), pipe[-1].apply(scaled))
    np.testing.assert_array_equal(kt.keep(pipe).apply(X), pipe[-1].apply(scaled))
    assert kt.keep(make_pipeline(FrozenEstimator(plain)).fit(X, y)).to_dict() == expected
    tree = kt.keep(plain)
    assert kt.keep(tree) is tree
    assert kt.keep(kt.SmoothedTreeClassifier(tree).fit(X, y)) is tree
    learner = kt.C45Classifier().fit(X, y)
    assert kt.keep(learner) is learner.tree_


@pytest.mark.parametrize("name", MODELS)
def test_keeping_changes_no_byte_of_the_model(cancer, name):
    X, y = cancer
    model = MODELS[name].fit(X, y)
    before = pickle.dumps(model)
    tree = kt.keep(model)
    tree.predict(X)
    assert pickle.dumps(model) == before


def test_an_unsupported_model_raises_a_type_error_that_lists_supported_models(cancer):
    with pytest.raises(TypeError, match=r"LogisticRegression.*tree, forest or pipeline of scikit"):
        kt.keep(LogisticRegression())
    with pytest.raises(TypeError, match="int"):
        kt.keep(3)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        FrozenEstimator(DecisionTreeClassifier()),
        make_pipeline(StandardScaler(), DecisionTreeClassifier()),
        kt.C45Classifier(),
        kt.SmoothedTreeClassifier(),
    ],
)
def test_an_unfitted_model_raises_not_fitted_error(model):
    with pytest.raises(NotFittedError):
        kt.keep(model)


def test_a_tree_with_several_outputs_raises_a_clear_error(cancer):
    X, y = cancer
    model = DecisionTreeClassifier(max_depth=2).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"2 outputs.*fit one tree for each"):
        kt.keep(model)


def test_a_pandas_frame_is_read_like_an_array():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = DecisionTreeClassifier().fit(X, y)
    tree = kt.keep(model)
    np.testing.assert_array_equal(tree.apply(X), model.apply(X))
    np.testing.assert_array_equal(tree.apply(X.to_numpy()), model.apply(X))
    with pytest.raises(ValueError, match="in another order; give them as"):
        tree.apply(pd.DataFrame(X)[X.columns[::-1]])


def test_a_variance_made_negative_by_rounding_becomes_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] > 0, 0.1, 0.7) + rng.choice([0, 1e-9], size=200)
    model = DecisionTreeRegressor(random_state=0).fit(X, y)
    assert model.tree_.impurity.min() < 0, (
        "scikit-learn subtracts the squared mean from the mean of squares"
    )
    assert kt.keep(model).variance.min() == 0


@pytest.mark.parametrize("weight", [1e-300, 1e-10, 1.0, 1e10, 1e250])
def test_weights_of_any_size_give_the_same_proportions(weight):
    X, y = load_iris(return_X_y=True)
    weights = np.full(len(X), weight)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(kt.keep(model).predict_proba(X), model.predict_proba(X), atol=1e-12)
