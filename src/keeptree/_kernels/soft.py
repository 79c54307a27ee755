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


@kernel
def _decay(z):
    """exp(-abs(z)) for abs(z) up to 40, beyond it exp(-40); exact to 1e-14."""
    t = 0.3125 - min(abs(z), 40.0) * 0.015625  # the series of exp around the middle of 0 to 40 / 64
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


@kernel(error_model="numpy")
def _logistic(z, e):
    """1 / (1 + exp(-z)), given e = exp(-abs(z))."""
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
            z = (threshold - x) * steep
            w = _logistic(z, _decay(z))
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


@kernel
def _margin_shares(values, threshold, steep, missing, near, far, reach):
    """Shares of the first child at 8, 1 and 7 times the slope ``steep``: one exponential."""
    if steep == 0.0:
        _share_first(values, threshold, steep, missing, near)
        far[:] = near
        reach[:] = near
    else:
        for i in range(BLOCK):
            x = values[i]
            z = (threshold - x) * steep
            e = _decay(z)
            e2 = e * e
            e4 = e2 * e2
            a, b, c = _logistic(z, e4 * e4), _logistic(z, e), _logistic(z, e4 * e2 * e)
            near[i] = a if x == x else missing
            far[i] = b if x == x else missing
            reach[i] = c if x == x else missing


@kernel(
    void(
        readonly(float64, 2),
        *_TESTS,
        readonly(float64, 1),
        readonly(float64, 3),
        readonly(float64, 2),
        float64[:, ::1],
    )
)
def add_margins(
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
    side,
    path,
    out,
):
    """Add to ``out[i]`` the logits of row i.

    ``side[0, node]`` and ``side[1, node]`` count by the share of the row that the test above gives
    the node at 8 times the slope ``steep`` and at ``steep``; they are 0 for a second child.
    ``path[leaf]`` counts by the share that reaches the leaf at 7 times the slope.
    """
    n, m = out.shape
    values = np.empty((max(len(columns), 1), BLOCK))
    result = np.empty((slot.max() + 1, m, BLOCK))
    total = np.empty((m, BLOCK))
    near, far, share = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        _read_block(X, start, stop, columns, single, values)
        total[:] = 0.0
        for node in range(len(kind)):
            at, first = slot[node], child_start[node]
            if kind[node] == 0:
                for j in range(m):
                    result[at, j, :] = path[node, j]
            elif kind[node] == NUMERIC:
                x = values[column[node]]
                _margin_shares(x, threshold[node], steep[node], missing[node], near, far, share)
                for j in range(m):
                    left, right, line = result[at, j], result[at + 1, j], total[j]
                    a, b = side[0, child[first], j], side[1, child[first], j]
                    for i in range(BLOCK):
                        left[i] = share[i] * left[i] + (1.0 - share[i]) * right[i]
                        line[i] += near[i] * a + far[i] * b
            else:
                x, width = values[column[node]], child_start[node + 1] - first
                n_codes = (table_start[node + 1] - table_start[node]) // width - 1
                for b in range(width):
                    _share_of(x, width, b, table_start[node], n_codes, table, share)
                    for j in range(m):
                        mixed, part, line = result[at, j], result[at + b, j], total[j]
                        score = side[0, child[first + b], j] + side[1, child[first + b], j]
                        for i in range(BLOCK):
                            before = 0.0 if b == 0 else mixed[i]
                            mixed[i] = before + share[i] * part[i]
                            line[i] += share[i] * score
        for j in range(m):
            for i in range(stop - start):
                out[start + i, j] += result[0, j, i] + total[j, i]


@kernel(void(readonly(float64, 2), float64[:, ::1]))
def logits_to_shares(logit, out):
    """Fill ``out`` with the probabilities of logits: of the second of two classes, or of each."""
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
            out[i, j] = np.exp(logit[i, j] - largest)
            total += out[i, j]
        for j in range(m):
            out[i, j] /= total
