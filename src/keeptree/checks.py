"""What arrays read from a file must be before a kernel, which checks nothing, may use them."""

import numpy as np


def require(condition, sentence):
    """Raise a ValueError that says what a damaged model has instead, unless the condition holds."""
    if not condition:
        raise ValueError(f"Not a KeepTree model: {sentence}.")


def require_array(value, name, dtype, shape, finite=True):
    """Check the type and shape of an array.

    Parameters
    ----------
    value : object
        What came.
    name : str
        Its name, for the sentence.
    dtype : type
        The NumPy type wanted, exactly.
    shape : tuple of (int or None)
        The shape wanted; None is any length.
    finite : bool, default=True
        Whether infinite numbers and NaN are refused.

    Examples
    --------
    >>> require_array(np.zeros((2, 3)), "weights", np.float64, (2, None))
    >>> require_array([1.0], "weights", np.float64, (1,))
    Traceback (most recent call last):
    ...
    ValueError: Not a KeepTree model: weights must be an array of float64 of shape (1,).
    """
    fits = (
        isinstance(value, np.ndarray)
        and value.dtype == dtype
        and value.ndim == len(shape)
        and all(want in (None, have) for want, have in zip(shape, value.shape, strict=True))
    )
    wanted = f"({', '.join('any' if n is None else str(n) for n in shape)}"
    wanted += ",)" if len(shape) == 1 else ")"
    require(fits, f"{name} must be an array of {np.dtype(dtype)} of shape {wanted}")
    if finite and value.dtype.kind == "f":
        require(np.isfinite(value).all(), f"{name} must be finite")


def require_probabilities(value, name, shape):
    """Check that the rows of a matrix are probabilities: from 0 to 1, and 1 together."""
    require_array(value, name, np.float64, shape)
    sums = np.abs(value.sum(axis=1) - 1) < 1e-6
    require(((value >= 0) & (value <= 1)).all() and sums.all(), f"{name} must be probabilities")


def require_starts(value, name, end):
    """Check that whole numbers rise from 0 to ``end``: where parts of a flat array begin."""
    require_array(value, name, np.int64, (None,))
    rises = len(value) > 0 and value[0] == 0 and value[-1] == end and (np.diff(value) >= 0).all()
    require(rises, f"{name} must rise from 0 to {end}")


def require_codes(value, name, shape, end):
    """Check that whole numbers lie between 0 and ``end`` - 1."""
    require_array(value, name, np.int64, shape)
    inside = value.size == 0 or (value.min() >= 0 and value.max() < end)
    require(inside, f"{name} must lie between 0 and {end - 1}")


def require_number(value, name):
    """Check that a value is a finite number, not negative."""
    number = isinstance(value, float | int) and not isinstance(value, bool)
    require(number and 0 <= value < np.inf, f"{name} must be a number, not negative")


def check_names(model):
    """Check the column names a model read from a file claims to have, if any."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        require_array(names, "feature_names_in_", object, (model.n_features_in_,))
        require(all(isinstance(name, str) for name in names), "a column name is not text")
