"""Copies are found among numbers, not among cases of few categories."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from keeptree.probability.copies import equal_rows, find_copies


def test_equal_rows_of_few_categories_are_not_copies():
    rng = np.random.default_rng(3)
    codes = rng.integers(3, size=(200, 2)).astype(float)
    y = rng.integers(2, size=200)
    np.testing.assert_array_equal(find_copies(codes, y), np.arange(200))
    numbers = np.column_stack([codes, rng.normal(size=200)])
    again = np.append(np.arange(200), [0, 0])
    case = find_copies(numbers[again], y[again])
    assert case.tolist() == [*range(200), 0, 0]


def test_rows_of_another_class_are_not_copies():
    X = np.repeat(np.random.default_rng(0).normal(size=(50, 3)), 2, axis=0)
    np.testing.assert_array_equal(find_copies(X, np.arange(100) % 2), np.arange(100))


@given(arrays(float, st.tuples(st.integers(1, 20), st.integers(0, 3)),
              elements=st.sampled_from([0.0, -0.0, 1.0, np.nan])))  # fmt: skip
def test_equal_rows_share_a_number_and_numbers_follow_the_rows(table):
    group = equal_rows(table)
    for i, row in enumerate(table):
        for j, other in enumerate(table):
            assert (group[i] == group[j]) == np.array_equal(row, other, equal_nan=True)
    _, first = np.unique(group, return_index=True)
    assert (np.diff(first) > 0).all()
