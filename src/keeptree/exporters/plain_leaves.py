"""Values of the leaves as plain lists."""

from keeptree.tree import LEAF


def leaf_values(tree, values):
    """Return the values of the leaves by node, None for tests."""
    leaves = (tree.kind == LEAF).tolist()
    return [row if leaf else None for row, leaf in zip(values.tolist(), leaves, strict=True)]
