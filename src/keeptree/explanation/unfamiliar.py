"""Find categories, values and missing shares that differ from the training sample."""

from collections import Counter
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from keeptree.data.arrow import from_arrow
from keeptree.data.labels import is_missing, plain
from keeptree.data.table import column_values
from keeptree.encoding import is_scalar
from keeptree.explanation.chance import chance_of_missing, chance_of_outside
from keeptree.explanation.wording import join, tell_number
from keeptree.importers import keep_with_steps, unwrap
from keeptree.importers.steps import read_rows, run_steps, take_columns
from keeptree.notebook import framed
from keeptree.text import clean, plural
from keeptree.tree import LEAF, Tree
from keeptree.tree.routing import descend

SCHEMA = 1  # version of the dict; incompatible changes increase it
_MOST_LABELS = 1000  # maximum number of unseen categories that are counted per column
_SHOWN = 3  # maximum number of columns and categories listed in the sentence
# With many rows any difference is significant, so it must also be this large to matter.
LEAST_SHARE = 0.01  # share of the rows
_TYPICAL_ROWS = 1000  # assumed number of training rows if a file does not record it
_CHANCE = 0.001  # probability that any share of unchanged data is called unexpected


def unfamiliar(model: Any, X: ArrayLike) -> "Unfamiliar":
    """Find what is new in rows compared with the training sample of a model.

    Parameters
    ----------
    model : fitted model or Tree
        A KeepTree classifier stores ranges, categories and shares of missing values; a tree stores
        only its categories, so the others cannot be checked.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows. The columns of a data frame are matched by name; others are ignored.

    Returns
    -------
    new : Unfamiliar
        Prints as one sentence, is true if anything is new, and holds the counts of each column.

    Notes
    -----
    An unseen category is treated as a missing value. It *affects a decision* if the path of the row
    tests it, so that the tree's rule for missing values decides.

    Single values outside the range are normal: with n training rows, a new value lies outside with
    a probability of about 2 / (n + 1). ``unexpected`` tells whether there is something that chance
    does not explain: an unseen category, or a share of missing values or of values outside the
    range that is higher than chance explains and by at least one percentage point. The tests of all
    columns together call unchanged data unexpected with a probability of at most 0.1%.

    Examples
    --------
    >>> import pandas as pd
    >>> import keeptree as kt
    >>> X = pd.DataFrame({"area": list("aabb") * 10, "age": range(20, 60)})
    >>> model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, X["area"] == "a")
    >>> new = kt.unfamiliar(model, pd.DataFrame({"area": ["a", "c"], "age": [18, 30]}))
    >>> print(new)
    New since fitting: area has an unseen category (c) in 1 row, which affects 1 decision; age lies
    outside 20 to 59 in 1 row.
    >>> new.column("area").decisions
    1
    >>> new.unexpected, new.column("age").more_outside
    (True, False)
    """
    count = UnfamiliarCount(model)
    table = run_steps(take_columns(from_arrow(X), model), count.steps)
    rows = read_rows(table, count.tree)
    count.add(rows, find_unseen(table, rows, count.tree))
    return count.result()


@dataclass(frozen=True)
class UnfamiliarColumn:
    """What is new in one column.

    Parameters
    ----------
    name : str
        Column name.
    categories : dict
        Unseen category -> number of rows, the commonest first; at most a thousand of them.
    unseen : int
        Rows with an unseen category.
    decisions : int
        Rows whose path through the tree tests an unseen category of this column.
    low, high : float or None
        Range in the training sample; None if unknown.
    below, above : int
        Rows below and above this range.
    missing : int
        Rows without a value.
    missing_before : float or None
        Share of missing values in the training sample; None if unknown.
    more_missing : bool
        Whether more values are missing than in the training sample, by more than chance and by at
        least one percentage point.
    more_outside : bool
        Whether more rows are outside the range than chance explains, and at least 1% of them.
    probabilities_only : bool
        Whether the probabilities depend on the column although the tree does not test it.
    """

    name: str
    categories: dict = field(default_factory=dict)
    unseen: int = 0
    decisions: int = 0
    low: float | None = None
    high: float | None = None
    below: int = 0
    above: int = 0
    missing: int = 0
    missing_before: float | None = None
    more_missing: bool = False
    more_outside: bool = False
    probabilities_only: bool = False

    @property
    def outside(self):
        """Rows outside the range of the training sample."""
        return self.below + self.above

    @property
    def unexpected(self):
        """Whether the column contains something new that chance does not explain."""
        return bool(self.unseen or self.more_outside or self.more_missing)

    def __bool__(self):
        return bool(self.unseen or self.outside or self.more_missing)


