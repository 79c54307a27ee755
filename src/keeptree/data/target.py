"""Read targets: class codes for classification, numbers for regression."""

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from keeptree.data.arrow import from_arrow
from keeptree.data.columns import declared_labels
from keeptree.data.labels import is_missing

_NO_TARGET = "This estimator requires y to be passed, but the target y is None."


def read_target(y):
    """Return classes and codes; a categorical y keeps all declared labels in order.

    Examples
    --------
    >>> classes, codes = read_target(["b", "a", "b"])
    >>> classes.tolist(), codes.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    y = from_arrow(y)
    declared = declared_labels(y)
    if declared is not None:
        classes, codes = np.asarray(declared[0]), declared[1]
        if (codes < 0).any():
            raise ValueError(_missing_label(int(np.argmax(codes < 0))))
        return classes, codes.astype(np.int64)
    if y is None:
        raise ValueError(_NO_TARGET)
    y = column_or_1d(_plain_numbers(y), warn=True)
    if y.dtype.kind == "O":
        missing = [is_missing(value) for value in y.tolist()]
        if any(missing):
            raise ValueError(_missing_label(missing.index(True)))
    elif y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.int64)


def read_values(y):
    """Return a regression target as float64; missing and infinite values raise an error.

    Examples
    --------
    >>> read_values([1, 2.5])
    array([1. , 2.5])
    """
    if y is None:
        raise ValueError(_NO_TARGET)
    y = column_or_1d(from_arrow(y), warn=True)
    if y.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: y is {y.dtype}.")
    y = np.ascontiguousarray(y, dtype=np.float64)
    if np.isnan(y).any():
        raise ValueError(f"y has no value in row {int(np.isnan(y).argmax())}; drop such rows.")
    assert_all_finite(y, input_name="y")
    return y


def _plain_numbers(y):
    """Return pandas' nullable numbers as NumPy's, which scikit-learn would turn into floats."""
    dtype = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    return y if dtype is None or y.isna().any() else y.to_numpy(dtype)


def _missing_label(row):
    return f"y has no label in row {row}; remove the rows without a label."
