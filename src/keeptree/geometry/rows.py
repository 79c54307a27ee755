"""Encoded rows: their checks, their layout for compiled functions and their classes."""

import numpy as np

from keeptree._compiled.program import LARGEST_SINGLE, SAW_INF, SAW_NAN, Rows
from keeptree.data.labels import label_codes, plain


def check_rows(tree, X, start, stop, seen):
    """Raise an error for infinite values, and for missing values that the tree has no rule for.

    ``seen`` holds the flags of what the compiled function saw, so most blocks need no search.
    """
    if seen & SAW_INF:
        check_finite(X[start:stop], tree, start)
    if seen & SAW_NAN:
        rows = X[start:stop]
        try:
            tree.route(rows[np.isnan(rows).any(axis=1)])
        except ValueError:
            tree.route(X)  # raises the same error with the row number in X
            raise


def check_finite(X, tree, first=0):
    """Raise if X, which starts at row ``first``, contains an infinite value."""
    with np.errstate(over="ignore", invalid="ignore"):
        # A finite sum shows that all values are finite, and needs no temporary array.
        if np.isfinite(X.sum()):
            return
    infinite = np.isinf(X)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise ValueError(
            f"Input X contains infinity: row {first + row}, column "
            f"{tree.feature_name(int(column))!r}; give a finite value, or NaN if it is missing."
        )


def flat_rows(X, start, stop):
    """Return the rows start to stop in the layout that compiled functions read."""
    if X.flags.c_contiguous:
        return Rows(X.reshape(-1), X.shape[1], 1, start, stop)
    if X.flags.f_contiguous:
        return Rows(X.T.reshape(-1), 1, len(X), start, stop)
    return Rows(X[start:stop].ravel(), X.shape[1], 1, 0, stop - start)


def round_columns(X, columns):
    """Return a copy of rows with some columns rounded to float32, without overflow to infinity."""
    X = X.copy()
    for f in columns.tolist():
        limited = np.clip(X[:, f], -LARGEST_SINGLE, LARGEST_SINGLE)
        X[:, f] = np.where(np.isinf(X[:, f]), X[:, f], limited.astype(np.float32))
    return X


def classes_of(tree, X):
    """Return the class of each row as ``tree.predict`` does, or -1 where the tree has no answer."""
    label = tree.label[tree.route(X, strict=False)].astype(np.int64)
    shared = tree.shared_rows(X)
    if len(shared):
        try:
            label[shared] = tree.decide_shared(X[shared])
        except ValueError:
            label[shared] = -1
    return label


def wanted_classes(tree, target, n):
    """Return the position of the desired class of each of n rows; -1 for any other class.

    ``target`` is None, one class, or a class for each row.
    """
    if target is None:
        return np.full(n, -1)
    shape = np.shape(target)
    if len(shape) > 1 or shape not in ((), (1,), (n,)):
        raise ValueError(
            f"target has shape {shape}, but there are {n} rows; give one class, or one per row."
        )
    known = tree.classes.tolist()
    labels = [plain(label) for label in (target if shape else [target])]
    unknown = [label for label in labels if label not in known]
    if unknown:
        raise ValueError(
            f"target {unknown[0]!r} is not a class of the tree; its classes are {known[:20]}."
        )
    return np.resize(label_codes(labels, tree.classes), n)
