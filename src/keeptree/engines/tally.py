"""Count classes and draw a stratified sample in one pass over a table.

Each block yields a :class:`Tally`; tallies are merged in the order of the blocks, on any machine.
Which rows are drawn depends only on the seed and on the identity of a row.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace

import numpy as np

from keeptree.data.cases import CaseReader
from keeptree.data.cells import cells_as_labels
from keeptree.data.labels import plain
from keeptree.importers.counting import node_counts
from keeptree.saving import from_json

ROWS = 1 << 17  # of a block; with so many, the overhead of a call is negligible
_KEY = "__keeptree_key__"  # column of random keys that decides which rows are drawn
_SPARE = 100  # rows of each class that are kept until the end
_FEWEST = 10  # minimum rows of a class in the sample, if it has that many


@dataclass(frozen=True)
class Survey:
    """What to count and draw from a table.

    Parameters
    ----------
    tree : str or None
        Tree whose class counts are computed, as JSON; None to draw a sample only.
    columns : tuple of str
        Columns to draw in addition to the target.
    target : str
        Column of the class.
    sample : int
        Rows to draw.
    key : str or None
        Column that identifies a row; None to use its position.
    seed : int
        Seed of the sample.
    """

    tree: str | None
    columns: tuple
    target: str
    sample: int
    key: str | None
    seed: int

    @property
    def wanted(self):
        """Columns to read."""
        more = () if self.key is None else (self.key,)
        return list(dict.fromkeys([*self.columns, self.target, *more]))

    def count(self, batch, part=0, start=0, dialect=None):
        """Return the Tally of an Arrow batch that starts at row ``start`` of its part."""
        import pyarrow as pa

        keys = mix(self._identify(batch, part, start), self.seed)
        rows = pa.table({name: batch.column(name) for name in [*self.columns, self.target]})
        rows = rows.append_column(_KEY, pa.array(keys))
        counts = None if self.tree is None else self._counts(batch, start, dialect)
        values = batch.column(self.target).value_counts()
        classes = {plain(entry["values"].as_py()): entry["counts"].as_py() for entry in values}
        return Tally(batch.num_rows, classes, counts, rows).trimmed(self)

    def _identify(self, batch, part, start):
        """A number for each row."""
        if self.key is None:
            return np.uint64(part << 40) + np.arange(start, start + batch.num_rows, dtype=np.uint64)
        from pandas.util import hash_array

        return hash_array(batch.column(self.key).to_numpy(zero_copy_only=False), categorize=False)

    def _counts(self, batch, start, dialect):
        tree, reader = _reader(self.tree, tuple(batch.schema.names), self.columns, dialect)
        codes = class_codes(batch.column(self.target), tree, self.target, start)
        return node_counts(tree, reader.matrix(batch, start), codes)


@lru_cache(maxsize=8)
def _reader(text, names, columns, dialect):
    tree = from_json(text)
    more = {} if dialect is None else {"dialect": dialect}
    return tree, CaseReader(as_model(tree, columns), names, **more)


def as_model(tree, columns, notation=None):
    """Wrap a tree as the model that a :class:`~keeptree.data.cases.CaseReader` expects."""
    return SimpleNamespace(
        tree_=tree,
        feature_names_in_=list(columns),
        n_features_in_=len(columns),
        notation_=notation,
    )


def class_codes(column, tree, target, start=0):
    """Return the positions of labels in the classes of a tree; raise for unknown ones."""
    codes = cells_as_labels(column, tree.classes.tolist(), target).codes
    if (codes < 0).any():
        row = int((codes < 0).argmax())
        raise ValueError(
            f"The target {target!r} is {column[row].as_py()!r:.50} in row {start + row + 1}, but "
            f"the tree knows {', '.join(map(str, tree.classes[:10]))}."
        )
    return codes.astype(np.int64)


@dataclass(frozen=True)
class Tally:
    """Counts and sample of some rows.

    Parameters
    ----------
    rows : int
        Number of rows.
    classes : dict
        Class -> number of rows.
    counts : ndarray of shape (n_nodes, n_classes) or None
        Class counts of the tree's nodes.
    drawn : pyarrow.Table
        Candidate rows of the sample, with their keys.
    """

    rows: int
    classes: dict
    counts: np.ndarray | None
    drawn: object

    def merged(self, other, survey):
        """Return the combined Tally."""
        import pyarrow as pa

        classes = dict(self.classes)
        for label, rows in other.classes.items():
            classes[label] = classes.get(label, 0) + rows
        counts = None if self.counts is None else self.counts + other.counts
        drawn = pa.concat_tables([self.drawn, other.drawn], promote_options="permissive")
        return Tally(self.rows + other.rows, classes, counts, drawn).trimmed(survey)

    def trimmed(self, survey):
        """Return the Tally without rows that can no longer be in the sample."""
        if len(self.drawn) <= 3 * survey.sample:
            return self
        order, codes = self._order(survey.target)
        wanted = np.zeros(len(order), dtype=bool)
        wanted[: 2 * survey.sample] = True  # each class has its share of these, up to chance
        wanted |= _first_of_each(codes[order], np.full(codes.max() + 1, _SPARE))
        drawn = self.drawn.take(np.sort(order[wanted]))
        return Tally(self.rows, self.classes, self.counts, drawn)

    def sample(self, survey):
        """Return rows of each class in proportion, in the order of their keys."""
        order, codes = self._order(survey.target)
        labels = self.drawn.column(survey.target).combine_chunks().dictionary_encode().dictionary
        total = np.array([self.classes[plain(label)] for label in labels.to_pylist()])
        share = np.rint(total * (min(survey.sample, self.rows) / self.rows)).astype(np.int64)
        quota = np.maximum(share, np.minimum(total, _FEWEST))
        return self.drawn.take(order[_first_of_each(codes[order], quota)]).drop_columns([_KEY])

    def _order(self, target):
        keys = self.drawn.column(_KEY).to_numpy()
        column = self.drawn.column(target).combine_chunks()
        column = column if hasattr(column, "indices") else column.dictionary_encode()
        return np.argsort(keys, kind="stable"), column.indices.to_numpy(zero_copy_only=False)

    def to_bytes(self):
        """Serialise the Tally as an Arrow stream."""
        import pyarrow as pa

        facts = {
            "rows": self.rows,
            "classes": list(self.classes.items()),
            "counts": None if self.counts is None else self.counts.tolist(),
        }
        table = self.drawn.replace_schema_metadata({"keeptree": json.dumps(facts)})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return sink.getvalue().to_pybytes()

    @classmethod
    def from_bytes(cls, data):
        """Restore a Tally from the result of :meth:`to_bytes`."""
        import pyarrow as pa

        table = pa.ipc.open_stream(data).read_all()
        facts = json.loads(table.schema.metadata[b"keeptree"])
        counts = None if facts["counts"] is None else np.array(facts["counts"])
        return cls(facts["rows"], dict(facts["classes"]), counts, table.replace_schema_metadata())


def merge(tallies, survey):
    """Merge several tallies in order; None if there are none."""
    total = None
    for tally in tallies:
        total = tally if total is None else total.merged(tally, survey)
    return total


def count_batches(batches, survey, part=0, dialect=None):
    """Return the Tally of the batches of a part of the table; None if it has no rows."""
    total, start = None, 0
    for batch in batches:
        if batch.num_rows:
            found = survey.count(batch, part, start, dialect)
            total = found if total is None else total.merged(found, survey)
            start += batch.num_rows
    return total


def mix(numbers, seed):
    """Hash numbers to uint64, differently for each seed (splitmix64).

    Examples
    --------
    >>> mix(np.arange(3, dtype=np.uint64), 0) % np.uint64(100)
    array([35,  0, 79], dtype=uint64)
    """
    with np.errstate(over="ignore"):
        z = numbers * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed) * np.uint64(
            0xD1B54A32D192ED03
        )
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def _first_of_each(codes, most):
    """Mask of the first ``most[code]`` occurrences of each code."""
    by_code = np.argsort(codes, kind="stable")
    first = np.searchsorted(codes[by_code], codes[by_code])
    place = np.empty(len(codes), dtype=np.int64)
    place[by_code] = np.arange(len(codes)) - first
    return place < most[codes]
