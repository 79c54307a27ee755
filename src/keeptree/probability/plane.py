"""Kernel estimates on the distance to the boundary and the position along it.

The second feature of the distance kernel (outlook of Alvarez, Bernard and Deffuant 2007) is s_c:
the position of the projection p(x) on the boundary, along the direction in which class c differs
most from the others there. Together with the distance h_c it spans a plane, on which the kernel
estimate is computed.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keeptree._compiled import plane as compiled
from keeptree.savable import (
    expect,
    expect_array,
    expect_codes,
    expect_probabilities,
    expect_starts,
    saved_part,
)

RIDGE = 0.1  # ridge of the discriminant, as a share of the mean variance
MOST_CASES = 4096  # maximum number of cases on a plane; nearby cases are merged to reach it
CELL = 1 / 8  # initial side, in bandwidths, of the squares in which cases are merged
# Rows farther than this many bandwidths from all cases are treated as if they were this far.
REACH = 1e4
MOST_LEFT_OUT = 2000  # maximum number of cases of a plane that are used to choose a bandwidth
_FAR = 1e18


@dataclass(frozen=True)
class Projector:
    """Coordinates of projections on the boundary, in the metric, for the tested numeric columns."""

    boundary: object
    columns: np.ndarray

    @classmethod
    def of(cls, boundary):
        """Return the projector of a fitted boundary."""
        tree = boundary.tree_
        numeric = [f for f in tree.tested.tolist() if tree.categories[f] is None]
        return cls(boundary, np.array(numeric, dtype=np.int64))

    def places(self, X):
        """Return the coordinates of the projections of encoded rows; NaN where missing."""
        metric, columns = self.boundary.metric_, self.columns
        point = self.boundary.nearest_encoded(X).point[:, columns]
        with np.errstate(over="ignore", invalid="ignore"):
            place = (point - metric.center_[columns]) * metric.factor_[columns]
        return np.minimum(np.maximum(place, -_FAR), _FAR)  # np.clip, but fast for single rows


@saved_part
@dataclass(frozen=True, eq=False)
class KernelPlanes:
    """Many planes of training cases, in units of the bandwidth, with their directions.

    Attributes
    ----------
    mean, direction : ndarrays of shape (n_planes, n_columns)
        The position of a projection is its difference from the mean along the direction (of length
        1, or 0 where nothing separates the classes).
    scale : ndarray of shape (n_planes, 2)
        Inverse bandwidths of distance and position.
    start : int64 ndarray of shape (n_planes + 1,)
        First case of each plane.
    place, mass : ndarrays of shape (n_cases, 2)
        Distance and position in bandwidths; weight and weight in the class.
    estimated : int64 ndarray
        Classes with planes, one after the other; with two classes, only the first.
    group : int64 ndarray of shape (n_nodes + 1,)
        Plane, counted within a class, of the group of cases that a node defines; 0 has all cases.
    prior : ndarray of shape (n_classes,)
        Class shares of the training sample.
    """

    mean: np.ndarray
    direction: np.ndarray
    scale: np.ndarray
    start: np.ndarray
    place: np.ndarray
    mass: np.ndarray
    estimated: np.ndarray
    group: np.ndarray
    prior: np.ndarray

    def check(self, tree, columns):
        """Raise a ValueError if the content of a file does not fit the tree."""
        n_classes, n, n_planes = len(tree.classes), len(self.place), len(self.scale)
        expect_probabilities(np.atleast_2d(self.prior), "prior", (1, n_classes))
        expect_codes(self.estimated, "estimated", (None,), n_classes)
        expect(len(np.unique(self.estimated)) == len(self.estimated) > 0, "classes repeat")
        expect(n_classes != 2 or self.estimated.tolist() == [0], "two classes share one plane")
        for name in ("mean", "direction"):
            expect_array(getattr(self, name), name, np.float64, (n_planes, len(columns)))
        for name, shape in (("scale", (n_planes, 2)), ("place", (n, 2)), ("mass", (n, 2))):
            expect_array(getattr(self, name), name, np.float64, shape)
        expect_starts(self.start, "start", n)
        some = len(self.start) == n_planes + 1 and (np.diff(self.start) > 0).all()
        expect(some and (self.scale > 0).all(), "every plane must have cases and a bandwidth")
        fits = (self.mass[:, 0] > 0).all() and (self.mass[:, 1] >= 0).all()
        expect(fits and (self.mass[:, 1] <= self.mass[:, 0]).all(), "a case has no weight")
        expect(n_planes % len(self.estimated) == 0, "every class must have equally many planes")
        expect_codes(self.group, "group", (tree.n_nodes + 1,), n_planes // len(self.estimated))

    def classify(self, h, places, node, out):
        """Fill in class probabilities.

        Parameters
        ----------
        h : ndarray of shape (n, n_classes), or (n, 1) for two classes
            Algebraic distances.
        places : ndarray of shape (n, n_columns)
            Coordinates of the projections; see :class:`Projector`.
        node : int64 ndarray of shape (n,) or None
            Nodes of the groups; None for all cases.
        out : ndarray of shape (n, n_classes)
            Filled with rows that sum to one.
        """
        group = np.zeros(len(h), dtype=np.int64) if node is None else self.group[node]
        step = len(self.scale) // len(self.estimated)
        out[:] = self.prior
        for j, c in enumerate(self.estimated):
            share, own = np.empty(len(h)), h[:, c].astype(np.float64)
            compiled.look_up(group + j * step, own, places, self._axes, self._arrays, share)
            out[:, c] = share
        if len(self.prior) == 2:
            np.subtract(1, out[:, 0], out=out[:, 1])
        else:
            out[:, self.estimated] += 1e-9 * self.prior[self.estimated]
            out /= out.sum(axis=1, keepdims=True)

    @cached_property
    def _axes(self):
        low = np.minimum.reduceat(self.place, self.start[:-1])
        high = np.maximum.reduceat(self.place, self.start[:-1])
        return compiled.Axes(self.mean, self.direction, self.scale, low - REACH, high + REACH)

    @cached_property
    def _arrays(self):
        return compiled.Planes(self.start, self.place, self.mass)


def fit_planes(h, places, in_class, weight, groups, fractions, unit):
    """Fit the planes of the estimated classes, class after class.

    Parameters
    ----------
    h : ndarray of shape (n, n_estimated)
        Finite distances to the boundary of each estimated class.
    places : ndarray of shape (n, n_columns)
        Coordinates of the projections.
    in_class : ndarray of shape (n, n_estimated)
        Weight of each case if it belongs to the class, else 0.
    weight : ndarray of shape (n,)
        Positive weights.
    groups : list of ndarray
        Cases of each plane. The first plane has all of them and helps to choose the bandwidth only
        if there is no other.
    fractions : sequence of float
        Bandwidths, in units, of which leave-one-out log-loss chooses one; a single one is used as
        it is.
    unit : {"range", "distance"}
        Unit of bandwidths: the range of each feature, or the unit of the metric.

    Returns
    -------
    fields : dict
        Fields of :class:`KernelPlanes`, up to ``mass``.
    width : ndarray of shape (n_estimated,)
        Bandwidth of each distance.
    """
    planes, widths = [], []
    for own_h, own in zip(h.T, in_class.T, strict=True):
        spread = _range(own_h) if unit == "range" else 1.0
        raw = [_plane(own_h, places, own, weight, cases, spread, unit) for cases in groups]
        fraction = fractions[0]
        if len(fractions) > 1:
            fraction = _best(fractions, raw[1:] or raw)
        planes += [plane.merged(fraction) for plane in raw]
        widths.append(fraction * spread)
    start = np.concatenate([[0], np.cumsum([len(plane.place) for plane in planes])])
    fields = {
        "mean": np.stack([plane.mean for plane in planes]),
        "direction": np.stack([plane.direction for plane in planes]),
        "scale": np.stack([plane.scale for plane in planes]),
        "start": start.astype(np.int64),
        "place": np.concatenate([plane.place for plane in planes]),
        "mass": np.concatenate([plane.mass for plane in planes]),
    }
    return fields, np.array(widths)


@dataclass(frozen=True)
class _Plane:
    """One plane, whose coordinates are in units until a bandwidth is chosen."""

    mean: np.ndarray
    direction: np.ndarray
    scale: np.ndarray
    place: np.ndarray
    mass: np.ndarray

    def merged(self, fraction):
        """Return the plane in units of this bandwidth, with cases merged to the maximum number."""
        place, mass = _merge(self.place / fraction, self.mass)
        return _Plane(self.mean, self.direction, self.scale / fraction, place, mass)


def _plane(h, places, in_class, weight, cases, spread, unit):
    mean, direction = find_direction(places[cases], in_class[cases], weight[cases])
    position = along(places[cases], mean, direction)
    scale = 1 / np.array([spread, _range(position) if unit == "range" else 1.0])
    place = np.column_stack([h[cases], position]) * scale
    return _Plane(mean, direction, scale, place, np.column_stack([weight, in_class])[cases])


def find_direction(places, in_class, weight):
    """Return the mean of places, and the direction in which the class differs most there.

    This is Fisher's linear discriminant with a ridge. Missing coordinates are replaced by the mean.

    Examples
    --------
    >>> places = np.array([[0.0, 5.0], [1.0, 4.0], [2.0, 4.0], [3.0, 5.0]])
    >>> mean, direction = find_direction(places, np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4))
    >>> mean, direction.round(6)
    (array([1.5, 4.5]), array([1., 0.]))
    """
    known = ~np.isnan(places) * weight[:, None]
    total = known.sum(axis=0)
    mean = np.nansum(places * weight[:, None], axis=0) / np.where(total > 0, total, 1.0)
    away = np.nan_to_num(places - mean)
    share = in_class / weight
    pull = away.T @ (weight * (share - np.average(share, weights=weight))) / weight.sum()
    spread = (away * weight[:, None]).T @ away / weight.sum()
    ridge = RIDGE * np.trace(spread) / max(len(spread), 1)
    if not (np.isfinite(spread).all() and ridge > 0 and np.abs(pull).max() > 0):
        return mean, np.zeros(len(mean))
    direction = np.linalg.solve(spread + ridge * np.eye(len(spread)), pull)
    length = np.sqrt((direction**2).sum())
    return mean, direction / length if np.isfinite(length) and length > 0 else 0 * direction


def along(places, mean, direction):
    """Return the position of each place along a direction.

    Missing coordinates add nothing. The sum runs column by column, so that every processor gets the
    same result.
    """
    parts = (places - mean) * direction
    parts[np.isnan(parts)] = 0.0
    return np.cumsum(parts, axis=1)[:, -1] if parts.size else np.zeros(len(places))


def _range(values):
    return float(np.ptp(values)) or 1.0


def _merge(place, mass):
    """Merge the cases of each square cell at their mean until there are few enough."""
    size = CELL
    found, cases = place, mass
    while len(found) > MOST_CASES:
        cell = np.floor((place - place.min(axis=0)) / size).astype(np.int64)
        _, member = np.unique(cell, axis=0, return_inverse=True)
        cases = np.column_stack([np.bincount(member, column) for column in mass.T])
        sums = [np.bincount(member, mass[:, 0] * column) for column in place.T]
        found = np.column_stack(sums) / cases[:, :1]
        size *= 1.25
    return found, np.minimum(cases, cases[:, :1])


def _best(fractions, planes):
    """Return the fraction with the lowest log-loss; ties go to the first."""
    losses = [sum(_loss(plane, fraction) for plane in planes) for fraction in fractions]
    return fractions[int(np.argmin(losses))]


def _loss(plane, fraction):
    """Return the leave-one-out log-loss of the cases of a plane, or of a part of them."""
    n = len(plane.place)
    if n < 2:
        return 0.0
    taken = np.linspace(0, n - 1, min(n, MOST_LEFT_OUT)).astype(int)
    taken = np.argsort(plane.place[:, 0], kind="stable")[taken]
    mass = np.ascontiguousarray(plane.mass[taken])
    place = np.ascontiguousarray(plane.place[taken] / fraction)
    share = np.empty(len(taken))
    compiled.leave_out(compiled.Planes(np.array([0, len(taken)]), place, mass), share)
    share = np.clip(share, 1e-6, 1 - 1e-6)
    loss = -mass[:, 1] @ np.log(share) - (mass[:, 0] - mass[:, 1]) @ np.log1p(-share)
    return loss * n / len(taken)
