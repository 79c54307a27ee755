"""Multinomial ridge-logistic regression, many penalties on the same features at little cost.

Features are standardised and turned to their principal axes: a ridge penalty does not mind, axes
without variance drop out, and the curvature is nearly diagonal, so that few steps suffice.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax

_INTERCEPT = 0.1  # penalty of the intercept, as of a case or so: a class without cases stays finite
_NOTHING = 1e-4  # an axis whose curvature is this small beside the penalty has no coefficient


@dataclass(frozen=True, eq=False)
class Linear:
    """Logits ``intercept + features @ coef``; one column for two classes, else one per class."""

    coef: np.ndarray
    intercept: np.ndarray


class RidgeLogistic:
    """Fits for several values of C, each starting from the one before.

    Parameters
    ----------
    features : ndarray of shape (n, p)
        Overwritten.
    y : ndarray of shape (n,)
        Class codes.
    weight : ndarray of shape (n,)
        Weights.
    n_classes : int
        Number of classes, at least 2.
    largest : float
        Largest C that will be asked for.
    """

    def __init__(self, features, y, weight, n_classes, largest):
        self.weight, total = weight, weight.sum()
        self.target = (y[:, None] == np.arange(n_classes)).astype(np.float64)
        share = (weight @ self.target + 0.5) / (total + 0.5 * n_classes)
        prior = np.log(share)
        if n_classes == 2:
            self.target, prior = self.target[:, 1:], prior[1:] - prior[:1]
        self.prior = prior
        self.mean = weight @ features / total
        features -= self.mean
        spread = np.sqrt(weight @ features**2 / total)
        self.scale = np.where(spread > 1e-10, spread, np.inf)
        features /= self.scale
        size, axes = np.linalg.eigh((features.T * weight) @ features)
        kept = size * largest / 4 > _NOTHING
        self.size, self.axes = size[kept], axes[:, kept]
        self.rows = features @ self.axes
        self.found = np.zeros((len(self.size) + 1, len(prior)))  # deviation from the prior

    def fit(self, C, tolerance=1e-6):
        """Return the Linear model with the penalty ``coef**2 / (2 C)``."""
        bend = 0.25 if len(self.prior) == 1 else 0.5  # largest curvature of a case's loss
        penalty = np.append(np.full(len(self.size), 1 / C), _INTERCEPT)[:, None]
        curvature = bend * np.append(self.size, self.weight.sum())[:, None] + penalty
        unit = 1 / np.sqrt(curvature)

        def loss(flat):
            theta = flat.reshape(self.found.shape) * unit
            value, slope = self._loss(theta)
            value += 0.5 * (penalty * theta**2).sum()
            return value, ((slope + penalty * theta) * unit).ravel()

        found = minimize(
            loss,
            (self.found / unit).ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxcor": 20, "maxiter": 500, "ftol": 1e-15, "gtol": tolerance},
        )
        self.found = found.x.reshape(self.found.shape) * unit
        coef = self.axes @ self.found[:-1] / self.scale[:, None]
        return Linear(coef, self.prior + self.found[-1] - self.mean @ coef)

    def _loss(self, theta):
        logits = self.rows @ theta[:-1] + (self.prior + theta[-1])
        if len(self.prior) == 1:
            value = self.weight @ (np.logaddexp(0, logits) - self.target * logits)[:, 0]
            residual = expit(logits) - self.target
        else:
            logs = log_softmax(logits, axis=1)
            value = -(self.weight[:, None] * self.target * logs).sum()
            residual = np.exp(logs) - self.target
        residual *= self.weight[:, None]
        return value, np.vstack([self.rows.T @ residual, residual.sum(axis=0)])
