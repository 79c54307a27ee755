"""Engines: they bring blocks of rows to one scorer and its answers to where they are wanted."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import Any

ENGINES = ("local", "duckdb", "dask", "ray", "spark")  # of predict_file

# Library and class of a table -> file that scores it. Names, not classes: no library is imported
# to find out that it is not needed. Subclasses are found through their bases.
_TABLES = {
    "dask.DataFrame": "dask",
    "duckdb.DuckDBPyRelation": "duckdb",
    "pandas.DataFrame": "pandas",
    "polars.DataFrame": "polars",
    "polars.LazyFrame": "polars",
    "pyarrow.Dataset": "arrow",
    "pyarrow.RecordBatch": "arrow",
    "pyarrow.RecordBatchReader": "arrow",
    "pyarrow.Table": "arrow",
    "pyspark.DataFrame": "spark",
    "ray.Dataset": "ray",
}


def score(
    model: Any,
    table: Any,
    *,
    keep: Sequence[str] | None = None,
    distance: bool = False,
    labels: Mapping[Any, str] | None = None,
    **options: Any,
) -> Any:
    """Score a table of any library: the same kind of table, with the answers as new columns.

    Tables that are lazy stay lazy: nothing is computed before the result is used, and no rows pass
    through this process on their way. The answers are those of ``predict`` and ``predict_proba`` to
    the last bit, and rows stay in their order.

    Parameters
    ----------
    model : fitted model
        For example of :func:`~keeptree.load`. It travels to the workers of a cluster as the JSON
        document that :func:`~keeptree.save` writes.
    table : table
        A data frame of pandas; a DataFrame or LazyFrame of Polars; a Table, RecordBatch,
        RecordBatchReader or Dataset of pyarrow; a relation of DuckDB; a data frame of Dask or
        Spark; a Ray Dataset. Columns are found by name, in any order.
    keep : list of str, optional
        Columns of the table to return beside the answers; default all. What is not kept and not
        read by the model need not travel.
    distance : bool, default=False
        Whether to add ``distance``, that to the tree's decision boundary.
    labels : dict, optional
        Class -> name to write instead of it, in the predictions and in the names of the columns.
    **options
        Options of the engine: ``connection`` for a DuckDB relation that does not belong to the
        default connection; for Ray those of ``Dataset.map_batches``, such as ``num_cpus``.

    Returns
    -------
    scored : table
        Of the same kind (a Dataset of pyarrow gives a RecordBatchReader), with the kept columns,
        ``prediction``, ``probability_...`` of each class (``score`` for a ranking),
        ``second_opinion``, whether the probabilities favour another class than the tree, and
        ``distance``.

    See Also
    --------
    predict_file : Score files of any size.
    fit_table : Learn from a table that no machine holds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    >>> X["flower"] = range(150)
    >>> kt.score(model, X, keep=["flower"]).columns.tolist()
    ['flower', 'prediction', 'probability_0', 'probability_1', 'probability_2', 'second_opinion']

    A lazy table stays lazy:

    >>> import polars as pl
    >>> scored = kt.score(model, pl.from_pandas(X).lazy())
    >>> type(scored).__name__, scored.select("second_opinion").sum().collect().item()
    ('LazyFrame', 0)
    """
    from keeptree.engines.table import Request

    if isinstance(model, str | PathLike):
        raise TypeError(f"{str(model)!r} is not a model; load it first: kt.load({str(model)!r}).")
    engine = engine_of(table)
    if isinstance(keep, str):
        raise ValueError(f"keep={keep!r} is not a list of columns; give [{keep!r}].")
    keep = None if keep is None else tuple(dict.fromkeys(keep))
    named = None if labels is None else tuple(labels.items())
    return engine.score(table, Request(model, keep, distance, named), **options)


def engine_of(table):
    """Return the module that works on a table; a TypeError if there is none."""
    for kind in type(table).__mro__:
        library = kind.__module__.split(".")[0].lstrip("_").removesuffix("_expr")
        if (name := f"{library}.{kind.__name__}") in _TABLES:
            return import_module(f"keeptree.engines.{_TABLES[name]}")
    raise TypeError(
        f"A {type(table).__name__} is not a table that KeepTree can score; give one of pandas, "
        "Polars, pyarrow, DuckDB, Dask, Ray or Spark, and arrays to predict_proba."
    )
