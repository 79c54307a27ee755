"""Weakest-link pruning (Breiman et al. 1984) to a maximum number of leaves."""

import numpy as np

from keeptree.learners.shape import label_shape, list_kept

_TIE = 1e-9  # tolerance for ties, in training errors per leaf


def limit_leaves(shape, most):
    """Prune a shape, in place, until it has at most ``most`` leaves.

    Each step turns the node whose subtree saves the fewest training errors per leaf into a leaf.
    Ties go to the node with the smallest weight.
    """
    weight = shape.counts.sum(axis=1)
    errors = weight - shape.counts[np.arange(len(weight)), label_shape(shape)]
    kept = list_kept(shape)
    parent = np.full(len(shape.feature), -1)
    for node in kept.tolist():
        parent[_children(shape, node)] = node
    below, leaves = errors.copy(), np.ones(len(errors))
    for node in kept[::-1].tolist():
        if shape.n_children[node]:
            below[node] = below[_children(shape, node)].sum()
            leaves[node] = leaves[_children(shape, node)].sum()
    inner = kept[shape.n_children[kept] > 0]
    while leaves[0] > most:
        saved = (errors[inner] - below[inner]) / (leaves[inner] - 1)
        weakest = inner[saved <= saved.min() + _TIE]
        node = int(weakest[np.argmin(weight[weakest])])
        more, fewer = errors[node] - below[node], leaves[node] - 1
        shape.n_children[node] = 0
        inner = np.intersect1d(inner, list_kept(shape))
        inner = inner[shape.n_children[inner] > 0]
        while node >= 0:
            below[node] += more
            leaves[node] -= fewer
            node = int(parent[node])


def _children(shape, node):
    first = shape.first_child[node]
    return slice(first, first + shape.n_children[node])
