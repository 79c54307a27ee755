"""A tree while it is grown and pruned: arrays that may change, and the way to and from a Tree."""

from typing import NamedTuple

import numpy as np

from keeptree.data.table import count_categories
from keeptree.tree import LEAF, NOMINAL, NUMERIC, SHARE, Tree
from keeptree.tree.routing import ranges


class Shape(NamedTuple):
    """Nodes as arrays; the children of a node follow one another, all behind it.

    A nominal node sends category k to its child number ``category_child[category_start + k]``;
    ``category_start`` is -1 elsewhere. ``missing`` is a child's number or -1 for "shared".
    ``n_children`` of 0 makes a leaf, whatever else the node still holds.
    """

    feature: np.ndarray
    threshold: np.ndarray
    first_child: np.ndarray
    n_children: np.ndarray
    category_start: np.ndarray
    category_child: np.ndarray
    missing: np.ndarray
    counts: np.ndarray

    @property
    def tests(self):
        """The arrays that say where a row goes, as the kernels take them."""
        return self[:7]


def label_shape(shape, by_share=False):
    """J48's class of each node (kernel ``label_nodes``)."""
    from keeptree._compiled.prune_counts import label_nodes

    label = np.zeros(len(shape.feature), dtype=np.int32)
    label_nodes(shape.first_child, shape.n_children, shape.counts, by_share, label)
    return label


def tree_to_shape(tree):
    """Shape of a Tree, its classes in declared order, and the Tree's node behind each node."""
    number = np.zeros(tree.n_nodes, dtype=np.int32)
    order, level = [np.array([0])], np.array([0])
    while len(level := _children(tree, level)):
        order.append(level)
    nodes = np.concatenate(order)
    number[nodes] = np.arange(tree.n_nodes)
    width = np.diff(tree.child_start)[nodes].astype(np.int32)
    first = np.concatenate([[1], 1 + np.cumsum(width)[:-1]]).astype(np.int32)
    position = number - first[number[np.maximum(tree.parent, 0)]]  # of each node among its siblings
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
    """Nodes the root still reaches, in preorder."""
    from keeptree._compiled.prune_counts import list_nodes

    kept = np.empty(len(shape.feature), dtype=np.int32)
    return kept[: list_nodes(shape.first_child, shape.n_children, kept)]


def shape_to_tree(shape, label=None, mean=None, variance=None, **metadata):
    """Tree of the nodes the root reaches, numbered in preorder.

    Parameters
    ----------
    shape : Shape
        Its counts are tidied in place: leaves with less than 1e-6 weight count as empty.
    label : array, optional
        Class of each node of the shape. Default: J48's.
    mean, variance : arrays, optional
        Of a regression tree, which has no classes: of the cases of each node of the shape.
    **metadata
        The other arguments of :class:`keeptree.Tree`.
    """
    from keeptree._compiled.prune_counts import add_up

    add_up(shape.first_child, shape.n_children, shape.counts)
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
