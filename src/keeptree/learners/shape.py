"""Convert between Shape, the working form of the compiled functions, and Tree."""

import numpy as np

from keeptree._compiled.prune_counts import add_up, label_nodes, list_nodes
from keeptree._compiled.shape import Shape
from keeptree.data.table import count_categories
from keeptree.tree import LEAF, NOMINAL, NUMERIC, SHARE, Tree
from keeptree.tree.routing import ranges


def binary_shape(feature, threshold, first_child, counts, category_start=None, category_child=()):
    """Return a Shape of binary tests that share missing values; a leaf has ``feature`` -1."""
    shared = np.full(len(feature), -1, dtype=np.int32)
    return Shape(
        feature=feature,
        threshold=threshold,
        first_child=first_child,
        n_children=np.where(feature >= 0, 2, 0).astype(np.int32),
        category_start=shared.copy() if category_start is None else category_start,
        category_child=np.array(category_child, dtype=np.int32),
        missing=shared,
        counts=counts,
    )


def label_shape(shape, by_share=False):
    """Return J48's class of each node (compiled ``label_nodes``)."""
    label = np.zeros(len(shape.feature), dtype=np.int32)
    label_nodes(shape, by_share, label)
    return label


def tree_to_shape(tree):
    """Return the Shape of a Tree in declared class order, and the tree nodes in its order."""
    number = np.zeros(tree.n_nodes, dtype=np.int32)
    order, level = [np.array([0])], np.array([0])
    while len(level := _children(tree, level)):
        order.append(level)
    nodes = np.concatenate(order)
    number[nodes] = np.arange(tree.n_nodes)
    width = np.diff(tree.child_start)[nodes].astype(np.int32)
    first = np.concatenate([[1], 1 + np.cumsum(width)[:-1]]).astype(np.int32)
    position = (
        number - first[number[np.maximum(tree.parent, 0)]]
    )  # index of each node among its siblings
    nominal = tree.kind[nodes] == NOMINAL
    missing = tree.missing[nodes]
    goes = missing >= 0
    missing[goes] = position[missing[goes]]
    shape = Shape(
        feature=tree.feature[nodes],
        threshold=tree.threshold[nodes],
        first_child=first,
        n_children=width,
        category_start=np.where(nominal, tree.category_start[nodes], -1).astype(np.int32),
        category_child=position[tree.category_child].astype(np.int32),
        missing=missing,
        counts=np.take(tree.counts[nodes], tree.declared, axis=1),
    )
    return shape, nodes


def _children(tree, level):
    parts = [tree.children(node) for node in level]
    return np.concatenate(parts) if parts else level


def list_kept(shape):
    """Return the nodes that the root still reaches, in preorder."""
    kept = np.empty(len(shape.feature), dtype=np.int32)
    return kept[: list_nodes(shape, kept)]


def shape_to_tree(shape, label=None, mean=None, variance=None, **metadata):
    """Convert a Shape to a Tree, with the nodes in preorder.

    Parameters
    ----------
    shape : Shape
        Shape to convert. Its counts are changed in place: leaves with a weight below 1e-6 become
        empty.
    label : array, optional
        Class of each node; by default J48's.
    mean, variance : arrays, optional
        Mean and variance of each node of a regression tree.
    **metadata
        The other arguments of :class:`keeptree.Tree`.
    """
    add_up(shape)
    if label is None and mean is None:
        label = label_shape(shape, by_share=True)
    kept = list_kept(shape)
    number = np.zeros(len(shape.feature), dtype=np.int32)
    number[kept] = np.arange(len(kept))
    width = shape.n_children[kept]
    inner = width > 0
    first = shape.first_child[kept]
    nominal = inner & (shape.category_start[kept] >= 0)
    feature = np.where(inner, shape.feature[kept], -1)
    sizes = np.zeros(len(kept), dtype=np.int64)
    n_categories = np.array(count_categories(metadata["categories"]))
    sizes[nominal] = n_categories[feature[nominal]]
    branches = shape.category_child[ranges(shape.category_start[kept][nominal], sizes[nominal])]
    missing = shape.missing[kept]
    missing[~inner & (missing >= 0)] = SHARE
    goes = missing >= 0
    missing[goes] = number[first[goes] + missing[goes]]
    return Tree(
        kind=np.where(inner, np.where(nominal, NOMINAL, NUMERIC), LEAF).astype(np.int8),
        feature=feature,
        threshold=np.where(inner & ~nominal, shape.threshold[kept], np.nan),
        child_start=np.concatenate([[0], np.cumsum(width)]),
        child=number[ranges(first, width)],
        category_start=np.concatenate([[0], np.cumsum(sizes)]),
        category_child=number[np.repeat(first[nominal], sizes[nominal]) + branches],
        missing=missing,
        counts=shape.counts[kept],
        label=None if label is None else label[kept],
        mean=None if mean is None else mean[kept],
        variance=None if variance is None else variance[kept],
        **metadata,
    )
