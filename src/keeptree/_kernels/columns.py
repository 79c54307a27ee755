"""Spread of the columns of a matrix: weight, range, mean and standard deviation of known values."""

import numpy as np
from numba import float64, void

from keeptree._kernels.jit import kernel, readonly


@kernel(void(readonly(float64, 2), readonly(float64, 1), float64[:, ::1]))
def spread_columns(X, weight, spread):
    """Fill the rows of ``spread``: weight, least, largest, mean and standard deviation.

    Missing values do not count, nor rows of weight 0; an empty ``weight`` is ones. Values are
    divided by the largest of their column before they are summed: squares could overflow.
    """
    n, d = X.shape
    unit, total, squares = np.ones(d), np.zeros(d), np.zeros(d)
    spread[0, :], spread[1, :], spread[2, :] = 0.0, np.inf, -np.inf
    for i in range(n):
        w = weight[i] if len(weight) else 1.0
        if w == 0.0:
            continue
        for j in range(d):
            value = X[i, j]
            spread[0, j] += w if value == value else 0.0
            spread[1, j] = value if value < spread[1, j] else spread[1, j]
            spread[2, j] = value if value > spread[2, j] else spread[2, j]
    for j in range(d):
        largest = max(abs(spread[1, j]), abs(spread[2, j]))
        if largest > 0.0 and largest < np.inf:
            unit[j] = largest
    for i in range(n):
        w = weight[i] if len(weight) else 1.0
        if w == 0.0:
            continue
        for j in range(d):
            value = X[i, j] / unit[j]
            total[j] += w * value if value == value else 0.0
    for j in range(d):
        total[j] = total[j] / spread[0, j] if spread[0, j] > 0.0 else 0.0
    for i in range(n):
        w = weight[i] if len(weight) else 1.0
        if w == 0.0:
            continue
        for j in range(d):
            value = X[i, j] / unit[j] - total[j]
            squares[j] += w * value * value if value == value else 0.0
    for j in range(d):
        spread[3, j] = total[j] * unit[j]
        known = spread[0, j] > 0.0
        spread[4, j] = np.sqrt(squares[j] / spread[0, j]) * unit[j] if known else 0.0
