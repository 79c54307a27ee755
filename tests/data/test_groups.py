"""Wide tables are read many columns at a time, with the same result as one at a time."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import keeptree as kt
from keeptree.data.cases import read_blocks
from keeptree.data.formats import trim
from keeptree.data.groups import CELLS, column_groups, map_cells, plain_columns
from keeptree.data.table import as_matrix, read_table
from keeptree.data.training import read_training


@given(st.integers(0, 300), st.integers(0, 3 * CELLS))
def test_groups_keep_the_order_of_columns_and_are_not_too_large(n_columns, n_rows):
    groups = list(column_groups(list(range(n_columns)), n_rows))
    assert [column for group in groups for column in group] == list(range(n_columns))
    assert all(len(group) == 1 or len(group) * n_rows <= CELLS for group in groups)


@given(st.lists(st.lists(st.sampled_from([None, " a ", "?", "7 ", ""]), min_size=3, max_size=3)))
def test_mapping_one_column_or_many_at_a_time_gives_the_same_cells(cells):
    columns = [pa.array(column, pa.string()) for column in cells]
    assert map_cells(trim, columns) == [trim(column) for column in columns]


def test_nullable_columns_are_not_converted_together_with_numpy_columns():
    frame = pd.DataFrame({"a": [1], "b": pd.array([1], "Int64"), "c": [0.5], "d": ["x"]})
    assert plain_columns(frame) == [0, 2]
    assert plain_columns(frame.to_numpy()) == []


def test_columns_of_mixed_types_are_encoded_in_order():
    frame = pd.DataFrame(
        {
            "whole": [3, 1],
            "colour": ["red", "blue"],
            "nullable": pd.array([1, None], "Int64"),
            "x": np.array([0.5, np.nan], dtype=np.float32),
            "yes": [True, False],
        }
    )
    wanted = [[3, 1, 1, 0.5, 1], [1, 0, np.nan, np.nan, 0]]
    matrix, categories = read_table(frame)
    assert categories == (None, ("blue", "red"), None, None, None)
    np.testing.assert_array_equal(matrix, wanted)
    np.testing.assert_array_equal(as_matrix(frame, categories), wanted)


def test_infinite_numbers_beside_a_nominal_column_are_refused_when_a_tree_is_grown():
    frame = pd.DataFrame({"x": [1.0, np.inf], "colour": ["red", "blue"]})
    with pytest.raises(ValueError, match="Input X contains infinity"):
        read_table(frame)


def wide_file(folder, n_columns, n_rows=6):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, n_columns))).add_prefix("c")
    frame.iloc[:, ::3] = rng.integers(0, 9, frame.iloc[:, ::3].shape)
    frame["y"] = ["no", "yes"] * (n_rows // 2)
    path = folder / f"{n_columns}.csv"
    frame.to_csv(path, index=False)
    return path


def count_calls(function, *arguments):
    """Return the number of Python and C function calls made by a call."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return calls


def work_per_column(function, folder, n_rows=6):
    """Return the number of calls per additional column."""
    few, many = wide_file(folder, 500, n_rows), wide_file(folder, 1500, n_rows)
    function(few)  # load and compile everything first
    return (count_calls(function, many) - count_calls(function, few)) / 1000


@pytest.mark.parametrize(("n_rows", "most"), [(6, 140), (40, 280)])
def test_reading_an_additional_column_of_a_wide_file_costs_few_calls(tmp_path, n_rows, most):
    assert work_per_column(lambda path: read_training(path, "y"), tmp_path, n_rows) < most


def test_fitting_a_model_to_an_additional_column_costs_few_calls(tmp_path):
    assert work_per_column(lambda path: kt.fit_file(path, "y"), tmp_path) < 240


def test_scoring_a_file_with_an_additional_column_costs_few_calls(tmp_path):
    models = {n: kt.fit_file(wide_file(tmp_path, n), "y", method="smoothed") for n in (500, 1500)}

    def score(path):
        kt.predict_file(models[int(path.stem)], path, tmp_path / "out.csv")

    assert work_per_column(score, tmp_path) < 150


class CountedName(str):
    """A name that counts how often it is compared."""

    __hash__ = str.__hash__
    compared = 0

    def __eq__(self, other):
        CountedName.compared += 1
        return str.__eq__(self, other)


def test_columns_are_looked_up_by_name_without_a_linear_search(tmp_path):
    path = wide_file(tmp_path, 500)
    names = [CountedName(f"c{k}") for k in reversed(range(500))]
    model = SimpleNamespace(n_features_in_=len(names), feature_names_in_=names)
    (block,) = read_blocks(path, model)
    assert list(block.frame.columns) == names
    assert CountedName.compared < 50 * len(names)
