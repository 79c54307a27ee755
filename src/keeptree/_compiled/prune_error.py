"""J48's error-based pruning with subtree raising, and the sending of fractional rows down a tree.

The tree is a tuple of arrays ``(feature, threshold, first_child, n_children, category_start,
category_child, missing)``: the children of a node follow one another behind it; a category goes to
the child of that number; ``missing`` is a child's number or -1 for "shared". Raising a child
overwrites its parent's place in these arrays, so children stay behind their parents.

A node's rows are a range of *entries* (row, weight). Where nothing is missing, the children's
entries are parts of that range; otherwise copies are put behind it until the node is done.
"""

import numpy as np
from numpy import bool_, float64, int32, int64

from keeptree._compiled.declare import In, Out, entry, inner

SMALL = 1e-6  # J48's tolerance


@inner
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


@inner
def limit_of_errors(n, errors, z):
    """:func:`added_errors` for at least one error."""
    if errors + 0.5 >= n:
        return max(n - errors, 0.0)
    f = (errors + 0.5) / n
    root = np.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return (f + z * z / (2 * n) + z * root) / (1 + z * z / n) * n - errors


@inner
def estimate_errors(counts, node, factor, z):
    """Pessimistic errors of a leaf with the class weights in line ``node``."""
    total, largest = 0.0, 0.0
    for c in range(counts.shape[1]):
        total += counts[node, c]
        if counts[node, c] - largest > SMALL:
            largest = counts[node, c]
    if total < SMALL:
        return 0.0
    return total - largest + added_errors(total, total - largest, factor, z)


@inner
def branch_of(tree, node, value, tolerance):
    """Branch of a value at a test, -1 where a missing value is shared."""
    if np.isnan(value):
        return int64(tree[6][node])
    if tree[4][node] >= 0:
        return int64(tree[5][tree[4][node] + int64(value)])
    cut = tree[1][node]
    return int64(0) if value <= cut or value - cut < tolerance else int64(1)


@inner
def longer_line(array, used, size):
    """A longer array with the first ``used`` numbers."""
    longer = np.empty(size, dtype=array.dtype)
    for i in range(used):
        longer[i] = array[i]
    return longer


@inner
def longer_table(table, used, size):
    """A table of more lines, with the first ``used`` of them."""
    longer = np.empty((size, table.shape[1]), dtype=table.dtype)
    for i in range(used):
        for j in range(table.shape[1]):
            longer[i, j] = table[i, j]
    return longer


@inner
def weigh_branches(tree, node, X, row, weight, a, b, tolerance, grown, branch, share, size):
    """Fill branch of each entry, share and number of entries of each branch; returns their sum.

    A missing value is divided by ``grown`` of the children if they have any such weight, otherwise
    by the weights of the entries with a value, otherwise evenly.
    """
    first, n_branches = tree[2][node], tree[3][node]
    given = 0.0
    for k in range(n_branches):
        share[k], size[k] = 0.0, 0
        given += grown[first + k]
    unknown = 0
    known = 0.0
    for e in range(a, b):
        k = branch_of(tree, node, X[row[e], tree[0][node]], tolerance)
        branch[e - a] = k
        if k < 0:
            unknown += 1
        else:
            share[k] += weight[e]
            known += weight[e]
            size[k] += 1
    total = 0
    for k in range(n_branches):
        if given > 0:
            share[k] = grown[first + k] / given
        else:
            share[k] = share[k] / known if known >= SMALL else 1.0 / n_branches
        if share[k] > SMALL:
            size[k] += unknown
        total += size[k]
    return total


@inner
def place_entries(n_branches, row, weight, a, b, branch, share, size, spare_row, spare_weight):
    """Write the entries of each branch into the spare arrays, the last branch first."""
    at = np.empty(n_branches, dtype=np.int64)
    end = 0
    for k in range(n_branches - 1, -1, -1):
        at[k] = end
        end += size[k]
    for e in range(a, b):
        k = branch[e - a]
        if k >= 0:
            spare_row[at[k]], spare_weight[at[k]] = row[e], weight[e]
            at[k] += 1
            continue
        for j in range(n_branches):
            if share[j] > SMALL:
                spare_row[at[j]], spare_weight[at[j]] = row[e], weight[e] * share[j]
                at[j] += 1


@inner
def divide_entries(tree, node, X, row, weight, a, b, tolerance, grown, to, room):
    """Put the entries of the children, the last one first, from ``to`` on, or in place.

    In place, where ``to`` is negative or no entry becomes several. Returns the pool, where the
    entries start and how many there are; ``room[1]`` has the numbers by child.
    """
    share, size = room
    branch = np.empty(b - a, dtype=np.int32)
    number = weigh_branches(tree, node, X, row, weight, a, b, tolerance, grown, branch, share, size)
    spare_row, spare_weight = np.empty(number, dtype=np.int32), np.empty(number)
    place_entries(tree[3][node], row, weight, a, b, branch, share, size, spare_row, spare_weight)
    start = a if to < 0 or number == b - a else to
    if start + number > len(row):
        row = longer_line(row, start, 2 * (start + number))
        weight = longer_line(weight, start, len(row))
    for i in range(number):
        row[start + i], weight[start + i] = spare_row[i], spare_weight[i]
    return row, weight, start, number


