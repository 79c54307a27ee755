"""Grow a regression tree: numeric and nominal columns, missing values, weights.

A node holds *entries*: a row, the part of its weight that came here, and its target. A row whose
value is missing becomes one entry in either branch. The entries of the nodes still to be grown lie
behind one another in one pool; the node being grown is the last, and its children replace it.

For every numeric column the entries with a value are kept as uint64 keys in the order of the
values, ``rank of the value | entry``, so only the root sorts, and ties are seen without the values.
"""

import numpy as np
from numpy import float64, int32, int64, uint64

from keeptree._compiled.declare import In, Out, entry, inner

SMALL = 1e-6  # rounding of sums of fractional weights
TIE = 1.0 + 1e-10  # a cut must be better by this factor, so the first of equal ones wins
ENTRY = uint64(0xFFFFFFFF)
RANK = uint64(32)


@inner
def measure_branch(case, a, m, goes, side, share):
    """(weight, mean, variance, whether the targets differ) of the entries of one branch.

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
    # The mean of nearly equal numbers must not leave their range by rounding.
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
def search_cuts(key, case, s, a, m, known_rows, total, mean, min_leaf):
    """Best cut of a numeric column as (reduction of the squares, entries on the left, 0 for none).

    With the targets centred, a cut into weights u and v with the sum S on the left saves
    S^2 (u + v) / (u v). Rows without a value save nothing.
    """
    known = total
    if known_rows < m:
        known, first_sum = 0.0, 0.0
        for i in range(known_rows):
            e = a + int64(key[s, a + i] & ENTRY)
            known += case[e, 0]
            first_sum += case[e, 0] * (case[e, 1] - mean)
        if known > 0:
            mean += first_sum / known
    least = min_leaf - SMALL
    best, best_product, position = -1.0, 1.0, 0
    weight_left, sum_left = 0.0, 0.0
    for i in range(known_rows - 1):
        current = key[s, a + i]
        e = a + int64(current & ENTRY)
        w = case[e, 0]
        weight_left += w
        sum_left += w * (case[e, 1] - mean)
        if current >> RANK == key[s, a + i + 1] >> RANK:
            continue
        weight_right = known - weight_left
        if weight_right < least:
            break
        product = weight_left * weight_right
        if weight_left >= least and sum_left * sum_left * best_product > best * product * TIE:
            best, best_product, position = sum_left * sum_left, product, i + 1
    return best * known / best_product, position


@inner
def sort_by_mean(rank, number, held, sums):
    """Shell sort by mean, then category; numba's own sort takes seconds to compile."""
    gap = number // 2
    while gap > 0:
        for i in range(gap, number):
            k = rank[i]
            mean = sums[k] / held[k]
            at = i
            while at >= gap:
                other = rank[at - gap]
                above = sums[other] / held[other]
                if above < mean or (above == mean and other < k):
                    break
                rank[at] = other
                at -= gap
            rank[at] = k
        gap //= 2


@inner
def order_categories(case, row, code, s, a, m, mean, n, held, sums, rank):
    """Fill weight and centred sum of each category and rank those present by their mean.

    Breiman et al. 1984, section 8.8: the best two sets of categories are a cut of this order.
    Returns the number present and the weight with a value.
    """
    known, present = 0.0, 0
    for k in range(n):
        held[k], sums[k] = 0.0, 0.0
    for e in range(a, a + m):
        k = code[s, row[e]]
        if k >= 0:
            held[k] += case[e, 0]
            sums[k] += case[e, 0] * (case[e, 1] - mean)
            known += case[e, 0]
    for k in range(n):
        if held[k] > 0:
            rank[present] = k
            present += 1
    sort_by_mean(rank, present, held, sums)
    return present, known


