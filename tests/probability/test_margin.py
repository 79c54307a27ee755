"""The margin model: its features, its solution, and its contributions to the logit."""

import tracemalloc
from itertools import product, starmap

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.data.sample import Sample
from keeptree.probability import further_tests, margin_expert, margin_tests
from keeptree.probability.blas import one_blas_thread
from keeptree.probability.margin_choice import choose_margin
from keeptree.probability.margin_expert import MarginSettings, fit_margin
from keeptree.probability.refits import out_of_fold
from keeptree.probability.ridge_logistic import RidgeLogistic, _part_of_sum
from keeptree.probability.soft_tests import SCALES
from tests.reference import soft as naive
from tests.strategies import decode, random_rows, trees

RULES = ("child", "share", "mixed")
seeds = st.integers(0, 2**32 - 1)


def cases_of(tree, X):
    """Return the number of cases in each node; a shared value follows the heaviest child."""
    return np.array(
        [sum(node in tree.path(leaf) for leaf in tree.route(X)) for node in range(tree.n_nodes)]
    )


@settings(max_examples=40, deadline=None)
@given(trees(max_leaves=15, max_classes=4, missing=RULES), seeds)
def test_the_logit_is_linear_in_the_features_as_defined(tree, seed):
    X, rows = random_rows(tree, seed, 60, missing=0.1), random_rows(tree, seed + 1, 10, missing=0.2)
    y, weight = np.arange(60) % len(tree.classes), np.ones(60)
    expert = fit_margin(Sample(tree, X, y, weight), MarginSettings(0.5))
    asked = (tree.kind != 0) & (cases_of(tree, X) >= 10)
    features = naive.margin_features(tree, rows, X, weight, asked)
    scores = np.zeros((3, tree.n_nodes, len(expert.intercept)))
    scores[:, expert.tests.node] = [*expert.side, expert.reach]
    nodes = [c for node in np.flatnonzero(asked) for c in tree.children(node)[:-1]]
    coef = scores[:, nodes].reshape(features.shape[1], len(expert.intercept))
    np.testing.assert_allclose(expert.logit(rows), features @ coef + expert.intercept, atol=1e-9)
    assert (scores[:, np.setdiff1d(np.arange(tree.n_nodes), nodes)] == 0).all()


@settings(max_examples=40, deadline=None)
@given(trees(max_leaves=15, max_classes=4, missing=RULES), seeds)
def test_contributions_add_up_to_the_logit_and_probabilities_to_one(tree, seed):
    X = random_rows(tree, seed, 60, missing=0.1)
    rows = decode(tree, random_rows(tree, seed + 1, 20, missing=0.2))
    y = np.resize(tree.classes, 60)
    model = kt.MarginTreeClassifier(tree, C=1.0).fit(decode(tree, X), y)
    parts, logit = model.contributions(rows), model.decision_function(rows)
    np.testing.assert_allclose(parts.intercept + parts.value.sum(axis=1), logit, atol=1e-9)
    assert (tree.kind[parts.node] != 0).all()
    assert (np.diff(parts.node) > 0).all()
    mean = model.decision_function(decode(tree, X)).mean(axis=0)
    np.testing.assert_allclose(parts.intercept, mean, atol=1e-9)
    p = model.predict_proba(rows)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    if p.shape[1] > 1:
        odds = logit if p.shape[1] > 2 else np.column_stack([0 * logit, logit])
        np.testing.assert_allclose(np.log(p), log_softmax(odds, axis=1), atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_solution_minimises_the_penalised_loss(n_classes):
    rng = np.random.default_rng(n_classes)
    F = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 6)) + 0.1 * rng.normal(size=(200, 6))
    F[:, 5] = 3.0  # a constant feature has no coefficient
    y, weight = rng.integers(n_classes, size=200), rng.random(200) + 0.5
    problem = RidgeLogistic(F.copy(), y, weight, n_classes, 1.0)
    for C in (0.01, 1.0):  # the second fit starts from the first solution
        found = problem.fit(C, 1e-9)
    assert (found.coef[5] == 0).all()
    mean = weight @ F / weight.sum()
    Z = (F - mean)[:, :5] / np.sqrt(weight @ (F - mean)[:, :5] ** 2 / weight.sum())
    prior = np.log(np.bincount(y, weight) + 0.5)
    columns = slice(1, None) if n_classes == 2 else slice(None)
    prior = prior[columns] - (prior[0] if n_classes == 2 else np.log(np.exp(prior).sum()))

    def objective(flat):
        theta = flat.reshape(6, -1)
        logits = Z @ theta[:5] + prior + theta[5]
        logits = np.column_stack([np.zeros(200), logits]) if n_classes == 2 else logits
        loss = -weight @ log_softmax(logits, axis=1)[np.arange(200), y]
        return loss + (theta[:5] ** 2).sum() / 2 + 0.05 * (theta[5] ** 2).sum()

    best = minimize(objective, np.zeros(6 * len(prior)), tol=1e-12).x.reshape(6, -1)
    expected = Z @ best[:5] + prior + best[5]
    np.testing.assert_allclose(F @ found.coef + found.intercept, expected, atol=1e-4)