@inner
def send_down(tree, top, row, weight, a, b, X, label, tolerance, grown, factor, z, store, counts):
    """Send entries down from the node ``top``; returns the pessimistic errors of its leaves.

    ``grown`` has the weight of each node that divides missing values, or zeros: then the entries
    themselves do. ``store``: write the class weights of every node into ``counts``.
    """
    room = make_room_for_branches(tree[3])
    held = np.empty((1, counts.shape[1]))
    pool_row, pool_weight = np.empty(b - a, dtype=np.int32), np.empty(b - a)
    for e in range(a, b):
        pool_row[e - a], pool_weight[e - a] = row[e], weight[e]
    pending = np.empty((64, 3), dtype=np.int64)
    pending[0, 0], pending[0, 1], pending[0, 2] = top, 0, b - a
    n_pending = int64(1)
    errors = 0.0
    while n_pending > 0:
        n_pending -= 1
        node, first, end = pending[n_pending, 0], pending[n_pending, 1], pending[n_pending, 2]
        n_branches = tree[3][node]
        if store or n_branches == 0:
            for c in range(held.shape[1]):
                held[0, c] = 0.0
            for e in range(first, end):
                held[0, label[pool_row[e]]] += pool_weight[e]
            if store:
                for c in range(held.shape[1]):
                    counts[node, c] = held[0, c]
        if n_branches == 0:
            errors += estimate_errors(held, int64(0), factor, z)
            continue
        pool_row, pool_weight, first, _ = divide_entries(
            tree, node, X, pool_row, pool_weight, first, end, tolerance, grown, int64(-1), room
        )
        if n_pending + n_branches > len(pending):
            pending = longer_table(pending, n_pending, 2 * len(pending) + n_branches)
        for k in range(n_branches - 1, -1, -1):
            pending[n_pending, 0] = tree[2][node] + k
            pending[n_pending, 1] = first
            first += room[1][k]
            pending[n_pending, 2] = first
            n_pending += 1
    return errors


@inner
def make_room_for_branches(n_children):
    """Arrays for share and number of entries of each branch of the widest test."""
    widest = 1
    for node in range(len(n_children)):
        widest = max(widest, n_children[node])
    return np.empty(widest), np.empty(widest, dtype=np.int64)


@inner
def estimate_raised(
    tree, node, largest, row, weight, a, b, X, label, tolerance, factor, z, below, counts, extra,
    touched,
):  # fmt: skip
    """Errors of the largest branch in place of its parent, where no row is divided.

    Its own rows stay where they are, so only those of the other branches are sent down: ``extra``
    collects their weights at the leaves listed in ``touched`` and is all zeros before and after.
    """
    n_touched, n_classes = 0, counts.shape[1]
    for e in range(a, b):
        r = row[e]
        if tree[2][node] + branch_of(tree, node, X[r, tree[0][node]], tolerance) == largest:
            continue
        leaf = largest
        while tree[3][leaf] > 0:
            leaf = tree[2][leaf] + branch_of(tree, leaf, X[r, tree[0][leaf]], tolerance)
        fresh = True
        for c in range(n_classes):
            fresh = fresh and extra[leaf, c] == 0
        if fresh:
            touched[n_touched] = leaf
            n_touched += 1
        extra[leaf, label[r]] += weight[e]
    errors = below[largest]
    for i in range(n_touched):
        leaf = touched[i]
        for c in range(n_classes):
            extra[leaf, c] += counts[leaf, c]
        errors += estimate_errors(extra, leaf, factor, z) - below[leaf]
        for c in range(n_classes):
            extra[leaf, c] = 0.0
    return errors


@inner
def find_largest(tree, node, counts):
    """J48's largest branch: the last of those within 1e-6."""
    largest, most = int64(tree[2][node]), 0.0
    for child in range(tree[2][node], tree[2][node] + tree[3][node]):
        held = 0.0
        for c in range(counts.shape[1]):
            held += counts[child, c]
        if most - held < SMALL:
            largest, most = int64(child), held
    return largest


@inner
def push_children(tree, node, frames, depth, first, end, room):
    """Frames of the children on top of ``depth`` frames, the first child last; see the caller."""
    n_branches = tree[3][node]
    if depth + n_branches > len(frames):
        frames = longer_table(frames, depth, 2 * len(frames) + n_branches)
    for k in range(n_branches - 1, -1, -1):
        frames[depth, 0], frames[depth, 1] = tree[2][node] + k, first
        first += room[1][k]
        frames[depth, 2], frames[depth, 3], frames[depth, 4] = first, end, 0
        depth += 1
    return frames