@dataclass(frozen=True)
class Unfamiliar:
    """What is new in some rows; see :func:`keeptree.unfamiliar`.

    Parameters
    ----------
    rows : int
        Number of rows.
    columns : tuple of UnfamiliarColumn
        All columns of the model, in its order.
    decisions : int
        Rows whose path through the tree tests an unseen category of any column.
    unknown : tuple of str
        What could not be checked: ``"ranges"``, ``"missing values"``.
    beyond : int
        Rows with an unseen category or a value outside the range in a column that the model's
        decisions or probabilities depend on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = kt.SmoothedTreeClassifier(kt.C45Classifier(max_depth=2)).fit(X, y)
    >>> new = X.assign(**{"petal width (cm)": 2 * X["petal width (cm)"]})
    >>> found = kt.unfamiliar(model, new)
    >>> print(found)
    New since fitting: petal width (cm) lies outside 0.1 to 2.5 in 85 rows (56.7%, more than chance
    explains).
    >>> bool(found), found.column("petal width (cm)").above
    (True, 85)
    """

    rows: int
    columns: tuple
    decisions: int
    unknown: tuple = ()
    beyond: int = 0

    def __bool__(self):
        return any(self.columns)

    def __str__(self):
        return self.sentence

    def __repr__(self):
        new = sum(map(bool, self.columns))
        return f"Unfamiliar({plural(self.rows, 'row')}, {plural(new, 'column')} with something new)"

    def _repr_html_(self):
        return framed("unfamiliar", f"<p>{escape(self.sentence)}</p>")

    def column(self, name):
        """Return what is new in the column ``name``."""
        return next(column for column in self.columns if column.name == name)

    @property
    def unexpected(self) -> bool:
        """Whether there is anything that chance does not explain; single values outside are not."""
        return any(column.unexpected for column in self.columns)

    @property
    def sentence(self) -> str:
        """One sentence on what is new, and on what could not be checked."""
        return self.tell()

    def tell(self, only_unexpected: bool = False) -> str:
        """Return the sentence, or only the part about what chance does not explain."""
        outside = "more_outside" if only_unexpected else "outside"
        told = [
            *_tell(self._new("unseen"), self._tell_unseen),
            *_tell(self._new(outside, "outside"), self._tell_outside),
            *_tell(self._new("more_missing", "missing"), self._tell_missing),
        ]
        if told:
            line = f"New since fitting: {'; '.join(told)}."
        elif len(self.unknown) == 2:
            line = "No new category."
        else:
            line = (
                "Nothing new: categories, ranges and missing values are as in the training sample."
            )
            if self.unknown:
                line = "Nothing new: categories and ranges are as in the training sample."
        if self.unknown:
            line += f" The model does not record the {join(list(self.unknown))} of its sample."
        return line

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible values for the columns in which something is new."""
        return {
            "schema": SCHEMA,
            "rows": self.rows,
            "decisions": self.decisions,
            "beyond": self.beyond,
            "unknown": list(self.unknown),
            "unexpected": self.unexpected,
            "columns": [
                {
                    **vars(column),
                    "categories": [
                        {"category": label if is_scalar(label) else str(label), "rows": rows}
                        for label, rows in column.categories.items()
                    ],
                }
                for column in self.columns
                if column
            ],
            "sentence": self.sentence,
        }

    def _new(self, what, size=None):
        """Return the columns with this kind of finding, most rows first."""
        found = [column for column in self.columns if getattr(column, what)]
        return sorted(found, key=lambda column: -getattr(column, size or what))

    def _tell_unseen(self, column):
        names = [clean(label) for label in list(column.categories)[:_SHOWN]]
        rest = len(column.categories) - len(names)
        shown = ", ".join(names) + (f" and {rest:,} others" if rest else "")
        kinds = "an unseen category" if len(column.categories) == 1 else "unseen categories"
        told = f"{clean(column.name)} has {kinds} ({shown}) in {plural(column.unseen, 'row')}"
        affect = "affects" if column.unseen == 1 else "affect"
        if column.probabilities_only:
            return f"{told}, which {affect} the probabilities but no decision"
        if column.decisions == 0:
            return f"{told}, which no decision depends on"
        return f"{told}, which {affect} {plural(column.decisions, 'decision')}"

    def _tell_outside(self, column):
        told = (
            f"{clean(column.name)} lies outside {tell_number(column.low)} to "
            f"{tell_number(column.high)} in {plural(column.outside, 'row')}"
        )
        if not column.more_outside:
            return told
        return f"{told} ({_percent(column.outside / self.rows)}, more than chance explains)"

    def _tell_missing(self, column):
        now, before = column.missing / self.rows, column.missing_before
        return (
            f"{clean(column.name)} is missing in {_percent(now)} of the rows "
            f"({_percent(before)} in the training sample)"
        )


class UnfamiliarCount:
    """Counts categories, values and missing cells that are new, block by block.

    Parameters
    ----------
    model : fitted model or Tree
        Model whose training sample is the reference.

    Attributes
    ----------
    tree : Tree
        Tree that defines the encoding of the rows.
    steps : list of fitted transformers
        Steps of a pipeline that come before the tree.
    """

    def __init__(self, model):
        self.tree, self.steps = keep_with_steps(model)
        inner = model if isinstance(model, Tree) else unwrap(model)[0]
        self._observed = getattr(inner, "observed_", None)
        self._rows_before = _training_rows(self.tree, getattr(inner, "reference_", None))
        numeric = sum(labels is None for labels in self.tree.categories)
        self._level = _CHANCE / max(self.tree.n_features + numeric, 1)  # of each test
        width = self.tree.n_features
        self._tested = set(self.tree.tested.tolist())
        self._others = set(getattr(inner, "read_columns", self.tree.tested).tolist()) - self._tested
        self._rows = self._touched = self._beyond = 0
        self._labels = [Counter() for _ in range(width)]
        self._unseen, self._decisions, self._missing, self._below, self._above = np.zeros(
            (5, width), dtype=np.int64
        )

    def add(self, rows, unseen):
        """Count what is new in a block of rows.

        Parameters
        ----------
        rows : ndarray of shape (n, n_features)
            Encoded rows.
        unseen : dict
            Column index -> positions of rows with unknown categories, and these categories, as
            returned by :func:`find_unseen`.
        """
        self._rows += len(rows)
        missing = np.isnan(rows)
        self._missing += missing.sum(axis=0)
        marks = {f: (places, labels) for f, (places, labels) in unseen.items() if len(places)}
        for f, (places, _) in marks.items():
            self._missing[f] -= len(places)
        beyond = self._add_ranges(rows)
        for f, found in self._declared_only(rows).items():
            known = marks.get(f, (np.empty(0, dtype=np.int64), []))
            marks[f] = np.append(known[0], found[0]), [*known[1], *found[1]]
        for f, (places, labels) in marks.items():
            self._unseen[f] += len(places)
            if f in self._tested or f in self._others:
                beyond[places] = True
            _count(self._labels[f], labels)
        self._beyond += int(beyond.sum())
        self._add_decisions(rows, marks)

    def result(self):
        """Return the counts so far."""
        observed, tree = self._observed, self.tree
        shares = None if observed is None else observed.missing
        unknown = ("ranges",) if observed is None else ()
        unknown += ("missing values",) if shares is None else ()
        columns = []
        for f in range(tree.n_features):
            ranged = observed is not None and tree.categories[f] is None
            before = None if shares is None else float(shares[f])
            columns.append(
                UnfamiliarColumn(
                    name=tree.feature_name(f),
                    categories=dict(self._labels[f].most_common()),
                    unseen=int(self._unseen[f]),
                    decisions=int(self._decisions[f]),
                    low=float(observed.low[f]) if ranged else None,
                    high=float(observed.high[f]) if ranged else None,
                    below=int(self._below[f]),
                    above=int(self._above[f]),
                    missing=int(self._missing[f]),
                    missing_before=before,
                    more_missing=before is not None and self._has_more_missing(f, before),
                    more_outside=ranged and self._has_more_outside(f, before or 0.0),
                    probabilities_only=f in self._others,
                )
            )
        return Unfamiliar(self._rows, tuple(columns), self._touched, unknown, self._beyond)

    def _has_more_missing(self, f, before):
        """Whether values are missing more often than chance explains, by enough to matter."""
        n_before, missing = self._rows_before, int(self._missing[f])
        if not self._rows or missing / self._rows - before < LEAST_SHARE:
            return False
        p = chance_of_missing(round(before * n_before), n_before, missing, self._rows)
        return p <= self._level

    def _has_more_outside(self, f, missing_before):
        """Whether more rows are outside the range than chance explains, enough to matter."""
        outside = int(self._below[f] + self._above[f])
        if not self._rows or outside / self._rows < LEAST_SHARE:
            return False
        known_before = round((1 - missing_before) * self._rows_before)
        known = self._rows - int(self._missing[f] + self._unseen[f])
        return chance_of_outside(known_before, outside, known) <= self._level

    def _add_ranges(self, rows):
        """Count values outside the range; return the rows with such a value in a read column."""
        if self._observed is None:
            return np.zeros(len(rows), dtype=bool)
        numeric = np.array([labels is None for labels in self.tree.categories])
        if self._observed.missing is not None:
            numeric &= self._observed.missing < 1  # an empty column has no range
        below = (rows < self._observed.low) & numeric
        above = (rows > self._observed.high) & numeric
        self._below += below.sum(axis=0)
        self._above += above.sum(axis=0)
        read = sorted(self._tested | self._others)
        return (below[:, read] | above[:, read]).any(axis=1)

    def _declared_only(self, rows):
        """Return the categories that a dtype declares but no training case has."""
        found = {}
        seen = () if self._observed is None else self._observed.seen
        for f, mask in enumerate(seen):
            if mask is None or mask.all():
                continue
            codes = np.where(np.isnan(rows[:, f]), -1, rows[:, f]).astype(np.int64)
            places = np.flatnonzero((codes >= 0) & ~mask[codes])
            labels = self.tree.categories[f]
            found[f] = places, [labels[code] for code in codes[places].tolist()]
        return {f: marked for f, marked in found.items() if len(marked[0])}

    def _add_decisions(self, rows, marks):
        """Count the rows whose path tests an unseen category."""
        marks = {f: places for f, (places, _) in marks.items() if f in self._tested}
        if not marks:
            return
        unseen = np.zeros((len(rows), self.tree.n_features), dtype=bool)
        for f, places in marks.items():
            unseen[places, f] = True
        row = np.flatnonzero(unseen.any(axis=1))
        node, share = np.zeros(len(row), dtype=np.int64), np.ones(len(row))
        touched = np.zeros_like(unseen)
        tree, rows = self.tree.lifted, self.tree.lift(rows)
        while len(row):
            inner = tree.kind[node] != LEAF
            row, node, share = row[inner], node[inner], share[inner]
            tested = self.tree.feature[node]  # oblique tests use no categories
            touched[row, tested] |= unseen[row, tested] & (tested >= 0)
            row, node, share = descend(tree, rows, row, node, share)
        self._decisions += touched.sum(axis=0)
        self._touched += int(touched.any(axis=1).sum())


def find_unseen(X, rows, tree):
    """Find the categories of a table that a tree does not know.

    Parameters
    ----------
    X : array-like or data frame of shape (n, n_features)
        The table. If a data frame has more columns than the tree, they are matched by name.
    rows : ndarray of shape (n, n_features)
        Encoded rows: NaN where a value is missing or unknown.
    tree : Tree
        Tree with the known categories.

    Returns
    -------
    unseen : dict
        Column index -> positions of the rows, and their categories.
    """
    found, X = {}, tree.select(X)
    for f, labels in enumerate(tree.categories):
        places = np.flatnonzero(np.isnan(rows[:, f])) if labels is not None else ()
        if len(places):
            values = [plain(value) for value in column_values(X, f, places)]
            known = np.array([not is_missing(value) for value in values])
            if known.any():
                found[f] = places[known], [value for value in values if not is_missing(value)]
    return found


def _count(counter, labels):
    """Count labels, up to a limit, so that a column of identifiers does not fill the memory."""
    for label, rows in Counter(labels).items():
        if label in counter or len(counter) < _MOST_LABELS:
            counter[label] += rows


def _tell(columns, tell):
    told = [tell(column) for column in columns[:_SHOWN]]
    rest = len(columns) - len(told)
    return [*told[:-1], f"{told[-1]} (and {plural(rest, 'other column')})"] if rest else told


def _percent(share):
    """A share in percent; shares that differ by a percentage point are told apart."""
    return f"{100 * share:.1f}%"


def _training_rows(tree, reference):
    """Return the number of rows of the training sample.

    Older files do not record it. If the rows had no weights, it is the weight of the tree's root.
    """
    if reference is not None:
        return reference.rows
    weight = float(tree.weight[0])
    return int(weight) if weight.is_integer() and weight > 1 else _TYPICAL_ROWS
