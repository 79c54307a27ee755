"""Routing through oblique tests, and distances to regions of half-spaces, the plain way."""

import numpy as np


def weighted_sum(tree, node, row):
    """The sum of an oblique test, term by term in the precision in which the tree compares."""
    kind = np.dtype(tree.compare_dtype).type
    total = kind(0)
    for feature, weight in tree.terms(node):
        total = kind(total + kind(kind(row[feature]) * kind(weight)))
    return float(total)


def leaf_of(tree, row):
    """The leaf of an encoded row; the heaviest child where a missing value is shared."""
    node = 0
    while tree.kind[node] != 0:
        children = tree.children(node).tolist()
        if tree.kind[node] == 3:
            value = weighted_sum(tree, node, row)
        else:
            value = float(np.dtype(tree.compare_dtype).type(row[tree.feature[node]]))
        if np.isnan(value):
            goes = int(tree.missing[node])
            if goes == -2:
                return None
            node = goes if goes >= 0 else max(children, key=lambda c: tree.weight[c])
        elif tree.kind[node] == 2:
            node = int(tree.category_children(node)[int(value)])
        else:
            node = children[0] if value <= tree.threshold[node] else children[1]
    return node
