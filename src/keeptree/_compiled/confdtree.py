"""Walk rows up a tree as ConfDTree does: accept, take alternative routes, or impose a fine."""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy import float64, int64, uint8

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.kinds import NUMERIC

# What happened at a node, as walk_rows records it.
UNVISITED, AT_LEAF, NO_PART, OFF, MISSING, NO_INTERVAL, KEPT, REROUTED, FINED = range(9)

# The program consists of a few wide arrays, because numba's compile time grows with the number of
# arrays passed on. The constants number the columns of ``steps``, ``shape`` and ``rules`` (for each
# node and class), and the rows of ``fines``. ``steps`` has one row more than there are nodes, so
# that a node's children end where those of the next begin.
KIND, FEATURE, CHILDREN, CATEGORIES, WHEN_MISSING, TAKES_PART = range(6)
THRESHOLD, SHARE = range(2)
LOW, HIGH, LOW_OTHER, HIGH_OTHER, ROUTE_WEIGHT, PRESENT = range(6)
FINE, RECEIVES = range(2)
# Rows of the scratch space that holds the path of a row.
NODE, STATE, TAKEN, FOLLOWING = range(4)

ONE, ONE_MISSING, SHARED, ALTERNATIVES = range(4)  # how the children of a node are followed
TIE = 1e-12  # probabilities this close are equal: they may have been summed in another order

# Functions called at every node are inlined, because numba counts references at each call.
inlined = partial(inner, inline="always")


class Program(NamedTuple):
    """A tree with ConfDTree's statistics; `keeptree.probability.confdtree_walk` creates it."""

    steps: In(int64, 2, "C")  # by node: kind, feature, first child, categories, missing, takes part
    links: In(int64, 1, "C")  # the children of all nodes, then the child of each category
    shape: In(float64, 2, "C")  # by node: threshold, share in its parent
    leaf_value: In(float64, 2, "C")
    rules: In(float64, 3, "C")  # by node and class
    characteristic: In(uint8, 2, "C")  # by category and class
    fines: In(float64, 2, "C")  # by class: its fine, and its weight in others' fines
    declared: In(int64, 1, "C")  # classes in the order that breaks ties
    to_all: bool  # whether the class that is fined receives a part of the fine
    single: bool  # whether values are rounded to float32 before they are compared
    levels: int


@inlined
def leading_class(p, declared):
    """Return the index of the largest probability; ties go to the class declared first."""
    largest = p[0]
    for c in range(1, len(p)):
        largest = max(largest, p[c])
    for c in declared:
        if p[c] >= largest - TIE:
            return c
    return 0


@inlined
def judge_node(value, node, leader, program, alternative, depth):
    """Compare a value with the confidence intervals of a node; mark the ``alternative`` classes.

    For a category, bit 0 of ``characteristic`` says whether it is characteristic of a class, and
    bit 1 whether it is by the stricter criterion for alternative classes.
    """
    steps, rules, characteristic = program.steps, program.rules, program.characteristic
    if np.isnan(rules[node, leader, LOW]):
        return NO_INTERVAL
    numeric = steps[node, KIND] == NUMERIC
    category = 0 if numeric else steps[node, CATEGORIES] - steps[0, CATEGORIES] + int64(value)
    if numeric:
        inside = rules[node, leader, LOW] <= value <= rules[node, leader, HIGH]
    else:
        inside = characteristic[category, leader] & 1 > 0
    if inside:
        return KEPT
    found = False
    for c in range(alternative.shape[1]):
        if numeric:
            within = rules[node, c, LOW_OTHER] <= value <= rules[node, c, HIGH_OTHER]
        else:
            within = characteristic[category, c] & 2 > 0
        alternative[depth, c] = within and c != leader
        found |= alternative[depth, c]
    return REROUTED if found else FINED


@inner
def impose_fine(p, node, leader, program):
    """Move a part of the largest probability to the classes present; return False if none is."""
    total = 0.0
    for c in range(len(p)):
        if program.rules[node, c, PRESENT] > 0 and (program.to_all or c != leader):
            total += program.fines[RECEIVES, c]
    amount = program.fines[FINE, leader] * p[leader]
    if total == 0 or amount == 0:
        return False
    p[leader] -= amount
    for c in range(len(p)):
        if program.rules[node, c, PRESENT] > 0 and (program.to_all or c != leader):
            p[c] += amount * program.fines[RECEIVES, c] / total
    return True


@inner
def child_weight(child, shared, program, alternative, depth):
    """Return a child's share of a missing value, or its sum over the alternative classes."""
    if shared:
        return program.shape[child, SHARE]
    weight = 0.0
    for c in range(alternative.shape[1]):
        if alternative[depth, c]:
            weight += program.rules[child, c, ROUTE_WEIGHT]
    return weight


@inner
def next_child(at, depth, path, program, alternative):
    """Return the next child from position ``at`` on that has weight and was not followed yet."""
    shared = path[STATE, depth] == SHARED
    while at < program.steps[path[NODE, depth] + 1, CHILDREN]:
        child = program.links[at]
        known = not shared and child == path[TAKEN, depth]
        if not known and child_weight(child, shared, program, alternative, depth) > 0:
            break
        at += 1
    return at


@inlined
def add_prediction(p, weight, mixture, depth):
    """Add a child's prediction to the mixture of its parent; the last column holds the weights."""
    for c in range(len(p)):
        mixture[depth, c] += weight * p[c]
    mixture[depth, len(p)] += weight


