"""Copies are detected in numeric data, but not among cases with few categories."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from keeptree.data.copies import equal_rows, find_copies


def test_equal_rows_of_few_categories_are_not_copies():
    rng = np.random.default_rng(3)
    codes = rng.integers(3, size=(200, 2)).astype(float)
    y = rng.integers(2, size=200)
    np.testing.assert_array_equal(find_copies(codes, y), np.arange(200))
    numbers = np.column_stack([codes, rng.normal(size=200)])
    again = np.tile(np.arange(200), 2)
    np.testing.assert_array_equal(find_copies(numbers[again], y[again]), again)


def test_a_few_equal_rows_are_not_copies():
    X = np.random.default_rng(0).normal(size=(100, 3))
    again = np.append(np.arange(100), np.arange(20))
    np.testing.assert_array_equal(find_copies(X[again], np.zeros(120)), np.arange(120))


def test_a_sample_drawn_with_replacement_has_copies():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)), rng.integers(3, size=500)
    drawn = rng.integers(500, size=500)
    case = find_copies(X[drawn], y[drawn])
    assert ((case[:, None] == case) == (drawn[:, None] == drawn)).all()


def test_cases_that_are_similar_within_their_class_are_not_copies():
    """Benign cells, for example, have the value 1 in nearly every column."""
    rng = np.random.default_rng(0)
    healthy = (rng.random((300, 9)) < 0.1) * rng.integers(1, 9, size=(300, 9)) + 1.0
    ill = rng.normal(size=(100, 9))
    X, y = np.vstack([healthy, ill, ill]), np.repeat([0, 1, 1], [300, 100, 100])
    case = find_copies(X, y)
    np.testing.assert_array_equal(case, [*range(400), *range(300, 400)])


def test_duplicate_columns_do_not_turn_rows_into_copies():
    rng = np.random.default_rng(0)
    bits = rng.integers(2, size=(2000, 3))
    y = (bits.sum(axis=1) + rng.normal(size=2000) > 1.5).astype(int)
    X = np.repeat(bits, 10, axis=1).astype(float)
    np.testing.assert_array_equal(find_copies(X, y), np.arange(2000))


def test_equal_rows_of_another_class_are_not_copies():
    X = np.repeat(np.random.default_rng(0).normal(size=(50, 3)), 2, axis=0)
    np.testing.assert_array_equal(find_copies(X, np.arange(100) % 2), np.arange(100))


@given(arrays(float, st.tuples(st.integers(1, 20), st.integers(0, 3)),
              elements=st.sampled_from([0.0, -0.0, 1.0, np.nan])))  # fmt: skip
def test_equal_rows_share_a_number_in_order_of_appearance(table):
    group = equal_rows(table)
    for i, row in enumerate(table):
        for j, other in enumerate(table):
            assert (group[i] == group[j]) == np.array_equal(row, other, equal_nan=True)
    _, first = np.unique(group, return_index=True)
    assert (np.diff(first) > 0).all()
