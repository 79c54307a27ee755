"""J48's error-based pruning with subtree raising, which sends fractional rows down a tree.

A raised child overwrites its parent in the Shape, so children still come after their parents.

A node's rows are a range of entries. If no value is missing, the children's entries are parts of
that range; otherwise copies are appended after it until the node is finished.
"""

from typing import NamedTuple

import numpy as np
from numpy import float64, int64

from keeptree._compiled.declare import In, entry, inner
from keeptree._compiled.entries import (
    Division,
    Entries,
    Part,
    divide_rows,
    share_unknown,
    start_entries,
)
from keeptree._compiled.j48 import SMALL
from keeptree._compiled.lengthen import lengthen
from keeptree._compiled.shape import Shape


class Rows(NamedTuple):
    """Rows to be sent down a tree."""

    X: In(float64, 2)
    label: In(int64, 1)
    weight: In(float64, 1)


class PruneOptions(NamedTuple):
    """Pruning options: ``factor`` is J48's confidence factor and z its normal quantile.

    ``tolerance`` is how far above a threshold a value may be and still go left. ``complete`` tells
    that no missing value is shared among branches.
    """

    factor: float
    z: float
    tolerance: float
    raising: bool
    complete: bool


class Room(NamedTuple):
    """Share, number of entries and first place of each branch of a test."""

    share: np.ndarray
    size: np.ndarray
    to: np.ndarray


@inner
def added_errors(n, errors, factor, z):
    """Return the upper confidence limit minus the errors; z is the quantile of ``factor``."""
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
    """Do the same as :func:`added_errors` for at least one error."""
    if errors + 0.5 >= n:
        return max(n - errors, 0.0)
    f = (errors + 0.5) / n
    root = np.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return (f + z * z / (2 * n) + z * root) / (1 + z * z / n) * n - errors


@inner
def estimate_errors(counts, node, factor, z):
    """Return the pessimistic errors of a leaf with the class weights in row ``node``."""
    total, largest = 0.0, 0.0
    for c in range(counts.shape[1]):
        total += counts[node, c]
        if counts[node, c] - largest > SMALL:
            largest = counts[node, c]
    if total < SMALL:
        return 0.0
    return total - largest + added_errors(total, total - largest, factor, z)


@inner
def branch_of(shape, node, value, tolerance):
    """Return the branch of a value at a test, -1 for a missing value shared among branches."""
    if np.isnan(value):
        return int64(shape.missing[node])
    if shape.category_start[node] >= 0:
        return int64(shape.category_child[shape.category_start[node] + int64(value)])
    cut = shape.threshold[node]
    return int64(0) if value <= cut or value - cut < tolerance else int64(1)


@inner
def start_room(n_children):
    """Return the work space for the test with the most branches."""
    widest = 1
    for node in range(len(n_children)):
        widest = max(widest, n_children[node])
    size, to = np.empty(widest, dtype=np.int64), np.empty(widest, dtype=np.int64)
    return Room(np.empty(widest), size, to)


@inner
def weigh_children(shape, node, X, entries, a, b, tolerance, grown, branch, room):
    """Fill the branch of each entry, and the share and number of entries of each branch.

    A missing value is divided in proportion to the weights ``grown`` of the children. If these are
    zero, it is divided in proportion to the weights of the entries with a value; if there are none,
    evenly. Returns the number of entries without a value.
    """
    first, n_branches = shape.first_child[node], shape.n_children[node]
    given = 0.0
    for k in range(n_branches):
        room.share[k], room.size[k] = 0.0, 0
        given += grown[first + k]
    n_unknown = 0
    known = 0.0
    for e in range(a, b):
        k = branch_of(shape, node, X[entries.row[e], shape.feature[node]], tolerance)
        if k < 0:
            branch[e] = -1 - n_unknown
            n_unknown += 1
        else:
            branch[e] = k
            room.share[k] += entries.weight[e]
            known += entries.weight[e]
            room.size[k] += 1
    if given > 0:
        known = 1.0
        for k in range(n_branches):
            room.share[k] = grown[first + k] / given
    share_unknown(0, n_branches, known, n_unknown, room.share, room.size)
    return n_unknown


