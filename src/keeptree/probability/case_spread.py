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
_TYPICAL = 20.0  # number of pseudo-cases with the mean variance that are added to each leaf
# Factors of the two squared errors. That of neighbours is 1 if there are none, and falls to 0.25;
# with FEW cases it is midway.
REFITS, NEIGHBOURS, FEW = 1.5, 0.25, 4.0
LEAST_EVIDENCE = 0.25  # reciprocal of the largest variance of a share's log-odds
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

        Two squared errors are added, in log-odds. The first is the spread over refits, which is the
        variance of the estimate. The second is the distance to the end of Wilson's interval for a
        share that is estimated from as many cases as are similar to this one. It stands for the
        bias: the experts generalise most where few cases are similar.

        The estimate is about the mean of the probabilities that the case may have, and the mean is
        closer to 1/2 than most of them. The end away from 1/2 is therefore measured from the
        log-odds in their middle, by MacKay's approximation of the mean of a logistic function.

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
        array([0.85, 0.93])
        >>> spread.intervals(p, leaf, np.array([10.0]), 0.9)[0, 1].round(2)
        array([0.74, 0.97])
        """
        cases = np.maximum(similar, 1e-9)[:, None]
        middle, low, high = map(_log_odds, (p, *wilson_interval(cases * p, cases, confidence)))
        refits = REFITS * self.variance[leaf]
        share = (FEW + NEIGHBOURS * cases) / (FEW + cases)  # 1 far from all training cases
        bias = share / (cases * p * (1 - p) + LEAST_EVIDENCE)
        outer = middle * np.sqrt(1 + np.pi / 8 * (refits + bias))
        spread = norm.ppf((1 + confidence) / 2) ** 2 * refits
        down = np.sqrt(spread + share * (middle - low) ** 2)
        up = np.sqrt(spread + share * (high - middle) ** 2)
        ends = expit(np.minimum(middle, outer) - down), expit(np.maximum(middle, outer) + up)
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
    over a few replicates is rough, so it is averaged over the cases of a leaf, together with 20
    pseudo-cases that have the mean variance of the sample.
    """
    odds = _log_odds(refits)
    variance = (len(refits) - 1) * odds.var(axis=0)
    sums = np.zeros((tree.n_nodes, refits.shape[2]))
    np.add.at(sums, leaf, variance)
    cases = np.bincount(leaf, minlength=tree.n_nodes)
    mean = (sums + _TYPICAL * variance.mean(axis=0)) / (cases + _TYPICAL)[:, None]
    return CaseSpread(np.where((tree.kind == LEAF)[:, None], mean, 0.0))


def _log_odds(p):
    return logit(np.clip(p, _LEAST, 1 - _LEAST))
