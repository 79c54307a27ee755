"""Grow a J48 tree on any data: nominal columns, missing values, weights.

A node holds *entries*: a row and the part of its weight that came here. A row whose value is
missing becomes one entry in every branch. The entries of the nodes still to be grown lie behind
one another in one pool; the node being grown is the last, and its children replace it. For every
numeric column the entries with a value are kept in the order of the values, so only the root sorts.
"""

import numpy as np
from numba import boolean, float64, int32, int64

from keeptree._kernels.jit import kernel, readonly

SMALL = 1e-6  # J48's tolerance
NEVER_CUT = 1e-5  # neighbours closer than this are not separated
GAIN_RATIO, GINI = 0, 2  # criterion: 1 is the information gain
MULTIWAY, ONE_AGAINST_REST, SUBSETS = 0, 1, 2  # what a nominal test looks like


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
    left[:] = 0.0
    right[:] = 0.0
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
def fill_cells(row, weight, label, code, slot, a, m, cells, in_category, in_class):
    """Weights of each category x class of a nominal column; returns the weight with a value."""
    n_categories, n_classes = len(in_category), len(in_class)
    cells[: n_categories * n_classes] = 0.0
    in_category[:] = 0.0
    in_class[:] = 0.0
    known = 0.0
    for e in range(a, a + m):
        r = row[e]
        k = code[slot, r]
        if k >= 0:
            w = weight[e]
            cells[k * n_classes + label[r]] += w
            in_category[k] += w
            in_class[label[r]] += w
            known += w
    return known


@kernel
def search_multiway(cells, in_category, in_class, known, total, options):
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
    for k in range(len(in_category)):
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
def search_one_against_rest(cells, in_category, in_class, known, total, options):
    """J48 -B as (valid, gain, ratio, category)."""
    min_leaf = options[0]
    valid, gain, ratio, category = False, 0.0, 0.0, 0
    for k in range(len(in_category)):
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
def search_subsets(cells, in_category, in_class, known, total, options, rank):
    """Best cut of the categories ordered by the share of the second class (Breiman et al. 1984).

    Returns (valid, gain, ratio, number of categories on the left); ``rank`` is filled with the
    ordered categories, those without weight last.
    """
    min_leaf = options[0]
    present = 0
    for k in range(len(in_category)):
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
    for k in range(len(in_category)):
        if in_category[k] <= 0:
            rank[at] = k
            at += 1
    left = np.zeros(2)
    valid, gain, ratio, taken = False, 0.0, 0.0, 0
    for i in range(present - 1):
        left[0] += cells[2 * rank[i]]
        left[1] += cells[2 * rank[i] + 1]
        held = left[0] + left[1]
        if min_leaf - held >= SMALL or min_leaf - (known - held) >= SMALL:
            continue
        g, r = two_sided(left, 0, 2, in_class, known, total, options)
        if not valid or g - gain > SMALL:
            gain, ratio, taken = g, r, i + 1
        valid = True
    return valid, gain, ratio, taken


