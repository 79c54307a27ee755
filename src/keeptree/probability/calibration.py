"""Calibration on cases that the model has not seen.

It is the basis of class sets, which contain the true class as often as requested (conformal
prediction for each class), and of probability intervals (Venn-Abers predictors, widened by the
sampling error of the calibration cases).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.isotonic import isotonic_regression

from keeptree.savable import expect, expect_array, saved_part

# Maximum number of scores of each class: coverage can be requested in steps of 1 / 2000.
_MOST_SCORES = 1999
_MOST_LEVELS = 200
OUT_OF_FOLD, HELD_OUT = "out of fold", "held out"
_TIED = 5  # equal scores that are lowered before out-of-fold calibration,
_LOWERED = 0.25  # by this many log-odds


@saved_part
@dataclass(frozen=True, eq=False)
class Calibration:
    """Probabilities of unseen cases and their outcomes, class by class.

    Parameters
    ----------
    source : str
        ``"out of fold"``, estimated on the training sample, or ``"held out"``.
    cases : ndarray of shape (n_classes,)
        Number of cases of each class.
    scores : tuple of ndarray
        For each class, the sorted probabilities of this class for its own cases, thinned evenly if
        there are many. Out of fold, groups of equal probabilities are lowered slightly.
    edges : tuple of ndarray
        For each class, the upper ends of the levels (ranges) of its probability, except the last.
    low, high : tuple of ndarray
        For each level, two probabilities of the class by isotonic regression: one that counts the
        new case as a case of another class, and one that counts it as a case of this class.
    blocks : tuple of ndarray of shape (n_levels, 2)
        For each level, the number of cases in its block of the isotonic regression, and how many of
        them belong to the class.
    """

    source: str
    cases: np.ndarray
    scores: tuple
    edges: tuple
    low: tuple
    high: tuple
    blocks: tuple

    def check(self, tree):
        """Raise a ValueError if the content of a file does not fit the tree."""
        n = len(tree.classes)
        expect(self.source in (OUT_OF_FOLD, HELD_OUT), "its calibration has no source")
        expect_array(self.cases, "cases", np.int64, (n,))
        expect((self.cases >= 0).all(), "a number of cases is negative")
        expect(isinstance(self.blocks, tuple) and len(self.blocks) == n, "blocks is short")
        for name in ("scores", "edges", "low", "high"):
            values = getattr(self, name)
            expect(isinstance(values, tuple) and len(values) == n, f"{name} is short")
            for array in values:
                expect_array(array, name, np.float64, (None,))
                expect(((array >= 0) & (array <= 1)).all(), f"{name} must be probabilities")
        for c in range(n):
            levels = len(self.edges[c]) + 1
            fits = len(self.low[c]) == len(self.high[c]) == levels
            expect(
                fits and (self.low[c] <= self.high[c]).all(),
                "the intervals of its calibration are damaged",
            )
            expect_array(self.blocks[c], "blocks", np.float64, (levels, 2))
            cases, events = self.blocks[c].T
            expect(
                (cases >= 1).all() and (events >= 0).all(), "a block of its calibration is empty"
            )
            expect((events <= cases).all(), "a block of its calibration has more events than cases")
            rising = all((np.diff(a) >= 0).all() for a in (self.scores[c], self.edges[c]))
            expect(rising, "the scores of its calibration are not sorted")

    def sets(self, p, coverage):
        """Return the classes that each row may belong to.

        A class is left out if its probability for the row is among the lowest ``1 - coverage`` of
        the probabilities of its own calibration cases.

        Parameters
        ----------
        p : ndarray of shape (n, n_classes)
            Probabilities.
        coverage : float
            Share of the cases of each class whose set must contain that class.

        Returns
        -------
        sets : ndarray of bool of shape (n, n_classes)
            Whether each class is in the set of each row.
        """
        sets = np.empty(p.shape, dtype=bool)
        for c, scores in enumerate(self.scores):
            # Rank of the case among the cases of the class, counting the case itself.
            rank = np.searchsorted(scores, p[:, c], side="right") + 1
            sets[:, c] = rank > (1 - coverage) * (len(scores) + 1) * (1 + 1e-12)
        return sets

    def intervals(self, p, confidence):
        """Return the lower and upper ends of the probability of each class: (n, n_classes, 2).

        They are those of the probability's level, widened to contain the probability itself, which
        is displayed beside them. An end that equals the probability means that the calibration
        cases suggest another one.
        """
        ends = np.empty((*p.shape, 2))
        levels = zip(self.edges, *self.levels(confidence), strict=True)
        for c, (edges, low, high) in enumerate(levels):
            level = np.searchsorted(edges, p[:, c], side="left")
            ends[:, c, 0] = np.minimum(np.take(low, level), p[:, c])
            ends[:, c, 1] = np.maximum(np.take(high, level), p[:, c])
        return ends

    def levels(self, confidence):
        """Return the lower and upper ends of all levels, as one list per class."""
        lows, highs = [], []
        for c, block in enumerate(self.blocks):
            low, high = wilson_interval(*block.T[::-1], confidence)
            lows.append(np.minimum(low, self.low[c]).tolist())
            highs.append(np.maximum(high, self.high[c]).tolist())
        return lows, highs


def calibrate(p, y, source):
    """Return the :class:`Calibration` of probabilities on cases that they were not fitted to.

    Parameters
    ----------
    p : ndarray of shape (n, n_classes)
        Probabilities.
    y : ndarray of shape (n,)
        Positions of the true classes.
    source : str
        Where the cases come from.

    Examples
    --------
    >>> p = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]])
    >>> calibration = calibrate(p, np.array([0, 1, 1, 1]), HELD_OUT)
    >>> calibration.sets(np.array([[0.95, 0.05]]), 0.75)
    array([[ True, False]])
    """
    classes, lower = range(p.shape[1]), _lower_ties if source == OUT_OF_FOLD else np.asarray
    curves = [_venn_abers(p[:, c], y == c) for c in classes]
    return Calibration(
        source,
        np.bincount(y, minlength=p.shape[1]).astype(np.int64),
        tuple(_thin(np.sort(lower(p[y == c, c]))) for c in classes),
        *(tuple(parts) for parts in zip(*curves, strict=True)),
    )


def wilson_interval(events, cases, confidence):
    """Return Wilson's interval for shares given as arrays of counts.

    Examples
    --------
    >>> low, high = wilson_interval(np.array([80]), np.array([100]), 0.95)
    >>> low.round(3), high.round(3)
    (array([0.711]), array([0.867]))
    """
    z = norm.ppf((1 + confidence) / 2)
    middle = 2 * events + z**2
    reach = z * np.sqrt(z**2 + 4 * events * (1 - events / cases))
    ends = ((middle - reach) / (2 * (cases + z**2)), (middle + reach) / (2 * (cases + z**2)))
    return tuple(np.clip(end, 0.0, 1.0) for end in ends)


def _lower_ties(scores):
    """Lower the scores that several cases share.

    A tree with few leaves and two-valued attributes gives many cases the same probability. The
    trees of the folds give the same cases slightly different ones, and if all of these are larger,
    the sets of all these cases would lack their class.
    """
    _, place, cases = np.unique(scores, return_inverse=True, return_counts=True)
    lowered = expit(logit(np.clip(scores, 1e-12, 1 - 1e-12)) - _LOWERED)
    return np.where(cases[place] >= _TIED, np.minimum(lowered, scores), scores)


def _thin(scores):
    """Return evenly thinned sorted scores, in which ranks are the original ranks rounded down."""
    n = len(scores)
    if n <= _MOST_SCORES:
        return scores
    places = np.arange(1, _MOST_SCORES + 1) * (n + 1) // (_MOST_SCORES + 1)
    return scores[places - 1]


def _venn_abers(score, event):
    """Return the edges of the levels of a score, their two probabilities and their blocks.

    The probabilities come from isotonic regression with one more case at the level, counted once as
    no event and once as an event (Vovk, Petej and Fedorova 2015). They are computed by the max-min
    formula.
    """
    edges = np.unique(np.quantile(score, np.arange(1, _MOST_LEVELS) / _MOST_LEVELS, method="lower"))
    edges = edges[edges < score.max()]
    level = np.searchsorted(edges, score, side="left")
    n_levels = len(edges) + 1
    cases = np.concatenate([[0], np.cumsum(np.bincount(level, minlength=n_levels))])
    events = np.concatenate([[0], np.cumsum(np.bincount(level, event, minlength=n_levels))])
    low, high = np.empty((2, n_levels))
    for k in range(n_levels):
        n = cases[k + 1 :] - cases[: k + 1, None] + 1
        found = events[k + 1 :] - events[: k + 1, None]
        low[k] = (found / n).min(axis=1).max()
        high[k] = ((found + 1) / n).min(axis=1).max()
    return edges, low, high, _blocks(np.diff(cases), np.diff(events))


def _blocks(cases, events):
    """Return the number of cases and events in each level's block of the isotonic regression."""
    fitted = isotonic_regression(events / cases, sample_weight=cases)
    block = np.concatenate([[0], np.cumsum(np.diff(fitted) > 0)])
    sums = np.column_stack([np.bincount(block, cases), np.bincount(block, events)])
    return sums[block]
