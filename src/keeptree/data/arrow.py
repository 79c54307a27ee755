"""Arrow's tables, and pandas' columns backed by Arrow, as the columns that everything else reads.

Types are recognised by the names of their modules and classes: pyarrow is not imported to ask.
"""


def from_arrow(X):
    """Return a pyarrow table or an Arrow-backed data frame as a plain data frame; else X itself.

    Parameters
    ----------
    X : object
        A table, a record batch, an array or a chunked array of pyarrow; a data frame or series of
        pandas; or anything else.

    Returns
    -------
    X : object
        Numbers are NumPy's, missing ones NaN; text is of dtype object; dictionaries are
        categorical. Nothing is copied if there is nothing of Arrow.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from_arrow(pa.table({"age": [31, None], "colour": ["red", "blue"]})).dtypes.to_dict()
    {'age': dtype('float64'), 'colour': dtype('O')}
    """
    if type(X).__module__.split(".")[0] == "pyarrow" and hasattr(X, "to_pandas"):
        return X.to_pandas()
    if hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:
        arrow = [k for k, dtype in enumerate(X.dtypes) if _is_arrow(dtype)]
        return _replace_columns(X, arrow) if arrow else X
    if hasattr(X, "iloc") and _is_arrow(getattr(X, "dtype", None)):
        return _plain_series(X)
    return X


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
    """A column backed by Arrow as NumPy has it, with its index and name."""
    import pyarrow as pa

    made = pa.array(column.array).to_pandas()
    made.index, made.name = column.index, column.name
    return made
