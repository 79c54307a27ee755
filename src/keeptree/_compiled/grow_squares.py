"""Grow a regression tree: numeric and nominal columns, missing values, weights.

A node holds *entries*. An entry is a row, the part of its weight that reaches the node, and its
target. A row whose value is missing becomes one entry in each branch. The entries of the nodes
still to be grown are stored one after another in one pool; the node being grown is the last, and
its children replace it.

For every numeric column the entries with a value are kept as uint64 keys in the order of the
values, ``rank of the value | entry``, so only the root sorts, and ties are visible without the
values.
"""

from typing import NamedTuple

import numpy as np
from numpy import float64, int64, uint64

from keeptree._compiled.declare import In, entry, inner
from keeptree._compiled.lengthen import lengthen
from keeptree._compiled.midpoints import midpoint
from keeptree._compiled.search_squares import (
    ENTRY,
    RANK,
    SMALL,
    Categories,
    Pool,
    SortedColumns,
    map_sides,
    search_test,
)


class SquaresOptions(NamedTuple):
    """Conditions for dividing a node."""

    min_leaf: float
    min_split: float
    epsilon: float
    max_depth: int


@inner
def measure_branch(case, a, m, goes, side, share):
    """Return (weight, mean, variance, whether the targets differ) of the entries of one branch.

    ``goes`` is the branch of each entry, 2 for both.
    """
    total, first_sum = 0.0, 0.0
    lowest, highest = np.inf, -np.inf
    for e in range(m):
        if goes[e] == side or goes[e] == 2:
            w, y = case[a + e, 0], case[a + e, 1]
            if goes[e] == 2:
                w *= share
            total += w
            first_sum += w * y
            lowest, highest = min(lowest, y), max(highest, y)
    if not lowest < highest:
        return total, lowest, 0.0, False
    # Rounding must not move the mean of nearly equal numbers out of their range.
    mean = min(max(first_sum / total, lowest), highest)
    squares = 0.0
    for e in range(m):
        if goes[e] == side or goes[e] == 2:
            w, difference = case[a + e, 0], case[a + e, 1] - mean
            if goes[e] == 2:
                w *= share
            squares += w * difference * difference
    return total, mean, squares / total, True


@inner
def assign_sides(pool, columns, chosen, cut, a, m, known_rows, child_of, goes):
    """Fill the branch of each entry, 2 for both; return the share of the left branch."""
    s = columns.slot[chosen]
    if columns.n_categories[chosen] == 0:
        for e in range(m):
            goes[e] = 2
        for i in range(known_rows[s]):
            goes[int64(pool.key[s, a + i] & ENTRY)] = 0 if i < cut else 1
    else:
        for e in range(m):
            k = columns.code[s, pool.row[a + e]]
            goes[e] = child_of[k] if k >= 0 else 2
    left, known = 0.0, 0.0
    for e in range(m):
        if goes[e] < 2:
            known += pool.case[a + e, 0]
            if goes[e] == 0:
                left += pool.case[a + e, 0]
    return left / known


@inner
def place_entries(goes, m, grows, place, size):
    """Fill the position of each entry in the left and in the right branch, -1 where it is absent.

    A branch that does not grow gets no entries. The sizes of the branches are filled too.
    """
    left, right = int64(0), int64(0)
    for e in range(m):
        to_left, to_right = grows[0] and goes[e] != 1, grows[1] and goes[e] != 0
        place[e, 0], place[e, 1] = left if to_left else -1, right if to_right else -1
        left += to_left
        right += to_right
    size[0], size[1] = left, right


@inner
def divide_cases(pool, spare, a, m, goes, share, place, size):
    """Copy the entries of the branches that grow, the right one first."""
    n_right = size[1]
    for e in range(m):
        for side in range(2):
            if place[e, side] < 0:
                continue
            at = place[e, side] + (n_right if side == 0 else 0)
            w = pool.case[a + e, 0]
            if goes[e] == 2:
                w *= share if side == 0 else 1.0 - share
            spare.row[at] = pool.row[a + e]
            spare.case[at, 0], spare.case[at, 1] = w, pool.case[a + e, 1]