@inner
def take_over(tree, node, child):
    """Give a node the test and the children of one of its children."""
    feature, threshold, first_child, n_children, category_start, _, missing = tree
    feature[node], threshold[node] = feature[child], threshold[child]
    first_child[node], n_children[node] = first_child[child], n_children[child]
    category_start[node], missing[node] = category_start[child], missing[child]


@entry
def prune_error_based(
    feature: Out(int32, 1),
    threshold: Out(float64, 1),
    first_child: Out(int32, 1),
    n_children: Out(int32, 1),
    category_start: Out(int32, 1),
    category_child: Out(int32, 1),
    missing: Out(int32, 1),
    counts: Out(float64, 2),
    X: In(float64, 2),
    label: In(int64, 1),
    row_weight: In(float64, 1),
    factor: float,
    z: float,
    tolerance: float,
    raising: bool,
    complete: bool,
):
    """Prune the tree in place; ``counts`` are those of the rows X, which its nodes got when grown.

    ``complete``: no row has a missing value that is shared.
    """
    tree = (
        feature, threshold, first_child, n_children, category_start, category_child, missing
    )  # fmt: skip
    n_rows, n_nodes = len(label), len(feature)
    row, weight = np.empty(n_rows, dtype=np.int32), np.empty(n_rows)
    for i in range(n_rows):
        row[i], weight[i] = i, row_weight[i]
    room = make_room_for_branches(n_children)
    grown = np.zeros(n_nodes)
    extra = np.zeros((n_nodes if complete else 1, counts.shape[1]))
    touched = np.empty(n_nodes, dtype=np.int64)
    below = np.zeros(n_nodes)  # pessimistic errors of the leaves below
    frames = np.zeros((64, 5), dtype=np.int64)  # node, entries from, to, end of pool, children done
    frames[0, 2], frames[0, 3] = n_rows, n_rows
    depth = int64(1)
    while depth > 0:
        top = depth - 1
        node, a, b, end = frames[top, 0], frames[top, 1], frames[top, 2], frames[top, 3]
        as_leaf = estimate_errors(counts, node, factor, z)
        if n_children[node] == 0:
            below[node] = as_leaf
            depth -= 1
            continue
        if frames[top, 4] == 0:
            frames[top, 4] = 1
            row, weight, first, number = divide_entries(
                tree, node, X, row, weight, a, b, tolerance, grown, end, room
            )
            frames = push_children(tree, node, frames, depth, first, max(end, first + number), room)
            depth += n_children[node]
            continue
        kept = 0.0
        for child in range(first_child[node], first_child[node] + n_children[node]):
            kept += below[child]
        largest, raised = find_largest(tree, node, counts), np.inf
        if raising and n_children[largest] == 0:
            raised = as_leaf
        elif raising and complete:
            raised = estimate_raised(
                tree, node, largest, row, weight, a, b, X, label, tolerance, factor, z, below,
                counts, extra, touched,
            )  # fmt: skip
        elif raising:
            raised = send_down(
                tree, largest, row, weight, a, b, X, label, tolerance, grown, factor, z,
                bool_(False), counts,
            )  # fmt: skip
        if as_leaf - (kept + 0.1) < SMALL and as_leaf - (raised + 0.1) < SMALL:
            n_children[node] = 0
        elif raised - (kept + 0.1) < SMALL:
            take_over(tree, node, largest)
            send_down(
                tree, node, row, weight, a, b, X, label, tolerance, grown, factor, z,
                bool_(True), counts,
            )  # fmt: skip
            frames[top, 4] = 0
        else:
            below[node] = kept
            depth -= 1


@entry
def count_rows(
    feature: Out(int32, 1),
    threshold: Out(float64, 1),
    first_child: Out(int32, 1),
    n_children: Out(int32, 1),
    category_start: Out(int32, 1),
    category_child: Out(int32, 1),
    missing: Out(int32, 1),
    X: In(float64, 2),
    label: In(int64, 1),
    row_weight: In(float64, 1),
    tolerance: float,
    grown: Out(float64, 1),
    counts: Out(float64, 2),
):
    """Fill the class weights that the rows X give every node; see :func:`send_down`."""
    tree = (
        feature, threshold, first_child, n_children, category_start, category_child, missing
    )  # fmt: skip
    row, weight = np.empty(len(label), dtype=np.int32), np.empty(len(label))
    for i in range(len(label)):
        row[i], weight[i] = i, row_weight[i]
    send_down(
        tree, int64(0), row, weight, int64(0), len(label), X, label, tolerance, grown, 0.25, 0.0,
        bool_(True), counts,
    )  # fmt: skip
