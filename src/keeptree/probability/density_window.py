"""Ratios of sums of kernels with finite support, exact by prefix sums."""

from dataclasses import dataclass

import numpy as np

from keeptree._compiled import window
from keeptree.probability.density_gaussian import check_curves
from keeptree.savable import expect, expect_array, expect_codes, expect_starts, saved_part

# Kernels of the form c0 + c1 |u| + c2 u² for |u| <= 1. The bandwidth is the half width.
WINDOWS = {
    "epanechnikov": np.array([1.0, 0.0, -1.0]),
    "triangular": np.array([1.0, -1.0, 0.0]),
    "uniform": np.array([1.0, 0.0, 0.0]),
}


@saved_part
@dataclass(frozen=True)
class WindowTables:
    """Exact curves of a kernel with finite support: the distinct sorted cases and prefix sums.

    Attributes
    ----------
    start : int64 ndarray of shape (n_curves + 1,)
        First case of each curve.
    h, mass : ndarrays of shape (n_cases,) and (n_cases, 2)
        Distances; weight and class weight.
    anchor, moments : ndarrays of shape (n_cases,) and (n_cases, 6)
        Origin and prefix sums of the segment that holds each case.
    reach : ndarray of shape (n_curves,)
        Half width of the kernel of each curve.
    coefficient : ndarray of shape (3,)
        Coefficients of 1, abs(u) and u² in the kernel.
    """

    start: np.ndarray
    h: np.ndarray
    mass: np.ndarray
    anchor: np.ndarray
    moments: np.ndarray
    reach: np.ndarray
    coefficient: np.ndarray

    def __post_init__(self):
        n = len(self.h)
        expect_array(self.h, "h", np.float64, (n,))
        expect_array(self.mass, "mass", np.float64, (n, 2))
        expect_array(self.moments, "moments", np.float64, (n, 6))
        expect_array(self.reach, "reach", np.float64, (None,))
        expect_array(self.coefficient, "coefficient", np.float64, (3,))
        expect_codes(self.anchor, "anchor", (n,), n)
        expect((self.anchor <= np.arange(n)).all(), "an anchor comes after its case")
        expect_starts(self.start, "start", n)
        some = len(self.start) == len(self.reach) + 1 and (np.diff(self.start) > 0).all()
        expect(some and (self.reach > 0).all(), "every curve must have cases and a reach")
        expect((self.mass[:, 0] > 0).all() and (self.mass >= 0).all(), "a case has no weight")

    @property
    def n_curves(self):
        """Number of curves."""
        return len(self.reach)

    def lookup(self, curve, h):
        """Return the share of the class at each h; see `KernelTables.lookup`."""
        curve, h = check_curves(curve, h, len(self.reach))
        out = np.empty(len(h))
        tables = window.Tables(*(getattr(self, name) for name in window.Tables._fields))
        window.weigh_window_rows(curve, h, tables, out)
        return out

    def classify(self, curve, h, estimated, prior, out):
        """Fill in class probabilities; see `KernelTables.classify`."""
        step = len(self.reach) // len(estimated)
        curve = np.broadcast_to(curve, len(h))
        out[:] = prior
        for j, c in enumerate(estimated):
            out[:, c] = self.lookup(curve + j * step, h[:, c])
        if len(prior) == 2:
            np.subtract(1, out[:, 0], out=out[:, 1])
        else:
            # The same steps as in `gaussian.classify_many`.
            out[:, estimated] += 1e-9 * prior[estimated]
            out /= out.sum(axis=1, keepdims=True)


def tabulate_window(curves, coefficient):
    """Return the tables of curves given as (h, in_class, weight, reach)."""
    start, reaches, columns = [0], [], []
    for h, in_class, weight, reach in curves:
        distinct, place = np.unique(h, return_inverse=True)
        mass = np.column_stack([np.bincount(place, w) for w in (weight, in_class)])
        anchor, moments = np.empty(len(distinct), np.int64), np.empty((len(distinct), 6))
        window.sum_moments(distinct, mass, reach, anchor, moments)
        columns.append((distinct, mass, anchor + start[-1], moments))
        start.append(start[-1] + len(distinct))
        reaches.append(reach)
    flat = (np.concatenate(column) for column in zip(*columns, strict=True))
    return WindowTables(np.array(start), *flat, np.array(reaches), coefficient)


def leave_out_window(h, in_class, weight, reach, coefficient):
    """Return the share of the class at each case, estimated from the other cases."""
    out = np.empty(len(h))
    window.leave_out_window(h, np.column_stack([weight, in_class]), reach, coefficient, out)
    return out
