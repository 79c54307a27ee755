"""A kept LightGBM tree sends every row to LightGBM's leaf, from memory and from text."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keeptree as kt
from tests.importers.neighbours import assert_same_partition, trying_rows

lightgbm = pytest.importorskip("lightgbm")
QUIET = {"verbose": -1, "n_jobs": 1, "min_child_samples": 5}


def sample(seed=0, n=300, missing=0.1, labels=("x", "y", "z", "w", "v")):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=["a", "b", "c"])
    X["kind"] = pd.Categorical(rng.choice(labels, n), categories=list(labels))
    y = ((X.a > 0.1) ^ X.kind.isin(labels[1:3])).to_numpy().astype(int)
    y[rng.random(n) < 0.1] ^= 1
    X[["a", "b", "c"]] = X[["a", "b", "c"]].mask(rng.random((n, 3)) < missing)
    return X, y


def rows_for(tree, X, seed):
    """Return rows for LightGBM at the thresholds, with missing and unseen categories."""
    rows = trying_rows(tree, tree.encode(pd.concat([X] * 3)), seed)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rows, columns=list(X.columns))
    names = [*X.kind.cat.categories, "unseen"]
    codes = rng.integers(-1, len(names), len(frame))
    frame["kind"] = pd.Categorical.from_codes(codes, names)
    return frame


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**16), st.integers(2, 12), st.sampled_from([0.0, 0.2]))
def test_random_models_keep_their_leaves(seed, leaves, missing):
    X, y = sample(seed, missing=missing)
    model = lightgbm.LGBMClassifier(
        n_estimators=2, num_leaves=leaves, min_data_per_group=5, cat_smooth=1,
        max_cat_to_onehot=1 + seed % 5, **QUIET,
    ).fit(X, y)  # fmt: skip
    for number in (0, 1):
        tree = kt.keep(model, X, y, tree=number)
        frame = rows_for(tree, X, seed)
        theirs = model.predict(frame, pred_leaf=True)[:, number]
        assert_same_partition(tree.apply(frame), theirs)


def test_the_first_tree_has_exact_counts_without_data():
    X, y = sample(1)
    model = lightgbm.LGBMClassifier(n_estimators=3, num_leaves=6, reg_lambda=0.5, **QUIET)
    model.fit(X, np.array(["no", "yes"])[y])
    tree = kt.keep(model, tree=0)
    counted = kt.keep(model, X, np.array(["no", "yes"])[y], tree=0)
    np.testing.assert_array_equal(tree.counts, counted.counts)
    assert tree.classes.tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match="no class counts; give rows to count"):
        kt.keep(model, tree=1)


def test_a_model_with_one_tree_keeps_its_decisions():
    X, y = sample(3)
    model = lightgbm.LGBMClassifier(n_estimators=1, **QUIET).fit(X, y)
    np.testing.assert_array_equal(kt.keep(model).predict(X), model.predict(X))


@pytest.mark.parametrize("changes", [{"reg_alpha": 1.0}, {"class_weight": "balanced"}])
def test_counts_come_from_data_if_the_formula_does_not_hold(changes):
    X, y = sample(2)
    y[:200] = 0
    model = lightgbm.LGBMClassifier(n_estimators=1, **changes, **QUIET).fit(X, y)
    assert kt.keep(model).weight[0] == 0, "the kept tree has decisions but no counts"
    assert kt.keep(model, X, y).weight[0] == len(y)


def test_the_text_file_is_read_without_lightgbm(tmp_path):
    X, y = sample(4)
    model = lightgbm.LGBMClassifier(n_estimators=2, **QUIET).fit(X, y)
    path = tmp_path / "model.txt"
    model.booster_.save_model(path)
    assert kt.keep(path, X, y, tree=1).to_dict() == kt.keep(model, X, y, tree=1).to_dict()
    with pytest.raises(ValueError, match=r"has 2 trees; choose one with tree=0 to tree=1"):
        kt.keep(path)
    path.write_text(path.read_text()[:900])
    with pytest.raises(ValueError, match="ends unexpectedly"):
        kt.keep(path, tree=0)


def test_unsupported_models_are_refused():
    X, y = sample(5, missing=0.0)
    numbers = X[["a", "b", "c"]]
    with pytest.raises(ValueError, match="objective 'regression', which does not classify"):
        kt.keep(lightgbm.LGBMRegressor(n_estimators=1, **QUIET).fit(numbers, numbers.a))
    zero = lightgbm.LGBMClassifier(n_estimators=1, zero_as_missing=True, **QUIET)
    with pytest.raises(ValueError, match="treats 0 as missing"):
        kt.keep(zero.fit(numbers, y))
    linear = lightgbm.LGBMClassifier(n_estimators=1, linear_tree=True, **QUIET)
    with pytest.raises(ValueError, match="hold linear models"):
        kt.keep(linear.fit(numbers, y))
