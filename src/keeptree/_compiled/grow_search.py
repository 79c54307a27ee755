"""Find the best test of nodes for any data: nominal columns, missing values, weights."""

from typing import NamedTuple

import numpy as np
from numpy import bool_, float64, int32, int64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.entries import Entries
from keeptree._compiled.impurity import (
    entropy_term,
    gain_ratio,
    impurity,
    largest,
    scaled_gain,
    term,
)
from keeptree._compiled.j48 import (
    ERRORS,
    GAIN_RATIO,
    GINI,
    MULTIWAY,
    NEVER_CUT,
    SMALL,
    SUBSETS,
    choose_column,
    least_side,
)
from keeptree._compiled.midpoints import j48_midpoint
from keeptree._compiled.search_nominal import Cells, fill_cells, map_subsets, search_categories


class Nodes(NamedTuple):
    """First entry and number of entries of nodes, in total and with a value in each column."""

    start: In(int64, 1, "C")
    size: In(int64, 1, "C")
    known: In(int32, 2, "C")


class Columns(NamedTuple):
    """A training table.

    Column f is row ``slot[f]`` of ``value`` (numeric columns x rows; ``n_categories[f]`` is 0) or
    of ``cell`` (nominal columns x rows: category x n_classes + class, -1 where missing).
    """

    label: In(int64, 1, "C")
    value: In(float64, 2, "C")
    cell: In(int32, 2, "C")
    slot: In(int64, 1, "C")
    n_categories: In(int64, 1, "C")


class SearchOptions(NamedTuple):
    """Options for growing; ``averaged`` marks the columns that enter the mean gain."""

    n_classes: int
    min_leaf: float
    criterion: int
    nominal: int
    mdl: bool
    averaged: In(bool_, 1, "C")
    table: In(float64, 1, "C")


class Tests(NamedTuple):
    """Tests of nodes.

    ``column`` is -1 for none. ``cut`` is the number of entries on the left, the category tested
    against the rest, or the number of categories on the left. ``threshold`` is the midpoint of a
    numeric cut, and ``subset_of`` holds the side of each category for a test with two subsets.
    """

    column: Out(int64, 1)
    cut: Out(int64, 1)
    n_branches: Out(int64, 1)
    n_categories: Out(int64, 1)
    threshold: Out(float64, 1)
    subset_of: Out(int32, 2)


class Work(NamedTuple):
    """Results by column, and work space."""

    gain: np.ndarray
    ratio: np.ndarray
    detail: np.ndarray
    cells: Cells
    left: np.ndarray
    right: np.ndarray


@entry
def code_cells(
    columns: In(float64, 2, "C"),
    nominal: In(int64, 1),
    label: In(int64, 1),
    n_classes: int,
    cell: Out(int32, 2),
):
    """Fill ``category * n_classes + class`` for the nominal columns, -1 where missing."""
    for s in range(len(nominal)):
        for i in range(len(label)):
            code = columns[nominal[s], i]
            cell[s, i] = -1 if np.isnan(code) else int64(code) * n_classes + label[i]


