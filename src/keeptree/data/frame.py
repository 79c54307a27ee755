"""Read a data file into a data frame, inferring each column's type from all of its cells."""

import numpy as np

from keeptree.data.dates import ISO, is_date_type, read_dates
from keeptree.data.files import check_header, find_column, notify, open_table
from keeptree.data.groups import column_groups, plain_columns
from keeptree.data.inference import Column, infer_columns, infer_target
from keeptree.data.notation import Notation
from keeptree.data.numbers import match_numbers

_MOST_TOLD = 5  # number of columns listed in a message


def read_frame(data, nominal=(), drop=(), target=None, known=()):
    """Read a data file and infer its column types.

    Parameters
    ----------
    data : str, Path or DataFile
        Data file. Needs the extra ``files`` (pandas, pyarrow, liac-arff); Excel needs ``excel``.
    nominal : sequence of str
        Columns to read as categories.
    drop : sequence of str
        Columns to leave out.
    target : str, optional
        Column of the class, whose labels are kept as written.
    known : sequence of str
        Further nominal columns, ignored if absent.

    Returns
    -------
    frame : pandas.DataFrame
        Numbers, and nominal attributes as categoricals: with declared categories from ARFF and
        categorical Parquet columns, otherwise with the sorted values. Missing values are ``?``,
        and in text also empty cells, NA, NaN, nan, null and None.
    notation : dict of str to Notation
        Notation of the columns with units or dates.
    """
    import pandas as pd
    import pyarrow as pa

    with open_table(data) as table:
        if table.is_text:
            check_header(table.names, table.file)
        # Check the names before the whole file is read.
        for name in (*nominal, *drop, *([] if target is None else [target])):
            find_column(name, table.names)
        wanted = [name for name in table.names if name not in drop]
        whole = pa.Table.from_batches([batch for batch, _ in table.batches(wanted)])
    nominal = {*nominal, *known}
    columns, n_rows, read = dict(zip(wanted, whole.columns, strict=True)), len(whole), {}
    del whole
    for names in column_groups(wanted, n_rows):
        # Removed to free the text of converted columns.
        group = {name: columns.pop(name).combine_chunks() for name in names}
        read.update(_read_group(group, table, nominal, target))
    read = _settle_dates(read, table.file, nominal | {target})
    _tell_formatted(read, table)
    frame = pd.DataFrame({name: column.values for name, column in read.items()})
    dialect = table.dialect if table.is_text else None
    notation = {name: column.notation for name, column in read.items() if column.notation}
    return _with_categories(frame, nominal, dialect, target), notation


def _read_group(columns, table, nominal, target):
    """Infer the types of some columns, given and returned by name."""
    if not table.is_text:
        return {name: _typed_column(c, table.file.dates) for name, c in columns.items()}
    literal = {name: Column(columns[name].to_pandas()) for name in nominal & columns.keys()}
    if target in columns and target not in nominal:
        literal[target] = Column(infer_target(columns[target], table.dialect))
    others = {name: column for name, column in columns.items() if name not in literal}
    read = infer_columns(others, table.dialect, table.file.dates) | literal
    return {name: read[name] for name in columns}


def _typed_column(column, dates):
    """Convert a typed column to pandas."""
    import pyarrow as pa

    if is_date_type(column.type) and dates in (None, "drop"):
        return Column(column.to_pandas(), Notation(date=ISO))
    if is_date_type(column.type):
        days = read_dates(column, ISO)
        return Column(days, Notation(date=ISO), (str(column.drop_null()[0]), days[0]))
    numeric = pa.types.is_decimal(column.type) or pa.types.is_null(column.type)
    if numeric or (pa.types.is_boolean(column.type) and column.null_count):
        column = column.cast(pa.float64())
    return Column(column.to_pandas())


def _settle_dates(read, file, literal):
    """Drop date columns if the user asked for it; raise an error if the user did not choose."""
    dated = [
        name
        for name, column in read.items()
        if column.notation and column.notation.date and name not in literal
    ]
    if not dated or file.dates not in (None, "drop"):
        return read
    several = len(dated) > 1
    shown = listed(dated)
    if file.dates is None:
        example = next(str(cell) for cell in read[dated[0]].values if cell == cell and cell)
        raise ValueError(
            f"The column{'s' if several else ''} {shown} hold{'' if several else 's'} dates such "
            f"as {example!r:.50}; read them as days since 1970-01-01 with --dates days, or leave "
            "them out with --dates drop."
        )
    notify(f"left out {shown}, which hold{'' if several else 's'} dates")
    return {name: column for name, column in read.items() if name not in dated}


