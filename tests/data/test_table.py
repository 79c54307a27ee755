"""fit and predict read tables of every library in the same way."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import keeptree as kt
from keeptree.data.table import as_matrix, read_table

ROWS = [[1, "u", 2.5], [2, "v", None], [1, "u", 0.5], [None, "w", 1.0]]
NAMES = ["a", "b", "c"]


@pytest.mark.parametrize(
    "table",
    [
        ROWS,
        np.array(ROWS, dtype=object),
        pd.DataFrame(ROWS, columns=NAMES).astype({"a": "Int64"}),
        pl.DataFrame(ROWS, schema=NAMES, orient="row"),
    ],
    ids=["list", "numpy", "pandas", "polars"],
)
def test_the_codes_of_predict_are_those_of_fit(table):
    matrix, categories = read_table(table, [0, 1])
    assert categories == ((1, 2), ("u", "v", "w"), None)
    np.testing.assert_array_equal(as_matrix(table, categories), matrix)
    np.testing.assert_array_equal(matrix[:, 0], [0, 1, 0, np.nan])


def test_a_list_of_mixed_rows_is_fitted_and_predicted():
    rows, y = ROWS[:3] * 10, ["no", "yes", "no"] * 10
    model = kt.C45Classifier(categorical_features=[0, 1]).fit(rows, y)
    assert model.predict(rows).tolist() == y
