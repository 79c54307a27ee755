"""Write scored rows to a CSV or Parquet file, a folder of files, or standard output."""

import io
import shutil
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

from keeptree.data.labels import plain
from keeptree.engines.formulas import escape_formulas, escape_name
from keeptree.output import check_new_folder, check_writable, new_folder, replacing, user_path

_KINDS = (".csv", ".parquet")


def check_out(out, parts, excel_safe):
    """Raise unless the answers can be written to ``out`` without overwriting the input."""
    if str(out) == "-":
        return
    if excel_safe and Path(out).suffix.lower() != ".csv":
        raise ValueError(f"{out} is Parquet, which has no formulas; leave out excel_safe.")
    if is_folder(out):
        check_new_folder(out)
        return
    if Path(out).suffix.lower() not in _KINDS:
        raise ValueError(
            f"{out} is neither CSV nor Parquet; give it the extension .csv or .parquet, or no "
            f"extension for a folder of Parquet files."
        )
    check_writable(out)
    target = user_path(out)
    for part in parts:
        if target.exists() and user_path(part).exists() and target.samefile(user_path(part)):
            raise ValueError(f"{out} is the data file; write the answers to another file.")


def is_folder(out):
    """Whether answers are written to a folder, whose name has no extension."""
    return str(out) != "-" and not Path(out).suffix


def check_kept(keep, names):
    """Raise a ValueError if a column to keep is named like an answer."""
    clash = [name for name in keep if name in names]
    if clash:
        raise ValueError(
            f"The column {clash[0]!r} cannot be kept: the output has a column of that name; "
            "rename it."
        )


@contextmanager
def open_output(out, hold=False, excel_safe=False):
    """Yield a function that appends columns to ``out``; the file appears when it is complete.

    Parameters
    ----------
    out : str or Path
        As for :func:`~keeptree.predict_file`.
    hold : bool
        Whether nothing is written to standard output either before everything is complete.
    excel_safe : bool
        Whether text that a spreadsheet would run as a formula is escaped.

    Yields
    ------
    write : callable
        ``write(columns, part)`` takes columns by name and the number of their part of the data; in
        a folder, each part has its own file.
    """
    if is_folder(out):
        with new_folder(out) as temporary, _Parts(temporary) as parts:
            yield parts.write
    elif str(out) != "-":
        kind = Path(out).suffix.lower()
        with replacing(out) as temporary, _Table(temporary, kind, excel_safe) as table:
            yield table.write
    else:
        with _standard_output(hold) as stream, _Table(stream, ".csv", excel_safe) as table:
            yield table.write


@contextmanager
def _standard_output(hold):
    """Standard output as a binary stream; with ``hold``, written only if no error is raised."""
    stream = getattr(sys.stdout, "buffer", None)  # in a notebook it accepts only text
    if stream is not None and not hold:
        yield stream
        return
    with TemporaryFile() as held:
        yield held
        held.seek(0)
        if stream is not None:
            shutil.copyfileobj(held, stream)
        else:
            shutil.copyfileobj(io.TextIOWrapper(held, "utf-8", newline=""), sys.stdout)


def part_name(number):
    """Name of an output file in a folder; the names sort in the order of the rows."""
    return f"part-{number:05d}.parquet"


class _Parts:
    """A folder with a Parquet file for each part of the data."""

    def __init__(self, folder):
        self.folder, self.number, self.stack, self.table = folder, None, ExitStack(), None

    def write(self, columns, part):
        """Append rows to the file of a part."""
        if part != self.number:
            self.stack.close()
            place = self.folder / part_name(part)
            self.table = self.stack.enter_context(_Table(place, ".parquet", False))
            self.number = part
        self.table.write(columns)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stack.close()


class _Table:
    """A CSV or Parquet file that is written block by block."""

    def __init__(self, place, kind, excel_safe):
        self.place, self.kind, self.excel_safe, self.file = place, kind, excel_safe, None

    def write(self, columns, part=0):
        """Append rows."""
        import pyarrow as pa

        arrays = {name: _as_arrow(column) for name, column in columns.items()}
        if self.excel_safe:
            arrays = {escape_name(name): escape_formulas(arrays[name]) for name in arrays}
        table = pa.table(arrays)
        if self.file is None:
            self.schema, self.file = table.schema, self._open(table.schema)
        self.file.write_table(table if table.schema == self.schema else self._fitted(table))

    def _fitted(self, table):
        """Cast a table to the types of the first one; other files may have different types."""
        import pyarrow as pa

        try:
            return table.cast(self.schema)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            for name, first in zip(self.schema.names, self.schema.types, strict=True):
                if table.schema.field(name).type != first:
                    raise ValueError(
                        f"The column {name!r} holds {first} in the first rows and "
                        f"{table.schema.field(name).type} later; use the same type in all files, "
                        f"or leave the column out."
                    ) from None
            raise
            raise

    def _open(self, schema):
        from pyarrow.csv import CSVWriter
        from pyarrow.parquet import ParquetWriter

        place = str(self.place) if isinstance(self.place, Path) else self.place
        return (CSVWriter if self.kind == ".csv" else ParquetWriter)(place, schema)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.file is not None:
            self.file.close()


def _as_arrow(column):
    """Convert a column to Arrow without dictionaries, which would differ between blocks."""
    import pyarrow as pa

    if isinstance(column, np.ndarray) and column.dtype.kind in "OU":
        return pa.array([str(plain(label)) for label in column])
    array = pa.array(column) if not isinstance(column, pa.ChunkedArray) else column
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
