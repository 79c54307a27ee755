"""From a coded table to the Shape of a grown tree: which kernel grows it, and where it cuts."""

from typing import NamedTuple

import numpy as np

from keeptree.learners.shape import Shape

CRITERIA = {"gain-ratio": 0, "information-gain": 1, "gini": 2}
NOMINAL_TESTS = {"multiway": 0, "one-against-rest": 1, "subsets": 2}
SMALL = 1e-6  # J48's tolerance
LARGEST_TABLE = 2**28  # nodes x classes that the numeric kernel reserves at most


class GrowOptions(NamedTuple):
    """What the growing kernels need to know."""

    criterion: str = "gain-ratio"
    nominal_test: str = "multiway"
    min_leaf: int = 2
    max_depth: int | None = None
    mdl: bool = True

    @property
    def deepest(self):
        """Depth at which a node is a leaf in any case."""
        return np.iinfo(np.int64).max if self.max_depth is None else self.max_depth


def grow(X, label, weight, n_categories, n_classes, options, n_all=None, always_mixed=False):
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
        0 for a numeric column.
    n_classes : int
        Number of classes, those without rows included.
    options : GrowOptions
        How to grow.
    n_all : int, optional
        Rows of the whole training set, if X is a part of it (J48's rule for many categories).
    always_mixed : bool
        Use the general kernel even where the numeric one would do. For tests: both give one tree.

    Returns
    -------
    shape : Shape
    """
    columns = np.ascontiguousarray(X.T)
    n_categories = np.array(n_categories, dtype=np.int64)
    bits = _key_bits(len(X), n_classes)
    plain = weight is None and not n_categories.any() and not np.isnan(columns).any()
    fits = bits is not None and 2 * len(X) // options.min_leaf * n_classes < LARGEST_TABLE
    if plain and fits and not always_mixed:
        return _grow_numeric(columns, label, n_classes, bits, options)
    weight = np.ones(len(X)) if weight is None else np.ascontiguousarray(weight)
    averaged = _averaged(n_categories, len(X) if n_all is None else n_all)
    return _grow_mixed(columns, label, weight, n_categories, averaged, n_classes, options)


def _key_bits(n_rows, n_classes):
    """Bits of row and class in a key, or None if 64 do not hold group, row and class."""
    row_bits, class_bits = max(n_rows - 1, 1).bit_length(), max(n_classes - 1, 1).bit_length()
    group_bits = (2 * n_rows).bit_length()
    return (row_bits, class_bits) if group_bits + row_bits + class_bits <= 64 else None


def _table(n, gini=False):
    """Return x log2(x), or x^2, of 0 to n."""
    numbers = np.arange(n + 1.0)
    return numbers**2 if gini else numbers * np.log2(np.maximum(numbers, 1))


def _grow_numeric(columns, label, n_classes, bits, options):
    from keeptree._kernels.grow_numeric import fill_keys, grow_numeric

    keys = np.empty(columns.shape, dtype=np.uint64)
    for column, key in zip(columns, keys, strict=True):
        fill_keys(column, np.argsort(column), label, *bits, key)
    nodes = _room_for_nodes(len(label), n_classes, options.min_leaf)
    nodes[3][0] = np.bincount(label, minlength=n_classes)
    n_nodes = grow_numeric(
        keys,
        columns,
        *bits,
        options.min_leaf,
        options.deepest,
        CRITERIA[options.criterion],
        options.mdl,
        _table(len(label), options.criterion == "gini"),
        *nodes,
    )
    feature, threshold, first_child, counts, _ = (array[:n_nodes].copy() for array in nodes)
    return Shape(
        feature=feature,
        threshold=threshold,
        first_child=first_child,
        n_children=np.where(feature >= 0, 2, 0).astype(np.int32),
        category_start=np.full(n_nodes, -1, dtype=np.int32),
        category_child=np.empty(0, dtype=np.int32),
        missing=np.full(n_nodes, -1, dtype=np.int32),
        counts=counts.astype(np.float64),
    )


def _room_for_nodes(n_rows, n_classes, min_leaf):
    """Arrays for the largest possible tree; the system provides only the pages that are used."""
    size = 2 * max(n_rows // min_leaf, 1)
    return (
        np.empty(size, dtype=np.int32),
        np.empty(size),
        np.empty(size, dtype=np.int32),
        np.empty((size, n_classes), dtype=np.int64),
        np.empty((size, 3), dtype=np.int64),
    )


def _grow_mixed(columns, label, weight, n_categories, averaged, n_classes, options):
    from keeptree._kernels.grow_mixed import code_cells, grow_mixed

    numeric = n_categories == 0
    slot = np.where(numeric, np.cumsum(numeric), np.cumsum(~numeric)) - 1
    values = np.ascontiguousarray(columns[numeric])
    cells = np.empty((np.count_nonzero(~numeric), len(label)), dtype=np.int32)
    code_cells(columns, np.flatnonzero(~numeric), label, n_classes, cells)
    known = np.count_nonzero(~np.isnan(values), axis=1)
    order = np.argsort(values, axis=1, kind="stable").astype(np.int32)  # NaN come last
    tests, weights, branches, n_nodes, n_mapped = grow_mixed(
        label,
        weight,
        values,
        cells,
        slot,
        n_categories,
        order,
        known,
        averaged,
        n_classes,
        float(options.min_leaf),
        options.deepest,
        CRITERIA[options.criterion],
        options.mdl,
        NOMINAL_TESTS[options.nominal_test],
        _table(len(label)),
    )
    feature, first_child, n_children, category_start = np.ascontiguousarray(tests[:n_nodes].T)
    return Shape(
        feature=feature,
        threshold=weights[:n_nodes, n_classes].copy(),
        first_child=first_child,
        n_children=n_children,
        category_start=category_start,
        category_child=branches[:n_mapped, 0].copy(),
        missing=np.full(n_nodes, -1, dtype=np.int32),
        counts=weights[:n_nodes, :n_classes].copy(),
    )


def _averaged(n_categories, n_all):
    """J48 leaves nominal columns with very many categories out of the mean gain, unless all are."""
    many = (n_categories > 0) & ~(0.3 * n_all - n_categories > SMALL)
    return np.ones_like(many) if many.all() else ~many


def snap_thresholds(shape, X, tolerant=False):
    """Replace each midpoint, in place, by the largest value of its column that is not above it.

    Parameters
    ----------
    shape : Shape
        A grown tree.
    X : array of shape (n, d)
        The whole training set.
    tolerant : bool
        As Weka 3.6, which reads the rows in order and takes a value that is 1e-6 larger than the
        one it has and at most 1e-6 above the midpoint.
    """
    numeric = (shape.n_children > 0) & (shape.category_start < 0)
    for f in np.unique(shape.feature[numeric]):
        nodes = np.flatnonzero(numeric & (shape.feature == f))
        column = X[:, f]
        values = np.sort(column)  # NaN come last, above every midpoint
        middle = shape.threshold[nodes]
        if not tolerant:
            shape.threshold[nodes] = values[np.searchsorted(values, middle, side="right") - 1]
            continue
        for node, t in zip(nodes, middle, strict=True):
            end = np.searchsorted(values, t + 2 * SMALL)
            while not (values[end - 1] <= t or values[end - 1] - t < SMALL):
                end -= 1
            shape.threshold[node] = _read_upward(column, values[:end])


def _read_upward(column, values):
    """What Weka 3.6 holds after reading ``column``, of which only ``values`` (sorted) count."""
    first = len(values) - 1
    while first > 0 and values[first] - values[first - 1] <= SMALL:
        first -= 1
    # Values below a gap of more than 1e-6 are overtaken by whatever comes above it.
    held = -np.inf
    if first == len(values) - 1:
        return values[-1]
    for v in column[(column >= values[first]) & (column <= values[-1])]:
        if v - held > SMALL:
            held = v
    return held
