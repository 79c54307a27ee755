"""How much each axis counts when the kernel expert may compare columns that the tree does not test.

The tree states how important its own attributes are, and nothing about the others. So the axes are
stretched to lower the leave-one-out log-loss, as in Weinberger and Tesauro (2007), Metric learning
for kernel regression, AISTATS. An axis of noise shrinks.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

_RIDGE = 16.0  # of the logarithms of the factors; chosen on the development sets
_FARTHEST = 3.0  # bound of these logarithms
_MOST_CASES = 512  # cases whose log-loss is computed
_MOST_NUMBERS = 40_000_000  # differences held in memory at once
_STEPS = 15  # of L-BFGS


class Comparison(NamedTuple):
    """Cases compared with landmarks.

    ``gaps`` holds the absolute differences of the coordinates, of shape (d, n, m), in units in
    which the weight of a landmark is its ``mass`` times exp(-sum of the gaps). ``mass``, of shape
    (n, m), is that of each landmark without the case itself; ``own`` tells whether a case and a
    landmark belong to the same class. ``weight`` is that of each case. ``pseudo`` holds the
    pseudo-cases of each case's class and those of all classes.
    """

    gaps: np.ndarray
    mass: np.ndarray
    own: np.ndarray
    weight: np.ndarray
    pseudo: tuple


def some_cases(n, d, m):
    """Return evenly spaced positions of the cases whose log-loss is computed."""
    most = max(min(_MOST_CASES, _MOST_NUMBERS // max(d * m, 1)), 1)
    return np.arange(0, n, -(-n // most))


def learn_stretch(comparison):
    """Return the factor of each axis with the lowest penalised leave-one-out log-loss."""
    d, n, _ = comparison.gaps.shape
    if n == 0 or d == 0:
        return np.ones(d)
    found = minimize(
        penalised_loss,
        np.zeros(d),
        (comparison,),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-_FARTHEST, _FARTHEST)] * d,
        options={"maxiter": _STEPS},
    )
    return np.exp(found.x)


def penalised_loss(logs, comparison):
    """Return the loss at the logarithms of the factors, and its gradient."""
    gaps, mass, own, weight, (of_class, of_all) = comparison
    factors, flat = np.exp(logs), gaps.reshape(len(gaps), -1)
    weights = mass * np.exp(-(factors.astype(np.float32) @ flat)).reshape(mass.shape)
    assigned = np.where(own, weights, 0).sum(axis=1, dtype=np.float64) + of_class
    total = weights.sum(axis=1, dtype=np.float64) + of_all
    value = weight @ (np.log(total) - np.log(assigned)) + _RIDGE * (logs @ logs)
    # The derivative of the log-loss with respect to the distance of each pair.
    slope = (own / assigned[:, None] - 1 / total[:, None]) * weight[:, None] * weights
    return value, factors * (flat @ slope.astype(np.float32).ravel()) + 2 * _RIDGE * logs
