"""From a coded table to the Shape of a regression tree, and its pruning by rows held out."""

from typing import NamedTuple

import numpy as np

from keeptree.learners.prune import count_shape
from keeptree.learners.shape import Shape


class SquaresOptions(NamedTuple):
    """When a node is divided."""

    min_leaf: float = 5
    min_split: float = 10
    epsilon: float = 0.0
    max_depth: int | None = None


class GrownSquares(NamedTuple):
    """A grown tree: its shape, whose counts are the weights, and the targets in every node."""

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
        0 for a numeric column.
    options : SquaresOptions
        When a node is divided.

    Returns
    -------
    grown : GrownSquares
    """
    from keeptree._compiled import grow_squares as kernels

    n_categories = np.array(n_categories, dtype=np.int64)
    numeric = n_categories == 0
    slot = np.where(numeric, np.cumsum(numeric), np.cumsum(~numeric)) - 1
    exponent = int(np.frexp(np.abs(y).max())[1])  # a power of two scales without rounding
    deepest = np.iinfo(np.int64).max if options.max_depth is None else options.max_depth
    tests, numbers, categories, n_nodes, n_mapped = kernels.grow_squares(
        np.ldexp(y, -exponent),
        np.ones(len(y)) if weight is None else np.ascontiguousarray(weight),
        *_sorted_keys(X, np.flatnonzero(numeric)),
        np.ascontiguousarray(np.nan_to_num(X.T[~numeric], nan=-1), dtype=np.int32),
        slot.astype(np.int64),
        n_categories,
        float(options.min_leaf),
        float(options.min_split),
        float(np.ldexp(options.epsilon, -2 * exponent)),
        deepest,
    )
    feature, first_child, category_start = np.ascontiguousarray(tests[:n_nodes].T)
    threshold, held, mean, variance = np.ascontiguousarray(numbers[:n_nodes].T)
    shape = Shape(
        feature=feature,
        threshold=threshold,
        first_child=first_child,
        n_children=np.where(feature >= 0, 2, 0).astype(np.int32),
        category_start=category_start,
        category_child=categories[:n_mapped, 0].copy(),
        missing=np.full(n_nodes, -1, dtype=np.int32),
        counts=held[:, None].copy(),
    )
    with np.errstate(over="ignore"):
        variance = np.minimum(np.ldexp(variance, 2 * exponent), np.finfo(float).max)
    return GrownSquares(shape, np.ldexp(mean, exponent), variance)


def _sorted_keys(X, columns):
    """Keys of the kernel (rank of the value | row), how many have a value, and the values."""
    key = np.empty((len(columns), len(X)), dtype=np.uint64)
    known = np.empty(len(columns), dtype=np.int64)
    levels = []
    for s, f in enumerate(columns):
        column = np.ascontiguousarray(X[:, f])
        order = np.argsort(column)  # NaN come last
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
    """Make a leaf, in place, wherever rows the tree was not grown on are not predicted worse.

    Reduced-error pruning with squared errors in place of errors.
    """
    from keeptree._compiled.prune_counts import prune_reduced_error

    shape, held = grown.shape, grown.shape.counts[:, 0].copy()
    weight = np.ones(len(y)) if weight is None else weight
    # In units of the spread, as squares overflow.
    values = np.concatenate([y, grown.mean])
    middle = values.min() / 2 + values.max() / 2
    scale = np.abs(values - middle).max() or 1.0
    y, mean = (y - middle) / scale, (grown.mean - middle) / scale
    label = np.zeros(len(y), dtype=np.int64)
    moments = [count_shape(shape, X, label, weight * y**power, held)[:, 0] for power in range(3)]
    squares = moments[2] - 2 * mean * moments[1] + mean**2 * moments[0]
    errors = np.zeros((len(mean), 2))  # class 0 is right, so column 1 has the errors of a leaf
    # The kernel counts differences below 1e-6 as none; they should be those of rounding only.
    errors[:, 1] = np.maximum(squares, 0) / weight.sum() * 1e8
    prune_reduced_error(
        shape.first_child,
        shape.n_children,
        errors,
        held,
        np.zeros(len(mean), dtype=np.int32),
        np.empty(len(mean)),
    )
