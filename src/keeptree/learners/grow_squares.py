"""Grow the Shape of a regression tree and prune it with held-out rows."""

from typing import NamedTuple

import numpy as np

from keeptree._compiled import grow_squares as compiled
from keeptree._compiled.prune_counts import prune_reduced_error
from keeptree._compiled.shape import Shape
from keeptree.learners.columns import number_columns
from keeptree.learners.prune import count_shape
from keeptree.learners.shape import binary_shape


class GrownSquares(NamedTuple):
    """A grown tree: its shape, whose counts are weights, and the targets of every node."""

    shape: Shape
    mean: np.ndarray
    variance: np.ndarray


def grow_squares(X, y, weight, n_categories, options):
    """Grow a regression tree; thresholds are midpoints.

    Parameters
    ----------
    X : array of shape (n, d), float64
        Nominal columns hold codes; NaN is missing.
    y : array of shape (n,), float64
        Targets.
    weight : array of shape (n,) or None
        Weights; None for ones.
    n_categories : sequence of d int
        Number of categories of each column; 0 for a numeric column.
    options : keeptree._compiled.grow_squares.SquaresOptions
        Conditions for splitting a node.

    Returns
    -------
    grown : GrownSquares
        The grown tree, with the targets of its nodes.
    """
    n_categories = np.array(n_categories, dtype=np.int64)
    numeric, slot = number_columns(n_categories)
    exponent = int(np.frexp(np.abs(y).max())[1])  # scaling by a power of two does not round
    tests, numbers, mapping, n_nodes, n_mapped = compiled.grow_squares(
        np.ldexp(y, -exponent),
        np.ones(len(y)) if weight is None else np.ascontiguousarray(weight),
        compiled.SortedColumns(
            *_sorted_keys(X, np.flatnonzero(numeric)),
            code=np.ascontiguousarray(np.nan_to_num(X.T[~numeric], nan=-1), dtype=np.int32),
            slot=slot,
            n_categories=n_categories,
        ),
        options._replace(epsilon=float(np.ldexp(options.epsilon, -2 * exponent))),
    )
    feature, first_child, category_start = np.ascontiguousarray(tests[:n_nodes].T)
    threshold, held, mean, variance = np.ascontiguousarray(numbers[:n_nodes].T)
    counts, branches = held[:, None].copy(), mapping[:n_mapped]
    shape = binary_shape(feature, threshold, first_child, counts, category_start, branches)
    with np.errstate(over="ignore"):
        variance = np.minimum(np.ldexp(variance, 2 * exponent), np.finfo(float).max)
    return GrownSquares(shape, np.ldexp(mean, exponent), variance)


def _sorted_keys(X, columns):
    """Return sort keys (rank of the value | row), counts of known values and distinct values."""
    key = np.empty((len(columns), len(X)), dtype=np.uint64)
    known = np.empty(len(columns), dtype=np.int64)
    levels = []
    for s, f in enumerate(columns):
        column = np.ascontiguousarray(X[:, f])
        order = np.argsort(column)  # NaN sorts last
        values = column[order]
        known[s] = len(values) - np.count_nonzero(np.isnan(values))
        new = np.empty(len(values), dtype=bool)
        new[0] = False
        np.not_equal(values[1:], values[:-1], out=new[1:])
        rank = np.cumsum(new, dtype=np.uint64)
        np.bitwise_or(rank << np.uint64(32), order.astype(np.uint64), out=key[s])
        new[0] = True
        levels.append(values[new])
    start = np.concatenate([[0], np.cumsum([len(values) for values in levels])]).astype(np.int64)
    return key, known, np.concatenate([np.empty(0), *levels]), start


def prune_squares(grown, X, y, weight):
    """Prune in place wherever a leaf predicts held-out rows as well as its subtree does.

    This is reduced-error pruning with squared errors.
    """
    shape, held = grown.shape, grown.shape.counts[:, 0].copy()
    weight = np.ones(len(y)) if weight is None else weight
    # Errors are in units of the spread, so that squares do not overflow.
    values = np.concatenate([y, grown.mean])
    middle = values.min() / 2 + values.max() / 2
    scale = np.abs(values - middle).max() or 1.0
    y, mean = (y - middle) / scale, (grown.mean - middle) / scale
    label = np.zeros(len(y), dtype=np.int64)
    moments = [count_shape(shape, X, label, weight * y**power, held)[:, 0] for power in range(3)]
    squares = moments[2] - 2 * mean * moments[1] + mean**2 * moments[0]
    # The pruning function counts errors by class: column 1 holds those of a leaf.
    errors = np.zeros((len(mean), 2))
    # The factor reduces J48's tolerance of 1e-6 to a relative tolerance of 1e-14.
    errors[:, 1] = np.maximum(squares, 0) / weight.sum() * 1e8
    label = np.zeros(len(mean), dtype=np.int32)
    prune_reduced_error(shape, errors, held, label)
