"""Exact ratio of two kernel sums for kernels of finite reach, from prefix sums of moments.

A kernel is c0 + c1 |u| + c2 u² for |u| <= 1, with u the distance divided by the reach.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy import float64, int64

from keeptree._compiled.declare import In, Out, entry, inner

# Up to this number, cases are added one by one. The error of a difference of two prefix sums is
# relative to the sums, which is too large if the few cases in reach have almost no weight.
FEW = 64


class Tables(NamedTuple):
    """Cases of many curves; see `keeptree.probability.density_window.WindowTables`."""

    start: In(int64, 1)
    h: In(float64, 1)
    mass: In(float64, 2)
    anchor: In(int64, 1)
    moments: In(float64, 2)
    reach: In(float64, 1)
    coefficient: In(float64, 1)


@entry
def sum_moments(
    h: In(float64, 1),
    mass: In(float64, 2),
    reach: float,
    anchor: Out(int64, 1),
    moments: Out(float64, 2),
):
    """Fill the prefix sums of the moments 0, 1, 2 of both masses, restarted after every reach.

    The origin of each stretch is its first case (``anchor``), which keeps the sums small.
    """
    for i in range(len(h)):
        anchor[i] = anchor[i - 1] if i > 0 and h[i] - h[anchor[i - 1]] <= reach else i
        u = (h[i] - h[anchor[i]]) / reach
        for k in range(2):
            before = i > anchor[i]
            moments[i, k] = mass[i, k] + (moments[i - 1, k] if before else 0.0)
            moments[i, 2 + k] = mass[i, k] * u + (moments[i - 1, 2 + k] if before else 0.0)
            moments[i, 4 + k] = mass[i, k] * u * u + (moments[i - 1, 4 + k] if before else 0.0)


@inner
def _find_first(h, low, high, centre, reach):
    """Return the first case of low..high-1 with centre - h <= reach; rounding is monotone."""
    while low < high:
        probe = (low + high) // 2
        if centre - h[probe] <= reach:
            high = probe
        else:
            low = probe + 1
    return low


@inner
def _find_end(h, low, high, centre, reach):
    """Return the first case of low..high-1 with h - centre > reach."""
    while low < high:
        probe = (low + high) // 2
        if h[probe] - centre > reach:
            high = probe
        else:
            low = probe + 1
    return low


@inner
def _sum_range(centre, start, end, sign, h, anchor, moments, reach, c, k):
    """Sum mass x kernel over the cases start..end-1, all on one side of the centre."""
    total = 0.0
    while end > start:
        a = anchor[end - 1]
        begin = max(a, start)
        m0, m1, m2 = moments[end - 1, k], moments[end - 1, 2 + k], moments[end - 1, 4 + k]
        if begin > a:
            m0 -= moments[begin - 1, k]
            m1 -= moments[begin - 1, 2 + k]
            m2 -= moments[begin - 1, 4 + k]
        z = (centre - h[a]) / reach
        total += c[0] * m0 + c[1] * sign * (z * m0 - m1) + c[2] * (z * z * m0 - 2 * z * m1 + m2)
        end = begin
    return total


@inner
def _sum_few(centre, start, end, skipped, h, mass, reach, c):
    part = total = 0.0
    for i in range(start, end):
        if i != skipped:
            u = abs(centre - h[i]) / reach
            value = c[0] + c[1] * u + c[2] * u * u
            total += mass[i, 0] * value
            part += mass[i, 1] * value
    return part, total


@inner
def weigh_window(centre, low, high, tables, reach):
    """Return the class share at the centre from the cases low..high-1, or from the nearest one."""
    _, h, mass, anchor, moments, _, c = tables
    start = _find_first(h, low, high, centre, reach)
    end = _find_end(h, start, high, centre, reach)
    if end - start <= FEW:
        part, total = _sum_few(centre, start, end, -1, h, mass, reach, c)
    else:
        middle = _find_first(h, start, end, centre, 0.0)
        total = _sum_range(centre, start, middle, 1.0, h, anchor, moments, reach, c, 0)
        total += _sum_range(centre, middle, end, -1.0, h, anchor, moments, reach, c, 0)
        part = _sum_range(centre, start, middle, 1.0, h, anchor, moments, reach, c, 1)
        part += _sum_range(centre, middle, end, -1.0, h, anchor, moments, reach, c, 1)
    if total <= 0.0:
        after = _find_first(h, low, high, centre, 0.0)
        part = total = 0.0
        if after == low or (after < high and h[after] - centre <= centre - h[after - 1]):
            part, total = mass[after, 1], mass[after, 0]
        if after == high or (after > low and centre - h[after - 1] <= h[after] - centre):
            part, total = part + mass[after - 1, 1], total + mass[after - 1, 0]
    return min(max(part / total, 0.0), 1.0)


@entry
def weigh_window_rows(
    curve: In(int64, 1),
    h_row: In(float64, 1),
    tables: Tables,
    out: Out(float64, 1),
):
    """Fill the share of each row from its curve; NaN stays NaN."""
    start, reach = tables.start, tables.reach
    for row in range(len(h_row)):
        k = curve[row]
        if math.isnan(h_row[row]):
            out[row] = math.nan
            continue
        low, high = start[k], start[k + 1]
        out[row] = weigh_window(h_row[row], low, high, tables, reach[k])


@entry
def leave_out_window(
    h: In(float64, 1),
    mass: In(float64, 2),
    reach: float,
    c: In(float64, 1),
    out: Out(float64, 1),
):
    """Fill the leave-one-out share of each sorted case; that of the nearest if none is in reach."""
    nearest_kernel = np.array([1.0, 0.0, 0.0])
    n = len(h)
    for i in range(n):
        start, end = _find_first(h, 0, n, h[i], reach), _find_end(h, 0, n, h[i], reach)
        part, total = _sum_few(h[i], start, end, i, h, mass, reach, c)
        if total <= 0.0:
            before = h[i] - h[i - 1] if i > 0 else math.inf
            distance = min(before, h[i + 1] - h[i] if i + 1 < n else math.inf)
            start, end = _find_first(h, 0, n, h[i], distance), _find_end(h, 0, n, h[i], distance)
            part, total = _sum_few(h[i], start, end, i, h, mass, 1.0, nearest_kernel)
        out[i] = min(max(part / total, 0.0), 1.0)
