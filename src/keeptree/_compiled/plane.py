"""Ratio of two Gaussian kernel sums in two dimensions."""

import math
from typing import NamedTuple

import numpy as np
from numpy import float64, int64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.elementary import exp

NOT_COUNTED = -80.0  # terms with smaller exponents are lost when added to 1
LANES = 64  # terms that are computed together, then added one by one


class Planes(NamedTuple):
    """Cases of many planes, in bandwidths; see `keeptree.probability.plane.KernelPlanes`."""

    start: In(int64, 1, "C")
    place: In(float64, 2, "C")
    mass: In(float64, 2, "C")


class Axes(NamedTuple):
    """Projection of rows onto each plane: mean and direction, 1 / bandwidths, and limits."""

    mean: In(float64, 2, "C")
    direction: In(float64, 2, "C")
    scale: In(float64, 2, "C")
    low: In(float64, 2, "C")
    high: In(float64, 2, "C")


@inner
def share_at(x, y, first, end, left_out, planes, term):
    """Return the class share at (x, y) among the cases first to end - 1, without ``left_out``.

    Squared distances are relative to that of the nearest case, so the nearest case decides where
    all terms would otherwise vanish. The result is NaN if there is no case. ``term`` has space for
    LANES terms.
    """
    place, mass = planes.place, planes.mass
    least = math.inf
    for i in range(first, end):
        u, v = x - place[i, 0], y - place[i, 1]
        squared = u * u + v * v
        if squared < least and i != left_out:
            least = squared
    total, own = 0.0, 0.0
    for start in range(first, end, LANES):  # separate loops, to be vectorised
        n = min(LANES, end - start)
        at, weight = place[start : start + n], mass[start : start + n]
        for j in range(n):
            u, v = x - at[j, 0], y - at[j, 1]
            exponent = 0.5 * (least - (u * u + v * v))
            term[j] = exponent if exponent > NOT_COUNTED else -math.inf
        for j in range(n):
            term[j] = exp(term[j])
        if start <= left_out < start + n:
            term[left_out - start] = 0.0
        for j in range(n):
            total += weight[j, 0] * term[j]
            own += weight[j, 1] * term[j]
    return min(own / total, 1.0) if total > 0.0 else math.nan


@entry
def look_up(
    plane: In(int64, 1),
    h: In(float64, 1),
    places: In(float64, 2),
    axes: Axes,
    planes: Planes,
    out: Out(float64, 1),
):
    """Fill the class share of each row, given its plane, distance and projection.

    Missing coordinates of the projection add nothing to the position.
    """
    mean, direction, scale, low, high = axes
    term = np.empty(LANES)
    for row in range(len(out)):
        k, position = plane[row], 0.0
        for c in range(places.shape[1]):
            part = (places[row, c] - mean[k, c]) * direction[k, c]
            if part == part:
                position += part
        x = min(max(h[row] * scale[k, 0], low[k, 0]), high[k, 0])
        y = min(max(position * scale[k, 1], low[k, 1]), high[k, 1])
        first, end = planes.start[k], planes.start[k + 1]
        out[row] = share_at(x, y, first, end, int64(-1), planes, term)


@entry
def leave_out(planes: Planes, out: Out(float64, 1)):
    """Fill the class share at each case, estimated from the other cases of its plane."""
    term = np.empty(LANES)
    for k in range(len(planes.start) - 1):
        first, end = planes.start[k], planes.start[k + 1]
        for i in range(first, end):
            out[i] = share_at(planes.place[i, 0], planes.place[i, 1], first, end, i, planes, term)
