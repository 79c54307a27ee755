"""The order of rows in Weka 3.6: its sort, its shuffle and its folds.

All three depend on the previous order of the rows and on every detail of the algorithm: the sort is
not stable, and the shuffle draws from ``java.util.Random``.
"""

import numpy as np
from numpy import float64, int64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.j48 import group_labels

MULTIPLIER, INCREMENT, MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1  # java.util.Random


@inner
def start_random(seed):
    """Return the state of a ``java.util.Random`` with this seed."""
    return np.array([(seed ^ MULTIPLIER) & MASK], dtype=np.int64)


@inner
def next_bits(random):
    """Return the next 31 random bits; the product is computed in halves to stay below 64 bits."""
    high, low = random[0] >> 24, random[0] & 0xFFFFFF
    product = (((high * MULTIPLIER) & 0xFFFFFF) << 24) + low * MULTIPLIER
    random[0] = (product + INCREMENT) & MASK
    return random[0] >> 17


@inner
def next_int(random, bound):
    """Return a random whole number below ``bound``."""
    bits = next_bits(random)
    if bound & -bound == bound:
        return (bound * bits) >> 31
    while bits - bits % bound + bound - 1 >= 1 << 31:  # reject the last, incomplete range
        bits = next_bits(random)
    return bits % bound


@inner
def shuffle(order, random):
    """Shuffle in place as ``Instances.randomize`` does."""
    for j in range(len(order) - 1, 0, -1):
        k = next_int(random, j + 1)
        order[j], order[k] = order[k], order[j]


@inner
def deal_in_order(n, n_folds):
    """Return the folds of n rows: consecutive rows, with the larger folds first."""
    fold = np.empty(n, dtype=np.int64)
    at = 0
    for k in range(n_folds):
        for _ in range(n // n_folds + (k < n % n_folds)):
            fold[at] = k
            at += 1
    return fold


@inner
def deal_shuffled(label, n_folds, random):
    """Return the fold of each row; rows are shuffled and dealt to folds class by class."""
    order = np.arange(len(label))
    shuffle(order, random)
    group_labels(label, order)
    fold = np.empty(len(label), dtype=np.int64)
    for p in range(len(order)):
        fold[order[p]] = p % n_folds
    return fold


@inner
def swap_if_greater(value, index, i, j):
    """Swap two positions if they are out of order."""
    if value[index[i]] > value[index[j]]:
        index[i], index[j] = index[j], index[i]


@inner
def partition(value, index, left, right):
    """Partition a range at the median of its ends and middle; return the median's position."""
    middle = (left + right) // 2
    swap_if_greater(value, index, left, middle)
    swap_if_greater(value, index, left, right)
    swap_if_greater(value, index, middle, right)
    index[middle], index[right - 1] = index[right - 1], index[middle]
    pivot = value[index[right - 1]]
    i, j = left, right - 1
    while True:
        i += 1
        while value[index[i]] < pivot:
            i += 1
        j -= 1
        while value[index[j]] > pivot:
            j -= 1
        if i >= j:
            break
        index[i], index[j] = index[j], index[i]
    index[i], index[right - 1] = index[right - 1], index[i]
    return i


@inner
def quicksort(value, index):
    """Sort ``index`` by value with Weka's quicksort, which is not stable."""
    lefts, rights = np.empty(len(index) + 1, np.int64), np.empty(len(index) + 1, np.int64)
    lefts[0], rights[0] = 0, len(index) - 1
    n_ranges = 1
    while n_ranges > 0:
        n_ranges -= 1
        left, right = lefts[n_ranges], rights[n_ranges]
        if right - left == 1:
            swap_if_greater(value, index, left, right)
        elif right - left == 2:
            swap_if_greater(value, index, left, left + 1)
            swap_if_greater(value, index, left, right)
            swap_if_greater(value, index, left + 1, right)
        elif right - left > 2:
            middle = partition(value, index, left, right)
            lefts[n_ranges], rights[n_ranges] = left, middle - 1
            lefts[n_ranges + 1], rights[n_ranges + 1] = middle + 1, right
            n_ranges += 2


@entry
def sort_column(column: In(float64, 1), times: int, order: Out(int64, 1)):
    """Fill the row order after sorting a column ``times`` times; missing values come last."""
    value = np.empty(len(order))
    index = np.empty(len(order), dtype=np.int64)
    moved = np.empty(len(order), dtype=np.int64)
    for i in range(len(order)):
        order[i] = i
    for _ in range(times):
        for i in range(len(order)):
            v = column[order[i]]
            value[i] = np.inf if np.isnan(v) else v
            index[i] = i
        quicksort(value, index)
        for i in range(len(order)):
            moved[i] = order[index[i]]
        for i in range(len(order)):
            order[i] = moved[i]
