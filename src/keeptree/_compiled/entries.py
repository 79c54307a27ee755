"""Entries: the rows of nodes, each with the part of its weight that reaches the node.

A row whose value is missing at a test becomes one entry in every branch that has a share of the
weight. The entries of several nodes are stored one after another; only the root is sorted.
"""

from typing import NamedTuple

import numpy as np
from numpy import float64, int32

from keeptree._compiled.declare import In, inner
from keeptree._compiled.j48 import SMALL


class Entries(NamedTuple):
    """Entries of nodes, and the order of those with a value in each numeric column.

    Positions in ``order`` (numeric columns x entries) are relative to the node's first entry.
    """

    row: In(int32, 1, "C")
    weight: In(float64, 1, "C")
    order: In(int32, 2, "C")


class Part(NamedTuple):
    """A node to divide: its entries, its branches, and its number of entries without a value."""

    start: int
    size: int
    first_branch: int
    n_branches: int
    n_unknown: int


class Division(NamedTuple):
    """The branches that entries go to.

    ``branch`` of each entry is relative to the node's first branch; it is ``-1 - i`` for the i-th
    entry without a value in a node. Each branch has a ``share`` of the weight, and its entries go
    to the places from ``to`` on, or nowhere if ``to`` is negative.
    """

    branch: np.ndarray
    share: np.ndarray
    to: np.ndarray


@inner
def start_entries(size, n_columns):
    """Allocate entries."""
    order = np.empty((n_columns, size), dtype=np.int32)
    return Entries(np.empty(size, dtype=np.int32), np.empty(size), order)


@inner
def share_unknown(first, number, known, n_unknown, share, size):
    """Turn weights of branches into shares; add the entries without a value to their sizes."""
    for b in range(first, first + number):
        share[b] = share[b] / known if known >= SMALL else 1.0 / number
        if share[b] > SMALL:
            size[b] += n_unknown


@inner
def copy_entry(entries, e, share, new, at):
    """Copy an entry to its new place with a part of its weight."""
    new.row[at] = entries.row[e]
    new.weight[at] = entries.weight[e] * share


@inner
def divide_rows(entries, node, division, new, place):
    """Copy the entries of a node and fill the place of each in its branch.

    Returns the places of the entries without a value, by branch.
    """
    branch, share, to = division
    a, first, number = node.start, node.first_branch, node.n_branches
    copies = np.empty((node.n_unknown, number), dtype=np.int32)
    filled = np.zeros(number, dtype=np.int32)
    for e in range(a, a + node.size):
        b = branch[e]
        if b >= 0:
            if to[first + b] >= 0:
                place[e - a] = filled[b]
                copy_entry(entries, e, 1.0, new, to[first + b] + filled[b])
                filled[b] += 1
            continue
        for j in range(number):
            if to[first + j] >= 0 and share[first + j] > SMALL:
                copies[-1 - b, j] = filled[j]
                copy_entry(entries, e, share[first + j], new, to[first + j] + filled[j])
                filled[j] += 1
    return copies


@inner
def divide_column(entries, s, n_known, node, division, new, place, copies, filled):
    """Divide a sorted column of a node; ``filled`` counts the entries of each branch."""
    branch, share, to = division
    order, new_order = entries.order, new.order
    a, first, number = node.start, node.first_branch, node.n_branches
    for j in range(number):
        filled[j] = 0
    for i in range(n_known):
        e = order[s, a + i]
        b = branch[a + e]
        if b >= 0:
            if to[first + b] >= 0:
                new_order[s, to[first + b] + filled[b]] = place[e]
                filled[b] += 1
            continue
        for j in range(number):
            if to[first + j] >= 0 and share[first + j] > SMALL:
                new_order[s, to[first + j] + filled[j]] = copies[-1 - b, j]
                filled[j] += 1


@inner
def divide_node(entries, known, i, node, division, new, new_known):
    """Copy the entries of a node to its branches, in order.

    Row i of ``known`` counts the entries of the node with a value in each numeric column;
    ``new_known`` receives the same counts for the branches.
    """
    place = np.empty(node.size, dtype=np.int32)
    copies = divide_rows(entries, node, division, new, place)
    filled = np.empty(node.n_branches, dtype=np.int32)
    for s in range(len(entries.order)):
        divide_column(entries, s, known[i, s], node, division, new, place, copies, filled)
        for j in range(node.n_branches):
            new_known[node.first_branch + j, s] = filled[j]
