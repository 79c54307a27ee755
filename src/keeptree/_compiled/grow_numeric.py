"""Grow a J48 tree on complete, unweighted numeric data: every column is sorted once.

A column is a list of uint64 keys in the order of its values: ``group | row | class``. The rows of a
node are one range of every list, and a split divides that range stably, so no node sorts again.
Counts are whole numbers; their logarithms come from a table.

Groups stand for the rule that a cut needs ``u + 1e-5 < v``. A group starts at the first value that
can be cut from the first one of the group before. Two values of one group can never be cut apart;
values two or more apart in group number always can; for neighbouring numbers the values decide. A
boundary that is clean for every pair advances the number by two, so values are rarely looked up.
"""

import numpy as np
from numpy import float64, int32, int64, uint64

from keeptree._compiled.declare import In, Out, entry, inner

SMALL = 1e-6  # J48's tolerance
NEVER_CUT = 1e-5  # neighbours closer than this are not separated
GAIN_RATIO, GINI = 0, 2  # criterion: 1 is the information gain
MOST_MOVES = 8  # per row, before another sort is the better one


@entry
def pack_values(
    value_bits: In(uint64, 1),
    row_bits: int,
    key: Out(uint64, 1),
):
    """Fill what sorts as the values do: their high bits, with the row in place of the low ones.

    ``value_bits`` are float64 numbers seen as uint64. A much faster sort than that of row numbers;
    :func:`fill_keys` puts values in order that differ in the low bits only.
    """
    sign = uint64(1) << uint64(63)
    low = (uint64(1) << uint64(row_bits)) - uint64(1)
    for i in range(len(key)):
        bits = value_bits[i]
        bits = ~bits if bits & sign else bits | sign
        key[i] = (bits & ~low) | uint64(i)


@entry
def fill_keys(
    value: In(float64, 1),
    label: In(int64, 1),
    row_bits: int,
    class_bits: int,
    key: Out(uint64, 1),
):
    """Turn sorted keys of :func:`pack_values`, or row numbers by value, into a column's keys.

    Returns False, having done nothing useful, if too many values differ in the low bits only.
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


@inner
def impurity(total, terms, gini, table):
    """Weight x impurity of a set: ``terms`` sums the table over its classes."""
    if gini:
        return total - terms / total if total > 0 else 0.0
    return table[total] - terms


@inner
def least_side(n, n_classes, min_leaf):
    """Smallest weight J48 allows on one side of a numeric cut."""
    side = 0.1 * n / n_classes
    if side - min_leaf < SMALL:
        return float64(min_leaf)
    return 25.0 if side - 25.0 > SMALL else side


@inner
def scan_cuts(key, value, f, a, b, bits, counts, node, side, gini, table, left, right):
    """Best cut of column f in the range a:b as (gain, position, number of candidates)."""
    row_bits, class_bits = bits
    class_mask = (uint64(1) << uint64(class_bits)) - uint64(1)
    row_mask = (uint64(1) << uint64(row_bits)) - uint64(1)
    group_shift = uint64(row_bits + class_bits)
    n = b - a
    first = int64(np.ceil(side - SMALL))
    if first - (side - SMALL) <= 0:
        first += 1
    if (key[f, a] >> group_shift) == (key[f, b - 1] >> group_shift) or 2 * first > n:
        return 0.0, -1, 0
    base_terms = 0.0
    for c in range(len(left)):
        left[c] = 0
        right[c] = counts[node, c]
        base_terms += table[counts[node, c]]
    for i in range(a, a + first - 1):
        c = int64(key[f, i] & class_mask)
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
        c = int64(previous & class_mask)
        held = left[c]
        terms_left += table[held + 1] - table[held]
        left[c] = held + 1
        held = right[c]
        terms_right -= table[held] - table[held - 1]
        right[c] = held - 1
        current = key[f, i]
        apart = (current >> group_shift) - (previous >> group_shift)
        if apart != uint64(0):
            possible = apart > uint64(1)
            if not possible:
                u = value[f, int64((previous >> uint64(class_bits)) & row_mask)]
                v = value[f, int64((current >> uint64(class_bits)) & row_mask)]
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
def choose_column(gain, ratio):
    """J48's choice: the largest ratio among the columns of at least average gain; -1 for none."""
    total, valid = 0.0, 0
    for f in range(len(gain)):
        if gain[f] > 0:
            total += gain[f]
            valid += 1
    best, chosen = 0.0, -1
    for f in range(len(gain)):
        if gain[f] > 0 and gain[f] >= total / valid - 1e-3 and ratio[f] - best > SMALL:
            best, chosen = ratio[f], f
    return chosen


@inner
def search_node(key, value, a, b, bits, counts, node, min_leaf, criterion, mdl, table, work):
    """Best test of the range a:b as (column, position), column -1 for none."""
    gain, ratio, position, left, right = work
    n = b - a
    side = least_side(n, counts.shape[1], min_leaf)
    gini = criterion == GINI
    for f in range(len(gain)):
        gain[f] = 0.0
        if 2 * side - n > SMALL:
            continue
        best, cut, candidates = scan_cuts(
            key, value, f, a, b, bits, counts, node, side, gini, table, left, right
        )
        if mdl and candidates > 0 and not gini:
            best -= np.log2(float64(candidates)) / n
        if cut < 0 or best < SMALL:
            continue
        gain[f] = best
        ratio[f] = best
        position[f] = cut
        if criterion == GAIN_RATIO:
            info = table[n] - table[cut - a] - table[b - cut]
            ratio[f] = best / (info / n) if info >= SMALL else 0.0
    chosen = choose_column(gain, ratio)
    return chosen, (position[chosen] if chosen >= 0 else int64(-1))


