"""The local engine: score a data file of any size, block by block, on this machine."""

import re
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from keeptree.data.cases import read_blocks
from keeptree.data.labels import plain
from keeptree.engines.scorer import Scorer
from keeptree.output import check_writable, replacing, require_extra
from keeptree.progress import step

KINDS = (".csv", ".parquet")


def predict_file(model, data, out, *, keep=(), distance=False, progress=None):
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
    progress : callable, optional
        Called with the share of the file that was read and the number of rows.

    Returns
    -------
    summary : dict
        ``rows``, ``second_opinions`` (None for a model without), ``columns`` and ``out``.

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
    """
    require_extra("pandas", "pyarrow", extra="files")
    _check_out(out, data)
    if isinstance(keep, str):
        raise ValueError(f"keep={keep!r} is not a list of columns; give [{keep!r}].")
    keep = list(dict.fromkeys(keep))
    scorer = Scorer(model, distance)
    clash = [name for name in keep if name in scorer.names]
    if clash:
        raise ValueError(
            f"The column {clash[0]!r} cannot be kept: the output has a column of that name; "
            "rename it."
        )
    rows = second_opinions = 0
    with _writer(out) as write, step(f"Scoring {Path(data).name}", 1.0) as move:
        for block in read_blocks(data, scorer.reader, keep):
            columns = _score(scorer, block, data)
            write({**block.kept, **columns})
            rows += len(block.frame)
            second_opinions += int(np.count_nonzero(columns.get("second_opinion", 0)))
            move(block.done, f"{block.done:.0%} of the file, {rows:,} rows")
            if progress is not None:
                progress(block.done, rows)
    return {
        "rows": rows,
        "second_opinions": second_opinions if scorer.has_second_opinion else None,
        "columns": [*keep, *scorer.names],
        "out": str(out),
    }


def _score(scorer, block, data):
    """Answers for a block; a complaint about its rows says where in the file they are."""
    try:
        return scorer.score(block.frame)
    except ValueError as error:
        found = re.fullmatch(r"Row (\d+) (.*)", str(error))
        if found:
            error = f"row {block.start + int(found[1]) + 1} {found[2]}"
        raise ValueError(f"{data}: {error}") from None


def _check_out(out, data):
    if str(out) == "-":
        return
    out = Path(out)
    if out.suffix.lower() not in KINDS:
        raise ValueError(f"{out} is neither CSV nor Parquet; give it the ending .csv or .parquet.")
    check_writable(out)
    if out.expanduser().exists() and Path(data).expanduser().exists():
        same = out.expanduser().samefile(Path(data).expanduser())
        if same:
            raise ValueError(f"{out} is the data file; write the answers to another file.")


@contextmanager
def _writer(out):
    """A function that appends columns to ``out``, which takes its place once it is complete."""
    if str(out) == "-":
        with _Table(sys.stdout.buffer, ".csv") as table:
            yield table.write
        return
    with replacing(out) as temporary, _Table(temporary, Path(out).suffix.lower()) as table:
        yield table.write


class _Table:
    """A CSV or Parquet file that is written block by block."""

    def __init__(self, place, kind):
        self.place, self.kind, self.file = place, kind, None

    def write(self, columns):
        """Append rows."""
        import pyarrow as pa

        table = pa.table({name: _as_arrow(column) for name, column in columns.items()})
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
