"""How often the tree's decisions are right: expected, and realised where outcomes are known."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from keeptree.auditing.significance import compare_shares
from keeptree.data.labels import class_names
from keeptree.evaluation.reliability import calibration_gap
from keeptree.evaluation.significance import accuracy_interval
from keeptree.explanation.wording import tell_branch, tell_number
from keeptree.tree import LEAF

LEAST_LOSS = 0.02  # smallest change of accuracy that matters: two percentage points
_FORESEEN = 0.05  # family-wise level, over all leaves
LEAST_LEAF = 0.05  # smallest difference of a leaf's share that matters


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
    """

    accuracy: float
    low: float
    high: float
    at_fit: float
    unseen: bool
    p_value: float

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
    expected : float or None
        Accuracy expected from the probabilities of these cases; None without probabilities.
    at_fit : float or None
        Expected accuracy on the training sample.
    p_fallen : float
        p-value of the hypothesis that the accuracy is not below ``at_fit``.
    p_estimate : float
        p-value of the hypothesis that it equals ``expected``.
    calibration, calibration_at_fit : float or None
        Expected calibration error of the probability that a decision is right: the mean gap
        between probability and frequency in ten bins. ``calibration_at_fit`` is that of the
        training cases, out of fold. None if unknown.
    classes : tuple of dict
        For each class: number of ``cases``, right decisions among them (``right``), how often it
        was ``decided``, and the number of cases ``expected`` from the probabilities.
    new_classes : int
        Cases of a class that the tree does not know.
    """

    cases: int
    accuracy: float
    low: float
    high: float
    expected: float | None
    at_fit: float | None
    p_fallen: float
    p_estimate: float
    calibration: float | None
    calibration_at_fit: float | None
    classes: tuple
    new_classes: int


@dataclass(frozen=True)
class LeafChange:
    """One leaf of the tree on the new cases.

    Parameters
    ----------
    node : int
        The leaf.
    rule : str
        Path to the leaf.
    decision : str
        Display name of its class.
    share, share_before : float
        Share of the cases that end in it, now and in the training sample.
    expected, expected_before : float or None
        Expected share of right decisions in it.
    outcomes : int
        Cases whose outcome is known.
    right : float or None
        Share of them that belong to the leaf's class.
    p_value : float
        p-value of the hypothesis that this share is what was expected at fit.
    foreseen : bool
        Whether the share agrees with the probabilities of these cases.
    changed : bool
        Whether the share differs significantly and by enough to matter.
    """

    node: int
    rule: str
    decision: str
    share: float
    share_before: float
    expected: float | None
    expected_before: float | None
    outcomes: int
    right: float | None
    p_value: float
    foreseen: bool
    changed: bool = False

    @property
    def large(self):
        """Whether the share of right decisions changed by enough to matter."""
        if self.right is None or self.expected_before is None:
            return False
        return abs(self.right - self.expected_before) >= LEAST_LEAF


def expected_accuracy(count, confidence):
    """Return the :class:`Expected` accuracy; None for a model without probabilities."""
    reference = getattr(count.model, "expected_", None)
    if not count.estimates or reference is None:
        return None
    n, n_before = count.rows, int(reference.cases.sum())
    accuracy = float(count.leaf_expected.sum() / n)
    squares = count.squares / n
    chance = max(accuracy - squares, 0.0)  # mean of p (1 - p)
    z = stats.norm.ppf(0.5 + confidence / 2)
    # Sampling error of the new outcomes plus the calibration error of the probabilities.
    error = z * np.sqrt(chance / n + reference.chance / n_before)
    spread = max(squares - accuracy**2, 0.0) / n + reference.variance / n_before
    fallen = (reference.accuracy - accuracy) / np.sqrt(spread) if spread > 0 else 0.0
    return Expected(
        accuracy=accuracy,
        low=max(accuracy - error, 0.0),
        high=min(accuracy + error, 1.0),
        at_fit=reference.accuracy,
        unseen=reference.unseen,
        p_value=float(stats.norm.sf(fallen)),
    )


def realised_accuracy(count, confidence):
    """Return the :class:`Realised` accuracy; None if no outcome is known."""
    if not count.has_outcomes:
        return None
    n, right = int(count.leaf_outcomes.sum()), int(count.leaf_right.sum())
    low, high = accuracy_interval(right / n, n, confidence)
    reference = getattr(count.model, "expected_", None) if count.estimates else None
    expected = p_estimate = gap = gap_at_fit = None
    p_fallen = 1.0
    if reference is not None:
        n_before = reference.cases.sum()
        p_fallen = compare_shares(reference.right.sum(), n_before, right, n, "greater")
        hoped = count.leaf_hoped.sum()
        expected = float(hoped / n)
        chance = (hoped - count.hoped_squares) / n
        error = np.sqrt(max(chance, 1e-12) / n + reference.chance / n_before)
        p_estimate = float(2 * stats.norm.sf(abs(right / n - expected) / error))
        gap = calibration_gap(count.bins)
        gap_at_fit = None if reference.bins is None else calibration_gap(reference.bins)
    return Realised(
        cases=n,
        accuracy=right / n,
        low=low,
        high=high,
        expected=expected,
        at_fit=None if reference is None else reference.accuracy,
        p_fallen=p_fallen,
        p_estimate=1.0 if p_estimate is None else p_estimate,
        calibration=gap,
        calibration_at_fit=gap_at_fit,
        classes=tuple(_class_rows(count, expected is not None)),
        new_classes=count.new_classes,
    )


def compare_leaves(count):
    """Return a :class:`LeafChange` per leaf, in the order of the tree."""
    tree, reference = count.tree, getattr(count.model, "expected_", None)
    names, found = class_names(count.model, tree.classes), []
    for node in tree.preorder.tolist():
        if tree.kind[node] != LEAF:
            continue
        cases, outcomes = int(count.leaf_cases[node]), int(count.leaf_outcomes[node])
        before = int(reference.cases[node]) if reference is not None else 0
        expected_before = reference.right[node] / before if before else None
        right, p_value = None, 1.0
        if outcomes:
            right = count.leaf_right[node] / outcomes
            if before:
                scored = (reference.right[node], before)
                p_value = compare_shares(*scored, count.leaf_right[node], outcomes)
        total = tree.weight[0] or 1.0
        found.append(
            LeafChange(
                node=node,
                rule=_rule(tree, node),
                decision=names[tree.label[node]],
                share=cases / count.rows,
                share_before=float(tree.weight[node] / total),
                expected=count.leaf_expected[node] / cases if cases and count.estimates else None,
                expected_before=None if expected_before is None else float(expected_before),
                outcomes=outcomes,
                right=None if right is None else float(right),
                p_value=p_value,
                foreseen=_is_foreseen(count, node),
            )
        )
    return found


def _is_foreseen(count, node):
    """Whether the number of right decisions in a leaf agrees with the probabilities."""
    outcomes = int(count.leaf_outcomes[node])
    if not (count.estimates and outcomes):
        return False
    expected = min(count.leaf_hoped[node] / outcomes, 1.0)
    p_value = stats.binomtest(int(count.leaf_right[node]), outcomes, expected).pvalue
    return bool(p_value > _FORESEEN / count.tree.n_leaves)


def _class_rows(count, estimates):
    """Cases, right decisions and expected cases of each class."""
    for c, label in enumerate(count.tree.classes):
        yield {
            "class": label,
            "cases": int(count.confusion[c].sum()),
            "right": int(count.confusion[c, c]),
            "decided": int(count.confusion[:, c].sum()),
            "expected": float(count.class_expected[c]) if estimates else None,
        }


def _rule(tree, node):
    """The conditions on the path to a node, one per column: ``3 < age ≤ 40 and job is none``."""
    path = []
    while node != 0:
        path.append(tree.branch(node))
        node = int(tree.parent[node])
    bounds = {}
    for branch in reversed(path):  # a later bound on the same side is tighter
        bounds.setdefault(branch.name, {})[branch.is_numeric and branch.sign] = branch
    return " and ".join(_tell_bounds(found) for found in bounds.values()) or "every case"


def _tell_bounds(found):
    if len(found) < 2:
        return tell_branch(*found.values())
    low = tell_number(found[">"].threshold)
    return f"{low} < {tell_branch(found['<='])}"
