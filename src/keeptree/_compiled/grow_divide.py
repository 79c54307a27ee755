"""Divide the entries of nodes among the branches of their tests.

Branches are numbered across all nodes; those of node i start at ``first[i]``.
"""

from typing import NamedTuple

import numpy as np
from numpy import bool_, float64, int32, int64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.entries import (
    Division,
    Entries,
    Part,
    divide_node,
    share_unknown,
    start_entries,
)
from keeptree._compiled.grow_search import Columns, Nodes, SearchOptions, Tests
from keeptree._compiled.j48 import MULTIWAY, ONE_AGAINST_REST, SMALL, may_split


class Branches(NamedTuple):
    """Branches of nodes.

    ``first``, ``category_start`` and ``n_unknown`` (entries without a value) belong to the nodes,
    ``branch`` to the entries (see ``Division``). ``counts`` (class weights), ``share`` and ``size``
    of the branches start as zeros. ``to`` is where the entries of a branch that will be split start
    in the next wave, -1 for a leaf. ``category_child[category_start[i] + k]`` is the branch of
    category k of node i.
    """

    first: In(int64, 1, "C")
    category_start: In(int64, 1, "C")
    category_child: Out(int32, 1)
    n_unknown: Out(int64, 1)
    branch: Out(int32, 1)
    counts: Out(float64, 2)
    share: Out(float64, 1)
    size: Out(int64, 1)
    to: Out(int64, 1)


@inner
def map_categories(tests, i, nominal, first, category_child):
    """Fill the branch of each category of a nominal test."""
    for k in range(tests.n_categories[i]):
        if nominal == MULTIWAY:
            category_child[first + k] = k
        elif nominal == ONE_AGAINST_REST:
            category_child[first + k] = 0 if k == tests.cut[i] else 1
        else:
            category_child[first + k] = tests.subset_of[i, k]


@inner
def cut_entries(order, s, a, m, n_known, cut, branch):
    """Fill the branch of each entry of a numeric test, -1 without a value."""
    for e in range(a, a + m):
        branch[e] = -1
    for i in range(n_known):
        branch[a + order[s, a + i]] = 0 if i < cut else 1


@inner
def read_branches(row, cell, s, a, m, n_classes, first, category_child, branch):
    """Fill the branch of each entry of a nominal test, -1 without a value."""
    for e in range(a, a + m):
        at = cell[s, row[e]]
        branch[e] = category_child[first + at // n_classes] if at >= 0 else -1


@inner
def weigh_branches(entries, label, a, m, first, number, branches):
    """Fill class weights, share and size of each branch; number the entries without a value.

    Returns the number of entries without a value.
    """
    row, weight, _ = entries
    branch, counts, share, size = branches.branch, branches.counts, branches.share, branches.size
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
    share_unknown(first, number, known, unknown, share, size)
    if unknown > 0:
        for e in range(a, a + m):
            if branch[e] < 0:
                for b in range(first, first + number):
                    if share[b] > SMALL:
                        counts[b, label[row[e]]] += weight[e] * share[b]
    return unknown


@entry
def assign_branches(
    nodes: Nodes,
    entries: Entries,
    columns: Columns,
    options: SearchOptions,
    tests: Tests,
    may_grow: In(bool_, 1, "C"),
    branches: Branches,
):
    """Find the branch of every entry; return the number of entries in branches that grow.

    ``may_grow[i]`` tells whether the children of node i may be split.
    """
    end = int64(0)
    for i in range(len(nodes.start)):
        if tests.column[i] < 0:
            continue
        a, m, s = nodes.start[i], nodes.size[i], columns.slot[tests.column[i]]
        first, number, at = branches.first[i], tests.n_branches[i], branches.category_start[i]
        if tests.n_categories[i] == 0:
            n_known = nodes.known[i, s]
            cut_entries(entries.order, s, a, m, n_known, tests.cut[i], branches.branch)
        else:
            map_categories(tests, i, options.nominal, at, branches.category_child)
            read_branches(
                entries.row, columns.cell, s, a, m, options.n_classes, at,
                branches.category_child, branches.branch,
            )  # fmt: skip
        branches.n_unknown[i] = weigh_branches(
            entries, columns.label, a, m, first, number, branches
        )
        for b in range(first, first + number):
            branches.to[b] = -1
            if may_grow[i] and may_split(branches.counts, b, options.min_leaf):
                branches.to[b] = end
                end += branches.size[b]
    return end


@entry
def divide_entries(
    nodes: Nodes,
    entries: Entries,
    n_branches: In(int64, 1, "C"),
    branches: Branches,
    n_entries: int,
):
    """Copy the entries of each branch b to ``to[b]``, in order; skip branches where it is negative.

    Returns the fields of the ``n_entries`` new entries, and the number of entries with a value by
    branch and numeric column.
    """
    n_columns = len(entries.order)
    new = start_entries(n_entries, n_columns)
    known = np.zeros((len(branches.to), n_columns), dtype=np.int32)
    division = Division(branches.branch, branches.share, branches.to)
    for i in range(len(nodes.start)):
        first = branches.first[i]
        grows = False
        for b in range(first, first + n_branches[i]):
            grows = grows or branches.to[b] >= 0
        if grows:
            node = Part(nodes.start[i], nodes.size[i], first, n_branches[i], branches.n_unknown[i])
            divide_node(entries, nodes.known, i, node, division, new, known)
    return new.row, new.weight, new.order, known
