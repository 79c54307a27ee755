"""Read data files of any format and size in blocks of rows."""

import re
import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from keeptree.choice import one_of
from keeptree.data import formats
from keeptree.data.columns import is_number
from keeptree.data.dialect import Dialect
from keeptree.data.source import as_data_file
from keeptree.data.streams import open_source
from keeptree.output import user_path

_ROWS = 1 << 16
_ENDINGS = {
    ".arff": formats.Arff,
    ".arrow": formats.Feather,
    ".csv": formats.Delimited,
    ".feather": formats.Feather,
    ".jsonl": formats.JsonLines,
    ".ndjson": formats.JsonLines,
    ".parquet": formats.Parquet,
    ".tsv": formats.Delimited,
    ".txt": formats.Delimited,
    ".xlsm": formats.Excel,
    ".xlsx": formats.Excel,
}
_PLAIN = {
    "sep",
    "decimal",
    "thousands",
    "dates",
}  # options for text files, and for text cells in other formats
_OPTIONS = {
    formats.Arff: {"encoding", "dates"},
    formats.Delimited: {"encoding", *_PLAIN},
    formats.Excel: {"sheet", *_PLAIN} - {"sep"},
    formats.Feather: {"dates"},
    formats.JsonLines: {"encoding", *_PLAIN} - {"sep"},
    formats.Parquet: {"dates"},
}


class ReadingNotice(UserWarning):
    """Warning that tells how a file was read where the user gave no option."""


def notify(text):
    """Issue a :class:`ReadingNotice`."""
    warnings.warn(text, ReadingNotice, stacklevel=3)


def is_known_ending(ending):
    """Return whether a file name has a supported extension."""
    return ending in _ENDINGS


def check_data_file(data):
    """Return the :class:`DataFile`, or raise an error if it does not exist or is not supported."""
    file = as_data_file(data)
    if file.is_stdin:
        return file
    path = user_path(file.path)
    if file.ending == ".xls":
        raise ValueError(f"{path} is in the old Excel format; save it as .xlsx.")
    if file.ending not in _ENDINGS:
        raise ValueError(
            f"{path} is not a data file; give one of {', '.join(sorted(_ENDINGS))}, or - for the "
            "standard input."
        )
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist or is not a file; check the name.")
    return replace(file, path=path)


@dataclass
class Table:
    """An open data file.

    Parameters
    ----------
    file : DataFile
        The file.
    names : list of str
        Names of the columns.
    dialect : Dialect
        Number format of text cells.
    is_text : bool
        Whether all cells are text, so that column types have to be inferred.
    """

    file: object
    names: list
    dialect: Dialect
    is_text: bool
    reader: object

    def batches(self, columns, rows=_ROWS, may_be_empty=False):
        """Read the file in blocks; see :func:`read_batches`."""
        batches, count = self.reader.batches(list(columns), rows), 0
        while True:
            with _reading(self.file, self.reader):
                batch, done = next(batches, (None, 1.0))
            if batch is None:
                break
            count += batch.num_rows
            yield batch, done
        if count == 0 and not may_be_empty:
            raise ValueError(
                f"{self.file} has no rows; give a table with a header and at least one row."
            )
        self.announce()

    def announce(self):
        """Tell the user once how the file was read, unless all defaults apply."""
        told = self.reader.recognised()
        if told and told != getattr(self, "_told", None):
            self._told = told
            notify(f"read {self.file.name} {told}")


@contextmanager
def open_table(data):
    """Open a data file.

    Parameters
    ----------
    data : str, Path or DataFile
        Data file; ``"-"`` is standard input, whose format is detected.

    Yields
    ------
    table : Table
        The open file.
    """
    file = check_data_file(data)
    with ExitStack() as stack:
        kind = _ENDINGS.get(file.ending)
        with _reading(file, kind):
            source = None
            if kind is None or kind.is_text:
                source = stack.enter_context(open_source(file.path))
                kind = kind or _recognise_format(source.head)
            _check_options(file, kind)
            reader = stack.enter_context(kind(file, source))
            names = reader.names()
        table = Table(file, _unique(names, file), reader.dialect, reader.cells_are_text, reader)
        table.announce()
        yield table


