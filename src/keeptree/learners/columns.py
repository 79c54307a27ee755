"""Encode the training table for the compiled growing functions."""

import numpy as np

from keeptree._compiled.entries import Entries
from keeptree._compiled.grow_search import Columns, code_cells


def number_columns(n_categories):
    """Return the numeric mask and the index of each column among those of its kind."""
    numeric = np.asarray(n_categories) == 0
    slot = np.where(numeric, np.cumsum(numeric), np.cumsum(~numeric)) - 1
    return numeric, slot.astype(np.int64)


def encode_columns(columns, label, n_categories, n_classes):
    """Encode the training table for the compiled functions.

    Parameters
    ----------
    columns : array of shape (d, n)
        Nominal columns hold codes; NaN is missing.
    label : array of shape (n,)
        Class codes.
    n_categories : array of shape (d,), int64
        Number of categories of each column; 0 for a numeric column.
    n_classes : int
        Number of classes.
    """
    numeric, slot = number_columns(n_categories)
    value = columns if numeric.all() else np.ascontiguousarray(columns[numeric])
    cell = np.empty((np.count_nonzero(~numeric), len(label)), dtype=np.int32)
    code_cells(columns, np.flatnonzero(~numeric), label, n_classes, cell)
    return Columns(np.ascontiguousarray(label), value, cell, slot, n_categories)


def sort_entries(value, weight):
    """Return the sorted entries of the root, and the number of known values per numeric column.

    Parameters
    ----------
    value : array of shape (numeric columns, n)
        Values; NaN is missing.
    weight : array of shape (n,)
        Weights.
    """
    order = np.argsort(value, axis=1, kind="stable").astype(np.int32)  # NaN sorts last
    known = np.count_nonzero(~np.isnan(value), axis=1)[None].astype(np.int32)
    return Entries(np.arange(len(weight), dtype=np.int32), weight, order), known
