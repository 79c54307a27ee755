"""Find the best test of a nominal column in a node."""

from typing import NamedTuple

import numpy as np
from numpy import int64

from keeptree._compiled.declare import inner
from keeptree._compiled.impurity import (
    entropy_term,
    gain_ratio,
    impurity,
    largest,
    scaled_gain,
    term,
)
from keeptree._compiled.j48 import ERRORS, GAIN_RATIO, GINI, MULTIWAY, ONE_AGAINST_REST, SMALL

MOST_TRIED = 10  # up to this many categories, all divisions into two subsets are tried


class Cells(NamedTuple):
    """Weights of a nominal column in a node, by category x class, by category and by class.

    ``rank`` is work space for the search for two subsets.
    """

    both: np.ndarray
    category: np.ndarray
    label: np.ndarray
    rank: np.ndarray


@inner
def fill_cells(entries, cell, s, a, m, n, cells):
    """Fill the weights of a nominal column of n categories; return the weight of known values."""
    row, weight, _ = entries
    both, in_category, in_class, _ = cells
    n_classes = len(in_class)
    for i in range(n * n_classes):
        both[i] = 0.0
    in_class.fill(0.0)
    for e in range(a, a + m):
        at = cell[s, row[e]]
        if at >= 0:
            both[at] += weight[e]
    known = 0.0
    for k in range(n):
        in_category[k] = 0.0
        for c in range(n_classes):
            in_category[k] += both[k * n_classes + c]
            in_class[c] += both[k * n_classes + c]
        known += in_category[k]
    return known


@inner
def search_multiway(n, cells, known, total, options):
    """Evaluate the test with one branch per declared category: return (valid, gain, ratio)."""
    table, gini, errors = options.table, options.criterion == GINI, options.criterion == ERRORS
    both, in_category, in_class, _ = cells
    n_classes = len(in_class)
    enough = 0
    base_terms = 0.0
    for c in range(n_classes):
        base_terms += term(in_class[c], gini, table)
    difference = impurity(known, base_terms, gini, table)
    if errors:
        difference = -largest(in_class, 0, n_classes)
    branch_terms = 0.0
    for k in range(n):
        held = in_category[k]
        if held <= 0:
            continue
        enough += options.min_leaf - held < SMALL
        terms = 0.0
        for c in range(n_classes):
            terms += term(both[k * n_classes + c], gini, table)
        if errors:
            difference += largest(both, k * n_classes, n_classes)
        else:
            difference -= impurity(held, terms, gini, table)
        branch_terms += entropy_term(held, table)
    if enough < 2:
        return False, 0.0, 0.0
    gain = scaled_gain(difference, known, total)
    if options.criterion != GAIN_RATIO:
        return True, gain, gain
    return True, gain, gain_ratio(gain, branch_terms, known, total, table)


@inner
def two_sided(weights, first, in_class, known, total, options):
    """Return gain and ratio of the weights ``weights[first:]`` against the rest of ``in_class``."""
    table, gini = options.table, options.criterion == GINI
    held, base_terms, terms, rest_terms, most_outside = 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(len(in_class)):
        inside = weights[first + c]
        held += inside
        most_outside = max(most_outside, in_class[c] - inside)
        base_terms += term(in_class[c], gini, table)
        terms += term(inside, gini, table)
        rest_terms += term(in_class[c] - inside, gini, table)
    difference = (
        impurity(known, base_terms, gini, table)
        - impurity(held, terms, gini, table)
        - impurity(known - held, rest_terms, gini, table)
    )
    if options.criterion == ERRORS:
        most_inside = largest(weights, first, len(in_class))
        difference = most_inside + most_outside - largest(in_class, 0, len(in_class))
    gain = scaled_gain(difference, known, total)
    if options.criterion != GAIN_RATIO:
        return gain, gain
    parts = entropy_term(held, table) + entropy_term(known - held, table)
    return gain, gain_ratio(gain, parts, known, total, table)


@inner
def too_light(held, known, min_leaf):
    """Return whether one of two branches has too little weight."""
    return min_leaf - held >= SMALL or min_leaf - (known - held) >= SMALL


@inner
def search_one_against_rest(n, cells, known, total, options):
    """Find the best category to test against the rest (J48 -B): (valid, gain, ratio, category)."""
    valid, gain, ratio, category = False, 0.0, 0.0, int64(0)
    for k in range(n):
        if too_light(cells.category[k], known, options.min_leaf):
            continue
        valid = True
        g, r = two_sided(cells.both, k * len(cells.label), cells.label, known, total, options)
        if k == 0 or r - ratio > SMALL:
            gain, ratio, category = g, r, int64(k)
    return valid, gain, ratio, category


