"""Compute the range, sums and squares of the columns of a matrix, block by block.

Missing values and rows of weight 0 do not count. The loops run along the rows, which are contiguous
in memory, so the compiler vectorises over the columns.
"""

from numpy import float64

from keeptree._compiled.declare import In, Out, entry


@entry
def add_range(
    X: In(float64, 2, "C"),
    weight: In(float64, 1, "C"),
    known: Out(float64, 1),
    least: Out(float64, 1),
    largest: Out(float64, 1),
):
    """Update the weight of the known values, the minimum and the maximum of each column."""
    for i in range(len(X)):
        w = weight[i]
        if w == 0.0:
            continue
        for j in range(X.shape[1]):
            value = X[i, j]
            known[j] += w if value == value else 0.0
            least[j] = value if value < least[j] else least[j]
            largest[j] = value if value > largest[j] else largest[j]


@entry
def add_sum(
    X: In(float64, 2, "C"),
    weight: In(float64, 1, "C"),
    factor: In(float64, 1, "C"),
    total: Out(float64, 1),
):
    """Add the weighted values, multiplied by ``factor``, to the total of each column."""
    for i in range(len(X)):
        w = weight[i]
        if w == 0.0:
            continue
        for j in range(X.shape[1]):
            value = w * (X[i, j] * factor[j])
            total[j] += value if value == value else 0.0


@entry
def add_squares(
    X: In(float64, 2, "C"),
    weight: In(float64, 1, "C"),
    factor: In(float64, 1, "C"),
    mean: In(float64, 1, "C"),
    squares: Out(float64, 1),
):
    """Add the weighted squared deviations of the values, times ``factor``, from their mean."""
    for i in range(len(X)):
        w = weight[i]
        if w == 0.0:
            continue
        for j in range(X.shape[1]):
            value = X[i, j] * factor[j] - mean[j]
            value *= w * value
            squares[j] += value if value == value else 0.0
