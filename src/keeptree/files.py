"""Data files (CSV, ARFF, Parquet) as data frames whose nominal columns are categorical."""

import difflib
from pathlib import Path

import numpy as np

MISSING = ["", "?", "NA", "NaN", "nan", "null", "None"]  # what an empty cell looks like in a CSV


def read_frame(path):
    """Read a data file.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.arff`` or ``.parquet`` (needs the extra ``files``: pandas and pyarrow).

    Returns
    -------
    frame : pandas.DataFrame
        Numbers as they are; nominal attributes categorical: with the declared categories in
        declared order from ARFF and from categorical Parquet columns, else with the values seen,
        sorted. ``?`` is missing.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in _READERS:
        raise ValueError(f"{path} is not a data file; give one of {', '.join(sorted(_READERS))}.")
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist or is not a file; check the name.")
    try:
        frame = _READERS[kind](path)
    except FileNotFoundError:
        raise
    except Exception as error:  # each reader has errors of its own; all of them mean this
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{path} cannot be read as {kind[1:].upper()}: {reason}.") from error
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise ValueError(f"{path} has no rows; a table with a header and some rows is needed.")
    return _with_categories(frame)


def split_target(frame, target):
    """Take the column ``target`` from a data frame.

    Returns
    -------
    X : pandas.DataFrame
        The other columns.
    y : pandas.Series
        The target; an unknown name or a missing label is a ValueError.
    """
    if target not in frame.columns:
        names = [str(name) for name in frame.columns]
        close = difflib.get_close_matches(target, names, n=1)
        advice = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names[:10])}."
        raise ValueError(f"There is no column {target!r}; {advice}")
    y = frame[target]
    missing = int(y.isna().sum())
    if missing:
        raise ValueError(f"The target {target!r} is missing in {missing} rows; remove those rows.")
    if frame.shape[1] == 1:
        raise ValueError(f"There is no column besides the target {target!r}; add some.")
    return frame.drop(columns=[target]), y


def _read_csv(path):
    import pandas as pd

    return pd.read_csv(path, na_values=MISSING, keep_default_na=False, skipinitialspace=True)


def _read_parquet(path):
    import pandas as pd

    return pd.read_parquet(path)


def _read_arff(path):
    import pandas as pd
    from scipy.io import arff

    with path.open(encoding="utf-8", errors="strict") as file:
        records, header = arff.loadarff(file)
    columns = {}
    for name in header.names():
        kind, labels = header[name]
        if kind == "nominal":
            values = [value.decode() for value in records[name]]
            columns[name] = pd.Categorical(
                [None if value == "?" else value for value in values], categories=list(labels)
            )
        else:
            columns[name] = np.asarray(records[name], dtype=float)
    return pd.DataFrame(columns)


_READERS = {".arff": _read_arff, ".csv": _read_csv, ".parquet": _read_parquet}


def _with_categories(frame):
    """Text columns as categorical ones; a column of mixed types is an error that names it."""
    import pandas as pd

    changed = {}
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_numeric_dtype(column):
            continue
        kinds = {type(value) for value in column.dropna()}
        if kinds - {str}:
            found = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise ValueError(
                f"The column {name!r} mixes values that are no numbers or text ({found}); "
                "make them one or the other."
            )
        changed[name] = pd.Categorical(column)
    return frame.assign(**changed) if changed else frame
