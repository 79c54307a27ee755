"""Uncertainty of the estimate for a single case, from refitted trees and from similar cases.

No method can guarantee an interval for the probability of one case without assumptions, because
each case has a single outcome (Barber 2020). What can be measured is how much the estimate depends
on the training sample, and on how many similar cases it is based.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from keeptree.probability.calibration import wilson_interval
from keeptree.savable import expect, expect_array, saved_part
from keeptree.tree import LEAF

MOST_PROBES = 2_000  # maximum number of training cases that each refitted model scores
_TYPICAL = 2.0  # number of pseudo-cases with the mean variance that are added to each leaf
_LEAST = 1e-12  # probabilities are clipped this far from 0 and 1 before taking log-odds


@saved_part
@dataclass(frozen=True, eq=False)
class CaseSpread:
    """Variance of the log-odds over refitted models, leaf by leaf.

    Parameters
    ----------
    variance : ndarray of shape (n_nodes, n_classes)
        Jackknife variance of the log-odds of each class, averaged over the training cases of a
        leaf; 0 in other nodes.
    """

    variance: np.ndarray

    def check(self, tree):
        """Raise a ValueError if the content of a file does not fit the tree."""
        expect_array(self.variance, "variance", np.float64, (tree.n_nodes, len(tree.classes)))
        expect((self.variance >= 0).all(), "a variance is negative")

    def intervals(self, p, leaf, similar, confidence):
        """Return the lower and upper ends of each probability: shape (n, n_classes, 2).

        The result is the union of two intervals. The first is the probability plus and minus its
        spread over refits, in log-odds. The second is Wilson's interval for a share that is
        estimated from as many cases as are similar to this one.

        Parameters
        ----------
        p : ndarray of shape (n, n_classes)
            Probabilities.
        leaf : ndarray of shape (n,)
            Leaf of each case.
        similar : ndarray of shape (n,)
            Effective number of similar training cases.
        confidence : float
            Confidence level.

        Examples
        --------
        >>> spread = CaseSpread(np.array([[0.04, 0.04]]))
        >>> p, leaf = np.array([[0.1, 0.9]]), np.array([0])
        >>> spread.intervals(p, leaf, np.array([400.0]), 0.9)[0, 1].round(2)
        array([0.87, 0.93])
        >>> spread.intervals(p, leaf, np.array([10.0]), 0.9)[0, 1].round(2)
        array([0.65, 0.98])
        """
        middle = logit(np.clip(p, _LEAST, 1 - _LEAST))
        reach = norm.ppf((1 + confidence) / 2) * np.sqrt(self.variance[leaf])
        cases = np.maximum(similar, 1e-9)[:, None]
        low, high = wilson_interval(cases * p, cases, confidence)
        ends = np.minimum(expit(middle - reach), low), np.maximum(expit(middle + reach), high)
        return np.stack([np.minimum(ends[0], p), np.maximum(ends[1], p)], axis=-1)


def measure_spread(tree, leaf, refits):
    """Return the :class:`CaseSpread` of models that were refitted on folds of the sample.

    Parameters
    ----------
    tree : Tree
        The kept tree.
    leaf : ndarray of shape (n,)
        Leaf of each training case.
    refits : ndarray of shape (n_folds, n, n_classes)
        Probabilities of these cases by each refitted model.

    Notes
    -----
    Models that leave out one of k parts differ less than models of independent samples. Their
    variance is therefore multiplied by k - 1 (delete-a-group jackknife). The variance of one case
    over a few replicates is rough, so it is averaged over the cases of a leaf, together with two
    pseudo-cases that have the mean variance of the sample.
    """
    odds = logit(np.clip(refits, _LEAST, 1 - _LEAST))
    variance = (len(refits) - 1) * odds.var(axis=0)
    sums = np.zeros((tree.n_nodes, refits.shape[2]))
    np.add.at(sums, leaf, variance)
    cases = np.bincount(leaf, minlength=tree.n_nodes)
    mean = (sums + _TYPICAL * variance.mean(axis=0)) / (cases + _TYPICAL)[:, None]
    return CaseSpread(np.where((tree.kind == LEAF)[:, None], mean, 0.0))