@inner
def divide_ranges(key, chosen, a, cut, b, bits, goes_left, keep_right, spare):
    """Divide the range a:b of every list at the cut of column ``chosen``, stably."""
    row_bits, class_bits = bits
    row_mask = (uint64(1) << uint64(row_bits)) - uint64(1)
    for i in range(a, b):
        goes_left[int64((key[chosen, i] >> uint64(class_bits)) & row_mask)] = i < cut
    for f in range(key.shape[0]):
        if f == chosen:
            continue
        if keep_right:
            at_left, at_right = a, 0
            for i in range(a, b):
                entry = key[f, i]
                to_left = goes_left[int64((entry >> uint64(class_bits)) & row_mask)]
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
                at_left += goes_left[int64((entry >> uint64(class_bits)) & row_mask)]


@inner
def midpoint(lower, upper):
    """J48's threshold between two neighbours."""
    middle = (lower + upper) / 2
    return lower if middle == upper else middle


@inner
def is_leaf(counts, node, min_leaf, level, max_depth):
    """Whether J48 does not split: too light, one class only, or deep enough."""
    total, largest = 0, 0
    for c in range(counts.shape[1]):
        total += counts[node, c]
        largest = max(largest, counts[node, c])
    return total < 2 * min_leaf or total == largest or level >= max_depth


@inner
def add_node(nodes, node, first, end, level):
    """Start a node as a leaf of the rows ``first`` to ``end``."""
    feature, threshold, first_child, _, span = nodes
    feature[node], threshold[node], first_child[node] = -1, np.nan, 0
    span[node, 0], span[node, 1], span[node, 2] = first, end, level


@inner
def split_node(key, value, node, chosen, cut, bits, nodes, left):
    """Make ``node`` a test with the new children ``left`` and ``left + 1``."""
    feature, threshold, first_child, counts, span = nodes
    row_bits, class_bits = bits
    row_mask = (uint64(1) << uint64(row_bits)) - uint64(1)
    class_mask = (uint64(1) << uint64(class_bits)) - uint64(1)
    a, b, level = span[node, 0], span[node, 1], span[node, 2]
    lower = value[chosen, int64((key[chosen, cut - 1] >> uint64(class_bits)) & row_mask)]
    upper = value[chosen, int64((key[chosen, cut] >> uint64(class_bits)) & row_mask)]
    feature[node], threshold[node], first_child[node] = chosen, midpoint(lower, upper), left
    add_node(nodes, left, a, cut, level + 1)
    add_node(nodes, left + 1, cut, b, level + 1)
    for c in range(counts.shape[1]):
        counts[left, c] = 0
    for i in range(a, cut):
        counts[left, int64(key[chosen, i] & class_mask)] += 1
    for c in range(counts.shape[1]):
        counts[left + 1, c] = counts[node, c] - counts[left, c]


@entry
def grow_numeric(
    key: Out(uint64, 2),
    value: In(float64, 2, "C"),
    row_bits: int,
    class_bits: int,
    min_leaf: int,
    max_depth: int,
    criterion: int,
    mdl: bool,
    table: In(float64, 1, "C"),
    feature: Out(int32, 1),
    threshold: Out(float64, 1),
    first_child: Out(int32, 1),
    counts: Out(int64, 2),
    span: Out(int64, 2),
):
    """Grow the tree and return its number of nodes; ``key`` (columns x rows) is used up.

    Fills feature (-1 in a leaf), threshold (the midpoint), first_child and counts of the nodes, of
    which ``counts[0]`` is given; ``span`` is work space. The children of a node are ``first_child``
    and the next one, both behind it.
    """
    n_columns, n_rows = key.shape
    n_classes = counts.shape[1]
    bits = (row_bits, class_bits)
    nodes = (feature, threshold, first_child, counts, span)
    work = (
        np.empty(n_columns),
        np.empty(n_columns),
        np.empty(n_columns, dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
    )
    goes_left = np.empty(n_rows, dtype=np.uint8)
    spare = np.empty(n_rows, dtype=np.uint64)
    pending = np.empty(len(feature), dtype=np.int64)
    add_node(nodes, int64(0), int64(0), n_rows, int64(0))
    n_nodes, n_pending = int64(1), int64(0)
    if not is_leaf(counts, int64(0), min_leaf, int64(0), max_depth):
        pending[0] = 0
        n_pending = 1
    while n_pending > 0:
        n_pending -= 1
        node = pending[n_pending]
        a, b, level = span[node, 0], span[node, 1], span[node, 2] + 1
        chosen, cut = search_node(
            key, value, a, b, bits, counts, node, min_leaf, criterion, mdl, table, work
        )
        if chosen < 0:
            continue
        left = n_nodes
        n_nodes += 2
        split_node(key, value, node, chosen, cut, bits, nodes, left)
        grow_left = not is_leaf(counts, left, min_leaf, level, max_depth)
        grow_right = not is_leaf(counts, left + 1, min_leaf, level, max_depth)
        if grow_left or grow_right:
            divide_ranges(key, chosen, a, cut, b, bits, goes_left, grow_right, spare)
        if grow_right:
            pending[n_pending] = left + 1
            n_pending += 1
        if grow_left:
            pending[n_pending] = left
            n_pending += 1
    return n_nodes
