"""A data file as a training sample: attributes and classes, checked, as a learner takes them."""

import warnings

import numpy as np

from keeptree.data.cells import infer_column
from keeptree.data.columns import dates_for_numbers, is_number
from keeptree.data.files import check_data_file, file_columns, find_column, read_batches
from keeptree.text import plural

MOST_CLASSES = 1000


def read_training(path, target, nominal=(), drop=(), tree=None):
    """Read attributes and classes of a data file; warn of columns that are probably a mistake.

    Parameters
    ----------
    path : str or Path
        A CSV, ARFF or Parquet file, as :func:`read_frame` reads it.
    target : str
        Column of the class.
    nominal : sequence of str
        Columns that hold categories though they look like numbers.
    drop : sequence of str
        Columns to leave out, such as an identifier.
    tree : Tree or estimator, optional
        If it knows the names of its columns, only these are returned, in its order.

    Returns
    -------
    X : pandas.DataFrame
        The attributes.
    y : pandas.Series
        The classes, named; a categorical target keeps its declared labels.
    """
    if target in drop:
        raise ValueError(f"The target {target!r} cannot be dropped; drop other columns only.")
    find_column(target, file_columns(path))  # before all of it is read
    X, y = split_target(read_frame(path, nominal, drop), target)
    if y.nunique() < 2:
        raise ValueError(
            f"The target {target!r} has only one value; at least two classes are needed."
        )
    X = _columns_of(tree, X, path)
    warn_suspect_columns(X, y)
    return X, y


def read_frame(path, nominal=(), drop=()):
    """Read a data file whose types are not known yet.

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
    import pandas as pd
    import pyarrow as pa

    path = check_data_file(path)
    names = file_columns(path)
    for name in (*nominal, *drop):
        find_column(name, names)
    wanted = [name for name in names if name not in drop]
    table = pa.Table.from_batches([batch for batch, _ in read_batches(path, wanted)])
    if path.suffix.lower() != ".csv":
        frame = table.to_pandas()
        frame.columns = [str(name) for name in frame.columns]  # pandas allows numbers
        return _with_categories(frame, nominal)
    columns = {}
    for name in wanted:
        column = table.column(name).combine_chunks()
        table = table.drop_columns(name)  # its text is not needed any longer
        columns[name] = column.to_pandas() if name in nominal else infer_column(column)
    return _with_categories(pd.DataFrame(columns), nominal)


def split_target(frame, target):
    """Take the column ``target`` from a data frame.

    Returns
    -------
    X : pandas.DataFrame
        The other columns.
    y : pandas.Series
        The target. An unknown name, a missing label and values that cannot be classes are a
        ValueError.
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
            f"The target {target!r} has {distinct} distinct values, which look like an identifier "
            f"or a measurement, not like classes; choose a column with at most {MOST_CLASSES}."
        )
    if y.dtype.kind == "f" and (y % 1 != 0).any():
        raise ValueError(
            f"The target {target!r} holds fractions such as {y[y % 1 != 0].iloc[0]:g}, which look "
            "like a measurement, not like classes; choose another column, or bin this one."
        )
    return frame.drop(columns=[target]), y


def warn_suspect_columns(X, y):
    """Warn of attributes that look like identifiers, and of a target that looks like a number."""
    for name in X.columns:
        cells = X[name].count()
        if X[name].dtype == "category" and cells >= 20 and X[name].nunique() > 0.9 * cells:
            warnings.warn(
                f"The column {name!r} has nearly one category per case and looks like an "
                "identifier; leave it out with --drop (in Python: drop).",
                stacklevel=4,
            )
    values = np.unique(np.asarray(y))
    if len(values) > 20 and values.dtype.kind in "iuf":
        warnings.warn(
            f"The target has {len(values)} classes, all of them numbers; if it is a measurement, "
            "bin it.",
            stacklevel=4,
        )


def _columns_of(tree, X, data):
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
        raise ValueError(dates_for_numbers(name))
    if column.map(lambda value: isinstance(value, list | dict | np.ndarray)).any():
        raise ValueError(f"The column {name!r} holds lists, not one value in a cell; leave it out.")
    values = column.dropna().unique()
    kinds = sorted({type(value).__name__ for value in values} - {"str"})
    if kinds:
        raise ValueError(
            f"The column {name!r} holds values that are neither numbers nor text "
            f"({', '.join(kinds)}); convert them to one or the other."
        )
    other = [value for value in values if not is_number(value)]
    if 0 < len(other) < len(values) / 2:
        raise ValueError(
            f"The column {name!r} mixes numbers and text such as {other[0]!r:.50}; correct it "
            "or leave the cells empty, or declare the column nominal (--nominal) if these are "
            "categories."
        )
