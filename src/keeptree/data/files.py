"""Data files (CSV, ARFF, Parquet) as data frames whose nominal columns are categorical."""

import difflib
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from keeptree.data.cells import infer_column, is_number, read_cells, read_header
from keeptree.text import plural

MOST_CLASSES = 1000


def read_frame(path, nominal=(), drop=()):
    """Read a data file.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.arff`` or ``.parquet`` (needs the extra ``files``: pandas, pyarrow, liac-arff).
    nominal : sequence of str
        Columns that hold categories, whatever they look like.
    drop : sequence of str
        Columns to leave out.

    Returns
    -------
    frame : pandas.DataFrame
        Numbers as they are; nominal attributes categorical: with the declared categories in
        declared order from ARFF and from categorical Parquet columns, else with the values seen,
        sorted. Missing are ``?``, and in CSV also an empty cell, NA, NaN, nan, null and None.
    """
    path = check_data_file(path)
    with reading(path):
        frame = _READERS[path.suffix.lower()](path, nominal)
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise ValueError(f"{path} has no rows; a table with a header and some rows is needed.")
    for name in (*nominal, *drop):
        find_column(name, frame.columns)
    frame = frame.drop(columns=list(drop))
    return _with_categories(frame, nominal)


def check_data_file(path):
    """Return the path; one that is no data file, or not there, is an error that says so."""
    path = Path(path).expanduser()
    if path.suffix.lower() not in _READERS:
        raise ValueError(f"{path} is not a data file; give one of {', '.join(sorted(_READERS))}.")
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist or is not a file; check the name.")
    return path


def file_columns(path):
    """Names of the columns of a data file."""
    path = check_data_file(path)
    with reading(path):
        return _NAMES[path.suffix.lower()](path)


def find_column(name, names):
    """Raise a ValueError that suggests the closest name unless there is a column ``name``."""
    names = [str(other) for other in names]
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        advice = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names[:10])}."
        raise ValueError(f"There is no column {name!r}; {advice}")


def split_target(frame, target):
    """Take the column ``target`` from a data frame.

    Returns
    -------
    X : pandas.DataFrame
        The other columns.
    y : pandas.Series
        The target; an unknown name, a missing label or values that are no classes are a ValueError.
    """
    find_column(target, frame.columns)
    y = frame[target]
    missing = int(y.isna().sum())
    if missing:
        raise ValueError(
            f"The target {target!r} is missing in {plural(missing, 'row')}; remove those rows."
        )
    if frame.shape[1] == 1:
        raise ValueError(f"There is no column besides the target {target!r}; add some.")
    distinct = y.nunique()
    if distinct > MOST_CLASSES:
        raise ValueError(
            f"The target {target!r} has {distinct} distinct values, which are no classes but an "
            f"identifier or a measurement; choose a column with at most {MOST_CLASSES}."
        )
    if y.dtype.kind == "f" and (y % 1 != 0).any():
        raise ValueError(
            f"The target {target!r} holds fractions such as {y[y % 1 != 0].iloc[0]:g}, a "
            "measurement and no classes; choose another column, or make ranges of it."
        )
    return frame.drop(columns=[target]), y


def read_training(path, target, nominal=(), drop=()):
    """Attributes and classes of a data file, as a learner takes them."""
    if target in drop:
        raise ValueError(f"The target {target!r} cannot be left out; drop other columns.")
    find_column(target, file_columns(path))  # before all of it is read
    X, y = split_target(read_frame(path, nominal, drop), target)
    if y.nunique() < 2:
        raise ValueError(
            f"The target {target!r} has one value only; there is nothing to tell apart."
        )
    # A categorical target keeps its declared labels; others are plain labels.
    return X, y.array if y.dtype == "category" else y.to_numpy()


def columns_of(tree, X, data):
    """The columns a tree knows, in its order; all of them if it is to be grown or has no names."""
    names = getattr(tree, "feature_names_in_", getattr(tree, "feature_names", None))
    if names is None:
        return X
    absent = [name for name in names if name not in X.columns]
    if absent:
        raise ValueError(
            f"{data} lacks {', '.join(map(repr, absent[:5]))}, which the tree knows; its columns "
            f"are {', '.join(map(repr, names[:10]))}."
        )
    return X[list(names)]


