"""J48's error-based pruning with subtree raising, and the sending of fractional rows down a tree.

The tree is a tuple of arrays ``(feature, threshold, first_child, n_children, category_start,
category_child, missing)``: the children of a node follow one another behind it; a category goes to
the child of that number; ``missing`` is a child's number or -1 for "shared". Raising a child
overwrites its parent's place in these arrays, so children stay behind their parents.

A node's rows are a range of *entries* (row, weight). Where nothing is missing, the children's
entries are parts of that range; otherwise copies are put behind it until the node is done.
"""

import numpy as np
from numba import boolean, float64, int32, int64

from keeptree._kernels.jit import kernel, readonly

SMALL = 1e-6  # J48's tolerance


@kernel
def added_errors(n, errors, factor, z):
    """Upper confidence limit minus errors; ``factor`` is J48's CF, z its normal quantile."""
    if factor > 0.5:
        return 0.0
    if errors < 1:
        base = n * (1 - factor ** (1 / n))
        if errors == 0:
            return base
        return base + errors * (limit_of_errors(n, 1.0, z) - base)
    return limit_of_errors(n, errors, z)


@kernel
def limit_of_errors(n, errors, z):
    """:func:`added_errors` for at least one error."""
    if errors + 0.5 >= n:
        return max(n - errors, 0.0)
    f = (errors + 0.5) / n
    root = np.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return (f + z * z / (2 * n) + z * root) / (1 + z * z / n) * n - errors


@kernel
def estimate_errors(counts, factor, z):
    """Pessimistic errors of a leaf with these class weights."""
    total, largest = 0.0, 0.0
    for c in range(len(counts)):
        total += counts[c]
        if counts[c] - largest > SMALL:
            largest = counts[c]
    if total < SMALL:
        return 0.0
    return total - largest + added_errors(total, total - largest, factor, z)


@kernel
def branch_of(tree, node, value, tolerance):
    """Branch of a value at a test, -1 where a missing value is shared."""
    if np.isnan(value):
        return int64(tree[6][node])
    if tree[4][node] >= 0:
        return int64(tree[5][tree[4][node] + int64(value)])
    cut = tree[1][node]
    return int64(0) if value <= cut or value - cut < tolerance else int64(1)


@kernel
def divide_entries(tree, node, X, entries, a, b, tolerance, weights, spare, share, size):
    """Write the entries of each branch into ``spare``, the last branch first.

    ``weights`` are the weights of the branches that divide a missing value; where they sum to
    nothing, those of the entries with a value do. Returns the number of entries written.
    """
    row, weight = entries
    n_branches = tree[3][node]
    branch = np.empty(b - a, dtype=np.int32)
    share[:n_branches] = 0.0
    size[:n_branches] = 0
    unknown = 0
    for e in range(a, b):
        k = branch_of(tree, node, X[row[e], tree[0][node]], tolerance)
        branch[e - a] = k
        if k < 0:
            unknown += 1
        else:
            share[k] += weight[e]
            size[k] += 1
    if np.sum(weights[:n_branches]) > 0:
        share[:n_branches] = weights[:n_branches]
    known = np.sum(share[:n_branches])
    for k in range(n_branches):
        share[k] = share[k] / known if known >= SMALL else 1.0 / n_branches
        if share[k] > SMALL:
            size[k] += unknown
    new_row, new_weight = spare
    needed = np.sum(size[:n_branches])
    if needed > len(new_row):
        new_row = np.empty(2 * needed, dtype=np.int32)
        new_weight = np.empty(2 * needed)
    at = np.empty(n_branches, dtype=np.int64)
    end = 0
    for k in range(n_branches - 1, -1, -1):
        at[k] = end
        end += size[k]
    for e in range(a, b):
        k = branch[e - a]
        if k >= 0:
            new_row[at[k]], new_weight[at[k]] = row[e], weight[e]
            at[k] += 1
            continue
        for j in range(n_branches):
            if share[j] > SMALL:
                new_row[at[j]], new_weight[at[j]] = row[e], weight[e] * share[j]
                at[j] += 1
    return (new_row, new_weight), needed