def test_rare_and_nearly_separate_classes_take_few_steps(monkeypatch):
    # Nearly all curvature is in few rows, which the part that it is computed from must contain.
    rng = np.random.default_rng(0)
    y = rng.choice(4, size=20_000, p=[0.9, 0.095, 0.004, 0.001])
    F = 0.05 * rng.normal(size=(len(y), 40))
    for c in range(4):
        F[:, 10 * c : 10 * c + 10] += (y == c)[:, None] * (rng.random((len(y), 10)) < 0.3)
    problem, calls = RidgeLogistic(F.copy(), y, np.ones(len(y)), 4, 3.0), []
    loss = problem._loss
    monkeypatch.setattr(problem, "_loss", lambda theta: calls.append(1) or loss(theta))
    problem.fit(3.0)
    assert len(calls) < 75  # 55; more than 90 with rows at regular intervals
    slope = loss(problem.found)[1][:-1] + problem.found[:-1] / 3
    assert np.abs(slope - slope.mean(axis=1, keepdims=True)).max() < 1e-2


def hard_problem(n_classes, n=6000):
    """Return nearly separable cases with extreme weights; some features are rare or constant."""
    rng = np.random.default_rng(n_classes)
    F = rng.random((n, 12))
    y = (F[:, :8] @ rng.normal(size=(8, n_classes)) * 20 + rng.gumbel(size=(n, n_classes))).argmax(
        1
    )
    weight = 10.0 ** rng.uniform(-6, 6, size=n)
    F[:, 9] = 0.7
    F[:, 10:] = np.arange(n)[:, None] < [1, 30]
    weight[:30] = 1e-6
    return F, y, weight


@pytest.mark.parametrize("n_classes", [2, 12])
@pytest.mark.parametrize("C", [0.001, 3.0])
def test_single_precision_gives_the_same_log_loss(n_classes, C):
    F, y, weight = hard_problem(n_classes)

    def log_loss(precision):
        with one_blas_thread():  # as in every fit
            found = RidgeLogistic(F.copy(), y, weight, n_classes, C, precision).fit(C, 1e-3)
        logits = F @ found.coef + found.intercept
        logits = np.column_stack([np.zeros(len(y)), logits]) if n_classes == 2 else logits
        return -weight @ log_softmax(logits, axis=1)[np.arange(len(y)), y] / weight.sum()

    assert log_loss(np.float32) == pytest.approx(log_loss(np.float64), abs=1e-4)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_sums_in_single_precision_do_not_copy_the_columns_in_double_precision(n_classes):
    F, y, weight = hard_problem(n_classes)
    F = np.hstack([F, np.random.default_rng(0).random((len(F), 100))])
    problem = RidgeLogistic(F, y, weight, n_classes, 1.0, np.float32)
    tracemalloc.start()
    problem._loss(problem.found)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < problem.columns.nbytes


@given(values=st.lists(st.floats(0, 1e6), min_size=1, max_size=60), most=st.integers(1, 40))
def test_part_of_a_sum_stands_for_all_of_it_and_leaves_out_no_large_value(values, most):
    values = np.array(values)
    at, size = _part_of_sum(values, most)
    assert (np.diff(at) > 0).all()
    assert size.sum() == pytest.approx(values.sum())
    if len(values) > most:
        assert len(at) <= most
        large = np.flatnonzero(values > 1.001 * values.sum() / most)
        assert np.isin(large, at).all()


def test_probabilities_agree_with_logistic_regression_on_the_same_features(cancer, cancer_tree):
    X, y = cancer
    tree, weight = kt.keep(cancer_tree), np.ones(len(y))
    asked = (tree.kind != 0) & (tree.weight >= 10)
    features = StandardScaler().fit_transform(naive.margin_features(tree, X, X, weight, asked))
    expected = LogisticRegression(C=0.1, tol=1e-8, max_iter=5000).fit(features, y)
    p = kt.MarginTreeClassifier(tree, C=0.1).fit(X, y).predict_proba(X)
    # The only difference is the light penalty on our intercept.
    np.testing.assert_allclose(p, expected.predict_proba(features), atol=2e-3)


