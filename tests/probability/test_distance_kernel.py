"""Distance kernel probabilities agree with exact kernel sums and the paper's two-subset example."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt


def exact_probabilities(h_train, y, h, width, n_classes, weight=None):
    """Return normalised ratios of Gaussian kernel sums (Alvarez 2007, eq. 2)."""
    weight = np.ones(len(y)) if weight is None else weight
    p = np.empty((len(h), n_classes))
    for c in range(n_classes):
        log_kernel = -0.5 * ((h[:, c, None] - h_train[None, :, c]) / width[c]) ** 2
        total = logsumexp(log_kernel, axis=1, b=weight)
        p[:, c] = np.exp(logsumexp(log_kernel, axis=1, b=weight * (y == c)) - total)
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("bandwidth", [0.02, 0.05, 0.1, 0.15])
@pytest.mark.parametrize("metric", ["standard", "minmax"])
def test_global_estimates_are_the_exact_kernel_sums(cancer, cancer_tree, bandwidth, metric):
    X, y = cancer
    model = kt.DistanceKernelClassifier(cancer_tree, metric=metric, bandwidth=bandwidth).fit(X, y)
    boundary = kt.Boundary(cancer_tree, metric).fit(X)
    h_train = boundary.signed_distance(X)
    np.testing.assert_allclose(model.bandwidth_, bandwidth * np.ptp(h_train, axis=0), rtol=1e-5)
    rng = np.random.default_rng(0)
    rows = np.vstack([X, X * rng.uniform(0, 3, size=X.shape), X[:20] * 1e6])
    expected = exact_probabilities(h_train, y, boundary.signed_distance(rows), model.bandwidth_, 2)
    np.testing.assert_allclose(model.predict_proba(rows), expected, atol=1e-4)


def test_several_classes_are_estimated_against_the_rest_and_normalised(iris, iris_tree):
    X, y = iris
    for grid in (None, "observed"):
        model = kt.DistanceKernelClassifier(iris_tree, grid=grid).fit(X, y)
        h = kt.Boundary(iris_tree, grid=grid).fit(X).signed_distance(X)
        expected = exact_probabilities(h, y, h, 0.1 * np.ptp(h, axis=0), 3)
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-4)


def test_distances_use_the_observed_grid_unless_it_is_disabled_as_in_the_paper(iris, iris_tree):
    X, y = iris
    default = kt.DistanceKernelClassifier(iris_tree).fit(X, y)
    papers = kt.DistanceKernelClassifier(iris_tree, grid=None).fit(X, y)
    assert default.boundary_.grid_.any()
    assert papers.boundary_.grid_ is None
    assert (default.boundary_.distance(X) > papers.boundary_.distance(X)).any()


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_the_normalised_curves_of_the_classes_are_the_probabilities(
    cancer, cancer_tree, iris, iris_tree, kernel
):
    for (X, y), tree in ((cancer, cancer_tree), (iris, iris_tree)):
        model = kt.DistanceKernelClassifier(tree, kernel=kernel).fit(X, y)
        h = model.boundary_.signed_distance(X)
        shares = [model.curve(h[:, c], label) for c, label in enumerate(model.tree_.classes)]
        p = np.column_stack(shares) / np.sum(shares, axis=0)[:, None]
        np.testing.assert_allclose(p, model.predict_proba(X), atol=1e-4)
        local = kt.DistanceKernelClassifier(tree, "leaf", kernel=kernel).fit(X, y)
        # The curve uses all cases, whatever the scope.
        for c, label in enumerate(model.tree_.classes):
            np.testing.assert_array_equal(local.curve(h[:, c], label), shares[c])


def test_a_class_without_a_boundary_has_no_curve(iris):
    X, y = iris
    stump = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0).fit(X, y)
    model = kt.DistanceKernelClassifier(stump).fit(X, y)
    (lost,) = set(y) - set(stump.predict(X))
    with pytest.raises(
        ValueError, match="no boundary in this tree, hence no curve; use predict_proba"
    ):
        model.curve([0.0], lost)
    with pytest.raises(ValueError, match="2 dimensions; give one distance per case"):
        model.curve([[0.0]], stump.predict(X)[0])
    one_leaf = kt.DistanceKernelClassifier(DecisionTreeClassifier(min_samples_leaf=100)).fit(X, y)
    with pytest.raises(ValueError, match="no boundary"):
        one_leaf.curve([0.0], y[0])


@pytest.mark.parametrize("scope", ["separator", "leaf"])
def test_local_estimates_use_the_cases_of_one_group_and_the_range_of_all_cases(
    cancer, cancer_tree, scope
):
    X, y = cancer
    model = kt.DistanceKernelClassifier(cancer_tree, scope, bandwidth=0.05).fit(X, y)
    boundary = kt.Boundary(cancer_tree).fit(X)
    h, near = boundary.signed_distance(X), boundary.nearest(X)
    group = near.separator if scope == "separator" else cancer_tree.apply(X)
    width = 0.05 * np.ptp(h, axis=0)
    p = model.predict_proba(X)
    assert len(np.unique(group)) > 2
    for g in np.unique(group):
        rows = group == g
        expected = exact_probabilities(h[rows], y[rows], h[rows], width, 2)
        np.testing.assert_allclose(p[rows], expected, atol=1e-4)


@pytest.mark.parametrize("scope", ["separator", "leaf"])
def test_a_group_without_training_cases_uses_the_global_estimate(cancer, cancer_tree, scope):
    X, y = cancer
    boundary = kt.Boundary(cancer_tree).fit(X)
    group = boundary.nearest(X).separator if scope == "separator" else cancer_tree.apply(X)
    lone = np.unique(group)[0]
    kept = group != lone
    fixed = kt.Metric(scales=X.std(axis=0))  # the same metric with and without the lone group
    tree = kt.keep(cancer_tree)
    local = kt.DistanceKernelClassifier(tree, scope, metric=fixed).fit(X[kept], y[kept])
    everywhere = kt.DistanceKernelClassifier(tree, metric=fixed).fit(X[kept], y[kept])
    np.testing.assert_allclose(
        local.predict_proba(X[~kept]), everywhere.predict_proba(X[~kept]), atol=1e-6
    )


def test_sample_weights_enter_the_kernel_sums(cancer, cancer_tree):
    X, y = cancer
    weight = np.random.default_rng(0).random(len(y))
    tree = kt.keep(cancer_tree)
    model = kt.DistanceKernelClassifier(tree).fit(X, y, sample_weight=weight)
    h = kt.Boundary(tree).fit(X, sample_weight=weight).signed_distance(X)
    expected = exact_probabilities(h, y, h, model.bandwidth_, 2, weight)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-4)


def test_a_bandwidth_can_be_a_distance(cancer, cancer_tree):
    X, y = cancer
    model = kt.DistanceKernelClassifier(cancer_tree, bandwidth=0.3, bandwidth_unit="distance")
    np.testing.assert_allclose(model.fit(X, y).bandwidth_, 0.3)


def test_cross_validation_prefers_a_narrow_kernel_for_a_sharp_boundary():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(2000, 1))
    widths = {}
    for blur in (0.01, 0.6):
        y = (X[:, 0] + blur * rng.normal(size=2000) > 0).astype(int)
        tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
        model = kt.DistanceKernelClassifier(tree, bandwidth="cv").fit(X, y)
        widths[blur] = model.bandwidth_[0]
    assert widths[0.01] < widths[0.6]


@pytest.mark.parametrize("scope", ["global", "separator"])
def test_the_estimate_varies_within_a_leaf_and_ranks_better_than_the_tree(cancer, scope):
    X, y = cancer
    gains = []
    for seed in range(10):
        parts = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
        X_train, X_test, y_train, y_test = parts
        clf = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X_train, y_train)
        model = kt.DistanceKernelClassifier(clf, scope).fit(X_train, y_train)
        ours, raw = model.predict_proba(X_test)[:, 1], clf.predict_proba(X_test)[:, 1]
        assert len(np.unique(ours)) > 100 > len(np.unique(raw))
        gains.append(roc_auc_score(y_test, ours) - roc_auc_score(y_test, raw))
    assert np.mean(gains) > 0.01


def test_far_outside_the_sample_the_nearest_training_cases_decide(cancer, cancer_tree):
    X, y = cancer
    model = kt.DistanceKernelClassifier(cancer_tree, bandwidth=0.02).fit(X, y)
    h = kt.Boundary(cancer_tree).fit(X).signed_distance(X)[:, 1]
    deepest = {True: y[h.argmin()], False: y[h.argmax()]}
    rows = np.vstack([X * -1e12, X * 1e12])
    inside = model.predict(rows) == 1
    p = model.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(p, np.where(inside, deepest[True], deepest[False]), atol=1e-6)


def two_slopes(n, seed):
    """Return the example of section 5.2, with a blurred edge and a sharp one.

    P(class 1) depends only on x.
    """
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, size=(n, 2))
    return X, (rng.random(n) < true_probability(X[:, 0])).astype(int)


def true_probability(x):
    blurred = 0.1 + 0.8 / (1 + np.exp(-(x + 0.25) / 0.05))
    sharp = 1 / (1 + np.exp((x - 0.25) / 0.01))
    return np.where(x < 0, blurred, sharp)


def test_separators_follow_the_true_probability_and_leaves_do_not():
    X, y = two_slopes(20_000, 0)
    # The paper's tree has two separators and three leaves.
    tree = kt.Tree(
        kind=[1, 0, 1, 0, 0],
        feature=[0, -1, 0, -1, -1],
        threshold=[-0.25, np.nan, 0.25, np.nan, np.nan],
        child_start=[0, 2, 2, 4, 4, 4],
        child=[1, 2, 3, 4],
        missing=[-2] * 5,
        counts=[[2, 1], [1, 0], [1, 1], [0, 1], [1, 0]],
        classes=[0, 1],
        n_features=2,
    )
    grid = np.column_stack([np.linspace(-0.49, 0.49, 197), np.zeros(197)])
    truth = true_probability(grid[:, 0])
    error = {}
    for scope in ("separator", "leaf"):
        model = kt.DistanceKernelClassifier(
            tree, scope, kernel="uniform", bandwidth=0.05, bandwidth_unit="distance",
            metric=kt.Metric(scales=[1, 1]),
        ).fit(X, y)  # fmt: skip
        error[scope] = np.abs(model.predict_proba(grid)[:, 1] - truth)
    # Leave out the sharp edge, which a window of 0.05 blurs, and 0, where the separators meet.
    away = (np.abs(grid[:, 0] - 0.25) > 0.08) & (np.abs(grid[:, 0]) > 0.01)
    assert error["separator"][away].max() < 0.04
    # Estimates in a leaf ignore cases beyond its border and mix its blurred and sharp sides.
    assert error["leaf"][away].max() > 0.2
    assert error["leaf"][away].mean() > 3 * error["separator"][away].mean()


@pytest.mark.parametrize(
    "params",
    [
        {"bandwidth": 0},
        {"bandwidth": -0.1},
        {"scope": "galaxy"},
        {"kernel": "cosine"},
        {"metric": "l1"},
    ],
)
def test_parameters_out_of_range_are_refused(iris, params):
    with pytest.raises(ValueError, match=f"'{next(iter(params))}' parameter"):
        kt.DistanceKernelClassifier(**params).fit(*iris)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan])
def test_a_metric_with_a_scale_that_is_not_positive_is_refused(iris, scale):
    with pytest.raises(ValueError, match="scale"):
        kt.DistanceKernelClassifier(metric=kt.Metric(scales=[1, 1, 1, scale])).fit(*iris)
