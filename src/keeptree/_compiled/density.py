"""Ratio of two Gaussian sums over cases on a line: merge cases, tabulate the ratio, look it up.

A *run* represents cases so close together that merging them does not change the ratio noticeably.
It is a row (position; moments 0, 1, 2 of the weight; moments 0, 1, 2 of the class weight), with
moments about the position in units of the bandwidth.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy import float32, float64, int64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.elementary import log1p

# Maximum width of a run: inside the data, in bandwidths; behind the last case before a gap, as a
# share of the distance s from that case. At distance d across the gap, a case has weight exp(-s d /
# b²). Runs that still have weight there may be wide where s is large, but must be single cases
# where s is small. The share is small because a cluster of 1e5 cases behind a single last case has
# weight until s d / b² = 11.
RUN = 1 / 64
GRADING = 1 / 64
# Share of the weight that can be neglected.
NEGLIGIBLE = 1e-7
# Largest error of cubics through every other knot; those through all knots are 16 times better.
MISFIT = 5e-5
MOST_PIECES = 1 << 17


class Tables(NamedTuple):
    """Curves as cubic pieces; `probability.density_gaussian.KernelTables` describes the fields."""

    axis: In(float64, 2, "C")
    cell: In(int64, 1, "C")
    piece: In(int64, 1, "C")
    coefficient: In(float32, 2, "C")


@entry
def fill_buckets(
    h: In(float64, 1),
    in_class: In(float64, 1),
    weight: In(float64, 1),
    low: float,
    width: float,
    share: float,
    bucket: Out(int64, 1),
    sums: Out(float64, 2),
):
    """Fill the bucket of each case and add the case to the sums of its bucket.

    Buckets start at ``low`` and are ``width`` wide, a ``share`` of the bandwidth. A row of ``sums``
    is a run about the middle of its bucket, with the number of cases in place of the position.
    """
    for i in range(len(h)):
        place = (h[i] - low) / width
        b = int64(place)
        delta = (place - b - 0.5) * share
        first, second = weight[i] * delta, in_class[i] * delta
        bucket[i] = b
        sums[b, 0] += 1.0
        sums[b, 1] += weight[i]
        sums[b, 2] += first
        sums[b, 3] += first * delta
        sums[b, 4] += in_class[i]
        sums[b, 5] += second
        sums[b, 6] += second * delta


@entry
def merge_close(runs: Out(float64, 2), bandwidth: float, member: Out(int64, 1)):
    """Merge sorted runs in place; fill the run of each row and return the number of runs left."""
    kept, start, n = 0, 0, len(runs)
    while start < n:
        stop = start + 1
        while stop < n and runs[stop, 0] - runs[stop - 1, 0] <= bandwidth:
            stop += 1
        low, high = runs[start, 0], runs[stop - 1, 0]
        while start < stop:
            first, end = runs[start, 0], start + 1
            room = min(RUN * bandwidth, GRADING * (first - low))
            while end < stop and runs[end, 0] - first <= min(room, GRADING * (high - runs[end, 0])):
                end += 1
            _merge_rows(runs, start, end, kept, bandwidth)
            while start < end:
                member[start] = kept
                start += 1
            kept += 1
    return kept


@inner
def _merge_rows(runs, start, end, kept, bandwidth):
    """Write the sum of the rows start..end-1, with moments about the middle of their positions."""
    centre = 0.5 * runs[start, 0] + 0.5 * runs[end - 1, 0]
    for k in (1, 4):
        sum0 = sum1 = sum2 = 0.0
        for i in range(start, end):
            delta = (runs[i, 0] - centre) / bandwidth
            sum0 += runs[i, k]
            sum1 += runs[i, k + 1] + delta * runs[i, k]
            sum2 += runs[i, k + 2] + delta * (2 * runs[i, k + 1] + delta * runs[i, k])
        runs[kept, k], runs[kept, k + 1], runs[kept, k + 2] = sum0, sum1, sum2
    runs[kept, 0] = centre


@inner
def weigh_runs(h, runs, bandwidth, total):
    """Return the class share at h and its slope per bandwidth, by log-sum-exp from the nearest run.

    Exponents are differences of squares in factored form, so they keep their precision far outside
    the data, where the squares themselves are equal.
    """
    left, right = -1, len(runs)
    while right - left > 1:
        probe = (left + right) // 2
        if runs[probe, 0] < h:
            left = probe
        else:
            right = probe
    while left >= 0 and runs[left, 1] <= 0.0:
        left -= 1
    while right < len(runs) and runs[right, 1] <= 0.0:
        right += 1
    nearest = left
    if left < 0 or (right < len(runs) and runs[right, 0] - h < h - runs[left, 0]):
        nearest = right
    reference = runs[nearest, 0]
    cut = math.log(NEGLIGIBLE * runs[nearest, 1] / total)
    mass = part = mass_slope = part_slope = 0.0
    for way in (-1, 1):
        i = left if way < 0 else right
        while 0 <= i < len(runs):
            offset, z = (runs[i, 0] - reference) / bandwidth, (h - runs[i, 0]) / bandwidth
            exponent = offset * (z + 0.5 * offset)
            if exponent < cut:
                break
            factor, curve = math.exp(exponent), 0.5 * (z * z - 1.0)
            w = runs[i, 1] + z * runs[i, 2] + curve * runs[i, 3]
            a = runs[i, 4] + z * runs[i, 5] + curve * runs[i, 6]
            mass += factor * w
            part += factor * a
            mass_slope += factor * (offset * w + runs[i, 2] + z * runs[i, 3])
            part_slope += factor * (offset * a + runs[i, 5] + z * runs[i, 6])
            i += way
    share = part / mass
    return min(max(share, 0.0), 1.0), (part_slope - share * mass_slope) / mass


@entry
def tabulate_curve(
    runs: In(float64, 2, "C"),
    bandwidth: float,
    left: int,
    middle: int,
    right: int,
    first: Out(int64, 1),
):
    """Cut the axis into cells and each cell into as many cubic pieces as the curve needs.

    Fills the first piece of each cell (and the end) and returns the coefficients of the pieces,
    whose number depends on the curve. Cells are one bandwidth wide from the first case on; outside
    the data, each is wider than its inner neighbour by a factor of e.
    """
    total = 0.0
    for i in range(len(runs)):
        total += runs[i, 1]
    pieces = np.empty((8 * (len(first) - 1), 4), np.float32)
    edge = _weigh_cell(runs, bandwidth, total, 0.0, left, middle, right)
    first[0] = 0
    for cell in range(len(first) - 1):
        knots = _sample_cell(runs, bandwidth, total, cell, edge, left, middle, right)
        last, start = len(knots) - 1, first[cell]
        count = last if _varies(knots) else 1
        if start + count > len(pieces):
            pieces = _enlarge(pieces, 2 * (start + count))
        for i in range(count):
            rise = knots[i + 1, 0] - knots[i, 0]
            s0, s1 = knots[i, 1] / count, knots[i + 1, 1] / count
            pieces[start + i, 0] = knots[i, 0]
            pieces[start + i, 1] = s0
            pieces[start + i, 2] = 3 * rise - 2 * s0 - s1
            pieces[start + i, 3] = s0 + s1 - 2 * rise
        edge = knots[last, 0], knots[last, 1]
        first[cell + 1] = start + count
    return pieces


@inner
def _enlarge(rows, length):
    # Copied element by element, because numba takes seconds to compile a slice assignment.
    larger = np.empty((length, 4), np.float32)
    for i in range(len(rows)):
        for k in range(4):
            larger[i, k] = rows[i, k]
    return larger


@inner
def _sample_cell(runs, bandwidth, total, cell, edge, left, middle, right):
    """Sample shares and slopes (per cell) at equal steps; halve the step until the fit is good."""
    count, knots = 1, np.empty((2, 2))
    knots[0, 0], knots[0, 1] = edge
    knots[1, 0], knots[1, 1] = _weigh_cell(runs, bandwidth, total, cell + 1.0, left, middle, right)
    while count < 4 or (count < MOST_PIECES and _find_misfit(knots) > MISFIT):
        count *= 2
        coarse, knots = knots, np.empty((count + 1, 2))
        for i in range(0, count + 1, 2):
            knots[i, 0], knots[i, 1] = coarse[i // 2, 0], coarse[i // 2, 1]
        for i in range(1, count, 2):
            x = cell + i / count
            knots[i, 0], knots[i, 1] = _weigh_cell(runs, bandwidth, total, x, left, middle, right)
    return knots


@inner
def _varies(knots):
    for i in range(len(knots)):
        if abs(knots[i, 0] - knots[0, 0]) > NEGLIGIBLE or abs(knots[i, 1]) > NEGLIGIBLE:
            return True
    return False


@inner
def _weigh_cell(runs, bandwidth, total, x, left, middle, right):
    """Return share and slope at the cell coordinate x; the ends of the axis stand for infinity."""
    if x == 0.0:
        return runs[0, 4] / runs[0, 1], 0.0
    if x == left + middle + right:
        return runs[-1, 4] / runs[-1, 1], 0.0
    bandwidths, stretch = x - left, 1.0
    if x < left:
        bandwidths, stretch = -math.expm1(left - x), math.exp(left - x)
    elif x > left + middle:
        outside = x - left - middle
        bandwidths, stretch = middle + math.expm1(outside), math.exp(outside)
    share, slope = weigh_runs(runs[0, 0] + bandwidths * bandwidth, runs, bandwidth, total)
    return share, slope * stretch


@inner
def _find_misfit(knots):
    """Return the largest error of the cubics through every other knot, at the knots between.

    Slopes count too: if the curve has a step exactly at such a knot, the share there is correct by
    symmetry even though the fit is poor.
    """
    worst, width = 0.0, 2 / (len(knots) - 1)
    for i in range(1, len(knots), 2):
        s0, s, s1 = knots[i - 1, 1] * width, knots[i, 1] * width, knots[i + 1, 1] * width
        share = 0.5 * (knots[i - 1, 0] + knots[i + 1, 0]) + 0.125 * (s0 - s1)
        slope = 1.5 * (knots[i + 1, 0] - knots[i - 1, 0]) - 0.25 * (s0 + s1)
        worst = max(worst, abs(knots[i, 0] - share), 0.125 * abs(s - slope))
    return worst


@inner
def lookup_curve(h, curve, tables):
    """Return the share at h (not NaN) as in `probability.density_gaussian.KernelTables`."""
    axis, cell, piece, coefficient = tables
    x = (h - axis[curve, 0]) * axis[curve, 1]
    if x < 0.0:
        x = -log1p(-x)
    elif x > axis[curve, 3]:
        x = axis[curve, 3] + log1p(x - axis[curve, 3])
    x += axis[curve, 2]
    x = x if x > 0.0 else 0.0
    x = x if x < axis[curve, 4] else axis[curve, 4]
    i = cell[curve] + int(x)
    y = (x - int(x)) * (piece[i + 1] - piece[i])
    j = piece[i] + int(y)
    y -= int(y)
    p = coefficient[j, 2] + y * coefficient[j, 3]
    p = coefficient[j, 0] + y * (coefficient[j, 1] + y * p)
    p = p if p > 0.0 else 0.0
    return p if p < 1.0 else 1.0


@entry
def lookup_rows(
    curve: In(int64, 1, "C"), h: In(float64, 1, "C"), tables: Tables, out: Out(float64, 1)
):
    """Fill the share of each row from its curve; NaN stays NaN."""
    for row in range(len(h)):
        if math.isnan(h[row]):
            out[row] = math.nan
        else:
            out[row] = lookup_curve(h[row], curve[row], tables)


@inner(inline="always")
def _short_cut(axis, curve):
    """Return origin, scale, reach, pieces per cell and first piece of a curve's shortcut."""
    first = np.uint32(np.int32(axis[curve, 7]))
    return axis[curve, 0], axis[curve, 1], axis[curve, 5], axis[curve, 6], first


