"""Rows that exercise every test of a tree: on its thresholds, one ulp away, and far away."""

import numpy as np

from keeptree.tree import NUMERIC

LARGEST = 3.4e38  # largest number that scikit-learn accepts, in float32
EXTREMES = [0.0, -0.0, 1e300, -1e300, 1e-300, 5e-324, 1e38, -1e38, 3e38, 3.5e38]


def beside(value):
    """Return a number, its float64 and float32 neighbours, and midpoints where rounding changes."""
    with np.errstate(over="ignore"):
        single = np.float32(value)
        around = [np.nextafter(single, np.float32(side)) for side in (-np.inf, np.inf)]
    singles = [float(x) for x in (single, *around) if np.isfinite(x)]
    middles = [(a + b) / 2 for a in singles for b in singles]
    numbers = [value, *singles, *middles]
    with np.errstate(over="ignore"):
        numbers += [float(np.nextafter(x, side)) for x in numbers for side in (-np.inf, np.inf)]
    return [x for x in dict.fromkeys(numbers) if np.isfinite(x)]


def column_values(tree, feature, missing=True):
    """Return values that probe a tree's tests of a numeric column."""
    tests = (tree.kind == NUMERIC) & (tree.feature == feature)
    found = [x for t in np.unique(tree.threshold[tests]) for x in beside(float(t))]
    return [*found, *EXTREMES, *([np.nan] if missing else [])]


def trying_rows(tree, rows, seed=0, missing=True, share=0.5, largest=np.inf):
    """Return encoded rows with some numbers replaced by values that probe the tests.

    Numbers above ``largest`` are left out, for libraries that refuse them.
    """
    rng = np.random.default_rng(seed)
    rows = np.array(rows, dtype=np.float64)
    for feature, labels in enumerate(tree.categories):
        change = rng.random(len(rows)) < share
        if labels is None:
            values = column_values(tree, feature, missing)
            values = [x for x in values if not abs(x) > largest]
            rows[change, feature] = rng.choice(values, size=change.sum())
            # Use each of these values at least once.
            n = min(len(values), len(rows))
            rows[rng.permutation(len(rows))[:n], feature] = rng.permutation(values)[:n]
    return rows


def assert_same_partition(ours, theirs):
    """Check that two numberings of leaves group the rows in the same way."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    pairs = len(np.unique(np.column_stack([ours, theirs]), axis=0))
    wrong = (
        f"{len(np.unique(ours))} of our leaves, {len(np.unique(theirs))} of theirs, {pairs} pairs"
    )
    assert pairs == len(np.unique(ours)) == len(np.unique(theirs)), wrong