@kernel
def search_node(entries, data, a, m, known_rows, total, options, nominal, averaged, work):
    """Column of the best test (-1 for none); ``detail`` says where each column would be cut."""
    row, weight, sorted_entry = entries
    label, value, code, slot, n_categories = data
    gain, ratio, detail, cells, in_category, rank, in_class, left, right = work
    sum_gain, n_valid = 0.0, 0
    for f in range(len(slot)):
        s, n_values = slot[f], n_categories[f]
        if n_values == 0:
            valid, gain[f], ratio[f], detail[f] = search_cuts(
                sorted_entry, known_rows[s], row, weight, label, value, s, a, total, options,
                (left, right),
            )  # fmt: skip
        else:
            held = in_category[:n_values]
            known = fill_cells(row, weight, label, code, s, a, m, cells, held, in_class)
            if nominal == MULTIWAY:
                valid, gain[f], ratio[f] = search_multiway(
                    cells, held, in_class, known, total, options
                )
            elif nominal == ONE_AGAINST_REST:
                valid, gain[f], ratio[f], detail[f] = search_one_against_rest(
                    cells, held, in_class, known, total, options
                )
            else:
                valid, gain[f], ratio[f], detail[f] = search_subsets(
                    cells, held, in_class, known, total, options, rank
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
    label, _, code, slot, n_categories = data
    _, _, detail, cells, in_category, rank, in_class, _, _ = work
    n_values = n_categories[chosen]
    if nominal == MULTIWAY:
        for k in range(n_values):
            child_of[k] = k
        return n_values
    if nominal == ONE_AGAINST_REST:
        for k in range(n_values):
            child_of[k] = 0 if k == detail[chosen] else 1
        return int64(2)
    held = in_category[:n_values]
    known = fill_cells(row, weight, label, code, slot[chosen], a, m, cells, held, in_class)
    search_subsets(cells, held, in_class, known, np.sum(in_class), options, rank)
    weight_left = 0.0
    for i in range(n_values):
        child_of[rank[i]] = 0 if i < detail[chosen] else 1
        if i < detail[chosen]:
            weight_left += held[rank[i]]
    # A category nobody has here follows the heavier branch.
    for k in range(n_values):
        if held[k] <= 0:
            child_of[k] = 0 if 2 * weight_left >= known else 1
    return int64(2)


@kernel
def assign_branches(entries, data, chosen, a, m, known_rows, cut, child_of, branch):
    """Fill the branch of each entry, ``-1 - i`` for the i-th one without a value; count those."""
    row, _, sorted_entry = entries
    _, _, code, slot, n_categories = data
    unknown = 0
    s = slot[chosen]
    if n_categories[chosen] == 0:
        branch[:m] = -1
        for i in range(known_rows[s]):
            branch[sorted_entry[s, a + i]] = 0 if i < cut else 1
        for e in range(m):
            if branch[e] < 0:
                branch[e] = -1 - unknown
                unknown += 1
        return unknown
    for e in range(m):
        k = code[s, row[a + e]]
        if k >= 0:
            branch[e] = child_of[k]
        else:
            branch[e] = -1 - unknown
            unknown += 1
    return unknown


@kernel
def weigh_branches(entries, label, a, m, branch, n_branches, counts, first, share, size):
    """Fill share and number of entries of each branch and the class weights of its node."""
    row, weight, _ = entries
    share[:n_branches] = 0.0
    size[:n_branches] = 0
    known = 0.0
    unknown = 0
    for e in range(m):
        b = branch[e]
        if b < 0:
            unknown += 1
            continue
        w = weight[a + e]
        share[b] += w
        known += w
        size[b] += 1
        counts[first + b, label[row[a + e]]] += w
    for b in range(n_branches):
        share[b] = share[b] / known if known >= SMALL else 1.0 / n_branches
    if unknown == 0:
        return
    for b in range(n_branches):
        if share[b] > SMALL:
            size[b] += unknown
    for e in range(m):
        if branch[e] < 0:
            for b in range(n_branches):
                if share[b] > SMALL:
                    counts[first + b, label[row[a + e]]] += weight[a + e] * share[b]


@kernel
def divide_entries(
    entries, spare, a, m, known_rows, branch, n_unknown, share, start, child_known, place
):
    """Copy the entries into ``spare``, branch b from ``start[b]`` on (nothing if negative)."""
    row, weight, sorted_entry = entries
    new_row, new_weight, new_sorted = spare
    n_branches = len(start)
    copies = np.empty((n_unknown, n_branches), dtype=np.int32)
    filled = np.zeros(n_branches, dtype=np.int32)
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
    for s in range(sorted_entry.shape[0]):
        filled[:] = 0
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
def is_leaf(counts, min_leaf, level, max_depth):
    """Whether J48 does not split: too light, one class only, or deep enough."""
    total, largest = 0.0, 0.0
    for c in range(len(counts)):
        total += counts[c]
        largest = max(largest, counts[c])
    return 2 * min_leaf - total > SMALL or abs(total - largest) < SMALL or level >= max_depth


@kernel
def lengthen(array, size):
    """A longer copy of an array along its first axis."""
    longer = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@kernel
def widen(array, size):
    """A wider copy of a matrix."""
    wider = np.empty((len(array), size), dtype=array.dtype)
    wider[:, : array.shape[1]] = array
    return wider


@kernel
def midpoint(lower, upper):
    """J48's threshold between two neighbours."""
    middle = (lower + upper) / 2
    return lower if middle == upper else middle


@kernel
def make_room(entries, size):
    """Entries with at least ``size`` places."""
    row, weight, sorted_entry = entries
    if size <= len(row):
        return entries
    size = max(size, 2 * len(row))
    return lengthen(row, size), lengthen(weight, size), widen(sorted_entry, size)


@kernel
def cut_value(entries, value, slot, a, cut):
    """Threshold of the cut before the entry ``cut`` of a numeric column."""
    row, _, sorted_entry = entries
    lower = value[slot, row[a + sorted_entry[slot, a + cut - 1]]]
    return midpoint(lower, value[slot, row[a + sorted_entry[slot, a + cut]]])


@kernel(
    (
        readonly(int64, 1, "C"),
        readonly(float64, 1, "C"),
        readonly(float64, 2, "C"),
        readonly(int32, 2, "C"),
        readonly(int64, 1, "C"),
        readonly(int64, 1, "C"),
        readonly(int32, 2, "C"),
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
    label, row_weight, value, code, slot, n_categories, order, n_known, averaged,
    n_classes, min_leaf, max_depth, criterion, mdl, nominal, table,
):  # fmt: skip
    """Grow the tree.

    ``value`` (numeric columns x rows) and ``code`` (nominal columns x rows, -1 where missing) hold
    column f in line ``slot[f]``; ``n_categories[f]`` is 0 for a numeric one. ``order`` lists the
    rows by value, ``n_known`` of them. ``averaged`` marks the columns that enter the mean gain.

    Returns feature (-1 in a leaf), threshold (the midpoint), first_child, n_children, counts,
    category_start of the nodes (-1 if not nominal) and the branch of each category of such a node;
    the children of a node follow one another behind it.
    """
    data = (label, value, code, slot, n_categories)
    options = (min_leaf, criterion, mdl, table)
    n_rows, n_columns, n_numeric = len(label), len(slot), len(value)
    widest = max(2, np.max(n_categories))
    work = (
        np.empty(n_columns),
        np.empty(n_columns),
        np.zeros(n_columns, dtype=np.int64),
        np.empty(widest * n_classes),
        np.empty(widest),
        np.empty(widest, dtype=np.int64),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
    )
    entries = (np.arange(n_rows).astype(np.int32), row_weight.copy(), order.copy())
    spare = (np.empty(n_rows, dtype=np.int32), np.empty(n_rows), np.empty_like(order))
    branch = np.empty(n_rows, dtype=np.int32)
    place = np.empty(n_rows, dtype=np.int32)
    child_of = np.empty(widest, dtype=np.int32)
    share = np.empty(widest)
    size = np.empty(widest, dtype=np.int64)

    capacity = 64 + widest
    feature = np.zeros(capacity, dtype=np.int32)
    threshold = np.zeros(capacity)
    first_child = np.zeros(capacity, dtype=np.int32)
    n_children = np.zeros(capacity, dtype=np.int32)
    category_start = np.zeros(capacity, dtype=np.int32)
    counts = np.zeros((capacity, n_classes))
    category_child = np.empty(256, dtype=np.int32)
    n_nodes, n_mapped = 1, 0
    feature[0], threshold[0], category_start[0] = -1, np.nan, -1
    for i in range(n_rows):
        counts[0, label[i]] += row_weight[i]

    # Nodes still to be grown: node, first entry, number of entries, depth; known values by column.
    pending = np.zeros((64, 4), dtype=np.int64)
    pending_known = np.zeros((64, n_numeric), dtype=np.int64)
    n_pending = 0
    if not is_leaf(counts[0], min_leaf, 0, max_depth):
        pending[0, 2] = n_rows
        pending_known[0] = n_known
        n_pending = 1
    while n_pending > 0:
        n_pending -= 1
        node, a, m, level = pending[n_pending]
        known_rows = pending_known[n_pending].copy()
        total = np.sum(counts[node])
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
        if len(branch) < m:
            branch = np.empty(2 * m, dtype=np.int32)
            place = np.empty(2 * m, dtype=np.int32)
        cut = work[2][chosen]
        n_unknown = assign_branches(entries, data, chosen, a, m, known_rows, cut, child_of, branch)
        if n_nodes + n_branches > capacity:
            capacity = 2 * capacity + n_branches
            feature = lengthen(feature, capacity)
            threshold = lengthen(threshold, capacity)
            first_child = lengthen(first_child, capacity)
            n_children = lengthen(n_children, capacity)
            category_start = lengthen(category_start, capacity)
            counts = lengthen(counts, capacity)
        feature[node], first_child[node], n_children[node] = chosen, n_nodes, n_branches
        if n_categories[chosen] == 0:
            threshold[node] = cut_value(entries, value, slot[chosen], a, cut)
        else:
            if n_mapped + widest > len(category_child):
                category_child = lengthen(category_child, 2 * len(category_child) + widest)
            category_start[node] = n_mapped
            for k in range(n_categories[chosen]):
                category_child[n_mapped + k] = child_of[k]
            n_mapped += n_categories[chosen]
        weigh_branches(entries, label, a, m, branch, n_branches, counts, n_nodes, share, size)
        start = np.full(n_branches, -1, dtype=np.int64)
        filled = 0
        for j in range(n_branches - 1, -1, -1):
            child = n_nodes + j
            feature[child], threshold[child], category_start[child] = -1, np.nan, -1
            if not is_leaf(counts[child], min_leaf, level + 1, max_depth):
                start[j] = filled
                filled += size[j]
        if filled > 0:
            spare = make_room(spare, filled)
            child_known = np.zeros((n_branches, n_numeric), dtype=np.int64)
            divide_entries(
                entries,
                spare,
                a,
                m,
                known_rows,
                branch,
                n_unknown,
                share,
                start,
                child_known,
                place,
            )
            entries = make_room(entries, a + filled)
            entries[0][a : a + filled] = spare[0][:filled]
            entries[1][a : a + filled] = spare[1][:filled]
            for s in range(n_numeric):
                entries[2][s, a : a + filled] = spare[2][s, :filled]
            if n_pending + n_branches > len(pending):
                pending = lengthen(pending, 2 * len(pending) + n_branches)
                pending_known = lengthen(pending_known, len(pending))
            for j in range(n_branches - 1, -1, -1):
                if start[j] >= 0:
                    pending[n_pending] = (n_nodes + j, a + start[j], size[j], level + 1)
                    pending_known[n_pending] = child_known[j]
                    n_pending += 1
        n_nodes += n_branches
    return (
        feature[:n_nodes],
        threshold[:n_nodes],
        first_child[:n_nodes],
        n_children[:n_nodes],
        counts[:n_nodes],
        category_start[:n_nodes],
        category_child[:n_mapped],
    )