@inner
def divide_keys(key, spare, a, known_rows, place, size, child_known):
    """Copy the keys of the branches that grow, in order, and count those with a value."""
    for s in range(len(key)):
        left, right = size[1], int64(0)
        for i in range(known_rows[s]):
            current = key[s, a + i]
            e = int64(current & ENTRY)
            rank = current & ~ENTRY
            to_left, to_right = place[e, 0], place[e, 1]
            if to_right >= 0:
                spare[s, right] = rank | uint64(to_right)
                right += 1
            if to_left >= 0:
                spare[s, left] = rank | uint64(to_left)
                left += 1
        child_known[0, s], child_known[1, s] = left - size[1], right


@inner
def start_pool(size, n_numeric):
    """Allocate a pool."""
    key = np.empty((n_numeric, size), dtype=np.uint64)
    return Pool(np.empty(size, dtype=np.int32), np.empty((size, 2)), key)


@inner
def make_room(pool, used, size):
    """Return a pool with at least ``size`` places, keeping the first ``used`` entries."""
    if size <= len(pool.row):
        return pool
    longer = start_pool(max(size, 2 * len(pool.row)), len(pool.key))
    copy_pool(pool, used, longer, 0)
    return longer


@inner
def copy_pool(pool, number, target, at):
    """Copy the first entries to the place ``at`` of ``target``."""
    for e in range(number):
        target.row[at + e] = pool.row[e]
        target.case[at + e, 0], target.case[at + e, 1] = pool.case[e, 0], pool.case[e, 1]
    for s in range(len(pool.key)):
        for e in range(number):
            target.key[s, at + e] = pool.key[s, e]


@inner
def cut_value(key, columns, s, a, cut):
    """Return the midpoint of the values before and after a cut."""
    first = columns.level_start[s]
    lower = columns.level[first + int64(key[s, a + cut - 1] >> RANK)]
    return midpoint(lower, columns.level[first + int64(key[s, a + cut] >> RANK)])


@inner
def add_node(tests, numbers, node, measured, depth, options):
    """Start a node as a leaf; return whether it may be divided."""
    total, mean, variance, differ = measured
    tests[node, 0], tests[node, 1], tests[node, 2] = -1, 0, -1
    numbers[node, 0], numbers[node, 1] = np.nan, total
    numbers[node, 2], numbers[node, 3] = mean, variance
    heavy = total >= max(options.min_split, 2 * options.min_leaf) - SMALL
    return differ and heavy and variance > options.epsilon and depth < options.max_depth


@inner
def start_categories(n_categories):
    """Return the work space for the nominal column with the most categories."""
    widest = int64(2)
    for f in range(len(n_categories)):
        widest = max(widest, n_categories[f])
    rank, child_of = np.empty(widest, dtype=np.int64), np.empty(widest, dtype=np.int32)
    return Categories(np.empty(widest), np.empty(widest), rank, child_of)


@inner
def add_pending(pending, n_pending, node, first, number, depth, known, line):
    """Add a node to the list of nodes to grow; return the list, extended if necessary."""
    if n_pending == len(pending):
        pending = lengthen(pending, n_pending, 2 * n_pending)
    pending[n_pending, 0], pending[n_pending, 1] = node, first
    pending[n_pending, 2], pending[n_pending, 3] = number, depth
    for s in range(known.shape[1]):
        pending[n_pending, 4 + s] = known[line, s]
    return pending


@inner
def add_mapping(mapping, n_mapped, child_of, number):
    """Write the branches of the categories of a test; return the list, extended if necessary."""
    if n_mapped + number > len(mapping):
        mapping = lengthen(mapping, n_mapped, 2 * len(mapping) + number)
    for k in range(number):
        mapping[n_mapped + k] = child_of[k]
    return mapping