@inner
def go_down(X, i, node, depth, off, program, path, mixture, alternative):
    """Follow row i from a node to a leaf; return the leaf, its depth and ``off``.

    ``off`` is the depth of the first missing value; below it, the method is not used.
    """
    while program.steps[node, KIND] != 0:
        value = X[i, program.steps[node, FEATURE]]
        if program.single:
            value = float64(np.float32(value))
        path[NODE, depth], path[STATE, depth] = node, ONE
        if np.isnan(value):
            off = min(off, depth)
            if program.steps[node, WHEN_MISSING] >= 0:
                path[STATE, depth] = ONE_MISSING
                node = program.steps[node, WHEN_MISSING]
            else:
                path[STATE, depth] = SHARED
                first = program.steps[node, CHILDREN]
                at = next_child(first, depth, path, program, alternative)
                path[FOLLOWING, depth] = at
                mixture[depth, :] = 0.0
                node = program.links[at]
        elif program.steps[node, KIND] == NUMERIC:
            above = 0 if value <= program.shape[node, THRESHOLD] else 1
            node = program.links[program.steps[node, CHILDREN] + above]
        else:
            node = program.links[program.steps[node, CATEGORIES] + int64(value)]
        path[TAKEN, depth] = node
        depth += 1
    return node, depth, off


@inlined
def check_node(X, i, p, leader, depth, program, path, mixture, alternative):
    """Check one decision of the row; start the alternative routes if they are needed."""
    node = path[NODE, depth]
    if program.steps[node, TAKES_PART] == 0:
        return NO_PART
    value = X[i, program.steps[node, FEATURE]]
    if program.single:
        value = float64(np.float32(value))
    did = judge_node(value, node, leader, program, alternative, depth)
    if did == REROUTED:
        first = program.steps[node, CHILDREN]
        at = next_child(first, depth, path, program, alternative)
        if at < program.steps[node + 1, CHILDREN]:
            path[STATE, depth], path[FOLLOWING, depth] = ALTERNATIVES, at
            mixture[depth, :] = 0.0
            own = child_weight(path[TAKEN, depth], False, program, alternative, depth)
            add_prediction(p, own, mixture, depth)
    return did


@inner
def follow_sibling(p, depth, program, path, mixture, alternative):
    """Add the prediction of the child just followed; return the next one, or -1 for none."""
    node, at = path[NODE, depth], path[FOLLOWING, depth]
    shared = path[STATE, depth] == SHARED
    weight = child_weight(program.links[at], shared, program, alternative, depth)
    add_prediction(p, weight, mixture, depth)
    at = next_child(at + 1, depth, path, program, alternative)
    path[FOLLOWING, depth] = at
    if at < program.steps[node + 1, CHILDREN]:
        return program.links[at]
    for c in range(len(p)):
        p[c] = mixture[depth, c] / mixture[depth, len(p)]
    return -1


@inlined
def write_record(record, node, did, leader, p):
    """Record what happened at a node, if a record is kept."""
    if len(record):
        record[node, 0], record[node, 1] = did, leader
        for c in range(len(p)):
            record[node, 2 + c] = p[c]


@inner
def go_up(X, i, p, leader, depth, off, program, path, mixture, alternative, record):
    """Check the decisions from a leaf towards the root until another child must be followed.

    Returns that child (-1 at the root), its depth, ``off`` and the number of changes made.
    """
    changed, sibling = 0, -1
    while depth > 0 and sibling < 0:
        depth -= 1
        node, state = path[NODE, depth], path[STATE, depth]
        did, was = MISSING, leader
        if state == ONE:
            did = OFF
            if off > depth:
                did = check_node(X, i, p, leader, depth, program, path, mixture, alternative)
            if path[STATE, depth] == ALTERNATIVES:
                sibling = program.links[path[FOLLOWING, depth]]
                write_record(record, node, did, was, p)
            elif did == FINED and impose_fine(p, node, leader, program):
                changed += 1
                leader = leading_class(p, program.declared)
        elif state != ONE_MISSING:
            sibling = follow_sibling(p, depth, program, path, mixture, alternative)
            if sibling < 0:
                leader = leading_class(p, program.declared)
            if state == ALTERNATIVES:
                did = REROUTED
                changed += sibling < 0
                if len(record):
                    was = int64(record[node, 1])
        if sibling >= 0:
            return sibling, depth + 1, off, changed
        if off == depth:
            off = path.shape[1]
        write_record(record, node, did, was, p)
    return sibling, depth, off, changed


@entry
def walk_rows(
    X: In(float64, 2),
    program: Program,
    out: Out(float64, 2),
    tally: Out(int64, 2),
    record: Out(float64, 2),
):
    """Fill ``out`` with the corrected probabilities of each row (Katz et al. 2012, Alg. 2).

    ``tally[0]`` counts the nodes that changed a row and ``tally[1]`` the nodes it passed; each
    counts at most once, since an alternative route reuses the prediction of the child followed
    first. ``record`` has one row or none, see ``write_record``.
    """
    n_classes, levels = out.shape[1], program.levels
    path = np.empty((4, levels), np.int64)
    mixture, alternative = (
        np.empty((levels, n_classes + 1)),
        np.empty((levels, n_classes), np.bool_),
    )
    p = np.empty(n_classes)
    for i in range(X.shape[0]):
        node, depth, off, changed, seen = 0, 0, levels, 0, 0
        while node >= 0:
            above = depth
            leaf, depth, off = go_down(X, i, node, depth, off, program, path, mixture, alternative)
            seen += depth - above + 1
            for c in range(n_classes):
                p[c] = program.leaf_value[leaf, c]
            leader = leading_class(p, program.declared)
            write_record(record, leaf, AT_LEAF, leader, p)
            node, depth, off, more = go_up(
                X, i, p, leader, depth, off, program, path, mixture, alternative, record
            )
            changed += more
        tally[0, i], tally[1, i] = changed, seen
        total = 0.0
        for c in range(n_classes):
            total += p[c]
        for c in range(n_classes):
            out[i, c] = p[c] / total if changed else p[c]
