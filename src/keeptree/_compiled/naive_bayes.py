"""Naive Bayes over discretised columns: cuts, counts, cross-validated errors."""

from typing import NamedTuple

import numpy as np
from numpy import float64, int32, int64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.entries import Division, Entries, Part, divide_node, start_entries
from keeptree._compiled.grow_search import Columns
from keeptree._compiled.impurity import entropy_term
from keeptree._compiled.j48 import SMALL
from keeptree._compiled.midpoints import midpoint
from keeptree._compiled.weka_order import deal_in_order, deal_shuffled, start_random

TIE = 1e-9  # bits per case; closer entropies count as equal, because running sums are rounded
SMALLEST = 1e-75  # products below this are scaled up


class Scan(NamedTuple):
    """A column to discretise: values, classes, weights and order of the cases, and work space."""

    value: np.ndarray
    label: np.ndarray
    weight: np.ndarray
    order: np.ndarray
    left: np.ndarray
    right: np.ndarray
    table: np.ndarray


class Bins(NamedTuple):
    """Bin of each entry in each column (-1 where missing), numbered across all columns."""

    of: np.ndarray
    number: np.ndarray
    start: np.ndarray


class Counts(NamedTuple):
    """Class weights of each bin, of the entries with a value in each column, and of all."""

    cell: np.ndarray
    column: np.ndarray
    total: np.ndarray


class Bayes(NamedTuple):
    """Data and options: ``seed`` for shuffling, ``table`` of x log2(x) for whole numbers."""

    n_classes: int
    n_folds: int
    seed: int
    table: In(float64, 1, "C")


@inner
def start_scan(size, bayes):
    """Allocate a scan."""
    return Scan(
        value=np.empty(size),
        label=np.empty(size, dtype=np.int64),
        weight=np.empty(size),
        order=np.empty(size, dtype=np.int64),
        left=np.empty(bayes.n_classes),
        right=np.empty(bayes.n_classes),
        table=bayes.table,
    )


@inner
def measure_range(scan, first, end, held):
    """Return (weight, weight x entropy, number of classes) of a range of sorted cases."""
    held.fill(0.0)
    total = 0.0
    for i in range(first, end):
        e = scan.order[i]
        held[scan.label[e]] += scan.weight[e]
        total += scan.weight[e]
    terms, present = 0.0, 0
    for c in range(len(held)):
        terms += entropy_term(held[c], scan.table)
        present += held[c] > 0
    return total, max(entropy_term(total, scan.table) - terms, 0.0), present


@inner
def find_cut(scan, first, end):
    """Return the last position of the lower part of a range, -1 if no cut is worth its cost.

    The cut has the lowest conditional entropy (ties go to the first), and its gain must exceed its
    description length (Fayyad and Irani 1993).
    """
    value, label, weight, order, left, right, table = scan
    if end - first < 2:
        return -1
    total, prior, k = measure_range(scan, first, end, right)
    left.fill(0.0)
    terms_left, terms_right, weight_left = 0.0, 0.0, 0.0
    for c in range(len(right)):
        terms_right += entropy_term(right[c], table)
    best, at = prior, -1
    for i in range(first, end - 1):
        e = order[i]
        c, w = label[e], weight[e]
        terms_left += entropy_term(left[c] + w, table) - entropy_term(left[c], table)
        terms_right += entropy_term(right[c] - w, table) - entropy_term(right[c], table)
        left[c] += w
        right[c] -= w
        weight_left += w
        if value[e] < value[order[i + 1]]:
            after = entropy_term(weight_left, table) - terms_left
            after += entropy_term(total - weight_left, table) - terms_right
            if best - after > TIE * total:
                best, at = after, i
    if at < 0:
        return -1
    w1, h1, k1 = measure_range(scan, first, at + 1, left)
    w2, h2, k2 = measure_range(scan, at + 1, end, right)
    gain = (prior - h1 - h2) / total
    choices = np.log2(3.0**k - 2) if k < 500 else k * np.log2(3.0)
    delta = choices - (k * prior / total - k1 * h1 / w1 - k2 * h2 / w2)
    return at if gain > (np.log2(float(end - first - 1)) + delta) / total else -1


@inner
def find_cuts(scan, known, at):
    """Fill the ascending positions after which the first ``known`` sorted cases are cut.

    ``at`` has room for one position per case. Returns the number of cuts.
    """
    n_found = 0
    ends = np.empty(known + 1, dtype=np.int64)  # the ranges still to be cut, the next one last
    ends[0] = known
    first, n_ranges = 0, 1
    while n_ranges > 0:
        end = ends[n_ranges - 1]
        cut = find_cut(scan, first, end)
        if cut >= 0:
            ends[n_ranges] = cut + 1
            n_ranges += 1
            continue
        n_ranges -= 1
        first = end
        if n_ranges > 0:
            at[n_found] = end - 1
            n_found += 1
    return n_found


