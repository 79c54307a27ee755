"""Prunings that need the class weights of the nodes and no rows: children come after their parent.

Each writes into ``n_children`` of the shape: 0 makes a leaf.
"""

import numpy as np
from numba import boolean, float64, int32, int64, void

from keeptree._kernels.j48 import SMALL
from keeptree._kernels.jit import inner, kernel, readonly

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
def sum_children(first_child, n_children, node, values):
    """Sum of the children's values."""
    total = 0.0
    for child in range(first_child[node], first_child[node] + n_children[node]):
        total += values[child]
    return total


@kernel(void(readonly(int32, 1), int32[::1], readonly(float64, 2), readonly(int32, 1)))
def collapse_nodes(first_child, n_children, counts, label):
    """J48's collapse, top-down: a leaf where the leaves below make no fewer training errors."""
    below = np.empty(len(n_children))
    for node in range(len(n_children) - 1, -1, -1):
        below[node] = sum_children(first_child, n_children, node, below)
        if n_children[node] == 0:
            below[node] = count_errors(counts, node, label[node])
    for node in range(len(n_children)):
        if n_children[node] > 0 and below[node] >= count_errors(counts, node, label[node]) - 1e-3:
            n_children[node] = 0


@kernel(void(readonly(int32, 1), int32[::1], readonly(float64, 2), readonly(int32, 1), float64))
def prune_pessimistic(first_child, n_children, counts, label, penalty):
    """Bottom-up: a leaf where errors + penalty is not larger than the sum over the leaves below."""
    below = np.empty(len(n_children))
    for node in range(len(n_children) - 1, -1, -1):
        as_leaf = count_errors(counts, node, label[node]) + penalty
        below[node] = sum_children(first_child, n_children, node, below)
        if n_children[node] == 0 or as_leaf <= below[node] + ROUNDING:
            n_children[node] = 0
            below[node] = as_leaf


@kernel(
    void(
        readonly(int32, 1), int32[::1], readonly(float64, 2), readonly(float64, 1),
        readonly(int32, 1),
    )
)  # fmt: skip
def prune_reduced_error(first_child, n_children, tested, weight, label):
    """Bottom-up: a leaf where the rows ``tested`` are not classified worse (Weka's -R).

    ``weight`` and ``label`` are those of the rows the tree was grown on; a branch without such
    rows answers with the label of its parent.
    """
    below = np.empty(len(n_children))
    for node in range(len(n_children) - 1, -1, -1):
        as_leaf = count_errors(tested, node, label[node])
        below[node] = 0.0
        for child in range(first_child[node], first_child[node] + n_children[node]):
            if weight[child] < SMALL:
                below[node] += count_errors(tested, child, label[node])
            else:
                below[node] += below[child]
        if n_children[node] == 0 or as_leaf - below[node] < SMALL:
            n_children[node] = 0
            below[node] = as_leaf


@kernel(void(readonly(int32, 1), int32[::1], int32[::1]))
def merge_same_answers(first_child, n_children, label):
    """Bottom-up: a leaf where all children are leaves of one class."""
    for node in range(len(n_children) - 1, -1, -1):
        if n_children[node] == 0:
            continue
        first = first_child[node]
        same = True
        for child in range(first, first + n_children[node]):
            same = same and n_children[child] == 0 and label[child] == label[first]
        if same:
            n_children[node] = int32(0)
            label[node] = label[first]


@kernel(void(readonly(int32, 1), readonly(int32, 1), readonly(float64, 2), boolean, int32[::1]))
def label_nodes(first_child, n_children, counts, by_share, label):
    """J48's class of each node: a class replaces an earlier one only if it is 1e-6 larger.

    Pruning compares weights, prediction shares (``by_share``). A node without weight answers as its
    parent.
    """
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
        for child in range(first_child[node], first_child[node] + n_children[node]):
            label[child] = label[node]


@kernel(int64(readonly(int32, 1), readonly(int32, 1), int32[::1]))
def list_nodes(first_child, n_children, kept):
    """Fill the nodes the root still reaches, in preorder; returns their number."""
    number = 0
    stack = [int64(0)]
    while len(stack) > 0:
        node = stack.pop()
        kept[number] = node
        number += 1
        for k in range(n_children[node] - 1, -1, -1):
            stack.append(int64(first_child[node] + k))
    return number


@kernel(void(readonly(int32, 1), readonly(int32, 1), float64[:, ::1]))
def add_up(first_child, n_children, counts):
    """Leaves with next to no weight become empty; inner nodes hold the sum of their children."""
    for node in range(len(n_children) - 1, -1, -1):
        if n_children[node] > 0:
            counts[node] = 0.0
            for child in range(first_child[node], first_child[node] + n_children[node]):
                for c in range(counts.shape[1]):
                    counts[node, c] += counts[child, c]
            continue
        total = 0.0
        for c in range(counts.shape[1]):
            total += counts[node, c]
        if total < SMALL and node > 0:
            counts[node] = 0.0
