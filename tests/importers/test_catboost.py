"""A kept CatBoost tree sends every row to CatBoost's leaf, from memory and from JSON."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keeptree as kt
from tests.importers.neighbours import assert_same_partition, trying_rows

catboost = pytest.importorskip("catboost")
QUIET = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 0}


def sample(seed=0, n=300, missing=0.1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=["a", "b", "c"])
    X["kind"] = rng.choice(["x", "y", "z", "w"], n)
    y = ((X.a > 0.1) ^ X.kind.isin(["x", "z"])).to_numpy().astype(int)
    X[["a", "b", "c"]] = X[["a", "b", "c"]].mask(rng.random((n, 3)) < missing)
    return X, y


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**16), st.integers(1, 5), st.sampled_from(["Min", "Max"]))
def test_random_models_keep_their_leaves(tmp_path_factory, seed, depth, nan_mode):
    X, y = sample(seed)
    model = catboost.CatBoostClassifier(
        iterations=2, depth=depth, one_hot_max_size=10, nan_mode=nan_mode, **QUIET
    )
    model.fit(X, y, cat_features=["kind"])
    path = tmp_path_factory.mktemp("models") / "model.json"
    model.save_model(str(path), format="json", pool=catboost.Pool(X, cat_features=["kind"]))
    for number in (0, 1):
        tree = kt.keep(path, X, y, tree=number)
        rows = trying_rows(tree, tree.encode(pd.concat([X] * 2)), seed)
        frame = pd.DataFrame(rows, columns=list(X.columns))
        frame["kind"] = np.random.default_rng(seed).choice([*"xyzw", "unseen"], len(frame))
        theirs = model.calc_leaf_indexes(catboost.Pool(frame, cat_features=["kind"]))[:, number]
        ours = tree.apply(frame)
        # An oblivious tree has leaves with contradictory conditions, which no row reaches.
        assert_same_partition(ours, theirs)


def test_a_numeric_model_in_memory_keeps_its_decisions():
    X, y = sample(1)
    X = X[["a", "b", "c"]]
    model = catboost.CatBoostClassifier(iterations=1, depth=3, **QUIET).fit(X, y)
    tree = kt.keep(model)
    np.testing.assert_array_equal(tree.predict(X), model.predict(X))
    assert kt.keep(model, X, y).weight[0] == len(y)


def test_unsupported_models_are_refused():
    X, y = sample(2)
    named = catboost.CatBoostClassifier(iterations=1, one_hot_max_size=10, depth=4, **QUIET)
    with pytest.raises(ValueError, match=r"does not hold the names of its categories.*pool=pool"):
        kt.keep(named.fit(X, y, cat_features=["kind"]))
    statistic = catboost.CatBoostClassifier(iterations=1, one_hot_max_size=1, depth=4, **QUIET)
    with pytest.raises(ValueError, match="tests a statistic of the target"):
        kt.keep(statistic.fit(X, y, cat_features=["kind"]))
    numbers = X[["a", "b", "c"]]
    grown = catboost.CatBoostClassifier(iterations=1, grow_policy="Lossguide", **QUIET)
    with pytest.raises(ValueError, match="grown with Depthwise or Lossguide"):
        kt.keep(grown.fit(numbers, y))
    with pytest.raises(ValueError, match="loss 'RMSE', which does not classify"):
        kt.keep(catboost.CatBoostRegressor(iterations=1, **QUIET).fit(numbers, y))
