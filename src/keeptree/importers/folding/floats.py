"""Search among the floating-point numbers themselves: the last one before something changes."""

import numpy as np

LARGEST = np.finfo(np.float64).max
_SIGN = np.iinfo(np.int64).min


def to_keys(x):
    """Whole numbers in the order of the floats: neighbours differ by 1, and -0.0 is 0.0.

    Examples
    --------
    >>> to_keys(np.array([-5e-324, -0.0, 0.0, 5e-324]))
    array([-1,  0,  0,  1])
    """
    bits = np.asarray(x, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, _SIGN - bits)


def from_keys(keys):
    """The floats of keys: the inverse of :func:`to_keys`."""
    return np.where(keys >= 0, keys, _SIGN - keys).view(np.float64)


def before(x):
    """The float before each number."""
    return np.nextafter(x, -np.inf)


def last_alike(low, high, is_like_low):
    """Bisect between pairs of floats, all pairs at once.

    Parameters
    ----------
    low, high : arrays of shape (n,)
        ``low < high``; something holds for ``low`` and not for ``high``.
    is_like_low : callable
        ``is_like_low(x)`` takes a float of each pair and says for which of them it still holds.

    Returns
    -------
    last : array of shape (n,)
        The largest float for which it holds, if it changes once between the two.

    Examples
    --------
    >>> root = last_alike(np.array([1.0]), np.array([2.0]), lambda x: x * x <= 2)
    >>> float(root[0])
    1.414213562373095
    """
    low, high = to_keys(low), to_keys(high)
    # The difference of two keys may overflow; while it does it is far from 1.
    while ((high != low + 1) & (high != low)).any():
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        alike = is_like_low(from_keys(middle))
        low, high = np.where(alike, middle, low), np.where(alike, high, middle)
    return from_keys(low)
