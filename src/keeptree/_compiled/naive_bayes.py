"""Naive Bayes over discretised columns: cuts, counts, cross-validated errors.

A node holds *entries*: ``row`` and ``weight`` of its cases (a case with a missing value may be
there with a part of its weight), and for every numeric column the entries with a value in the
order of the values. The entries of several nodes lie behind one another; those of one node start
at ``a``, and ``sorted_entry`` counts from there.

``data`` is (label, value, code, slot, n_categories): column f is line ``slot[f]`` of ``value``
(numeric, ``n_categories[f]`` is 0) or of ``code`` (nominal, -1 where missing).
"""

from typing import NamedTuple

import numpy as np
from numpy import float64, int64

from keeptree._compiled.declare import In, entry, inner

SMALL = 1e-6  # J48's tolerance
TIE = 1e-9  # bits per case below which two entropies count as equal: rounding of running sums


class Columns(NamedTuple):
    """The sample by columns: column f is line ``slot[f]`` of ``value`` or of ``code``."""

    label: In(int64, 1, "C")
    value: In(float64, 2, "C")
    code: In(int64, 2, "C")
    slot: In(int64, 1, "C")
    n_categories: In(int64, 1, "C")


class Entries(NamedTuple):
    """Cases of a node, and for each numeric column those with a value in the order of values."""

    row: In(int64, 1, "C")
    weight: In(float64, 1, "C")
    sorted_entry: In(int64, 2, "C")


@inner
def term(count, table):
    """Return count x log2(count), from the table if the count is whole."""
    if count < SMALL:
        return 0.0
    whole = int64(count)
    if whole == count and whole < len(table):
        return table[whole]
    return count * np.log2(count)


@inner
def clear(array):
    """Set an array of one or two dimensions to zero; a loop compiles faster than a slice."""
    flat = array.reshape(array.size)
    for i in range(len(flat)):
        flat[i] = 0.0


@inner
def measure_range(order, first, end, label, weight, held, table):
    """(weight, weight x entropy, number of classes) of a range of sorted entries."""
    clear(held)
    total = 0.0
    for i in range(first, end):
        e = order[i]
        held[label[e]] += weight[e]
        total += weight[e]
    terms, present = 0.0, 0
    for c in range(len(held)):
        terms += term(held[c], table)
        present += held[c] > 0
    return total, max(term(total, table) - terms, 0.0), present


@inner
def find_cut(value, order, first, end, label, weight, left, right, table):
    """Last position of the lower part of a range, -1 where a cut costs more than it gains.

    Fayyad and Irani 1993: the cut of the lowest conditional entropy, the first of ties, if the
    gain exceeds the length of its description.
    """
    if end - first < 2:
        return -1
    total, prior, k = measure_range(order, first, end, label, weight, right, table)
    clear(left)
    terms_left, terms_right, weight_left = 0.0, 0.0, 0.0
    for c in range(len(right)):
        terms_right += term(right[c], table)
    best, at = prior, -1
    for i in range(first, end - 1):
        e = order[i]
        c, w = label[e], weight[e]
        terms_left += term(left[c] + w, table) - term(left[c], table)
        terms_right += term(right[c] - w, table) - term(right[c], table)
        left[c] += w
        right[c] -= w
        weight_left += w
        if value[e] < value[order[i + 1]]:
            after = term(weight_left, table) - terms_left
            after += term(total - weight_left, table) - terms_right
            if best - after > TIE * total:
                best, at = after, i
    if at < 0:
        return -1
    w1, h1, k1 = measure_range(order, first, at + 1, label, weight, left, table)
    w2, h2, k2 = measure_range(order, at + 1, end, label, weight, right, table)
    gain = (prior - h1 - h2) / total
    choices = np.log2(3.0**k - 2) if k < 500 else k * np.log2(3.0)
    delta = choices - (k * prior / total - k1 * h1 / w1 - k2 * h2 / w2)
    return at if gain > (np.log2(float(end - first - 1)) + delta) / total else -1


@inner
def find_cuts(value, order, known, label, weight, left, right, table, at):
    """Fill the ascending positions after which the sorted entries of a column are cut; count them.

    ``at`` has room for as many as there are entries.
    """
    n_found = 0
    ends = np.empty(known + 1, dtype=np.int64)  # of the ranges still to be cut, the next one last
    ends[0] = known
    first, n_ranges = 0, 1
    while n_ranges > 0:
        end = ends[n_ranges - 1]
        cut = find_cut(value, order, first, end, label, weight, left, right, table)
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
def middle_of(value, order, at):
    """Midpoint behind a position; a value equal to a cut belongs to the lower bin."""
    lower, upper = value[order[at]], value[order[at + 1]]
    middle = lower / 2 + upper / 2
    return lower if middle >= upper else middle