def warn_suspect_columns(X, y):
    """Warn of attributes that look like identifiers, and of a target that looks like a number."""
    for name in X.columns:
        cells = X[name].count()
        if X[name].dtype == "category" and cells >= 20 and X[name].nunique() > 0.9 * cells:
            warnings.warn(
                f"The column {name!r} has nearly one category per case and looks like an "
                "identifier; leave it out with --drop (in Python: drop).",
                stacklevel=3,
            )
    values = np.unique(np.asarray(y))
    if len(values) > 20 and values.dtype.kind in "iuf":
        warnings.warn(
            f"The target has {len(values)} classes of numbers, which may be a measurement; make "
            "ranges of it if it is.",
            stacklevel=3,
        )


@contextmanager
def reading(path):
    """Say in one sentence that a file cannot be read: each library has errors of its own."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        kind = Path(path).suffix[1:].upper()
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in reason:
            with open(path, "rb") as file:
                wide = file.read(2) in (b"\xff\xfe", b"\xfe\xff")  # the mark of UTF-16
            guess = "in UTF-16" if wide else "perhaps in Latin-1"
            reason = f"it is not in UTF-8 but {guess}; save it as UTF-8"
        raise ValueError(f"{path} cannot be read as {kind}: {reason}.") from error


def _read_csv(path, nominal):
    import pandas as pd
    import pyarrow as pa

    names = read_header(path)
    parts = [cells for cells, _ in read_cells(path)]
    columns = {}
    for name in names:
        column = pa.chunked_array([part.pop(name) for part in parts], pa.string()).combine_chunks()
        columns[name] = column.to_pandas() if name in nominal else infer_column(column)
    return pd.DataFrame(columns)


def _read_parquet(path, nominal):
    import pandas as pd

    frame = pd.read_parquet(path)
    return frame.set_axis([str(name) for name in frame.columns], axis=1)  # pandas allows numbers


def _read_arff(path, nominal):
    import arff
    import pandas as pd

    with path.open(encoding="utf-8") as file:
        document = arff.load(file)
    columns = {}
    rows = list(zip(*document["data"], strict=True)) or [()] * len(document["attributes"])
    for (name, kind), values in zip(document["attributes"], rows, strict=True):
        if isinstance(kind, list):
            columns[name] = pd.Categorical(values, categories=kind)
        elif kind.upper() == "STRING":
            columns[name] = list(values)
        else:
            columns[name] = np.array(values, dtype=float)  # None becomes NaN
    return pd.DataFrame(columns)


def _parquet_names(path):
    from pyarrow.parquet import read_schema

    return [name for name in read_schema(path).names if not name.startswith("__index_level_")]


_NAMES = {
    ".arff": lambda path: list(_read_arff(path, ()).columns),
    ".csv": read_header,
    ".parquet": _parquet_names,
}
_READERS = {".arff": _read_arff, ".csv": _read_csv, ".parquet": _read_parquet}


def _with_categories(frame, nominal):
    """Text columns, and those of ``nominal``, as categorical ones."""
    import pandas as pd

    changed = {}
    for name in frame.columns:
        column = frame[name]
        is_categorical = isinstance(column.dtype, pd.CategoricalDtype)
        if is_categorical or (pd.api.types.is_numeric_dtype(column) and name not in nominal):
            _check_numbers(name, column)
            continue
        if name not in nominal:
            _check_text(name, column)
        changed[name] = pd.Categorical(column)
    return frame.assign(**changed) if changed else frame


def _check_numbers(name, column):
    """Raise a ValueError that names a column with infinite numbers."""
    if column.dtype.kind == "f" and np.isinf(column.to_numpy()).any():
        raise ValueError(
            f"The column {name!r} holds infinite numbers; leave those cells empty or write the "
            "largest number that makes sense."
        )


def _check_text(name, column):
    """Raise a ValueError that names a column which is neither numbers nor text."""
    if column.dtype.kind in "mM":
        raise ValueError(
            f"The column {name!r} holds dates or times; turn them into numbers before, for "
            "instance days since the first."
        )
    if column.map(lambda value: isinstance(value, list | dict | np.ndarray)).any():
        raise ValueError(f"The column {name!r} holds lists, not one value in a cell; leave it out.")
    values = column.dropna().unique()
    kinds = sorted({type(value).__name__ for value in values} - {"str"})
    if kinds:
        raise ValueError(
            f"The column {name!r} mixes values that are no numbers or text ({', '.join(kinds)}); "
            "make them one or the other."
        )
    other = [value for value in values if not is_number(value)]
    if 0 < len(other) < len(values) / 2:
        raise ValueError(
            f"The column {name!r} mixes numbers and text such as {other[0]!r:.50}; correct it "
            "or leave the cells empty, or declare the column nominal (--nominal) if these are "
            "categories."
        )