@inner
def divide_among_children(shape, node, X, entries, a, b, tolerance, grown, to, room):
    """Store the entries of the children in place, or from ``to`` on with the last child first.

    They stay in place if ``to`` is negative or no entry is divided. Returns the pool, the start and
    the number of the entries; ``room.size`` holds their numbers by child.
    """
    branch = np.empty(b, dtype=np.int32)
    n_unknown = weigh_children(shape, node, X, entries, a, b, tolerance, grown, branch, room)
    n_branches, number = int64(shape.n_children[node]), int64(0)
    for k in range(n_branches - 1, -1, -1):
        room.to[k] = number
        number += room.size[k]
    spare = start_entries(number, 0)
    part = Part(a, b - a, int64(0), n_branches, n_unknown)
    division = Division(branch, room.share, room.to)
    divide_rows(entries, part, division, spare, np.empty(b - a, dtype=np.int32))
    start = a if to < 0 or number == b - a else to
    if start + number > len(entries.row):
        size = 2 * (start + number)
        row, weight = lengthen(entries.row, start, size), lengthen(entries.weight, start, size)
        entries = Entries(row, weight, entries.order)
    copy_entries(spare, 0, number, entries, start)
    return entries, start, number


@inner
def copy_entries(entries, first, end, new, at):
    """Copy a range of entries to ``new``, from position ``at`` on."""
    for e in range(first, end):
        new.row[at + e - first], new.weight[at + e - first] = entries.row[e], entries.weight[e]


@inner
def push_children(shape, node, frames, depth, first, end, room):
    """Push the children onto a stack of ``depth`` frames, the first child last.

    A frame holds the node, the range of its entries, the end of the pool, and whether its children
    are finished.
    """
    n_branches = shape.n_children[node]
    if depth + n_branches > len(frames):
        frames = lengthen(frames, depth, 2 * len(frames) + n_branches)
    for k in range(n_branches - 1, -1, -1):
        frames[depth, 0], frames[depth, 1] = shape.first_child[node] + k, first
        first += room.size[k]
        frames[depth, 2], frames[depth, 3], frames[depth, 4] = first, end, 0
        depth += 1
    return frames


@inner
def send_down(shape, top, rows, entries, a, b, grown, options, store, room):
    """Send entries down from the node ``top``; return the pessimistic errors of its leaves.

    ``grown`` holds the weights of the nodes by which missing values are divided; if they are zero,
    the weights of the entries are used. If ``store``, the class weights of every node are written
    into the shape.
    """
    held = np.empty((1, shape.counts.shape[1]))
    pool = start_entries(b - a, 0)
    copy_entries(entries, a, b, pool, 0)
    frames = np.zeros((64, 5), dtype=np.int64)
    frames[0, 0], frames[0, 2] = top, b - a
    depth = int64(1)
    errors = 0.0
    while depth > 0:
        depth -= 1
        node, first, end = frames[depth, 0], frames[depth, 1], frames[depth, 2]
        if store or shape.n_children[node] == 0:
            held.fill(0.0)
            for e in range(first, end):
                held[0, rows.label[pool.row[e]]] += pool.weight[e]
        if store:
            for c in range(held.shape[1]):
                shape.counts[node, c] = held[0, c]
        if shape.n_children[node] == 0:
            errors += estimate_errors(held, int64(0), options.factor, options.z)
            continue
        pool, first, _ = divide_among_children(
            shape, node, rows.X, pool, first, end, options.tolerance, grown, int64(-1), room
        )
        frames = push_children(shape, node, frames, depth, first, int64(0), room)
        depth += shape.n_children[node]
    return errors


@inner
def estimate_raised(shape, node, largest, rows, entries, a, b, options, below, extra, touched):
    """Return the errors of raising the largest branch to its parent's place; no row is divided.

    Its own rows stay where they are, so only the rows of the other branches are sent down.
    ``extra`` collects their weights at the leaves listed in ``touched`` and is all zeros before and
    after.
    """
    feature, first_child = shape.feature, shape.first_child
    X, counts, tolerance = rows.X, shape.counts, options.tolerance
    n_touched, n_classes = 0, counts.shape[1]
    for e in range(a, b):
        r = entries.row[e]
        if first_child[node] + branch_of(shape, node, X[r, feature[node]], tolerance) == largest:
            continue
        leaf = largest
        while shape.n_children[leaf] > 0:
            leaf = first_child[leaf] + branch_of(shape, leaf, X[r, feature[leaf]], tolerance)
        fresh = True
        for c in range(n_classes):
            fresh = fresh and extra[leaf, c] == 0
        if fresh:
            touched[n_touched] = leaf
            n_touched += 1
        extra[leaf, rows.label[r]] += entries.weight[e]
    errors = below[largest]
    for i in range(n_touched):
        leaf = touched[i]
        for c in range(n_classes):
            extra[leaf, c] += counts[leaf, c]
        errors += estimate_errors(extra, leaf, options.factor, options.z) - below[leaf]
        for c in range(n_classes):
            extra[leaf, c] = 0.0
    return errors


