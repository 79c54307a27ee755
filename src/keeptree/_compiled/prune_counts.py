"""Pruning methods that need the class weights of the nodes but no rows.

Each sets ``n_children`` of the shape to 0 to make a leaf. Children come after their parent.
"""

import numpy as np
from numpy import float64, int32, int64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.j48 import SMALL
from keeptree._compiled.shape import Shape

ROUNDING = 1e-9  # tolerance for sums of fractional weights


@inner
def count_errors(counts, node, label):
    """Return the weight of the cases of a node that are not of class ``label``."""
    errors = 0.0
    for c in range(counts.shape[1]):
        if c != label:
            errors += counts[node, c]
    return errors


@inner
def children(shape, node):
    """Return the children of a node."""
    return range(shape.first_child[node], shape.first_child[node] + shape.n_children[node])


@inner
def sum_children(shape, node, values):
    """Return the sum of the children's values."""
    total = 0.0
    for child in children(shape, node):
        total += values[child]
    return total


@entry
def collapse_nodes(shape: Shape, label: In(int32, 1)):
    """Collapse top-down as J48 does: make a leaf where the subtree makes no fewer errors."""
    n_children, counts = shape.n_children, shape.counts
    below = np.empty(len(n_children))
    for node in range(len(n_children) - 1, -1, -1):
        below[node] = sum_children(shape, node, below)
        if n_children[node] == 0:
            below[node] = count_errors(counts, node, label[node])
    for node in range(len(n_children)):
        if n_children[node] > 0 and below[node] >= count_errors(counts, node, label[node]) - 1e-3:
            n_children[node] = 0


@entry
def prune_pessimistic(shape: Shape, label: In(int32, 1), penalty: float):
    """Prune bottom-up where errors plus penalty do not exceed those of the leaves below."""
    n_children, counts = shape.n_children, shape.counts
    below = np.empty(len(n_children))
    for node in range(len(n_children) - 1, -1, -1):
        as_leaf = count_errors(counts, node, label[node]) + penalty
        below[node] = sum_children(shape, node, below)
        if n_children[node] == 0 or as_leaf <= below[node] + ROUNDING:
            n_children[node] = 0
            below[node] = as_leaf


@entry
def prune_reduced_error(
    shape: Shape, tested: In(float64, 2), weight: In(float64, 1), label: In(int32, 1)
):
    """Prune bottom-up where a leaf classifies the rows ``tested`` no worse (Weka's -R).

    ``weight`` and ``label`` come from the rows that the tree was grown on; a branch without such
    rows has the label of its parent.
    """
    n_children = shape.n_children
    below = np.empty(len(n_children))
    for node in range(len(n_children) - 1, -1, -1):
        as_leaf = count_errors(tested, node, label[node])
        below[node] = 0.0
        for child in children(shape, node):
            if weight[child] < SMALL:
                below[node] += count_errors(tested, child, label[node])
            else:
                below[node] += below[child]
        if n_children[node] == 0 or as_leaf - below[node] < SMALL:
            n_children[node] = 0
            below[node] = as_leaf


@entry
def merge_same_answers(shape: Shape, label: Out(int32, 1)):
    """Prune bottom-up where all children are leaves of one class."""
    n_children = shape.n_children
    for node in range(len(n_children) - 1, -1, -1):
        if n_children[node] == 0:
            continue
        first = shape.first_child[node]
        same = True
        for child in children(shape, node):
            same = same and n_children[child] == 0 and label[child] == label[first]
        if same:
            n_children[node] = int32(0)
            label[node] = label[first]


@entry
def label_nodes(shape: Shape, by_share: bool, label: Out(int32, 1)):
    """Fill J48's class of each node: a later class wins only if it is larger by 1e-6.

    Pruning compares weights; prediction compares shares (``by_share``). A node without weight has
    the class of its parent.
    """
    counts = shape.counts
    for node in range(len(counts)):
        total = 0.0
        for c in range(counts.shape[1]):
            total += counts[node, c]
        if total >= SMALL or node == 0:
            margin = SMALL * total if by_share else SMALL
            best, chosen = 0.0, 0
            for c in range(counts.shape[1]):
                if counts[node, c] - best > margin:
                    best, chosen = counts[node, c], c
            label[node] = chosen
        for child in children(shape, node):
            label[child] = label[node]


@entry
def list_nodes(shape: Shape, kept: Out(int32, 1)):
    """Fill the nodes that the root still reaches, in preorder; return their number."""
    number = 0
    stack = [int64(0)]
    while len(stack) > 0:
        node = stack.pop()
        kept[number] = node
        number += 1
        for k in range(shape.n_children[node] - 1, -1, -1):
            stack.append(int64(shape.first_child[node] + k))
    return number


@entry
def add_up(shape: Shape):
    """Empty leaves with almost no weight, and set inner nodes to the sum of their children."""
    n_children, counts = shape.n_children, shape.counts
    for node in range(len(n_children) - 1, -1, -1):
        if n_children[node] > 0:
            counts[node] = 0.0
            for child in children(shape, node):
                for c in range(counts.shape[1]):
                    counts[node, c] += counts[child, c]
            continue
        total = 0.0
        for c in range(counts.shape[1]):
            total += counts[node, c]
        if total < SMALL and node > 0:
            counts[node] = 0.0
