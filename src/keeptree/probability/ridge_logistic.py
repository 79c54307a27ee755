"""Multinomial ridge-logistic regression, many penalties on the same features at little cost.

Features are standardised and turned to their principal axes: a ridge penalty does not mind, axes
without variance drop out, and the curvature is nearly diagonal, so that few steps suffice.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

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
        self.weight, self.n_logits = weight, n_classes - (n_classes == 2)
        self.target = np.zeros((len(y), n_classes))
        self.target[np.arange(len(y)), y] = 1
        if n_classes == 2:
            self.target = self.target[:, 1:]
        self.mean = weight @ features / weight.sum()
        features -= self.mean
        spread = np.sqrt(weight @ features**2 / weight.sum())
        self.scale = np.where(spread > 1e-10, spread, np.inf)
        features /= self.scale
        size, axes = np.linalg.eigh((features.T * weight) @ features)
        kept = size * largest / 4 > _NOTHING
        self.axes, self.size = axes[:, kept], size[kept]
        self.rows = features @ self.axes
        self.start = np.zeros((self.rows.shape[1] + 1, self.n_logits))
        self.start[-1] = self._prior(n_classes)

    def _prior(self, n_classes):
        share = self.weight @ self.target + 0.5
        if n_classes == 2:
            return np.log(share / (self.weight.sum() + 1 - share))
        return np.log(share / share.sum())

    def fit(self, C, tolerance=1e-6):
        """Return the Linear model with penalty ``coef**2 / (2 C)``."""
        bend = 0.25 if self.n_logits == 1 else 0.5  # largest curvature of a case's loss
        penalty = np.append(np.full(len(self.size), 1 / C), _INTERCEPT)[:, None]
        curvature = bend * np.append(self.size, self.weight.sum())[:, None] + penalty
        step = 1 / np.sqrt(curvature)
        centre = np.zeros_like(self.start)
        centre[-1] = self._prior(2 if self.n_logits == 1 else self.n_logits)

        def loss(flat):
            theta = flat.reshape(self.start.shape) * step
            value, slope = self._loss(theta)
            pull = penalty * (theta - centre)
            value += 0.5 * (pull * (theta - centre)).sum()
            return value, ((slope + pull) * step).ravel()

        found = minimize(
            loss,
            (self.start / step).ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxcor": 20, "maxiter": 500, "ftol": 1e-15, "gtol": tolerance},
        )
        self.start = found.x.reshape(self.start.shape) * step
        coef = self.axes @ self.start[:-1] / self.scale[:, None]
        return Linear(coef, self.start[-1] - self.mean @ coef)

    def _loss(self, theta):
        logits = self.rows @ theta[:-1] + theta[-1]
        if self.n_logits == 1:
            value = self.weight @ (np.logaddexp(0, logits) - self.target * logits)[:, 0]
            residual = 1 / (1 + np.exp(-logits)) - self.target
        else:
            logs = log_softmax(logits, axis=1)
            value = -(self.weight[:, None] * self.target * logs).sum()
            residual = np.exp(logs) - self.target
        residual *= self.weight[:, None]
        return value, np.vstack([self.rows.T @ residual, residual.sum(axis=0)])
