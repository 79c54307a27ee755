"""Grow a J48 tree on any data: nominal columns, missing values, weights.

A node holds *entries*: a row and the part of its weight that came here. A row whose value is
missing becomes one entry in every branch. The entries of the nodes still to be grown lie behind
one another in one pool; the node being grown is the last, and its children replace it. For every
numeric column the entries with a value are kept in the order of the values, so only the root sorts.
"""

import numpy as np
from numba import boolean, float64, int32, int64, void

from keeptree._kernels.jit import kernel, readonly

SMALL = 1e-6  # J48's tolerance
NEVER_CUT = 1e-5  # neighbours closer than this are not separated
GAIN_RATIO, GINI = 0, 2  # criterion: 1 is the information gain
MULTIWAY, ONE_AGAINST_REST, SUBSETS = 0, 1, 2  # what a nominal test looks like


@kernel(
    void(readonly(float64, 2, "C"), readonly(int64, 1), readonly(int64, 1), int64, int32[:, ::1])
)
def code_cells(columns, nominal, label, n_classes, cell):
    """Fill category x n_classes + class of the nominal columns, -1 where missing."""
    for s in range(len(nominal)):
        for i in range(len(label)):
            code = columns[nominal[s], i]
            cell[s, i] = -1 if np.isnan(code) else int64(code) * n_classes + label[i]


@kernel
def clear(array, size):
    """Set the first numbers of an array to zero."""
    for i in range(size):
        array[i] = 0.0


@kernel
def term(count, gini, table):
    """Return count^2, or count x log2(count), from the table if the count is whole."""
    if gini:
        return count * count
    if count < SMALL:
        return 0.0
    whole = int64(count)
    if whole == count and whole < len(table):
        return table[whole]
    return count * np.log2(count)


@kernel
def impurity(total, terms, gini, table):
    """Weight x impurity of a set: ``terms`` sums :func:`term` over its classes."""
    if gini:
        return total - terms / total if total > SMALL else 0.0
    return term(total, gini, table) - terms


@kernel
def scaled_gain(difference, known, total):
    """Gain per unit of weight; the rows without a value count as no gain."""
    product = known / total * difference
    return 0.0 if abs(product) < SMALL else product / known


@kernel
def gain_ratio(gain, branch_terms, branches_total, total, table):
    """Gain over split information; the rows without a value are one more branch."""
    info = term(total, False, table) - branch_terms - term(total - branches_total, False, table)
    return 0.0 if abs(info) < SMALL else gain / (info / total)


@kernel
def search_cuts(sorted_entry, known_rows, row, weight, label, value, slot, a, total, options, work):
    """Best numeric cut as (valid, gain, ratio, number of entries on the left)."""
    min_leaf, criterion, mdl, table = options
    gini = criterion == GINI
    left, right = work
    clear(left, len(left))
    clear(right, len(right))
    known = 0.0
    for i in range(known_rows):
        e = a + sorted_entry[slot, a + i]
        right[label[row[e]]] += weight[e]
        known += weight[e]
    side = 0.1 * known / len(left)
    if side - min_leaf < SMALL:
        side = min_leaf
    elif side - 25.0 > SMALL:
        side = 25.0
    if known_rows < 2 or 2 * side - known_rows > SMALL:
        return False, 0.0, 0.0, 0
    terms_left = 0.0
    terms_right = 0.0
    for c in range(len(right)):
        terms_right += term(right[c], gini, table)
    base = impurity(known, terms_right, gini, table)
    best, position, candidates, best_left = 0.0, 0, 0, 0.0
    weight_left = 0.0
    e = a + sorted_entry[slot, a]
    u = value[slot, row[e]]
    for i in range(1, known_rows):
        c = label[row[e]]
        w = weight[e]
        terms_left += term(left[c] + w, gini, table) - term(left[c], gini, table)
        terms_right += term(right[c] - w, gini, table) - term(right[c], gini, table)
        left[c] += w
        right[c] -= w
        weight_left += w
        e = a + sorted_entry[slot, a + i]
        v = value[slot, row[e]]
        if u + NEVER_CUT < v:
            if side - (known - weight_left) >= SMALL:
                break
            if side - weight_left < SMALL:
                candidates += 1
                after = impurity(weight_left, terms_left, gini, table) + impurity(
                    known - weight_left, terms_right, gini, table
                )
                gain = scaled_gain(base - after, known, total)
                if gain - best > SMALL:
                    best, position, best_left = gain, i, weight_left
        u = v
    if mdl and candidates > 0 and not gini:
        best -= np.log2(float64(candidates)) / total
    if position == 0 or best < SMALL:
        return False, 0.0, 0.0, 0
    ratio = best
    if criterion == GAIN_RATIO:
        parts = term(best_left, False, table) + term(known - best_left, False, table)
        ratio = gain_ratio(best, parts, known, total, table)
    return True, best, ratio, position


