"""The local engine: score a data file of any size, block by block, on this machine."""

import re
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

from keeptree.data.cases import read_blocks
from keeptree.data.labels import plain
from keeptree.data.source import as_data_file
from keeptree.engines.formulas import escape_formulas, escape_name
from keeptree.engines.scorer import Scorer
from keeptree.output import check_writable, replacing, require_extra, user_path
from keeptree.progress import step

KINDS = (".csv", ".parquet")
SCHEMA = 1  # of the summary: a change that breaks its readers raises it


def predict_file(
    model,
    data,
    out,
    *,
    keep=(),
    distance=False,
    labels=None,
    strict=False,
    excel_safe=False,
    progress=None,
):
    """Score a CSV, Parquet or ARFF file and write the answers to a CSV or Parquet file.

    Memory does not grow with the number of rows. The file ``out`` is there once it is complete.

    Parameters
    ----------
    model : fitted model
        For example of :func:`~keeptree.load`.
    data : str or Path
        The cases. Columns are found by name; others than the model's are ignored.
    out : str or Path
        A ``.csv`` or ``.parquet`` file, or ``"-"`` for CSV on the standard output. It has the
        columns of ``keep``; ``prediction``; ``probability_...`` of each class (``score`` for a
        ranking); and ``second_opinion``, whether the probabilities favour another class than
        the tree.
    keep : sequence of str
        Columns of the data to write beside the answers, such as an identifier.
    distance : bool, default=False
        Whether to add ``distance``, that of the tree's decision boundary.
    labels : dict, optional
        Class -> name to write instead of it, in the predictions and in the names of the columns.
    strict : bool, default=False
        Whether anything new (see :func:`~keeptree.unfamiliar`) is a ValueError: then nothing is
        written.
    excel_safe : bool, default=False
        Whether text in a CSV file that a spreadsheet would run as a formula (it starts with ``=``,
        ``+``, ``-`` or ``@`` and is no number) is written with an apostrophe before it.
    progress : callable, optional
        Called with the share of the file that was read and the number of rows.

    Returns
    -------
    summary : dict
        ``rows``, ``second_opinions`` (None for a model without), ``columns``, ``out``, and
        ``unfamiliar``: what :meth:`Unfamiliar.to_dict` returns, None for a model that is not one
        of ours.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    >>> folder = getfixture("tmp_path")
    >>> X.to_csv(folder / "new.csv", index=False)
    >>> summary = kt.predict_file(model, folder / "new.csv", folder / "scored.csv")
    >>> summary["rows"], summary["columns"][:2]
    (150, ['prediction', 'probability_0'])
    >>> summary["unfamiliar"]["sentence"]
    'Nothing new: categories, ranges and missing values are as in fitting.'
    """
    require_extra("pandas", "pyarrow", extra="files")
    _check_out(out, data, excel_safe)
    if isinstance(keep, str):
        raise ValueError(f"keep={keep!r} is not a list of columns; give [{keep!r}].")
    keep = list(dict.fromkeys(keep))
    scorer = Scorer(model, distance, labels)
    clash = [name for name in keep if name in scorer.names]
    if clash:
        raise ValueError(
            f"The column {clash[0]!r} cannot be kept: the output has a column of that name; "
            "rename it."
        )
    rows = second_opinions = 0
    with (
        _writer(out, strict, excel_safe) as write,
        step(f"Scoring {as_data_file(data).name}", 1.0) as move,
    ):
        for block in read_blocks(data, scorer.reader, keep):
            columns = _score(scorer, block, data)
            write({**block.kept, **columns})
            rows += len(block.frame)
            second_opinions += int(np.count_nonzero(columns.get("second_opinion", 0)))
            move(block.done, f"{100 * block.done:.0f} % of the file, {rows:,} rows")
            if progress is not None:
                progress(block.done, rows)
        new = scorer.unfamiliar()
        if strict:
            _refuse_new(new, model, data)
    return {
        "schema": SCHEMA,
        "rows": rows,
        "second_opinions": second_opinions if scorer.has_second_opinion else None,
        "columns": [*keep, *scorer.names],
        "unfamiliar": None if new is None else new.to_dict(),
        "out": str(out),
    }


def _refuse_new(new, model, data):
    """Raise a ValueError if something is new, or if nobody can say."""
    if new is None:
        raise ValueError(
            f"A {type(model).__name__} remembers nothing of its training sample, so that nobody "
            "can say what is new; leave out strict, or fit a KeepTree classifier."
        )
    if new:
        raise ValueError(f"{data} is refused, and nothing was written. {new}")


def _score(scorer, block, data):
    """Answers for a block; a complaint about its rows says where in the file they are."""
    try:
        return scorer.score(block.frame, block.unseen)
    except ValueError as error:
        found = re.fullmatch(r"Row (\d+) (.*)", str(error))
        if found:
            error = f"row {block.start + int(found[1]) + 1} {found[2]}"
        raise ValueError(f"{data}: {error}") from None


def _check_out(out, data, excel_safe):
    if str(out) == "-":
        return
    out = Path(out)
    if excel_safe and out.suffix.lower() == ".parquet":
        raise ValueError(f"{out} is Parquet, which runs no formulas; leave out excel_safe.")
    if out.suffix.lower() not in KINDS:
        raise ValueError(f"{out} is neither CSV nor Parquet; give it the ending .csv or .parquet.")
    check_writable(out)
    if user_path(out).exists() and user_path(data).exists():
        same = user_path(out).samefile(user_path(data))
        if same:
            raise ValueError(f"{out} is the data file; write the answers to another file.")


@contextmanager
def _writer(out, strict, excel_safe):
    """A function that appends columns to ``out``, which takes its place once it is complete."""
    if str(out) != "-":
        kind = Path(out).suffix.lower()
        with replacing(out) as temporary, _Table(temporary, kind, excel_safe) as table:
            yield table.write
    elif not strict:
        with _Table(sys.stdout.buffer, ".csv", excel_safe) as table:
            yield table.write
    else:  # what may be refused at the end is kept back until then
        with TemporaryFile() as held:
            with _Table(held, ".csv", excel_safe) as table:
                yield table.write
            held.seek(0)
            shutil.copyfileobj(held, sys.stdout.buffer)


class _Table:
    """A CSV or Parquet file that is written block by block."""

    def __init__(self, place, kind, excel_safe):
        self.place, self.kind, self.excel_safe, self.file = place, kind, excel_safe, None

    def write(self, columns):
        """Append rows."""
        import pyarrow as pa

        arrays = {name: _as_arrow(column) for name, column in columns.items()}
        if self.excel_safe:
            arrays = {escape_name(name): escape_formulas(arrays[name]) for name in arrays}
        table = pa.table(arrays)
        if self.file is None:
            self.file = self._open(table.schema)
        self.file.write_table(table)

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
    """A column as Arrow has it: no dictionaries, which every block would have of its own."""
    import pyarrow as pa

    if isinstance(column, np.ndarray) and column.dtype.kind in "OU":
        return pa.array([str(plain(label)) for label in column])
    array = pa.array(column)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
