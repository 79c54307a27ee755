"""Run a tree program: compute squared distances of rows to the regions of every class.

The program is a list of steps (``keeptree.geometry.program``). A step adds the cost of a child's
tighter bound to the squared distance of its node's box, for both children of a numeric test at
once. It stores the sum in a slot if the child is tested further; otherwise it updates the minimum
of the child's class. Nothing branches on a row's values, so the compiler vectorises over the rows.
"""

import numpy as np
from numpy import float32, float64, int64

from keeptree._compiled.declare import Out, entry, inlined, inner
from keeptree._compiled.intrinsics import prefetch
from keeptree._compiled.load_block import load_carefully, load_columns, load_rows, tile_frame
from keeptree._compiled.program import (
    BOUNDED,
    LEFT_REGION,
    NOMINAL,
    RIGHT_REGION,
    DoubleProgram,
    NearestRegions,
    Rows,
    SingleProgram,
)

BLOCK = 512  # rows; enough to make the fixed cost of a step per block negligible

TILE = 1024  # numbers read at once

LINE = 8  # numbers of X in a cache line
AHEAD = 8 * LINE  # numbers of the next block that each step prefetches


@inlined
def _add_above(squared, gap, width, scale, bounded, zero, two):
    """Add the cost of an upper bound that lies ``gap`` below the value to a squared distance.

    If the bound has moved inward by ``width`` (scaled), the square of the old gap is subtracted.
    The difference of squares is computed as a product of sums of one sign, so nothing cancels, and
    the cost inside is exactly 0. A missing value (NaN) adds 0.
    """
    gap = gap if gap > zero else zero
    if scale is not None:
        gap *= scale
    if not bounded:
        return squared + gap * gap
    moved = gap if gap < width else width
    return squared + moved * (two * gap - moved)


@inlined
def _add_below(squared, gap, width, scale, bounded, zero, two):
    """Do the same as ``_add_above`` for a lower bound: gap and width are negative."""
    gap = gap if gap < zero else zero
    if scale is not None:
        gap *= scale
    if not bounded:
        return squared + gap * gap
    moved = gap if gap > width else width
    return squared + moved * (two * gap - moved)


@inlined
def _nearer(squared, mask, region, best):
    """Return the smaller of ``best`` and a squared distance with its region in the low bits.

    The redundant ``abs`` (nothing is negative) keeps the compiler from emitting a conditional
    store, which it cannot vectorise.
    """
    if mask is not None:
        # With no spare bits (mask -1) this is the squared distance itself.
        bits = (np.float64(squared).view(np.int64) & mask) | (region & ~mask)
        squared = np.int64(bits).view(np.float64)
    return abs(squared if squared < best else best)


@inlined
def _split(bounded, left_region, right_region, block, slots, best, step, numbers, scale, mask):
    """Process both children of a numeric test; the first three arguments are constants."""
    zero, two = block.dtype.type(0), block.dtype.type(2)
    _, k, source, left, right, left_id, right_id, _ = step
    t, left_width, right_width = numbers
    for j in range(BLOCK):
        gap = block[k, j] - t
        above = _add_above(slots[source, j], gap, left_width, scale, bounded, zero, two)
        below = _add_below(slots[source, j], gap, right_width, scale, bounded, zero, two)
        if left_region:
            best[left, j] = _nearer(above, mask, left_id, best[left, j])
        else:
            slots[left, j] = above
        if right_region:
            best[right, j] = _nearer(below, mask, right_id, best[right, j])
        else:
            slots[right, j] = below


@inner
def _run(steps, bounds, table, weighted, mask, block, slots, best, ahead):
    """Run every step of a program on one block of rows, while ``ahead`` is prefetched."""
    slots[0, :] = 0
    best[:, :] = np.inf
    for e in range(len(steps)):
        for i in range(e * AHEAD, min((e + 1) * AHEAD, len(ahead)), LINE):
            prefetch(ahead, i)
        code, k, source, left = steps[e, 0], steps[e, 1], steps[e, 2], steps[e, 3]
        step = (code, k, source, left, steps[e, 4], steps[e, 5], steps[e, 6], steps[e, 7])
        t = (bounds[e, 0], bounds[e, 1], bounds[e, 2])
        s = None if weighted is None else bounds[e, 3]
        if code == 0:
            _split(False, False, False, block, slots, best, step, t, s, mask)
        elif code == BOUNDED:
            _split(True, False, False, block, slots, best, step, t, s, mask)
        elif code == LEFT_REGION:
            _split(False, True, False, block, slots, best, step, t, s, mask)
        elif code == LEFT_REGION | BOUNDED:
            _split(True, True, False, block, slots, best, step, t, s, mask)
        elif code == RIGHT_REGION:
            _split(False, False, True, block, slots, best, step, t, s, mask)
        elif code == RIGHT_REGION | BOUNDED:
            _split(True, False, True, block, slots, best, step, t, s, mask)
        elif code == LEFT_REGION | RIGHT_REGION:
            _split(False, True, True, block, slots, best, step, t, s, mask)
        elif code == LEFT_REGION | RIGHT_REGION | BOUNDED:
            _split(True, True, True, block, slots, best, step, t, s, mask)
        elif code == NOMINAL:
            at = steps[e, 7]
            for j in range(BLOCK):
                slots[left, j] = slots[source, j] + table[at + int64(block[k, j])]
        else:
            at, region = steps[e, 7], steps[e, 5]
            for j in range(BLOCK):
                squared = slots[source, j] + table[at + int64(block[k, j])]
                best[left, j] = _nearer(squared, mask, region, best[left, j])


