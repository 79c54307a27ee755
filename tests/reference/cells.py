"""Division of points into cells with NumPy, one cell at a time."""

import numpy as np


def divide(points, most):
    """Return the cell of each point."""
    cells = [np.arange(len(points))]
    while len(cells) < most:
        widest = [_widest(points[cell]) for cell in cells]
        number = int(np.argmax([size for size, _, _ in widest]))
        size, column, at = widest[number]
        if size == 0:
            break
        part = cells[number]
        above = points[part, column] > at
        cells[number] = part[~above]
        cells.append(part[above])
    cell = np.empty(len(points), dtype=np.int64)
    for number, part in enumerate(cells):
        cell[part] = number
    return cell


def _widest(points):
    """Return the sum of squares, the widest coordinate and its mean; 0 if all points are equal."""
    known = ~np.isnan(points)
    mean = np.where(known, points, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    squares = (np.where(known, points - mean, 0.0) ** 2).sum(axis=0)
    column = int(np.argmax(squares))
    values = points[known[:, column], column]
    if not len(values) or values.min() == values.max():
        return 0.0, 0, 0.0
    at = mean[column] if mean[column] < values.max() else values.min()
    return float(squares.sum()), column, at