def _tell_formatted(read, table):
    """Tell the user which columns with units or thousands separators were read as numbers."""
    told = []
    for name, column in read.items():
        if column.example is None:
            continue
        cell, number = column.example
        if column.notation is None and _is_plain(cell, table.dialect):
            continue
        told.append(f"{name!r} ({cell!r:.50} is {number:.10g})")
    if told:
        more = f" and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
        notify(f"read as numbers: {', '.join(told[:_MOST_TOLD])}{more}")


def _is_plain(cell, dialect):
    """Return whether a cell is a number except for its decimal mark."""
    try:
        float(cell.replace(dialect.decimal or ".", "."))
    except ValueError:
        return False
    return True


def _with_categories(frame, nominal, dialect, target):
    """Convert text columns and those in ``nominal`` to categoricals."""
    import pandas as pd

    _check_finite(frame)
    changed = {}
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        is_categorical = isinstance(dtype, pd.CategoricalDtype)
        if is_categorical or (pd.api.types.is_numeric_dtype(dtype) and name not in nominal):
            continue
        column = frame[name]
        if name not in nominal:
            _check_text(name, column, None if name == target else dialect)
        changed[name] = pd.Categorical(column)
    return frame.assign(**changed) if changed else frame


def _check_finite(frame):
    """Raise a ValueError for the first column with infinite numbers."""
    for group in column_groups(plain_columns(frame), len(frame)):
        part = frame.iloc[:, group]
        infinite = np.isinf(part.to_numpy(np.float64)).any(axis=0)
        if infinite.any():
            raise ValueError(
                f"The column {part.columns[infinite.argmax()]!r} holds infinite numbers; leave "
                "those cells empty or write the largest number that makes sense."
            )


def _check_text(name, column, dialect):
    """Raise a ValueError for a column that holds neither numbers nor text."""
    if column.map(lambda value: isinstance(value, list | dict | np.ndarray)).any():
        raise ValueError(f"The column {name!r} holds lists instead of single values; leave it out.")
    values = column.dropna().unique()
    kinds = sorted({type(value).__name__ for value in values} - {"str"})
    if kinds:
        raise ValueError(
            f"The column {name!r} holds values that are neither numbers nor text "
            f"({', '.join(kinds)}); convert them to one or the other."
        )
    _check_mixture(name, values, dialect)


def _check_mixture(name, values, dialect):
    """Raise a ValueError for text that is mostly numbers, or numbers in different notations."""
    decimal = dialect.decimal if dialect else "."
    is_number = match_numbers(values, decimal or ".")
    other = values[~is_number]
    if 0 < len(other) < len(values) / 2:
        raise ValueError(
            f"The column {name!r} mixes numbers and text such as {other[0]!r:.50}; correct it "
            "or leave the cells empty, or declare the column nominal (--nominal) if these are "
            "categories."
        )
    if dialect is None or not len(values):
        return
    if is_number.all() and not any(_is_code(value) for value in values):
        raise ValueError(
            f"The column {name!r} holds numbers with different units, such as {values[0]!r:.50} "
            f"and {values[-1]!r:.50}; write them alike, or declare the column nominal (--nominal)."
        )
    otherwise = "," if decimal == "." else "."
    if match_numbers(values, otherwise).all() and not any(_is_code(value) for value in values):
        raise ValueError(
            f"The column {name!r} holds numbers such as {other[0]!r:.50}, but the decimal mark of "
            f"the file seems to be {decimal!r}; give --decimal {otherwise} or correct the column, "
            "or declare it nominal (--nominal)."
        )


def _is_code(value):
    return len(value) > 1 and value.isdecimal() and value.startswith("0")


def listed(names):
    """Return column names for a message, at most five of them."""
    shown = ", ".join(map(repr, names[:_MOST_TOLD]))
    return shown + (f" and {len(names) - _MOST_TOLD} more" if len(names) > _MOST_TOLD else "")
