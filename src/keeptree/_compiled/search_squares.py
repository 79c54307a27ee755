"""Find the best test of a regression tree's nodes; ``grow_squares`` describes their content."""

from typing import NamedTuple

import numpy as np
from numpy import float64, int32, int64, uint64

from keeptree._compiled.declare import In, Out, inner

SMALL = 1e-6  # tolerance for sums of fractional weights
TIE = 1.0 + 1e-10  # a cut must be better by this factor, so that the first of ties wins
ENTRY = uint64(0xFFFFFFFF)
RANK = uint64(32)


class SortedColumns(NamedTuple):
    """A training table.

    Column f is row ``slot[f]`` of ``key`` (numeric: the first ``n_known`` keys, with the distinct
    values in ``level`` from ``level_start`` on) or of ``code`` (nominal: -1 where missing;
    ``n_categories[f]`` is not 0).
    """

    key: Out(uint64, 2)
    n_known: In(int64, 1, "C")
    level: In(float64, 1, "C")
    level_start: In(int64, 1, "C")
    code: In(int32, 2, "C")
    slot: In(int64, 1, "C")
    n_categories: In(int64, 1, "C")


class Pool(NamedTuple):
    """Rows, (weight, target) and keys of entries."""

    row: np.ndarray
    case: np.ndarray
    key: np.ndarray


class Categories(NamedTuple):
    """Weight, centred sum and branch of each category, and the present ones ranked by mean."""

    held: np.ndarray
    sums: np.ndarray
    rank: np.ndarray
    child_of: np.ndarray


@inner
def search_cuts(pool, s, a, m, known_rows, total, mean, min_leaf):
    """Return the best cut of a numeric column: (reduction, entries on the left, 0 for none).

    With centred targets, a cut into weights u and v with the sum S on the left reduces the sum of
    squares by S^2 (u + v) / (u v). Rows without a value do not contribute.
    """
    _, case, key = pool
    known = total
    if known_rows < m:
        known, first_sum = 0.0, 0.0
        for i in range(known_rows):
            e = a + int64(key[s, a + i] & ENTRY)
            known += case[e, 0]
            first_sum += case[e, 0] * (case[e, 1] - mean)
        if known > 0:
            mean += first_sum / known
    least = min_leaf - SMALL
    best, best_product, position = -1.0, 1.0, 0
    weight_left, sum_left = 0.0, 0.0
    for i in range(known_rows - 1):
        current = key[s, a + i]
        e = a + int64(current & ENTRY)
        w = case[e, 0]
        weight_left += w
        sum_left += w * (case[e, 1] - mean)
        if current >> RANK == key[s, a + i + 1] >> RANK:
            continue
        weight_right = known - weight_left
        if weight_right < least:
            break
        product = weight_left * weight_right
        if weight_left >= least and sum_left * sum_left * best_product > best * product * TIE:
            best, best_product, position = sum_left * sum_left, product, i + 1
    return best * known / best_product, position


@inner
def sort_by_mean(rank, number, held, sums):
    """Sort by mean, then category, with a Shell sort: numba's sort takes seconds to compile."""
    gap = number // 2
    while gap > 0:
        for i in range(gap, number):
            k = rank[i]
            mean = sums[k] / held[k]
            at = i
            while at >= gap:
                other = rank[at - gap]
                above = sums[other] / held[other]
                if above < mean or (above == mean and other < k):
                    break
                rank[at] = other
                at -= gap
            rank[at] = k
        gap //= 2


@inner
def order_categories(pool, code, s, a, m, mean, n, categories):
    """Fill the weight and centred sum of each category and rank those present by mean.

    The best two subsets of categories are a cut of this order (Breiman et al. 1984, section 8.8).
    Returns the number of categories present and the weight of known values.
    """
    held, sums, rank, _ = categories
    known, present = 0.0, 0
    for k in range(n):
        held[k], sums[k] = 0.0, 0.0
    for e in range(a, a + m):
        k = code[s, pool.row[e]]
        if k >= 0:
            held[k] += pool.case[e, 0]
            sums[k] += pool.case[e, 0] * (pool.case[e, 1] - mean)
            known += pool.case[e, 0]
    for k in range(n):
        if held[k] > 0:
            rank[present] = k
            present += 1
    sort_by_mean(rank, present, held, sums)
    return present, known


@inner
def search_subsets(known, present, min_leaf, categories):
    """Return the best cut of ranked categories: (reduction, categories on the left, 0 for none)."""
    held, sums, rank, _ = categories
    shift = 0.0
    for i in range(present):
        shift += sums[rank[i]]
    least = min_leaf - SMALL
    best, taken = -1.0, 0
    weight_left, sum_left = 0.0, 0.0
    for i in range(present - 1):
        k = rank[i]
        weight_left += held[k]
        sum_left += sums[k] - held[k] * shift / known
        weight_right = known - weight_left
        if weight_left < least or weight_right < least:
            continue
        reduction = sum_left * sum_left * known / (weight_left * weight_right)
        if best < 0 or reduction > best * TIE:
            best, taken = reduction, i + 1
    return best, taken


@inner
def search_test(pool, columns, a, m, known_rows, total, mean, min_leaf, categories):
    """Return (column, cut) with the largest reduction; ties go to the first; column -1 for none."""
    best, chosen, cut = -1.0, int64(-1), int64(0)
    for f in range(len(columns.slot)):
        s, n = columns.slot[f], columns.n_categories[f]
        if n == 0:
            reduction, at = search_cuts(pool, s, a, m, known_rows[s], total, mean, min_leaf)
        else:
            present, known = order_categories(pool, columns.code, s, a, m, mean, n, categories)
            reduction, at = search_subsets(known, present, min_leaf, categories)
        if at > 0 and (chosen < 0 or reduction > best * TIE):
            best, chosen, cut = reduction, int64(f), int64(at)
    return chosen, cut


@inner
def map_sides(pool, columns, chosen, cut, a, m, mean, categories):
    """Fill the branch of each category of the chosen column."""
    held, _, rank, child_of = categories
    n, s = columns.n_categories[chosen], columns.slot[chosen]
    present, known = order_categories(pool, columns.code, s, a, m, mean, n, categories)
    weight_left = 0.0
    for i in range(cut):
        weight_left += held[rank[i]]
    # A category without cases here follows the heavier branch.
    for k in range(n):
        child_of[k] = 1 if 2 * weight_left < known else 0
    for i in range(present):
        child_of[rank[i]] = 0 if i < cut else 1
