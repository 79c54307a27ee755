"""Grow a J48 tree on complete, unweighted numeric data, sorting every column only once.

A column is a list of uint64 keys in the order of its values: ``group | row | class``. The rows of a
node form one range of every list, and a split divides that range stably, so no node has to sort
again. Counts are whole numbers; their logarithms come from a table.

Groups implement the rule that a cut needs ``u + 1e-5 < v``. A group starts at the first value that
can be separated from the first value of the previous group. Two values of one group can never be
separated; values whose group numbers differ by two or more always can; if the numbers differ by
one, the values decide. A boundary that separates every pair advances the number by two, so values
are rarely looked up.
"""

from typing import NamedTuple

import numpy as np
from numpy import float64, int32, int64, uint64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.impurity import impurity
from keeptree._compiled.j48 import (
    GAIN_RATIO,
    GINI,
    NEVER_CUT,
    SMALL,
    choose_column,
    least_side,
    may_split,
)
from keeptree._compiled.midpoints import j48_midpoint

MOST_MOVES = 8  # moves per row above which another sort is faster


@entry
def pack_values(value_bits: In(uint64, 1), row_bits: int, key: Out(uint64, 1)):
    """Fill keys that sort like the values: high bits of the value, low bits of the row.

    ``value_bits`` are float64 numbers viewed as uint64. Sorting the keys is much faster than
    sorting row numbers by value; :func:`fill_keys` then orders values that differ only in the low
    bits.
    """
    sign = uint64(1) << uint64(63)
    low = (uint64(1) << uint64(row_bits)) - uint64(1)
    for i in range(len(key)):
        bits = value_bits[i]
        bits = ~bits if bits & sign else bits | sign
        key[i] = (bits & ~low) | uint64(i)


@entry
def fill_keys(
    value: In(float64, 1), label: In(int64, 1), row_bits: int, class_bits: int, key: Out(uint64, 1)
):
    """Turn sorted keys of :func:`pack_values`, or rows sorted by value, into a column's keys.

    Returns False if too many values differ only in the low bits; the keys are then not usable.
    """
    n = len(key)
    row_mask = (uint64(1) << uint64(row_bits)) - uint64(1)
    moves = 0
    for i in range(n):
        row = key[i] & row_mask
        v = value[int64(row)]
        at = i
        while at > 0 and value[int64(key[at - 1])] > v:
            key[at] = key[at - 1]
            at -= 1
        key[at] = row
        moves += i - at
        if moves > MOST_MOVES * n:
            return False
    group = uint64(0)
    start = value[int64(key[0])]
    last = start
    for i in range(n):
        row = key[i]
        v = value[int64(row)]
        if start + NEVER_CUT < v:
            group += uint64(2) if last + NEVER_CUT < v else uint64(1)
            start = v
        last = v
        key[i] = (
            (group << uint64(row_bits + class_bits))
            | (row << uint64(class_bits))
            | uint64(label[int64(row)])
        )
    return True


class Layout(NamedTuple):
    """Positions of group, row and class in a key."""

    class_bits: int
    group_shift: int
    row_mask: int
    class_mask: int


class Grown(NamedTuple):
    """Nodes as in a Shape; ``span`` holds the first row, the end and the depth of each."""

    feature: Out(int32, 1)
    threshold: Out(float64, 1)
    first_child: Out(int32, 1)
    counts: Out(int64, 2)
    span: Out(int64, 2)


class NumericOptions(NamedTuple):
    """Options for growing; ``table`` holds x log2(x), or x^2, of whole numbers."""

    min_leaf: int
    max_depth: int
    criterion: int
    mdl: bool
    table: In(float64, 1, "C")


class Work(NamedTuple):
    """Work space of the search, by column and by class."""

    gain: np.ndarray
    ratio: np.ndarray
    position: np.ndarray
    averaged: np.ndarray
    left: np.ndarray
    right: np.ndarray


