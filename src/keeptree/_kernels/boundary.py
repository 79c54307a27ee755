"""Run a tree program: squared distances of row blocks to the regions of every class.

The program is a list of edges (``keeptree.geometry.program``). An edge adds to the squared
distance of its parent's box what the child's tighter bound costs, and either keeps the sum in a
slot (the child is tested further) or takes the minimum of the child's class. Nothing branches on
a row's values, so the compiler vectorises over the rows of a block.
"""

from functools import cache, partial

import numpy as np
from numba import boolean, float32, float64, int64, types

from keeptree._kernels.jit import kernel, readonly

inner = partial(kernel, cache=False)  # compiled into the cached kernels at the end

BLOCK = 128  # rows; a program's slots and a block of columns stay in the first cache

# Codes of an edge: lower bound instead of upper, a bound to replace, a region instead of a slot.
LOWER, BOUNDED, REGION, NOMINAL = 1, 2, 4, 8

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


@inner
def _square(high, low, scale, zero):
    """Square of how far ``high`` exceeds ``low``; 0 where it does not or one is missing."""
    gap = high - low
    gap = gap if gap > zero else zero
    if scale is not None:
        gap *= scale
    return gap * gap


@inner
def _growth(high, low, width, scale, zero):
    """What the square grows by when the bound moves in by ``width`` (already scaled).

    The difference of two squares as a product of sums of one sign: nothing cancels, and it is
    exactly 0 inside.
    """
    gap = high - low
    gap = gap if gap > zero else zero
    if scale is not None:
        gap *= scale
    moved = gap if gap < width else width
    return moved * (gap + gap - moved)


@inner
def _pack(squared, mask, region):
    """The squared distance with the region's number in its low mantissa bits."""
    if mask is None:
        return squared
    return np.int64((np.float64(squared).view(np.int64) & mask) | region).view(np.float64)


@inner
def _least(new, old):
    """The smaller of two numbers that are not negative.

    The idle ``abs`` keeps the compiler from storing on a condition only, which it cannot vectorise.
    """
    return abs(new if new < old else old)


@inner
def _run(edges, bounds, table, weighted, mask, block, slots, best):
    """Run every edge of a program on one block of rows.

    One loop for each kind of edge: the rows of a loop differ in nothing but their numbers.
    """
    zero = block.dtype.type(0)
    slots[0, :] = zero
    best[:, :] = np.inf
    for e in range(len(edges)):
        code, k, a, b = edges[e, 0], edges[e, 1], edges[e, 2], edges[e, 3]
        region, at = edges[e, 4], edges[e, 5]
        t, w = bounds[e, 0], bounds[e, 1]
        s = None if weighted is None else bounds[e, 2]
        if code == 0:
            for j in range(BLOCK):
                slots[b, j] = slots[a, j] + _square(block[k, j], t, s, zero)
        elif code == LOWER:
            for j in range(BLOCK):
                slots[b, j] = slots[a, j] + _square(t, block[k, j], s, zero)
        elif code == BOUNDED:
            for j in range(BLOCK):
                slots[b, j] = slots[a, j] + _growth(block[k, j], t, w, s, zero)
        elif code == BOUNDED | LOWER:
            for j in range(BLOCK):
                slots[b, j] = slots[a, j] + _growth(t, block[k, j], w, s, zero)
        elif code == NOMINAL:
            for j in range(BLOCK):
                slots[b, j] = slots[a, j] + table[at + int64(block[k, j])]
        elif code == REGION:
            for j in range(BLOCK):
                d = slots[a, j] + _square(block[k, j], t, s, zero)
                best[b, j] = _least(_pack(d, mask, region), best[b, j])
        elif code == REGION | LOWER:
            for j in range(BLOCK):
                d = slots[a, j] + _square(t, block[k, j], s, zero)
                best[b, j] = _least(_pack(d, mask, region), best[b, j])
        elif code == REGION | BOUNDED:
            for j in range(BLOCK):
                d = slots[a, j] + _growth(block[k, j], t, w, s, zero)
                best[b, j] = _least(_pack(d, mask, region), best[b, j])
        elif code == REGION | BOUNDED | LOWER:
            for j in range(BLOCK):
                d = slots[a, j] + _growth(t, block[k, j], w, s, zero)
                best[b, j] = _least(_pack(d, mask, region), best[b, j])
        else:
            for j in range(BLOCK):
                d = slots[a, j] + table[at + int64(block[k, j])]
                best[b, j] = _least(_pack(d, mask, region), best[b, j])


