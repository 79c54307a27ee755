"""Few landmarks for many cases: cells of cases of one class that lie close together."""

import heapq

import numpy as np

from keeptree._compiled.landmarks import nearest_landmark
from keeptree.data.copies import equal_rows

_MOVES = 3  # of k-means, after the division


def condense(points, y, n_classes, most):
    """Divide the cases of each class into cells of like ones, at most ``most`` in all.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Coordinates; NaN where missing.
    y : ndarray of shape (n,)
        Class codes.
    n_classes, most : int
        Number of classes and of cells.

    Returns
    -------
    member : ndarray of shape (n,)
        Cell of each case; the cells of the first class come first.
    n_of_class : ndarray of shape (n_classes,)
        Cells of each class.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1], [0.0]])
    >>> member, n_of_class = condense(points, np.array([0, 0, 0, 0, 1]), n_classes=2, most=3)
    >>> member.tolist(), n_of_class.tolist()
    ([0, 0, 1, 1, 2], [2, 1])
    """
    n_of_class = _quotas(np.bincount(y, minlength=n_classes), most)
    member = np.empty(len(y), dtype=np.int64)
    first = 0
    for c in range(n_classes):
        rows = np.flatnonzero(y == c)
        cell = _cells(points[rows], n_of_class[c])
        member[rows] = first + cell
        n_of_class[c] = cell.max(initial=-1) + 1  # fewer if cases are equal
        first += n_of_class[c]
    return member, n_of_class


def _quotas(n_of_class, most):
    """Landmarks of each class: all cases if they are few, else by size, a small class more."""
    if n_of_class.sum() <= most:
        return n_of_class
    present = np.count_nonzero(n_of_class)
    floor = np.minimum(n_of_class, max(most // (2 * present), 1))
    rest = n_of_class - floor
    return floor + rest * max(most - floor.sum(), 0) // max(rest.sum(), 1)


def _cells(points, n_cells):
    """Cell of each point: cells divided until they are enough, then the moves of k-means."""
    if n_cells == len(points):
        return equal_rows(points)
    cell = _divide(points, n_cells)
    places = padded(np.nan_to_num(points))
    for _ in range(_MOVES):
        cell = _move(places, cell)
    return cell


def _divide(points, n_cells):
    """Divide the cell of the largest sum of squares, across its widest coordinate, repeatedly."""
    cells, heap = [np.arange(len(points))], [(*_widest(points), 0)]
    while len(cells) < n_cells and heap[0][0] < 0:
        _, column, at, number = heapq.heappop(heap)
        part = cells[number]
        above = points[part, column] > at  # a missing value stays with the smaller ones
        cells[number] = part[~above]
        cells.append(part[above])
        for new in (number, len(cells) - 1):
            heapq.heappush(heap, (*_widest(points[cells[new]]), new))
    cell = np.empty(len(points), dtype=np.int64)
    for number, part in enumerate(cells):
        cell[part] = number
    return cell


def _move(places, cell):
    """Each point moves to the cell with the nearest centre; a cell that is left by all vanishes."""
    means, _ = centres(places, np.ones(len(places)), cell, cell.max() + 1)
    nearest = np.empty_like(cell)
    nearest_landmark(places, means.astype(np.float32), nearest)
    return np.unique(nearest, return_inverse=True)[1]


def _widest(points):
    """Minus the sum of squares of a cell, its widest coordinate and where to divide it.

    The sum is 0 for equal cases, which cannot be divided.
    """
    if points.shape[1] == 0:
        return 0.0, 0, 0.0
    if np.isnan(points).any():
        known = ~np.isnan(points)
        mean = np.where(known, points, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        squares = (np.where(known, points - mean, 0.0) ** 2).sum(axis=0)
    else:
        mean = points.sum(axis=0) / len(points)
        squares = ((points - mean) ** 2).sum(axis=0)
    column = int(np.argmax(squares))
    if squares[column] == 0:
        return 0.0, 0, 0.0
    low, high = np.fmin.reduce(points[:, column]), np.fmax.reduce(points[:, column])
    if not low < high:
        return 0.0, 0, 0.0
    # Rounding may put the mean on the largest value; then nothing would lie above it.
    return -float(squares.sum()), column, float(mean[column] if mean[column] < high else low)


def centres(points, weight, member, n_cells):
    """Weighted mean of the known values of each cell, and its weight."""
    mass = np.bincount(member, weight, minlength=n_cells)
    centres = np.empty((n_cells, points.shape[1]))
    for k in range(points.shape[1]):
        known = ~np.isnan(points[:, k])
        part, at = weight[known], member[known]
        size = np.bincount(at, part, minlength=n_cells)
        total = np.bincount(at, part * points[known, k], minlength=n_cells)
        with np.errstate(invalid="ignore"):
            centres[:, k] = total / size
    return centres, mass


def padded(points):
    """In float32, with columns of zeros up to a multiple of four, which are read at once."""
    return np.pad(points.astype(np.float32), ((0, 0), (0, -points.shape[1] % 4)))
