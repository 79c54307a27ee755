"""ConfDTree with missing values estimated from the other attributes."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.ensemble import BaggingClassifier
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

OTHERS = {"missing": "others"}


def draw(n, seed, correlation=0.95):
    """Return two correlated columns and one of noise; the class depends on the first."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    b = correlation * a + np.sqrt(1 - correlation**2) * rng.normal(size=n)
    y = (a + 0.3 * rng.normal(size=n) > 0).astype(int)
    return np.column_stack([a, b, rng.normal(size=n)]), y


def two_tests():
    """Return a tree that tests x0 and, on either side, x1."""
    return kt.Tree(
        kind=[1, 1, 0, 0, 1, 0, 0],
        feature=[0, 1, -1, -1, 1, -1, -1],
        threshold=[0, -1, np.nan, np.nan, 1, np.nan, np.nan],
        child_start=[0, 2, 4, 4, 4, 6, 6, 6],
        child=[1, 4, 2, 3, 5, 6],
        missing=[-1] * 7,
        counts=[[50, 50], [45, 5], [20, 0], [25, 5], [5, 45], [5, 25], [0, 20]],
        classes=[0, 1],
        n_features=3,
    )


def test_children_are_weighted_by_naive_bayes():
    X, y = draw(600, 0)
    model = kt.ConfDTreeClassifier(two_tests(), options={**OTHERS, "significance": 0.0}).fit(X, y)
    row = np.array([[np.nan, 0.7, 0.2]])
    left = X[:, 0] <= 0
    density = [norm.pdf(0.7, X[s, 1].mean(), X[s, 1].std(ddof=1)) for s in (left, ~left)]
    expected = np.array([left.mean(), 1 - left.mean()]) * density
    found = model.profiles_.child_weights(0, np.array([1, 4]), row)[0]
    np.testing.assert_allclose(found, expected / expected.sum())
    copies = [row.copy(), row.copy()]
    for copy, side in zip(copies, (left, ~left), strict=True):
        copy[0, 0] = X[side, 0].mean()
    p = sum(w * model.predict_proba(c)[0] for w, c in zip(found, copies, strict=True))
    np.testing.assert_allclose(model.predict_proba(row)[0], p)


def test_the_option_does_not_affect_rows_without_missing_values():
    X, y = draw(400, 0)
    with_option, without = (
        kt.ConfDTreeClassifier(two_tests(), options=options).fit(X, y).predict_proba(X)
        for options in (OTHERS, None)
    )
    np.testing.assert_array_equal(with_option, without)


def test_a_correlated_attribute_replaces_the_missing_one():
    X, y = draw(2000, 0)
    tree = two_tests()
    new, true = draw(2000, 1)
    new[:, 0] = np.nan
    loss = {}
    for name in ("shares", "others"):
        options = {"missing": name, "smoothing": "laplace", "significance": 0.0}
        model = kt.ConfDTreeClassifier(tree, options=options).fit(X, y)
        p = model.predict_proba(new)
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
        loss[name] = log_loss(true, p)
    assert loss["others"] < loss["shares"] - 0.05


def test_rows_with_any_missing_values_and_nominal_tests_get_finite_probabilities():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    X["colour"] = rng.choice(["red", "green", "blue"], 400)
    y = np.digitize(X["a"] + X["b"] + 2 * (X["colour"] == "red"), [0, 1.5])
    X = X.mask(rng.random(X.shape) < 0.2)
    model = kt.ConfDTreeClassifier(kt.C45Classifier(), options=OTHERS).fit(X, y)
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    nothing = pd.DataFrame({name: [np.nan] for name in "abcd"} | {"colour": [None]})
    assert np.isfinite(model.predict_proba(nothing.astype(X.dtypes.to_dict()))).all()


def test_the_model_can_be_saved_and_a_damaged_file_is_detected(tmp_path):
    X, y = draw(300, 0)
    model = kt.ConfDTreeClassifier(two_tests(), options=OTHERS).fit(X, y)
    X[::3, 0] = np.nan
    kt.save(model, tmp_path / "m.json")
    np.testing.assert_array_equal(
        kt.load(tmp_path / "m.json").predict_proba(X), model.predict_proba(X)
    )
    model.profiles_.typical[1] = 5.0  # on the other side of the test
    kt.save(model, tmp_path / "m.json")
    with pytest.raises(ValueError, match="leads to another node"):
        kt.load(tmp_path / "m.json")


def test_tracing_missing_values_and_exporting_raise_a_clear_error(tmp_path):
    X, y = draw(300, 0)
    model = kt.ConfDTreeClassifier(two_tests(), options=OTHERS).fit(X, y)
    assert len(model.trace(X[:2])) == 2
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="A trace follows one path"):
        model.trace(X[:2])
    with pytest.raises(ValueError, match="estimates missing values cannot be exported"):
        kt.export(model, tmp_path / "m.py")


@pytest.mark.parametrize("learner", [DecisionTreeClassifier(max_depth=4), kt.C45Classifier()])
def test_corrected_trees_can_be_bagged_by_scikit_learn(learner):
    X, y = draw(300, 0)
    member = kt.ConfDTreeClassifier(learner, "normal", options={"smoothing": "laplace"})
    bag = BaggingClassifier(member, n_estimators=5, random_state=0).fit(X, y)
    assert all(isinstance(tree, kt.ConfDTreeClassifier) for tree in bag.estimators_)
    own = [tree.predict_proba(X) for tree in bag.estimators_]
    np.testing.assert_allclose(bag.predict_proba(X), np.mean(own, axis=0))


def test_a_fitted_bag_of_trees_is_corrected_like_a_forest():
    X, y = draw(300, 0)
    bag = BaggingClassifier(DecisionTreeClassifier(max_depth=4), 5, random_state=0).fit(X, y)
    model = kt.ConfDTreeForestClassifier(bag, kt.ConfDTreeClassifier(interval="normal")).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), bag.predict(X))
    assert not np.array_equal(model.predict_proba(X), bag.predict_proba(X))
    some = BaggingClassifier(DecisionTreeClassifier(), 3, max_features=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="all columns"):
        kt.ConfDTreeForestClassifier(some).fit(X, y)