@inlined
def _floor(squared, mask):
    """Return the smallest entry of ``best`` that a region at this squared distance can have."""
    if mask is None:
        return squared
    return np.int64(np.float64(squared).view(np.int64) & mask).view(np.float64)


@inlined
def _farthest(best, j, classes, foreign):
    """Return the squared distance beyond which no region can change the result of row j."""
    nearest = farthest = best[classes[0], j]
    second = best.dtype.type(np.inf)
    for c in range(1, len(classes)):
        d = best[classes[c], j]
        farthest = d if d > farthest else farthest
        larger = d if d > nearest else nearest
        second = larger if larger < second else second
        nearest = d if d < nearest else nearest
    return second if foreign else farthest


@inner
def _search(steps, bounds, table, links, classes, foreign, weighted, mask, block, stack, due, best):
    """Do the same as ``_run`` row by row and skip subtrees that are too far away; for large trees.

    Squared distances never decrease on the way down, so a subtree can be skipped if its node is
    farther away than the nearest regions found. The result equals that of ``_run`` to the last bit.
    ``links`` holds the steps of the children of each step (for a nominal step, the step of its
    child and the next step of the same test); -1 stands for a region or no child. If ``foreign``,
    only the nearest region of another class is needed.
    """
    zero, two = block.dtype.type(0), block.dtype.type(2)
    best[:, :] = np.inf
    for j in range(BLOCK):
        far = block.dtype.type(np.inf)
        stack[0], due[0], n = 0, zero, 1
        while n > 0:
            n -= 1
            e, d = stack[n], due[n]
            while e >= 0 and _floor(d, mask) < far:
                code, k, left, right = steps[e, 0], steps[e, 1], steps[e, 3], steps[e, 4]
                s = None if weighted is None else bounds[e, 3]
                if code & NOMINAL:
                    above, below = d + table[steps[e, 7] + int64(block[k, j])], d
                else:
                    gap = block[k, j] - bounds[e, 0]
                    above = _add_above(d, gap, bounds[e, 1], s, True, zero, two)
                    below = _add_below(d, gap, bounds[e, 2], s, True, zero, two)
                if code & LEFT_REGION:
                    best[left, j] = _nearer(above, mask, steps[e, 5], best[left, j])
                if code & RIGHT_REGION:
                    best[right, j] = _nearer(below, mask, steps[e, 6], best[right, j])
                if code & (LEFT_REGION | RIGHT_REGION):
                    far = _farthest(best, j, classes, foreign)
                near, other = links[e, 0], links[e, 1]
                d, later = above, below
                if near < 0 or (other >= 0 and below < above):
                    near, other, d, later = other, near, below, above
                if other >= 0 and _floor(later, mask) < far:
                    stack[n], due[n] = other, later
                    n += 1
                e = near


@inner
def _fill_signed(best, n_classes, m, out):
    """Fill the algebraic distances of a block, for the first of two classes or for all classes."""
    zero, infinite = best.dtype.type(0), best.dtype.type(np.inf)
    if n_classes == 2:
        for j in range(m):
            out[j] = np.sqrt(best[0, j]) - np.sqrt(best[1, j])
        return
    # Class by class, not row by row, so that the compiler vectorises over the rows.
    nearest, second = np.full((2, BLOCK), infinite, dtype=best.dtype)
    for c in range(n_classes):
        for j in range(BLOCK):
            d = best[c, j]
            larger = d if d > nearest[j] else nearest[j]
            second[j] = larger if larger < second[j] else second[j]
            nearest[j] = d if d < nearest[j] else nearest[j]
    for c in range(n_classes):
        for j in range(BLOCK):
            d = best[c, j]
            h = np.sqrt(d if d > zero else second[j])
            best[c, j] = h if d > zero else zero - h
        for j in range(m):
            out[j * n_classes + c] = best[c, j]


