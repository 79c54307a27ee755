"""Run a tree program: squared distances of row blocks to the regions of every class.

The program is a list of steps (``keeptree.geometry.program``). A step adds to the squared distance
of a node's box what the tighter bound of a child costs, for both children of a numeric test at
once, and either keeps the sum in a slot (the child is tested further) or takes the minimum of the
child's class. Nothing branches on a row's values, so the compiler vectorises over the rows.
"""

from functools import cache, partial

import numpy as np
from numba import boolean, float32, float64, int64, types

from keeptree._kernels.jit import kernel, readonly

inner = partial(kernel, cache=False)  # compiled into the cached kernel at the end
inlined = partial(inner, forceinline=True)  # constant arguments make a loop of its own

BLOCK = 256  # rows; the used columns and the slots of a block stay in the nearest caches

TILE = 1024  # numbers that are read at once

# Codes of a step: some bound replaces an older one, which children are regions, a nominal test.
BOUNDED, LEFT_REGION, RIGHT_REGION, NOMINAL = 1, 2, 4, 8

SAW_NAN, SAW_INF = 1, 2  # bits of what a kernel returns

LARGEST, LARGEST_SINGLE = 1.7976931348623157e308, 3.4028234663852886e38


@inner
def _tile(columns, frame, width, tile):
    """Centres and factors of whole rows, repeated to the length of a tile; unused columns get 0.

    Times 0, a finite number is 0 and anything else NaN: the check of all columns is one.
    """
    center, factor = np.zeros(tile), np.zeros(tile)
    for at in range(0, tile, width):
        for k in range(len(columns)):
            center[at + columns[k, 0]] = frame[k, 0]
            factor[at + columns[k, 0]] = frame[k, 1]
    return center, factor


# numba lets an index be negative unless it is plainly the counter of a loop, and the compiler then
# gives up on vector loads: hence the slices below.


@inner
def _scale(values, center, factor, single, out):
    """Centre and scale contiguous numbers, rounded as the model compares them."""
    if single:
        for i in range(len(values)):
            out[i] = (float64(np.float32(values[i])) - center[i]) * factor[i]
    else:
        for i in range(len(values)):
            out[i] = (values[i] - center[i]) * factor[i]


@inner
def _exceeds(values, limit):
    """Whether a number is missing or beyond ``limit``."""
    exceeds = 0
    for i in range(len(values)):
        exceeds |= not (abs(values[i]) <= limit)
    return exceeds != 0


@inner
def _load_rows(rows, m, width, columns, center, factor, single, limit, tile, block):
    """Copy m rows that lie one after the other into the columns of ``block``, scaled.

    A tile of rows is scaled where it is read, in long loops over contiguous memory, and turned
    around from the nearest cache. Returns whether a value is missing or beyond ``limit``.
    """
    suspect = False
    flat_tile = tile.reshape(-1)
    for first in range(0, m, len(tile)):
        here = min(len(tile), m - first)
        part = flat_tile[: here * width]
        _scale(rows[first * width : (first + here) * width], center, factor, single, part)
        suspect |= _exceeds(part, limit)
        target = block[:, first : first + here]
        for k in range(len(columns)):
            c = columns[k, 0]
            for j in range(here):
                target[k, j] = tile[j, c]
    return suspect


@inner
def _load_columns(flat, at, m, height, columns, rest, frame, single, limit, block):
    """The same where columns lie one after the other, ``height`` numbers each."""
    suspect = False
    ones = np.ones(m)
    for k in range(len(columns)):
        start = at + columns[k, 0] * height
        center, factor = ones * frame[k, 0], ones * frame[k, 1]
        _scale(flat[start : start + m], center, factor, single, block[k])
        suspect |= _exceeds(block[k, :m], limit)
    for k in range(len(rest)):
        start = at + rest[k] * height
        suspect |= _exceeds(flat[start : start + m], LARGEST)
    return suspect


@inner
def _load_carefully(flat, row_step, column_step, at, m, columns, rest, frame, single, block):
    """Once more, for a block with a missing, infinite or huge value; the flags of what it saw.

    A missing nominal value gets the code after the last, a missing number stays NaN, and anything
    beyond its column's limit is clamped so that no square overflows.
    """
    seen = 0
    for k in range(len(columns)):
        start, n_codes = at + columns[k, 0] * column_step, columns[k, 1]
        center, factor, limit = frame[k, 0], frame[k, 1], frame[k, 2]
        for j in range(m):
            value = flat[start + j * row_step]
            if np.isnan(value):
                seen |= SAW_NAN
                block[k, j] = value if n_codes == 0 else float64(n_codes)
                continue
            if np.isinf(value):
                seen |= SAW_INF
            if single:
                value = float64(np.float32(min(max(value, -LARGEST_SINGLE), LARGEST_SINGLE)))
            block[k, j] = min(max((value - center) * factor, -limit), limit)
    for k in range(len(rest)):
        start = at + rest[k] * column_step
        for j in range(m):
            value = flat[start + j * row_step]
            if np.isnan(value):
                seen |= SAW_NAN
            elif np.isinf(value):
                seen |= SAW_INF
    return seen


