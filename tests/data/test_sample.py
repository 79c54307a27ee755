"""A sample is converted, encoded and measured once, and its parts agree with the whole."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import validation

import keeptree as kt
from keeptree.data import observed, sample, table
from keeptree.data.sample import Sample
from keeptree.tree import tree

MODELS = [
    kt.KeptTreeClassifier(),
    kt.SoftTreeClassifier(),
    kt.MarginTreeClassifier(),
    kt.SmoothedTreeClassifier(smoothing="shrinkage", strength="cv"),
    kt.DistanceKernelClassifier(scope="separator"),
    kt.GeometricRankClassifier(scope="local"),
    kt.ConfDTreeClassifier(),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@pytest.fixture
def count(monkeypatch):
    """Return a counter of calls that encode a table, measure columns or find copies.

    ``as_array`` and ``check_array``, which scikit-learn's ``validate_data`` calls too, count only
    if they convert a table.
    """
    calls = Counter()

    def counted(module, name):
        function = getattr(module, name)

        def call(*arguments, **options):
            calls[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, call)

    def conversions(function):
        def convert(given, *arguments, **options):
            made = function(given, *arguments, **options)
            calls["converted"] += made is not given and np.ndim(made) == 2
            return made

        return convert

    monkeypatch.setattr(validation, "check_array", conversions(validation.check_array))
    monkeypatch.setattr(table, "check_array", conversions(table.check_array))
    monkeypatch.setattr(table, "as_array", conversions(table.as_array))
    counted(tree, "as_matrix")
    counted(observed, "column_spread")
    counted(sample, "find_copies")
    return calls


def nominal(n=300):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], n)
    X = pd.DataFrame({"x": rng.normal(size=n), "colour": colour.astype(object)})
    X.loc[3, "colour"] = "grey"  # a single case, so one fold is grown without this category
    return X, np.where(X["x"] + (colour == "red") + rng.normal(size=n) > 0.5, "yes", "no")


def numeric():
    return load_breast_cancer(return_X_y=True)


@every_model
@pytest.mark.parametrize("draw", [numeric, nominal])
def test_fit_and_each_prediction_encode_a_table_once(model, draw, count):
    X, y = draw()
    model = model.fit(X, y)
    assert count.pop("as_matrix") == 1
    for method in ("predict", "predict_proba", "decision_function", "contributions", "affected"):
        if hasattr(model, method):
            getattr(model, method)(X)
            assert count.pop("as_matrix") == 1, method
    model.score(X, y)
    assert count.pop("as_matrix") == 1


@every_model
@pytest.mark.parametrize("form", [np.float32, pd.DataFrame], ids=["float32", "frame"])
def test_fit_around_a_kept_tree_converts_a_table_once(model, form, count):
    X, y = numeric()
    kept = kt.keep(DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X, y))
    model = clone(model).set_params(estimator=kept)
    table = form(X)
    count.clear()
    model.fit(table, y)
    assert count["converted"] == 1
    np.testing.assert_array_equal(model.observed_.low, np.float64(table).min(axis=0))


def test_a_forest_converts_a_table_and_measures_its_columns_once_for_all_trees(count):
    X, y = numeric()
    X = X.astype(np.float32)
    forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y)
    count.clear()
    model = kt.ConfDTreeForestClassifier(forest).fit(X, y)
    assert count["converted"] == count["as_matrix"] == count["column_spread"] == 1
    for method in ("predict", "predict_proba"):
        count.clear()
        getattr(model, method)(X)
        assert count["converted"] == 1
        assert count["as_matrix"] == 0
    for found in model.trees_:
        alone = observed.observe(X.astype(np.float64), found.tree_)
        assert [part.tolist() for part in found.observed_.columns] == [
            part.tolist() for part in alone.columns
        ]
        np.testing.assert_array_equal(found.observed_.step, alone.step)


@every_model
def test_fit_measures_columns_and_finds_copies_once(model, count):
    model.fit(*numeric())
    folds = 5 if isinstance(model, tuple(map(type, MODELS[:3]))) else 0
    assert count["column_spread"] == 1 + folds  # each fold measures its own columns
    assert count["find_copies"] <= 1 + folds


def test_folds_of_a_pipeline_are_encoded_again_because_its_steps_are_refitted(count):
    pipe = make_pipeline(PCA(), DecisionTreeClassifier(max_depth=3, random_state=0))
    kt.SoftTreeClassifier(pipe).fit(*numeric())
    assert count["as_matrix"] == 1 + 2 * 5  # the rows used for growing and the held-out rows


def test_recoding_rows_for_a_tree_with_fewer_categories_equals_its_own_encoding():
    X, y = nominal()
    whole = kt.C45Classifier().fit(X, y).tree_
    part = kt.C45Classifier().fit(X.iloc[10:], y[10:]).tree_
    assert len(part.categories[1]) == len(whole.categories[1]) - 1
    codes = np.unique(y, return_inverse=True)[1]
    found = Sample(whole, whole.encode(X), codes).read_by(part)
    np.testing.assert_array_equal(found.X, part.encode(X))
    assert found.tree is part
    assert Sample(part, part.encode(X), codes).read_by(whole) is None  # grey has no code there


def test_parts_of_a_sample_keep_rows_classes_and_weights_together():
    X, y = numeric()
    kept = kt.C45Classifier().fit(X, y).tree_
    weight = np.arange(len(y)) % 3.0
    whole = Sample(kept, X, y, weight)
    for rows in ([5, 1], slice(3, 9), weight > 1):
        part = whole.take(rows)
        assert len(part) == len(part.y)
        np.testing.assert_array_equal(part.X, X[rows])
        np.testing.assert_array_equal(part.weight, weight[rows])
    assert len(whole.present) == np.count_nonzero(weight)
    assert whole.present.present is whole.present
    np.testing.assert_allclose(whole.class_weight, [weight[y == 0].sum(), weight[y == 1].sum()])
    np.testing.assert_array_equal(whole.distinct(2), np.unique(X[weight > 0, 2]))
    assert (whole.take(slice(9)).weight == weight[:9]).all()
    assert (Sample(kept, X, y).weight == 1).all()


def test_a_sample_records_the_share_of_missing_values():
    X = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, 3.0], [4.0, np.nan]])
    tree = kt.C45Classifier().fit(X, [0, 1, 0, 1]).tree_
    assert Sample(tree, X, [0, 1, 0, 1]).observed.missing.tolist() == [0.25, 0.75]
    weight = np.array([1.0, 2.0, 0.0, 1.0])
    assert Sample(tree, X, [0, 1, 0, 1], weight).observed.missing.tolist() == [0.0, 1.0]


@given(st.integers(0, 2**32 - 1), st.integers(1, 200))
def test_the_share_of_a_single_class_is_one_despite_rounding(seed, n):
    weight = np.random.default_rng(seed).random(n) ** 8
    tree = kt.C45Classifier().fit(np.zeros((2, 1)), [0, 1]).tree_
    sample = Sample(tree, np.zeros((n, 1)), np.zeros(n, dtype=int), weight)
    assert sample.class_share.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("handle_unknown", ["ignore", "infrequent_if_exist"])
def test_a_category_that_another_pipeline_did_not_see_is_read_as_unseen(handle_unknown):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 200)
    colour[[3, 4]] = "grey"
    X = pd.DataFrame({"size": rng.normal(size=200), "colour": colour})
    X.loc[::9, "size"] = np.nan
    X.loc[::7, "colour"] = np.nan
    y = (X["colour"] == "red").to_numpy() | (X["size"] > 1).to_numpy()

    def pipeline():
        encoder = OneHotEncoder(handle_unknown=handle_unknown)
        impute = SimpleImputer(strategy="most_frequent")
        columns = (SimpleImputer(), ["size"]), (make_pipeline(impute, encoder), ["colour"])
        return make_pipeline(make_column_transformer(*columns), DecisionTreeClassifier())

    whole, part = (
        kt.keep(pipeline().fit(X[rows], y[rows])) for rows in (slice(None), slice(9, 200))
    )
    assert whole.categories != part.categories
    found = Sample(whole, whole.encode(X), y.astype(int)).read_by(part)
    np.testing.assert_array_equal(found.X, part.encode(X))
    unseen = X.assign(colour="grey")
    back = Sample(part, part.encode(unseen), y.astype(int)).read_by(whole)
    assert back is None  # only the raw rows tell that these are grey
