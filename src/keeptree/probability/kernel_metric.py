"""How much each attribute counts when the kernel expert compares cases.

The axes start with the sizes that the tree gives them and are stretched to lower the leave-one-out
log-loss, as in Weinberger and Tesauro (2007), Metric learning for kernel regression, AISTATS.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

_RIDGE = 16.0  # of the logarithms of the factors; chosen on the development sets
_FARTHEST = 3.0  # bound of these logarithms
_MOST_CASES = 512  # cases whose log-loss is computed
_STEPS = 15  # of L-BFGS


class Comparison(NamedTuple):
    """Cases compared with landmarks, in units in which the weight of a landmark is exp(-d²).

    ``places`` and ``landmarks`` are coordinates, ``sharpness`` and ``mass`` those of the landmarks,
    and ``own`` tells whether a case and a landmark belong to the same class. ``weight`` is that of
    each case, ``member`` the landmark that represents it, and ``left_out`` the mass to leave out
    there. ``pseudo`` holds the pseudo-cases of each case's class and those of all classes.
    """

    places: np.ndarray
    landmarks: np.ndarray
    sharpness: np.ndarray
    mass: np.ndarray
    own: np.ndarray
    weight: np.ndarray
    member: np.ndarray
    left_out: np.ndarray
    pseudo: tuple


def learn_stretch(comparison):
    """Return the factor of each axis with the lowest penalised leave-one-out log-loss."""
    n, d = comparison.places.shape
    if n == 0 or d == 0:
        return np.ones(d)
    loss = _Loss(comparison)
    bounds = [(-_FARTHEST, _FARTHEST)] * d
    options = {"maxiter": _STEPS}
    found = minimize(loss, np.zeros(d), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.exp(found.x)


def some_cases(n):
    """Return evenly spaced positions of the cases whose log-loss is computed."""
    return np.arange(0, n, -(-n // _MOST_CASES))


class _Loss:
    """The penalised leave-one-out log-loss and its gradient, at the logarithms of the factors."""

    def __init__(self, comparison):
        self.places = np.nan_to_num(comparison.places).astype(np.float32)
        self.landmarks = np.nan_to_num(comparison.landmarks).astype(np.float32)
        self.sharpness, self.own = comparison.sharpness, comparison.own
        n = len(self.places)
        self.mass = np.tile(comparison.mass.astype(np.float32), (n, 1))
        at = np.arange(n), comparison.member
        self.mass[at] = np.maximum(self.mass[at] - comparison.left_out, 0)
        self.weight, self.pseudo = comparison.weight, comparison.pseudo

    def __call__(self, logs):
        factors = np.exp(2 * logs).astype(np.float32)
        weights = self.mass * np.exp(-self.sharpness * self._squared_distances(factors))
        of_class, of_all = self.pseudo
        assigned = np.where(self.own, weights, 0).sum(axis=1, dtype=np.float64) + of_class
        total = weights.sum(axis=1, dtype=np.float64) + of_all
        value = self.weight @ (np.log(total) - np.log(assigned)) + _RIDGE * (logs @ logs)
        slope = self.own / assigned[:, None] - 1 / total[:, None]
        # The derivative of the log-loss with respect to each squared distance.
        slope *= self.weight[:, None] * self.sharpness * weights
        return value, 2 * factors * self._slopes(slope) + 2 * _RIDGE * logs

    def _squared_distances(self, factors):
        stretched = self.landmarks * factors
        squared = (self.places**2) @ factors
        squared = squared[:, None] + (stretched * self.landmarks).sum(axis=1)
        return np.maximum(squared - 2 * self.places @ stretched.T, 0)

    def _slopes(self, slope):
        """Return, for each axis, the sum over all pairs of their slope times their squared gap."""
        products = (self.places * (slope @ self.landmarks)).sum(axis=0)
        squares = slope.sum(axis=1) @ self.places**2 + slope.sum(axis=0) @ self.landmarks**2
        return squares - 2 * products
