"""Run a tree program on rows of an encoded matrix: the step between Boundary and its kernels."""

from typing import NamedTuple

import numpy as np

_SAW_NAN, _SAW_INF = 1, 2  # as in keeptree._kernels.boundary
_ID_BITS = 16  # of a squared distance's mantissa that hold a region's number; more if needed


class Found(NamedTuple):
    """Nearest regions of a block of rows: see ``keeptree.geometry.boundary.Nearest``."""

    distance: np.ndarray
    separator: np.ndarray
    leaf: np.ndarray | None
    label: np.ndarray


def fill_signed(program, tree, X, start, stop, out):
    """Fill ``out`` with the class-algebraic distances of the rows start to stop of ``X``.

    ``out`` is C-contiguous, float32 or float64, with a column per class, or one column (of the
    first class) if there are two. The rows are checked on the way: see ``check_rows``.
    """
    from keeptree._kernels.boundary import measure_rows  # numba loads when it is first needed

    single = out.dtype == np.float32
    nearest = (None,) * 4 if single else (-1, *(np.empty(0, dtype=np.int64),) * 3)
    mask, *nearest = nearest
    arguments = _arguments(program, tree, X, start, stop, single)
    seen = measure_rows(single)(*arguments, mask, out.reshape(-1), *nearest)
    check_rows(tree, X, start, stop, seen)


def find_nearest(program, tree, X, start, stop, wanted=None, point=None):
    """Nearest region of the rows start to stop: of the class ``wanted``, or any but the row's own.

    ``point`` is filled with the projections; without it nothing is routed and no leaf returned.
    """
    rows, regions = X[start:stop], program.regions
    wanted = np.full(len(rows), -1) if wanted is None else wanted
    own, region, missing = _nearest_regions(program, tree, X, start, stop, wanted)
    stay = (wanted >= 0) & (own == wanted)
    region[stay] = -1
    found = region >= 0
    label = np.where(found, regions.label[region], own)
    distance = np.where(stay, 0.0, np.inf)
    separator = np.full(len(rows), -1)
    if point is None:
        project = np.empty((len(rows), 0))
        _project(regions, tree, rows, region, True, distance, separator, project)
        return Found(distance, separator, None, label)
    point[:] = rows
    _project(regions, tree, rows, region, False, distance, separator, point)
    # A missing value may send the projection elsewhere: then it is given a place inside too.
    lost = missing[found[missing]]
    lost = lost[_classes_of(tree, point[lost]) != label[lost]]
    if len(lost):
        again = distance[lost], separator[lost], point[lost]
        _project(regions, tree, rows[lost], region[lost], True, *again)
        distance[lost], separator[lost], point[lost] = again
    point[~found & ~stay] = np.nan
    leaf = np.where(found, regions.leaf[region], -1)
    inside = np.flatnonzero((leaf < 0) & (found | stay))
    leaf[inside] = _leaves_of(tree, point[inside])
    return Found(distance, separator, leaf, label)


def check_rows(tree, X, start, stop, seen):
    """Raise for infinite values, and for missing ones without a rule, that a kernel has seen."""
    if seen & _SAW_INF:
        check_finite(X[start:stop], tree, start)
    if seen & _SAW_NAN:
        rows = X[start:stop]
        try:
            tree._route(rows[np.isnan(rows).any(axis=1)])
        except ValueError:
            tree._route(X)  # the same complaint, with the number of the row in X
            raise


def check_finite(X, tree, first=0):
    """Raise if X, the rows from ``first`` on, has an infinite value."""
    if np.isfinite(X.sum()):  # cheap, and without a temporary
        return
    infinite = np.isinf(X)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise ValueError(
            f"Input X contains infinity: row {first + row}, column "
            f"{tree.feature_name(int(column))!r}; give a finite value, or NaN if it is missing."
        )


def _arguments(program, tree, X, start, stop, single):
    """What both kernels of ``keeptree._kernels.boundary`` take first."""
    if X.flags.c_contiguous:
        rows = (X.reshape(-1), X.shape[1], 1, start, stop)
    elif X.flags.f_contiguous:
        rows = (X.T.reshape(-1), 1, len(X), start, stop)
    else:
        rows = (X[start:stop].ravel(), X.shape[1], 1, 0, stop - start)
    numbers = program.single if single else program.double
    layout = (program.columns, numbers.frame, program.rest, tree.compare_dtype == "float32")
    steps = (numbers.limit, program.steps, numbers.bounds, numbers.growth)
    return (*rows, *layout, *steps, None if single else True, program.n_slots, program.n_classes)


def _nearest_regions(program, tree, X, start, stop, wanted):
    """Own class and nearest region of each row, and the rows with a missing value."""
    rows, n = X[start:stop], stop - start
    own, region, missing = np.full(n, -1), np.empty(n, dtype=np.int64), np.empty(0, dtype=np.int64)
    seen = _run_nearest(program, tree, X, start, stop, own, wanted, region)
    check_rows(tree, X, start, stop, seen)
    if seen & _SAW_NAN:
        missing = np.flatnonzero(np.isnan(rows).any(axis=1))
        own[missing] = -1
    # On a threshold, or where a value is missing, several classes touch: the tree itself decides.
    open_ = np.flatnonzero(own < 0)
    if len(open_):
        again = (_classes_of(tree, rows[open_]), wanted[open_], region[open_])
        _run_nearest(program, tree, rows[open_], 0, len(open_), *again)
        own[open_], region[open_] = again[0], again[2]
    return own, region, missing


def _run_nearest(program, tree, X, start, stop, own, wanted, region):
    from keeptree._kernels.boundary import measure_rows

    bits = max(_ID_BITS, len(program.regions.node).bit_length())
    arguments = _arguments(program, tree, X, start, stop, False)
    no_distances = np.empty(0)
    return measure_rows(False)(*arguments, -1 << bits, no_distances, own, wanted, region)


def _project(regions, tree, rows, region, fill, distance, separator, point):
    from keeptree._kernels.boundary_project import project_rows

    box = (regions.start, regions.nodes, regions.bounds)
    tables = (regions.cost, regions.category, regions.test)
    single = tree.compare_dtype == "float32"
    project_rows(rows, region, *box, *tables, single, fill, distance, separator, point)


def _classes_of(tree, X):
    """Class of each row as ``tree.predict`` has it, or -1 where the tree has no answer."""
    label = tree.label[_leaves_of(tree, X)].astype(np.int64)
    shared = tree._shared_rows(X)
    if len(shared):
        try:
            label[shared] = tree._predict_proba(X[shared]).argmax(axis=1)
        except ValueError:
            label[shared] = -1
    return label


def _leaves_of(tree, X):
    """Leaf of each row; a missing value without a rule goes to the first child."""
    from keeptree._kernels.route import route_rows

    first = tree.child[np.minimum(tree.child_start[:-1], len(tree.child) - 1)]
    following = np.where(tree._missing_child >= 0, tree._missing_child, first).astype(np.int32)
    leaf = np.empty(len(X), dtype=np.int64)
    route_rows(
        X,
        tree.kind,
        tree.feature,
        tree.threshold,
        tree.child_start,
        tree.child,
        tree.category_start,
        tree.category_child,
        following,
        tree.compare_dtype == "float32",
        leaf,
    )
    return leaf
