"""Project rows on boxes: how far away the regions nearest to them are, and the points there.

A box is a run of entries (``keeptree.geometry.regions.Regions``): one for each column it bounds.
"""

import numpy as np
from numpy import float64, int64

from keeptree._compiled.declare import In, Out, entry, inlined, inner

LARGEST_MOVE = 1e150  # as in keeptree.geometry.program: its square is finite
LARGEST_SINGLE = 3.4028234663852886e38


@inlined
def _outside(flat, at, column_step, first, n, nodes, bounds, single):
    """How far a row lies outside a box: the sum of squares, the largest move, the first as large.

    NaN if a coordinate is nominal or missing. Which coordinates lie outside is different for every
    row, hence a loop without a branch.
    """
    total, largest, chosen = 0.0, -1.0, np.uint64(first)
    for e in range(np.uint64(first), np.uint64(first + n)):
        value = flat[np.uint64(at + nodes[0, e] * column_step)]
        if single:
            value = float64(np.float32(value))
        above, below = value - bounds[1, e], bounds[0, e] - value
        size = (above if above > below else below) * bounds[4, e]
        outside = 0.0 if size < 0.0 else size
        total += outside * outside
        larger = size > largest
        largest = size if larger else largest
        chosen = e if larger else chosen
    return total, largest, chosen


@inner
def _move(value, e, nodes, bounds, cost, category, test, fill, single):
    """Move of one coordinate into a box: size, and the test that asks for it.

    A negative size: it stays where it is. A missing value is given a place only if ``fill``.
    """
    table = nodes[3, e]
    if np.isnan(value):
        if not fill:
            return -1.0, int64(-1)
        if table >= 0:
            return 0.0, test[table + nodes[1, e]]
        return 0.0, nodes[2, e] if bounds[1, e] < np.inf else nodes[1, e]
    if table >= 0:
        code = table + int64(value)
        if category[code] == int64(value):
            return -1.0, int64(-1)
        return cost[code], test[code]
    if single:
        value = float64(np.float32(min(max(value, -LARGEST_SINGLE), LARGEST_SINGLE)))
    if value > bounds[1, e]:
        return min((value - bounds[1, e]) * bounds[4, e], LARGEST_MOVE), nodes[2, e]
    if value <= bounds[0, e]:
        return min((bounds[0, e] - value) * bounds[4, e], LARGEST_MOVE), nodes[1, e]
    return -1.0, int64(-1)


@inner
def _project_carefully(
    flat, at, column_step, first, n, nodes, bounds, cost, category, test, fill, single
):
    """``_project`` for a row with nominal, missing or huge values, or one that touches the box."""
    total, largest, separator = 0.0, -1.0, int64(-1)
    for e in range(first, first + n):
        value = flat[at + nodes[0, e] * column_step]
        size, node = _move(value, e, nodes, bounds, cost, category, test, fill, single)
        if size >= 0.0:
            total += size * size
            if size > largest:
                largest, separator = size, node
    return total, separator


@inlined
def _project(flat, at, column_step, first, n, nodes, bounds, single):
    """Project the row at ``at`` on the box of n entries from ``first``.

    Returns whether all of it is plain (else nothing is done), the squared distance and the
    separator: the binding test of the coordinate that moves most, the lowest of ties.
    """
    total, largest, e = _outside(flat, at, column_step, first, n, nodes, bounds, single)
    if not (total <= LARGEST_MOVE**2 and largest > 0.0):
        return False, 0.0, int64(-1)
    value = flat[at + nodes[0, e] * column_step]
    if single:
        value = float64(np.float32(value))
    side = 1 + int64(value > bounds[0, e])  # an index: a branch would be a toss-up
    return True, total, nodes[side, e]


@entry
def project_rows(
    flat: In(float64, 1, "C"),
    row_step: int,
    column_step: int,
    first: int,
    last: int,
    start: In(int64, 1, "C"),
    nodes: In(int64, 2, "C"),
    bounds: In(float64, 2, "C"),
    cost: In(float64, 1, "C"),
    category: In(int64, 1, "C"),
    test: In(int64, 1, "C"),
    fill: bool,
    single: bool,
    own: In(int64, 1, "C"),
    wanted: In(int64, 1, "C"),
    region: In(int64, 1, "C"),
    distance: Out(float64, 1),
    separator: Out(int64, 1),
):
    """Fill the distances of the rows first to last to their regions, and the separators.

    ``flat`` has element (i, c) of the matrix at ``i * row_step + c * column_step``. A row without a
    region has its place already if the class wanted is its own; else there is none.
    """
    for i in range(last - first):
        row = (first + i) * row_step
        if region[i] >= 0:
            entry, n = start[region[i]], start[region[i] + 1] - start[region[i]]
            plain, squared, separator[i] = _project(
                flat, row, column_step, entry, n, nodes, bounds, single
            )
            if not plain:
                squared, separator[i] = _project_carefully(
                    flat, row, column_step, entry, n, nodes, bounds, cost, category, test,
                    fill, single,
                )  # fmt: skip
            distance[i] = np.sqrt(squared)
            continue
        separator[i] = -1
        stays = wanted[i] >= 0 and wanted[i] == own[i]
        distance[i] = 0.0 if stays else np.inf


@inlined
def _place(value, lower, upper, smallest, largest, single):
    """Where a number moves to, without a branch; it stays if it or the box is NaN."""
    compared = value
    if single:
        compared = float64(np.float32(value))
        compared = LARGEST_SINGLE if compared > LARGEST_SINGLE else compared
        compared = -LARGEST_SINGLE if compared < -LARGEST_SINGLE else compared
    place = largest if compared > upper else value
    return smallest if compared <= lower else place


@inner
def _place_carefully(value, e, nodes, bounds, category, place):
    """The same for a category, or for a missing value that is given a place."""
    missing, table = np.isnan(value), nodes[3, e]
    if table >= 0:
        return float64(category[table + (nodes[1, e] if missing else int64(value))])
    if missing:
        return bounds[3, e] if bounds[1, e] < np.inf else bounds[2, e]
    return place


@entry
def move_rows(
    rows: In(float64, 2, "C"),
    region: In(int64, 1, "C"),
    start: In(int64, 1, "C"),
    nodes: In(int64, 2, "C"),
    bounds: In(float64, 2, "C"),
    category: In(int64, 1, "C"),
    fill: bool,
    single: bool,
    out: Out(float64, 2),
):
    """Copy rows, moved into their regions; a negative region: the row stays.

    Missing values are given a place only if ``fill``. The places of numbers are such that the model
    puts them inside: the largest number not above a bound, the smallest above it. Not in place: the
    compiler would store on a condition only, and which coordinates move is a toss-up.
    """
    careful = fill or len(category) > 0
    for i in range(len(rows)):
        for f in range(rows.shape[1]):
            out[i, f] = rows[i, f]
        if region[i] < 0:
            continue
        first, last = np.uint64(start[region[i]]), np.uint64(start[region[i] + 1])
        for e in range(first, last):
            f = np.uint64(nodes[0, e])
            out[i, f] = _place(
                rows[i, f], bounds[0, e], bounds[1, e], bounds[2, e], bounds[3, e], single
            )
        for e in range(first, last if careful else first):
            f = np.uint64(nodes[0, e])
            if fill or not np.isnan(rows[i, f]):
                out[i, f] = _place_carefully(rows[i, f], e, nodes, bounds, category, out[i, f])
