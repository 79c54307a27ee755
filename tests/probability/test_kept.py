import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.probability.condense import padded
from keeptree.probability.kept import EXPERTS
from tests.strategies import decode, random_rows, random_tree, trees

UNFITTED = {"soft": 0.1, "margin": 0.4}  # that of the kernel is fitted


def fitted(estimator, X, y, **options):
    return kt.KeptTreeClassifier(estimator, **options).fit(X, y)


def test_predict_returns_the_decision_of_the_tree(iris, iris_tree):
    X, y = iris
    model = fitted(iris_tree, X, y)
    assert (model.predict(X) == iris_tree.predict(X)).all()
    likely = fitted(iris_tree, X, y, decide="probability")
    assert (likely.predict(X) == likely.classes_[likely.predict_proba(X).argmax(axis=1)]).all()


def test_the_probability_is_the_pool_of_the_experts(iris, iris_tree):
    X, y = iris
    model = fitted(iris_tree, X, y)
    product = np.ones((len(X), 3))
    for name, weight in model.weights_.items():
        p = np.empty((len(X), 3))
        getattr(model, f"{name}_").probability(X, p)
        product *= (0.998 * p + 0.002 * model.pool_.prior) ** weight
    expected = product / product.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)


def test_the_pool_ranks_and_calibrates_better_than_smoothed_leaves(cancer):
    X, y = cancer
    half = np.arange(len(y)) % 2 == 0
    tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X[half], y[half])
    kept = fitted(tree, X[half], y[half]).predict_proba(X[~half])
    leaves = kt.SmoothedTreeClassifier(tree).fit(X[half], y[half]).predict_proba(X[~half])
    assert log_loss(y[~half], kept) < log_loss(y[~half], leaves) / 1.5
    assert roc_auc_score(y[~half], kept[:, 1]) > roc_auc_score(y[~half], leaves[:, 1]) + 0.02


def test_a_tree_without_its_learner_has_default_weights(iris, iris_tree):
    X, y = iris
    model = fitted(kt.keep(iris_tree), X, y)
    assert model.weights_.items() >= UNFITTED.items()
    assert fitted(iris_tree, X, y).weights_ != model.weights_
    assert fitted(FrozenEstimator(iris_tree), X, y).weights_ == fitted(iris_tree, X, y).weights_


@settings(max_examples=20, deadline=None)
@given(
    tree=trees(max_leaves=12, max_classes=10, missing=("child", "share")),
    seed=st.integers(0, 2**32 - 1),
)
def test_coherent_makes_the_decision_of_the_tree_the_most_probable_class(tree, seed):
    X = random_rows(tree, seed, n=40, missing=0.1)
    y = tree.classes[np.random.default_rng(seed).integers(len(tree.classes), size=40)]
    model = fitted(tree, decode(tree, X), y, coherent=True)
    rows = decode(tree, random_rows(tree, seed + 1, n=40, missing=0.1))
    p = model.predict_proba(rows)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(rows)).all()
    assert (model.classes_[::-1][p[:, ::-1].argmax(axis=1)] == model.predict(rows)).all()  # no tie


def test_coherent_keeps_the_order_of_cases_with_the_same_label(cancer, cancer_tree):
    X, y = cancer
    free = fitted(cancer_tree, X, y).predict_proba(X)[:, 1]
    coherent = fitted(cancer_tree, X, y, coherent=True).predict_proba(X)[:, 1]
    for c in (0, 1):
        rows = cancer_tree.predict(X) == c
        step = np.diff(coherent[rows][np.argsort(free[rows])])
        assert step.min() > -1e-12


@pytest.mark.parametrize("coherent", [False, True])
@pytest.mark.parametrize("unused", [(), ("soft",), ("margin", "kernel"), EXPERTS], ids=str)
@pytest.mark.parametrize("labels", ["ab", "ba", "abc"])
def test_contributions_add_up_to_the_log_odds(iris, labels, unused, coherent):
    X, y = iris
    keep = y < len(labels)
    X, y = X[keep], np.array(list(labels))[y[keep]]
    model = fitted(kt.C45Classifier(), X, y, coherent=coherent)
    weights = np.where(np.isin(EXPERTS, unused), 0, model.pool_.weights)
    model.pool_ = replace(model.pool_, weights=weights)
    parts, p = model.contributions(X), model.predict_proba(X)
    assert parts.expert == ((*EXPERTS, "coherent") if coherent else EXPERTS)
    total = parts.start + parts.value.sum(axis=1)
    np.testing.assert_allclose(total, log_odds(p), rtol=1e-8, atol=1e-8)
    assert parts.test.shape[:2] == (len(X), len(parts.node))
    np.testing.assert_array_equal(parts.value[:, np.flatnonzero(weights == 0)], 0)


