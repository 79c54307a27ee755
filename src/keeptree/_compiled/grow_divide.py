"""Divide the entries of nodes among their branches; see ``grow_search`` for what entries are.

Branches are numbered through all nodes: those of node i are ``first_branch[i]`` and the following
``n_branches[i]``. A row whose value is missing becomes one entry in every branch. ``test`` is what
``search_nodes`` fills.
"""

import numpy as np
from numpy import bool_, float64, int32, int64

from keeptree._compiled.declare import In, Out, entry, inner

SMALL = 1e-6  # J48's tolerance
ONE_AGAINST_REST = 1  # nominal tests: 0 is multiway, 2 subsets


@inner
def map_categories(cut, n_values, nominal, subset_of, node, first, category_child):
    """Fill the branch of each category of a nominal test."""
    for k in range(n_values):
        if nominal < ONE_AGAINST_REST:
            category_child[first + k] = k
        elif nominal == ONE_AGAINST_REST:
            category_child[first + k] = 0 if k == cut else 1
        else:
            category_child[first + k] = subset_of[node, k]


@inner
def find_branches(a, m, column, cut, n_known, row, sorted_entry, branch):
    """Fill the branch of each entry of a numeric test, -1 without a value."""
    for e in range(a, a + m):
        branch[e] = -1
    for i in range(n_known):
        branch[a + sorted_entry[column, a + i]] = 0 if i < cut else 1


