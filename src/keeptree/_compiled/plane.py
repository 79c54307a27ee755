"""Ratio of two Gaussian kernel sums in two dimensions."""

import math
from typing import NamedTuple

from numpy import float64, int64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.elementary import exp

NOT_COUNTED = -80.0  # terms with smaller exponents vanish in a double beside 1


class Planes(NamedTuple):
    """Cases of many planes, in bandwidths; `keeptree.probability.plane.KernelPlanes` explains."""

    start: In(int64, 1, "C")
    place: In(float64, 2, "C")
    mass: In(float64, 2, "C")


@inner
def share_at(x, y, first, end, left_out, planes):
    """Return the class share at (x, y) among the cases first to end - 1, without ``left_out``.

    Squared distances are relative to that of the nearest case, which therefore decides where every
    term would vanish by itself. NaN if there is no case.
    """
    place, mass = planes.place, planes.mass
    least = math.inf
    for i in range(first, end):
        u, v = x - place[i, 0], y - place[i, 1]
        squared = u * u + v * v
        if squared < least and i != left_out:
            least = squared
    total, own = 0.0, 0.0
    for i in range(first, end):
        u, v = x - place[i, 0], y - place[i, 1]
        exponent = 0.5 * (least - (u * u + v * v))
        if exponent > NOT_COUNTED and i != left_out:
            near = exp(exponent)
            total += mass[i, 0] * near
            own += mass[i, 1] * near
    return min(own / total, 1.0) if total > 0.0 else math.nan


@entry
def look_up(plane: In(int64, 1), at: In(float64, 2), planes: Planes, out: Out(float64, 1)):
    """Fill the class share of each row at its position in its plane."""
    for row in range(len(out)):
        k = plane[row]
        out[row] = share_at(
            at[row, 0], at[row, 1], planes.start[k], planes.start[k + 1], int64(-1), planes
        )


@entry
def leave_out(planes: Planes, out: Out(float64, 1)):
    """Fill the class share at each case, estimated from the other cases of its plane."""
    for k in range(len(planes.start) - 1):
        first, end = planes.start[k], planes.start[k + 1]
        for i in range(first, end):
            out[i] = share_at(planes.place[i, 0], planes.place[i, 1], first, end, i, planes)