@inner
def search_subsets(known, present, min_leaf, held, sums, rank):
    """Best cut of the ranked categories as (reduction, categories on the left, 0 for none)."""
    shift = 0.0
    for i in range(present):
        shift += sums[rank[i]]
    least = min_leaf - SMALL
    best, taken = -1.0, 0
    weight_left, sum_left = 0.0, 0.0
    for i in range(present - 1):
        k = rank[i]
        weight_left += held[k]
        sum_left += sums[k] - held[k] * shift / known
        weight_right = known - weight_left
        if weight_left < least or weight_right < least:
            continue
        reduction = sum_left * sum_left * known / (weight_left * weight_right)
        if best < 0 or reduction > best * TIE:
            best, taken = reduction, i + 1
    return best, taken


@inner
def search_node(pool, data, a, m, known_rows, total, mean, min_leaf, work):
    """(column, cut) of the largest reduction, the first of ties; column -1 for none."""
    row, case, key = pool
    code, slot, n_categories = data
    held, sums, rank, _ = work
    best, chosen, cut = -1.0, int64(-1), int64(0)
    for f in range(len(slot)):
        s, n = slot[f], n_categories[f]
        if n == 0:
            reduction, at = search_cuts(key, case, s, a, m, known_rows[s], total, mean, min_leaf)
        else:
            present, known = order_categories(case, row, code, s, a, m, mean, n, held, sums, rank)
            reduction, at = search_subsets(known, present, min_leaf, held, sums, rank)
        if at > 0 and (chosen < 0 or reduction > best * TIE):
            best, chosen, cut = reduction, int64(f), int64(at)
    return chosen, cut


@inner
def map_categories(pool, data, chosen, cut, a, m, mean, work):
    """Fill the branch of each category of the chosen column."""
    code, slot, n_categories = data
    held, sums, rank, child_of = work
    n = n_categories[chosen]
    present, known = order_categories(
        pool[1], pool[0], code, slot[chosen], a, m, mean, n, held, sums, rank
    )
    weight_left = 0.0
    for i in range(cut):
        weight_left += held[rank[i]]
    # A category nobody has here follows the heavier branch.
    for k in range(n):
        child_of[k] = 1 if 2 * weight_left < known else 0
    for i in range(present):
        child_of[rank[i]] = 0 if i < cut else 1


@inner
def assign_branches(pool, data, chosen, cut, a, m, known_rows, child_of, goes):
    """Fill the branch of each entry, 2 for both; returns the left one's share."""
    row, case, key = pool
    code, slot, n_categories = data
    s = slot[chosen]
    if n_categories[chosen] == 0:
        for e in range(m):
            goes[e] = 2
        for i in range(known_rows[s]):
            goes[int64(key[s, a + i] & ENTRY)] = 0 if i < cut else 1
    else:
        for e in range(m):
            k = code[s, row[a + e]]
            goes[e] = child_of[k] if k >= 0 else 2
    left, known = 0.0, 0.0
    for e in range(m):
        if goes[e] < 2:
            known += case[a + e, 0]
            if goes[e] == 0:
                left += case[a + e, 0]
    return left / known


@inner
def place_entries(goes, m, grows, place):
    """Fill the position of each entry in the left and in the right branch, -1 where it is not.

    A branch that does not grow gets no entry. Returns the sizes of the branches.
    """
    left, right = int64(0), int64(0)
    for e in range(m):
        to_left, to_right = grows[0] and goes[e] != 1, grows[1] and goes[e] != 0
        place[e, 0], place[e, 1] = left if to_left else -1, right if to_right else -1
        left += to_left
        right += to_right
    return left, right


@inner
def divide_cases(pool, spare, a, m, goes, share, place, size):
    """Copy the entries of the branches that grow, the right one first."""
    row, case, _ = pool
    for e in range(m):
        for side in range(2):
            if place[e, side] < 0:
                continue
            at = place[e, side] + (size[1] if side == 0 else 0)
            w = case[a + e, 0]
            if goes[e] == 2:
                w *= share if side == 0 else 1.0 - share
            spare[0][at] = row[a + e]
            spare[1][at, 0], spare[1][at, 1] = w, case[a + e, 1]


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
def make_room(pool, used, size):
    """A pool with at least ``size`` places, of which ``used`` are kept."""
    row, _, key = pool
    if size <= len(row):
        return pool
    size = max(size, 2 * len(row))
    new_row, new_case = np.empty(size, dtype=np.int32), np.empty((size, 2))
    new_key = np.empty((len(key), size), dtype=np.uint64)
    longer = (new_row, new_case, new_key)
    copy_pool(pool, used, longer, 0)
    return longer


