"""Convert a table of loans to every kind that ``kt.score`` accepts, and back to a data frame."""

import numpy as np
import pandas as pd
import pytest

import keeptree as kt
from tests.data.loans import draw

ATTRIBUTES = ["age", "income", "area", "owner"]


def fitted(method=kt.KeptTreeClassifier, **parameters):
    """Return a model fitted to loans, with a nominal column and missing values."""
    frame = draw(300)
    return method(**parameters).fit(frame[ATTRIBUTES], frame["risk"])


def new_cases(n=500):
    """Return cases with extra columns, in another order, and with an unseen area."""
    frame = draw(n, seed=1).drop(columns="risk")
    frame.loc[frame.index % 50 == 7, "area"] = "unseen"
    frame["day"] = pd.Timestamp("2024-02-29") + pd.to_timedelta(np.arange(n), "D")
    return frame[["id", "owner", "area", "day", "income", "age"]]


def check_scored(found, model, cases, kept=None):
    """Check that the scored table has the kept columns and exactly the model's predictions.

    Libraries store text and dates in different types, so kept columns are compared by value.
    """
    kept = list(cases.columns) if kept is None else kept
    names = [f"probability_{label}" for label in model.classes_]
    assert list(found.columns)[: len(kept) + 3] == [*kept, "prediction", *names]
    assert found["id"].tolist() == cases["id"].tolist()  # the order of the rows
    for name in kept:
        assert_same(found[name], cases[name])
    assert found["prediction"].tolist() == model.predict(cases).tolist()
    expected = model.predict_proba(cases)
    assert found[names].to_numpy(dtype=float).tobytes() == expected.tobytes()
    decided = model.classes_[expected.argmax(axis=1)]
    assert found["second_opinion"].tolist() == (decided != model.predict(cases)).tolist()


def assert_same(column, expected):
    if expected.dtype.kind == "f":
        assert np.array_equal(column.to_numpy(dtype=float), expected.to_numpy(), equal_nan=True)
    else:
        assert column.tolist() == expected.tolist()


def _polars(frame):
    return pytest.importorskip("polars").from_pandas(frame)


def _arrow(frame):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)


def _dataset(frame):
    from pyarrow import dataset

    return dataset.dataset(_arrow(frame))


def _relation(frame):
    return pytest.importorskip("duckdb").from_arrow(_arrow(frame))


def _dask(frame):
    pytest.importorskip("dask.dataframe")
    import dask.dataframe

    return dask.dataframe.from_pandas(frame, npartitions=4)


# Kind -> functions from a data frame to a table, and from a scored table to a data frame.
LOCAL = {
    "pandas": (lambda frame: frame, lambda table: table),
    "polars": (_polars, lambda table: table.to_pandas()),
    "polars lazy": (lambda frame: _polars(frame).lazy(), lambda table: table.collect().to_pandas()),
    "polars streaming": (
        lambda frame: _polars(frame).lazy(),
        lambda table: table.collect(engine="streaming").to_pandas(),
    ),
    "arrow table": (_arrow, lambda table: table.to_pandas()),
    "arrow reader": (lambda frame: _arrow(frame).to_reader(64), lambda table: table.read_pandas()),
    "arrow batch": (
        lambda frame: _arrow(frame).to_batches()[0],
        lambda table: table.to_pandas(),
    ),
    "arrow dataset": (_dataset, lambda table: table.read_pandas()),
    "duckdb": (_relation, lambda table: table.df()),
    "dask": (_dask, lambda table: table.compute(scheduler="synchronous")),
}
