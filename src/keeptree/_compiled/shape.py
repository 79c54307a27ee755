"""The arrays of a tree while it is grown and pruned."""

from typing import NamedTuple

from numpy import float64, int32

from keeptree._compiled.declare import Out


class Shape(NamedTuple):
    """Nodes as arrays; the children of a node are consecutive and come after it.

    A nominal node sends category k to its child number ``category_child[category_start + k]``;
    ``category_start`` is -1 elsewhere. ``missing`` is a child's number or -1 for "shared". A node
    with ``n_children`` 0 is a leaf, whatever its other fields contain. ``counts`` are the class
    weights (nodes x classes; of a regression tree, one column of weights).
    """

    feature: Out(int32, 1)
    threshold: Out(float64, 1)
    first_child: Out(int32, 1)
    n_children: Out(int32, 1)
    category_start: Out(int32, 1)
    category_child: Out(int32, 1)
    missing: Out(int32, 1)
    counts: Out(float64, 2)
