"""Multinomial ridge-logistic regression that fits many penalties on the same features cheaply.

Features are standardised and rotated to their principal axes, which does not change a ridge
penalty. Axes without variance are dropped. L-BFGS then works, for each class, in coordinates in
which the initial curvature is nearly 1, so that few steps suffice even if the classes are almost
separable.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.special import expit, softmax

# Penalty of the intercept, about one case, which keeps classes without cases finite.
_INTERCEPT = 0.1
_NOTHING = 1e-4  # axes whose curvature is this small relative to the penalty are dropped
_STEPS, _ROUNDS = 40, 15  # L-BFGS steps between updates of the curvature, and most updates
_MOST_CURVED = 2048  # maximum number of rows from which the curvature is computed
_WEAK = 0.2  # penalties above are approached from stronger ones


@dataclass(frozen=True, eq=False)
class Linear:
    """Logits ``intercept + features @ coef``; one column for two classes, else one per class."""

    coef: np.ndarray
    intercept: np.ndarray


class RidgeLogistic:
    """Fits for several values of C, each starting from the previous solution.

    Parameters
    ----------
    features : ndarray of shape (n, p)
        Features; the array is overwritten.
    y : ndarray of shape (n,)
        Class codes.
    weight : ndarray of shape (n,)
        Weights.
    n_classes : int
        Number of classes, at least 2.
    largest : float
        Largest C that will be used.
    precision : dtype, default=np.float64
        Precision of the sums over the rows. ``np.float32`` takes about half the time, and is enough
        for a tolerance of 1e-3.
    """

    def __init__(self, features, y, weight, n_classes, largest, precision=np.float64):
        self.y, self.weight, total = y, weight, weight.sum()
        share = np.bincount(y, weight, minlength=n_classes) + 0.5
        prior = np.log(share / share.sum())
        self.prior = prior[1:] - prior[:1] if n_classes == 2 else prior
        self.mean = weight @ features / total
        features -= self.mean
        spread = np.sqrt(weight @ features**2 / total)
        self.scale = np.where(spread > 1e-10, spread, np.inf)
        features /= self.scale
        size, axes = np.linalg.eigh((features.T * weight) @ features)
        kept = size * largest / 4 > _NOTHING
        self.size, self.axes = size[kept], axes[:, kept]
        self.columns = np.ascontiguousarray((features @ self.axes).T, dtype=precision)
        # Coefficients, relative to the prior.
        self.found = np.zeros((len(self.size) + 1, len(self.prior)))

    def fit(self, C, tolerance=1e-6):
        """Return the Linear model with the penalty ``coef**2 / (2 C)``.

        Parameters
        ----------
        C : float
            Inverse strength of the penalty.
        tolerance : float
            Largest gradient at which the fit stops, in coordinates of curvature 1, divided by the
            square root of the number of cases. (The sampling error of the log-loss grows with that
            root, so a large sample need not be fitted more closely.)
        """
        if C > _WEAK and not self.found.any():
            for stronger in (C / 100, C / 10):  # a weak penalty takes fewer steps from there
                self._approach(stronger, 1e-2)
        self._approach(C, tolerance)
        coef = self.axes @ self.found[:-1] / self.scale[:, None]
        return Linear(coef, self.prior + self.found[-1] - self.mean @ coef)

    def _approach(self, C, tolerance):
        """Move to the solution with a penalty."""
        penalty = np.append(np.full(len(self.size), 1 / C), _INTERCEPT)[:, None]
        tolerance *= np.sqrt(self.weight.sum())
        for _ in range(_ROUNDS):
            if self._descend(penalty, tolerance):
                break

    def _descend(self, penalty, tolerance):
        """Take some L-BFGS steps from the current point; return whether they converged."""
        unit, shape = self._unit(penalty), self.found.shape

        def place(flat):
            return self.found + _about_mean(np.einsum("kij,jk->ik", unit, flat.reshape(shape)))

        def loss(flat):
            theta = place(flat)
            value, slope = self._loss(theta)
            value += 0.5 * (penalty * theta**2).sum()
            slope = _about_mean(slope + penalty * theta)
            return value, np.einsum("kij,ik->jk", unit, slope).ravel()

        found = minimize(
            loss,
            np.zeros(self.found.size),
            jac=True,
            method="L-BFGS-B",
            options={"maxcor": 20, "maxiter": _STEPS, "ftol": 1e-15, "gtol": tolerance},
        )
        self.found = place(found.x)
        return found.nit < _STEPS

    def _unit(self, penalty):
        """Return, for each logit, coordinates in which its curvature is 1.

        They are computed from a part of the rows, because only the number of steps depends on them.
        """
        logits = self._logits(self.found)
        p = expit(logits) if len(self.prior) == 1 else softmax(logits, axis=0)
        units = []
        for curved in self.weight * p * (1 - p):
            at, size = _part_of_sum(curved, _MOST_CURVED)
            rows = np.vstack([self.columns[:, at], np.ones(len(at))]).astype(np.float64, copy=False)
            curvature = (rows * size) @ rows.T
            curvature[np.diag_indices_from(curvature)] += penalty[:, 0]
            root = cholesky(curvature, lower=True)
            units.append(solve_triangular(root, np.eye(len(root)), lower=True).T)
        return np.stack(units)

    def _loss(self, theta):
        """Return the log-loss at theta and its gradient; logits have one row per class.

        NumPy is faster along these long rows.
        """
        logits = self._logits(theta)
        if len(self.prior) == 1:
            value = self.weight @ (np.logaddexp(0, logits[0]) - self.y * logits[0])
            residual = expit(logits) - self.y
        else:
            logits -= logits.max(axis=0)
            own = self.y, np.arange(len(self.y))
            residual = np.exp(logits)
            total = residual.sum(axis=0)
            value = self.weight @ (np.log(total) - logits[own])
            residual /= total
            residual[own] -= 1
        residual *= self.weight
        residual = residual.astype(self.columns.dtype, copy=False)
        slope = np.vstack([self.columns @ residual.T, residual.sum(axis=1)])
        return float(value), slope.astype(np.float64, copy=False)

    def _logits(self, theta):
        theta = theta.astype(self.columns.dtype, copy=False)
        prior = self.prior.astype(self.columns.dtype, copy=False)
        return theta[:-1].T @ self.columns + (prior + theta[-1])[:, None]


def _part_of_sum(values, most):
    """Return positions of at most so many values, and sizes that stand for all of them.

    A value is chosen in proportion to its size, so that large values are never left out.
    """
    if len(values) <= most:
        return np.arange(len(values)), values
    total = np.cumsum(values)
    at = np.searchsorted(total, total[-1] * (np.arange(most) + 0.5) / most)
    at, times = np.unique(np.minimum(at, len(values) - 1), return_counts=True)
    return at, times * (total[-1] / most)


def _about_mean(theta):
    """Return coefficients centred over the classes, which does not change the probabilities."""
    return theta if theta.shape[1] == 1 else theta - theta.mean(axis=1, keepdims=True)
