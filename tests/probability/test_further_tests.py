"""Further tests of the margin expert change neither the tree nor how the model is used."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, ndtr
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.data.sample import Sample
from keeptree.probability import further_tests
from keeptree.probability.further_tests import grow_rules, split_quantiles
from keeptree.probability.leaf_splits import with_leaf_beside
from keeptree.probability.margin_choice import choose_margin
from keeptree.probability.margin_expert import MarginSettings, fit_margin
from keeptree.probability.margin_tests import PARTS
from keeptree.probability.refits import out_of_fold
from tests.reference import soft as naive
from tests.strategies import random_rows, trees


@pytest.fixture(scope="module")
def waves():
    """Return a tree with six leaves and a sample with missing values, large enough for rules."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5200, 4))
    logit = 4 * np.sin(2 * X[:, 0]) * np.cos(X[:, 1])
    y = (rng.random(len(X)) < 1 / (1 + np.exp(-logit))).astype(int)
    X[rng.random(X.shape) < 0.02] = np.nan
    return DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def model(waves):
    tree, X, y = waves
    return kt.KeptTreeClassifier(tree).fit(X, y)


def test_rows_follow_the_splits(waves):
    clf, X, y = waves
    tree = kt.keep(clf)
    splits = replace(split_quantiles(Sample(tree, X, y)), missing=np.zeros(1, dtype=np.int32))
    splits = replace(
        splits,
        **{name: getattr(splits, name)[:1] for name in ("node", "feature", "threshold", "missing")},
    )
    expected, value = tree.apply(X), X.astype(np.float32)[:, splits.feature[0]]
    second = np.where(np.isnan(value), 0, value > splits.threshold[0])
    here = expected == splits.node[0]
    expected = np.where(here, tree.n_nodes + second, expected).astype(int)
    np.testing.assert_array_equal(splits.divide(tree).apply(X), expected)


def test_a_small_sample_has_no_rules(waves):
    clf, X, y = waves
    assert grow_rules(Sample(kt.keep(clf), X[:3999], y[:3999])) is None


def test_rules_are_chosen_if_they_help_and_the_tree_still_decides(waves, model):
    clf, X, _ = waves
    assert model.margin_.splits.beside
    np.testing.assert_array_equal(model.predict(X), clf.predict(X))


def test_rules_use_only_the_numeric_columns_of_the_tree(waves, model):
    splits, tree = model.margin_.splits, model.tree_
    assert set(splits.feature) <= set(tree.feature[tree.kind == 1])


@settings(max_examples=20, deadline=None)
@given(
    trees(max_leaves=12, max_classes=3, missing=("child", "share", "mixed")),
    st.integers(0, 2**32 - 1),
)
def test_adding_a_leaf_beside_the_tree_does_not_change_the_tree(tree, seed):
    if not (tree.kind == 1).any():
        return
    joined, n = with_leaf_beside(tree), tree.n_nodes
    place = np.array([n, *range(1, n)])  # only the root moves
    assert joined.kind[n + 1] == 0
    for node in range(n):
        below = [place[c] for c in tree.children(node)]
        assert joined.children(place[node]).tolist() == below
        np.testing.assert_array_equal(joined.counts[place[node]], tree.counts[node])
        if tree.kind[node] == 2:
            taken = [place[c] for c in tree.category_children(node)]
            assert joined.category_children(place[node]).tolist() == taken


