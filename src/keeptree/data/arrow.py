"""Convert pyarrow tables and Arrow-backed pandas columns to plain data frames.

Types are recognised by module and class name, so that pyarrow is imported only if it is needed.
"""

# Tables without rows in memory -> what brings them there.
_LAZY = {
    "dask.Array": "compute",
    "dask.DataFrame": "compute",
    "dask.Series": "compute",
    "duckdb.DuckDBPyRelation": "df",
    "polars.LazyFrame": "collect",
    "pyarrow.Dataset": "to_table",
    "pyarrow.RecordBatchReader": "read_all",
    "pyspark.DataFrame": "toPandas",
    "ray.Dataset": "to_pandas",
}


def from_arrow(X):
    """Convert Arrow data to a plain data frame; return anything else unchanged.

    Parameters
    ----------
    X : object
        A pyarrow table, record batch, array or chunked array; a pandas data frame or series; or
        anything else.

    Returns
    -------
    X : object
        Numbers become NumPy numbers (NaN where missing), text has dtype object, and
        dictionaries become categorical. Data without Arrow columns are not copied.

    Raises
    ------
    TypeError
        If X is a lazy table, such as a Polars LazyFrame or a Dask data frame.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from_arrow(pa.table({"age": [31, None], "colour": ["red", "blue"]})).dtypes.to_dict()
    {'age': dtype('float64'), 'colour': dtype('O')}
    """
    _refuse_lazy(X)
    if type(X).__module__.split(".")[0] == "pyarrow" and hasattr(X, "to_pandas"):
        return X.to_pandas()
    if hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:
        arrow = [k for k, dtype in enumerate(X.dtypes) if _is_arrow(dtype)]
        return _replace_columns(X, arrow) if arrow else X
    if hasattr(X, "iloc") and _is_arrow(getattr(X, "dtype", None)):
        return _plain_series(X)
    return X


def library_names(table):
    """Yield the library and class of a table and its bases, such as ``polars.LazyFrame``."""
    for kind in type(table).__mro__:
        library = kind.__module__.split(".")[0].lstrip("_").removesuffix("_expr")
        yield f"{library}.{kind.__name__}"


def _refuse_lazy(X):
    for name in library_names(X):
        if name in _LAZY:
            raise TypeError(
                f"A {name} has no rows in memory; call its {_LAZY[name]}() first, or use "
                f"keeptree.score and keeptree.fit_table, which take it as it is."
            )


def _is_arrow(dtype):
    return type(dtype).__name__ == "ArrowDtype"


def _replace_columns(X, arrow):
    import pandas as pd

    columns = [X.iloc[:, k] for k in range(X.shape[1])]
    for k in arrow:
        columns[k] = _plain_series(columns[k])
    made = pd.concat(columns, axis=1)
    made.columns = X.columns
    return made


def _plain_series(column):
    """Convert an Arrow-backed column to NumPy, keeping its index and name."""
    import pyarrow as pa

    made = pa.array(column.array).to_pandas()
    made.index, made.name = column.index, column.name
    return made
