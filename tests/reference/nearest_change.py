"""Brute-force nearest change: try every combination of values that could matter.

It does not use the regions of leaves. Between two neighbouring thresholds, a tree treats all values
of a column alike, so only the allowed value nearest to the case needs to be tried in each interval.
"""

from itertools import product

import numpy as np


def candidates(tree, f, value, rule):
    """Return the values of a column to try: its own, and the nearest allowed one per interval."""
    if np.isnan(value):
        return [value]
    if tree.categories[f] is not None:
        others = [k for k in range(len(tree.categories[f])) if k != value]
        return [value, *(float(k) for k in others if rule["permitted"][k])]
    kept = [value]
    if rule["fixed"]:
        return kept
    used = np.unique(tree.threshold[(tree.kind == 1) & (tree.feature == f)])
    dtype = np.dtype(tree.compare_dtype).type
    tried, (low, high) = [], rule["bounds"]
    for t in used:
        # The threshold and its two neighbours in the type that the model compares.
        number = dtype(t)
        tried.append(float(number))
        for towards in (-np.inf, np.inf):
            tried.append(float(np.nextafter(number, dtype(towards))))
    # A limit that the model rounds to one of these numbers is not nearer than that number.
    read = {end: float(dtype(end)) for end in (low, high)}
    tried += [end for end, v in read.items() if v not in tried or not low <= v <= high]
    if rule["grid"] is not None:
        tried = rule["grid"]
    for v in tried:
        if not np.isfinite(v) or not low <= v <= high:
            continue
        if (v > value and rule["may_rise"]) or (v < value and rule["may_fall"]):
            kept.append(v)
    return kept


def nearest_change(tree, row, rules, metric, wanted=None, max_changes=None):
    """Return the least cost of all combinations with another decision, or the wanted decision."""
    columns = [candidates(tree, f, row[f], rules[f]) for f in range(tree.n_features)]
    tested = set(tree.feature[tree.kind != 0].tolist())
    columns = [c if f in tested else c[:1] for f, c in enumerate(columns)]
    points = np.array(list(product(*columns)))
    own = tree.decide(row[None])[0]
    if np.isnan(row).any():
        points = points[[routes(tree, point) for point in points]]
    decided = tree.decide(points)
    good = decided != own if wanted is None else decided == wanted
    moved = (points != row) & ~np.isnan(row)
    if max_changes is not None:
        good &= moved.sum(axis=1) <= max_changes
    if not good.any():
        return np.inf
    return min(cost(tree, row, point, rules, metric) for point in points[good])


def cost(tree, row, point, rules, metric):
    total = 0.0
    for f in range(tree.n_features):
        if np.isnan(row[f]) or row[f] == point[f]:
            continue
        if tree.categories[f] is not None:
            given = rules[f]["cost"]
            costs = given if np.ndim(given) else metric.category_costs_[f] * given
            total += costs[int(row[f]), int(point[f])] ** 2
        else:
            total += (abs(point[f] - row[f]) * metric.factor_[f] * rules[f]["cost"]) ** 2
    return float(np.sqrt(total))


def routes(tree, point):
    """Return whether the tree decides; the path may have no rule for a missing value."""
    if not np.isnan(point).any():
        return True
    try:
        tree.decide(point[None])
    except ValueError:
        return False
    return True