@inner
def key_layout(row_bits, class_bits):
    """Return the layout of keys with given numbers of bits for row and class."""
    row_mask = (uint64(1) << uint64(row_bits)) - uint64(1)
    class_mask = (uint64(1) << uint64(class_bits)) - uint64(1)
    return Layout(uint64(class_bits), uint64(row_bits + class_bits), row_mask, class_mask)


@inner
def class_of(key, layout):
    """Return the class in a key."""
    return int64(key & layout.class_mask)


@inner
def row_of(key, layout):
    """Return the row in a key."""
    return int64((key >> layout.class_bits) & layout.row_mask)


@inner
def scan_cuts(key, value, f, a, b, layout, counts, node, side, options, work):
    """Return the best cut of column f in the range a:b: (gain, position, number of candidates)."""
    table, gini = options.table, options.criterion == GINI
    left, right = work.left, work.right
    n = b - a
    first = int64(np.ceil(side - SMALL))
    if first - (side - SMALL) <= 0:
        first += 1
    shift = layout.group_shift
    if (key[f, a] >> shift) == (key[f, b - 1] >> shift) or 2 * first > n:
        return 0.0, -1, 0
    base_terms = 0.0
    for c in range(len(left)):
        left[c] = 0
        right[c] = counts[node, c]
        base_terms += table[counts[node, c]]
    for i in range(a, a + first - 1):
        c = class_of(key[f, i], layout)
        left[c] += 1
        right[c] -= 1
    terms_left = 0.0
    terms_right = 0.0
    for c in range(len(left)):
        terms_left += table[left[c]]
        terms_right += table[right[c]]
    base = impurity(n, base_terms, gini, table)
    limit = SMALL * n
    best, position, candidates = 0.0, -1, 0
    previous = key[f, a + first - 1]
    for i in range(a + first, b - first + 1):
        c = class_of(previous, layout)
        held = left[c]
        terms_left += table[held + 1] - table[held]
        left[c] = held + 1
        held = right[c]
        terms_right -= table[held] - table[held - 1]
        right[c] = held - 1
        current = key[f, i]
        apart = (current >> shift) - (previous >> shift)
        if apart != uint64(0):
            possible = apart > uint64(1)
            if not possible:
                u, v = value[f, row_of(previous, layout)], value[f, row_of(current, layout)]
                possible = u + NEVER_CUT < v
            if possible:
                candidates += 1
                n_left = i - a
                if gini:
                    after = n - terms_left / n_left - terms_right / (n - n_left)
                else:
                    after = table[n_left] - terms_left + table[n - n_left] - terms_right
                if base - after > limit:
                    best = (base - after) / n
                    limit = (best + SMALL) * n
                    position = i
        previous = current
    return best, position, candidates


@inner
def search_ranges(key, value, a, b, layout, counts, node, options, work):
    """Return the best test of the range a:b: (column, position), with column -1 for none."""
    gain, ratio, table = work.gain, work.ratio, options.table
    n = b - a
    side = least_side(n, counts.shape[1], options.min_leaf)
    for f in range(len(gain)):
        gain[f] = -np.inf
        if 2 * side - n > SMALL:
            continue
        best, cut, candidates = scan_cuts(
            key, value, f, a, b, layout, counts, node, side, options, work
        )
        if options.mdl and candidates > 0 and options.criterion != GINI:
            best -= np.log2(float64(candidates)) / n
        if cut < 0 or best < SMALL:
            continue
        gain[f], ratio[f], work.position[f] = best, best, cut
        if options.criterion == GAIN_RATIO:
            info = table[n] - table[cut - a] - table[b - cut]
            ratio[f] = best / (info / n) if info >= SMALL else 0.0
    chosen = choose_column(gain, ratio, work.averaged)
    return chosen, (work.position[chosen] if chosen >= 0 else int64(-1))


