"""How often the tree's decisions are right: expected, and realised where outcomes are known."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from keeptree.auditing.significance import compare_shares, compare_with_expected
from keeptree.evaluation.reliability import calibration_gap
from keeptree.evaluation.significance import accuracy_interval

LEAST_LOSS = 0.02  # smallest change of accuracy that matters: two percentage points
# Largest share of cases beyond the training sample with which the estimate is trusted. If a column
# has other units, the expected accuracy is too high by a quarter of this share (benchmarks.audit).
MOST_BEYOND = 0.1
_OPTIMISM = 0.1  # by how much estimates on cases that the tree has seen may be too high


@dataclass(frozen=True)
class Expected:
    """Expected accuracy on the new cases, from the model's probabilities.

    Parameters
    ----------
    accuracy : float
        Mean probability that the tree's decision is right.
    low, high : float
        Interval in which the realised accuracy lies with the audit's confidence, if the
        probabilities hold.
    at_fit : float
        The same mean on the training sample.
    unseen : bool
        Whether the latter was estimated out of fold.
    p_value : float
        p-value of the hypothesis that it has not fallen since.
    beyond : float
        Share of the cases that have an unseen category or a value outside the training range in a
        column that the model reads. The model has learned nothing about such values.
    trusted : bool
        Whether the estimate can be trusted: not if ``beyond`` is at least 10% more than chance
        explains.
    """

    accuracy: float
    low: float
    high: float
    at_fit: float
    unseen: bool
    p_value: float
    beyond: float = 0.0
    trusted: bool = True

    @property
    def loss(self):
        """By how much the expected accuracy has fallen."""
        return self.at_fit - self.accuracy


@dataclass(frozen=True)
class Realised:
    """Accuracy on the cases whose outcome is known.

    Parameters
    ----------
    cases : int
        Number of these cases.
    accuracy, low, high : float
        Share of right decisions, and its confidence interval.
    expected : float
        Accuracy expected from the probabilities of these cases.
    at_fit : float
        Expected accuracy on the training sample.
    p_fallen : float
        p-value of the hypothesis that the accuracy is not below ``at_fit``.
    p_estimate : float
        p-value of the hypothesis that it equals ``expected``.
    calibration : float
        Expected calibration error: the mean gap between the probability of the most probable class
        and its frequency, in ten bins.
    calibration_at_fit : float or None
        That of the training cases, out of fold; None if unknown.
    new_classes : int
        Cases of a class that the tree does not know.
    """

    cases: int
    accuracy: float
    low: float
    high: float
    expected: float
    at_fit: float
    p_fallen: float
    p_estimate: float
    calibration: float
    calibration_at_fit: float | None
    new_classes: int


@dataclass(frozen=True)
class ByRule:
    """The decisions of a model that does not follow the tree.

    Parameters
    ----------
    rule : {"cost", "probability"}
        What the model decides by.
    differing : float
        Share of the new cases for which the decision is not the tree's.
    expected : float
        Mean probability that the model's decision is right.
    accuracy : float or None
        Share of right decisions among the known outcomes of classes that the tree knows.
    expected_cost, expected_tree_cost : float or None
        Mean cost of a case that the probabilities predict, by the model's and by the tree's
        decisions; None without costs.
    cost, tree_cost : float or None
        The same for the known outcomes.
    """

    rule: str
    differing: float
    expected: float
    accuracy: float | None
    expected_cost: float | None
    expected_tree_cost: float | None
    cost: float | None
    tree_cost: float | None


def own_decisions(count):
    """Return the decisions of the model as :class:`ByRule`; None if it follows the tree."""
    own = count.own
    if own is None:
        return None
    priced, known = own.matrix is not None, own.outcomes > 0
    expected = (own.expected_costs / own.rows).tolist() if priced else (None, None)
    realised = (own.costs / own.outcomes).tolist() if priced and known else (None, None)
    return ByRule(
        rule=own.model.decide,
        differing=own.differing / own.rows,
        expected=own.hoped / own.rows,
        accuracy=own.right / own.outcomes if known else None,
        expected_cost=expected[0],
        expected_tree_cost=expected[1],
        cost=realised[0],
        tree_cost=realised[1],
    )


def expected_accuracy(count, confidence):
    """Return the :class:`Expected` accuracy."""
    reference = count.expectation
    n, n_before = count.rows, int(reference.cases.sum())
    accuracy = float(count.leaf_expected.sum() / n)
    squares = count.squares / n
    chance = max(accuracy - squares, 0.0)  # mean of p (1 - p)
    z = stats.norm.ppf(0.5 + confidence / 2)
    # Sampling error of the new outcomes plus the calibration error of the probabilities.
    error = z * np.sqrt(chance / n + reference.chance / n_before)
    variance = max(squares - accuracy**2, reference.variance)
    spread = variance * (1 / n + 1 / n_before)
    fallen = (reference.accuracy - accuracy) / np.sqrt(spread) if spread > 0 else 0.0
    return Expected(
        accuracy=accuracy,
        low=max(accuracy - error, 0.0),
        high=min(accuracy + error, 1.0),
        at_fit=reference.accuracy,
        unseen=reference.unseen,
        p_value=float(stats.norm.sf(fallen)),
        beyond=count.unfamiliar().beyond / n,
    )


def beyond_by_chance(count):
    """Return the share of unchanged cases that is expected outside the training range, at most."""
    reference, tree, read = count.reference, count.tree, set(count.model.read_columns.tolist())
    numeric = [f in read and tree.categories[f] is None for f in reference.columns.tolist()]
    return float((2 / (reference.known[numeric] + 1)).sum())


def optimism(count):
    """Return by how much the estimates may be too high without any change in the data."""
    return 0.0 if count.expectation.unseen else _OPTIMISM


def realised_accuracy(count, confidence):
    """Return the :class:`Realised` accuracy; None if no outcome is known."""
    if not count.has_outcomes:
        return None
    n, right = int(count.leaf_outcomes.sum()), int(count.leaf_right.sum())
    low, high = accuracy_interval(right / n, n, confidence)
    reference, hoped = count.expectation, count.leaf_hoped.sum()
    n_before, bins = int(reference.cases.sum()), reference.bins
    return Realised(
        cases=n,
        accuracy=right / n,
        low=low,
        high=high,
        expected=float(hoped / n),
        at_fit=reference.accuracy,
        p_fallen=compare_shares(reference.right.sum(), n_before, right, n, "greater"),
        p_estimate=compare_with_expected(right, hoped, hoped - count.hoped_squares, n, n_before),
        calibration=calibration_gap(count.bins),
        calibration_at_fit=None if bins is None else calibration_gap(bins),
        new_classes=count.new_classes,
    )