@inlined
def _add_above(gap, width, scale, bounded, zero):
    """What an upper bound ``gap`` below the value adds to the squared distance.

    If it has moved in by ``width`` (scaled) the square of the old gap is taken off: a difference of
    squares as a product of sums of one sign, so nothing cancels and inside it is exactly 0. A
    missing value, NaN, adds 0.
    """
    gap = gap if gap > zero else zero
    if scale is not None:
        gap *= scale
    if not bounded:
        return gap * gap
    moved = gap if gap < width else width
    return moved * (gap + gap - moved)


@inlined
def _add_below(gap, width, scale, bounded, zero):
    """The same for a lower bound: gap and width are negative."""
    gap = gap if gap < zero else zero
    if scale is not None:
        gap *= scale
    if not bounded:
        return gap * gap
    moved = gap if gap > width else width
    return moved * (gap + gap - moved)


@inlined
def _nearer(squared, mask, region, best):
    """The smaller of ``best`` and a squared distance with its region in the low mantissa bits.

    The idle ``abs`` (nothing is negative) keeps the compiler from storing on a condition only,
    which it cannot vectorise.
    """
    if mask is not None:
        # With no bits to spare (mask -1) this is the squared distance itself.
        bits = (np.float64(squared).view(np.int64) & mask) | (region & ~mask)
        squared = np.int64(bits).view(np.float64)
    return abs(squared if squared < best else best)


@inlined
def _split(
    bounded, left_region, right_region, block, slots, best, step, numbers, scale, mask, zero
):
    """Both children of a numeric test; the first three arguments are constants."""
    _, k, source, left, right, left_id, right_id, _ = step
    t, left_width, right_width = numbers
    for j in range(BLOCK):
        gap = block[k, j] - t
        above = slots[source, j] + _add_above(gap, left_width, scale, bounded, zero)
        below = slots[source, j] + _add_below(gap, right_width, scale, bounded, zero)
        if left_region:
            best[left, j] = _nearer(above, mask, left_id, best[left, j])
        else:
            slots[left, j] = above
        if right_region:
            best[right, j] = _nearer(below, mask, right_id, best[right, j])
        else:
            slots[right, j] = below


@inner
def _run(steps, bounds, table, weighted, mask, block, slots, best):
    """Run every step of a program on one block of rows."""
    zero = block.dtype.type(0)
    slots[0, :] = zero
    best[:, :] = np.inf
    for e in range(len(steps)):
        code, k, source, left = steps[e, 0], steps[e, 1], steps[e, 2], steps[e, 3]
        step = (code, k, source, left, steps[e, 4], steps[e, 5], steps[e, 6], steps[e, 7])
        t = (bounds[e, 0], bounds[e, 1], bounds[e, 2])
        s = None if weighted is None else bounds[e, 3]
        if code == 0:
            _split(False, False, False, block, slots, best, step, t, s, mask, zero)
        elif code == BOUNDED:
            _split(True, False, False, block, slots, best, step, t, s, mask, zero)
        elif code == LEFT_REGION:
            _split(False, True, False, block, slots, best, step, t, s, mask, zero)
        elif code == LEFT_REGION | BOUNDED:
            _split(True, True, False, block, slots, best, step, t, s, mask, zero)
        elif code == RIGHT_REGION:
            _split(False, False, True, block, slots, best, step, t, s, mask, zero)
        elif code == RIGHT_REGION | BOUNDED:
            _split(True, False, True, block, slots, best, step, t, s, mask, zero)
        elif code == LEFT_REGION | RIGHT_REGION:
            _split(False, True, True, block, slots, best, step, t, s, mask, zero)
        elif code == LEFT_REGION | RIGHT_REGION | BOUNDED:
            _split(True, True, True, block, slots, best, step, t, s, mask, zero)
        elif code == NOMINAL:
            at = steps[e, 7]
            for j in range(BLOCK):
                slots[left, j] = slots[source, j] + table[at + int64(block[k, j])]
        else:
            at, region = steps[e, 7], steps[e, 5]
            for j in range(BLOCK):
                squared = slots[source, j] + table[at + int64(block[k, j])]
                best[left, j] = _nearer(squared, mask, region, best[left, j])


