"""Prunings that need the class weights of the nodes and no rows: children come after their parent.

Each writes into ``n_children`` of the shape: 0 makes a leaf.
"""

import numpy as np
from numpy import float64, int32, int64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.j48 import SMALL
from keeptree._compiled.shape import Shape

ROUNDING = 1e-9  # of sums of fractional weights


@inner
def count_errors(counts, node, label):
    """Weight of the cases of a node that are not of a class."""
    errors = 0.0
    for c in range(counts.shape[1]):
        if c != label:
            errors += counts[node, c]
    return errors


@inner
def children(shape, node):
    """Children of a node."""
    return range(shape.first_child[node], shape.first_child[node] + shape.n_children[node])


@inner
def sum_children(shape, node, values):
    """Sum of the children's values."""
    total = 0.0
    for child in children(shape, node):
        total += values[child]
    return total


@entry
def collapse_nodes(shape: Shape, label: In(int32, 1)):
    """J48's collapse, top-down: a leaf where the leaves below make no fewer training errors."""
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
    """Bottom-up: a leaf where errors + penalty is not larger than the sum over the leaves below."""
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
    """Bottom-up: a leaf where the rows ``tested`` are not classified worse (Weka's -R).

    ``weight`` and ``label`` are those of the rows the tree was grown on; a branch without such
    rows answers with the label of its parent.
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
    """Bottom-up: a leaf where all children are leaves of one class."""
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
    """J48's class of each node: a class replaces an earlier one only if it is 1e-6 larger.

    Pruning compares weights, prediction shares (``by_share``). A node without weight answers as its
    parent.
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
    """Fill the nodes the root still reaches, in preorder; returns their number."""
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
    """Leaves with next to no weight become empty; inner nodes hold the sum of their children."""
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