@inner
def bin_column(scan, known, f, bins):
    """Discretise a numeric column: fill the bins of its entries and return the number of bins."""
    at = np.empty(known, dtype=np.int64)
    n_cuts = find_cuts(scan, known, at)
    b = 0
    for i in range(known):
        bins[f, scan.order[i]] = b
        if b < n_cuts and at[b] == i:
            b += 1
    return n_cuts + 1


@inner
def bin_entries(columns, entries, a, m, known, k, bayes):
    """Return the bins of the m entries from a on; row k of ``known`` counts those with a value."""
    n_columns = len(columns.slot)
    bins = Bins(
        of=np.empty((n_columns, m), dtype=np.int64),
        number=np.empty(n_columns, dtype=np.int64),
        start=np.zeros(n_columns + 1, dtype=np.int64),
    )
    scan = start_scan(m, bayes)
    for e in range(m):
        scan.label[e] = columns.label[entries.row[a + e]]
        scan.weight[e] = entries.weight[a + e]
    for f in range(n_columns):
        s = columns.slot[f]
        for e in range(m):
            bins.of[f, e] = -1
        if columns.n_categories[f] > 0:
            bins.number[f] = columns.n_categories[f]
            for e in range(m):
                cell = columns.cell[s, entries.row[a + e]]
                if cell >= 0:
                    bins.of[f, e] = cell // bayes.n_classes
        else:
            for e in range(m):
                scan.value[e] = columns.value[s, entries.row[a + e]]
            for i in range(known[k, s]):
                scan.order[i] = entries.order[s, a + i]
            bins.number[f] = bin_column(scan, known[k, s], f, bins.of)
        bins.start[f + 1] = bins.start[f] + bins.number[f]
    return bins


@inner
def start_counts(bins, n_classes):
    """Allocate counts."""
    n_columns, n_cells = len(bins.number), bins.start[-1]
    return Counts(
        cell=np.empty((n_cells, n_classes)),
        column=np.empty((n_columns, n_classes)),
        total=np.empty(n_classes),
    )


@inner
def count_cells(bins, label, entries, a, fold, wanted, counts):
    """Fill the class weights of one fold, or of all entries if it is -1."""
    cell, column, total = counts
    cell.fill(0.0)
    column.fill(0.0)
    total.fill(0.0)
    for e in range(len(fold)):
        if wanted < 0 or fold[e] == wanted:
            c, w = label[entries.row[a + e]], entries.weight[a + e]
            total[c] += w
            for f in range(len(bins.of)):
                if bins.of[f, e] >= 0:
                    cell[bins.start[f] + bins.of[f, e], c] += w
                    column[f, c] += w


@inner
def train_without(bins, counts, held, share):
    """Fill the share of each bin in each class, leaving out the counts ``held``."""
    for f in range(len(bins.number)):
        if bins.number[f] == 1:
            continue  # a single bin carries no information about the class
        for c in range(share.shape[1]):
            all_bins = counts.column[f, c] - held.column[f, c] + bins.number[f]
            for b in range(bins.start[f], bins.start[f + 1]):
                share[b, c] = (counts.cell[b, c] - held.cell[b, c] + 1) / all_bins


@inner
def classify(bins, e, prior, share, score):
    """Return the class with the largest product for an entry; ties go to the first.

    The factors are multiplied column by column, as in Weka, because rounding decides which of two
    equal products is larger.
    """
    score[:] = prior
    for f in range(len(bins.number)):
        if bins.number[f] > 1 and bins.of[f, e] >= 0:
            b = bins.start[f] + bins.of[f, e]
            largest = 0.0
            for c in range(len(score)):
                score[c] *= share[b, c]
                largest = max(largest, score[c])
            if largest < SMALLEST:
                for c in range(len(score)):
                    score[c] /= SMALLEST
    best = 0
    for c in range(1, len(score)):
        if score[c] > score[best]:
            best = c
    return best


@inner
def cross_validate(bins, fold, label, entries, a, bayes):
    """Return the weight of the entries that a model of the other folds misclassifies."""
    n_classes = bayes.n_classes
    counts, held = start_counts(bins, n_classes), start_counts(bins, n_classes)
    share, prior, score = np.empty(counts.cell.shape), np.empty(n_classes), np.empty(n_classes)
    count_cells(bins, label, entries, a, fold, -1, counts)
    errors = 0.0
    for k in range(bayes.n_folds):
        count_cells(bins, label, entries, a, fold, k, held)
        train_without(bins, counts, held, share)
        prior[:] = counts.total - held.total + 1
        prior /= prior.sum()
        for e in range(len(fold)):
            if fold[e] == k:
                found = classify(bins, e, prior, share, score)
                if found != label[entries.row[a + e]]:
                    errors += entries.weight[a + e]
    return errors


@inner
def size_branches(branch, share):
    """Return the first entry of each branch; number and count the entries without a value."""
    first = np.zeros(len(share) + 1, dtype=np.int64)
    n_unknown = 0
    for e in range(len(branch)):
        if branch[e] < 0:
            branch[e] = -1 - n_unknown
            n_unknown += 1
        else:
            first[branch[e] + 1] += 1
    for b in range(len(share)):
        first[b + 1] += first[b] + (n_unknown if share[b] > SMALL else 0)
    return first, n_unknown