def file_columns(data):
    """Return the column names of a data file."""
    with open_table(data) as table:
        return table.names


def unused_columns(data, used):
    """Return the columns of a data file that are not in ``used``.

    Standard input has been read already, so its other columns are unknown and none is returned.
    """
    file = as_data_file(data)
    if file.is_stdin:
        return []
    with warnings.catch_warnings():
        # Whoever reads the cases tells the user how the file was read.
        warnings.simplefilter("ignore", ReadingNotice)
        return [name for name in file_columns(file) if name not in used]


def find_column(name, names):
    """Raise a ValueError with the closest name if there is no column ``name``."""
    one_of([str(other) for other in names], name, "column", most=10)


def read_batches(data, columns, rows=_ROWS):
    """Read a data file in blocks.

    Parameters
    ----------
    data : str, Path or DataFile
        Data file. Needs the extra ``files`` (pandas, pyarrow, liac-arff); Excel needs ``excel``.
    columns : sequence of str
        Columns to read, among :func:`file_columns`.
    rows : int
        Maximum number of rows per block.

    Yields
    ------
    batch : pyarrow.RecordBatch
        The columns of a block: stripped text from CSV, JSON lines and Excel; dictionaries for
        categories in ARFF, Feather and Parquet. Missing cells are null: ``?``, and in text also
        empty cells, NA, NaN, nan, null and None.
    done : float
        Share of the file that has been read.
    """
    with open_table(data) as table:
        yield from table.batches(columns, rows)


def _recognise_format(head):
    """Return the format of standard input, detected from its first bytes."""
    for mark, kind in (
        (b"PAR1", formats.Parquet),
        (b"ARROW1", formats.Feather),
        (b"PK\x03\x04", formats.Excel),
    ):
        if head.startswith(mark):
            return kind
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return formats.JsonLines
    lines = text[:100_000].lower().splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith(b"%")), b"")
    return formats.Arff if first.startswith(b"@relation") else formats.Delimited


def _check_options(file, kind):
    """Raise a ValueError for an option that does not apply to the format."""
    wrong = [name for name in file.given() if name not in _OPTIONS[kind]]
    if wrong:
        raise ValueError(f"--{wrong[0]} does not apply there; leave it out")


def check_header(names, file):
    """Raise a ValueError if the first line of a text file is data instead of a header."""
    numbers = [float(name) for name in names if is_number(name)]
    # Names such as 2019 and 2020 are column names, not data.
    counted = all(n == int(n) for n in numbers) and numbers == sorted(set(numbers))
    if len(numbers) > len(names) / 2 and not counted:
        raise ValueError(
            f"The first line of {file} looks like data ({', '.join(names[:3])}, ...); add a line "
            "with the names of the columns."
        )


def _unique(names, file):
    if len(set(names)) < len(names):
        check_header(names, file)
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"{file} cannot be read: two columns are called {twice!r}; column names must be unique."
        )
    return names


@contextmanager
def _reading(file, kind):
    """Turn the errors of any reading library into one sentence."""
    try:
        yield
    except (FileNotFoundError, ImportError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        ragged = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", reason)
        if ragged:
            row = f"row {int(ragged[1]) - 1}" if ragged[1] else "a row"
            cells = f"{ragged[3]} cell{'s' if ragged[3] != '1' else ''}"
            reason = (
                f"{row} has {cells}, but the first line has {ragged[2]}; correct it, or set "
                f"the column separator with --sep"
            )
        name = "a data file" if kind is None else kind.name
        raise ValueError(f"{file} cannot be read as {name}: {reason}.") from error
