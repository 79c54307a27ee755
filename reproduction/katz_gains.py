"""Gains over C4.5 for Katz et al. (2012), and their agreement with the published ones."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reproduction.agreement import OPEN, OTHER, SAME, WEAKER, Cell, Estimate
from reproduction.katz import CODINGS
from reproduction.tables import number

# Values within this many percentage points are close; the paper gives no errors.
CLOSE_GAIN, CLOSE_SHARE = 1.5, 6.0
LEAST = 0.25  # smaller gains, in %, count as none


@dataclass(frozen=True)
class CloseCell(Cell):
    """A value whose published counterpart has no error; judged by closeness, then by sign."""

    what: ClassVar[str] = f"The gain is within {CLOSE_GAIN} points of the published one"
    close: float = CLOSE_GAIN

    @property
    def agreement(self):
        """SAME if close, WEAKER if in the same direction, OTHER if in the other direction."""
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
    """A share of the cases, in %."""

    what: ClassVar[str] = f"The share is within {CLOSE_SHARE:g} points of the published one"
    close: float = CLOSE_SHARE


@dataclass(frozen=True)
class PValueCell(Cell):
    """The p-value of a test over the data sets, and the mean gain that was tested."""

    what: ClassVar[str] = "Significance at 0.05 agrees"

    @property
    def agreement(self):
        """Whether both or neither are significant; a significant loss counts as the other sign."""
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
        """Return both p-values with the three digits of the paper."""
        ours = "not available here" if self.ours is None else f"p {self.ours.p:.3f}"
        return f"{ours} (p {self.published.p:.3f})"


@dataclass(frozen=True)
class MeanCell(Cell):
    """A mean that is shown beside the published one but not judged."""

    shown: float = 0.0

    def to_text(self):
        """Return our value, and the published one in brackets."""
        ours = "not available here" if self.ours is None else number(self.ours.mean)
        return f"{ours} ({number(self.shown)})"


def gain(results, name, method, area, tree="folds"):
    """Return the mean relative gain in AUC over C4.5 in %, or None.

    If all cases tie (one leaf) and ties count 0, the AUC is 0, and the relative gain is undefined.
    """
    ours, base = (results.values(name, tree, m, area) for m in (method, "C4.5"))
    some = base > 0
    return estimate(100 * (ours[some] / base[some] - 1))


def list_names(results, *, missing=False):
    """Return the data sets with results and, with ``missing``, those that are not available."""
    wanted = [*results.datasets, *(results.unavailable if missing else ())]
    return [name for name in CODINGS if name in wanted]


def direction(value):
    """Return the sign of a gain; 0 if the gain counts as none."""
    return 0 if abs(value) < LEAST else int(np.sign(value))


def estimate(values):
    """Return the mean over repetitions with its standard error; None without values."""
    n = len(values)
    if n == 0:
        return None
    error = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else None
    return Estimate(float(values.mean()), error, n=n)