@entry
def divide_by_branch(
    entries: Entries,
    known: In(int32, 2, "C"),
    branch: Out(int32, 1),
    share: In(float64, 1, "C"),
):
    """Return the entries of all branches one after another, and where each branch starts.

    ``branch`` is negative for an entry without a value, which goes to each branch that has a share.
    Returns the fields of the entries, the first entry of each branch, and the number of known
    values by branch and numeric column.
    """
    first, n_unknown = size_branches(branch, share)
    n_columns, number = len(entries.order), len(share)
    new, new_known = start_entries(first[-1], n_columns), np.zeros((number, n_columns), np.int32)
    node = Part(int64(0), len(branch), int64(0), number, n_unknown)
    divide_node(entries, known, 0, node, Division(branch, share, first), new, new_known)
    return (new.row, new.weight, new.order), first, new_known


@entry
def node_errors(columns: Columns, entries: Entries, known: In(int32, 2, "C"), bayes: Bayes):
    """Return the cross-validated errors of naive Bayes in a node; folds are consecutive entries."""
    m = len(entries.row)
    bins = bin_entries(columns, entries, int64(0), m, known, 0, bayes)
    fold = deal_in_order(m, bayes.n_folds)
    return cross_validate(bins, fold, columns.label, entries, int64(0), bayes)


@entry
def branch_errors(
    columns: Columns,
    entries: Entries,
    first: In(int64, 1, "C"),
    known: In(int32, 2, "C"),
    bayes: Bayes,
    least: int,
):
    """Return the errors of a naive Bayes model in every branch, and the number of large branches.

    The entries of a branch are shuffled and dealt to folds class by class. All entries of a branch
    with fewer than ``least`` entries count as errors.
    """
    random = start_random(bayes.seed)
    errors, n_large = 0.0, 0
    for b in range(len(first) - 1):
        a, m = first[b], first[b + 1] - first[b]
        if m < least:
            for e in range(a, a + m):
                errors += entries.weight[e]
            continue
        n_large += 1
        bins = bin_entries(columns, entries, a, m, known, b, bayes)
        label = np.empty(m, dtype=np.int64)
        for e in range(m):
            label[e] = columns.label[entries.row[a + e]]
        fold = deal_shuffled(label, bayes.n_folds, random)
        errors += cross_validate(bins, fold, columns.label, entries, a, bayes)
    return errors, n_large


@entry
def reorder_entries(entries: Entries, known: In(int32, 2, "C"), order: In(int64, 1, "C")):
    """Return the fields of the entries of a node in another order."""
    n = len(order)
    new = start_entries(n, len(entries.order))
    place = np.empty(n, dtype=np.int32)
    for i in range(n):
        new.row[i], new.weight[i] = entries.row[order[i]], entries.weight[order[i]]
        place[order[i]] = i
    for s in range(len(entries.order)):
        for i in range(known[0, s]):
            new.order[s, i] = place[entries.order[s, i]]
    return new.row, new.weight, new.order


@inner
def list_cuts(columns, entries, known, bins):
    """Return the ascending cuts of all numeric columns, one column after another."""
    n_cuts = 0
    for f in range(len(columns.slot)):
        if columns.n_categories[f] == 0:
            n_cuts += bins.number[f] - 1
    cuts, at = np.empty(n_cuts), 0
    for f in range(len(columns.slot)):
        s = columns.slot[f]
        if columns.n_categories[f] > 0:
            continue
        for i in range(known[0, s] - 1):
            below, above = entries.order[s, i], entries.order[s, i + 1]
            if bins.of[f, below] < bins.of[f, above]:
                lower = columns.value[s, entries.row[below]]
                cuts[at] = midpoint(lower, columns.value[s, entries.row[above]])
                at += 1
    return cuts


@entry
def fit_bayes(columns: Columns, entries: Entries, known: In(int32, 2, "C"), bayes: Bayes):
    """Fit naive Bayes: return (cuts, number of bins by column, log cells, log prior).

    One case is added to every cell and to every class.
    """
    m = len(entries.row)
    bins = bin_entries(columns, entries, int64(0), m, known, 0, bayes)
    counts = start_counts(bins, bayes.n_classes)
    count_cells(bins, columns.label, entries, int64(0), np.empty(m, dtype=np.int64), -1, counts)
    cell, column, prior = counts
    total = float(bayes.n_classes)
    for c in range(bayes.n_classes):
        total += prior[c]
        for f in range(len(bins.number)):
            for b in range(bins.start[f], bins.start[f + 1]):
                cell[b, c] = np.log((cell[b, c] + 1) / (column[f, c] + bins.number[f]))
    for c in range(bayes.n_classes):
        prior[c] = np.log((prior[c] + 1) / total)
    return list_cuts(columns, entries, known, bins), bins.number, cell, prior
