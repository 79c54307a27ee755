"""The distance kernel with a second feature: exact sums, properties, saving, errors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.exporters.plain_model import plain_model
from keeptree.probability import plane
from tests.reference.plane import plane_share

TWO = "distance+separator"


def features_of(model, X):
    """Return signed distances and positions of the nearest points, from the public geometry."""
    boundary, tree = model.boundary_, model.tree_
    tested = np.unique(tree.feature[tree.kind != 0])
    metric = boundary.metric_
    point = boundary.nearest(X).point
    places = ((point - metric.center_) * metric.factor_)[:, tested]
    return boundary.signed_distance(X), places


@pytest.mark.parametrize("bandwidth", [0.03, 0.1])
def test_global_estimates_are_the_exact_sums(cancer, cancer_tree, bandwidth):
    X, y = cancer
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    tree = kt.keep(cancer_tree)
    model = kt.DistanceKernelClassifier(tree, features=TWO, bandwidth=bandwidth, grid=None)
    model.fit(X, y, sample_weight=weight)
    new = X[:80] * np.random.default_rng(1).uniform(0.7, 1.5, size=(80, X.shape[1]))
    (h_train, places_train), (h, places) = features_of(model, X), features_of(model, new)
    expected = plane_share(
        h[:, 0], places, h_train[:, 0], places_train, (y == 0).astype(float), weight, bandwidth
    )
    np.testing.assert_allclose(model.predict_proba(new)[:, 0], expected, atol=1e-5)


def test_several_classes_are_estimated_against_the_rest_and_normalised(iris, iris_tree):
    X, y = iris
    model = kt.DistanceKernelClassifier(iris_tree, features=TWO).fit(X, y)
    h, places = features_of(model, X)
    shares = [
        plane_share(h[:, c], places, h[:, c], places, (y == c).astype(float), np.ones(len(y)), 0.1)
        for c in range(3)
    ]
    expected = np.column_stack(shares) / np.sum(shares, axis=0)[:, None]
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-5)


def test_each_separator_has_its_own_plane(cancer, cancer_tree):
    X, y = cancer
    model = kt.DistanceKernelClassifier(cancer_tree, "separator", features=TWO, grid=None)
    p = model.fit(X, y).predict_proba(X)[:, 0]
    h, places = features_of(model, X)
    group = model.boundary_.nearest(X).separator
    assert len(np.unique(group)) > 2
    for g in np.unique(group):
        rows = group == g
        own, weight = (y[rows] == 0).astype(float), np.ones(rows.sum())
        train = h[rows, 0], places[rows], own, weight
        share = plane_share(h[rows, 0], places[rows], *train, 0.1, spread=np.ptp(h[:, 0]))
        np.testing.assert_allclose(p[rows], share, atol=1e-5)


def noise_along_the_boundary(n, seed):
    """Return data whose classes change at x = 0, with more noise where z is positive."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    wrong = rng.random(n) < np.where(X[:, 1] > 0, 0.4, 0.02)
    return X, (X[:, 0] > 0) ^ wrong


def test_the_position_helps_if_noise_varies_along_the_boundary():
    X, y = noise_along_the_boundary(4000, 0)
    tree = kt.keep(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y))
    assert set(tree.feature) == {-1, 0, 1}
    new, true = noise_along_the_boundary(4000, 1)
    one, two = (
        kt.DistanceKernelClassifier(tree, features=features).fit(X, y).predict_proba(new)
        for features in ("distance", TWO)
    )
    assert log_loss(true, two) < log_loss(true, one) - 0.01


def test_distant_rows_and_constant_columns_give_finite_probabilities(cancer, cancer_tree):
    X, y = cancer
    model = kt.DistanceKernelClassifier(cancer_tree, features=TWO, bandwidth=0.01).fit(X, y)
    far = np.vstack([X * 1e12, X * -1e12, X * 1e30, np.zeros_like(X)])
    p = model.predict_proba(far)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    alone = np.ones((20, 2)) * np.arange(20)[:, None]
    stump = kt.DistanceKernelClassifier(features=TWO).fit(alone, np.arange(20) > 9)
    assert np.isfinite(stump.predict_proba(alone * 1e9)).all()