@inner
def rank_categories(n, cells, c):
    """Rank categories by the share of class c, those without weight last.

    Returns the number of categories that have weight.
    """
    both, held, rank, n_classes = cells.both, cells.category, cells.rank, len(cells.label)
    present = 0
    for k in range(n):
        if held[k] <= 0:
            continue
        share = both[k * n_classes + c] / held[k]
        at = present
        while at > 0 and both[rank[at - 1] * n_classes + c] / held[rank[at - 1]] > share:
            rank[at] = rank[at - 1]
            at -= 1
        rank[at] = k
        present += 1
    at = present
    for k in range(n):
        if held[k] <= 0:
            rank[at] = k
            at += 1
    return present


@inner
def search_ranked(n, cells, c, known, total, options):
    """Return the best cut of the categories ranked by class c (Breiman et al. 1984).

    The result is (valid, gain, ratio, number of categories on the left).
    """
    rank, n_classes = cells.rank, len(cells.label)
    left = np.zeros(n_classes)
    valid, gain, ratio, taken, held = False, 0.0, 0.0, int64(0), 0.0
    for i in range(rank_categories(n, cells, c) - 1):
        for j in range(n_classes):
            left[j] += cells.both[rank[i] * n_classes + j]
        held = left.sum()
        if too_light(held, known, options.min_leaf):
            continue
        g, r = two_sided(left, int64(0), cells.label, known, total, options)
        if not valid or g - gain > SMALL:
            gain, ratio, taken = g, r, int64(i + 1)
        valid = True
    return valid, gain, ratio, taken


@inner
def is_right(mask, at):
    """Return whether category ``at`` of those with weight is in the right subset."""
    return at > 0 and (mask >> (at - 1)) & 1 == 1


@inner
def search_all(n, cells, present, known, total, options):
    """Return the best of all divisions of the categories with weight; the first stays on the left.

    The result is (valid, gain, ratio, mask); bit i of the mask sends category i + 1 to the right.
    """
    n_classes = len(cells.label)
    left = np.zeros(n_classes)
    valid, gain, ratio, best = False, 0.0, 0.0, int64(0)
    for mask in range(1, 1 << (present - 1)):
        left.fill(0.0)
        at = 0
        for k in range(n):
            if cells.category[k] <= 0:
                continue
            if not is_right(mask, at):
                for j in range(n_classes):
                    left[j] += cells.both[k * n_classes + j]
            at += 1
        if too_light(left.sum(), known, options.min_leaf):
            continue
        g, r = two_sided(left, int64(0), cells.label, known, total, options)
        if not valid or g - gain > SMALL:
            gain, ratio, best = g, r, int64(mask)
        valid = True
    return valid, gain, ratio, best


@inner
def search_subsets(n, cells, known, total, options):
    """Return the best division of the categories into two subsets: (valid, gain, ratio, code).

    For two classes, the code is the number of categories on the left, ranked by the second class.
    For more classes and few categories, all divisions are tried, and the code is a mask. Otherwise
    the categories are ranked by each class in turn: class x (n + 1) + number on the left.
    """
    n_classes = len(cells.label)
    if n_classes <= 2:
        return search_ranked(n, cells, n_classes - 1, known, total, options)
    present = rank_categories(n, cells, 0)
    if present <= MOST_TRIED:
        return search_all(n, cells, present, known, total, options)
    valid, gain, ratio, code = False, 0.0, 0.0, int64(0)
    for c in range(n_classes):
        found, g, r, taken = search_ranked(n, cells, c, known, total, options)
        if found and (not valid or g - gain > SMALL):
            gain, ratio, code = g, r, int64(c * (n + 1) + taken)
        valid = valid or found
    return valid, gain, ratio, code


@inner
def search_categories(n, cells, known, total, options):
    """Return the best test of a nominal column: (valid, gain, ratio, category or code)."""
    if options.nominal == MULTIWAY:
        valid, gain, ratio = search_multiway(n, cells, known, total, options)
        return valid, gain, ratio, int64(0)
    if options.nominal == ONE_AGAINST_REST:
        return search_one_against_rest(n, cells, known, total, options)
    return search_subsets(n, cells, known, total, options)


@inner
def divide_categories(n, code, cells, subset_of, node):
    """Decode the result of :func:`search_subsets` into the side of each category with weight."""
    n_classes = len(cells.label)
    if n_classes > 2 and rank_categories(n, cells, 0) <= MOST_TRIED:
        at = 0
        for k in range(n):
            if cells.category[k] > 0:
                subset_of[node, k] = 1 if is_right(code, at) else 0
                at += 1
        return
    c, taken = (n_classes - 1, code) if n_classes <= 2 else (code // (n + 1), code % (n + 1))
    for i in range(rank_categories(n, cells, c)):
        subset_of[node, cells.rank[i]] = 0 if i < taken else 1


@inner
def map_subsets(n, code, cells, known, subset_of, node):
    """Fill the side of each category of the chosen column, divided into two subsets."""
    divide_categories(n, code, cells, subset_of, node)
    weight_left = 0.0
    for k in range(n):
        if cells.category[k] > 0 and subset_of[node, k] == 0:
            weight_left += cells.category[k]
    # A category without cases here follows the heavier branch.
    for k in range(n):
        if cells.category[k] <= 0:
            subset_of[node, k] = 0 if 2 * weight_left >= known else 1