@inner
def find_largest(shape, node):
    """Return J48's largest branch; ties within 1e-6 go to the last."""
    largest, most = int64(shape.first_child[node]), 0.0
    for child in range(largest, largest + shape.n_children[node]):
        held = 0.0
        for c in range(shape.counts.shape[1]):
            held += shape.counts[child, c]
        if most - held < SMALL:
            largest, most = int64(child), held
    return largest


@inner
def take_over(shape, node, child):
    """Replace the test and the children of a node with those of one of its children."""
    shape.feature[node], shape.threshold[node] = shape.feature[child], shape.threshold[child]
    shape.first_child[node] = shape.first_child[child]
    shape.n_children[node] = shape.n_children[child]
    shape.category_start[node] = shape.category_start[child]
    shape.missing[node] = shape.missing[child]


@inner
def all_entries(weight):
    """Return an entry for every row, with its weight."""
    entries = start_entries(len(weight), 0)
    for i in range(len(weight)):
        entries.row[i], entries.weight[i] = i, weight[i]
    return entries


@entry
def prune_error_based(shape: Shape, rows: Rows, options: PruneOptions):
    """Prune the tree in place; its counts are those of the rows that it was grown on."""
    n_rows, n_nodes = len(rows.label), len(shape.feature)
    entries, room = all_entries(rows.weight), start_room(shape.n_children)
    grown = np.zeros(n_nodes)
    extra = np.zeros((n_nodes if options.complete else 1, shape.counts.shape[1]))
    touched = np.empty(n_nodes, dtype=np.int64)
    below = np.zeros(n_nodes)  # pessimistic errors of the leaves below
    frames = np.zeros((64, 5), dtype=np.int64)
    frames[0, 2], frames[0, 3] = n_rows, n_rows
    depth = int64(1)
    while depth > 0:
        top = depth - 1
        node, a, b, end = frames[top, 0], frames[top, 1], frames[top, 2], frames[top, 3]
        as_leaf = estimate_errors(shape.counts, node, options.factor, options.z)
        if shape.n_children[node] == 0:
            below[node] = as_leaf
            depth -= 1
            continue
        if frames[top, 4] == 0:
            frames[top, 4] = 1
            entries, first, number = divide_among_children(
                shape, node, rows.X, entries, a, b, options.tolerance, grown, end, room
            )
            end = max(end, first + number)
            frames = push_children(shape, node, frames, depth, first, end, room)
            depth += shape.n_children[node]
            continue
        kept = 0.0
        for k in range(shape.n_children[node]):
            kept += below[shape.first_child[node] + k]
        largest, raised = find_largest(shape, node), np.inf
        if options.raising and shape.n_children[largest] == 0:
            raised = as_leaf
        elif options.raising and options.complete:
            raised = estimate_raised(
                shape, node, largest, rows, entries, a, b, options, below, extra, touched
            )
        elif options.raising:
            raised = send_down(shape, largest, rows, entries, a, b, grown, options, False, room)
        if as_leaf - (kept + 0.1) < SMALL and as_leaf - (raised + 0.1) < SMALL:
            shape.n_children[node] = 0
        elif raised - (kept + 0.1) < SMALL:
            take_over(shape, node, largest)
            send_down(shape, node, rows, entries, a, b, grown, options, True, room)
            frames[top, 4] = 0
        else:
            below[node] = kept
            depth -= 1


@entry
def count_rows(shape: Shape, rows: Rows, tolerance: float, grown: In(float64, 1, "C")):
    """Fill the class weights of the rows that reach each node; see :func:`send_down`."""
    n_rows = len(rows.label)
    options = PruneOptions(0.25, 0.0, tolerance, False, False)
    entries, room = all_entries(rows.weight), start_room(shape.n_children)
    send_down(shape, int64(0), rows, entries, 0, n_rows, grown, options, True, room)
