"""The numbers a column can take: all, or the multiples of a step."""

from collections.abc import Mapping
from numbers import Real

import numpy as np

from keeptree.geometry.metric import column_number
from keeptree.savable import expect, expect_array
from keeptree.tree import refuse_oblique


def read_grid(grid, tree, observed):
    """Step of each column, 0 for any number; None for a boundary between any two numbers.

    ``grid`` is None, ``"observed"``, or a dict from columns to steps.
    """
    if grid is None:
        return None
    if isinstance(grid, str) and grid == "observed":
        # Multiples on an oblique plane are not multiples of its columns' steps.
        return np.zeros(tree.n_features) if tree.has_oblique else observed.step
    if not isinstance(grid, Mapping):
        raise ValueError(
            f"grid={grid!r} is not a grid; give None, 'observed' or a dict from columns to steps."
        )
    refuse_oblique(tree, "are measured between all numbers", "leave the grid out")
    step = np.zeros(tree.n_features)
    for key, value in grid.items():
        f = column_number(tree, key, "grid")
        if tree.categories[f] is not None:
            raise ValueError(
                f"grid has a step for {tree.feature_name(f)!r}, whose values are categories; "
                "leave it out."
            )
        if not isinstance(value, Real) or not 0 < value < np.inf:
            raise ValueError(
                f"The step of {tree.feature_name(f)!r} is {value!r}, not a positive finite number."
            )
        step[f] = value
    return step


def check_steps(step, tree):
    """Raise a ValueError if steps that were read from a file do not fit the tree."""
    expect_array(step, "grid_", np.float64, (tree.n_features,))
    numeric = [labels is None for labels in tree.categories]
    expect(((step == 0) | ((step > 0) & numeric)).all(), "a column has no such step")


def inverse_step(step):
    """The inverse of each step where that is a whole number, else 0."""
    inverse = np.where(step <= 1, np.rint(1 / np.asarray(step)), 0.0)
    return np.where(abs(step * inverse - 1) < 1e-9, inverse, 0.0)


def multiples(k, step):
    """The k-th multiples of the steps; 0.3 rather than 3 * 0.1 for a step of 1/10."""
    inverse = inverse_step(step)
    return np.where(inverse > 0, k / np.maximum(inverse, 1.0), k * step)


def last_multiple(at_most, above, step, dtype):
    """The largest multiple of each step that, rounded to ``dtype``, is at most so large.

    ``above`` is the next number of that type. Multiples up to halfway may be rounded down.
    """
    first = np.floor((at_most / 2 + above / 2) / step)
    return _fitting(first, np.arange(2.0, -4.0, -1.0), step, at_most, dtype, np.less_equal, -np.inf)


def first_multiple(at_most, above, step, dtype):
    """The smallest multiple of each step that, rounded to ``dtype``, is at least ``above``."""
    first = np.floor((at_most / 2 + above / 2) / step)
    return _fitting(first, np.arange(-2.0, 4.0), step, above, dtype, np.greater_equal, np.inf)


def off_grid(X, step):
    """Rows of an encoded matrix that have a number which is no multiple of its column's step."""
    off = np.zeros(len(X), dtype=bool)
    for f in np.flatnonzero(step).tolist():
        value, inverse = X[:, f], float(inverse_step(step[f]))
        nearest = (
            np.rint(value * inverse) / inverse if inverse else np.rint(value / step[f]) * step[f]
        )
        off |= (nearest != value) & ~np.isnan(value)
    return np.flatnonzero(off)


def _fitting(start, order, step, value, dtype, fits, none):
    """The first of the multiples around ``start``, in an order, that fits a value."""
    with np.errstate(over="ignore", invalid="ignore"):
        at = multiples(start[:, None] + order, step[:, None])
        good = fits(at.astype(dtype), value[:, None]) & np.isfinite(at)
    chosen = at[np.arange(len(at)), good.argmax(axis=1)]
    return np.where(good.any(axis=1), chosen, none)