def log_odds(p):
    logs = np.log(p)
    return logs[:, 1] - logs[:, 0] if p.shape[1] == 2 else logs - logs.mean(1, keepdims=True)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_only_the_start_is_left_if_the_experts_return_the_class_shares(
    iris, n_classes, monkeypatch
):
    X, y = iris
    keep = (y < n_classes) & (np.arange(len(y)) > 35)  # class 0 is rare
    model = fitted(kt.C45Classifier(), X[keep], y[keep])
    prior = model.pool_.prior

    def return_shares(model, X, names=EXPERTS):
        return np.tile(prior, (len(names), len(X), 1))

    monkeypatch.setattr(kt.KeptTreeClassifier, "_opinions", return_shares)
    parts = model.contributions(X[:5])
    np.testing.assert_allclose(parts.value, 0, atol=1e-12)
    assert parts.start.shape == (() if n_classes == 2 else (n_classes,))
    start = model.pool_.weights.sum() * log_odds(prior[None])[0]
    np.testing.assert_allclose(parts.start, start)
    assert abs(start).max() > 0.5
    np.testing.assert_allclose(log_odds(model.predict_proba(X[:5])), [start] * 5)


def test_contributions_of_tests_correlate_with_that_of_the_margin_expert(cancer, cancer_tree):
    X, y = cancer
    model = fitted(cancer_tree, X, y)
    parts = model.contributions(X)
    margin = parts.value[:, EXPERTS.index("margin")]
    assert np.corrcoef(margin, parts.test.sum(axis=1))[0, 1] > 0.9
    expert = model.margin_
    mean = expert.intercept + expert.centre.sum(axis=0)
    logit = expert.logit(model.tree_.lift(model.tree_.encode(X)))[:, 0]
    added = model.weights_["margin"] * (logit - mean)
    np.testing.assert_allclose(parts.test.sum(axis=1), added, atol=1e-9)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_probabilities_do_not_depend_on_threads_or_block_sizes(
    cancer, cancer_tree, n_jobs, monkeypatch
):
    X, y = cancer
    model = fitted(cancer_tree, X, y)
    expected = model.predict_proba(X)
    monkeypatch.setattr("keeptree.blocks.map_rows.__defaults__", (None, 100))
    np.testing.assert_array_equal(model.set_params(n_jobs=n_jobs).predict_proba(X), expected)


@settings(max_examples=15, deadline=None)
@given(
    tree=trees(max_leaves=10, max_classes=4, missing=("child", "share")),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_tree_and_any_rows_have_finite_probabilities(tree, seed):
    X = random_rows(tree, seed, n=30, missing=0.2)
    y = tree.classes[np.random.default_rng(seed).integers(len(tree.classes), size=30)]
    far = random_rows(tree, seed + 1, n=30, missing=0.2)
    numeric = [f for f, labels in enumerate(tree.categories) if labels is None]
    far[:, numeric] *= 10.0 ** np.random.default_rng(seed).integers(0, 300, len(numeric))
    p = fitted(tree, decode(tree, X), y).predict_proba(decode(tree, far))
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    assert (p <= 1).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


def small_sample(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) / 2 > 0).astype(int)


def test_a_class_with_few_members_reduces_the_number_of_folds():
    X, y = small_sample()
    y[:3] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted(DecisionTreeClassifier(max_leaf_nodes=5), X, y)
    assert not model.weights_.items() >= UNFITTED.items()


