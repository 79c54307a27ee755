"""Naive routing through oblique tests, and distances to regions bounded by half-spaces."""

import numpy as np
import quadprog
from scipy.optimize import linprog


def weighted_sum(tree, node, row):
    """Return the sum of an oblique test, term by term in the tree's precision."""
    kind = np.dtype(tree.compare_dtype).type
    total = kind(0)
    for feature, weight in tree.terms(node):
        total = kind(total + kind(kind(row[feature]) * kind(weight)))
    return float(total)


def leaf_of(tree, row):
    """Return the leaf of an encoded row; a shared missing value follows the heaviest child."""
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


def leaf_halves(tree):
    """Yield each leaf with its normals and bounds: normals @ x <= bounds.

    The tree has no nominal tests, and both sides of a test are closed.
    """
    stack = [(0, [], [])]
    while stack:
        node, normals, bounds = stack.pop()
        if tree.kind[node] == 0:
            yield node, np.array(normals).reshape(-1, tree.n_features), np.array(bounds)
            continue
        terms = tree.terms(node) or ((int(tree.feature[node]), 1.0),)
        normal = np.zeros(tree.n_features)
        normal[[f for f, _ in terms]] = [w for _, w in terms]
        first, second = tree.children(node).tolist()
        at = float(tree.threshold[node])
        stack.append((first, [*normals, normal], [*bounds, at]))
        stack.append((second, [*normals, -normal], [*bounds, -at]))


def has_room(normals, bounds, factor):
    """Return whether a ball of radius 1e-9 fits into the region, by a linear program."""
    if not len(normals):
        return True
    slope = normals / factor
    size = np.linalg.norm(slope, axis=1)
    slope, bounds = slope / size[:, None], bounds / size
    free = [(None, None)] * slope.shape[1]
    radius = np.append(np.zeros(slope.shape[1]), -1.0)
    sides = np.column_stack([slope, np.ones(len(slope))])
    found = linprog(radius, A_ub=sides, b_ub=bounds, bounds=[*free, (None, 1)])
    return found.status == 0 and found.x[-1] > 1e-9


def leaf_distance(normals, bounds, factor, x):
    """Return the distance from a row to a leaf, by a quadratic program."""
    slope, slack = normals / factor, bounds - normals @ x
    size = np.linalg.norm(slope, axis=1)
    slope, slack = slope / size[:, None], slack / size
    if (slack >= 0).all():
        return 0.0
    move = quadprog.solve_qp(np.eye(len(x)), np.zeros(len(x)), -slope.T, -slack)[0]
    return float(np.linalg.norm(move))


def class_distances(tree, factor, X):
    """Return the distance from each row to each class; infinite for a class without a leaf."""
    distance = np.full((len(X), len(tree.classes)), np.inf)
    for leaf, normals, bounds in leaf_halves(tree):
        if has_room(normals, bounds, factor):
            c = tree.label[leaf]
            found = [leaf_distance(normals, bounds, factor, x) if len(normals) else 0 for x in X]
            distance[:, c] = np.minimum(distance[:, c], found)
    return distance
