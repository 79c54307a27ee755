"""The logarithmic pool of several experts, with weights fitted on unseen cases.

``make_coherent`` is the optional last step: it makes the tree's class the most probable one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from keeptree._compiled.pool import lift_labels, pool_opinions
from keeptree.savable import expect, expect_array, saved_part

SHARE = 0.002  # share of the prior in each expert, so that none can rule out a class
_RIDGE = 2.0  # towards equal weights
SOFTNESS = 0.35  # log-odds; a case exactly between two classes is moved by half of it
_ABOVE = 1.0 + 2.0**-40  # still above 1 after normalisation


@saved_part
@dataclass(frozen=True, eq=False)
class Pool:
    """p proportional to the product of the experts' probabilities to the power of their weights."""

    names: tuple
    weights: np.ndarray
    prior: np.ndarray

    def check(self, names, tree):
        """Raise a ValueError if the content of a file is not a pool of these experts."""
        expect(self.names == names, f"its experts must be {names}")
        expect_array(self.weights, "weights", np.float64, (len(names),))
        expect_array(self.prior, "prior", np.float64, (len(tree.classes),))
        expect((self.weights >= 0).all() and (self.prior > 0).all(), "a weight is negative")

    @cached_property
    def used(self):
        """Names of the experts with a positive weight, and their pool; the others are skipped."""
        at = np.flatnonzero(self.weights)
        at = at if len(at) else np.arange(len(self.weights))
        names = tuple(self.names[k] for k in at)
        return names, Pool(names, self.weights[at], self.prior)

    @property
    def start(self):
        """``logits`` of experts that all return the prior: shape (n_experts, n_classes)."""
        return self.weights[:, None] * np.log(self.prior)

    def logits(self, opinions):
        """Weighted logarithms of the experts' probabilities, shape (n_experts, n, n_classes)."""
        return self.weights[:, None, None] * _logs(opinions, self.prior)

    def probability(self, opinions, out):
        """Fill ``out`` with the pooled probabilities of experts, of shape (n_experts, n, K)."""
        pool_opinions(np.ascontiguousarray(opinions), self.weights, self.prior, SHARE, out)


def smoothed_prior(y, weight, n_classes):
    """Class shares of a sample after adding one case of each class, so that none is 0.

    Examples
    --------
    >>> import numpy as np
    >>> smoothed_prior(np.array([0, 0, 0]), np.ones(3), 2)
    array([0.8, 0.2])
    """
    counts = np.bincount(y, weight / weight.mean(), minlength=n_classes) + 1
    return counts / counts.sum()


def fit_pool(names, opinions, y, weight, prior):
    """Find the nonnegative weights with the lowest log-loss on cases the experts have not seen.

    Parameters
    ----------
    names : sequence of str
        The experts.
    opinions : ndarray of shape (n_experts, n, n_classes)
        Their probabilities.
    y, weight : ndarray of shape (n,)
        Class codes and weights of the cases.
    prior : ndarray of shape (n_classes,)
        Class shares, all positive.

    Returns
    -------
    pool : Pool

    Examples
    --------
    >>> import numpy as np
    >>> y = np.tile([0, 1, 1], 50)
    >>> good, useless = np.where(np.eye(2)[y] == 1, 0.8, 0.2), np.full((150, 2), 0.5)
    >>> pool = fit_pool(["good", "useless"], np.stack([good, useless]), y, np.ones(150), [1/3, 2/3])
    >>> bool(pool.weights[0] > 1 > pool.weights[1])
    True
    """
    prior = np.asarray(prior, dtype=float)
    logs = _logs(opinions, prior)
    equal = np.full(len(names), 1 / len(names))
    weight = weight / weight.mean()
    assigned = logs[:, np.arange(len(y)), y]

    def loss(w):
        total = np.tensordot(w, logs, axes=1)
        norm = logsumexp(total, axis=1)
        p = np.exp(total - norm[:, None])
        expected = np.einsum("nc,enc->en", p, logs)
        value = weight @ (norm - w @ assigned) + _RIDGE * ((w - equal) ** 2).sum()
        return value, (expected - assigned) @ weight + 2 * _RIDGE * (w - equal)

    found = minimize(loss, equal, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(names))
    return Pool(tuple(names), found.x, prior)


def make_coherent(p, label):
    """Change probabilities in place, as little as possible, to make each row's label the largest.

    The margin m of the label, its log-probability minus the largest other one, becomes
    (m + sqrt(m² + 0.35²)) / 2. This is positive, increases with m, and hardly changes m where the
    label was clearly the largest already. Cases with the same label keep their order, and the
    other classes keep their proportions.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.9, 0.1], [0.4, 0.6]])
    >>> make_coherent(p, np.array([0, 0]))
    >>> p.round(3)
    array([[0.901, 0.099],
           [0.516, 0.484]])
    """
    lift_labels(p, label.astype(np.int64, copy=False), SOFTNESS, _ABOVE)


def _logs(opinions, prior):
    """Logarithms of the experts' probabilities, each mixed with a little of the prior."""
    return np.log((1 - SHARE) * opinions + SHARE * prior)
