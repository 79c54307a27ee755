"""Soft tests: rows are divided among the children of every test, blocks of rows at a time.

Nodes come after their children, the root last. The loops over the rows of a block have no branch
and call nothing, so that they are vectorised.
"""

import numpy as np
from numba import boolean, float64, int8, int32, int64, void

from keeptree._kernels.jit import kernel, readonly

BLOCK = 128  # rows whose values of all slots stay in the nearest cache
NUMERIC = 1  # keeptree.tree.NUMERIC: a kernel file stands on its own
_TESTS = (
    readonly(int64, 1),  # columns: features that some test reads
    readonly(int32, 1),  # slot: where a node leaves its result
    readonly(int8, 1),  # kind
    readonly(int32, 1),  # column: position of a test's feature in columns
    readonly(float64, 1),  # threshold
    readonly(int32, 1),  # child_start
    readonly(int32, 1),  # child
    readonly(float64, 1),  # missing: share of the first child where a value is missing
    readonly(int32, 1),  # table_start
    readonly(float64, 1),  # table: share of each child for each category, last for a missing value
    boolean,  # single
)


@kernel(error_model="numpy")
def _logistic(z):
    """1 / (1 + exp(-z)), for z within 40 of 0; exact to 1e-14, and 0.5 where z is NaN."""
    y = min(abs(z), 40.0) * 0.015625
    # exp(-y) for y in [0, 0.625], by its series at the middle of the interval
    t = 0.3125 - y
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
    e = e * e
    return (1.0 if z > 0.0 else e) / (1.0 + e)


@kernel
def _read_block(X, start, stop, columns, single, values):
    """The tested columns of some rows, transposed; the last row is repeated to fill the block."""
    for i in range(BLOCK):
        row = min(start + i, stop - 1)
        for j in range(len(columns)):
            value = X[row, columns[j]]
            values[j, i] = float64(np.float32(value)) if single else value


@kernel
def _share_first(values, threshold, steep, missing, share):
    """Share of the first child of a numeric test; where ``steep`` is 0 the test stays hard."""
    if steep == 0.0:
        for i in range(BLOCK):
            x = values[i]
            w = 1.0 if x <= threshold else 0.0
            share[i] = w if x == x else missing
    else:
        for i in range(BLOCK):
            x = values[i]
            w = _logistic((threshold - x) * steep)
            share[i] = w if x == x else missing


@kernel
def _share_of(values, width, branch, first, n_codes, table, share):
    """Share of the child ``branch`` of a nominal test, by the table of its categories."""
    for i in range(BLOCK):
        x = values[i]
        code = int64(x) if x == x else n_codes
        share[i] = table[first + code * width + branch]


@kernel(
    void(
        readonly(float64, 2),
        *_TESTS,
        readonly(float64, 1),
        readonly(float64, 2),
        float64[:, ::1],
    )
)
def average_leaves(
    X,
    columns,
    slot,
    kind,
    column,
    threshold,
    child_start,
    child,
    missing,
    table_start,
    table,
    single,
    steep,
    leaf_values,
    out,
):
    """Fill ``out[i]`` with the values of the leaves, averaged by the share of row i in each.

    From the leaves up: a test averages the results of its children. ``steep`` has the slope of
    every test's logistic at its threshold, 0 for a hard one.
    """
    n, m = out.shape
    values = np.empty((max(len(columns), 1), BLOCK))
    result = np.empty((slot.max() + 1, m, BLOCK))
    share = np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        _read_block(X, start, stop, columns, single, values)
        for node in range(len(kind)):
            at, first = slot[node], child_start[node]
            if kind[node] == 0:
                for j in range(m):
                    result[at, j, :] = leaf_values[node, j]
            elif kind[node] == NUMERIC:
                x = values[column[node]]
                _share_first(x, threshold[node], steep[node], missing[node], share)
                for j in range(m):
                    left, right = result[at, j], result[at + 1, j]
                    for i in range(BLOCK):
                        left[i] = share[i] * left[i] + (1.0 - share[i]) * right[i]
            else:
                x, width = values[column[node]], child_start[node + 1] - first
                n_codes = (table_start[node + 1] - table_start[node]) // width - 1
                for b in range(width):
                    _share_of(x, width, b, table_start[node], n_codes, table, share)
                    for j in range(m):
                        total, part = result[at, j], result[at + b, j]
                        for i in range(BLOCK):
                            before = 0.0 if b == 0 else total[i]
                            total[i] = before + share[i] * part[i]
        for j in range(m):
            for i in range(stop - start):
                out[start + i, j] = result[0, j, i]


