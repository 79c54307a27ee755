"""Prunings that need the class weights of the nodes and no rows: children come after their parent.

Each takes ``first_child`` and ``n_children`` (0 makes a leaf) and writes into ``n_children``.
"""

from numpy import float64, int32, int64

from keeptree._compiled.declare import In, Out, entry, inner

SMALL = 1e-6  # J48's tolerance
ROUNDING = 1e-9  # of sums of fractional weights


@inner
def count_errors(counts, label, node):
    """Weight of the cases of a node that are not of its class."""
    errors = 0.0
    for c in range(counts.shape[1]):
        if c != label[node]:
            errors += counts[node, c]
    return errors


@entry
def collapse_nodes(
    first_child: In(int32, 1),
    n_children: Out(int32, 1),
    counts: In(float64, 2),
    label: In(int32, 1),
    below: Out(float64, 1),
):
    """J48's collapse, top-down: a leaf where the leaves below make no fewer training errors."""
    for node in range(len(n_children) - 1, -1, -1):
        below[node] = 0.0
        for child in range(first_child[node], first_child[node] + n_children[node]):
            below[node] += below[child]
        if n_children[node] == 0:
            below[node] = count_errors(counts, label, node)
    for node in range(len(n_children)):
        if n_children[node] > 0 and below[node] >= count_errors(counts, label, node) - 1e-3:
            n_children[node] = 0


@entry
def prune_pessimistic(
    first_child: In(int32, 1),
    n_children: Out(int32, 1),
    counts: In(float64, 2),
    label: In(int32, 1),
    penalty: float,
    below: Out(float64, 1),
):
    """Bottom-up: a leaf where errors + penalty is not larger than the sum over the leaves below."""
    for node in range(len(n_children) - 1, -1, -1):
        as_leaf = count_errors(counts, label, node) + penalty
        below[node] = 0.0
        for child in range(first_child[node], first_child[node] + n_children[node]):
            below[node] += below[child]
        if n_children[node] == 0 or as_leaf <= below[node] + ROUNDING:
            n_children[node] = 0
            below[node] = as_leaf


@entry
def prune_reduced_error(
    first_child: In(int32, 1),
    n_children: Out(int32, 1),
    tested: In(float64, 2),
    weight: In(float64, 1),
    label: In(int32, 1),
    below: Out(float64, 1),
):
    """Bottom-up: a leaf where the rows ``tested`` are not classified worse (Weka's -R).

    ``weight`` and ``label`` are those of the rows the tree was grown on; a branch without such
    rows answers with the label of its parent.
    """
    for node in range(len(n_children) - 1, -1, -1):
        as_leaf = count_errors(tested, label, node)
        below[node] = 0.0
        for child in range(first_child[node], first_child[node] + n_children[node]):
            if weight[child] < SMALL:
                for c in range(tested.shape[1]):
                    if c != label[node]:
                        below[node] += tested[child, c]
            else:
                below[node] += below[child]
        if n_children[node] == 0 or as_leaf - below[node] < SMALL:
            n_children[node] = 0
            below[node] = as_leaf


@entry
def merge_same_answers(
    first_child: In(int32, 1),
    n_children: Out(int32, 1),
    label: Out(int32, 1),
):
    """Bottom-up: a leaf where all children are leaves of one class."""
    for node in range(len(n_children) - 1, -1, -1):
        if n_children[node] == 0:
            continue
        first = first_child[node]
        same = True
        for child in range(first, first + n_children[node]):
            same = same and n_children[child] == 0 and label[child] == label[first]
        if same:
            n_children[node] = int32(0)
            label[node] = label[first]


@entry
def label_nodes(
    first_child: In(int32, 1),
    n_children: In(int32, 1),
    counts: In(float64, 2),
    by_share: bool,
    label: Out(int32, 1),
):
    """J48's class of each node: a class replaces an earlier one only if it is 1e-6 larger.

    Pruning compares weights, prediction shares (``by_share``). A node without weight answers as its
    parent.
    """
    for node in range(len(counts)):
        total = 0.0
        for c in range(counts.shape[1]):
            total += counts[node, c]
        if total >= SMALL or node == 0:
            margin = SMALL * total if by_share else SMALL
            best, chosen = 0.0, 0
            for c in range(counts.shape[1]):
                if counts[node, c] - best > margin:
                    best, chosen = counts[node, c], c
            label[node] = chosen
        for child in range(first_child[node], first_child[node] + n_children[node]):
            label[child] = label[node]


@entry
def list_nodes(
    first_child: In(int32, 1),
    n_children: In(int32, 1),
    kept: Out(int32, 1),
):
    """Fill the nodes the root still reaches, in preorder; returns their number."""
    number = 0
    stack = [int64(0)]
    while len(stack) > 0:
        node = stack.pop()
        kept[number] = node
        number += 1
        for k in range(n_children[node] - 1, -1, -1):
            stack.append(int64(first_child[node] + k))
    return number


@entry
def add_up(
    first_child: In(int32, 1),
    n_children: In(int32, 1),
    counts: Out(float64, 2),
):
    """Leaves with next to no weight become empty; inner nodes hold the sum of their children."""
    for node in range(len(n_children) - 1, -1, -1):
        if n_children[node] > 0:
            counts[node] = 0.0
            for child in range(first_child[node], first_child[node] + n_children[node]):
                for c in range(counts.shape[1]):
                    counts[node, c] += counts[child, c]
            continue
        total = 0.0
        for c in range(counts.shape[1]):
            total += counts[node, c]
        if total < SMALL and node > 0:
            counts[node] = 0.0
