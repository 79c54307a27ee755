"""Read the columns of a fitted model from a data file."""

from dataclasses import dataclass

import numpy as np

from keeptree.choice import tell_absent
from keeptree.data.cells import cells_as_labels, cells_as_numbers, is_text, unseen_cells
from keeptree.data.columns import AS_MISSING
from keeptree.data.files import find_column, open_table
from keeptree.data.groups import column_groups
from keeptree.data.inference import PLAIN, plain_numbers
from keeptree.data.source import as_data_file

CELLS = 1_000_000  # numbers per block: 8 MB, held several times in memory


@dataclass(frozen=True)
class Block:
    """A block of rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        The model's columns in its order: float64, or categorical with the model's labels.
    kept : dict
        Columns to copy to the output, by name, as pyarrow arrays.
    start : int
        Index of the first row, from 0.
    done : float
        Share of the file that has been read.
    unseen : dict
        Categories that the model does not know and that the frame leaves out: column position ->
        (row indices in the frame, categories).
    ignored : list of str
        Columns of the file that are neither the model's nor copied.
    """

    frame: object
    kept: dict
    start: int
    done: float
    unseen: dict
    ignored: list


class CaseReader:
    """Converts Arrow batches to the columns of a fitted model.

    Parameters
    ----------
    model : fitted model
        ``feature_names_in_`` names its columns, ``tree_.categories`` defines which are nominal
        (none without a KeepTree ``tree_``), and ``notation_`` how numbers with units and dates are
        written.
    names : sequence of str
        Columns of the table, in any order. If the model was fitted without names, columns are
        matched by position and their number must agree.
    keep : sequence of str
        Columns to copy to the output.
    source : object
        Name of the table in error messages.
    dialect : Dialect, optional
        Number format of text columns.

    Attributes
    ----------
    columns : list of str
        The model's columns in its order.
    wanted : list of str
        ``columns`` and ``keep`` without duplicates.
    named : bool
        Whether the model was fitted with column names.
    plain_numbers : set of str
        Numeric columns without units or dates.
    """

    def __init__(self, model, names, keep=(), source="The table", dialect=PLAIN):
        for name in keep:
            find_column(name, names)
        self._rules = _find_rules(model, list(names), keep, source)
        self.named = hasattr(model, "feature_names_in_")
        self._dialect = dialect
        self.columns = list(self._rules)
        self.plain_numbers = {
            name
            for name, (labels, notation, _) in self._rules.items()
            if labels is None and notation is None
        }
        self._position = {name: j for j, name in enumerate(self.columns)}
        self.wanted = list(dict.fromkeys([*self.columns, *keep]))

    def frame(self, batch, start=0):
        """Return the model's columns as a data frame of numbers and categoricals."""
        import pandas as pd

        made = self._read(_cells(batch), self.columns, batch.num_rows, start)
        is_wide = len(made) > batch.num_rows  # pandas is slow with many arrays
        frame = pd.DataFrame(made, copy=is_wide)
        if not self.named:
            frame.columns = range(len(made))  # scikit-learn warns about unexpected names
        return frame

    def matrix(self, batch, start=0):
        """Return the model's columns as a matrix of numbers and category codes."""
        import pyarrow as pa

        cells, numbers = _cells(batch), pa.float64()
        rows, others = np.empty((batch.num_rows, len(self.columns))), []
        for j, name in enumerate(self.columns):
            if name in self.plain_numbers and cells[name].type == numbers:
                rows[:, j] = cells[name].to_numpy(zero_copy_only=False)  # what _read returns
            else:
                others.append(name)
        for name, values in self._read(cells, others, batch.num_rows, start).items():
            codes = getattr(values, "codes", None)
            values = values if codes is None else np.where(codes < 0, np.nan, codes)
            rows[:, self._position[name]] = values
        return rows

    def unseen(self, batch, frame):
        """Return the categories that the model does not know; see :class:`Block`."""
        found = {}
        for position, (name, (labels, _, _)) in enumerate(self._rules.items()):
            if labels is not None:
                values = frame.iloc[:, position].array
                places, cells = unseen_cells(batch.column(name), values)
                if len(places):
                    found[position] = places, cells
        return found

    def _read(self, cells, names, n_rows, start):
        """Return the columns by name, as float64 arrays or categoricals with the model's labels."""
        made = self._read_together(cells, names, n_rows)
        for name in names:
            labels, notation, unknown = self._rules[name]
            if labels is not None:
                made[name] = cells_as_labels(cells[name], labels, name, unknown)
            elif name not in made:
                made[name] = cells_as_numbers(cells[name], name, start, self._dialect, notation)
        return {name: made[name] for name in names}

    def _read_together(self, cells, names, n_rows):
        """Convert columns of plain numbers in groups, which is faster for short columns."""
        texts = [name for name in names if name in self.plain_numbers and is_text(cells[name])]
        made = {}
        for names in column_groups(texts, n_rows):
            found = plain_numbers({name: cells[name] for name in names}, self._dialect)
            made.update({name: values.astype(np.float64) for name, values in found.items()})
        return made


def _cells(batch):
    """The columns of a batch by name."""
    return dict(zip(batch.schema.names, batch.columns, strict=True))