@inner
def search_cuts(entries, columns, s, a, n_known, total, options, work):
    """Return the best numeric cut: (valid, gain, ratio, number of entries on the left)."""
    row, weight, order = entries
    label, value, table = columns.label, columns.value, options.table
    gini, errors = options.criterion == GINI, options.criterion == ERRORS
    left, right = work.left, work.right
    left.fill(0.0)
    right.fill(0.0)
    known = 0.0
    for i in range(n_known):
        e = a + order[s, a + i]
        right[label[row[e]]] += weight[e]
        known += weight[e]
    side = least_side(known, len(left), options.min_leaf)
    if n_known < 2 or 2 * side - n_known > SMALL:
        return False, 0.0, 0.0, int64(0)
    terms_left, terms_right = 0.0, 0.0
    for c in range(len(right)):
        terms_right += term(right[c], gini, table)
    base = impurity(known, terms_right, gini, table)
    most = largest(right, 0, len(right))
    best, position, candidates, best_left = 0.0, int64(0), 0, 0.0
    weight_left = 0.0
    e = a + order[s, a]
    u = value[s, row[e]]
    for i in range(1, n_known):
        c = label[row[e]]
        w = weight[e]
        terms_left += term(left[c] + w, gini, table) - term(left[c], gini, table)
        terms_right += term(right[c] - w, gini, table) - term(right[c], gini, table)
        left[c] += w
        right[c] -= w
        weight_left += w
        e = a + order[s, a + i]
        v = value[s, row[e]]
        if u + NEVER_CUT < v:
            if side - (known - weight_left) >= SMALL:
                break
            if side - weight_left < SMALL:
                candidates += 1
                if errors:
                    saved = largest(left, 0, len(left)) + largest(right, 0, len(right))
                    gain = scaled_gain(saved - most, known, total)
                else:
                    after = impurity(weight_left, terms_left, gini, table) + impurity(
                        known - weight_left, terms_right, gini, table
                    )
                    gain = scaled_gain(base - after, known, total)
                if gain - best > SMALL:
                    best, position, best_left = gain, int64(i), weight_left
        u = v
    if options.mdl and candidates > 0 and not (gini or errors):
        best -= np.log2(float64(candidates)) / total
    if position == 0 or best < SMALL:
        return False, 0.0, 0.0, int64(0)
    ratio = best
    if options.criterion == GAIN_RATIO:
        parts = entropy_term(best_left, table) + entropy_term(known - best_left, table)
        ratio = gain_ratio(best, parts, known, total, table)
    return True, best, ratio, position


@inner
def search_node(nodes, entries, columns, options, i, work):
    """Return the column of node i's best test (-1 for none); ``work.detail`` holds the cuts."""
    a, m = nodes.start[i], nodes.size[i]
    total = 0.0
    for e in range(a, a + m):
        total += entries.weight[e]
    for f in range(len(columns.slot)):
        s, n = columns.slot[f], columns.n_categories[f]
        if n == 0:
            valid, gain, ratio, detail = search_cuts(
                entries, columns, s, a, nodes.known[i, s], total, options, work
            )
        else:
            known = fill_cells(entries, columns.cell, s, a, m, n, work.cells)
            valid, gain, ratio, detail = search_categories(n, work.cells, known, total, options)
        work.gain[f] = gain if valid else -np.inf
        work.ratio[f], work.detail[f] = ratio, detail
    return choose_column(work.gain, work.ratio, options.averaged)


@inner
def cut_value(entries, value, s, a, cut):
    """Return J48's threshold for the cut before the entry ``cut`` of a numeric column."""
    row, _, order = entries
    lower = value[s, row[a + order[s, a + cut - 1]]]
    return j48_midpoint(lower, value[s, row[a + order[s, a + cut]]])


@inner
def start_work(n_categories, n_classes):
    """Return the work space of the search."""
    n_columns, widest = len(n_categories), int64(1)
    for f in range(n_columns):
        widest = max(widest, n_categories[f])
    return Work(
        gain=np.empty(n_columns),
        ratio=np.empty(n_columns),
        detail=np.empty(n_columns, dtype=np.int64),
        cells=Cells(
            both=np.empty(widest * n_classes),
            category=np.empty(widest),
            label=np.empty(n_classes),
            rank=np.empty(widest, dtype=np.int64),
        ),
        left=np.empty(n_classes),
        right=np.empty(n_classes),
    )


@entry
def search_nodes(
    nodes: Nodes, entries: Entries, columns: Columns, options: SearchOptions, tests: Tests
):
    """Fill the best test of each node."""
    work = start_work(columns.n_categories, options.n_classes)
    for i in range(len(nodes.start)):
        chosen = search_node(nodes, entries, columns, options, i, work)
        tests.column[i], tests.cut[i], tests.threshold[i] = chosen, 0, np.nan
        tests.n_branches[i], tests.n_categories[i] = 0, 0
        if chosen < 0:
            continue
        a, s, n = nodes.start[i], columns.slot[chosen], columns.n_categories[chosen]
        cut = work.detail[chosen]
        tests.cut[i], tests.n_categories[i] = cut, n
        tests.n_branches[i] = n if n > 0 and options.nominal == MULTIWAY else 2
        if n == 0:
            tests.threshold[i] = cut_value(entries, columns.value, s, a, cut)
        elif options.nominal == SUBSETS:
            known = fill_cells(entries, columns.cell, s, a, nodes.size[i], n, work.cells)
            map_subsets(n, cut, work.cells, known, tests.subset_of, i)
