"""The inferred type of a text column does not depend on the other columns."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeptree.data.dialect import Dialect
from keeptree.data.inference import infer_column, infer_columns, infer_plain, plain_numbers

DIALECTS = [Dialect(), Dialect(decimal=","), Dialect(decimal=None)]
ODD = [
    *("0", "-0", "00", "007", "-07", "0.5", "00.5", ".5", "5.", "+5", "1e5", "1.5E-3", "1.5e400"),
    *("1,5", "1.234.567", "0x1f", "1_000", "nan", "inf", "-inf", "True", "false", "", "x", "35%"),
    *("9" * 18, "9" * 19, "9" * 25, "9" * 25 + ".5", "2020-01-31", "\u0663", "1\n", " 1"),
]
cell = st.none() | st.sampled_from(ODD) | st.integers().map(str) | st.floats(width=32).map(str)
# Cells of purely numeric columns, which random cells would hardly ever produce.
column = st.sampled_from(["1", "0.5", None, "7", "-3.25", "1.5e-7"])
table = st.integers(1, 4).flatmap(
    lambda n: st.lists(
        st.lists(cell, min_size=n, max_size=n) | st.lists(column, min_size=n, max_size=n),
        min_size=2,
        max_size=6,
    )
)


def read_or_error(function, *arguments):
    try:
        return function(*arguments)
    except ValueError as error:
        return str(error)


def assert_same(one, other):
    if isinstance(one, str):
        assert one == other
        return
    assert (one.notation, one.example) == (other.notation, other.example)
    one, other = np.asarray(one.values), np.asarray(other.values)
    assert one.dtype == other.dtype
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: str(dialect.decimal))
@given(table)
def test_columns_have_the_same_types_whether_read_together_or_alone(dialect, cells):
    columns = {f"c{k}": pa.array(values, pa.string()) for k, values in enumerate(cells)}
    together = read_or_error(infer_columns, columns, dialect)
    alone = {
        name: read_or_error(infer_column, column, dialect, name) for name, column in columns.items()
    }
    errors = [found for found in alone.values() if isinstance(found, str)]
    if errors:
        assert together == errors[0]
    else:
        for name, found in alone.items():
            assert_same(together[name], found)


@given(table)
def test_plain_numbers_agree_with_the_inference_of_single_columns(cells):
    columns = {f"c{k}": pa.array(values, pa.string()) for k, values in enumerate(cells)}
    for name, values in plain_numbers(columns).items():
        wanted = infer_plain(columns[name])
        assert values.dtype == wanted.dtype
        np.testing.assert_array_equal(values, wanted)


def test_columns_of_plain_numbers_are_all_read_together():
    cells = {"whole": ["1", "-20"], "decimal": ["0.5", "3"], "gaps": [None, "7"], "no": [None] * 2}
    columns = {name: pa.array(values, pa.string()) for name, values in cells.items()}
    assert plain_numbers(columns).keys() == columns.keys()


@pytest.mark.parametrize("later", ["2.5", "x", "01"])
def test_integers_in_the_first_rows_do_not_decide_the_type_of_a_column(later):
    read = infer_plain(pa.array(["1"] * 20 + [later]))
    assert (read is None) == (later == "x")
    if later == "2.5":
        assert read.dtype == np.float64
