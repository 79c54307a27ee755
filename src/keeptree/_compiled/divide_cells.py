"""Divide points into cells: again and again, the cell with the largest sum of squares is halved."""

import numpy as np
from numpy import float64, int64

from keeptree._compiled.declare import In, Out, entry, inner


@inner
def _widest(points, rows, mean, squares):
    """Return the sum of squares of the points, their widest coordinate and where to divide it.

    Missing values do not count. The sum is 0 if all points are equal; they cannot be divided.
    """
    known = np.zeros(len(mean), int64)
    mean[:] = 0.0
    squares[:] = 0.0
    for row in rows:
        for k in range(len(mean)):
            value = points[row, k]
            if value == value:
                mean[k] += value
                known[k] += 1
    for k in range(len(mean)):
        mean[k] /= max(known[k], 1)
    for row in rows:
        for k in range(len(mean)):
            gap = points[row, k] - mean[k]
            squares[k] += gap * gap if gap == gap else 0.0
    column = int64(np.argmax(squares)) if len(squares) else 0
    if len(squares) == 0 or squares[column] == 0.0:
        return 0.0, 0, 0.0
    low, high = np.inf, -np.inf
    for row in rows:
        value = points[row, column]
        low = value if value < low else low
        high = value if value > high else high
    if not low < high:
        return 0.0, 0, 0.0
    # If rounding moves the mean to the largest value, no point lies above it.
    return squares.sum(), column, mean[column] if mean[column] < high else low


@entry
def divide_cells(points: In(float64, 2, "C"), most: int, cell: Out(int64, 1)):
    """Fill ``cell`` with the number of the cell of each point, at most ``most`` cells.

    A cell is divided at the mean of its widest coordinate; points without a value there stay with
    the smaller values.
    """
    n, width = points.shape
    rows, above = np.arange(n), np.empty(n, int64)  # rows of cell c: rows[start[c]:end[c]]
    mean, squares = np.empty(width), np.empty(width)
    start, end = np.zeros(most, int64), np.zeros(most, int64)
    size, column, place = np.zeros(most), np.zeros(most, int64), np.zeros(most)
    end[0] = n
    size[0], column[0], place[0] = _widest(points, rows, mean, squares)
    n_cells = 1
    while n_cells < most:
        widest = np.argmax(size[:n_cells])
        if size[widest] == 0.0:
            break
        k, at, below, n_above = column[widest], place[widest], start[widest], 0
        for i in range(start[widest], end[widest]):
            row = rows[i]
            if points[row, k] > at:
                above[n_above] = row
                n_above += 1
            else:
                rows[below] = row
                below += 1
        rows[below : below + n_above] = above[:n_above]
        start[n_cells], end[n_cells], end[widest] = below, end[widest], below
        for c in (widest, n_cells):
            part = rows[start[c] : end[c]]
            size[c], column[c], place[c] = _widest(points, part, mean, squares)
        n_cells += 1
    for c in range(n_cells):
        cell[rows[start[c] : end[c]]] = c
