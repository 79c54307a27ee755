"""How often each class occurs among the new cases, and how the tree decides its cases."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from keeptree.auditing.significance import compare_counts, compare_means, compare_with_expected
from keeptree.data.labels import class_names, plain

LEAST_CHANGE = 0.02  # smallest difference of a share that matters: two percentage points,
LEAST_FACTOR = 0.5  # or half of the share expected, if that is less
LEAST_MOVED = 0.1  # smallest share of a class in other leaves than at fit that matters
_FEWEST_CASES = 50  # outcomes of each class that show whether only shares changed


@dataclass(frozen=True)
class ClassChange:
    """One class among the new cases whose outcome is known.

    Parameters
    ----------
    label : object
        The class.
    name : str
        Its display name.
    cases : int
        Number of cases.
    share : float
        Share of all cases with an outcome.
    expected : float
        Share expected from their probabilities.
    share_before : float or None
        Share expected at fit; None if unknown.
    decided : int
        Number of decisions for the class.
    right : int
        Right decisions among its cases.
    right_before : float or None
        Share of its cases that were expected to be decided correctly at fit.
    p_value : float
        p-value of the hypothesis that its share is the one expected.
    changed : bool
        Whether its share differs significantly and by enough to matter.
    """

    label: Any
    name: str
    cases: int
    share: float
    expected: float
    share_before: float | None
    decided: int
    right: int
    right_before: float | None
    p_value: float
    changed: bool = False

    @property
    def large(self):
        """Whether the share differs from the one expected by enough to matter."""
        return _matters(self.share, self.expected)


@dataclass(frozen=True)
class ExpectedShare:
    """The share of one class among all new cases that their probabilities expect.

    Parameters
    ----------
    label : object
        The class.
    name : str
        Its display name.
    share : float
        Mean of its probability over the new cases.
    share_before : float or None
        The same mean at fit; None if unknown.
    p_value : float
        p-value of the hypothesis that they differ only by chance.
    changed : bool
        Whether they differ significantly and by enough to matter.
    """

    label: Any
    name: str
    share: float
    share_before: float | None
    p_value: float
    changed: bool = False

    @property
    def large(self):
        """Whether the share differs from the one at fit by enough to matter."""
        return self.share_before is not None and _matters(self.share, self.share_before)


def expected_shares(count):
    """Return an :class:`ExpectedShare` per class."""
    reference, n = count.expectation, count.rows
    shares, squares = count.class_sums / n, count.class_sum_squares / n
    n_before = int(reference.cases.sum())
    before = spread = None
    if reference.classes is not None:
        before = reference.classes.sum(axis=0) / n_before
        spread = _spread_over_leaves(reference, before)
    found = []
    for c, name in enumerate(class_names(count.model, count.tree.classes)):
        known = before is not None and before[c] > 0
        p_value = 1.0
        if known:
            variance = max(squares[c] - shares[c] ** 2, spread[c])
            p_value = compare_means(before[c], n_before, shares[c], n, variance)
        found.append(
            ExpectedShare(
                label=plain(count.tree.classes[c]),
                name=name,
                share=float(shares[c]),
                share_before=float(before[c]) if known else None,
                p_value=p_value,
            )
        )
    return found


def _spread_over_leaves(reference, mean):
    """Variance between the leaves of the probabilities at fit, which bounds their variance."""
    cases = reference.cases[:, None]
    means = reference.classes / np.maximum(cases, 1)
    return (cases * (means - mean) ** 2).sum(axis=0) / cases.sum()


def compare_classes(count):
    """Return a :class:`ClassChange` per class; none if no outcome is known."""
    if not count.has_outcomes:
        return []
    tree, n = count.tree, int(count.leaf_outcomes.sum())
    n_before = int(count.expectation.cases.sum())
    before, found = count.expectation.classes, []
    for c, name in enumerate(class_names(count.model, tree.classes)):
        cases, expected = int(count.confusion[c].sum()), count.class_expected[c]
        variance = expected - count.class_squares[c]
        known = before is not None and before[:, c].sum() > 0
        found.append(
            ClassChange(
                label=plain(tree.classes[c]),
                name=name,
                cases=cases,
                share=cases / n,
                expected=float(expected / n),
                share_before=float(before[:, c].sum() / before.sum()) if known else None,
                decided=int(count.confusion[:, c].sum()),
                right=int(count.confusion[c, c]),
                right_before=_right_at_fit(count, c) if known else None,
                p_value=compare_with_expected(cases, expected, variance, n, n_before),
            )
        )
    return found


def only_shares_changed(count, alpha):
    """Return whether the new outcomes differ from the sample only in the shares of the classes.

    This is label shift: a class has another share than at fit, but its cases reach the leaves in
    the same proportions, so the tree separates the classes as it did. ``alpha`` is the level of
    both tests.
    """
    before, now = count.expectation.classes, count.leaf_classes
    if before is None or not now.any():
        return False
    cases = now.sum(axis=0)
    if cases[cases > 0].min() < _FEWEST_CASES:  # a class may have moved without being noticed
        return False
    shares = [counts.sum(axis=0) / counts.sum() for counts in (now, before)]
    large = any(_matters(*pair) for pair in zip(*shares, strict=True))
    if not large or compare_counts(before.sum(axis=0), now.sum(axis=0)) > alpha:
        return False
    level = alpha / now.shape[1]
    return not any(_has_moved(*pair, level) for pair in zip(before.T, now.T, strict=True))


def _has_moved(before, now, alpha):
    """Whether the cases of a class reach other leaves than at fit; a new class always does."""
    if not (before.any() and now.any()):
        return bool(now.any())
    moved = np.abs(before / before.sum() - now / now.sum()).sum() / 2
    return moved >= LEAST_MOVED and compare_counts(before, now) <= alpha


def _right_at_fit(count, c):
    """Share of the cases of a class in leaves that decide for it, scaled to the accuracy at fit."""
    tree, reference = count.tree, count.expectation
    decided = reference.classes[np.arange(tree.n_nodes), tree.label]
    share = decided[tree.label == c].sum() / reference.classes[:, c].sum()
    return float(min(share * reference.right.sum() / decided.sum(), 1.0))


def _matters(share, expected):
    """Whether a share differs from the one expected by enough to matter."""
    return abs(share - expected) > min(LEAST_CHANGE, LEAST_FACTOR * expected)
