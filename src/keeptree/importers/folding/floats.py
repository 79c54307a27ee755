"""Bisection over floating-point numbers: find the last one before a condition changes."""

import numpy as np

LARGEST = np.finfo(np.float64).max
_SIGN = np.iinfo(np.int64).min


def to_keys(x):
    """Map floats to integers in the same order; neighbours differ by 1, and -0.0 equals 0.0.

    Examples
    --------
    >>> to_keys(np.array([-5e-324, -0.0, 0.0, 5e-324]))
    array([-1,  0,  0,  1])
    """
    bits = np.asarray(x, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, _SIGN - bits)


def from_keys(keys):
    """Return the floats of keys; the inverse of :func:`to_keys`."""
    return np.where(keys >= 0, keys, _SIGN - keys).view(np.float64)


def before(x):
    """Return the next smaller float of each number."""
    return np.nextafter(x, -np.inf)


def last_alike(low, high, is_like_low):
    """Bisect between pairs of floats, all pairs at once.

    Parameters
    ----------
    low, high : arrays of shape (n,)
        ``low < high``; the condition holds for ``low`` but not for ``high``.
    is_like_low : callable
        ``is_like_low(x)`` takes one float per pair and returns where the condition holds.

    Returns
    -------
    last : array of shape (n,)
        Largest float for which the condition holds, provided it changes only once.

    Examples
    --------
    >>> root = last_alike(np.array([1.0]), np.array([2.0]), lambda x: x * x <= 2)
    >>> float(root[0])
    1.414213562373095
    """
    low, high = to_keys(low), to_keys(high)
    # If the difference overflows, the keys are far apart.
    while ((high != low + 1) & (high != low)).any():
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        alike = is_like_low(from_keys(middle))
        low, high = np.where(alike, middle, low), np.where(alike, high, middle)
    return from_keys(low)