@inner
def copy_pool(pool, number, target, at):
    """Copy the first entries to the place ``at`` of ``target``."""
    for e in range(number):
        target[0][at + e] = pool[0][e]
        target[1][at + e, 0], target[1][at + e, 1] = pool[1][e, 0], pool[1][e, 1]
    for s in range(len(pool[2])):
        for e in range(number):
            target[2][s, at + e] = pool[2][s, e]


@inner
def lengthen(matrix, size):
    """A copy with more lines."""
    longer = np.empty((size, matrix.shape[1]), dtype=matrix.dtype)
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            longer[i, j] = matrix[i, j]
    return longer


@inner
def cut_value(key, level, level_start, s, a, cut):
    """Midpoint of the values before and behind a cut, below the upper one."""
    lower = level[level_start[s] + int64(key[s, a + cut - 1] >> RANK)]
    upper = level[level_start[s] + int64(key[s, a + cut] >> RANK)]
    middle = lower / 2 + upper / 2
    return lower if middle >= upper else middle


@inner
def add_node(tests, numbers, node, measured, depth, options):
    """Start a node as a leaf; returns whether it may be divided."""
    total, mean, variance, differ = measured
    min_leaf, min_split, epsilon, max_depth = options
    tests[node, 0], tests[node, 1], tests[node, 2] = -1, 0, -1
    numbers[node, 0], numbers[node, 1] = np.nan, total
    numbers[node, 2], numbers[node, 3] = mean, variance
    heavy = total >= max(min_split, 2 * min_leaf) - SMALL
    return differ and heavy and variance > epsilon and depth < max_depth


@inner
def start_work(target, weight, key, n_categories):
    """(pool of all rows, spare pool, work space of the search, branch and places of entries)."""
    n_rows = len(target)
    widest = int64(2)
    for f in range(len(n_categories)):
        widest = max(widest, n_categories[f])
    pool = (np.empty(n_rows, dtype=np.int32), np.empty((n_rows, 2)), key)
    spare = (np.empty(n_rows, dtype=np.int32), np.empty((n_rows, 2)), np.empty_like(key))
    for i in range(n_rows):
        pool[0][i], pool[1][i, 0], pool[1][i, 1] = i, weight[i], target[i]
    rank, child_of = np.empty(widest, dtype=np.int64), np.empty(widest, dtype=np.int32)
    work = (np.empty(widest), np.empty(widest), rank, child_of)
    return pool, spare, work, np.zeros(n_rows, dtype=np.int8), np.empty((n_rows, 2), dtype=np.int32)


@inner
def add_pending(pending, n_pending, node, first, number, depth, known):
    """Put a node on the list of those to be grown; returns the list, longer if need be."""
    if n_pending == len(pending):
        pending = lengthen(pending, 2 * len(pending))
    pending[n_pending, 0], pending[n_pending, 1] = node, first
    pending[n_pending, 2], pending[n_pending, 3] = number, depth
    for s in range(len(known)):
        pending[n_pending, 4 + s] = known[s]
    return pending


@inner
def add_mapping(categories, n_mapped, child_of, number):
    """Write the branches of the categories of a test; returns the list, longer if need be."""
    if n_mapped + number > len(categories):
        categories = lengthen(categories, 2 * len(categories) + number)
    for k in range(number):
        categories[n_mapped + k, 0] = child_of[k]
    return categories


