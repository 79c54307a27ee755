"""The large sets of the quality benchmark: real ones, and synthetic ones with known probabilities.

A synthetic set is a function ``rng -> (X, p)``: rows, and the true probability of each class.
"""

import numpy as np
from scipy.special import expit, softmax

REAL = {"magic": "balanced", "penbased": "balanced", "shuttle": "weka"}


def additive(rng, n=24_000):
    """Return smooth functions of single attributes, and one product."""
    X = rng.normal(size=(n, 8))
    return X, _two(1.5 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5)


def credit(rng, n=32_000):
    """Return skewed amounts and counts with a rare class, as in the data of a bank."""
    income, debt = rng.lognormal(10, 0.7, n), rng.lognormal(9, 1.2, n)
    age, late = rng.uniform(18, 80, n), rng.poisson(rng.gamma(0.6, 1, n))
    used, years = rng.beta(1.2, 2.0, n), rng.exponential(6, n)
    logit = -4.0 + 0.9 * np.log(debt / income) + 0.7 * np.sqrt(late) + 2.5 * used**2
    logit += 0.03 * np.abs(age - 50) - 0.4 * np.log1p(years)
    noise = rng.lognormal(0, 1, (n, 4))
    return np.column_stack([income, debt, age, late, used, years, noise]), _two(logit)


def friedman(rng, n=16_000):
    """Return Friedman's first regression function as a logit; five of ten columns are noise."""
    X = rng.uniform(size=(n, 10))
    value = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, _two(0.6 * (value + 10 * X[:, 3] + 5 * X[:, 4] - 14.4))


def mixture(rng, n=28_000):
    """Return five classes, each a mixture of three Gaussian clouds in twelve attributes."""
    centres, cloud = rng.normal(size=(15, 12)) * 1.1, rng.integers(0, 15, n)
    X = centres[cloud] + rng.normal(size=(n, 12))
    logs = -0.5 * ((X[:, None] - centres) ** 2).sum(axis=2)
    return X, softmax(logs, axis=1).reshape(n, 5, 3).sum(axis=2)


def rings(rng, n=14_000):
    """Return Hastie's chi-squared problem with a noisy boundary."""
    X = rng.normal(size=(n, 10))
    return X, _two(0.8 * ((X**2).sum(axis=1) - 9.34))


def rules(rng, n=20_000):
    """Return four classes that depend on forty overlapping rules, which suits boosting."""
    X = np.round(rng.gamma(2.0, 10.0, (n, 15)))
    logits = np.zeros((n, 4))
    for _ in range(40):
        tested = rng.choice(15, 2, replace=False)
        holds = (X[:, tested] > rng.gamma(2.0, 10.0, 2)).all(axis=1)
        logits[:, rng.integers(4)] += rng.normal(0, 1.5) * holds
    return X, softmax(logits, axis=1)


def waves(rng, n=16_000):
    """Return Breiman's waveforms: three classes, each a random blend of two triangles."""
    at, places = np.arange(21), np.array([6, 14, 10])
    shapes = np.maximum(6 - np.abs(at - places[:, None]), 0)
    pairs, grid = ((0, 1), (0, 2), (1, 2)), (np.arange(50) + 0.5) / 50
    y, u = rng.integers(0, 3, n), rng.uniform(size=(n, 1))
    a, b = np.array(pairs)[y].T
    X = u * shapes[a] + (1 - u) * shapes[b] + rng.normal(size=(n, 21))
    likelihood = np.zeros((n, 3))
    for c, (one, other) in enumerate(pairs):
        for blend in grid:
            mean = blend * shapes[one] + (1 - blend) * shapes[other]
            likelihood[:, c] += np.exp(-0.5 * (((X - mean) ** 2).sum(axis=1) - 21))
    return X, likelihood / likelihood.sum(axis=1, keepdims=True)


def weak(rng, n=14_000):
    """Return twenty correlated columns, each weak alone; a logistic model is correct."""
    X = rng.normal(size=(n, 20)) @ (np.eye(20) + 0.25 * rng.normal(size=(20, 20)))
    return X, _two(0.35 * X @ rng.normal(size=20))


SYNTHETIC = {
    f"sim-{function.__name__}": function
    for function in (additive, credit, friedman, mixture, rings, rules, waves, weak)
}


def draw(name, seed=0):
    """Return the rows, classes and true probabilities of a synthetic set."""
    rng = np.random.default_rng(seed)
    X, p = SYNTHETIC[name](rng)
    y = (rng.random((len(p), 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return X, y, p


def _two(logit):
    p = expit(logit)
    return np.column_stack([1 - p, p])