@kernel
def fill_cells(row, weight, cell, slot, a, m, n_categories, cells, in_category, in_class):
    """Weights of each category x class of a nominal column; returns the weight with a value."""
    n_classes = len(in_class)
    clear(cells, n_categories * n_classes)
    clear(in_class, n_classes)
    for e in range(a, a + m):
        at = cell[slot, row[e]]
        if at >= 0:
            cells[at] += weight[e]
    known = 0.0
    for k in range(n_categories):
        in_category[k] = 0.0
        for c in range(n_classes):
            in_category[k] += cells[k * n_classes + c]
            in_class[c] += cells[k * n_classes + c]
        known += in_category[k]
    return known


@kernel
def search_multiway(n_categories, cells, in_category, in_class, known, total, options):
    """One branch per declared category as (valid, gain, ratio)."""
    min_leaf, criterion, _, table = options
    gini = criterion == GINI
    n_classes = len(in_class)
    enough = 0
    base_terms = 0.0
    for c in range(n_classes):
        base_terms += term(in_class[c], gini, table)
    difference = impurity(known, base_terms, gini, table)
    branch_terms = 0.0
    for k in range(n_categories):
        held = in_category[k]
        if held <= 0:
            continue
        enough += min_leaf - held < SMALL
        terms = 0.0
        for c in range(n_classes):
            terms += term(cells[k * n_classes + c], gini, table)
        difference -= impurity(held, terms, gini, table)
        branch_terms += term(held, False, table)
    if enough < 2:
        return False, 0.0, 0.0
    gain = scaled_gain(difference, known, total)
    if criterion != GAIN_RATIO:
        return True, gain, gain
    return True, gain, gain_ratio(gain, branch_terms, known, total, table)


@kernel
def two_sided(cells, first, n_classes, in_class, known, total, options):
    """Gain and ratio of the class weights ``cells[first:]`` against the rest of ``in_class``."""
    _, criterion, _, table = options
    gini = criterion == GINI
    held, base_terms, terms, rest_terms = 0.0, 0.0, 0.0, 0.0
    for c in range(n_classes):
        inside = cells[first + c]
        held += inside
        base_terms += term(in_class[c], gini, table)
        terms += term(inside, gini, table)
        rest_terms += term(in_class[c] - inside, gini, table)
    difference = (
        impurity(known, base_terms, gini, table)
        - impurity(held, terms, gini, table)
        - impurity(known - held, rest_terms, gini, table)
    )
    gain = scaled_gain(difference, known, total)
    if criterion != GAIN_RATIO:
        return gain, gain
    parts = term(held, False, table) + term(known - held, False, table)
    return gain, gain_ratio(gain, parts, known, total, table)


@kernel
def search_one_against_rest(n_categories, cells, in_category, in_class, known, total, options):
    """J48 -B as (valid, gain, ratio, category)."""
    min_leaf = options[0]
    valid, gain, ratio, category = False, 0.0, 0.0, 0
    for k in range(n_categories):
        held = in_category[k]
        if min_leaf - held >= SMALL or min_leaf - (known - held) >= SMALL:
            continue
        valid = True
        n_classes = len(in_class)
        g, r = two_sided(cells, k * n_classes, n_classes, in_class, known, total, options)
        if k == 0 or r - ratio > SMALL:
            gain, ratio, category = g, r, k
    return valid, gain, ratio, category


