"""fit and predict read tables of every library in the same way."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import keeptree as kt
from keeptree.data.columns import encode_nominal
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
def test_predict_uses_the_codes_of_fit(table):
    matrix, categories = read_table(table, [0, 1])
    assert categories == ((1, 2), ("u", "v", "w"), None)
    np.testing.assert_array_equal(as_matrix(table, categories), matrix)
    np.testing.assert_array_equal(matrix[:, 0], [0, 1, 0, np.nan])


def test_a_list_of_mixed_rows_is_fitted_and_predicted():
    rows, y = ROWS[:3] * 10, ["no", "yes", "no"] * 10
    model = kt.C45Classifier(categorical_features=[0, 1]).fit(rows, y)
    assert model.predict(rows).tolist() == y


TRUE_FALSE = [True, False, True, None]


@pytest.mark.parametrize(
    ("column", "labels", "unknown", "codes"),
    [
        (TRUE_FALSE, ("False", "True"), -1, [1, 0, 1, np.nan]),
        (pd.Series(TRUE_FALSE, dtype="boolean"), ("true", "false"), -1, [0, 1, 0, np.nan]),
        (pd.Series(TRUE_FALSE, dtype="category"), ("true", "false"), -2, [0, 1, 0, np.nan]),
        (np.array([True, False]), ("True", "False", "maybe"), -1, [0, 1]),
        (["True", "false", "true"], (True, False), -1, [0, 1, 0]),
        (pl.Series(["true", "false"]), (False, True), -2, [1, 0]),
        ([True, False, "x"], ("True", "(other)"), 1, [0, 1, 1]),
        (["True", "False"], (False, "(other)"), 1, [1, 0]),
        (["true", "maybe"], ("True", "False"), -1, [np.nan, np.nan]),
        (["True", "False"], (True, "red"), -1, [np.nan, np.nan]),
    ],
)
def test_booleans_match_their_text(column, labels, unknown, codes):
    """Text is compared exactly with text labels and with labels of several types."""
    np.testing.assert_array_equal(encode_nominal(column, labels, unknown), codes)


@pytest.mark.parametrize(
    ("column", "labels", "sentence"),
    [
        (["True", "no"], (True, False), "holds text such as 'no', but the tree knows booleans su"),
        ([True], ("yes", "no"), "holds booleans such as True, but the tree knows text such as"),
        ([True], ("True", "true"), "holds booleans such as True, but the tree knows text such as"),
        ([2], ("True", "False"), "holds numbers such as 2, but the tree knows text such as 'Tr"),
    ],
)
def test_values_of_another_type_than_the_labels_are_refused(column, labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        encode_nominal(column, labels)