@entry
def grow_squares(
    target: In(float64, 1, "C"),
    weight: In(float64, 1, "C"),
    columns: SortedColumns,
    options: SquaresOptions,
):
    """Grow the tree; ``columns.key`` is overwritten.

    Returns two matrices, an array and the numbers of nodes and of mapped categories. A row of the
    first matrix holds feature (-1 in a leaf), first child and category_start (-1 if not nominal); a
    row of the second holds threshold, weight, mean and variance. The array holds the branch of each
    category of nominal nodes.
    """
    n_rows, n_numeric = len(target), len(columns.key)
    pool = Pool(np.empty(n_rows, dtype=np.int32), np.empty((n_rows, 2)), columns.key)
    for i in range(n_rows):
        pool.row[i], pool.case[i, 0], pool.case[i, 1] = i, weight[i], target[i]
    spare, categories = start_pool(n_rows, n_numeric), start_categories(columns.n_categories)
    goes, place = np.zeros(n_rows, dtype=np.int8), np.empty((n_rows, 2), dtype=np.int32)
    tests, numbers = np.empty((64, 3), dtype=np.int32), np.empty((64, 4))
    mapping = np.empty(64, dtype=np.int32)
    # Nodes still to be grown: node, first entry, number of entries, depth, known values by column.
    pending = np.empty((64, 4 + n_numeric), dtype=np.int64)
    known_rows, child_known = columns.n_known.copy(), np.empty((2, n_numeric), dtype=np.int64)
    grows, size = np.empty(2, dtype=np.bool_), np.zeros(2, dtype=np.int64)
    whole = measure_branch(pool.case, 0, n_rows, goes, 0, 1.0)
    n_nodes, n_mapped, n_pending = 1, 0, 0
    if add_node(tests, numbers, 0, whole, 0, options):
        pending = add_pending(pending, 0, 0, 0, n_rows, 0, known_rows.reshape(1, n_numeric), 0)
        n_pending = 1
    while n_pending > 0:
        n_pending -= 1
        node, a, m = pending[n_pending, 0], pending[n_pending, 1], pending[n_pending, 2]
        depth = pending[n_pending, 3] + 1
        for s in range(n_numeric):
            known_rows[s] = pending[n_pending, 4 + s]
        total, mean = numbers[node, 1], numbers[node, 2]
        chosen, cut = search_test(
            pool, columns, a, m, known_rows, total, mean, options.min_leaf, categories
        )
        if chosen < 0:
            continue
        if n_nodes + 2 > len(tests):
            numbers = lengthen(numbers, n_nodes, 2 * len(tests))
            tests = lengthen(tests, n_nodes, 2 * len(tests))
        tests[node, 0], tests[node, 1] = chosen, n_nodes
        if columns.n_categories[chosen] == 0:
            numbers[node, 0] = cut_value(pool.key, columns, columns.slot[chosen], a, cut)
        else:
            map_sides(pool, columns, chosen, cut, a, m, mean, categories)
            n_categories = columns.n_categories[chosen]
            mapping = add_mapping(mapping, n_mapped, categories.child_of, n_categories)
            tests[node, 2] = n_mapped
            n_mapped += n_categories
        child_of = categories.child_of
        share = assign_sides(pool, columns, chosen, cut, a, m, known_rows, child_of, goes)
        for side in range(2):
            part = share if side == 0 else 1.0 - share
            measured = measure_branch(pool.case, a, m, goes, side, part)
            grows[side] = add_node(tests, numbers, n_nodes + side, measured, depth, options)
        if grows[0] or grows[1]:
            place_entries(goes, m, grows, place, size)
            spare = make_room(spare, 0, size.sum())
            divide_cases(pool, spare, a, m, goes, share, place, size)
            divide_keys(pool.key, spare.key, a, known_rows, place, size, child_known)
            pool = make_room(pool, a, a + size.sum())
            copy_pool(spare, size.sum(), pool, a)
        first = a
        for side in (1, 0):  # the left branch is last in the pool and is grown first
            if grows[side]:
                node = n_nodes + side
                pending = add_pending(
                    pending, n_pending, node, first, size[side], depth, child_known, side
                )
                n_pending += 1
                first += size[side]
        n_nodes += 2
    return tests, numbers, mapping, n_nodes, n_mapped