def test_a_class_with_one_member_prevents_refits_with_one_warning():
    X, y = small_sample()
    y[0] = 2
    with pytest.warns(UserWarning, match="single case") as caught:
        model = fitted(DecisionTreeClassifier(max_leaf_nodes=5), X, y)
    assert len(caught) == 1
    assert model.weights_.items() >= UNFITTED.items()


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X * np.array([1e-200, 1.0, 1e200]),
        lambda X: np.where(np.arange(3) == 1, 7.0, X),
        lambda X: np.round(X),
    ],
    ids=["extreme scales", "a constant column", "ties"],
)
def test_odd_columns_give_valid_probabilities(change):
    X, y = small_sample()
    X = change(X)
    p = fitted(kt.C45Classifier(), X, y).predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_a_tree_with_one_leaf_gives_the_class_shares(iris):
    X, y = iris
    stump = DecisionTreeClassifier(max_depth=1, min_samples_leaf=100).fit(X, y)
    assert kt.keep(stump).n_leaves == 1
    p = fitted(stump, X, y).predict_proba(X)
    np.testing.assert_allclose(p, [np.bincount(y) / len(y)] * len(y), atol=0.02)


def test_a_single_class_has_probability_one():
    X, _ = small_sample()
    model = fitted(kt.C45Classifier(), X, np.zeros(60, dtype=int), coherent=True)
    assert (model.predict_proba(X) == 1).all()


def test_coherent_respects_a_decision_for_a_class_that_the_sample_lacks(iris, iris_tree):
    X, y = iris
    some = y != 2
    model = fitted(kt.keep(iris_tree), X[some], y[some], coherent=True)
    p = model.predict_proba(X)
    assert (model.classes_[p.argmax(axis=1)] == iris_tree.predict(X)).all()


def test_sample_weights_change_the_probabilities(iris, iris_tree):
    X, y = iris
    weight = np.where(y == 0, 20.0, 1.0)
    plain = fitted(iris_tree, X, y).predict_proba(X)
    heavy = kt.KeptTreeClassifier(iris_tree).fit(X, y, weight).predict_proba(X)
    assert heavy[:, 0].mean() > plain[:, 0].mean()
    scaled = kt.KeptTreeClassifier(kt.keep(iris_tree)).fit(X, y, weight)
    assert np.isfinite(scaled.predict_proba(X)).all()


def test_the_kept_tree_is_not_changed(iris, iris_tree):
    X, y = iris
    tree = kt.keep(iris_tree)
    before = iris_tree.tree_.__getstate__()["nodes"].tobytes()
    model = fitted(iris_tree, X, y)
    assert model.tree_.to_dict() == tree.to_dict()
    assert iris_tree.tree_.__getstate__()["nodes"].tobytes() == before
    assert clone(model).get_params()["coherent"] is False


def test_nominal_columns_and_missing_values_are_supported():
    tree = random_tree(3, n_leaves=15, n_classes=3, n_features=4, n_nominal=2, missing="share")
    X = random_rows(tree, 0, n=80, missing=0.1)
    y = tree.classes[np.random.default_rng(0).integers(3, size=80)]
    rows = pd.DataFrame(decode(tree, X), columns=list("abcd")).astype({"a": float, "b": float})
    model = fitted(kt.C45Classifier(), rows, y)
    assert model.tree_.has_nominal
    np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1)


def test_without_the_learner_the_weight_of_the_kernel_is_fitted_by_leave_one_out(cancer):
    X, y = cancer
    tree = kt.keep(DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X[:300], y[:300]))
    model = kt.KeptTreeClassifier(tree).fit(X[:300], y[:300])
    p = np.empty((300, 2))
    for i in range(300):  # the same expert without the landmarks of a case and its copies
        here = (model.kernel_.landmarks == _place(model.kernel_, X[i])).all(axis=1)
        rest = replace(model.kernel_, mass=np.where(here, 0, model.kernel_.mass))
        rest.probability(tree.encode(X[i : i + 1]), p[i : i + 1])
    share = 0.998 * p + 0.002 * model.pool_.prior

    def loss(w):
        powers = share**w
        assigned = powers[np.arange(300), y[:300]] / powers.sum(axis=1)
        return -np.log(assigned).sum() + 2 * (w - 1) ** 2

    best = minimize_scalar(loss, bounds=(0, 5), method="bounded").x
    expected = {"soft": 0.1, "margin": 0.4, "kernel": 0.55 * best}
    assert model.weights_ == pytest.approx(expected, rel=1e-3)


def _place(expert, row):
    """Return the landmark that a row would be."""
    return padded(expert.space.coordinates(row[None]))[0]
