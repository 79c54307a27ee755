"""What the compiled functions that grow trees need to know."""

from typing import NamedTuple

import numpy as np

from keeptree._compiled import j48
from keeptree._compiled.grow_search import Columns, code_cells

CRITERIA = {
    "gain-ratio": j48.GAIN_RATIO,
    "information-gain": j48.INFORMATION_GAIN,
    "gini": j48.GINI,
}
NOMINAL_TESTS = {
    "multiway": j48.MULTIWAY,
    "one-against-rest": j48.ONE_AGAINST_REST,
    "subsets": j48.SUBSETS,
}


class GrowOptions(NamedTuple):
    """How to grow; the names are keys of the tables above."""

    criterion: str = "gain-ratio"
    nominal_test: str = "multiway"
    min_leaf: int = 2
    max_depth: int | None = None
    mdl: bool = True

    @property
    def deepest(self):
        """Depth at which a node is a leaf in any case."""
        return np.iinfo(np.int64).max if self.max_depth is None else self.max_depth

    @property
    def criterion_code(self):
        """The criterion as the compiled functions take it."""
        return CRITERIA[self.criterion]

    @property
    def nominal_code(self):
        """The kind of nominal test as the compiled functions take it."""
        return NOMINAL_TESTS[self.nominal_test]


def table_of_terms(n, gini=False):
    """Return x log2(x), or x^2, of 0 to n."""
    numbers = np.arange(n + 1.0)
    return numbers**2 if gini else numbers * np.log2(np.maximum(numbers, 1))


def number_columns(n_categories):
    """Return (which columns are numeric, position of each among those of its kind)."""
    numeric = np.asarray(n_categories) == 0
    slot = np.where(numeric, np.cumsum(numeric), np.cumsum(~numeric)) - 1
    return numeric, slot.astype(np.int64)


def encode_columns(columns, label, n_categories, n_classes):
    """Return the training table as the compiled functions take it.

    Parameters
    ----------
    columns : array of shape (d, n)
        Nominal columns hold codes; NaN is missing.
    label : array of shape (n,)
        Class codes.
    n_categories : array of shape (d,), int64
        0 for a numeric column.
    n_classes : int
        Number of classes.
    """
    numeric, slot = number_columns(n_categories)
    value = columns if numeric.all() else np.ascontiguousarray(columns[numeric])
    cell = np.empty((np.count_nonzero(~numeric), len(label)), dtype=np.int32)
    code_cells(columns, np.flatnonzero(~numeric), label, n_classes, cell)
    return Columns(np.ascontiguousarray(label), value, cell, slot, n_categories)