@inlined
def _choose(best, n_classes, j, mask, own, wanted):
    """Return a row's own class and its nearest region of class ``wanted`` (any other if negative).

    If ``own`` is negative, it is determined from the regions that the row touches; it stays -1 if
    they belong to several classes. Region -1 means that there is no such region or that none is
    needed.
    """
    if own < 0:
        touched = 0
        for c in range(n_classes):
            touches = np.float64(best[c, j]).view(np.int64) & mask == 0
            touched += touches
            own = c if touches else own
        own = own if touched == 1 else -1
    nearest = np.inf
    if wanted >= 0:
        nearest = np.inf if wanted == own else best[wanted, j]
    elif own >= 0:
        for c in range(n_classes):
            other = np.inf if c == own else best[c, j]
            nearest = other if other < nearest else nearest
    # Region numbers start at 1, so 0 is less than any region that a row touches.
    region = (np.float64(nearest).view(np.int64) & ~mask) - 1 if nearest < np.inf else int64(-1)
    return own, region


@inner
def _fill_regions(best, n_classes, first, m, mask, nearest):
    """Fill own classes and nearest regions of a block of rows."""
    own, wanted, region = nearest  # unpacked once: it costs more than the work on a row
    for j in range(m):
        i = first + j
        if n_classes == 2:  # a constant lets the compiler unroll the loops
            own[i], region[i] = _choose(best, 2, j, mask, own[i], wanted[i])
        else:
            own[i], region[i] = _choose(best, n_classes, j, mask, own[i], wanted[i])


def _run_program(
    rows: Rows,
    program: DoubleProgram,
    weighted: bool,
    mask: int,
    foreign: bool,
    out: Out(float64, 1),
    nearest: NearestRegions,
):
    """Run a program on rows; return flags for NaN and infinite values.

    If ``out`` is not empty, it is filled with class-algebraic distances, row by row: to all
    classes, or only to the first if there are two. Otherwise ``nearest`` is filled with the row's
    own class and its nearest region of the wanted class (an input). Squared distances are compared
    without the bits outside ``mask``; ties go to the first region in preorder, whatever the order
    of the program. If there are links, the program searches along them instead of running every
    step; with ``foreign``, only for the nearest region of another class.
    """
    flat, row_step, column_step, start, stop = rows
    columns, rest, single, frame, limit = program[:5]
    steps, bounds, growth, links, classes, n_slots, n_classes = program[5:]
    block = np.zeros((len(columns), BLOCK), dtype=out.dtype)
    slots = np.empty((n_slots, BLOCK), dtype=out.dtype)
    best = np.empty((n_classes + 1, BLOCK), dtype=out.dtype)  # the last row is for empty sides
    width = len(columns) + len(rest)
    tile = np.empty((max(TILE // width, 1), width), dtype=out.dtype)
    center, factor = tile_frame(columns, frame, tile)
    stack, due = np.empty(len(links) + 1, dtype=np.int64), np.empty(len(links) + 1, dtype=out.dtype)
    seen = 0
    for first in range(start, stop, BLOCK):
        m, at = min(BLOCK, stop - first), first * row_step
        if column_step == 1:
            values = flat[at : at + m * width]
            suspect = load_rows(
                values, m, width, columns, center, factor, single, limit, tile, block
            )
        else:
            suspect = load_columns(
                flat, at, m, column_step, columns, rest, frame, single, limit, block
            )
        if suspect:
            seen |= load_carefully(
                flat, row_step, column_step, at, m, columns, rest, frame, single, block
            )
        if len(links):
            _search(
                steps, bounds, growth, links, classes, foreign, weighted, mask,
                block, stack, due, best,
            )  # fmt: skip
        else:
            following = at + BLOCK * row_step if column_step == 1 else len(flat)
            ahead = flat[following : following + BLOCK * row_step]
            _run(steps, bounds, growth, weighted, mask, block, slots, best, ahead)
        if len(out):
            per_row = 1 if n_classes == 2 else n_classes
            _fill_signed(best, n_classes, m, out[(first - start) * per_row :])
        elif nearest is not None:
            _fill_regions(best, n_classes, first - start, m, mask, nearest)
    return seen


run_program = entry(_run_program, name="run_program")
# This variant computes distances only, and its steps have no scale.
run_single_program = entry(
    _run_program,
    name="run_single_program",
    program=SingleProgram,
    weighted=None,
    mask=None,
    out=Out(float32, 1),
    nearest=None,
)