@inner
def divide_ranges(key, chosen, a, cut, b, layout, goes_left, keep_right, spare):
    """Divide the range a:b of every list at the cut of column ``chosen``, stably."""
    for i in range(a, b):
        goes_left[row_of(key[chosen, i], layout)] = i < cut
    for f in range(key.shape[0]):
        if f == chosen:
            continue
        if keep_right:
            at_left, at_right = a, 0
            for i in range(a, b):
                entry = key[f, i]
                to_left = goes_left[row_of(entry, layout)]
                key[f, at_left] = entry
                spare[at_right] = entry
                at_left += to_left
                at_right += 1 - to_left
            for i in range(at_right):
                key[f, cut + i] = spare[i]
        else:
            at_left = a
            for i in range(a, b):
                entry = key[f, i]
                key[f, at_left] = entry
                at_left += goes_left[row_of(entry, layout)]


@inner
def add_node(grown, node, first, end, level, options):
    """Start a node as a leaf of the rows ``first`` to ``end``; return whether it may be split."""
    grown.feature[node], grown.threshold[node], grown.first_child[node] = -1, np.nan, 0
    grown.span[node, 0], grown.span[node, 1], grown.span[node, 2] = first, end, level
    return level < options.max_depth and may_split(grown.counts, node, options.min_leaf)


@inner
def split_node(key, value, node, chosen, cut, layout, grown, left):
    """Make ``node`` a test with the new children ``left`` and ``left + 1``; count their classes."""
    counts, a = grown.counts, grown.span[node, 0]
    lower = value[chosen, row_of(key[chosen, cut - 1], layout)]
    upper = value[chosen, row_of(key[chosen, cut], layout)]
    grown.feature[node], grown.first_child[node] = chosen, left
    grown.threshold[node] = j48_midpoint(lower, upper)
    for c in range(counts.shape[1]):
        counts[left, c] = 0
    for i in range(a, cut):
        counts[left, class_of(key[chosen, i], layout)] += 1
    for c in range(counts.shape[1]):
        counts[left + 1, c] = counts[node, c] - counts[left, c]


@inner
def start_work(n_columns, n_classes):
    """Return the work space of the search."""
    return Work(
        gain=np.empty(n_columns),
        ratio=np.empty(n_columns),
        position=np.empty(n_columns, dtype=np.int64),
        averaged=np.ones(n_columns, dtype=np.bool_),
        left=np.empty(n_classes, dtype=np.int64),
        right=np.empty(n_classes, dtype=np.int64),
    )


@entry
def grow_numeric(
    key: Out(uint64, 2),
    value: In(float64, 2, "C"),
    row_bits: int,
    class_bits: int,
    options: NumericOptions,
    grown: Grown,
):
    """Grow the tree and return its number of nodes; ``key`` (columns x rows) is overwritten.

    Fills the nodes, given ``counts[0]``: feature (-1 in a leaf), threshold (the midpoint) and first
    child (the second follows it). Children come after their parents.
    """
    n_columns, n_rows = key.shape
    counts, span = grown.counts, grown.span
    layout, work = key_layout(row_bits, class_bits), start_work(n_columns, counts.shape[1])
    goes_left = np.empty(n_rows, dtype=np.uint8)
    spare = np.empty(n_rows, dtype=np.uint64)
    pending = np.empty(len(span), dtype=np.int64)
    pending[0] = 0
    n_nodes = int64(1)
    n_pending = int64(add_node(grown, int64(0), int64(0), n_rows, int64(0), options))
    while n_pending > 0:
        n_pending -= 1
        node = pending[n_pending]
        a, b, level = span[node, 0], span[node, 1], span[node, 2] + 1
        chosen, cut = search_ranges(key, value, a, b, layout, counts, node, options, work)
        if chosen < 0:
            continue
        left = n_nodes
        n_nodes += 2
        split_node(key, value, node, chosen, cut, layout, grown, left)
        grow_left = add_node(grown, left, a, cut, level, options)
        grow_right = add_node(grown, left + 1, cut, b, level, options)
        if grow_left or grow_right:
            divide_ranges(key, chosen, a, cut, b, layout, goes_left, grow_right, spare)
        if grow_right:
            pending[n_pending] = left + 1
            n_pending += 1
        if grow_left:
            pending[n_pending] = left
            n_pending += 1
    return n_nodes