@inner
def fill_shares(curve, stride, offset, h, tables, out):
    """Fill the share of each row at h (not NaN) from the curve ``curve[row * stride] + offset``."""
    axis, coefficient = tables.axis, tables.coefficient
    k = curve[0] + offset
    origin, scale, reach, even, first = _short_cut(axis, k)
    for row in range(len(h)):
        if stride:
            k = curve[row] + offset
            origin, scale, reach, even, first = _short_cut(axis, k)
        x = (h[row] - origin) * scale
        if x >= 0.0 and x < reach:
            y = x * even
            j = np.uint32(np.int32(y))  # unsigned, to avoid a check for negative indices
            y -= j
            j += first
            p = coefficient[j, 2] + y * coefficient[j, 3]
            p = coefficient[j, 0] + y * (coefficient[j, 1] + y * p)
            p = p if p > 0.0 else 0.0
            p = p if p < 1.0 else 1.0
        else:
            p = lookup_curve(h[row], k, tables)
        out[row] = p


@entry
def classify_two(
    curve: In(int64, 1, "C"),
    stride: int,
    h: In(float32, 2, "C"),
    tables: Tables,
    out: Out(float64, 2),
):
    """Fill the probabilities of two classes; row i is on the curve ``curve[i * stride]``."""
    fill_shares(curve, stride, 0, h[:, 0], tables, out[:, 0])
    for row in range(len(out)):
        out[row, 1] = 1.0 - out[row, 0]


