"""Brute-force distance on a grid: let the tree decide every combination of multiples.

It is slow and simple on purpose: it uses neither the regions of leaves nor the thresholds.
"""

from itertools import product

import numpy as np

REACH = 4.0  # largest multiple that is tried; thresholds and rows must lie well inside


def multiples(step):
    """Return multiples of a step as a person writes them: 0.3, not 3 * 0.1."""
    count = int(REACH / step)
    return [float(f"{k * step:.12g}") for k in range(-count, count + 1)]


def candidates(tree, f, value, step):
    """Return the values that a column may take: its own, any category, any multiple."""
    if np.isnan(value):
        return [value]
    labels = tree.categories[f]
    tried = range(len(labels)) if labels is not None else multiples(step)
    return [value, *(float(v) for v in tried if v != value)]


def class_distances(tree, metric, row, step):
    """Return the least cost at which a complete row changes to each class."""
    tested = set(tree.feature[tree.kind != 0].tolist())
    columns = [
        candidates(tree, f, row[f], step) if f in tested else [row[f]]
        for f in range(tree.n_features)
    ]
    points = np.array(list(product(*columns)))
    cost = np.zeros(len(points))
    for f in tested:
        if tree.categories[f] is None:
            cost += ((points[:, f] - row[f]) * metric.factor_[f]) ** 2
        else:
            cost += metric.category_costs_[f][int(row[f]), points[:, f].astype(int)] ** 2
    decided, least = tree.decide(points), np.full(len(tree.classes), np.inf)
    np.minimum.at(least, decided, np.sqrt(cost))
    return least
