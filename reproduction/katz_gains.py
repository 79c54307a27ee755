"""Gains over C4.5 in Katz et al. (2012), and when they agree with the published ones."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reproduction.agreement import OPEN, OTHER, SAME, WEAKER, Cell, Estimate
from reproduction.katz import CODINGS
from reproduction.tables import number

CLOSE_GAIN, CLOSE_SHARE = 1.5, 6.0  # points; the paper gives no errors
LEAST = 0.25  # a gain below this many % is none


@dataclass(frozen=True)
class CloseCell(Cell):
    """A value without an error: close to the published one, of the same sign, or of the other."""

    what: ClassVar[str] = f"The gain is within {CLOSE_GAIN} points of the published one"
    close: float = CLOSE_GAIN

    @property
    def agreement(self):
        """Same: close. Weaker: the same direction. Other: the other one."""
        if self.published is None:
            return None
        if self.ours is None:
            return OPEN
        ours, theirs = self.ours.mean, self.published.mean
        if abs(ours - theirs) <= self.close:
            return SAME
        return WEAKER if direction(ours) == direction(theirs) else OTHER

    @property
    def within_error(self):
        """Undefined: no published error."""
        return None


@dataclass(frozen=True)
class ShareCell(CloseCell):
    """A share of the cases in %."""

    what: ClassVar[str] = f"The share is within {CLOSE_SHARE:g} points of the published one"
    close: float = CLOSE_SHARE


@dataclass(frozen=True)
class PValueCell(Cell):
    """The p-value of a test over the data sets, with the mean gain tested."""

    what: ClassVar[str] = "Significance at 0.05 agrees"

    @property
    def agreement(self):
        """Whether both or neither are significant; a significant loss is the other sign."""
        if self.ours is None:
            return OPEN
        sure = self.ours.p < 0.05
        if sure and self.ours.mean < 0:
            return OTHER
        return SAME if sure == (self.published.p < 0.05) else WEAKER

    @property
    def within_error(self):
        """Undefined: no published error."""
        return None

    def to_text(self):
        """Both p-values with the paper's three digits."""
        ours = "not available here" if self.ours is None else f"p {self.ours.p:.3f}"
        return f"{ours} (p {self.published.p:.3f})"


@dataclass(frozen=True)
class MeanCell(Cell):
    """A mean beside the published one, to be read, not judged."""

    shown: float = 0.0

    def to_text(self):
        """Ours (published)."""
        ours = "not available here" if self.ours is None else number(self.ours.mean)
        return f"{ours} ({number(self.shown)})"


def gain(results, name, method, area, tree="folds"):
    """Relative gain in AUC over C4.5 in %, mean over the samples, or None.

    Where all cases tie (one leaf) and ties count 0, so is the AUC: nothing is relative to that.
    """
    ours, base = (results.values(name, tree, m, area) for m in (method, "C4.5"))
    some = base > 0
    return estimate(100 * (ours[some] / base[some] - 1))


def list_names(results, *, missing=False):
    """Data sets with results, and, if wanted, those that are not available."""
    wanted = [*results.datasets, *(results.unavailable if missing else ())]
    return [name for name in CODINGS if name in wanted]


def direction(value):
    """Sign of a gain, 0 for one that is none."""
    return 0 if abs(value) < LEAST else int(np.sign(value))


def estimate(values):
    """Mean over repetitions with its standard error; None without values."""
    n = len(values)
    if n == 0:
        return None
    error = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else None
    return Estimate(float(values.mean()), error, n=n)