@inner
def read_branches(a, m, column, n_classes, row, cell, category_child, first, branch):
    """Fill the branch of each entry of a nominal test, -1 without a value."""
    for e in range(a, a + m):
        at = cell[column, row[e]]
        branch[e] = category_child[first + at // n_classes] if at >= 0 else -1


@inner
def weigh_branches(a, m, row, weight, label, branch, first, number, counts, share, size):
    """Fill class weights, share and number of entries of each branch.

    Entries without a value are numbered: their branch becomes ``-1 - i``.
    """
    known, unknown = 0.0, 0
    for e in range(a, a + m):
        if branch[e] < 0:
            branch[e] = -1 - unknown
            unknown += 1
            continue
        b = first + branch[e]
        share[b] += weight[e]
        known += weight[e]
        size[b] += 1
        counts[b, label[row[e]]] += weight[e]
    for b in range(first, first + number):
        share[b] = share[b] / known if known >= SMALL else 1.0 / number
        if share[b] > SMALL:
            size[b] += unknown
    if unknown > 0:
        for e in range(a, a + m):
            if branch[e] < 0:
                for b in range(first, first + number):
                    if share[b] > SMALL:
                        counts[b, label[row[e]]] += weight[e] * share[b]
    return unknown


@inner
def place_branches(first, number, counts, size, min_leaf, grows, to, end):
    """Fill where the entries of each branch go, -1 where J48 does not split; returns their end.

    A node is a leaf if it is too light or of one class.
    """
    for b in range(first, first + number):
        total, largest = 0.0, 0.0
        for c in range(counts.shape[1]):
            total += counts[b, c]
            largest = max(largest, counts[b, c])
        to[b] = -1
        if grows and 2 * min_leaf - total <= SMALL and abs(total - largest) >= SMALL:
            to[b] = end
            end += size[b]
    return end


@entry
def assign_branches(
    start: In(int64, 1, "C"),
    size: In(int64, 1, "C"),
    known_rows: In(int32, 2),
    row: In(int32, 1, "C"),
    weight: In(float64, 1, "C"),
    sorted_entry: In(int32, 2),
    label: In(int64, 1, "C"),
    cell: In(int32, 2, "C"),
    slot: In(int64, 1, "C"),
    test: In(int64, 2, "C"),
    subset_of: In(int32, 2, "C"),
    nominal: int,
    min_leaf: float,
    may_grow: In(bool_, 1, "C"),
    first_branch: In(int64, 1, "C"),
    category_start: In(int64, 1, "C"),
    category_child: Out(int32, 1),
    branch: Out(int32, 1),
    n_unknown: Out(int64, 1),
    counts: Out(float64, 2),
    share: Out(float64, 1),
    branch_size: Out(int64, 1),
    to: Out(int64, 1),
):
    """Find the branch of every entry; returns how many entries there are in branches that grow.

    ``category_start[i]`` is where the branches of the categories of node i go in
    ``category_child``; ``may_grow[i]`` whether its children may be split. ``counts`` (class
    weights), ``share`` and ``branch_size`` of the branches are zeros before. ``to`` is where the
    entries of a branch that will be split start in the next wave, -1 for a leaf.
    """
    end = int64(0)
    for i in range(len(start)):
        if test[0, i] < 0:
            continue
        a, m, column = start[i], size[i], slot[test[0, i]]
        first, number, cut, n_values = first_branch[i], test[2, i], test[1, i], test[3, i]
        if n_values == 0:
            find_branches(a, m, column, cut, known_rows[i, column], row, sorted_entry, branch)
        else:
            at = category_start[i]
            map_categories(cut, n_values, nominal, subset_of, i, at, category_child)
            read_branches(a, m, column, counts.shape[1], row, cell, category_child, at, branch)
        n_unknown[i] = weigh_branches(
            a, m, row, weight, label, branch, first, number, counts, share, branch_size
        )
        end = place_branches(first, number, counts, branch_size, min_leaf, may_grow[i], to, end)
    return end


@inner
def copy_entry(row, weight, share, to, new_row, new_weight):
    """Put an entry with part of its weight in its new place."""
    new_row[to] = row
    new_weight[to] = weight * share


@inner
def divide_node(
    a, m, row, weight, branch, first, number, n_unknown, share, to, place, new_row, new_weight
):
    """Copy the entries of a node; returns the places of those without a value, by branch."""
    copies = np.empty((n_unknown, number), dtype=np.int32)
    filled = np.zeros(number, dtype=np.int32)
    for e in range(a, a + m):
        b = branch[e]
        if b >= 0:
            if to[first + b] >= 0:
                place[e - a] = filled[b]
                copy_entry(row[e], weight[e], 1.0, to[first + b] + filled[b], new_row, new_weight)
                filled[b] += 1
            continue
        for j in range(number):
            if to[first + j] >= 0 and share[first + j] > SMALL:
                copies[-1 - b, j] = filled[j]
                at = to[first + j] + filled[j]
                copy_entry(row[e], weight[e], share[first + j], at, new_row, new_weight)
                filled[j] += 1
    return copies


@inner
def divide_column(
    a, n_known, column, sorted_entry, branch, first, number, share, to, place, copies, filled,
    new_sorted,
):  # fmt: skip
    """Divide one sorted column of a node; ``filled`` counts the entries of each branch."""
    for j in range(number):
        filled[j] = 0
    for i in range(n_known):
        e = sorted_entry[column, a + i]
        b = branch[a + e]
        if b >= 0:
            if to[first + b] >= 0:
                new_sorted[column, to[first + b] + filled[b]] = place[e]
                filled[b] += 1
            continue
        for j in range(number):
            if to[first + j] >= 0 and share[first + j] > SMALL:
                new_sorted[column, to[first + j] + filled[j]] = copies[-1 - b, j]
                filled[j] += 1


@entry
def divide_entries(
    start: In(int64, 1, "C"),
    size: In(int64, 1, "C"),
    known_rows: In(int32, 2),
    row: In(int32, 1, "C"),
    weight: In(float64, 1, "C"),
    sorted_entry: In(int32, 2),
    first_branch: In(int64, 1, "C"),
    n_branches: In(int64, 1, "C"),
    branch: In(int32, 1, "C"),
    n_unknown: In(int64, 1, "C"),
    share: In(float64, 1, "C"),
    to: In(int64, 1, "C"),
    new_row: Out(int32, 1),
    new_weight: Out(float64, 1),
    new_sorted: Out(int32, 2),
    new_known: Out(int32, 2),
):
    """Copy the entries of each branch b to ``to[b]``, in order; to nowhere if that is negative."""
    longest, widest = int64(0), int64(0)
    for i in range(len(start)):
        longest = max(longest, size[i])
        widest = max(widest, n_branches[i])
    place = np.empty(longest, dtype=np.int32)
    filled = np.empty(widest, dtype=np.int32)
    for i in range(len(start)):
        a, m, first, number = start[i], size[i], first_branch[i], n_branches[i]
        grows = False
        for b in range(first, first + number):
            grows = grows or to[b] >= 0
        if not grows:
            continue
        copies = divide_node(
            a, m, row, weight, branch, first, number, n_unknown[i], share, to, place, new_row,
            new_weight,
        )  # fmt: skip
        for s in range(len(sorted_entry)):
            divide_column(
                a, known_rows[i, s], s, sorted_entry, branch, first, number, share, to, place,
                copies, filled, new_sorted,
            )  # fmt: skip
            for j in range(number):
                new_known[first + j, s] = filled[j]
