"""The supported file formats; each reads its rows in blocks."""

import io
import json
from contextlib import AbstractContextManager
from functools import cache
from itertools import islice

from keeptree.data.dialect import MISSING, Dialect, read_records, recognise
from keeptree.data.groups import map_cells
from keeptree.data.streams import Utf8
from keeptree.output import require_extra

_BYTES = 1 << 23  # bytes of a text file that are parsed at once


class Format(AbstractContextManager):
    """An open data file.

    A subclass supplies ``names()`` and ``batches(columns, rows)``, which yields pairs of a
    pyarrow.RecordBatch and the share of the file that has been read.

    Parameters
    ----------
    file : DataFile
        The file.
    source : Source
        Content of a text file; None for a binary format.
    """

    is_text = False  # whether the format is text
    cells_are_text = False  # whether the columns have no types

    def __init__(self, file, source):
        self.file, self.source = file, source
        self.dialect = Dialect(decimal=file.decimal or _decimal(file), thousands=file.thousands)
        self.open()

    def open(self):
        """Inspect the beginning of the file."""

    def close(self):
        """Close the file."""

    def recognised(self):
        """Return how the file was read, in words; "" if all defaults apply."""
        return ""

    def place(self):
        """Return the path for binary readers, or the content of a pipe."""
        import pyarrow as pa

        return str(self.file.path) if self.source is None else pa.py_buffer(self.source.read())

    def cells_of(self, table):
        """Convert columns of Python values to text, as in a CSV file."""
        import pyarrow as pa

        text = ([_text(v, self.dialect) for v in values] for values in table.values())
        cells = map_cells(trim, [pa.array(values, pa.string()) for values in text])
        return dict(zip(table, cells, strict=True))

    def __exit__(self, *error):
        self.close()


class Delimited(Format):
    """CSV and other delimited text."""

    name = "CSV"
    is_text = cells_are_text = True

    def open(self):  # noqa: D102
        self.text = Utf8(self.source, self.file.encoding)
        self.head = self.text.head()
        given = {name: getattr(self.file, name) for name in ("sep", "decimal", "thousands")}
        if self.file.ending == ".tsv":
            given["sep"] = given["sep"] or "\t"
        self.dialect = recognise(self.head, self.source.complete, **given)

    def recognised(self):  # noqa: D102
        told = " ".join(self.dialect.recognised)
        told = told if told.startswith("with") or not told else f"as {told}"
        if self.text.recognised:
            told = f"{told}, {self.text.recognised}" if told else f"as {self.text.recognised}"
        return told

    def names(self):
        """Return the column names from the first line, stripped; empty names become numbers."""
        if not self.head.strip():
            raise ValueError("it is empty; give a line with column names, then the rows")
        text, records = self._records()
        if not records or text[0] in "\r\n":
            raise ValueError("the first line is empty, where the names of the columns are expected")
        return [name.strip() or f"unnamed_{k}" for k, name in enumerate(records[0], start=1)]

    def _records(self):
        """Return the beginning of the file from the header on, as text and as records."""
        text = "".join(self.head.splitlines(keepends=True)[self.dialect.skip :])
        return text, read_records(text, self.dialect.sep, self.source.complete)

    def batches(self, columns, rows):  # noqa: D102
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        names = self.names()
        if self.source.complete and len(self._records()[1]) == 1:
            return  # no rows: a thread of pyarrow that still reads could abort an exiting process
        options = (
            # skip_rows counts lines; this also skips a header whose names contain line breaks.
            arrow_csv.ReadOptions(
                block_size=_BYTES,
                column_names=names,
                skip_rows=self.dialect.skip,
                skip_rows_after_names=1,
            ),
            arrow_csv.ParseOptions(delimiter=self.dialect.sep, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in names}, include_columns=columns
            ),
        )
        try:
            reader = arrow_csv.open_csv(
                pa.PythonFile(io.BufferedReader(self.text, _BYTES), "r"), *options
            )
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                return  # the file has a header but no rows
            raise
        with reader:
            for batch in reader:
                batch = pa.record_batch(map_cells(trim, batch.columns), schema=batch.schema)
                yield from _slices(batch, rows, self.source.done())


