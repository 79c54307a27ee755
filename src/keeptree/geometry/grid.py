"""The numbers that a column can take: all numbers, or the multiples of a step."""

from collections.abc import Mapping
from numbers import Real

import numpy as np

from keeptree.geometry.metric import column_number
from keeptree.savable import expect, expect_array
from keeptree.tree import refuse_oblique


def read_grid(grid, tree, observed):
    """Return the step of each column, 0 for any number; None if there is no grid.

    ``grid`` is None, ``"observed"``, or a dict from columns to steps.
    """
    if grid is None:
        return None
    if isinstance(grid, str) and grid == "observed":
        # Points on an oblique plane are in general not multiples of its columns' steps.
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
    """Raise a ValueError if steps read from a file do not fit the tree."""
    expect_array(step, "grid_", np.float64, (tree.n_features,))
    numeric = [labels is None for labels in tree.categories]
    expect(((step == 0) | ((step > 0) & numeric)).all(), "a column has no such step")


def inverse_step(step):
    """Return the inverse of each step if it is a whole number, else 0."""
    inverse = np.where(step <= 1, np.rint(1 / np.asarray(step)), 0.0)
    return np.where(abs(step * inverse - 1) < 1e-9, inverse, 0.0)


def multiples(k, step):
    """Return the k-th multiples of the steps.

    For a step of 1/10, the third multiple is ``3 / 10``, which is 0.3, and not ``3 * 0.1``, which
    is 0.30000000000000004.
    """
    inverse = inverse_step(step)
    return np.where(inverse > 0, k / np.maximum(inverse, 1.0), k * step)


def last_multiple(at_most, above, step, dtype):
    """Return the largest multiple of each step that ``dtype`` rounds to at most ``at_most``.

    ``above`` is the next number of that type after ``at_most``. A multiple between the two rounds
    to the nearer one.
    """
    first = np.floor((at_most / 2 + above / 2) / step)
    return _fitting(first, np.arange(2.0, -4.0, -1.0), step, at_most, dtype, np.less_equal, -np.inf)


def first_multiple(at_most, above, step, dtype):
    """Return the smallest multiple of each step that ``dtype`` rounds to at least ``above``."""
    first = np.floor((at_most / 2 + above / 2) / step)
    return _fitting(first, np.arange(-2.0, 4.0), step, above, dtype, np.greater_equal, np.inf)


def _fitting(start, order, step, value, dtype, fits, none):
    """Return the first multiple near ``start``, in the given order, that satisfies a condition."""
    with np.errstate(over="ignore", invalid="ignore"):
        at = multiples(start[:, None] + order, step[:, None])
        good = fits(at.astype(dtype), value[:, None]) & np.isfinite(at)
    chosen = at[np.arange(len(at)), good.argmax(axis=1)]
    return np.where(good.any(axis=1), chosen, none)
