"""Cells of a paper's table: our value, the published one, and whether they agree."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.stats import t, wilcoxon

SAME, WEAKER, OTHER, OPPOSITE, OPEN = "same", "weaker", "other", "opposite", "open"
MARKS = {SAME: "✓", WEAKER: "~", OTHER: "≠", OPPOSITE: "✗", OPEN: "?"}
MEANINGS = {
    SAME: "sign and significance agree",
    WEAKER: "the same sign, significant in only one",
    OTHER: "the other sign, significant in only one",
    OPPOSITE: "significant in both with opposite signs",
    OPEN: "cannot be judged",
}


@dataclass(frozen=True)
class Estimate:
    """A mean over samples.

    Attributes
    ----------
    mean : float
        In the units of the table.
    error : float or None
        Standard error of the mean; None if unknown.
    p : float or None
        One-sided p-value in the direction of the mean, if the paper prints one.
    n : int or None
        Number of samples.
    other : float or None
        Mean in another copy of the paper, if copies disagree.
    """

    mean: float
    error: float | None = None
    p: float | None = None
    n: int | None = None
    other: float | None = None

    @property
    def significant(self):
        """Whether the 95% interval excludes zero; None if there is no interval."""
        return None if self.error is None else bool(abs(self.mean) > _limit(self.n) * self.error)


@dataclass(frozen=True)
class Cell:
    """Our value and the published one.

    Attributes
    ----------
    ours, published : Estimate or None
        None if there is no value.
    better : {1, -1, 0}
        Sign of a result that favours the proposed method; 0 if neither sign does.
    """

    what: ClassVar[str] = "Sign and significance agree"

    ours: Estimate | None
    published: Estimate | None = None
    better: int = 1

    @property
    def agreement(self):
        """One of the keys of :data:`MARKS`; None if no value was published."""
        if self.published is None:
            return None
        if self.ours is None or self.ours.significant is None:
            return OPEN
        ours, theirs = self.ours, self.published
        if theirs.other is not None:
            copies = {replace(self, published=Estimate(mean, theirs.error)).agreement
                      for mean in (theirs.mean, theirs.other)}  # fmt: skip
            return copies.pop() if len(copies) == 1 else OPEN
        same_sign = np.sign(ours.mean) == np.sign(theirs.mean)
        if ours.significant and theirs.significant:
            return SAME if same_sign else OPPOSITE
        if ours.significant or theirs.significant:
            return WEAKER if same_sign else OTHER
        return SAME

    @property
    def within_error(self):
        """Whether chance explains the difference of the means; None if an error is unknown."""
        ours, theirs = self.ours, self.published
        if ours is None or theirs is None or ours.error is None or theirs.error is None:
            return None
        reach = _limit(ours.n) * np.hypot(ours.error, theirs.error)
        return bool(abs(ours.mean - theirs.mean) <= reach)


@dataclass(frozen=True)
class SignCell(Cell):
    """A cell for which only the sign was published: ``"+"`` or ``"−"``."""

    what: ClassVar[str] = "The sign agrees"

    @property
    def agreement(self):
        """Agreement of the signs; if our value is insignificant, it does not contradict."""
        if self.ours is None or self.ours.significant is None:
            return OPEN
        if ("+" if self.ours.mean > 0 else "−") == self.published:
            return SAME
        return OTHER if self.ours.significant else OPEN

    @property
    def within_error(self):
        """Undefined: no published error."""
        return None


def estimate_difference(a, b, *, scale=100, test=False):
    """Return the mean of the paired differences a - b with its standard error.

    Parameters
    ----------
    a, b : array-like of shape (n_samples,)
        Values of two methods on the same samples.
    scale : float
        Factor for the values; the papers print them times 100.
    test : bool
        Whether to add the p-value of Wilcoxon's one-sided signed-rank test.

    Returns
    -------
    estimate : Estimate

    Examples
    --------
    >>> estimate_difference([0.9, 0.8, 0.9], [0.8, 0.8, 0.7])
    Estimate(mean=10.0, error=5.77..., p=None, n=3, other=None)
    """
    values = scale * (np.asarray(a, dtype=float) - np.asarray(b, dtype=float))
    n, mean = len(values), float(values.mean())
    error = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else None
    p = signed_rank_p(values) if test else None
    return Estimate(round(mean, 10), error, p, n)


def signed_rank_p(values):
    """Return the one-sided p-value of Wilcoxon's test in the direction of the mean.

    It is exact for up to 50 values without ties. With ties, the normal approximation is used,
    because all permutations would take minutes for a table.
    """
    if not np.any(values):
        return 1.0
    sizes = np.abs(values)
    exact = len(values) <= 50 and sizes.all() and len(np.unique(sizes)) == len(sizes)
    side = "greater" if values.mean() > 0 else "less"
    method = "exact" if exact else "approx"
    return float(wilcoxon(values, alternative=side, method=method).pvalue)


def read_published(text, columns):
    """Parse a table that was typed in from a paper.

    Parameters
    ----------
    text : str
        A line for each data set: its name, then one field per column, ``mean±error``, or ``-``;
        ``a|b±error`` where two copies of the paper disagree. A column named ``p`` contains the
        p-value of the field before it.
    columns : list of str
        Names of the columns.

    Returns
    -------
    table : dict
        ``table[dataset][column]`` is an :class:`Estimate` or None.
    """
    table = {}
    for line in text.strip().splitlines():
        name, *fields = line.split()
        if len(fields) != len(columns):
            raise ValueError(f"{name} has {len(fields)} fields instead of {len(columns)}.")
        row = {}
        for column, field in zip(columns, fields, strict=True):
            if column == "p":
                before = next(reversed(row))
                row[before] = Estimate(row[before].mean, row[before].error, float(field))
            else:
                row[column] = _read_field(field)
        table[name] = row
    return table


def count_agreement(cells):
    """Count the marks of cells that have a published value.

    Returns
    -------
    counts : dict
        The number of each mark of :data:`MARKS`; ``total``; ``within_error``, None if no two means
        can be compared; and ``what``, a phrase that names what agrees.
    """
    judged = [cell for cell in cells if cell.published is not None]
    counts = Counter(cell.agreement for cell in judged)
    close = [cell.within_error for cell in judged if cell.within_error is not None]
    return {
        **{mark: counts[mark] for mark in MARKS},
        "within_error": sum(close) if close else None,
        "total": len(judged),
        "what": judged[0].what if judged else Cell.what,
    }


def count_signs(cells):
    """Return how many of our values are significantly above zero, below it, and neither."""
    sure = [cell.ours for cell in cells if cell.ours.significant]
    up = sum(estimate.mean > 0 for estimate in sure)
    return up, len(sure) - up, len(cells) - len(sure)


def _limit(n):
    """Return the half-width of a 95% interval in standard errors; an unknown n counts as 100."""
    return float(t.ppf(0.975, (n or 100) - 1))


def _read_field(field):
    if field == "-":
        return None
    means, _, error = field.partition("±")
    mean, _, other = means.partition("|")
    if not all(re.fullmatch(r"-?\d+\.?\d*", number) for number in (mean, other or mean)):
        raise ValueError(f"{field!r} is not a number with its error.")
    return Estimate(float(mean), float(error) if error else None,
                    other=float(other) if other else None)  # fmt: skip
