"""Arrays of a tree or model as plain lists."""

import numpy as np

from keeptree.tree import LEAF


def leaf_values(tree, values):
    """Return the values of the leaves by node, None for tests."""
    leaves = (tree.kind == LEAF).tolist()
    return [row if leaf else None for row, leaf in zip(values.tolist(), leaves, strict=True)]


def known_values(values):
    """Return values as a list, with None for NaN."""
    return [None if np.isnan(value) else value for value in values.tolist()]


def split_values(values, start):
    """Return a list of values for each part; ``start`` has the first position of each."""
    return [part.tolist() for part in np.split(values, start[1:-1])]