@settings(max_examples=10, deadline=None)
@given(
    trees(max_leaves=10, max_classes=3, missing=("child", "share")),
    st.integers(0, 2**32 - 1),
)
def test_each_rule_adds_the_soft_reach_of_its_path(tree, seed):
    """A naive sum over the rules of all trees gives the same logits."""
    X, rows = random_rows(tree, seed, 200, missing=0.1), random_rows(tree, seed + 1, 8, missing=0.2)
    sample = Sample(tree, X, np.arange(200) % len(tree.classes), np.ones(200))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(further_tests, "_FEWEST_ROWS", 100)
        patch.setattr(further_tests, "_TREES", 5)
        expert = fit_margin(sample, MarginSettings(0.5, further="rules"))
    if expert.splits is None:
        assert not (tree.kind == 1).any()
        return
    expert.check(tree)
    n, splits = tree.n_nodes, expert.splits
    reach = np.zeros((n + 2 + 2 * len(splits.node), len(expert.intercept)))
    reach[expert.tests.node] = expert.reach
    logit = np.tile(expert.intercept, (len(rows), 1))
    share = {n + 1: np.full(len(rows), 0.5)}  # a row is halved at each node above a rule
    deviation = naive.spreads(X, np.ones(200))
    for k, node in enumerate(splits.node):
        first = np.full(len(rows), 0.5)
        if splits.missing[k] >= 0:
            x = rows[:, splits.feature[k]].astype(tree.compare_dtype).astype(float)
            at = expert.tests.threshold[np.flatnonzero(expert.tests.node == node)[0]]
            first = expit(3.5 * (at - x) / deviation[splits.feature[k]])
            first[np.isnan(x)] = 1 - splits.missing[k]
        children = n + 2 + 2 * k, n + 3 + 2 * k
        share[children[0]], share[children[1]] = share[node] * first, share[node] * (1 - first)
        for child in children:
            logit += share[child][:, None] * reach[child]
    own = np.flatnonzero(expert.tests.node <= n)
    shares = [expert.tests.shares(rows, *part) for part in PARTS]
    for part, scores in zip(shares, (*expert.side, expert.reach), strict=True):
        logit += np.einsum("ki,kj->ij", part[own], scores[own])
    np.testing.assert_allclose(expert.logit(rows), logit, atol=1e-9)


def test_contributions_belong_to_tests_of_the_tree_and_add_up(waves, model):
    _, X, _ = waves
    parts, p = model.contributions(X[:50]), model.predict_proba(X[:50])
    assert (model.tree_.kind[parts.node] == 1).all()
    total = parts.start + parts.value.sum(axis=1)
    np.testing.assert_allclose(total, np.log(p[:, 1] / p[:, 0]), atol=1e-9)
    margin = kt.MarginTreeClassifier(model.tree_, C=0.1)
    margin.fit(X, waves[2])
    margin.expert_ = model.margin_
    parts = margin.contributions(X[:50])
    logit = parts.intercept + parts.value.sum(axis=1)
    np.testing.assert_allclose(logit, margin.decision_function(X[:50]), atol=1e-9)


def test_a_loaded_model_and_its_exports_give_the_same_probabilities(waves, model, tmp_path):
    _, X, _ = waves
    kt.save(model, tmp_path / "model.json")
    loaded = kt.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    for name in ("model.py", "model.js", "model.c", "model.onnx", "model.sql"):
        assert "not checked" not in kt.export(model, tmp_path / name).checked


@pytest.mark.parametrize(
    ("field", "at", "value"),
    [("node", 0, 0), ("node", 1, 10**6), ("feature", 0, 99), ("missing", 0, 2)],
)
def test_damaged_splits_are_refused(model, field, at, value):
    splits, tree = model.margin_.splits, model.tree_
    values = getattr(splits, field).copy()
    values[at] = value
    with pytest.raises(ValueError, match="Not a KeepTree model: a split"):
        replace(splits, **{field: values}).check(tree)


def test_quantiles_come_from_the_columns_that_the_tree_tests(waves):
    clf, X, y = waves
    tree = kt.keep(clf)
    splits = split_quantiles(Sample(tree, X, y))
    assert set(splits.feature) == set(tree.feature[tree.kind != 0])
    for feature in set(splits.feature):
        known = X[~np.isnan(X[:, feature]), feature]
        below = [np.mean(known <= t) for t in splits.threshold[splits.feature == feature]]
        np.testing.assert_allclose(below, ndtr([-1.5, -0.75, 0, 0.75, 1.5]), atol=2e-3)