@pytest.mark.parametrize("scope", ["global", "separator", "leaf"])
def test_a_loaded_model_gives_identical_probabilities(iris, tmp_path, scope):
    X, y = iris
    model = kt.DistanceKernelClassifier(scope=scope, features=TWO).fit(X, y)
    kt.save(model, tmp_path / "m.json")
    loaded = kt.load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.scorer()(X[70]).probability.tolist() == model.predict_proba(X[70:71])[0].tolist()


def test_a_damaged_file_is_refused(iris, tmp_path):
    model = kt.DistanceKernelClassifier(features=TWO).fit(*iris)
    model.curves_.group[0] = 99
    kt.save(model, tmp_path / "m.json")
    with pytest.raises(ValueError, match="group must lie between"):
        kt.load(tmp_path / "m.json")


def test_nominal_attributes_and_missing_values_are_supported():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.normal(size=300), "b": rng.normal(size=300), "c": rng.choice(["x", "y"], 300)}
    )
    y = (X["a"] + X["b"] + (X["c"] == "x") > 0.5).to_numpy()
    X.loc[::7, "a"] = np.nan
    p = kt.DistanceKernelClassifier(features=TWO).fit(X, y).predict_proba(X)
    assert np.isfinite(p).all()
    only = kt.DistanceKernelClassifier(features=TWO).fit(X[["c"]], X["c"] == "x")
    assert np.isfinite(only.predict_proba(X[["c"]])).all()


def test_merging_many_cases_hardly_changes_the_estimate(monkeypatch):
    X, y = noise_along_the_boundary(3000, 0)
    tree = kt.keep(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y))
    model = kt.DistanceKernelClassifier(tree, features=TWO)
    exact = model.fit(X, y).predict_proba(X)
    monkeypatch.setattr(plane, "MOST_CASES", 1500)
    merged = model.fit(X, y)
    assert len(merged.curves_.place) <= 1500
    assert merged.curves_.mass[:, 0].sum() == pytest.approx(3000)
    np.testing.assert_allclose(merged.predict_proba(X), exact, atol=0.01)


def test_cross_validation_chooses_one_bandwidth_for_both_features():
    X, y = noise_along_the_boundary(600, 0)
    model = kt.DistanceKernelClassifier(features=TWO, bandwidth="cv").fit(X, y)
    h = model.boundary_.signed_distance(X)
    fraction = model.bandwidth_[0] / np.ptp(h[:, 0])
    assert np.isclose(fraction, [0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3]).any()
    losses = {}
    for f in (0.01, fraction):
        fixed = kt.DistanceKernelClassifier(model.tree_, features=TWO, bandwidth=float(f))
        new, true = noise_along_the_boundary(600, 1)
        losses[f] = log_loss(true, fixed.fit(X, y).predict_proba(new))
    assert losses[fraction] <= losses[0.01]


def test_unsupported_uses_raise_a_clear_error(iris, tmp_path):
    with pytest.raises(ValueError, match='needs kernel="gaussian", got'):
        kt.DistanceKernelClassifier(features=TWO, kernel="uniform").fit(*iris)
    model = kt.DistanceKernelClassifier(features=TWO).fit(*iris)
    with pytest.raises(ValueError, match="does not depend on the distance alone"):
        model.curve([0.0], 1)
    assert plain_model(model, {f: f for f in range(4)}) is None, "the page cannot compute it either"
    for ending in ("py", "sql", "onnx"):
        with pytest.raises(ValueError, match="cannot be exported, as no format"):
            kt.export(model, tmp_path / f"m.{ending}")
