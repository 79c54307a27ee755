"""Rules of Weka's J48 that several compiled files share, and its tolerances."""

import numpy as np
from numpy import float64, int64

from keeptree._compiled.declare import In, Out, entry, inner

SMALL = 1e-6  # J48's tolerance
NEVER_CUT = 1e-5  # neighbouring values closer than this are not separated
GAIN_RATIO, INFORMATION_GAIN, GINI, ERRORS = 0, 1, 2, 3  # criteria
MULTIWAY, ONE_AGAINST_REST, SUBSETS = 0, 1, 2  # nominal tests


@inner
def may_split(counts, node, min_leaf):
    """Return whether a node with the class weights in row ``node`` is heavy enough and not pure."""
    total, largest = 0.0, 0.0
    for c in range(counts.shape[1]):
        total += counts[node, c]
        largest = max(largest, counts[node, c])
    return 2 * min_leaf - total <= SMALL and abs(total - largest) >= SMALL


@inner
def least_side(known, n_classes, min_leaf):
    """Return the smallest weight allowed on one side of a numeric cut."""
    side = 0.1 * known / n_classes
    if side - min_leaf < SMALL:
        return float64(min_leaf)
    return 25.0 if side - 25.0 > SMALL else side


@inner
def choose_column(gain, ratio, averaged):
    """Return the column with the largest ratio among those of at least average gain; -1 for none.

    The gain of a column without a valid test is minus infinity. ``averaged`` marks the columns
    that enter the average.
    """
    total, n_valid = 0.0, 0
    for f in range(len(gain)):
        if averaged[f] and gain[f] > -np.inf:
            total += gain[f]
            n_valid += 1
    best, chosen = 0.0, int64(-1)
    if n_valid > 0:
        for f in range(len(gain)):
            if gain[f] >= total / n_valid - 1e-3 and ratio[f] - best > SMALL:
                best, chosen = ratio[f], int64(f)
    return chosen


@inner
def group_labels(label, order):
    """Reorder ``order`` in place so that equal labels are together, with the same swaps as Weka.

    The swaps change the order of the rows behind a group.
    """
    i = 1
    while i < len(order):
        wanted = label[order[i - 1]]
        for j in range(i, len(order)):
            if label[order[j]] == wanted:
                order[i], order[j] = order[j], order[i]
                i += 1
        i += 1


@entry
def group_by_class(label: In(int64, 1), order: Out(int64, 1)):
    """Reorder ``order`` in place so that equal labels are together; see :func:`group_labels`."""
    group_labels(label, order)


@entry
def read_upward(column: In(float64, 1), largest: float):
    """Return Weka 3.6's threshold: scan the rows and keep each value over 1e-6 above the last kept.

    Values above ``largest`` are skipped.
    """
    held = -np.inf
    for i in range(len(column)):
        if column[i] <= largest and column[i] - held > SMALL:
            held = column[i]
    return held