@inner
def _fill_signed(best, m, first, out):
    """Algebraic distances of a block: of the first class alone if ``out`` has one column."""
    n_classes = best.shape[0]
    zero = best.dtype.type(0)
    if out.shape[1] == 1 and n_classes == 2:
        for j in range(m):
            out[first + j, 0] = np.sqrt(best[0, j]) - np.sqrt(best[1, j])
        return
    for j in range(m):
        nearest, second = best.dtype.type(np.inf), best.dtype.type(np.inf)
        for c in range(n_classes):
            d = best[c, j]
            larger = d if d > nearest else nearest
            second = larger if larger < second else second
            nearest = d if d < nearest else nearest
        inside = zero - np.sqrt(second)
        for c in range(n_classes):
            d = best[c, j]
            out[first + j, c] = np.sqrt(d) if d > zero else inside


def _signed_rows(
    flat,
    row_step,
    column_step,
    start,
    stop,
    columns,
    frame,
    rest,
    single,
    limit,
    edges,
    bounds,
    table,
    weighted,
    n_slots,
    n_classes,
    out,
):
    """Fill ``out`` with the class-algebraic distances of the rows start to stop; flags of NaN, inf.

    ``out`` has a column per class, or one if there are two classes: that of the first, the other
    is its negative.
    """
    block = np.empty((len(columns), BLOCK), dtype=out.dtype)
    slots = np.empty((n_slots, BLOCK), dtype=out.dtype)
    best = np.empty((n_classes, BLOCK), dtype=out.dtype)
    seen = 0
    for first in range(start, stop, BLOCK):
        m = min(BLOCK, stop - first)
        seen |= _check_rest(flat, row_step, column_step, first, m, rest)
        if _load(flat, row_step, column_step, first, m, columns, frame, single, limit, block):
            seen |= _load_carefully(
                flat, row_step, column_step, first, m, columns, frame, single, block
            )
        _run(edges, bounds, table, weighted, None, block, slots, best)
        _fill_signed(best, m, first - start, out)
    return seen


@inner
def _fill_nearest(best, m, first, mask, own, wanted, region):
    """Nearest region of the wanted class (any but the row's own if negative), or -1 for none.

    ``own`` is filled in where it is negative and the row touches the regions of one class only;
    a row that touches several and wants any other stays undecided: both are -1.
    """
    for j in range(m):
        i = first + j
        if own[i] < 0:
            touched = 0
            for c in range(best.shape[0]):
                if np.float64(best[c, j]).view(np.int64) & mask == 0:
                    touched += 1
                    own[i] = c
            if touched != 1:
                own[i] = -1
        chosen = np.inf
        if wanted[i] >= 0:
            chosen = best[wanted[i], j]
        elif own[i] >= 0:
            for c in range(best.shape[0]):
                if c != own[i] and best[c, j] < chosen:
                    chosen = best[c, j]
        if chosen < np.inf:
            region[i] = np.float64(chosen).view(np.int64) & ~mask
        else:
            region[i] = -1


def _nearest_rows(
    flat,
    row_step,
    column_step,
    start,
    stop,
    columns,
    frame,
    rest,
    single,
    limit,
    edges,
    bounds,
    table,
    weighted,
    n_slots,
    n_classes,
    mask,
    own,
    wanted,
    region,
):
    """Fill ``region`` with the nearest region of the rows start to stop; flags of NaN, inf.

    Squared distances are compared without the bits outside ``mask``; of equal ones the region that
    comes first in preorder is taken, however the program is ordered.
    """
    block = np.empty((len(columns), BLOCK))
    slots = np.empty((n_slots, BLOCK))
    best = np.empty((n_classes, BLOCK))
    seen = 0
    for first in range(start, stop, BLOCK):
        m = min(BLOCK, stop - first)
        seen |= _check_rest(flat, row_step, column_step, first, m, rest)
        if _load(flat, row_step, column_step, first, m, columns, frame, single, limit, block):
            seen |= _load_carefully(
                flat, row_step, column_step, first, m, columns, frame, single, block
            )
        _run(edges, bounds, table, weighted, mask, block, slots, best)
        _fill_nearest(best, m, first - start, mask, own, wanted, region)
    return seen


def _arguments(dtype, weighted):
    """Types of the arguments that both kernels share."""
    rows = [readonly(float64, 1, "C"), int64, int64, int64, int64]
    layout = [readonly(int64, 2, "C"), readonly(float64, 2, "C"), readonly(int64, 1, "C")]
    program = [readonly(int64, 2, "C"), readonly(dtype, 2, "C"), readonly(dtype, 1, "C")]
    return [*rows, *layout, boolean, dtype, *program, weighted, int64, int64]


@cache
def signed_rows(single):
    """The compiled ``_signed_rows`` in float32 (no edge has a scale) or float64 (each has)."""
    dtype, weighted = (float32, types.none) if single else (float64, boolean)
    return kernel(int64(*_arguments(dtype, weighted), dtype[:, ::1]))(_signed_rows)


@cache
def nearest_rows():
    """The compiled ``_nearest_rows``."""
    arguments = _arguments(float64, boolean)
    outputs = [int64, int64[::1], readonly(int64, 1, "C"), int64[::1]]
    return kernel(int64(*arguments, *outputs))(_nearest_rows)