@settings(max_examples=20, deadline=None)
@given(
    trees(max_leaves=12, max_classes=3, missing=("child", "share", "mixed")),
    st.integers(0, 2**32 - 1),
)
def test_each_comparison_with_a_quantile_adds_a_curve_of_one_column(tree, seed):
    X, rows = random_rows(tree, seed, 60, missing=0.1), random_rows(tree, seed + 1, 10, missing=0.2)
    y, weight = np.arange(60) % len(tree.classes), np.ones(60)
    expert = fit_margin(Sample(tree, X, y, weight), MarginSettings(0.5, further="quantiles"))
    if expert.splits is None:
        assert not (tree.kind == 1).any()
        return
    expert.check(tree)
    tests, n, logit = expert.tests, tree.n_nodes, expert.intercept
    asked = np.zeros(n, dtype=bool)
    asked[tests.node[(tests.kind != 0) & (tests.node < n)]] = True
    asked[tree.kind == 0] = False
    nodes = [c for node in np.flatnonzero(asked) for c in tree.children(node)[:-1]]
    scores = np.zeros((3, n + 2 * len(expert.splits.node), len(expert.intercept)))
    scores[:, tests.node] = [*expert.side, expert.reach]
    features = naive.margin_features(tree, rows, X, weight, asked)
    logit = logit + features @ scores[:, nodes].reshape(features.shape[1], -1)
    splits, deviation = expert.splits, naive.spreads(X, weight)
    for k, (feature, missing) in enumerate(zip(splits.feature, splits.missing, strict=True)):
        x = rows[:, feature].astype(tree.compare_dtype).astype(float)
        for slope, score in zip((4.0, 0.5), scores[:2, n + 2 * k], strict=True):
            share = expit(slope * (splits.threshold[k] - x) / deviation[feature])
            share[np.isnan(x)] = 1 - missing
            logit = logit + share[:, None] * score
    np.testing.assert_allclose(expert.logit(rows), logit, atol=1e-9)
    assert (scores[2, n:] == 0).all()  # no region gets a score of its own


@pytest.mark.parametrize("large", [False, True])
def test_quantile_tests_are_added_only_for_a_small_sample(waves, monkeypatch, large):
    _, X, y = (part[:300] if isinstance(part, np.ndarray) else part for part in waves)
    monkeypatch.setattr(further_tests, "_FEWEST_ROWS", 100 if large else 1000)
    clf = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X, y)
    folds = out_of_fold(clf, Sample(kt.keep(clf), X, y), X, y)
    assert (choose_margin(folds, (0.1,))[0].further == "quantiles") is not large


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    missing=st.sampled_from([0.0, 0.05, 0.3, 0.6]),
    unused=st.sampled_from([0.0, 0.3]),
    shift=st.sampled_from([0.0, 1e8]),
)
def test_rules_of_any_sample_are_finite_and_ignore_rows_without_weight(
    seed, missing, unused, shift
):
    rng = np.random.default_rng(seed)
    n = 400
    X, y = rng.normal(size=(n, 3)), rng.integers(3, size=n)
    X[:, 1] += y
    # Values are missing more often in class 1.
    X[rng.random(X.shape) < missing * (0.2 + 0.8 * (y == 1))[:, None]] = np.nan
    X += shift
    weight = (rng.random(n) >= unused).astype(float)
    tree = kt.C45Classifier(max_leaf_nodes=5, pruning="none").fit(X, y).tree_
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(further_tests, "_FEWEST_ROWS", 100)
        rules = grow_rules(Sample(tree, X, y, weight))
        if rules is None:
            return
        used = weight > 0
        X[~used] = 1e300  # rows without weight are never read
        again = grow_rules(Sample(tree, X[used], y[used], weight[used]))
        expert = fit_margin(Sample(tree, X, y, weight), MarginSettings(0.1, further="rules"))
    assert np.isfinite(rules.threshold).all()
    np.testing.assert_array_equal(rules.threshold, again.threshold)
    p = np.empty((used.sum(), 3))
    expert.probability(X[used], p)
    assert np.isfinite(p).all()
    expert.check(tree)


def test_a_rule_that_tests_whether_a_value_is_missing_can_be_exported(tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(6000, 2)), rng.integers(2, size=6000)
    X[:, 1] = rng.integers(2, size=6000)
    X[:, 0] += 0.7 * np.where(X[:, 1] == y, 1, -1)  # an interaction, which rules can follow
    X[rng.random(6000) < np.where(y == 1, 0.5, 0.05), 1] = np.nan
    model = kt.MarginTreeClassifier(DecisionTreeClassifier(max_leaf_nodes=8, random_state=0)).fit(
        X, y
    )
    splits, high = model.expert_.splits, np.nanmax(X, axis=0)
    # A threshold far above all values separates only the missing ones.
    assert (splits.threshold > high[splits.feature] + 10).any()
    for name in ("model.py", "model.js", "model.c", "model.onnx", "model.sql"):
        assert "not checked" not in kt.export(model, tmp_path / name).checked
