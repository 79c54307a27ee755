"""Soft tests: divide rows among the children of every test, one block of rows at a time.

Nodes come after their children, the root last. The loops over the rows of a block have no branches
and no calls, so that the compiler vectorises them.
"""

from typing import NamedTuple

import numpy as np
from numpy import float64, int8, int32, int64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.elementary import exp
from keeptree._compiled.kinds import NUMERIC

BLOCK = 128  # rows; the values of all slots fit in the first-level cache
LANES = 8  # rows that are processed together: a few rows cost less than a block
FEW = 3  # rows that are averaged one by one, which skips the branches without a share


class Tests(NamedTuple):
    """The nodes of a tree, children first; `keeptree.probability.soft_tests` creates them."""

    columns: In(int64, 1)  # features that the tests read
    slot: In(int32, 1)  # where a node stores its result
    kind: In(int8, 1)
    column: In(int32, 1)  # position of a test's feature in columns
    threshold: In(float64, 1)
    child_start: In(int32, 1)
    child: In(int32, 1)
    missing: In(float64, 1)  # share of the first child if a value is missing
    table_start: In(int32, 1)
    table: In(float64, 1)  # share of each child for each category, and last for a missing value
    single: bool  # whether values are rounded to float32 before they are compared


@inner
def _decay(z):
    """Return exp(-abs(z)) for abs(z) up to 40 and exp(-40) beyond, accurate to 1e-14."""
    t = 0.3125 - min(abs(z), 40.0) * 0.015625  # series of exp around the middle of [0, 40 / 64]
    e = 1.0 / 479001600.0
    e = e * t + 1.0 / 39916800.0
    e = e * t + 1.0 / 3628800.0
    e = e * t + 1.0 / 362880.0
    e = e * t + 1.0 / 40320.0
    e = e * t + 1.0 / 5040.0
    e = e * t + 1.0 / 720.0
    e = e * t + 1.0 / 120.0
    e = e * t + 1.0 / 24.0
    e = e * t + 1.0 / 6.0
    e = e * t + 0.5
    e = e * t + 1.0
    e = (e * t + 1.0) * 0.7316156289466418  # exp(-0.3125)
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    return e * e


@inner(error_model="numpy")
def _logistic(z, e):
    """Return 1 / (1 + exp(-z)), given e = exp(-abs(z))."""
    return (1.0 if z > 0.0 else e) / (1.0 + e)