@kernel
def search_subsets(n_categories, cells, in_category, in_class, known, total, options, rank):
    """Best cut of the categories ordered by the share of the second class (Breiman et al. 1984).

    Returns (valid, gain, ratio, number of categories on the left); ``rank`` is filled with the
    ordered categories, those without weight last.
    """
    min_leaf = options[0]
    present = 0
    for k in range(n_categories):
        if in_category[k] <= 0:
            continue
        share = cells[2 * k + 1] / in_category[k]
        at = present
        while at > 0 and cells[2 * rank[at - 1] + 1] / in_category[rank[at - 1]] > share:
            rank[at] = rank[at - 1]
            at -= 1
        rank[at] = k
        present += 1
    at = present
    for k in range(n_categories):
        if in_category[k] <= 0:
            rank[at] = k
            at += 1
    left = np.empty(2)
    left[0], left[1] = 0.0, 0.0
    valid, gain, ratio, taken = False, 0.0, 0.0, 0
    for i in range(present - 1):
        left[0] += cells[2 * rank[i]]
        left[1] += cells[2 * rank[i] + 1]
        held = left[0] + left[1]
        if min_leaf - held >= SMALL or min_leaf - (known - held) >= SMALL:
            continue
        g, r = two_sided(left, int64(0), int64(2), in_class, known, total, options)
        if not valid or g - gain > SMALL:
            gain, ratio, taken = g, r, i + 1
        valid = True
    return valid, gain, ratio, taken


@kernel
def search_node(entries, data, a, m, known_rows, total, options, nominal, averaged, work):
    """Column of the best test (-1 for none); ``detail`` says where each column would be cut.

    ``known_rows[s]`` is the number of entries with a value in line s of the numeric columns.
    """
    row, weight, sorted_entry = entries
    label, value, cell, slot, n_categories = data
    gain, ratio, detail, cells, held, rank, in_class, left, right = work
    sum_gain, n_valid = 0.0, 0
    for f in range(len(slot)):
        s, n = slot[f], n_categories[f]
        if n == 0:
            valid, gain[f], ratio[f], detail[f] = search_cuts(
                sorted_entry, known_rows[s], row, weight, label, value, s, a, total, options,
                (left, right),
            )  # fmt: skip
        else:
            known = fill_cells(row, weight, cell, s, a, m, n, cells, held, in_class)
            if nominal == MULTIWAY:
                valid, gain[f], ratio[f] = search_multiway(
                    n, cells, held, in_class, known, total, options
                )
            elif nominal == ONE_AGAINST_REST:
                valid, gain[f], ratio[f], detail[f] = search_one_against_rest(
                    n, cells, held, in_class, known, total, options
                )
            else:
                valid, gain[f], ratio[f], detail[f] = search_subsets(
                    n, cells, held, in_class, known, total, options, rank
                )
        if not valid:
            gain[f] = -np.inf
        elif averaged[f]:
            sum_gain += gain[f]
            n_valid += 1
    best, chosen = 0.0, -1
    if n_valid > 0:
        for f in range(len(slot)):
            if gain[f] >= sum_gain / n_valid - 1e-3 and ratio[f] - best > SMALL:
                best, chosen = ratio[f], f
    return chosen


@kernel
def map_categories(data, chosen, entries, a, m, options, nominal, work, child_of):
    """Fill the branch of each category of a chosen nominal column; returns how many there are."""
    row, weight, _ = entries
    _, _, cell, slot, n_categories = data
    _, _, detail, cells, held, rank, in_class, _, _ = work
    n, cut = n_categories[chosen], detail[chosen]
    if nominal != SUBSETS:
        for k in range(n):
            child_of[k] = k if nominal == MULTIWAY else int64(k != cut)
        return n if nominal == MULTIWAY else int64(2)
    known = fill_cells(row, weight, cell, slot[chosen], a, m, n, cells, held, in_class)
    search_subsets(n, cells, held, in_class, known, known, options, rank)
    weight_left = 0.0
    for i in range(n):
        child_of[rank[i]] = int64(i >= cut)
        if i < cut:
            weight_left += held[rank[i]]
    # A category nobody has here follows the heavier branch.
    for k in range(n):
        if held[k] <= 0:
            child_of[k] = int64(2 * weight_left < known)
    return int64(2)


