"""A kept XGBoost tree sends every row to XGBoost's leaf, from memory and from files."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keeptree as kt
from keeptree.importers.ubjson import parse_ubjson
from tests.importers.neighbours import assert_same_partition, trying_rows

xgboost = pytest.importorskip("xgboost")


def sample(seed=0, n=300, missing=0.1, categories=("x", "y", "z", "w")):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=["a", "b", "c d"])
    X["kind"] = pd.Categorical(rng.choice(categories, n), categories=list(categories))
    y = ((X.a > 0.1) ^ (X.kind == categories[1])).to_numpy().astype(int)
    y[rng.random(n) < 0.1] ^= 1
    X[["a", "b", "c d"]] = X[["a", "b", "c d"]].mask(rng.random((n, 3)) < missing)
    return X, y


def frame_of(tree, X, rows):
    """Return encoded rows as a frame with the dtypes of X."""
    frame = pd.DataFrame(rows, columns=list(X.columns))
    for j, labels in enumerate(tree.categories):
        if labels is not None:
            codes = frame.iloc[:, j].fillna(-1).astype(int)
            frame[X.columns[j]] = pd.Categorical.from_codes(codes, X[X.columns[j]].cat.categories)
    return frame


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**16), st.integers(1, 5), st.sampled_from(["hist", "exact", "approx"]))
def test_random_models_keep_their_leaves(seed, depth, method):
    X, y = sample(seed)
    if method == "exact":
        X = X.drop(columns="kind")
    model = xgboost.XGBClassifier(
        n_estimators=2, max_depth=depth, tree_method=method, enable_categorical=method != "exact",
        max_cat_to_onehot=1 + seed % 6, n_jobs=1,
    ).fit(X, y)  # fmt: skip
    for number in (0, 1):
        tree = kt.keep(model, X, y, tree=number)
        rows = trying_rows(tree, tree.encode(pd.concat([X] * 3)), seed, largest=3.4e38)
        frame = frame_of(tree, X, rows)
        theirs = model.apply(frame)[:, number]
        assert_same_partition(tree.apply(frame), theirs)


def test_the_first_tree_has_exact_counts_without_data():
    X, y = sample(1)
    model = xgboost.XGBClassifier(
        n_estimators=3, max_depth=3, enable_categorical=True, learning_rate=0.2, reg_lambda=2.5
    ).fit(X, y)
    tree, counted = kt.keep(model, tree=0), kt.keep(model, X, y, tree=0)
    np.testing.assert_array_equal(tree.counts, counted.counts)
    assert "formula" in tree.source["counts"]
    with pytest.raises(ValueError, match="no class counts; give rows to count"):
        kt.keep(model, tree=1)


@pytest.mark.parametrize(
    "changes",
    [{"subsample": 0.5}, {"reg_alpha": 1.0}, {"max_delta_step": 0.1}, {"scale_pos_weight": 3.0}],
)
def test_counts_come_from_data_if_the_formula_does_not_hold(changes):
    X, y = sample(2)
    model = xgboost.XGBClassifier(n_estimators=1, enable_categorical=True, **changes).fit(X, y)
    assert kt.keep(model).weight[0] == 0, "the kept tree has decisions but no counts"
    assert kt.keep(model, X, y).weight[0] == len(y)


def test_a_model_fitted_with_weights_has_no_counts():
    X, y = sample(2)
    model = xgboost.XGBClassifier(n_estimators=1, enable_categorical=True)
    model.fit(X, y, sample_weight=np.random.default_rng(0).random(len(y)))
    assert kt.keep(model).weight[0] == 0


def test_a_model_with_one_tree_keeps_its_decisions():
    X, y = sample(3)
    model = xgboost.XGBClassifier(n_estimators=1, max_depth=4, enable_categorical=True).fit(X, y)
    tree = kt.keep(model)
    np.testing.assert_array_equal(tree.predict(X), model.predict(X))


@pytest.mark.parametrize("suffix", ["json", "ubj"])
def test_files_are_read_without_xgboost(tmp_path, suffix):
    X, y = sample(4)
    model = xgboost.XGBClassifier(n_estimators=2, max_depth=3, enable_categorical=True).fit(X, y)
    path = tmp_path / f"model.{suffix}"
    model.save_model(path)
    expected = kt.keep(model, X, y, tree=1)
    assert kt.keep(path, X, y, tree=1).to_dict() == expected.to_dict()
    with pytest.raises(ValueError, match=r"has 2 trees; choose one with tree=0 to tree=1"):
        kt.keep(path)
    cut = tmp_path / f"cut.{suffix}"
    cut.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(ValueError, match="ends unexpectedly"):
        kt.keep(cut, tree=0)


def test_ubjson_and_json_hold_the_same_trees():
    X, y = sample(5)
    booster = xgboost.XGBClassifier(n_estimators=2, enable_categorical=True).fit(X, y).get_booster()
    binary = parse_ubjson(booster.save_raw("ubj"))
    text = json.loads(bytes(booster.save_raw("json")))
    ours = binary["learner"]["gradient_booster"]["model"]["trees"][1]
    theirs = text["learner"]["gradient_booster"]["model"]["trees"][1]
    np.testing.assert_array_equal(
        np.float32(ours["split_conditions"]), np.float32(theirs["split_conditions"])
    )
    assert ours["left_children"] == theirs["left_children"]


def test_several_classes_need_data_and_arrays_give_no_names():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(3, size=200)
    model = xgboost.XGBClassifier(n_estimators=2, max_depth=2).fit(X, y)
    tree = kt.keep(model, X, y, tree=4)
    assert tree.classes.tolist() == [0, 1, 2]
    assert tree.feature_names is None
    assert_same_partition(tree.apply(X), model.apply(X)[:, 4] if model.apply(X).ndim == 2 else 0)


def test_unsupported_models_are_refused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    with pytest.raises(ValueError, match="objective 'reg:squarederror', which does not classify"):
        kt.keep(xgboost.XGBRegressor(n_estimators=1).fit(X, y))
    with pytest.raises(ValueError, match="of kind 'gblinear', not of trees"):
        kt.keep(xgboost.XGBClassifier(booster="gblinear", n_estimators=1).fit(X, y > 0))
    with pytest.raises(ValueError, match=r"missing=0.*only NaN is missing"):
        kt.keep(xgboost.XGBClassifier(n_estimators=1, missing=0).fit(X, y > 0))
