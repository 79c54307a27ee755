import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from keeptree.probability.pool import Pool, fit_pool, make_coherent, smoothed_prior
from tests.reference import pool as reference


def random_opinions(seed, n_experts, n, n_classes, sharp=3.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n_experts, n, n_classes)) * sharp
    p = np.exp(z - z.max(axis=2, keepdims=True))
    return p / p.sum(axis=2, keepdims=True)


def equal_pool(names, n_classes):
    return Pool(
        tuple(names), np.full(len(names), 1 / len(names)), np.full(n_classes, 1 / n_classes)
    )


def pooled(pool, opinions):
    out = np.empty(opinions.shape[1:])
    pool.probability(opinions, out)
    return out


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 10))
def test_pooled_probabilities_sum_to_one(seed, n_experts, n_classes):
    opinions = random_opinions(seed, n_experts, 20, n_classes, sharp=200.0)
    p = pooled(equal_pool("abcd"[:n_experts], n_classes), opinions)
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_a_pool_of_identical_experts_equals_the_expert():
    one = random_opinions(0, 1, 30, 3, sharp=1.0)
    p = pooled(equal_pool("ab", 3), np.concatenate([one, one]))
    np.testing.assert_allclose(p, 0.998 * one[0] + 0.002 / 3)


def test_no_weight_is_negative_and_a_misleading_expert_has_weight_zero():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    told = np.where(rng.random(400) < 0.2, rng.integers(3, size=400), y)
    good = np.where(np.eye(3)[told] == 1, 0.8, 0.1)
    bad = np.where(np.eye(3)[(y + 1) % 3] == 1, 0.5, 0.25)
    pool = fit_pool(["good", "bad"], np.stack([good, bad]), y, np.ones(400), np.full(3, 1 / 3))
    assert pool.weights[1] == 0 < pool.weights[0]


def test_the_weights_minimise_the_penalised_loss():
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=200)
    opinions, prior, weight = random_opinions(3, 2, 200, 2, 1.0), np.array([0.4, 0.6]), np.ones(200)
    opinions[:, np.arange(200), y] += 0.3
    opinions /= opinions.sum(axis=2, keepdims=True)
    pool = fit_pool("ab", opinions, y, weight, prior)

    def loss(w):
        logs = np.log(0.998 * opinions + 0.002 * prior)
        z = w[0] * logs[0] + w[1] * logs[1]
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        return -np.log(p[np.arange(200), y]).sum() + 2 * ((np.array(w) - 0.5) ** 2).sum()

    least = loss(pool.weights)
    for k in range(2):

        def along(step, k=k):
            moved = pool.weights.copy()
            moved[k] += step
            return loss(moved)

        assert minimize_scalar(along, bounds=(-0.2, 0.2), method="bounded").fun >= least - 1e-4


def test_with_few_cases_the_weights_stay_nearly_equal():
    opinions = random_opinions(0, 3, 2, 2)
    pool = fit_pool("abc", opinions, np.array([0, 1]), np.ones(2), np.array([0.5, 0.5]))
    assert np.abs(pool.weights - 1 / 3).max() < 1


def test_only_the_relative_weights_of_cases_count():
    opinions, y = random_opinions(0, 3, 60, 2), np.arange(60) % 2
    prior = np.array([0.5, 0.5])
    one = fit_pool("abc", opinions, y, np.ones(60), prior)
    other = fit_pool("abc", opinions, y, np.full(60, 1e-6), prior)
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-4)


@settings(max_examples=200)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(1, 10),
    sharp=st.sampled_from([0.0, 1e-9, 1.0, 30.0, 200.0]),
)
def test_the_label_is_strictly_the_most_probable(seed, n_classes, sharp):
    p = random_opinions(seed, 1, 40, n_classes, sharp)[0] * 0.998 + 0.002 / n_classes
    label = np.random.default_rng(seed).integers(n_classes, size=40)
    make_coherent(p, label)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    at = np.arange(40), label
    own = p[at].copy()
    p[at] = -1
    assert (own > p.max(axis=1)).all()


@given(seed=st.integers(0, 2**32 - 1))
def test_cases_with_the_same_label_keep_their_order(seed):
    p = random_opinions(seed, 1, 60, 2)[0]
    label = np.random.default_rng(seed).integers(2, size=60)
    moved = p.copy()
    make_coherent(moved, label)
    for c in range(2):
        rows = label == c
        assert (np.argsort(p[rows, 1]) == np.argsort(moved[rows, 1])).all()


def test_the_other_classes_keep_their_proportions():
    p = np.array([[0.2, 0.5, 0.3]])
    make_coherent(p, np.array([0]))
    assert p[0, 1] / p[0, 2] == pytest.approx(5 / 3)


def test_a_label_that_was_clearly_the_most_probable_hardly_changes():
    p = np.array([[0.05, 0.95]])
    make_coherent(p, np.array([1]))
    np.testing.assert_allclose(p, [[0.05, 0.95]], atol=1e-3)


def test_the_prior_has_no_zero():
    prior = smoothed_prior(np.array([1, 1]), np.array([3.0, 3.0]), 3)
    np.testing.assert_allclose(prior, [0.2, 0.6, 0.2])


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 5), st.integers(1, 300))
def test_pooling_and_coherence_agree_with_the_reference(seed, n_experts, n_classes, n):
    rng = np.random.default_rng(seed)
    opinions = random_opinions(seed, n_experts, n, n_classes)
    prior, label = rng.dirichlet(np.ones(n_classes) * 3), rng.integers(n_classes, size=n)
    pool = Pool(tuple("abcd"[:n_experts]), rng.uniform(0, 2, n_experts), prior)
    p = pooled(pool, opinions)
    for row in {0, n // 2, n - 1}:
        expected = reference.pooled(opinions[:, row], pool.weights, prior, 0.002)
        np.testing.assert_allclose(p[row], expected, rtol=1e-12)
    lifted = p.copy()
    make_coherent(lifted, label)
    for row in {0, n // 2, n - 1}:
        expected = reference.coherent(p[row].tolist(), label[row], 0.35, 1 + 2.0**-40)
        np.testing.assert_allclose(lifted[row], expected, rtol=1e-9)


def test_leaving_out_experts_with_weight_zero_gives_identical_results():
    opinions = random_opinions(3, 3, 200, 3)
    pool = Pool(("a", "b", "c"), np.array([0.0, 0.4, 0.7]), np.array([0.5, 0.3, 0.2]))
    names, used = pool.used
    assert names == ("b", "c")
    np.testing.assert_array_equal(pooled(used, opinions[1:]), pooled(pool, opinions))
    assert Pool(pool.names, np.zeros(3), pool.prior).used[0] == pool.names