@kernel
def assign_branches(entries, data, n_classes, chosen, a, m, known_rows, cut, child_of, branch):
    """Fill the branch of each entry, ``-1 - i`` for the i-th one without a value; count those."""
    row, _, sorted_entry = entries
    _, _, cell, slot, n_categories = data
    s = slot[chosen]
    numeric = n_categories[chosen] == 0
    for e in range(m):
        at = -1 if numeric else cell[s, row[a + e]]
        branch[e] = child_of[at // n_classes] if at >= 0 else -1
    if numeric:
        for i in range(known_rows[s]):
            branch[sorted_entry[s, a + i]] = 0 if i < cut else 1
    unknown = 0
    for e in range(m):
        if branch[e] < 0:
            branch[e] = -1 - unknown
            unknown += 1
    return unknown


@kernel
def weigh_branches(entries, label, a, m, branch, n_unknown, counts, first, share, size):
    """Fill share and number of entries of each branch and the class weights of its node."""
    row, weight, _ = entries
    known = 0.0
    for e in range(m):
        b = branch[e]
        if b >= 0:
            w = weight[a + e]
            share[b] += w
            known += w
            size[b] += 1
            counts[first + b, label[row[a + e]]] += w
    for b in range(len(share)):
        share[b] = share[b] / known if known >= SMALL else 1.0 / len(share)
        if share[b] > SMALL:
            size[b] += n_unknown
    if n_unknown > 0:
        for e in range(m):
            if branch[e] < 0:
                for b in range(len(share)):
                    if share[b] > SMALL:
                        counts[first + b, label[row[a + e]]] += weight[a + e] * share[b]


@kernel
def divide_entries(entries, spare, a, m, known_rows, branch, n_unknown, share, start, child_known):
    """Copy the entries into ``spare``, branch b from ``start[b]`` on (nothing if negative)."""
    row, weight, sorted_entry = entries
    new_row, new_weight, new_sorted = spare
    n_branches = len(start)
    copies = np.empty((n_unknown, n_branches), dtype=np.int32)
    place = np.empty(m, dtype=np.int32)
    filled = np.empty(n_branches, dtype=np.int32)
    for j in range(n_branches):
        filled[j] = 0
    for e in range(m):
        b = branch[e]
        if b >= 0:
            if start[b] >= 0:
                place[e] = filled[b]
                new_row[start[b] + filled[b]] = row[a + e]
                new_weight[start[b] + filled[b]] = weight[a + e]
                filled[b] += 1
            continue
        for j in range(n_branches):
            if start[j] >= 0 and share[j] > SMALL:
                copies[-1 - b, j] = filled[j]
                new_row[start[j] + filled[j]] = row[a + e]
                new_weight[start[j] + filled[j]] = weight[a + e] * share[j]
                filled[j] += 1
    for s in range(len(sorted_entry)):
        for j in range(n_branches):
            filled[j] = 0
        for i in range(known_rows[s]):
            e = sorted_entry[s, a + i]
            b = branch[e]
            if b >= 0:
                if start[b] >= 0:
                    new_sorted[s, start[b] + filled[b]] = place[e]
                    filled[b] += 1
                continue
            for j in range(n_branches):
                if start[j] >= 0 and share[j] > SMALL:
                    new_sorted[s, start[j] + filled[j]] = copies[-1 - b, j]
                    filled[j] += 1
        for j in range(n_branches):
            child_known[j, s] = filled[j]


@kernel
def is_leaf(counts, node, n_classes, min_leaf, level, max_depth):
    """Whether J48 does not split: too light, one class only, or deep enough."""
    total, largest = 0.0, 0.0
    for c in range(n_classes):
        total += counts[node, c]
        largest = max(largest, counts[node, c])
    return 2 * min_leaf - total > SMALL or abs(total - largest) < SMALL or level >= max_depth


@kernel
def lengthen(matrix, size):
    """A copy with more lines."""
    longer = np.empty((size, matrix.shape[1]), dtype=matrix.dtype)
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            longer[i, j] = matrix[i, j]
    return longer


@kernel
def make_room(entries, used, size):
    """Entries with at least ``size`` places, of which ``used`` are kept."""
    sorted_entry = entries[2]
    if size <= len(entries[0]):
        return entries
    size = max(size, 2 * len(entries[0]))
    new_row, new_weight = np.empty(size, dtype=np.int32), np.empty(size)
    new_sorted = np.empty((len(sorted_entry), size), dtype=np.int32)
    copy_entries(entries, used, (new_row, new_weight, new_sorted), int64(0))
    return new_row, new_weight, new_sorted


@kernel
def copy_entries(entries, number, target, at):
    """Copy the first entries to the place ``at`` of ``target``."""
    for e in range(number):
        target[0][at + e] = entries[0][e]
        target[1][at + e] = entries[1][e]
    for s in range(len(entries[2])):
        for e in range(number):
            target[2][s, at + e] = entries[2][s, e]


@kernel
def cut_value(entries, value, slot, a, cut):
    """J48's threshold of the cut before the entry ``cut`` of a numeric column."""
    row, _, sorted_entry = entries
    lower = value[slot, row[a + sorted_entry[slot, a + cut - 1]]]
    upper = value[slot, row[a + sorted_entry[slot, a + cut]]]
    middle = (lower + upper) / 2
    return lower if middle == upper else middle


@kernel
def add_leaves(tests, weights, first, number):
    """Start new nodes as leaves without weight."""
    for node in range(first, first + number):
        tests[node, 0], tests[node, 1], tests[node, 2], tests[node, 3] = -1, 0, 0, -1
        for c in range(weights.shape[1]):
            weights[node, c] = 0.0
        weights[node, weights.shape[1] - 1] = np.nan


@kernel(
    (
        readonly(int64, 1, "C"),
        readonly(float64, 1, "C"),
        readonly(float64, 2, "C"),
        readonly(int32, 2, "C"),
        readonly(int64, 1, "C"),
        readonly(int64, 1, "C"),
        int32[:, ::1],
        readonly(int64, 1, "C"),
        readonly(boolean, 1, "C"),
        int64,
        float64,
        int64,
        int64,
        boolean,
        int64,
        readonly(float64, 1, "C"),
    )
)
def grow_mixed(
    label, row_weight, value, cell, slot, n_categories, order, n_known, averaged,
    n_classes, min_leaf, max_depth, criterion, mdl, nominal, table,
):  # fmt: skip
    """Grow the tree.

    ``value`` (numeric columns x rows) and ``cell`` (nominal columns x rows: category x n_classes +
    class, -1 where missing) hold column f in line ``slot[f]``; ``n_categories[f]`` is 0 for a
    numeric one. ``order`` lists the
    rows by value, ``n_known`` of them, and is used up. ``averaged`` marks the columns that enter
    the mean gain.

    Returns three matrices and their used lengths. A line of the first is feature (-1 in a leaf),
    first_child, n_children and category_start (-1 if not nominal); of the second the class weights
    and the threshold (the midpoint); of the third the branch of each category of nominal nodes.
    The children of a node follow one another behind it.
    """
    data = (label, value, cell, slot, n_categories)
    options = (min_leaf, criterion, mdl, table)
    n_rows, n_columns, n_numeric = len(label), len(slot), len(value)
    widest = int64(2)
    for f in range(n_columns):
        widest = max(widest, n_categories[f])
    work = (
        np.empty(n_columns),
        np.empty(n_columns),
        np.empty(n_columns, dtype=np.int64),
        np.empty(widest * n_classes),
        np.empty(widest),
        np.empty(widest, dtype=np.int64),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
    )
    entries = (np.empty(n_rows, dtype=np.int32), np.empty(n_rows), order)
    spare = (np.empty(n_rows, dtype=np.int32), np.empty(n_rows), np.empty_like(order))
    branch = np.empty(n_rows, dtype=np.int32)
    child_of = np.empty(widest, dtype=np.int32)
    tests = np.empty((64 + widest, 4), dtype=np.int32)
    weights = np.empty((64 + widest, n_classes + 1))
    categories = np.empty((256 + widest, 1), dtype=np.int32)
    add_leaves(tests, weights, int64(0), int64(1))
    for i in range(n_rows):
        entries[0][i], entries[1][i] = i, row_weight[i]
        weights[0, label[i]] += row_weight[i]

    # Nodes still to be grown: node, first entry, number of entries, depth, known values by column.
    pending = np.empty((64, 4 + n_numeric), dtype=np.int64)
    known_rows = np.empty(n_numeric, dtype=np.int64)
    pending[0, 0], pending[0, 1], pending[0, 2], pending[0, 3] = 0, 0, n_rows, 0
    for s in range(n_numeric):
        pending[0, 4 + s] = n_known[s]
    n_nodes, n_mapped = int64(1), int64(0)
    n_pending = 0 if is_leaf(weights, int64(0), n_classes, min_leaf, int64(0), max_depth) else 1
    while n_pending > 0:
        n_pending -= 1
        node, a, m = pending[n_pending, 0], pending[n_pending, 1], pending[n_pending, 2]
        level = pending[n_pending, 3] + 1
        for s in range(n_numeric):
            known_rows[s] = pending[n_pending, 4 + s]
        total = 0.0
        for c in range(n_classes):
            total += weights[node, c]
        chosen = search_node(
            entries, data, a, m, known_rows, total, options, nominal, averaged, work
        )
        if chosen < 0:
            continue
        n_branches = int64(2)
        if n_categories[chosen] > 0:
            n_branches = map_categories(
                data, chosen, entries, a, m, options, nominal, work, child_of
            )
        if n_nodes + n_branches > len(tests):
            tests = lengthen(tests, 2 * len(tests) + n_branches)
            weights = lengthen(weights, len(tests))
        if n_mapped + widest > len(categories):
            categories = lengthen(categories, 2 * len(categories) + widest)
        add_leaves(tests, weights, n_nodes, n_branches)
        tests[node, 0], tests[node, 1], tests[node, 2] = chosen, n_nodes, n_branches
        if n_categories[chosen] == 0:
            weights[node, n_classes] = cut_value(entries, value, slot[chosen], a, work[2][chosen])
        else:
            tests[node, 3] = n_mapped
            for k in range(n_categories[chosen]):
                categories[n_mapped + k, 0] = child_of[k]
            n_mapped += n_categories[chosen]
        if len(branch) < m:
            branch = np.empty(2 * m, dtype=np.int32)
        n_unknown = assign_branches(
            entries, data, n_classes, chosen, a, m, known_rows, work[2][chosen], child_of, branch
        )
        share, size = np.zeros(n_branches), np.zeros(n_branches, dtype=np.int64)
        weigh_branches(entries, label, a, m, branch, n_unknown, weights, n_nodes, share, size)
        start = np.empty(n_branches, dtype=np.int64)
        filled = int64(0)
        for j in range(n_branches - 1, -1, -1):
            start[j] = -1
            if not is_leaf(weights, n_nodes + j, n_classes, min_leaf, level, max_depth):
                start[j] = filled
                filled += size[j]
        if filled > 0:
            spare = make_room(spare, int64(0), filled)
            child_known = np.empty((n_branches, n_numeric), dtype=np.int64)
            divide_entries(
                entries, spare, a, m, known_rows, branch, n_unknown, share, start, child_known
            )
            entries = make_room(entries, a, a + filled)
            copy_entries(spare, filled, entries, a)
            if n_pending + n_branches > len(pending):
                pending = lengthen(pending, 2 * len(pending) + n_branches)
            for j in range(n_branches - 1, -1, -1):
                if start[j] >= 0:
                    pending[n_pending, 0], pending[n_pending, 1] = n_nodes + j, a + start[j]
                    pending[n_pending, 2], pending[n_pending, 3] = size[j], level
                    for s in range(n_numeric):
                        pending[n_pending, 4 + s] = child_known[j, s]
                    n_pending += 1
        n_nodes += n_branches
    return tests, weights, categories, n_nodes, n_mapped
