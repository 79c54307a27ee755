"""Impurity of sets of weighted cases: entropy in bits, the Gini index, or misclassification.

The first two are sums over the classes of x log2(x) or of x^2; ``table`` holds x log2(x) of whole
numbers. The third is the weight outside the largest class, see :func:`largest`.
"""

import numpy as np
from numpy import int64

from keeptree._compiled.declare import inner
from keeptree._compiled.j48 import SMALL


@inner
def entropy_term(count, table):
    """Return count x log2(count), from the table if the count is a whole number."""
    if count < SMALL:
        return 0.0
    whole = int64(count)
    if whole == count and whole < len(table):
        return table[whole]
    return count * np.log2(count)


@inner
def term(count, gini, table):
    """Return count^2, or count x log2(count)."""
    return count * count if gini else entropy_term(count, table)


@inner
def impurity(total, terms, gini, table):
    """Return weight x impurity of a set; ``terms`` is the sum of :func:`term` over its classes."""
    if gini:
        return total - terms / total if total > SMALL else 0.0
    return entropy_term(total, table) - terms


@inner
def largest(weights, first, n):
    """Return the largest of the n class weights from ``first`` on."""
    found = weights[first]
    for c in range(first + 1, first + n):
        found = max(found, weights[c])
    return found


@inner
def scaled_gain(difference, known, total):
    """Return the gain per unit of weight; rows without a value contribute no gain."""
    product = known / total * difference
    return 0.0 if abs(product) < SMALL else product / known


@inner
def gain_ratio(gain, branch_terms, branches_total, total, table):
    """Return gain divided by split information; rows without a value form one more branch."""
    info = entropy_term(total, table) - branch_terms
    info -= entropy_term(total - branches_total, table)
    return 0.0 if abs(info) < SMALL else gain / (info / total)
