"""Send rows down a tree to their leaves."""

import numpy as np
from numpy import float64, int8, int32, int64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.kinds import NUMERIC, OBLIQUE


@entry
def route_rows(
    X: In(float64, 2),
    kind: In(int8, 1),
    feature: In(int32, 1),
    threshold: In(float64, 1),
    child_start: In(int32, 1),
    child: In(int32, 1),
    category_start: In(int32, 1),
    category_child: In(int32, 1),
    term_start: In(int32, 1),
    term_feature: In(int32, 1),
    term_weight: In(float64, 1),
    missing_child: In(int32, 1),
    single: bool,
    leaf: Out(int64, 1),
):
    """Fill ``leaf[i]`` with the leaf of row i, or ``-1 - node`` where a missing value has no rule.

    Nominal columns hold category codes. An oblique test sums the terms of its node; a sum that is
    NaN counts as missing. ``missing_child[node]`` is the child that a missing value follows,
    negative for none. If ``single``, values are rounded to float32 before they are compared, as in
    scikit-learn.
    """
    for i in range(X.shape[0]):
        node = 0
        while kind[node] != 0:
            if kind[node] == OBLIQUE:
                first, last = term_start[node], term_start[node + 1]
                value = weighted_sum(X, i, first, last, term_feature, term_weight, single)
            else:
                value = X[i, feature[node]]
                if single:
                    value = float64(np.float32(value))
            if np.isnan(value):
                following = missing_child[node]
                if following < 0:
                    node = -1 - node
                    break
                node = following
            elif kind[node] == NUMERIC or kind[node] == OBLIQUE:
                node = child[child_start[node] + (0 if value <= threshold[node] else 1)]
            else:
                node = category_child[category_start[node] + int64(value)]
        leaf[i] = node


@entry
def route_numeric_rows(
    X: In(float64, 2),
    feature: In(int64, 1),
    threshold: In(float64, 1),
    following: In(int64, 2),
    single: bool,
    leaf: Out(int64, 1),
):
    """Do the same as ``route_rows`` for a tree with numeric tests only, at half the cost.

    ``following[node]`` holds the next node for "not above", "above" and "missing". If a missing
    value has no rule, this is an extra node after those of the tree. ``feature`` is -1 in leaves.
    """
    for i in range(X.shape[0]):
        node = 0
        f = feature[0]
        while f >= 0:
            value = X[i, f]
            if single:
                value = float64(np.float32(value))
            at = threshold[node]
            node = following[node, 0 if value <= at else (1 if value > at else 2)]
            f = feature[node]
        leaf[i] = node


@entry
def combine_rows(
    X: In(float64, 2),
    nodes: In(int64, 1),
    term_start: In(int32, 1),
    term_feature: In(int32, 1),
    term_weight: In(float64, 1),
    single: bool,
    first: int,
    out: Out(float64, 2),
):
    """Fill the columns of ``out`` from ``first`` on with the weighted sums of oblique nodes."""
    for i in range(X.shape[0]):
        for k in range(len(nodes)):
            start, stop = term_start[nodes[k]], term_start[nodes[k] + 1]
            out[i, first + k] = weighted_sum(X, i, start, stop, term_feature, term_weight, single)


@inner
def weighted_sum(X, i, start, stop, term_feature, term_weight, single):
    """Return the sum of the terms start to stop - 1 of row i, left to right, each product rounded.

    If ``single``, the sum is computed in float32, as in treeple.
    """
    if single:
        short = np.float32(0.0)
        for k in range(start, stop):
            product = np.float32(X[i, term_feature[k]]) * np.float32(term_weight[k])
            short = np.float32(short + product)
        return float64(short)
    total = 0.0
    for k in range(start, stop):
        total += X[i, term_feature[k]] * term_weight[k]
    return total