class JsonLines(Format):
    """One JSON object per line; cells become text, as in a CSV file."""

    name = "JSON lines"
    is_text = cells_are_text = True

    def open(self):  # noqa: D102
        self.text = Utf8(self.source, self.file.encoding)
        self.head = self.text.head()

    def recognised(self):  # noqa: D102
        return f"as {self.text.recognised}" if self.text.recognised else ""

    def names(self):
        """Return the keys of the first objects."""
        lines = self.head.splitlines()
        lines = lines if self.source.complete else lines[:-1]
        names = {}
        for number, line in enumerate(lines, start=1):
            if line.strip():
                names.update(dict.fromkeys(_json_object(line, number)))
        return list(names)

    def batches(self, columns, rows):
        """Read the values of some keys; if all are read, a new key in a later line is an error."""
        import pyarrow as pa

        known, reads_all = set(self.names()), set(columns) == set(self.names())
        lines = enumerate(io.TextIOWrapper(io.BufferedReader(self.text), encoding="utf-8"), 1)
        objects = ((number, _json_object(line, number)) for number, line in lines if line.strip())
        while part := list(islice(objects, rows)):
            for number, found in part:
                new = set(found) - known
                if new and reads_all:
                    raise ValueError(
                        f"line {number} has the key {sorted(new)[0]!r}, which the first lines do "
                        "not have; give every line the same keys, with null for missing values"
                    )
            table = {name: [found.get(name) for _, found in part] for name in columns}
            yield pa.record_batch(self.cells_of(table)), self.source.done()


class Excel(Format):
    """A sheet of an Excel file; cells become text, as in a CSV file."""

    name = "Excel"
    cells_are_text = True

    def open(self):  # noqa: D102
        require_extra("openpyxl", extra="excel")
        from openpyxl import load_workbook

        place = self.place()
        place = place if isinstance(place, str) else io.BytesIO(place)
        self.book = load_workbook(place, read_only=True, data_only=True)
        self.sheet = self._find_sheet([sheet.title for sheet in self.book.worksheets])
        self.rows = filter(any_known, self.sheet.iter_rows(values_only=True))
        self.first = next(self.rows, ())

    def close(self):  # noqa: D102
        if hasattr(self, "book"):
            self.book.close()

    def recognised(self):  # noqa: D102
        sheets = len(self.book.worksheets)
        if sheets < 2 or self.file.sheet is not None:
            return ""
        return f"from the first of its {sheets} sheets, {self.sheet.title!r}"

    def names(self):
        """Return the column names from the first nonempty row, without unnamed trailing columns."""
        if not self.first:
            raise ValueError(
                f"the sheet {self.sheet.title!r} is empty; choose another one with --sheet"
            )
        names = [_text(cell, self.dialect) or "" for cell in self.first]
        while not names[-1].strip():
            names.pop()
        return [name.strip() or f"unnamed_{k}" for k, name in enumerate(names, start=1)]

    def batches(self, columns, rows):  # noqa: D102
        import pyarrow as pa

        place = {name: k for k, name in enumerate(self.names())}
        while part := list(islice(self.rows, rows)):
            table = {name: [row[place[name]] for row in part] for name in columns}
            yield pa.record_batch(self.cells_of(table)), 0.0

    def _find_sheet(self, titles):
        wanted = self.file.sheet
        if wanted is None:
            return self.book.worksheets[0]
        if wanted in titles:
            return self.book[wanted]
        number = int(wanted) if str(wanted).isdecimal() else 0
        if not 1 <= number <= len(titles):
            sheets = ", ".join(map(repr, titles[:10]))
            raise ValueError(f"it has no sheet {wanted!r:.50}; its sheets are {sheets}")
        return self.book.worksheets[number - 1]