@inner
def bin_entries(data, entries, a, m, known, n_classes, table, bins, n_bins, cuts):
    """Fill the bin of each entry in each column, -1 where missing, and the number of bins.

    Returns the cuts of all columns, behind one another in ``cuts`` or a longer array.
    """
    row, weight, sorted_entry = entries
    label, value, code, slot, n_categories = data
    left, right = np.empty(n_classes), np.empty(n_classes)
    own_label, own_weight = np.empty(m, dtype=np.int64), np.empty(m)
    own_value, order = np.empty(m), np.empty(m, dtype=np.int64)
    at = np.empty(m, dtype=np.int64)
    for e in range(m):
        own_label[e], own_weight[e] = label[row[a + e]], weight[a + e]
    n_cuts = 0
    for f in range(len(slot)):
        s = slot[f]
        if n_categories[f] > 0:
            n_bins[f] = n_categories[f]
            for e in range(m):
                bins[f, e] = code[s, row[a + e]]
            continue
        for e in range(m):
            bins[f, e] = -1
            own_value[e] = value[s, row[a + e]]
        for i in range(known[s]):
            order[i] = sorted_entry[s, a + i]
        found = find_cuts(own_value, order, known[s], own_label, own_weight, left, right, table, at)
        n_bins[f] = found + 1
        b = 0
        for i in range(known[s]):
            bins[f, order[i]] = b
            if b < found and at[b] == i:
                b += 1
        if n_cuts + found > len(cuts):
            longer = np.empty(2 * (n_cuts + found))
            for i in range(n_cuts):
                longer[i] = cuts[i]
            cuts = longer
        for i in range(found):
            cuts[n_cuts + i] = middle_of(own_value, order, at[i])
        n_cuts += found
    return cuts


@inner
def deal_folds(label, row, a, m, n_classes, n_folds, fold):
    """Deal the entries to the folds in turn, class after class, in the order they have."""
    place = np.zeros(n_classes + 1, dtype=np.int64)
    for e in range(a, a + m):
        place[label[row[e]] + 1] += 1
    for c in range(n_classes):
        place[c + 1] += place[c]
    for e in range(m):
        c = label[row[a + e]]
        fold[e] = place[c] % n_folds
        place[c] += 1


@inner
def count_cells(bins, start, label, entries, a, m, fold, wanted, cells, known, in_class):
    """Class weights of each bin, column and the whole, of one fold (-1: of all entries)."""
    row, weight, _ = entries
    clear(cells)
    clear(known)
    clear(in_class)
    for e in range(m):
        if wanted < 0 or fold[e] == wanted:
            c, w = label[row[a + e]], weight[a + e]
            in_class[c] += w
            for f in range(len(bins)):
                if bins[f, e] >= 0:
                    cells[start[f] + bins[f, e], c] += w
                    known[f, c] += w


@inner
def cross_validate(bins, n_bins, label, entries, a, m, n_classes, n_folds):
    """Weight of the entries misclassified when their own fold is taken out of the counts."""
    row, weight, _ = entries
    fold = np.empty(m, dtype=np.int64)
    deal_folds(label, row, a, m, n_classes, n_folds, fold)
    n_columns = len(n_bins)
    start = np.zeros(n_columns + 1, dtype=np.int64)
    for f in range(n_columns):
        start[f + 1] = start[f] + n_bins[f]
    shape = (start[-1], n_classes)
    cells, held, logs = np.empty(shape), np.empty(shape), np.empty(shape)
    known, held_known = np.empty((n_columns, n_classes)), np.empty((n_columns, n_classes))
    in_class, held_class = np.empty(n_classes), np.empty(n_classes)
    score = np.empty(n_classes)
    count_cells(bins, start, label, entries, a, m, fold, -1, cells, known, in_class)
    errors = 0.0
    for k in range(n_folds):
        count_cells(bins, start, label, entries, a, m, fold, k, held, held_known, held_class)
        for f in range(n_columns):
            if n_bins[f] == 1:
                continue  # one bin says nothing about the class
            for c in range(n_classes):
                all_bins = np.log(known[f, c] - held_known[f, c] + n_bins[f])
                for b in range(start[f], start[f + 1]):
                    logs[b, c] = np.log(cells[b, c] - held[b, c] + 1) - all_bins
        for e in range(m):
            if fold[e] != k:
                continue
            for c in range(n_classes):
                score[c] = np.log(in_class[c] - held_class[c] + 1)
            for f in range(n_columns):
                if n_bins[f] > 1 and bins[f, e] >= 0:
                    b = start[f] + bins[f, e]
                    for c in range(n_classes):
                        score[c] += logs[b, c]
            best = 0
            for c in range(1, n_classes):
                if score[c] > score[best]:
                    best = c
            if best != label[row[a + e]]:
                errors += weight[a + e]
    return errors


@inner
def size_branches(branch, share):
    """First entry of each branch, and the number of entries without a value."""
    first = np.zeros(len(share) + 1, dtype=np.int64)
    n_unknown = 0
    for e in range(len(branch)):
        if branch[e] < 0:
            n_unknown += 1
        else:
            first[branch[e] + 1] += 1
    for b in range(len(share)):
        first[b + 1] += first[b] + (n_unknown if share[b] > SMALL else 0)
    return first, n_unknown


