"""Divide the entries of nodes among their branches; see ``grow_search`` for what entries are.

Branches are numbered through all nodes: those of node i are ``first_branch[i]`` and the following
``n_branches[i]``. A row whose value is missing becomes one entry in every branch.
"""

import numpy as np
from numba import float64, int32, int64, void

from keeptree._kernels.jit import kernel, readonly

SMALL = 1e-6  # J48's tolerance


@kernel
def find_branches(a, m, column, cut, n_known, row, sorted_entry, branch):
    """Fill the branch of each entry of a numeric test, -1 without a value."""
    for e in range(a, a + m):
        branch[e] = -1
    for i in range(n_known):
        branch[a + sorted_entry[column, a + i]] = 0 if i < cut else 1


@kernel
def read_branches(a, m, column, n_classes, row, cell, category_child, first, branch):
    """Fill the branch of each entry of a nominal test, -1 without a value."""
    for e in range(a, a + m):
        at = cell[column, row[e]]
        branch[e] = category_child[first + at // n_classes] if at >= 0 else -1


@kernel
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


@kernel(
    void(
        readonly(int64, 1, "C"),
        readonly(int64, 1, "C"),
        readonly(int32, 2),
        readonly(int32, 1, "C"),
        readonly(float64, 1, "C"),
        readonly(int32, 2, "A"),
        readonly(int64, 1, "C"),
        readonly(int32, 2, "C"),
        readonly(int64, 1, "C"),
        readonly(int64, 1, "C"),
        readonly(int64, 1, "C"),
        readonly(int64, 1, "C"),
        readonly(int32, 1, "C"),
        readonly(int64, 1, "C"),
        readonly(int64, 1, "C"),
        int32[::1],
        int64[::1],
        float64[:, ::1],
        float64[::1],
        int64[::1],
    )
)
def assign_branches(
    start, size, known_rows, row, weight, sorted_entry, label, cell, slot, chosen, cut,
    category_start, category_child, first_branch, n_branches, branch, n_unknown, counts, share,
    branch_size,
):  # fmt: skip
    """Fill branch of each entry and class weights, share and number of entries of each branch.

    ``category_start[i]`` is where the branches of the categories of node i start in
    ``category_child``, -1 for a numeric test. ``counts``, ``share`` and ``branch_size`` are zeros.
    """
    for i in range(len(start)):
        if chosen[i] < 0:
            continue
        a, m, column = start[i], size[i], slot[chosen[i]]
        if category_start[i] < 0:
            n_known = known_rows[i, column]
            find_branches(a, m, column, cut[i], n_known, row, sorted_entry, branch)
        else:
            first = category_start[i]
            n_classes = counts.shape[1]
            read_branches(a, m, column, n_classes, row, cell, category_child, first, branch)
        n_unknown[i] = weigh_branches(
            a, m, row, weight, label, branch, first_branch[i], n_branches[i], counts, share,
            branch_size,
        )  # fmt: skip


@kernel
def copy_entry(row, weight, share, to, new_row, new_weight):
    """Put an entry with part of its weight in its new place."""
    new_row[to] = row
    new_weight[to] = weight * share


@kernel
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


@kernel
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


@kernel(
    void(
        readonly(int64, 1, "C"),
        readonly(int64, 1, "C"),
        readonly(int32, 2),
        readonly(int32, 1, "C"),
        readonly(float64, 1, "C"),
        readonly(int32, 2, "A"),
        readonly(int64, 1, "C"),
        readonly(int64, 1, "C"),
        readonly(int32, 1, "C"),
        readonly(int64, 1, "C"),
        readonly(float64, 1, "C"),
        readonly(int64, 1, "C"),
        int32[::1],
        float64[::1],
        int32[:, ::1],
        int32[:, ::1],
    )
)
def divide_entries(
    start, size, known_rows, row, weight, sorted_entry, first_branch, n_branches, branch,
    n_unknown, share, to, new_row, new_weight, new_sorted, new_known,
):  # fmt: skip
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
