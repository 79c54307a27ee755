"""Soft tests agree with their definition, and SoftTreeClassifier with its documentation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.data.sample import Sample
from keeptree.probability.refits import held_out_loss, out_of_fold
from keeptree.probability.soft import choose_soft, fit_soft, soft_grid
from keeptree.probability.soft_tests import hard_tests, soft_tests
from tests.reference import soft as naive
from tests.strategies import decode, random_rows, trees

RULES = ("child", "share", "mixed")
seeds = st.integers(0, 2**32 - 1)


def fitted(tree, X, **params):
    y = np.resize(tree.classes, len(X))
    return kt.SoftTreeClassifier(tree, **params).fit(decode(tree, X), y)


@settings(max_examples=60, deadline=None)
@given(trees(max_leaves=25, missing=RULES), seeds, st.sampled_from([0.05, 0.2, 1.0, 30.0]))
def test_the_probability_is_the_average_of_the_leaves_weighted_by_share(tree, seed, strength):
    X, rows = random_rows(tree, seed, 40, missing=0.1), random_rows(tree, seed + 1, 12, missing=0.2)
    p = fitted(tree, X, strength=strength, shrinkage=7.0).predict_proba(decode(tree, rows))
    expected = naive.soft_probability(tree, rows, X, np.ones(len(X)), strength, 7.0)
    np.testing.assert_allclose(p, expected, atol=1e-12)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(trees(max_leaves=25, missing=RULES), seeds, st.sampled_from([0.0, 0.2, 30.0]), st.booleans())
def test_a_row_alone_has_the_same_bits_as_in_a_block(tree, seed, strength, similar):
    X, rows = random_rows(tree, seed, 40, missing=0.1), random_rows(tree, seed + 1, 12, missing=0.2)
    sample = Sample(tree, X, np.arange(40) % len(tree.classes), np.ones(40))
    expert = fit_soft(sample, strength, 0.0, similar)  # leaves of one class have shares of 0
    together, alone = np.empty((2, len(rows), len(tree.classes)))
    expert.probability(rows, together)
    for i in range(len(rows)):
        expert.probability(rows[i : i + 1], alone[i : i + 1])
    np.testing.assert_array_equal(alone, together)


@settings(max_examples=60, deadline=None)
@given(trees(missing=RULES), seeds)
def test_at_strength_0_the_probabilities_are_exactly_those_of_the_tree(tree, seed):
    rows = decode(tree, random_rows(tree, seed, missing=0.15))
    model = fitted(tree, random_rows(tree, seed), strength=0, shrinkage=0)
    np.testing.assert_array_equal(model.predict_proba(rows), tree.predict_proba(rows))


@settings(max_examples=30, deadline=None)
@given(trees(max_leaves=25, missing=RULES), seeds)
def test_the_shares_of_the_leaves_add_up_to_one(tree, seed):
    X = random_rows(tree, seed, missing=0.15)
    tests = soft_tests(Sample(tree, X))
    for slope in (0.3, 10.0, 1e6):
        reach = tests.shares(X, slope, True)
        np.testing.assert_allclose(reach[tests.kind == 0].sum(axis=0), 1, atol=1e-12)
        assert (reach >= 0).all()
    hard = np.zeros((tree.n_nodes, len(X)))
    hard[tests.node] = hard_tests(tree).shares(X, 1.0, True)
    np.testing.assert_allclose(
        hard[tree.kind == 0], tree.route_shares(X).toarray().T[tree.kind == 0]
    )


def stump(threshold, counts, **fields):
    return kt.Tree(
        kind=[1, 0, 0],
        feature=[0, -1, -1],
        threshold=[threshold, np.nan, np.nan],
        child_start=[0, 2, 2, 2],
        child=[1, 2],
        missing=[-2, -2, -2],
        counts=counts,
        classes=["no", "yes"],
        n_features=1,
        **fields,
    )


def test_the_compiled_logistic_function_agrees_with_scipy():
    X = np.concatenate([np.linspace(-45, 45, 5001), np.linspace(-1e-3, 1e-3, 101)])[:, None]
    tests = soft_tests(Sample(stump(0.0, [[2, 2], [2, 0], [0, 2]]), X))
    z = (tests.threshold[-1] - X[:, 0]) / tests.spread[-1]
    for slope in (0.1, 1.0, 25.0):
        share = tests.shares(X, slope, True)[0]
        np.testing.assert_allclose(share, expit(slope * z), rtol=2e-14, atol=1e-17)


def test_the_probability_of_a_single_test_rises_with_the_attribute_through_one_half():
    tree = stump(2.5, [[10, 10], [10, 0], [0, 10]])
    X = np.linspace(0, 5, 21)[:, None]
    p = fitted(tree, X, strength=0.3, shrinkage=5.0).predict_proba(X)[:, 1]
    assert (np.diff(p) > 0).all()
    # The next value above the threshold 2.5 is 2.75, so the soft test is centred between them.
    assert p[10] == pytest.approx(1 - p[11])
    assert p[10] < 0.5
    between = fitted(tree, X + 0.125, strength=0.3, shrinkage=5.0)
    assert between.predict_proba([[2.5]])[0, 1] == pytest.approx(0.5)


def test_shrinkage_adds_cases_with_the_proportions_of_the_parent():
    tree = stump(0.0, [[9, 3], [9, 0], [0, 3]])
    values = fit_soft(Sample(tree, np.array([[-1.0], [1.0]])), 0.2, 4.0).values
    root = np.array([10, 4]) / 14
    np.testing.assert_allclose(values[-1], root)
    np.testing.assert_allclose(values[0], ([9, 0] + 4 * root) / 13)


def test_the_chosen_strengths_have_the_least_out_of_fold_log_loss(cancer):
    X, y = cancer
    clf = DecisionTreeClassifier(max_leaf_nodes=20, random_state=0).fit(X, y)
    folds = out_of_fold(clf, Sample(kt.keep(clf), X, y), X, y)
    strengths, shrinkages = (0.0, 0.1, 0.3), (1.0, 20.0)
    losses = {}
    for a in strengths:
        for b in shrinkages:
            losses[a, b] = 0.0
            for fold in folds:
                expert, p = fit_soft(fold.train, a, b), np.empty((len(fold.rows), 2))
                expert.probability(fold.test.X, p)
                losses[a, b] += held_out_loss(p, fold.test.y, fold.test.weight)
    assert choose_soft(folds, strengths, shrinkages) == min(losses, key=losses.get)
    model = kt.SoftTreeClassifier(clf).fit(X, y)
    assert (model.strength_, model.shrinkage_) == choose_soft(folds)
    only_one = kt.SoftTreeClassifier(clf, strength=0.4).fit(X, y)
    assert only_one.strength_ == 0.4


def test_the_grid_agrees_with_fitting_each_pair(iris, iris_tree):
    X, y = iris
    tree, weight = kt.keep(iris_tree), np.ones(len(y))
    grid = soft_grid(Sample(tree, X, y, weight), X[::7], (0.0, 0.2), (1.0, 10.0))
    for i, a in enumerate((0.0, 0.2)):
        for j, b in enumerate((1.0, 10.0)):
            p = np.empty((len(X[::7]), 3))
            fit_soft(Sample(tree, X, y, weight), a, b).probability(X[::7], p)
            np.testing.assert_allclose(grid[:, :, i, j], p, atol=1e-14)


def test_a_tree_without_its_learner_gets_the_default_strengths_and_no_warning(
    iris, iris_tree, recwarn
):
    model = kt.SoftTreeClassifier(kt.keep(iris_tree)).fit(*iris)
    assert (model.strength_, model.shrinkage_) == (0.2, 10.0)
    assert len(recwarn) == 0


def test_soft_tests_rank_and_calibrate_better_than_the_smoothed_leaves(cancer):
    X, y = cancer
    train, test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    clf = DecisionTreeClassifier(max_leaf_nodes=30, random_state=0).fit(train, y_train)
    smoothed = kt.SmoothedTreeClassifier(clf).fit(train, y_train).predict_proba(test)
    soft = kt.SoftTreeClassifier(clf).fit(train, y_train).predict_proba(test)
    assert roc_auc_score(y_test, soft[:, 1]) > roc_auc_score(y_test, smoothed[:, 1])
    assert log_loss(y_test, soft) < log_loss(y_test, smoothed)


@pytest.mark.parametrize("model", [kt.SoftTreeClassifier, kt.MarginTreeClassifier])
def test_extreme_scales_constants_and_distant_rows_give_finite_probabilities(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)) * [1e-300, 1e300, 1.0, 0.0]
    y = (X[:, 0] / 1e-300 + X[:, 1] / 1e300 + X[:, 2] > 0).astype(int)
    tree = kt.C45Classifier(min_samples_leaf=2).fit(X, y).tree_
    constant = kt.Tree.from_dict({**stump(0.0, [[4, 4], [4, 1], [0, 3]]).to_dict()})
    far = np.array([[1e300] * 4, [-1e300] * 4, [1.7e308] * 4, [5e-324] * 4, [0.0] * 4])
    for kept, sample, labels, rows in (
        (tree, X, y, far),
        (constant, np.zeros((8, 1)), np.repeat(["no", "yes"], 4), far[:, :1]),
    ):
        p = model(kept).fit(sample, labels).predict_proba(rows)
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    # The test of a constant attribute stays hard, so only the row [0.0] is on its first side.
    soft = kt.SoftTreeClassifier(constant, shrinkage=0).fit(np.zeros((8, 1)), labels)
    np.testing.assert_array_equal(soft.predict_proba([[0.0], [1e-9]]), [[0.8, 0.2], [0.0, 1.0]])


@pytest.mark.parametrize("params", [{"strength": -1.0}, {"shrinkage": "none"}, {"decide": "coin"}])
def test_parameters_out_of_range_are_refused(iris, params):
    with pytest.raises(ValueError, match=f"'{next(iter(params))}' parameter"):
        kt.SoftTreeClassifier(**params).fit(*iris)
