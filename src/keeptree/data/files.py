"""The one reader of data files: CSV, Parquet and ARFF as blocks of rows, whatever their size."""

import csv
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from keeptree.choice import one_of

MISSING = ["", "?", "NA", "NaN", "nan", "null", "None"]  # what an empty CSV cell looks like
_BYTES = 1 << 23  # of a CSV file that are parsed at once
_ROWS = 1 << 16


def check_data_file(path):
    """Return the path; one that is no data file, or not there, is an error that says so."""
    path = Path(path).expanduser()
    if path.suffix.lower() not in _BLOCKS:
        raise ValueError(f"{path} is not a data file; give one of {', '.join(sorted(_BLOCKS))}.")
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist or is not a file; check the name.")
    return path


def file_columns(path):
    """Names of the columns of a data file."""
    path = check_data_file(path)
    with _reading(path):
        return _NAMES[path.suffix.lower()](path)


def find_column(name, names):
    """Raise a ValueError that suggests the closest name unless there is a column ``name``."""
    one_of([str(other) for other in names], name, "column", most=10)


def read_batches(path, columns, rows=_ROWS):
    """Read a data file block by block.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.arff`` or ``.parquet`` (needs the extra ``files``: pandas, pyarrow, liac-arff).
    columns : sequence of str
        Those wanted, of :func:`file_columns`.
    rows : int
        Most rows of a block.

    Yields
    ------
    batch : pyarrow.RecordBatch
        The columns of some rows: text from CSV, without spaces around it; categories of ARFF and
        Parquet as dictionaries. Missing cells are null: ``?``, and in CSV also an empty cell, NA,
        NaN, nan, null and None.
    done : float
        How much of the file was read, between 0 and 1.
    """
    path = check_data_file(path)
    batches = _BLOCKS[path.suffix.lower()](path, list(columns), rows)
    count = 0
    while True:
        with _reading(path):
            batch, done = next(batches, (None, 1.0))
        if batch is None:
            break
        count += batch.num_rows
        yield batch, done
    if count == 0:
        raise ValueError(f"{path} has no rows; a table with a header and some rows is needed.")


@contextmanager
def _reading(path):
    """Say in one sentence that a file cannot be read: each library has errors of its own."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        kind = path.suffix[1:].upper()
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in reason:
            with open(path, "rb") as file:
                wide = file.read(2) in (b"\xff\xfe", b"\xfe\xff")  # the mark of UTF-16
            guess = "in UTF-16" if wide else "perhaps in Latin-1"
            reason = f"it is not in UTF-8 but {guess}; save it as UTF-8"
        raise ValueError(f"{path} cannot be read as {kind}: {reason}.") from error


def _csv_names(path):
    """Column names of a CSV file: its first line, without spaces around them."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        names = [name.strip() for name in next(csv.reader(file), [])]
    if not names:
        raise ValueError("the first line is empty, where the names of the columns are expected")
    other = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
    if other:
        raise ValueError(
            f"its columns seem to be separated by {other!r}; save it with commas between them"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two columns are called {twice!r}; column names must be unique")
    return names


def _csv_blocks(path, columns, rows):
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    names, size = _csv_names(path), max(path.stat().st_size, 1)
    options = (
        # Unlike skip_rows this skips a whole header, line breaks in its names included.
        arrow_csv.ReadOptions(block_size=_BYTES, column_names=names, skip_rows_after_names=1),
        arrow_csv.ParseOptions(newlines_in_values=True),
        arrow_csv.ConvertOptions(
            column_types={name: pa.string() for name in names}, include_columns=columns
        ),
    )
    with pa.OSFile(str(path)) as file:
        try:
            reader = arrow_csv.open_csv(file, *options)
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                return  # a header and no row
            raise
        for number, batch in enumerate(reader, start=1):
            cells = pa.record_batch(
                [_trim(column) for column in batch.columns], schema=batch.schema
            )
            # The place in the file would not do: the reader is several blocks ahead.
            done = min(number * _BYTES / size, 1.0)
            for first in range(0, cells.num_rows, rows):
                yield cells.slice(first, rows), done


def _trim(column):
    """CSV cells without spaces around them, null where they stand for a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(column)
    blank = pc.is_in(text, value_set=pa.array(MISSING))
    return pc.if_else(blank, pa.scalar(None, pa.string()), text)


def _parquet_names(path):
    from pyarrow.parquet import read_schema

    return [name for name in read_schema(path).names if not name.startswith("__index_level_")]


def _parquet_blocks(path, columns, rows):
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        read, total = 0, max(file.metadata.num_rows, 1)
        for batch in file.iter_batches(rows, columns=columns):
            read += batch.num_rows
            if batch.num_rows:
                yield batch, read / total


def _arff_names(path):
    with path.open(encoding="utf-8") as file:
        return [name for name, _ in _load_arff(file)["attributes"]]


def _arff_blocks(path, columns, rows):
    import pyarrow as pa

    with path.open(encoding="utf-8") as file:
        document = _load_arff(file)
        attributes = document["attributes"]
        while part := list(islice(document["data"], rows)):
            table = zip(attributes, zip(*part, strict=True), strict=True)
            cells = {name: _arff_column(v, kind) for (name, kind), v in table if name in columns}
            yield pa.record_batch(cells), 1.0


def _load_arff(file):
    """The attributes of an ARFF file, and its rows as they are asked for."""
    import arff

    return arff.load(file, return_type=arff.DENSE_GEN)


def _arff_column(values, kind):
    """Values of an attribute; its kind is a list of categories, ``STRING`` or a number's."""
    import pyarrow as pa

    if isinstance(kind, list):
        position = {label: code for code, label in enumerate(kind)}
        codes = pa.array([position.get(value) for value in values], pa.int32())
        return pa.DictionaryArray.from_arrays(codes, pa.array(kind, pa.string()))
    return pa.array(values, pa.string() if kind.upper() == "STRING" else pa.float64())


_NAMES = {".arff": _arff_names, ".csv": _csv_names, ".parquet": _parquet_names}
_BLOCKS = {".arff": _arff_blocks, ".csv": _csv_blocks, ".parquet": _parquet_blocks}
