"""Score a data file of any size, block by block: what ``keeptree predict`` does."""

import re
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sklearn.utils.validation import check_is_fitted

from keeptree.data.cases import read_blocks
from keeptree.data.labels import label_codes, plain
from keeptree.explanation.subject import resolve
from keeptree.geometry.boundary import Boundary
from keeptree.output import check_writable, replacing, require_extra

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
    check_is_fitted(model)
    _check_out(out, data)
    if isinstance(keep, str):
        raise ValueError(f"keep={keep!r} is not a list of columns; give [{keep!r}].")
    keep = list(dict.fromkeys(keep))
    if getattr(model, "preprocessing_", None):
        raise ValueError(
            f"The tree of this {type(model).__name__} stands at the end of a pipeline, which does "
            "not tell the types of its columns; read the file and call the model's predict_proba."
        )
    answer = _Answer(model, distance)
    clash = [name for name in keep if name in answer.names]
    if clash:
        raise ValueError(
            f"The column {clash[0]!r} cannot be kept: the answers have one; rename it."
        )
    rows = second_opinions = 0
    with _writer(out) as write:
        for block in read_blocks(data, model, keep):
            columns = answer.columns(block, data)
            write({**block.kept, **columns})
            rows += len(block.frame)
            second_opinions += int(np.count_nonzero(columns.get("second_opinion", 0)))
            if progress is not None:
                progress(block.done, rows)
    return {
        "rows": rows,
        "second_opinions": second_opinions if answer.classes is not None else None,
        "columns": [*keep, *answer.names],
        "out": str(out),
    }


class _Answer:
    """The columns a model answers with."""

    def __init__(self, model, distance):
        self.model = model
        self.classes = self.scores = self.boundary = None
        if hasattr(model, "predict_proba"):
            self.classes = [str(plain(label)) for label in model.classes_]
        elif hasattr(model, "decision_function"):
            labels = [str(plain(label)) for label in model.classes_]
            self.scores = ["score"] if len(labels) == 2 else [f"score_{c}" for c in labels]
        if distance:
            self.boundary = _boundary(model)

    @property
    def names(self):
        names = ["prediction", *(self.scores or [])]
        if self.classes is not None:
            names += [*(f"probability_{label}" for label in self.classes), "second_opinion"]
        return names + (["distance"] if self.boundary is not None else [])

    def columns(self, block, data):
        """Answers for a block; a complaint about its rows says where in the file they are."""
        try:
            return dict(zip(self.names, self._answer(block.frame), strict=True))
        except ValueError as error:
            found = re.fullmatch(r"Row (\d+) (.*)", str(error))
            if found:
                error = f"row {block.start + int(found[1]) + 1} {found[2]}"
            raise ValueError(f"{data}: {error}") from None

    def _answer(self, X):
        decided = self.model.predict(X)
        yield decided
        if self.scores is not None:
            yield from np.reshape(self.model.decision_function(X), (len(X), -1)).T
        if self.classes is not None:
            p = self.model.predict_proba(X)
            yield from p.T
            if getattr(self.model, "decide", "tree") == "probability":
                decided = self.model.tree_.predict(X)
            yield self._second_opinion(p, decided)
        if self.boundary is not None:
            yield self.boundary.distance(X)

    def _second_opinion(self, p, decided):
        """Whether some class is more probable than the one decided for."""
        classes = self.model.classes_
        differs = classes[p.argmax(axis=1)] != decided
        rows = np.flatnonzero(differs)
        if len(rows):  # a tie is no second opinion
            own = p[rows, label_codes(decided[rows], classes)]
            differs[rows] = own < p[rows].max(axis=1)
        return differs


def _boundary(model):
    """The boundary of the model's tree, in its own metric or the standard one."""
    boundary = getattr(model, "boundary_", None)
    if boundary is not None:
        return boundary
    if not hasattr(model, "observed_"):
        raise ValueError(
            f"A {type(model).__name__} does not know the scale of its columns, so that no distance "
            "can be measured; fit a KeepTree classifier around its tree."
        )
    return Boundary.of_metric(model.tree_, resolve(model).metric)


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
            raise ValueError(f"{out} holds the data; give the answers a file of their own.")


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