def read_blocks(data, model, keep=(), may_be_empty=False):
    """Read a data file block by block.

    Parameters
    ----------
    data : str, Path or DataFile
        Data file. Columns that the model does not use are ignored.
    model : fitted model
        Model that defines the columns; see :class:`CaseReader`.
    keep : sequence of str
        Columns to copy to the output.
    may_be_empty : bool
        Whether a file without rows is allowed; otherwise it raises a ValueError.

    Yields
    ------
    block : Block
        A block of rows with the model's columns.
    """
    with open_table(data) as table:
        reader = CaseReader(model, table.names, keep, table.file, table.dialect)
        rows = max(CELLS // max(len(reader.wanted), 1), 1000)
        wanted = set(reader.wanted)
        ignored = [name for name in table.names if name not in wanted]
        start = 0
        for batch, done in table.batches(reader.wanted, rows, may_be_empty):
            frame = reader.frame(batch, start)
            unseen = reader.unseen(batch, frame)
            kept = {name: batch.column(name) for name in keep}
            yield Block(frame, kept, start, done, unseen, ignored)
            start += batch.num_rows


def read_cases(model, data, target=None):
    """Read the columns of a fitted model from a whole data file.

    Parameters
    ----------
    model : fitted model
        For example one returned by :func:`~keeptree.load`.
    data : str, Path or DataFile
        Data file.
    target : str, optional
        Column of the true class. Missing or unknown classes raise a ValueError.

    Returns
    -------
    X : pandas.DataFrame
        The model's columns.
    y : pandas.Categorical or None
        The true classes.
    """
    import pandas as pd
    import pyarrow as pa

    blocks = list(read_blocks(data, model, [] if target is None else [target]))
    X = pd.concat([block.frame for block in blocks], ignore_index=True)
    if target is None:
        return X, None
    column = pa.chunked_array([block.kept[target] for block in blocks])
    y = cells_as_labels(column, model.classes_.tolist(), target)
    if y.isna().any():
        row = int(y.isna().argmax())
        raise ValueError(
            f"The target {target!r} is {column[row].as_py()!r:.50} in row {row + 1}, but the model "
            f"knows {', '.join(map(str, model.classes_[:10]))}."
        )
    return X, y


def read_row(model, data, row):
    """Read one row of a data file for a fitted model.

    Parameters
    ----------
    model : fitted model
        For example one returned by :func:`~keeptree.load`.
    data : str, Path or DataFile
        Data file.
    row : int
        Row number; the first row after the header is 1.

    Returns
    -------
    X : pandas.DataFrame
        The model's columns of that row.
    """
    rows = 0
    for block in read_blocks(data, model):
        rows = block.start + len(block.frame)
        if 1 <= row <= rows:
            return block.frame.iloc[[row - 1 - block.start]]
    raise ValueError(
        f"{as_data_file(data)} has {rows} rows, counted from 1; there is no row {row}."
    )


def find_row(model, data, column, value):
    """Read the only row of a data file that has a value in a column, such as a customer number.

    Parameters
    ----------
    model : fitted model
        For example one returned by :func:`~keeptree.load`.
    data : str, Path or DataFile
        Data file.
    column : str
        Column to search, whether the model uses it or not.
    value : str
        Value as written in the file; numbers may be written in another way.

    Returns
    -------
    X : pandas.DataFrame
        The model's columns of that row.
    """
    found, numbers = [], []
    for block in read_blocks(data, model, [column]):
        for at, cell in enumerate(block.kept[column].to_pylist()):
            if _is_written_as(cell, value):
                found.append(block.frame.iloc[[at]])
                numbers.append(block.start + at + 1)
    if len(found) == 1:
        return found[0]
    if not found:
        raise ValueError(f"{as_data_file(data)} has no row with {column}={value}.")
    shown = ", ".join(map(str, numbers[:5])) + (" and others" if len(numbers) > 5 else "")
    raise ValueError(
        f"{as_data_file(data)} has {len(found)} rows with {column}={value}; choose one of the rows "
        f"{shown}."
    )


def _is_written_as(cell, value):
    if cell is None or str(cell) == value:
        return cell is not None
    try:
        return float(cell) == float(value)
    except (TypeError, ValueError):
        return False


def _find_rules(model, names, keep, source):
    """Return the labels (None if numeric), notation and rule for unknown labels of each column."""
    categories = getattr(getattr(model, "tree_", None), "categories", None)
    if categories is None:
        categories = (None,) * model.n_features_in_  # scikit-learn's trees are numeric
    expected = getattr(model, "feature_names_in_", None)
    if expected is None:
        expected = [name for name in names if name not in keep]
        if len(expected) != len(categories):
            raise ValueError(
                f"{source} has {len(expected)} columns, but the model was fitted to "
                f"{len(categories)} unnamed columns; give exactly these, in the same order."
            )
    known = set(names)
    absent = [name for name in expected if name not in known]
    if absent:
        raise ValueError(f"{source} lacks {tell_absent(absent, names, expected)}")
    notations = getattr(model, "notation_", None) or (None,) * len(categories)
    unknown = getattr(getattr(model, "tree_", None), "unknown", (AS_MISSING,) * len(categories))
    return dict(zip(expected, zip(categories, notations, unknown, strict=True), strict=True))
