"""Expected accuracy of a tree's decisions, overall and in each leaf, from probabilities."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keeptree.data.sample import stratified_part
from keeptree.savable import expect, expect_array, saved_part

BINS = 10
MOST_ROWS = 5_000  # maximum number of training cases that are scored


class Scored(NamedTuple):
    """Encoded rows of a sample, their classes and their probabilities.

    ``refitted`` tells whether each case was scored by a refitted tree that had not seen it, and
    ``decision`` what that tree decided.
    """

    X: np.ndarray
    y: np.ndarray
    p: np.ndarray
    refitted: bool
    decision: np.ndarray | None = None


@saved_part
@dataclass(frozen=True, eq=False)
class Expectation:
    """Expected accuracy of the tree's decisions on the training sample.

    Parameters
    ----------
    cases : ndarray of shape (n_nodes,)
        Number of cases scored in each leaf.
    right : ndarray of shape (n_nodes,)
        Sum over these cases of the probability that the decision is correct.
    squares : float
        Sum of the squares of these probabilities.
    unseen : bool
        Whether probabilities and decisions are those of trees that had not seen the case.
    bins : ndarray of shape (10, 3) or None
        Reliability of the most probable class in bins of equal width: number of cases, sum of its
        probabilities, number of cases that belong to it. None unless ``unseen``.
    classes : ndarray of shape (n_nodes, n_classes) or None
        Sum of the probabilities of each class in each leaf. None in files of older versions.
    """

    cases: np.ndarray
    right: np.ndarray
    squares: float
    unseen: bool
    bins: np.ndarray | None = None
    classes: np.ndarray | None = None

    @property
    def accuracy(self):
        """Expected share of correct decisions."""
        return float(self.right.sum() / self.cases.sum())

    @property
    def variance(self):
        """Variance of the probabilities."""
        return max(self.squares / self.cases.sum() - self.accuracy**2, 0.0)

    @property
    def chance(self):
        """Variance of a single outcome, given its probability."""
        return max(self.accuracy - self.squares / self.cases.sum(), 0.0)

    def check(self, tree):
        """Raise a ValueError if the content of a file does not fit the tree."""
        expect_array(self.cases, "cases", np.int64, (tree.n_nodes,))
        expect_array(self.right, "right", np.float64, (tree.n_nodes,))
        fits = (self.cases >= 0) & (self.right >= 0) & (self.right <= self.cases + 1e-6)
        expect(fits.all() and self.cases.sum() > 0, "its expected accuracy is out of range")
        known = isinstance(self.squares, float) and 0 <= self.squares <= self.cases.sum() + 1e-6
        expect(known and isinstance(self.unseen, bool), "its expected accuracy is damaged")
        if self.bins is not None:
            expect_array(self.bins, "bins", np.float64, (BINS, 3))
            cases, *others = self.bins.T
            fits = all(((part >= 0) & (part <= cases + 1e-6)).all() for part in others)
            expect(fits and cases.sum() > 0, "its reliability bins are out of range")
        if self.classes is not None:
            expect_array(self.classes, "classes", np.float64, (tree.n_nodes, len(tree.classes)))
            fits = np.allclose(self.classes.sum(axis=1), self.cases, rtol=0, atol=1e-6)
            expect(fits and (self.classes >= 0).all(), "its class sums do not fit its cases")


def expect_accuracy(tree, scored):
    """Return the :class:`Expectation` of a :class:`Scored` sample."""
    rows, p, unseen = np.arange(len(scored.X)), scored.p, scored.decision is not None
    leaf, own = tree.route(scored.X), p[rows, tree.decide(scored.X)]
    cases = np.bincount(leaf, minlength=tree.n_nodes).astype(np.int64)
    right = np.bincount(leaf, own, minlength=tree.n_nodes)
    if unseen:
        # The tree was grown to be right for these cases; refitted trees show how often it is for
        # others. Its leaves are scaled to their sum.
        own, seen = p[rows, scored.decision], own.sum()
        right = np.minimum(right * (own.sum() / seen), cases)
    return Expectation(
        cases=cases,
        right=right,
        squares=float(own @ own),
        unseen=unseen,
        bins=bin_probabilities(p.max(axis=1), p.argmax(axis=1) == scored.y) if unseen else None,
        classes=np.column_stack([np.bincount(leaf, c, minlength=tree.n_nodes) for c in p.T]),
    )


def bin_probabilities(p, happened):
    """Return the cases, the sum of probabilities and the events in ten bins of equal width.

    Examples
    --------
    >>> bin_probabilities(np.array([0.91, 0.93]), np.array([True, False]))[9]
    array([2.  , 1.84, 1.  ])
    """
    place = np.clip((p * BINS).astype(int), 0, BINS - 1)
    sums = [np.bincount(place, values, BINS) for values in (np.ones(len(p)), p, happened)]
    return np.column_stack(sums)


def score_sample(model, sample):
    """Return a :class:`Scored` part of the sample that a model was fitted to."""
    part = sample.present.take(stratified_part(sample.present.y, MOST_ROWS))
    return Scored(part.X, part.y, model.predict_proba_encoded(part.X), False)
