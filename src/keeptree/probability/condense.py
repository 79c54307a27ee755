"""Replace many cases by few landmarks: cells of nearby cases of the same class."""

import numpy as np

from keeptree._compiled.divide_cells import divide_cells
from keeptree._compiled.landmarks import nearest_landmark
from keeptree.data.copies import equal_rows

_MOVES = 3  # number of k-means iterations after the division


def condense(points, y, n_classes, most):
    """Divide the cases of each class into cells of similar cases, at most ``most`` in all.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Coordinates; NaN where missing.
    y : ndarray of shape (n,)
        Class codes.
    n_classes, most : int
        Number of classes, and maximum number of cells.

    Returns
    -------
    member : ndarray of shape (n,)
        Cell of each case; the cells of the first class come first.
    n_of_class : ndarray of shape (n_classes,)
        Number of cells of each class.

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
        # Equal cases share a cell, so there may be fewer cells.
        n_of_class[c] = cell.max(initial=-1) + 1
        first += n_of_class[c]
    return member, n_of_class


def _quotas(n_of_class, most):
    """Return the number of landmarks per class: all cases of a small class, else by class size."""
    if n_of_class.sum() <= most:
        return n_of_class
    present = np.count_nonzero(n_of_class)
    floor = np.minimum(n_of_class, max(most // (2 * present), 1))
    rest = n_of_class - floor
    return floor + rest * max(most - floor.sum(), 0) // max(rest.sum(), 1)


def _cells(points, n_cells):
    """Return the cell of each point: divide until there are enough cells, then run k-means."""
    if n_cells == len(points):
        return equal_rows(points)
    cell = np.empty(len(points), dtype=np.int64)
    divide_cells(np.ascontiguousarray(points), n_cells, cell)
    places = padded(np.nan_to_num(points))
    for _ in range(_MOVES):
        cell = _move(places, cell)
    return cell


def _move(places, cell):
    """Move each point to the cell with the nearest centre; drop the cells that become empty."""
    means, _ = centres(places, np.ones(len(places)), cell, cell.max() + 1)
    nearest = np.empty_like(cell)
    nearest_landmark(places, means.astype(np.float32), nearest)
    return np.unique(nearest, return_inverse=True)[1]


def centres(points, weight, member, n_cells):
    """Return the weighted mean of each cell, ignoring missing values, and its weight."""
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
    """Return the array in float32, padded with zero columns to a multiple of four."""
    return np.pad(points.astype(np.float32), ((0, 0), (0, -points.shape[1] % 4)))
