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

# Codes of a step: some bound replaces an older one, which children are regions, a nominal test.
BOUNDED, LEFT_REGION, RIGHT_REGION, NOMINAL = 1, 2, 4, 8

SAW_NAN, SAW_INF = 1, 2  # bits of what a kernel returns

LARGEST_SINGLE = 3.4028234663852886e38


@inner
def _load(flat, row_step, column_step, first, m, columns, frame, single, limit, block):
    """Copy rows into ``block`` column by column, scaled; whether one is beyond ``limit`` or NaN."""
    suspect = 0
    for k in range(len(columns)):
        at = first * row_step + columns[k, 0] * column_step
        c, a = frame[k, 0], frame[k, 1]
        if single:
            for j in range(m):
                value = block.dtype.type((float64(np.float32(flat[at + j * row_step])) - c) * a)
                suspect |= not (abs(value) <= limit)
                block[k, j] = value
        else:
            for j in range(m):
                value = block.dtype.type((flat[at + j * row_step] - c) * a)
                suspect |= not (abs(value) <= limit)
                block[k, j] = value
        for j in range(m, BLOCK):
            block[k, j] = 0
    return suspect


@inner
def _load_carefully(flat, row_step, column_step, first, m, columns, frame, single, block):
    """As ``_load``, for a block with a missing, infinite or huge value; the flags of what it saw.

    A missing nominal value gets the code after the last, a missing number stays NaN, and anything
    beyond its column's limit is clamped so that no square overflows.
    """
    seen = 0
    for k in range(len(columns)):
        at, n_codes = first * row_step + columns[k, 0] * column_step, columns[k, 1]
        center, factor, limit = frame[k, 0], frame[k, 1], frame[k, 2]
        for j in range(m):
            value = flat[at + j * row_step]
            if np.isinf(value):
                seen |= SAW_INF
            if single:
                value = (
                    min(max(value, -LARGEST_SINGLE), LARGEST_SINGLE) if value == value else value
                )
                value = float64(np.float32(value))
            if np.isnan(value):
                seen |= SAW_NAN
                if n_codes > 0:
                    value = float64(n_codes)
            else:
                value = min(max((value - center) * factor, -limit), limit)
            block[k, j] = value
    return seen


@inner
def _check_rest(flat, row_step, column_step, first, m, rest):
    """Flags of what the columns the program does not use hold in a block of rows."""
    suspect = 0
    if len(rest) == 0:
        return 0
    if column_step == 1:  # the used columns lie between them: one contiguous sweep is faster
        for i in range(first * row_step, (first + m) * row_step):
            suspect |= not (abs(flat[i]) <= 1.7976931348623157e308)
    else:
        for k in range(len(rest)):
            at = first * row_step + rest[k] * column_step
            for j in range(m):
                suspect |= not (abs(flat[at + j * row_step]) <= 1.7976931348623157e308)
    if not suspect:
        return 0
    seen = 0
    for k in range(len(rest)):
        at = first * row_step + rest[k] * column_step
        for j in range(m):
            value = flat[at + j * row_step]
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
def _fill_signed(best, n_classes, first, m, out):
    """Algebraic distances of a block: of the first of two classes, or of all."""
    zero, infinite = best.dtype.type(0), best.dtype.type(np.inf)
    if n_classes == 2:
        for j in range(m):
            out[first + j, 0] = np.sqrt(best[0, j]) - np.sqrt(best[1, j])
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
            out[first + j, c] = np.sqrt(d) if d > zero else inside


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

    ``flat`` has element (i, c) of the matrix at ``i * row_step + c * column_step``. If ``out`` has
    rows it is filled with the class-algebraic distances: a column per class, or one, of the first,
    if there are two. If ``region`` has rows it is filled with the nearest regions: squared
    distances are compared without the bits outside ``mask``, and of equal ones the region that is
    first in preorder is taken, however the program is ordered.
    """
    block = np.empty((len(columns), BLOCK), dtype=out.dtype)
    slots = np.empty((n_slots, BLOCK), dtype=out.dtype)
    best = np.empty((n_classes + 1, BLOCK), dtype=out.dtype)  # the last: sides that are empty
    seen = 0
    for first in range(start, stop, BLOCK):
        m = min(BLOCK, stop - first)
        seen |= _check_rest(flat, row_step, column_step, first, m, rest)
        if _load(flat, row_step, column_step, first, m, columns, frame, single, limit, block):
            seen |= _load_carefully(
                flat, row_step, column_step, first, m, columns, frame, single, block
            )
        _run(steps, bounds, table, weighted, mask, block, slots, best)
        if len(out):
            _fill_signed(best, n_classes, first - start, m, out)
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
    arguments = [*rows, *layout, boolean, dtype, *program, dtype[:, ::1], own, wanted, region]
    return kernel(int64(*arguments))(_measure_rows)