@inner
def _fill_signed(best, n_classes, m, out):
    """Algebraic distances of a block: of the first of two classes, or of all."""
    zero, infinite = best.dtype.type(0), best.dtype.type(np.inf)
    if n_classes == 2:
        for j in range(m):
            out[j] = np.sqrt(best[0, j]) - np.sqrt(best[1, j])
        return
    for j in range(m):
        nearest, second = infinite, infinite
        for c in range(n_classes):
            d = best[c, j]
            larger = d if d > nearest else nearest
            second = larger if larger < second else second
            nearest = d if d < nearest else nearest
        inside = zero - np.sqrt(second)
        for c in range(n_classes):
            d = best[c, j]
            out[j * n_classes + c] = np.sqrt(d) if d > zero else inside


@inner
def _fill_nearest(best, n_classes, first, m, mask, own, wanted, region):
    """Nearest region of the wanted class (any but the row's own if negative), or -1 for none.

    ``own`` is filled in where it is negative and the row touches the regions of one class only;
    a row that touches several and wants any other stays undecided: both are -1.
    """
    for j in range(m):
        i = first + j
        if own[i] < 0:
            touched = 0
            for c in range(n_classes):
                if np.float64(best[c, j]).view(np.int64) & mask == 0:
                    touched += 1
                    own[i] = c
            if touched != 1:
                own[i] = -1
        chosen = np.inf
        if wanted[i] >= 0:
            chosen = best[wanted[i], j]
        elif own[i] >= 0:
            for c in range(n_classes):
                if c != own[i] and best[c, j] < chosen:
                    chosen = best[c, j]
        if chosen < np.inf:
            region[i] = np.float64(chosen).view(np.int64) & ~mask
        else:
            region[i] = -1


def _measure_rows(
    flat, row_step, column_step, start, stop, columns, frame, rest, single, limit,
    steps, bounds, table, weighted, n_slots, n_classes, mask, out, own, wanted, region,
):  # fmt: skip
    """Run a program on the rows start to stop; returns the flags of what it saw, NaN or infinite.

    ``flat`` has element (i, c) of the matrix at ``i * row_step + c * column_step``. If ``out`` is
    not empty it is filled with the class-algebraic distances: row by row those to all classes, or
    only to the first if there are two. If ``region`` is not empty it is filled with the nearest regions: squared
    distances are compared without the bits outside ``mask``, and of equal ones the region that is
    first in preorder is taken, however the program is ordered.
    """
    block = np.zeros((len(columns), BLOCK), dtype=out.dtype)
    slots = np.empty((n_slots, BLOCK), dtype=out.dtype)
    best = np.empty((n_classes + 1, BLOCK), dtype=out.dtype)  # the last: sides that are empty
    width = len(columns) + len(rest)
    tile = np.empty((max(TILE // width, 1), width), dtype=out.dtype)
    center, factor = _tile(columns, frame, width, tile.size)
    seen = 0
    for first in range(start, stop, BLOCK):
        m, at = min(BLOCK, stop - first), first * row_step
        if column_step == 1:
            rows = flat[at : at + m * width]
            suspect = _load_rows(
                rows, m, width, columns, center, factor, single, limit, tile, block
            )
        else:
            suspect = _load_columns(
                flat, at, m, column_step, columns, rest, frame, single, limit, block
            )
        if suspect:
            seen |= _load_carefully(
                flat, row_step, column_step, at, m, columns, rest, frame, single, block
            )
        _run(steps, bounds, table, weighted, mask, block, slots, best)
        if len(out):
            per_row = 1 if n_classes == 2 else n_classes
            _fill_signed(best, n_classes, m, out[(first - start) * per_row :])
        if mask is not None and len(region):
            _fill_nearest(best, n_classes, first - start, m, mask, own, wanted, region)
    return seen


@cache
def measure_rows(single):
    """The compiled ``_measure_rows``: float32 (no scale at a step, no regions) or float64."""
    dtype = float32 if single else float64
    rows = [readonly(float64, 1, "C"), int64, int64, int64, int64]
    layout = [readonly(int64, 2, "C"), readonly(float64, 2, "C"), readonly(int64, 1, "C")]
    program = [readonly(int64, 2, "C"), readonly(dtype, 2, "C"), readonly(dtype, 1, "C")]
    weighted, mask, own, wanted, region = (
        [types.none] * 5
        if single
        else [boolean, int64, int64[::1], readonly(int64, 1, "C"), int64[::1]]
    )
    program += [weighted, int64, int64, mask]
    arguments = [*rows, *layout, boolean, dtype, *program, dtype[::1], own, wanted, region]
    return kernel(int64(*arguments))(_measure_rows)
