"""A tree while it is grown and pruned."""

from typing import NamedTuple

import numpy as np


class Shape(NamedTuple):
    """Nodes as arrays; the children of a node follow one another, all behind it.

    A nominal node sends category k to its child number ``category_child[category_start + k]``;
    ``category_start`` is -1 elsewhere. ``missing`` is a child's number or -1 for "shared".
    ``n_children`` of 0 makes a leaf, whatever else the node still holds. ``counts`` are the class
    weights (nodes x classes; of a regression tree, one column of weights).
    """

    feature: np.ndarray
    threshold: np.ndarray
    first_child: np.ndarray
    n_children: np.ndarray
    category_start: np.ndarray
    category_child: np.ndarray
    missing: np.ndarray
    counts: np.ndarray
