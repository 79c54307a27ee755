"""Soft tests one row and one node at a time, directly from the definition."""

import numpy as np
from scipy.special import expit


def spreads(X, weight):
    """Return the weighted standard deviation of the known values of each column."""
    found = []
    for column in X.T:
        known = ~np.isnan(column) & (weight > 0)
        x, w = column[known], weight[known]
        if len(x) == 0 or x.min() == x.max():
            found.append(0.0)
        else:
            mean = (w * x).sum() / w.sum()
            found.append(np.sqrt((w * (x - mean) ** 2).sum() / w.sum()))
    return np.array(found)


def gap_centres(tree, X, weight):
    """Return the thresholds, moved halfway to the next value if they are values of the sample."""
    centres = tree.threshold.copy()
    for node in np.flatnonzero(tree.kind == 1):
        column = X[weight > 0, tree.feature[node]]
        above = column[column > tree.threshold[node]]
        if (column == tree.threshold[node]).any() and len(above):
            centres[node] += (above.min() - tree.threshold[node]) / 2
    return centres


def child_shares(tree, node, row, slope, spread, centres):
    """Return the share of the row that a test gives each of its children."""
    children = tree.children(node)
    x = row[tree.feature[node]]
    if tree.compare_dtype == "float32":
        with np.errstate(over="ignore"):
            x = float(np.float32(x))
    if np.isnan(x):
        if tree.missing[node] >= 0:
            return (children == tree.missing[node]).astype(float)
        weight = tree.weight[children]
        return weight / weight.sum() if weight.sum() else np.full(len(children), 1 / len(children))
    if tree.kind[node] == 2:
        return (children == tree.category_child[tree.category_start[node] + int(x)]).astype(float)
    s = spread[tree.feature[node]]
    if s == 0 or slope == np.inf:
        first = float(x <= tree.threshold[node])
    else:
        first = expit(slope * (centres[node] - x) / s)
    return np.array([first, 1 - first])


def node_shares(tree, row, slope, spread, centres, down=True):
    """Return the share of the row that reaches each node, or that its parent's test gives it."""
    share = np.zeros(tree.n_nodes)
    share[0] = 1.0
    for node in tree.preorder:
        if tree.kind[node] != 0:
            above = share[node] if down else 1.0
            below = child_shares(tree, node, row, slope, spread, centres)
            share[tree.children(node)] = above * below
    return share


def leaf_values(tree, shrinkage):
    """Return the class shares of each node, shrunk by ``shrinkage`` cases towards its parent."""
    values = np.empty(tree.counts.shape)
    for node in tree.preorder:
        k = tree.counts[node]
        if node == 0:
            values[0] = (k + 1) / (k + 1).sum()
        else:
            values[node] = (k + shrinkage * values[tree.parent[node]]) / (k.sum() + shrinkage)
    return values


def soft_probability(tree, rows, X, weight, strength, shrinkage):
    """Return the average of the leaves, weighted by the share of the row in each."""
    spread, values = spreads(X, weight), leaf_values(tree, shrinkage)
    slope = 1.702 / strength if strength else np.inf
    leaves, sample = tree.kind == 0, (spread, gap_centres(tree, X, weight))
    return np.array([node_shares(tree, r, slope, *sample)[leaves] @ values[leaves] for r in rows])


def margin_features(tree, rows, X, weight, asked):
    """Return tanh(z / 0.5), tanh(z / 4) and the soft reach of the tests ``asked``, as shares."""
    sample = spreads(X, weight), gap_centres(tree, X, weight)
    nodes = [c for node in np.flatnonzero(asked) for c in tree.children(node)[:-1]]
    return np.array(
        [
            np.concatenate(
                [
                    node_shares(tree, row, slope, *sample, down)[nodes]
                    for slope, down in ((4.0, False), (0.5, False), (3.5, True))
                ]
            )
            for row in rows
        ]
    )