@pytest.mark.parametrize("skewed", [False, True])
def test_the_chosen_settings_have_the_least_out_of_fold_loss(cancer, cancer_tree, skewed):
    X, y = cancer
    X = np.exp(X / X.std(axis=0)) if skewed else X
    clf = clone(cancer_tree).fit(X, y)
    folds = out_of_fold(clf, Sample(kt.keep(clf), X, y), X, y)
    penalties, losses = (1e-4, 0.1), {}
    for chosen in starmap(MarginSettings, product(penalties, SCALES, ["quantiles"])):
        losses[chosen] = 0.0
        for fold in folds:
            p = np.empty((len(fold.rows), 2))
            fit_margin(fold.train, chosen).probability(fold.test.X, p)
            losses[chosen] -= np.log(p[np.arange(len(p)), fold.test.y]).sum()
    assert choose_margin(folds, penalties)[0] == min(losses, key=losses.get)
    assert choose_margin(folds)[0].C == kt.MarginTreeClassifier(clf).fit(X, y).C_
    assert kt.MarginTreeClassifier(kt.keep(cancer_tree)).fit(X, y).C_ == 0.03


@pytest.mark.parametrize("large", [False, True])
def test_the_experts_of_the_trials_are_those_of_a_fit_with_the_chosen_settings(
    cancer, cancer_tree, monkeypatch, large
):
    X, y = cancer
    monkeypatch.setattr(further_tests, "_FEWEST_ROWS", 100 if large else 1000)
    clf = clone(cancer_tree).fit(X, y)
    folds = out_of_fold(clf, Sample(kt.keep(clf), X, y), X, y)
    chosen, experts = choose_margin(folds)
    assert len(experts) == (3 if large else 5)
    for fold, expert in zip(folds, experts, strict=False):
        found, expected = np.empty((2, len(fold.rows), 2))
        expert.probability(fold.test.X, found)
        fit_margin(fold.train, chosen).probability(fold.test.X, expected)
        np.testing.assert_allclose(found, expected, atol=0.01)


def test_margins_rank_better_than_soft_tests_which_rank_better_than_leaves(cancer):
    X, y = cancer
    train, test, y_train, y_test = train_test_split(X, y, random_state=1, stratify=y)
    clf = DecisionTreeClassifier(max_leaf_nodes=30, random_state=0).fit(train, y_train)
    aucs = [
        roc_auc_score(y_test, model(clf).fit(train, y_train).predict_proba(test)[:, 1])
        for model in (kt.SmoothedTreeClassifier, kt.SoftTreeClassifier, kt.MarginTreeClassifier)
    ]
    assert aucs == sorted(aucs)


def test_contributions_are_for_the_second_class_in_sorted_order(cancer):
    X, y = cancer
    labels = ["sick", "healthy"]
    named = pd.Categorical.from_codes(y, labels)
    model = kt.MarginTreeClassifier(kt.C45Classifier(min_samples_leaf=10), C=0.1).fit(X, named)
    assert model.classes_.tolist() == ["healthy", "sick"]
    p, logit, parts = model.predict_proba(X), model.decision_function(X), model.contributions(X)
    np.testing.assert_allclose(np.log(p[:, 1] / p[:, 0]), logit, atol=1e-6)
    np.testing.assert_allclose(parts.intercept + parts.value.sum(axis=1), logit, atol=1e-9)


def test_only_the_heaviest_tests_of_a_large_tree_are_used(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (X.sum(axis=1) + rng.normal(size=2000) > 0).astype(int)
    tree = kt.keep(DecisionTreeClassifier(random_state=0).fit(X, y))
    monkeypatch.setattr(margin_tests, "_MOST_TESTS", 20)
    monkeypatch.setattr(margin_expert, "_MOST_NUMBERS", 60_000)
    expert = kt.MarginTreeClassifier(tree).fit(X, y).expert_
    asked = expert.tests.node[expert.tests.kind != 0]
    assert len(asked) == 20
    assert tree.weight[asked].min() >= np.sort(tree.weight[tree.kind != 0])[-20]
    assert np.isfinite(expert.logit(X)).all()


@pytest.mark.parametrize("params", [{"C": 0}, {"C": "best"}, {"decide": "coin"}])
def test_parameters_out_of_range_are_refused(iris, params):
    with pytest.raises(ValueError, match=f"'{next(iter(params))}' parameter"):
        kt.MarginTreeClassifier(**params).fit(*iris)
