"""Score tables of many libraries with one shared scorer."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import Any

from keeptree.data.arrow import library_names

ENGINES = ("local", "duckdb", "dask", "ray", "spark")  # engines of predict_file

# Library and class of a table -> module that scores it. Names instead of classes avoid importing
# other libraries. Subclasses are found through their bases.
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
    """Score a table of any supported library; return the same kind of table with new columns.

    Lazy tables stay lazy: nothing is computed before the result is used, and no rows pass through
    this process. The results equal ``predict`` and ``predict_proba`` to the last bit, and rows keep
    their order.

    Parameters
    ----------
    model : fitted model
        For example one returned by :func:`~keeptree.load`. It is sent to the workers of a cluster
        as JSON.
    table : table
        A pandas data frame; a Polars DataFrame or LazyFrame; a pyarrow Table, RecordBatch,
        RecordBatchReader or Dataset; a DuckDB relation; a Dask or Spark data frame; or a Ray
        Dataset. Columns are matched by name, in any order.
    keep : list of str, optional
        Columns of the table to return with the predictions; by default all.
    distance : bool, default=False
        Whether to add ``distance``, the distance to the tree's decision boundary.
    labels : dict, optional
        Class -> display name in the predictions and column names.
    **options
        Options of the engine: ``connection`` for a DuckDB relation that does not belong to the
        default connection; for Ray those of ``Dataset.map_batches``, such as ``num_cpus``.

    Returns
    -------
    scored : table
        Table of the same kind (a RecordBatchReader for a pyarrow Dataset), with the kept columns,
        ``prediction``, ``probability_...`` of each class (``score`` for a ranking),
        ``second_opinion`` (whether the probabilities favour a class other than the tree's), and
        ``distance``.

    See Also
    --------
    predict_file : Score files of any size.
    fit_table : Learn from a table larger than memory.

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
    """Return the module for a table, or raise a TypeError."""
    for name in library_names(table):
        if name in _TABLES:
            return import_module(f"keeptree.engines.{_TABLES[name]}")
    raise TypeError(
        f"A {type(table).__name__} is not a table that KeepTree can score; give a table of "
        f"pandas, Polars, pyarrow, DuckDB, Dask, Ray or Spark, or pass an array to predict_proba."
    )
