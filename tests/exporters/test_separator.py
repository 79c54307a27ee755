"""Exported code finds the same separators as the boundary, even with ties."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keeptree import Boundary
from keeptree.exporters.arithmetic_separator import nearest_separator, without_bits
from keeptree.exporters.plain import column_places, plain_tree
from keeptree.exporters.plain_distance import plain_grid
from keeptree.exporters.plain_separator import plain_separator
from tests.strategies import random_rows, random_tree


def separators(boundary, rows):
    """Return the separators of rows as exported Python code finds them."""
    tree, place = boundary.tree_, column_places(boundary.tree_)
    model = {
        "separator": plain_separator(boundary, place),
        "grid": plain_grid(boundary, place),
    }
    written = plain_tree(tree, place)
    columns = list(place)
    return [nearest_separator(written, model, row) for row in rows[:, columns].tolist()]


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 3),
    n_nominal=st.integers(0, 2),
    missing=st.sampled_from(["child", "share"]),
    dtype=st.sampled_from(["float32", "float64"]),
    step=st.sampled_from([None, 0.25, 0.1, 1.0]),
)
@example(418, 2, 0, "child", "float32", None)  # every row gets the same class
def test_the_separator_agrees_with_the_boundary(seed, n_classes, n_nominal, missing, dtype, step):
    """Thresholds and rows take few values, so that many regions are equally near."""
    tree = random_tree(
        seed, 12, n_classes, 4, n_nominal, missing, dtype, grid=np.arange(-4, 5) / 4 + 0.05
    )
    rows = random_rows(tree, seed, n=40, missing=0.1)
    half = np.arange(40) % 2 == 0
    numeric = [f for f, labels in enumerate(tree.categories) if labels is None]
    rows[np.ix_(half, numeric)] = rows[np.ix_(half, numeric)].round(1)
    grid = None if step is None else dict.fromkeys(numeric[:1], step)
    boundary = Boundary(tree, grid=grid).fit(tree.decode(rows))
    assert separators(boundary, rows) == boundary.nearest_separators(rows)[1].tolist()


@pytest.mark.parametrize("value", [0.0, 1.0, np.pi, 1e-300, 1e300, 2.0**-40 * 3, np.inf])
def test_the_lowest_bits_of_a_distance_are_ignored(value):
    expected = (np.float64(value).view(np.int64) & (-1 << 16)).view(np.float64)
    assert without_bits(value, 16) == expected