@entry
def divide_entries(
    entries: Entries,
    known: In(int64, 1, "C"),
    branch: In(int64, 1, "C"),
    share: In(float64, 1, "C"),
):
    """Entries of every branch, behind one another, and where each begins.

    ``branch`` is -1 for an entry without a value: it goes to each branch that has a share.
    Returns (entries, first entry of each branch, known values by branch and numeric column).
    """
    row, weight, sorted_entry = entries
    n_branches = len(share)
    first, n_unknown = size_branches(branch, share)
    new_row, new_weight = np.empty(first[-1], dtype=np.int64), np.empty(first[-1])
    new_sorted = np.empty((len(sorted_entry), first[-1]), dtype=np.int64)
    new_known = np.zeros((n_branches, len(sorted_entry)), dtype=np.int64)
    place = np.empty(len(row), dtype=np.int64)  # in its branch; of copies: a line of ``copies``
    copies = np.empty((n_unknown, n_branches), dtype=np.int64)
    filled = np.zeros(n_branches, dtype=np.int64)
    n_unknown = 0
    for e in range(len(row)):
        b = branch[e]
        if b >= 0:
            new_row[first[b] + filled[b]], new_weight[first[b] + filled[b]] = row[e], weight[e]
            place[e] = filled[b]
            filled[b] += 1
            continue
        place[e] = n_unknown
        n_unknown += 1
        for b in range(n_branches):
            if share[b] > SMALL:
                new_row[first[b] + filled[b]] = row[e]
                new_weight[first[b] + filled[b]] = weight[e] * share[b]
                copies[place[e], b] = filled[b]
                filled[b] += 1
    for s in range(len(sorted_entry)):
        for i in range(known[s]):
            e = sorted_entry[s, i]
            b = branch[e]
            if b >= 0:
                new_sorted[s, first[b] + new_known[b, s]] = place[e]
                new_known[b, s] += 1
                continue
            for b in range(n_branches):
                if share[b] > SMALL:
                    new_sorted[s, first[b] + new_known[b, s]] = copies[place[e], b]
                    new_known[b, s] += 1
    return (new_row, new_weight, new_sorted), first, new_known


@entry
def branch_errors(
    data: Columns,
    entries: Entries,
    first: In(int64, 1, "C"),
    known: In(int64, 2, "C"),
    n_classes: int,
    n_folds: int,
    table: In(float64, 1, "C"),
):
    """(errors, number of branches large enough) of naive Bayes in every branch by itself.

    A branch with fewer entries than folds counts as wrong altogether.
    """
    errors, n_large = 0.0, 0
    n_columns = len(data[3])
    n_bins, cuts = np.empty(n_columns, dtype=np.int64), np.empty(16)
    for b in range(len(first) - 1):
        a, m = first[b], first[b + 1] - first[b]
        if m < n_folds:
            for e in range(a, a + m):
                errors += entries[1][e]
            continue
        n_large += 1
        bins = np.empty((n_columns, m), dtype=np.int64)
        cuts = bin_entries(data, entries, a, m, known[b], n_classes, table, bins, n_bins, cuts)
        errors += cross_validate(bins, n_bins, data[0], entries, a, m, n_classes, n_folds)
    return errors, n_large


@entry
def fit_bayes(
    data: Columns,
    entries: Entries,
    known: In(int64, 1, "C"),
    n_classes: int,
    table: In(float64, 1, "C"),
):
    """Naive Bayes of the entries: (cuts, number of bins by column, log cells, log prior).

    Counts start at one in every cell, and in every class.
    """
    n_columns, m = len(data[3]), len(entries[0])
    bins = np.empty((n_columns, m), dtype=np.int64)
    n_bins = np.empty(n_columns, dtype=np.int64)
    cuts = bin_entries(data, entries, 0, m, known, n_classes, table, bins, n_bins, np.empty(16))
    start = np.zeros(n_columns + 1, dtype=np.int64)
    n_cuts = 0
    for f in range(n_columns):
        start[f + 1] = start[f] + n_bins[f]
        if data[4][f] == 0:
            n_cuts += n_bins[f] - 1
    cells = np.empty((start[-1], n_classes))
    in_column, prior = np.empty((n_columns, n_classes)), np.empty(n_classes)
    fold = np.empty(m, dtype=np.int64)
    count_cells(bins, start, data[0], entries, 0, m, fold, -1, cells, in_column, prior)
    total = float(n_classes)
    for c in range(n_classes):
        total += prior[c]
        for f in range(n_columns):
            for b in range(start[f], start[f + 1]):
                cells[b, c] = np.log((cells[b, c] + 1) / (in_column[f, c] + n_bins[f]))
    for c in range(n_classes):
        prior[c] = np.log((prior[c] + 1) / total)
    return cuts[:n_cuts], n_bins, cells, prior
