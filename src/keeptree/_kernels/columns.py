"""Spread of the columns of a matrix, block of rows after block: range, sums and squares.

Missing values do not count, nor do rows of weight 0. The loops run along the rows, where the
numbers lie one after the other, so the compiler vectorises over the columns.
"""

from numba import float64, void

from keeptree._kernels.jit import kernel, readonly

_rows, _numbers = readonly(float64, 2, "C"), readonly(float64, 1, "C")


@kernel(void(_rows, _numbers, float64[::1], float64[::1], float64[::1]))
def add_range(X, weight, known, least, largest):
    """Add the rows to the weight of the known values, the least and the largest of each column."""
    for i in range(len(X)):
        w = weight[i]
        if w == 0.0:
            continue
        for j in range(X.shape[1]):
            value = X[i, j]
            known[j] += w if value == value else 0.0
            least[j] = value if value < least[j] else least[j]
            largest[j] = value if value > largest[j] else largest[j]


@kernel(void(_rows, _numbers, _numbers, float64[::1]))
def add_sum(X, weight, factor, total):
    """Add the weighted values times ``factor`` to the total of each column."""
    for i in range(len(X)):
        w = weight[i]
        if w == 0.0:
            continue
        for j in range(X.shape[1]):
            value = w * (X[i, j] * factor[j])
            total[j] += value if value == value else 0.0


@kernel(void(_rows, _numbers, _numbers, _numbers, float64[::1]))
def add_squares(X, weight, factor, mean, squares):
    """Add the weighted squares of the values times ``factor``, less their mean."""
    for i in range(len(X)):
        w = weight[i]
        if w == 0.0:
            continue
        for j in range(X.shape[1]):
            value = X[i, j] * factor[j] - mean[j]
            value *= w * value
            squares[j] += value if value == value else 0.0