class Parquet(Format):
    """A Parquet file."""

    name = "PARQUET"

    def open(self):  # noqa: D102
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile

        place = self.place()
        self.parquet = ParquetFile(place if isinstance(place, str) else pa.BufferReader(place))

    def close(self):  # noqa: D102
        if hasattr(self, "parquet"):
            self.parquet.close()

    def names(self):  # noqa: D102
        return [n for n in self.parquet.schema_arrow.names if not n.startswith("__index_level_")]

    def batches(self, columns, rows):  # noqa: D102
        read, total = 0, max(self.parquet.metadata.num_rows, 1)
        for batch in self.parquet.iter_batches(rows, columns=columns):
            read += batch.num_rows
            if batch.num_rows:
                yield batch, read / total


class Feather(Format):
    """A Feather file, which is the Arrow file format."""

    name = "FEATHER"

    def open(self):  # noqa: D102
        import pyarrow as pa

        place = self.place()
        file = pa.memory_map(place) if isinstance(place, str) else pa.BufferReader(place)
        self.reader = pa.ipc.open_file(file)

    def names(self):  # noqa: D102
        return [n for n in self.reader.schema.names if not n.startswith("__index_level_")]

    def batches(self, columns, rows):  # noqa: D102
        count = self.reader.num_record_batches
        for k in range(count):
            batch = self.reader.get_batch(k).select(columns)
            yield from _slices(batch, rows, (k + 1) / count)


class Arff(Format):
    """Weka's ARFF format."""

    name = "ARFF"
    is_text = True

    def open(self):  # noqa: D102
        import arff

        self.text = Utf8(self.source, self.file.encoding)
        lines = io.TextIOWrapper(io.BufferedReader(self.text), encoding="utf-8")
        self.document = arff.load(lines, return_type=arff.DENSE_GEN)  # rows are read on demand

    def recognised(self):  # noqa: D102
        return f"as {self.text.recognised}" if self.text.recognised else ""

    def names(self):  # noqa: D102
        return [name for name, _ in self.document["attributes"]]

    def batches(self, columns, rows):  # noqa: D102
        import pyarrow as pa

        attributes = self.document["attributes"]
        while part := list(islice(self.document["data"], rows)):
            table = zip(attributes, zip(*part, strict=True), strict=True)
            cells = {name: _arff_column(v, kind) for (name, kind), v in table if name in columns}
            yield pa.record_batch(cells), self.source.done()


def trim(column):
    """Strip text cells, and replace those that mean a missing value by null."""
    import pyarrow.compute as pc

    missing, null = _missing_cells()
    text = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.is_in(text, options=missing), null, text)


@cache
def _missing_cells():
    """Return the values that mean a missing cell, for :func:`trim`; created once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.SetLookupOptions(pa.array(MISSING)), pa.scalar(None, pa.string())


def any_known(row):
    """Return whether a row of a sheet has a cell that is not empty."""
    return any(cell is not None for cell in row)


def _decimal(file):
    return "," if file.thousands == "." else "."


def _slices(batch, rows, done):
    for first in range(0, batch.num_rows, rows):
        yield batch.slice(first, rows), done


def _json_object(line, number):
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ValueError(f"line {number} is not JSON; write one object per line") from error
    if not isinstance(found, dict):
        raise ValueError(
            f"line {number} is not an object such as {{'age': 3}}; write one object per line"
        )
    return found


def _text(value, dialect):
    """Convert a JSON or Excel cell to text; None if missing."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        raise ValueError(
            "a cell holds a list or an object instead of a single value; leave the column out"
        )
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, float):
        return str(value).replace(".", dialect.decimal)
    return str(value)


def _arff_column(values, kind):
    """Return the values of an ARFF attribute as a column of its declared type."""
    import pyarrow as pa

    if isinstance(kind, list):
        position = {label: code for code, label in enumerate(kind)}
        codes = pa.array([position.get(value) for value in values], pa.int32())
        return pa.DictionaryArray.from_arrays(codes, pa.array(kind, pa.string()))
    return pa.array(values, pa.string() if kind.upper() == "STRING" else pa.float64())
