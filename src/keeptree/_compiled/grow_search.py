"""Search the best test of nodes with any data: nominal columns, missing values, weights.

A node holds *entries*: a row and the part of its weight that came here; the entries of node i are
``start[i]:start[i] + size[i]``. For every numeric column the entries with a value are listed in the
order of the values (``sorted_entry``, as distances from the node's start), so only the root sorts.
"""

import numpy as np
from numpy import bool_, float64, int32, int64

from keeptree._compiled.declare import In, Out, entry, inner

SMALL = 1e-6  # J48's tolerance
NEVER_CUT = 1e-5  # neighbours closer than this are not separated
GAIN_RATIO, GINI = 0, 2  # criterion: 1 is the information gain
MULTIWAY, ONE_AGAINST_REST = 0, 1  # nominal tests: 2 is subsets


@entry
def code_cells(
    columns: In(float64, 2, "C"),
    nominal: In(int64, 1),
    label: In(int64, 1),
    n_classes: int,
    cell: Out(int32, 2),
):
    """Fill category x n_classes + class of the nominal columns, -1 where missing."""
    for s in range(len(nominal)):
        for i in range(len(label)):
            code = columns[nominal[s], i]
            cell[s, i] = -1 if np.isnan(code) else int64(code) * n_classes + label[i]


@inner
def clear(array, size):
    """Set the first numbers of an array to zero."""
    for i in range(size):
        array[i] = 0.0


@inner
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


@inner
def impurity(total, terms, gini, table):
    """Weight x impurity of a set: ``terms`` sums :func:`term` over its classes."""
    if gini:
        return total - terms / total if total > SMALL else 0.0
    return term(total, gini, table) - terms


@inner
def scaled_gain(difference, known, total):
    """Gain per unit of weight; the rows without a value count as no gain."""
    product = known / total * difference
    return 0.0 if abs(product) < SMALL else product / known


@inner
def gain_ratio(gain, branch_terms, branches_total, total, table):
    """Gain over split information; the rows without a value are one more branch."""
    info = term(total, False, table) - branch_terms - term(total - branches_total, False, table)
    return 0.0 if abs(info) < SMALL else gain / (info / total)


@inner
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


@inner
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


@inner
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


@inner
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


@inner
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


@inner
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


@inner
def search_node(entries, data, a, m, known_rows, options, nominal, averaged, work):
    """Column of the best test (-1 for none); ``detail`` says where each column would be cut.

    ``known_rows[s]`` is the number of entries with a value in line s of the numeric columns.
    """
    row, weight, sorted_entry = entries
    label, value, cell, slot, n_categories = data
    gain, ratio, detail, cells, held, rank, in_class, left, right = work
    total = 0.0
    for e in range(a, a + m):
        total += weight[e]
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


@inner
def cut_value(row, sorted_entry, value, slot, a, cut):
    """J48's threshold of the cut before the entry ``cut`` of a numeric column."""
    lower = value[slot, row[a + sorted_entry[slot, a + cut - 1]]]
    upper = value[slot, row[a + sorted_entry[slot, a + cut]]]
    middle = (lower + upper) / 2
    return lower if middle == upper else middle


@inner
def map_subsets(entries, data, chosen, a, m, options, work, subset_of, node):
    """Fill the side of each category of a column that was chosen to be cut in two subsets."""
    row, weight, _ = entries
    _, _, cell, slot, n_categories = data
    _, _, detail, cells, held, rank, in_class, _, _ = work
    n, cut = n_categories[chosen], detail[chosen]
    known = fill_cells(row, weight, cell, slot[chosen], a, m, n, cells, held, in_class)
    search_subsets(n, cells, held, in_class, known, known, options, rank)
    weight_left = 0.0
    for i in range(n):
        subset_of[node, rank[i]] = 0 if i < cut else 1
        if i < cut:
            weight_left += held[rank[i]]
    # A category nobody has here follows the heavier branch.
    for k in range(n):
        if held[k] <= 0:
            subset_of[node, k] = 0 if 2 * weight_left >= known else 1


@entry
def search_nodes(
    start: In(int64, 1, "C"),
    size: In(int64, 1, "C"),
    known_rows: In(int32, 2),
    row: In(int32, 1, "C"),
    weight: In(float64, 1, "C"),
    sorted_entry: In(int32, 2),
    label: In(int64, 1, "C"),
    value: In(float64, 2, "C"),
    cell: In(int32, 2, "C"),
    slot: In(int64, 1, "C"),
    n_categories: In(int64, 1, "C"),
    averaged: In(bool_, 1, "C"),
    n_classes: int,
    min_leaf: float,
    criterion: int,
    mdl: bool,
    nominal: int,
    table: In(float64, 1, "C"),
    test: Out(int64, 2),
    threshold: Out(float64, 1),
    subset_of: Out(int32, 2),
):
    """Fill the best test of each node.

    ``value`` (numeric columns x rows) and ``cell`` (nominal columns x rows: category x n_classes +
    class, -1 where missing) hold column f in line ``slot[f]``; ``n_categories[f]`` is 0 for a
    numeric one. ``averaged`` marks the columns that enter the mean gain.

    The lines of ``test`` are: column (-1 for none); number of entries on the left, or category
    tested against the rest; number of branches; number of categories. ``threshold`` is the midpoint
    of a numeric cut; ``subset_of`` has the sides of the categories where there are two subsets.
    """
    entries = (row, weight, sorted_entry)
    data = (label, value, cell, slot, n_categories)
    options = (min_leaf, criterion, mdl, table)
    widest = int64(1)
    for f in range(len(slot)):
        widest = max(widest, n_categories[f])
    work = (
        np.empty(len(slot)),
        np.empty(len(slot)),
        np.empty(len(slot), dtype=np.int64),
        np.empty(widest * n_classes),
        np.empty(widest),
        np.empty(widest, dtype=np.int64),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
    )
    for i in range(len(start)):
        a, m = start[i], size[i]
        chosen = search_node(entries, data, a, m, known_rows[i], options, nominal, averaged, work)
        test[0, i], test[1, i], test[2, i], test[3, i] = chosen, 0, 0, 0
        threshold[i] = np.nan
        if chosen < 0:
            continue
        cut, n_values = work[2][chosen], n_categories[chosen]
        test[1, i], test[3, i] = cut, n_values
        test[2, i] = n_values if n_values > 0 and nominal == MULTIWAY else 2
        if n_values == 0:
            threshold[i] = cut_value(row, sorted_entry, value, slot[chosen], a, cut)
        elif nominal > ONE_AGAINST_REST:
            map_subsets(entries, data, chosen, a, m, options, work, subset_of, i)