@kernel
def put_entries(entries, at, spare, number):
    """Entries with ``number`` of ``spare`` written from ``at`` on, in a larger pool if needed."""
    row, weight = entries
    if at + number > len(row):
        longer_row = np.empty(2 * (at + number), dtype=np.int32)
        longer_weight = np.empty(2 * (at + number))
        longer_row[:at], longer_weight[:at] = row[:at], weight[:at]
        row, weight = longer_row, longer_weight
    row[at : at + number] = spare[0][:number]
    weight[at : at + number] = spare[1][:number]
    return row, weight


@kernel
def lengthen(array, size):
    """A longer copy of an array along its first axis."""
    longer = np.empty((size, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@kernel
def send_down(tree, top, entries, a, b, X, label, tolerance, grown, factor, z, store, counts):
    """Send entries down from the node ``top``; returns the pessimistic errors of its leaves.

    ``grown`` (nodes) has the weights that divide missing values, or zeros: then the entries
    themselves do. ``store``: write the class weights of every node into ``counts``.
    """
    widest = max(1, np.max(tree[3]))
    share, size = np.empty(widest), np.empty(widest, dtype=np.int64)
    weights = np.zeros(widest)
    held = np.empty(counts.shape[1])
    pool = (entries[0][a:b].copy(), entries[1][a:b].copy())
    spare = (np.empty(b - a, dtype=np.int32), np.empty(b - a))
    pending = np.empty((64, 3), dtype=np.int64)
    pending[0] = (top, 0, b - a)
    n_pending = 1
    errors = 0.0
    while n_pending > 0:
        n_pending -= 1
        node, first, end = pending[n_pending]
        n_branches = tree[3][node]
        if store or n_branches == 0:
            held[:] = 0.0
            for e in range(first, end):
                held[label[pool[0][e]]] += pool[1][e]
            if store:
                counts[node] = held
        if n_branches == 0:
            errors += estimate_errors(held, factor, z)
            continue
        for k in range(n_branches):
            weights[k] = grown[tree[2][node] + k]
        spare, number = divide_entries(
            tree, node, X, pool, first, end, tolerance, weights, spare, share, size
        )
        pool = put_entries(pool, first, spare, number)
        if n_pending + n_branches > len(pending):
            pending = lengthen(pending, 2 * len(pending) + n_branches)
        for k in range(n_branches - 1, -1, -1):
            pending[n_pending] = (tree[2][node] + k, first, first + size[k])
            first += size[k]
            n_pending += 1
    return errors


@kernel
def estimate_raised(
    tree, node, largest, row, a, b, X, label, w, tolerance, factor, z, below, counts, extra
):
    """Errors of the largest branch in place of its parent, where no row is divided.

    Its own rows stay where they are, so only those of the other branches are sent down.
    """
    errors = below[largest]
    touched = [int64(0) for _ in range(0)]
    for e in range(a, b):
        r = row[e]
        first = tree[2][node]
        if first + branch_of(tree, node, X[r, tree[0][node]], tolerance) == largest:
            continue
        leaf = int64(largest)
        while tree[3][leaf] > 0:
            leaf = tree[2][leaf] + branch_of(tree, leaf, X[r, tree[0][leaf]], tolerance)
        if extra[leaf, counts.shape[1]] == 0:
            extra[leaf, counts.shape[1]] = 1.0
            touched.append(leaf)
        extra[leaf, label[r]] += w[e]
    for leaf in touched:
        for c in range(counts.shape[1]):
            extra[leaf, c] += counts[leaf, c]
        errors += estimate_errors(extra[leaf, : counts.shape[1]], factor, z) - below[leaf]
        extra[leaf] = 0.0
    return errors


@kernel
def find_largest(tree, node, counts):
    """J48's largest branch: the last of those within 1e-6."""
    largest, most = 0, 0.0
    for k in range(tree[3][node]):
        held = np.sum(counts[tree[2][node] + k])
        if most - held < SMALL:
            largest, most = k, held
    return int64(tree[2][node] + largest)


@kernel(
    (
        int32[::1],
        float64[::1],
        int32[::1],
        int32[::1],
        int32[::1],
        int32[::1],
        int32[::1],
        float64[:, ::1],
        readonly(float64, 2),
        readonly(int64, 1),
        readonly(float64, 1),
        float64,
        float64,
        float64,
        boolean,
        boolean,
    )
)
def prune_error_based(
    feature, threshold, first_child, n_children, category_start, category_child, missing,
    counts, X, label, row_weight, factor, z, tolerance, raising, complete,
):  # fmt: skip
    """Prune the tree in place; ``counts`` are those of the rows X, which its nodes got when grown.

    ``complete``: no row has a missing value that is shared.
    """
    tree = (
        feature, threshold, first_child, n_children, category_start, category_child, missing
    )  # fmt: skip
    n_rows, widest = len(label), max(1, np.max(n_children))
    entries = (np.arange(n_rows).astype(np.int32), row_weight.copy())
    spare = (np.empty(n_rows, dtype=np.int32), np.empty(n_rows))
    share, size = np.empty(widest), np.empty(widest, dtype=np.int64)
    weights, grown = np.zeros(widest), np.zeros(len(feature))
    extra = np.zeros((len(feature), counts.shape[1] + 1))
    below = np.zeros(len(feature))  # pessimistic errors of the leaves below
    frames = np.empty((64, 5), dtype=np.int64)  # node, entries from, to, end of pool, children done
    frames[0] = (0, 0, n_rows, n_rows, 0)
    depth = 1
    while depth > 0:
        node, a, b, end, done = frames[depth - 1]
        as_leaf = estimate_errors(counts[node], factor, z)
        if n_children[node] == 0:
            below[node] = as_leaf
            depth -= 1
            continue
        if done == 0:
            spare, number = divide_entries(
                tree, node, X, entries, a, b, tolerance, weights, spare, share, size
            )
            first = a if number == b - a else end
            entries = put_entries(entries, first, spare, number)
            frames[depth - 1, 4] = 1
            if depth + n_children[node] > len(frames):
                frames = lengthen(frames, 2 * len(frames) + n_children[node])
            last = max(end, first + number)
            for k in range(n_children[node] - 1, -1, -1):
                frames[depth] = (first_child[node] + k, first, first + size[k], last, 0)
                first += size[k]
                depth += 1
            continue
        kept = 0.0
        for child in range(first_child[node], first_child[node] + n_children[node]):
            kept += below[child]
        largest, raised = find_largest(tree, node, counts), np.inf
        if raising and n_children[largest] == 0:
            raised = as_leaf
        elif raising and complete:
            raised = estimate_raised(
                tree, node, largest, entries[0], a, b, X, label, entries[1], tolerance, factor, z, below,
                counts, extra,
            )  # fmt: skip
        elif raising:
            raised = send_down(
                tree, largest, entries, a, b, X, label, tolerance, grown, factor, z, False, counts
            )
        if as_leaf - (kept + 0.1) < SMALL and as_leaf - (raised + 0.1) < SMALL:
            n_children[node] = 0
            frames[depth - 1, 4] = 0
        elif raised - (kept + 0.1) < SMALL:
            feature[node], threshold[node] = feature[largest], threshold[largest]
            first_child[node], n_children[node] = first_child[largest], n_children[largest]
            category_start[node], missing[node] = category_start[largest], missing[largest]
            send_down(
                tree, node, entries, a, b, X, label, tolerance, grown, factor, z, True, counts
            )
            frames[depth - 1, 4] = 0
        else:
            below[node] = kept
            depth -= 1


@kernel(
    (
        readonly(int32, 1, "C"),
        readonly(float64, 1, "C"),
        readonly(int32, 1, "C"),
        readonly(int32, 1, "C"),
        readonly(int32, 1, "C"),
        readonly(int32, 1, "C"),
        readonly(int32, 1, "C"),
        readonly(float64, 2),
        readonly(int64, 1),
        readonly(float64, 1),
        float64,
        readonly(float64, 1),
        float64[:, ::1],
    )
)
def count_rows(
    feature, threshold, first_child, n_children, category_start, category_child, missing,
    X, label, row_weight, tolerance, grown, counts,
):  # fmt: skip
    """Fill the class weights that the rows X give every node; see :func:`send_down`."""
    tree = (
        feature, threshold, first_child, n_children, category_start, category_child, missing
    )  # fmt: skip
    entries = (np.arange(len(label)).astype(np.int32), row_weight.copy())
    send_down(tree, 0, entries, 0, len(label), X, label, tolerance, grown, 0.25, 0.0, True, counts)