@kernel(void(readonly(float64, 2), *_TESTS, readonly(float64, 1), boolean, float64[:, ::1]))
def share_nodes(
    X,
    columns,
    slot,
    kind,
    column,
    threshold,
    child_start,
    child,
    missing,
    table_start,
    table,
    single,
    steep,
    down,
    reach,
):
    """Fill ``reach[node, i]`` with the share of row i that each node has.

    If ``down`` the shares are multiplied down the path: how much of the row reaches the node. Else
    every test is asked about the whole row.
    """
    n = len(X)
    values = np.empty((max(len(columns), 1), BLOCK))
    share = np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        size = stop - start
        _read_block(X, start, stop, columns, single, values)
        reach[-1, start:stop] = 1.0
        for node in range(len(kind) - 1, -1, -1):
            if kind[node] == 0:
                continue
            first, width = child_start[node], child_start[node + 1] - child_start[node]
            above = reach[node if down else -1, start:stop]
            x = values[column[node]]
            if kind[node] == NUMERIC:
                _share_first(x, threshold[node], steep[node], missing[node], share)
                left, right = reach[child[first]], reach[child[first + 1]]
                for i in range(size):
                    left[start + i] = above[i] * share[i]
                    right[start + i] = above[i] * (1.0 - share[i])
            else:
                n_codes = (table_start[node + 1] - table_start[node]) // width - 1
                for b in range(width):
                    _share_of(x, width, b, table_start[node], n_codes, table, share)
                    below = reach[child[first + b]]
                    for i in range(size):
                        below[start + i] = above[i] * share[i]


@kernel(
    void(
        readonly(float64, 2),
        *_TESTS,
        readonly(float64, 1),
        readonly(float64, 2),
        float64[:, ::1],
    )
)
def add_sides(
    X,
    columns,
    slot,
    kind,
    column,
    threshold,
    child_start,
    child,
    missing,
    table_start,
    table,
    single,
    steep,
    scores,
    out,
):
    """Add to ``out[i]`` the scores of the children of every test, each by its share of row i.

    Every test is asked, whether the row would reach it or not.
    """
    n, m = out.shape
    values = np.empty((max(len(columns), 1), BLOCK))
    total, share = np.empty((m, BLOCK)), np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        _read_block(X, start, stop, columns, single, values)
        total[:] = 0.0
        for node in range(len(kind)):
            if kind[node] == 0:
                continue
            x, first = values[column[node]], child_start[node]
            width = child_start[node + 1] - first
            if kind[node] == NUMERIC:
                _share_first(x, threshold[node], steep[node], missing[node], share)
                for j in range(m):
                    left, right = scores[child[first], j], scores[child[first + 1], j]
                    line = total[j]
                    for i in range(BLOCK):
                        line[i] += share[i] * left + (1.0 - share[i]) * right
            else:
                n_codes = (table_start[node + 1] - table_start[node]) // width - 1
                for b in range(width):
                    _share_of(x, width, b, table_start[node], n_codes, table, share)
                    for j in range(m):
                        score, line = scores[child[first + b], j], total[j]
                        for i in range(BLOCK):
                            line[i] += share[i] * score
        for j in range(m):
            for i in range(stop - start):
                out[start + i, j] += total[j, i]