@inner
def _fill_lanes(number):
    """Return the number of lanes to process for a number of rows, at most a block."""
    return -(-number // LANES) * LANES


@inner
def _read_block(X, start, stop, columns, single, values):
    """Read the tested columns of some rows, transposed; repeat the last row to fill the lanes."""
    for i in range(_fill_lanes(stop - start)):
        row = min(start + i, stop - 1)
        for j in range(len(columns)):
            value = X[row, columns[j]]
            values[j, i] = float64(np.float32(value)) if single else value


@inner
def _share_first(size, values, threshold, steep, missing, share):
    """Fill the share of the first child of a numeric test.

    The test stays hard if ``steep`` is 0. If it is negative, every row is divided as if its value
    were missing.
    """
    if steep < 0.0:
        share[:size] = missing
    elif steep == 0.0:
        for i in range(size):
            x = values[i]
            w = 1.0 if x <= threshold else 0.0
            share[i] = w if x == x else missing
    else:
        for i in range(size):
            x = values[i]
            z = (threshold - x) * steep
            w = _logistic(z, _decay(z))
            share[i] = w if x == x else missing


@inner
def _share_of(size, values, width, branch, first, n_codes, table, share):
    """Fill the share of the child ``branch`` of a nominal test from the table of its categories."""
    for i in range(size):
        x = values[i]
        code = int64(x) if x == x else n_codes
        share[i] = table[first + code * width + branch]


@inner
def _share_row(tests, node, branch, x, steep):
    """Return the share of one row that a test gives to a child, as for a block."""
    first = tests.child_start[node]
    if tests.kind[node] == NUMERIC:
        if steep < 0.0 or x != x:
            w = tests.missing[node]
        elif steep == 0.0:
            w = 1.0 if x <= tests.threshold[node] else 0.0
        else:
            z = (tests.threshold[node] - x) * steep
            w = _logistic(z, _decay(z))
        return w if branch == 0 else 1.0 - w
    start, width = tests.table_start[node], tests.child_start[node + 1] - first
    n_codes = (tests.table_start[node + 1] - start) // width - 1
    code = int64(x) if x == x else n_codes
    return tests.table[start + code * width + branch]


@inner
def _average_row(x, tests, steep, leaf_values, share, result, out):
    """Fill ``out`` with the average of one row, equal to that of a block to the last bit.

    ``share`` has room for the share of each node in the result of the node above.
    """
    share[:] = 0.0
    share[-1] = 1.0
    for node in range(len(tests.kind) - 1, -1, -1):
        if share[node] == 0.0:
            continue
        for b in range(tests.child_start[node + 1] - tests.child_start[node]):
            child = tests.child[tests.child_start[node] + b]
            share[child] = _share_row(tests, node, b, x[tests.column[node]], steep[node])
    for node in range(len(tests.kind)):
        at = tests.slot[node]
        if share[node] == 0.0:
            continue
        if tests.kind[node] == 0:
            result[at] = leaf_values[node]
            continue
        for j in range(len(out)):
            total = 0.0
            for b in range(tests.child_start[node + 1] - tests.child_start[node]):
                w = share[tests.child[tests.child_start[node] + b]]
                if w != 0.0:
                    total += w * result[at + b, j]
            result[at, j] = total
    out[:] = result[0]


@entry
def average_leaves(
    X: In(float64, 2),
    tests: Tests,
    steep: In(float64, 1),
    leaf_values: In(float64, 2),
    out: Out(float64, 2),
):
    """Fill ``out[i]`` with the values of the leaves, averaged by the shares of row i.

    Computed from the leaves up: a test averages the results of its children. ``steep`` holds the
    slope of every test's logistic function at its threshold, 0 for a hard test.
    """
    n, m = out.shape
    values = np.empty((max(len(tests.columns), 1), BLOCK))
    if n <= FEW:
        _read_block(X, 0, n, tests.columns, tests.single, values)
        shares, results = np.empty(len(tests.kind)), np.empty((tests.slot.max() + 1, m))
        for i in range(n):
            _average_row(values[:, i], tests, steep, leaf_values, shares, results, out[i])
        return
    result = np.empty((tests.slot.max() + 1, m, BLOCK))
    share = np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        size = _fill_lanes(stop - start)
        _read_block(X, start, stop, tests.columns, tests.single, values)
        for node in range(len(tests.kind)):
            at, first = tests.slot[node], tests.child_start[node]
            if tests.kind[node] == 0:
                for j in range(m):
                    result[at, j, :size] = leaf_values[node, j]
            elif tests.kind[node] == NUMERIC:
                x = values[tests.column[node]]
                _share_first(
                    size, x, tests.threshold[node], steep[node], tests.missing[node], share
                )
                for j in range(m):
                    left, right = result[at, j], result[at + 1, j]
                    for i in range(size):
                        left[i] = share[i] * left[i] + (1.0 - share[i]) * right[i]
            else:
                x, width = values[tests.column[node]], tests.child_start[node + 1] - first
                n_codes = (tests.table_start[node + 1] - tests.table_start[node]) // width - 1
                for b in range(width):
                    _share_of(
                        size, x, width, b, tests.table_start[node], n_codes, tests.table, share
                    )
                    for j in range(m):
                        total, part = result[at, j], result[at + b, j]
                        for i in range(size):
                            before = 0.0 if b == 0 else total[i]
                            total[i] = before + share[i] * part[i]
        for j in range(m):
            for i in range(stop - start):
                out[start + i, j] = result[0, j, i]


@entry
def share_nodes(
    X: In(float64, 2),
    tests: Tests,
    steep: In(float64, 1),
    down: bool,
    reach: Out(float64, 2),
):
    """Fill ``reach[node, i]`` with the share of row i in each node.

    With ``down``, shares are multiplied along the path and give how much of the row reaches the
    node. Otherwise every test divides the whole row.
    """
    n = len(X)
    values = np.empty((max(len(tests.columns), 1), BLOCK))
    share = np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        size, filled = stop - start, _fill_lanes(stop - start)
        _read_block(X, start, stop, tests.columns, tests.single, values)
        reach[-1, start:stop] = 1.0
        for node in range(len(tests.kind) - 1, -1, -1):
            if tests.kind[node] == 0:
                continue
            first, width = (
                tests.child_start[node],
                tests.child_start[node + 1] - tests.child_start[node],
            )
            above = reach[node if down else -1, start:stop]
            x = values[tests.column[node]]
            if tests.kind[node] == NUMERIC:
                _share_first(
                    filled, x, tests.threshold[node], steep[node], tests.missing[node], share
                )
                left, right = reach[tests.child[first]], reach[tests.child[first + 1]]
                for i in range(size):
                    left[start + i] = above[i] * share[i]
                    right[start + i] = above[i] * (1.0 - share[i])
            else:
                n_codes = (tests.table_start[node + 1] - tests.table_start[node]) // width - 1
                for b in range(width):
                    _share_of(
                        filled, x, width, b, tests.table_start[node], n_codes, tests.table, share
                    )
                    below = reach[tests.child[first + b]]
                    for i in range(size):
                        below[start + i] = above[i] * share[i]


@inner
def _margin_shares(size, values, threshold, steep, missing, near, far, reach):
    """Fill the shares of the first child at 8, 1 and 7 times the slope, from one exponential."""
    if steep <= 0.0:
        _share_first(size, values, threshold, steep, missing, near)
        far[:size] = near[:size]
        reach[:size] = near[:size]
    else:
        for i in range(size):
            x = values[i]
            z = (threshold - x) * steep
            e = _decay(z)
            e2 = e * e
            e4 = e2 * e2
            a, b, c = _logistic(z, e4 * e4), _logistic(z, e), _logistic(z, e4 * e2 * e)
            near[i] = a if x == x else missing
            far[i] = b if x == x else missing
            reach[i] = c if x == x else missing


@entry
def add_margins(
    X: In(float64, 2),
    tests: Tests,
    steep: In(float64, 1),
    side: In(float64, 3),
    path: In(float64, 2),
    out: Out(float64, 2),
):
    """Add the logits of row i to ``out[i]``.

    ``side[0, node]`` and ``side[1, node]`` are weighted by the share of the row that the test above
    gives the node at 8 times the slope ``steep`` and at ``steep``; they are 0 for a second child.
    ``path[leaf]`` is weighted by the share that reaches the leaf at 7 times the slope.
    """
    n, m = out.shape
    values = np.empty((max(len(tests.columns), 1), BLOCK))
    result = np.empty((tests.slot.max() + 1, m, BLOCK))
    total = np.empty((m, BLOCK))
    near, far, share = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        size = _fill_lanes(stop - start)
        _read_block(X, start, stop, tests.columns, tests.single, values)
        total[:, :size] = 0.0
        for node in range(len(tests.kind)):
            at, first = tests.slot[node], tests.child_start[node]
            if tests.kind[node] == 0:
                for j in range(m):
                    result[at, j, :size] = path[node, j]
            elif tests.kind[node] == NUMERIC and not side[:, tests.child[first]].any():
                x = values[tests.column[node]]
                slope = 7.0 * steep[node]  # a rule has only the scores of its path
                _share_first(size, x, tests.threshold[node], slope, tests.missing[node], share)
                for j in range(m):
                    left, right = result[at, j], result[at + 1, j]
                    for i in range(size):
                        left[i] = share[i] * left[i] + (1.0 - share[i]) * right[i]
            elif tests.kind[node] == NUMERIC:
                x = values[tests.column[node]]
                _margin_shares(
                    size,
                    x,
                    tests.threshold[node],
                    steep[node],
                    tests.missing[node],
                    near,
                    far,
                    share,
                )
                for j in range(m):
                    left, right, line = result[at, j], result[at + 1, j], total[j]
                    a, b = side[0, tests.child[first], j], side[1, tests.child[first], j]
                    for i in range(size):
                        left[i] = share[i] * left[i] + (1.0 - share[i]) * right[i]
                        line[i] += near[i] * a + far[i] * b
            else:
                x, width = values[tests.column[node]], tests.child_start[node + 1] - first
                n_codes = (tests.table_start[node + 1] - tests.table_start[node]) // width - 1
                for b in range(width):
                    _share_of(
                        size, x, width, b, tests.table_start[node], n_codes, tests.table, share
                    )
                    for j in range(m):
                        mixed, part, line = result[at, j], result[at + b, j], total[j]
                        score = (
                            side[0, tests.child[first + b], j] + side[1, tests.child[first + b], j]
                        )
                        for i in range(size):
                            before = 0.0 if b == 0 else mixed[i]
                            mixed[i] = before + share[i] * part[i]
                            line[i] += share[i] * score
        for j in range(m):
            for i in range(stop - start):
                out[start + i, j] += result[0, j, i] + total[j, i]


@entry
def logits_to_shares(
    logit: In(float64, 2),
    out: Out(float64, 2),
):
    """Turn logits into probabilities: of the second of two classes, or of each class."""
    n, m = logit.shape
    if out.shape[1] == 2:
        for i in range(n):
            z = logit[i, 0]
            p = _logistic(z, _decay(z))
            out[i, 1] = p
            out[i, 0] = 1.0 - p
        return
    for i in range(n):
        largest, total = logit[i].max(), 0.0
        for j in range(m):
            out[i, j] = exp(logit[i, j] - largest)
            total += out[i, j]
        for j in range(m):
            out[i, j] /= total
