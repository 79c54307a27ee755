"""Score a block of a table; shared by all engines."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from keeptree.data.cases import CaseReader
from keeptree.data.labels import plain
from keeptree.engines.scorer import Scorer
from keeptree.saving import from_json, to_json

_TYPES = {
    "b": "bool",
    "i": "int64",
    "u": "int64",
    "f": "float64",
}  # types; otherwise string


@dataclass(frozen=True)
class Request:
    """A scoring request.

    Parameters
    ----------
    model : fitted model
        Model, or its JSON text once the request is :meth:`packed`.
    keep : tuple of str or None
        Columns of the table to return with the answers; None means all.
    distance : bool
        Whether to add the distance to the decision boundary.
    labels : tuple of pairs or None
        Pairs of a class and its display name.
    """

    model: object
    keep: tuple | None = None
    distance: bool = False
    labels: tuple | None = None

    def packed(self):
        """The request as sent to other processes, with the model as JSON text."""
        if isinstance(self.model, str):
            return self
        try:
            text = to_json(self.model)
        except (TypeError, ValueError) as error:
            raise type(error)(f"The model is sent to the workers as JSON. {error}") from error
        return Request(text, self.keep, self.distance, self.labels)

    def scorer(self, names):
        """Return the :class:`TableScorer` for these columns, cached for packed requests."""
        names = tuple(names)
        if isinstance(self.model, str):
            return _unpacked(self, names)
        return TableScorer(self, self.model, names)


@lru_cache(maxsize=8)
def _unpacked(request, names):
    return TableScorer(request, from_json(request.model), names)


class TableScorer:
    """Scores the blocks of one table; may be shared by threads.

    Parameters
    ----------
    request : Request
        The scoring request.
    model : fitted model
        Model that scores the table.
    names : sequence of str
        Columns of the table. Missing columns of the model, and columns named like an answer, raise
        a ValueError.

    Attributes
    ----------
    kept : list of str
        Columns of the table that are returned.
    answers : dict of str to str
        Added columns and their types: ``"string"``, ``"int64"``, ``"float64"`` or ``"bool"``.
    columns : list of str
        Columns that the model reads.
    wanted : list of str
        Columns of the table that are read or returned, in its order.
    """

    def __init__(self, request, model, names):
        labels = None if request.labels is None else dict(request.labels)
        self._scorer = Scorer(model, request.distance, labels, counting=False)
        given = () if request.keep is None else request.keep
        self._reader = CaseReader(self._scorer.reader, names, given)
        self.kept = list(names if request.keep is None else request.keep)
        self.columns = self._reader.columns
        self.wanted = [name for name in names if name in {*self.columns, *self.kept}]
        self.answers = dict.fromkeys(self._scorer.names, "float64")
        self.answers["prediction"] = _answer_type(self._scorer.labels)
        if self._scorer.has_second_opinion:
            self.answers["second_opinion"] = "bool"
        _check_names(self.kept, self.answers)

    def check_types(self, text):
        """Raise a ValueError if one of the columns in ``text`` should be numbers."""
        wrong = [name for name in text if name in self._reader.plain_numbers]
        if wrong:
            raise ValueError(
                f"The column {wrong[0]!r} holds text, where the model expects numbers; convert it."
            )

    def score_frame(self, frame):
        """Return the answers for a pandas data frame, by name, as NumPy arrays."""
        if len(frame) == 0:
            return self._no_answers()
        frame = frame[self.columns]
        return self._scorer.score(frame if self._reader.named else frame.to_numpy())

    def score_batch(self, batch):
        """Return the kept columns of an Arrow batch with the answers."""
        import pyarrow as pa

        answers = self.answer_batch(batch)
        columns = [*(batch.column(name) for name in self.kept), *answers.values()]
        fields = [*(batch.schema.field(name) for name in self.kept)]
        fields += [pa.field(name, column.type) for name, column in answers.items()]
        return pa.record_batch(columns, schema=pa.schema(fields))

    def answer_batch(self, batch):
        """Return the answers for an Arrow batch, by name, as Arrow arrays."""
        if batch.num_rows == 0:
            made = self._no_answers()
        elif self._scorer.reads_encoded:
            made = self._scorer.score_encoded(self._reader.matrix(batch))
        else:
            made = self._scorer.score(self._reader.frame(batch))
        return {name: _as_arrow(made[name], kind) for name, kind in self.answers.items()}

    def _no_answers(self):
        """Empty answers with the same types as for actual rows."""
        import pandas as pd

        empty = {
            name: np.empty(0, bool if k == "bool" else float) for name, k in self.answers.items()
        }
        labels = self._scorer.labels
        if labels.dtype.kind in "OU":  # pandas decides how text is stored
            labels = pd.Series(labels.astype(object)).array
        return {**empty, "prediction": labels[:0]}

    def schema(self, schema):
        """Check an Arrow schema and return the schema of the scored table."""
        import pyarrow as pa

        self.check_types(text_columns(schema))
        fields = [schema.field(name) for name in self.kept]
        types = {"bool": pa.bool_(), "int64": pa.int64(), "float64": pa.float64()}
        fields += [pa.field(n, types.get(k, pa.string())) for n, k in self.answers.items()]
        return pa.schema(fields)


def text_columns(schema):
    """Names of the text columns of an Arrow schema."""
    import pyarrow as pa

    return [
        field.name
        for field in schema
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
    ]


def _answer_type(labels):
    """Type of the predictions: the type of the labels, or float64 if there are none."""
    return _TYPES.get(labels.dtype.kind, "string")


def _as_arrow(column, kind):
    import pyarrow as pa

    if kind != "string":
        return pa.array(column, kind if kind != "float64" else pa.float64())
    if all(isinstance(label, str) for label in column[:1]):
        try:
            return pa.array(column, pa.string())
        except (pa.ArrowTypeError, pa.ArrowInvalid):
            pass  # a mixture of text and numbers
    return pa.array([str(plain(label)) for label in column], pa.string())


def _check_names(kept, answers):
    clash = [name for name in kept if name in answers]
    if clash:
        raise ValueError(
            f"The table already has a column {clash[0]!r}, which scoring adds; rename it, or list "
            "the columns to return in keep."
        )