@entry
def grow_squares(
    target: In(float64, 1, "C"),
    weight: In(float64, 1, "C"),
    key: Out(uint64, 2),
    n_known: In(int64, 1, "C"),
    level: In(float64, 1, "C"),
    level_start: In(int64, 1, "C"),
    code: In(int32, 2, "C"),
    slot: In(int64, 1, "C"),
    n_categories: In(int64, 1, "C"),
    min_leaf: float,
    min_split: float,
    epsilon: float,
    max_depth: int,
):
    """Grow the tree.

    Column f is line ``slot[f]`` of ``key`` (numeric; its first ``n_known`` keys, which are used
    up; its distinct values are ``level`` from ``level_start`` on) or of ``code`` (nominal, -1 where
    missing; ``n_categories[f]`` is not 0).

    Returns three matrices and their used lengths. A line of the first is feature (-1 in a leaf),
    first child and category_start (-1 if not nominal); of the second threshold, weight, mean and
    variance; of the third the branch of each category of nominal nodes.
    """
    data = (code, slot, n_categories)
    options = (min_leaf, min_split, epsilon, max_depth)
    pool, spare, work, goes, place = start_work(target, weight, key, n_categories)
    n_rows, n_numeric = len(target), len(key)
    tests, numbers = np.empty((64, 3), dtype=np.int32), np.empty((64, 4))
    categories = np.empty((64, 1), dtype=np.int32)
    # Nodes still to be grown: node, first entry, number of entries, depth, known values by column.
    pending = np.empty((64, 4 + n_numeric), dtype=np.int64)
    known_rows, child_known = n_known.copy(), np.empty((2, n_numeric), dtype=np.int64)
    grows = np.empty(2, dtype=np.bool_)
    whole = measure_branch(pool[1], 0, n_rows, goes, 0, 1.0)
    n_nodes, n_mapped, n_pending = 1, 0, 0
    if add_node(tests, numbers, 0, whole, 0, options):
        pending = add_pending(pending, 0, 0, 0, n_rows, 0, known_rows)
        n_pending = 1
    while n_pending > 0:
        n_pending -= 1
        node, a, m = pending[n_pending, 0], pending[n_pending, 1], pending[n_pending, 2]
        depth = pending[n_pending, 3] + 1
        for s in range(n_numeric):
            known_rows[s] = pending[n_pending, 4 + s]
        total, mean = numbers[node, 1], numbers[node, 2]
        chosen, cut = search_node(pool, data, a, m, known_rows, total, mean, min_leaf, work)
        if chosen < 0:
            continue
        if n_nodes + 2 > len(tests):
            tests = lengthen(tests, 2 * len(tests))
            numbers = lengthen(numbers, len(tests))
        tests[node, 0], tests[node, 1] = chosen, n_nodes
        if n_categories[chosen] == 0:
            numbers[node, 0] = cut_value(pool[2], level, level_start, slot[chosen], a, cut)
        else:
            map_categories(pool, data, chosen, cut, a, m, mean, work)
            categories = add_mapping(categories, n_mapped, work[3], n_categories[chosen])
            tests[node, 2] = n_mapped
            n_mapped += n_categories[chosen]
        share = assign_branches(pool, data, chosen, cut, a, m, known_rows, work[3], goes)
        for side in range(2):
            part = share if side == 0 else 1.0 - share
            measured = measure_branch(pool[1], a, m, goes, side, part)
            grows[side] = add_node(tests, numbers, n_nodes + side, measured, depth, options)
        if grows[0] or grows[1]:
            size = place_entries(goes, m, grows, place)
            spare = make_room(spare, 0, size[0] + size[1])
            divide_cases(pool, spare, a, m, goes, share, place, size)
            divide_keys(pool[2], spare[2], a, known_rows, place, size, child_known)
            pool = make_room(pool, a, a + size[0] + size[1])
            copy_pool(spare, size[0] + size[1], pool, a)
            first = a
            for side in (1, 0):  # the left branch lies last in the pool and is grown first
                if grows[side]:
                    pending = add_pending(
                        pending,
                        n_pending,
                        n_nodes + side,
                        first,
                        size[side],
                        depth,
                        child_known[side],
                    )
                    n_pending += 1
                    first += size[side]
        n_nodes += 2
    return tests, numbers, categories, n_nodes, n_mapped