@entry
def classify_many(
    curve: In(int64, 1, "C"),
    stride: int,
    h: In(float32, 2, "C"),
    estimated: In(int64, 1, "C"),
    prior: In(float64, 1, "C"),
    tables: Tables,
    out: Out(float64, 2),
):
    """Fill class probabilities: one against the rest for estimated classes, else the prior.

    Row i uses the curve ``curve[i * stride]`` of each estimated class; the curves of the classes
    follow one another. A billionth of the prior keeps the result defined where every share is zero.
    """
    step = len(tables.axis) // len(estimated)
    added = prior.copy()
    for j in range(len(estimated)):
        added[estimated[j]] *= 1e-9
    out[:, :] = 0.0
    for j in range(len(estimated)):
        c = estimated[j]
        fill_shares(curve, stride, j * step, h[:, c], tables, out[:, c])
    for row in range(len(out)):
        total = 0.0
        for c in range(len(added)):
            out[row, c] += added[c]
            total += out[row, c]
        scale = 1.0 / total
        for c in range(len(added)):
            out[row, c] *= scale


@entry
def leave_out_gaussian(
    h: In(float64, 1),
    in_class: In(float64, 1),
    weight: In(float64, 1),
    runs: Out(float64, 2),
    member: In(int64, 1),
    bandwidth: float,
    out: Out(float64, 1),
):
    """Fill the leave-one-out share of each case: remove it from its run, weigh, add it again."""
    total = 0.0
    for i in range(len(runs)):
        total += runs[i, 1]
    saved = np.empty(7)
    for i in range(len(h)):
        run = member[i]
        power, delta = 1.0, (h[i] - runs[run, 0]) / bandwidth
        for k in range(1, 4):
            saved[k], saved[k + 3] = runs[run, k], runs[run, k + 3]
            runs[run, k] -= weight[i] * power
            runs[run, k + 3] -= in_class[i] * power
            power *= delta
        out[i] = weigh_runs(h[i], runs, bandwidth, total)[0]
        for k in range(1, 7):
            runs[run, k] = saved[k]
