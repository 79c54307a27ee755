"""Grow the Shape of a tree from an encoded table and set its thresholds."""

import numpy as np

from keeptree._compiled.grow_numeric import (
    Grown,
    NumericOptions,
    fill_keys,
    grow_numeric,
    pack_values,
)
from keeptree._compiled.j48 import SMALL, read_upward
from keeptree.learners.grow_mixed import MixedGrower
from keeptree.learners.grow_options import table_of_terms
from keeptree.learners.shape import binary_shape

# Largest number of nodes x classes for which the numeric function allocates arrays.
LARGEST_TABLE = 2**28


def grow(X, label, weight, n_categories, n_classes, options, n_all=None):
    """Grow a tree without pruning it; thresholds are midpoints.

    Parameters
    ----------
    X : array of shape (n, d), float64
        Nominal columns hold codes; NaN is missing.
    label : array of shape (n,), int64
        Class codes.
    weight : array of shape (n,) or None
        Weights; None for ones.
    n_categories : sequence of d int
        Number of categories of each column; 0 for a numeric column.
    n_classes : int
        Number of classes, including those without rows.
    options : GrowOptions
        Options for growing.
    n_all : int, optional
        Number of rows of the whole training set, if X is a part of it (for J48's rule about many
        categories).

    Returns
    -------
    shape : Shape
        The grown tree.
    """
    bits = _key_bits(len(X), n_classes)
    plain = weight is None and not any(n_categories) and not np.isnan(X).any()
    plain = plain and options.criterion != "misclassification"
    fits = bits is not None and 2 * len(X) // options.min_leaf * n_classes < LARGEST_TABLE
    if plain and fits:
        return _grow_numeric(np.ascontiguousarray(X.T), label, n_classes, bits, options)
    return grow_mixed(X, label, weight, n_categories, n_classes, options, n_all)


def grow_mixed(X, label, weight, n_categories, n_classes, options, n_all=None):
    """Grow the same tree as :func:`grow`, with the functions that also handle nominal columns."""
    columns = np.ascontiguousarray(X.T)
    n_categories = np.array(n_categories, dtype=np.int64)
    weight = np.ones(len(X)) if weight is None else np.ascontiguousarray(weight)
    averaged = _averaged(n_categories, len(X) if n_all is None else n_all)
    return MixedGrower(columns, label, weight, n_categories, averaged, n_classes, options).grow()


def _key_bits(n_rows, n_classes):
    """Return the bits of row and class in a sort key, or None if a key needs more than 64."""
    row_bits, class_bits = max(n_rows - 1, 1).bit_length(), max(n_classes - 1, 1).bit_length()
    group_bits = (2 * n_rows).bit_length()
    return (row_bits, class_bits) if group_bits + row_bits + class_bits <= 64 else None


def _grow_numeric(columns, label, n_classes, bits, options):
    keys = np.empty(columns.shape, dtype=np.uint64)
    for column, key in zip(columns, keys, strict=True):
        pack_values(column.view(np.uint64), bits[0], key)
        key.sort()
        if not fill_keys(column, label, *bits, key):
            key[:] = np.argsort(column)
            fill_keys(column, label, *bits, key)
    grown = _room_for_nodes(len(label), n_classes, options.min_leaf)
    grown.counts[0] = np.bincount(label, minlength=n_classes)
    compiled_options = NumericOptions(
        min_leaf=options.min_leaf,
        max_depth=options.deepest,
        criterion=options.criterion_code,
        mdl=bool(options.mdl),
        table=table_of_terms(len(label), options.criterion == "gini"),
    )
    n_nodes = grow_numeric(keys, columns, *bits, compiled_options, grown)
    feature, threshold, first_child, counts, _ = (array[:n_nodes].copy() for array in grown)
    return binary_shape(feature, threshold, first_child, counts.astype(np.float64))


def _room_for_nodes(n_rows, n_classes, min_leaf):
    """Allocate arrays for the largest possible tree; unused pages take no memory."""
    size = 2 * max(n_rows // min_leaf, 1)
    return Grown(
        feature=np.empty(size, dtype=np.int32),
        threshold=np.empty(size),
        first_child=np.empty(size, dtype=np.int32),
        counts=np.empty((size, n_classes), dtype=np.int64),
        span=np.empty((size, 3), dtype=np.int64),
    )


def _averaged(n_categories, n_all):
    """Return a mask of the columns in the mean gain, without those with very many categories.

    This is J48's rule.
    """
    many = (n_categories > 0) & ~(0.3 * n_all - n_categories > SMALL)
    return np.ones_like(many) if many.all() else ~many


def snap_thresholds(shape, X, tolerant=False):
    """Replace each midpoint, in place, by the largest column value that does not exceed it.

    Parameters
    ----------
    shape : Shape
        A grown tree.
    X : array of shape (n, d)
        The whole training set.
    tolerant : bool
        Whether to behave like Weka 3.6, which reads the rows in order and takes a value that is
        1e-6 larger than the current one and at most 1e-6 above the midpoint.
    """
    numeric = (shape.n_children > 0) & (shape.category_start < 0)
    for f in np.unique(shape.feature[numeric]):
        nodes = np.flatnonzero(numeric & (shape.feature == f))
        snap = _snap_tolerantly if tolerant else _snap_exactly
        shape.threshold[nodes] = snap(shape.threshold[nodes], X[:, f])


def _snap_exactly(middle, column):
    values = np.sort(column)  # NaN sorts last, above every midpoint
    return values[np.searchsorted(values, middle, side="right") - 1]


def _snap_tolerantly(middle, column):
    values = np.unique(column[~np.isnan(column)])
    # If no other value lies within 1e-6 below the largest, the order of the rows does not matter.
    alone = np.diff(values, prepend=-np.inf) > SMALL
    snapped = np.empty_like(middle)
    for i, t in enumerate(middle):
        last = np.searchsorted(values, t + 2 * SMALL) - 1
        while not (values[last] <= t or values[last] - t < SMALL):
            last -= 1
        snapped[i] = values[last] if alone[last] else read_upward(column, values[last])
    return snapped
