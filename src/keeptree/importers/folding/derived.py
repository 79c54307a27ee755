"""Transformed columns as functions of one raw column, computed by the fitted steps."""

import warnings
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, issparse

from keeptree.importers.folding.floats import LARGEST, from_keys, last_alike, to_keys

_NO_CUTS = np.empty(0)
_PROBES = 64  # how many numbers of a piece are tried to find an accepted value


class Link(NamedTuple):
    """A fitted step applied to a column, with its input and output positions."""

    step: object
    width: int  # number of input columns
    column_in: int
    column_out: int
    fuzzy: bool = False  # whether it is monotone only up to rounding of the last bits
    sparse: bool = False  # whether its input is a sparse matrix, which may change its arithmetic

    def apply(self, values, row, column_in):
        """Return the step applied to values in their columns, with neutral values elsewhere."""
        return self.step.transform(self._matrix(values, row, column_in))

    def gives_sparse(self):
        """Return whether the step returns a sparse matrix."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nothing = np.empty(0, dtype=np.int64)
            return issparse(self.apply(np.empty(0), nothing, nothing))

    def _matrix(self, values, row, column_in):
        neutral = _neutral(self.step, self.width)
        if values.dtype == object and not any(isinstance(value, str) for value in values):
            values = values if neutral.dtype == object else _as_floats(values)
        wide = np.tile(neutral, (row.max(initial=0) + 1, 1))
        matrix = wide.astype(np.result_type(neutral, values), copy=False)
        matrix[row, column_in] = values
        return csr_matrix(matrix.astype(np.float64)) if self.sparse else matrix


@dataclass(frozen=True, eq=False)
class Derived:
    """A column after some steps.

    Parameters
    ----------
    raw : int
        Raw column from which it is computed.
    links : tuple of Link
        Steps in order.
    cuts : ndarray
        Raw numbers that divide the line into pieces, each including its upper cut. The column is
        monotone within a piece.
    labels : tuple or None
        Raw values that an encoder distinguishes; None if no encoder reads raw values.
    marks : tuple
        Raw values that an imputer treats as missing.
    missing : object
        Missing value marker that the steps expect.
    keeps_values : bool
        Whether all values except missing ones are still raw.
    only_missing : bool
        Whether the column is only a missing indicator.
    sparse : bool
        Whether it is part of a sparse matrix.
    """

    raw: int
    links: tuple = ()
    cuts: np.ndarray = None
    labels: tuple | None = None
    marks: tuple = ()
    missing: object = np.nan
    keeps_values: bool = True
    only_missing: bool = False
    sparse: bool = False

    def __post_init__(self):
        object.__setattr__(self, "cuts", _NO_CUTS if self.cuts is None else np.unique(self.cuts))

    @property
    def fuzzy(self):
        """Whether a step is monotone only up to rounding of the last bits."""
        return any(link.fuzzy for link in self.links)

    @property
    def pieces(self):
        """Return the (first, last) raw numbers of the pieces, from the lowest to the highest."""
        inside = self.cuts[(self.cuts >= -LARGEST) & (self.cuts < LARGEST)]
        first = np.concatenate([[-LARGEST], np.nextafter(inside, np.inf)])
        return first, np.append(inside, LARGEST)

    def with_missing(self, value):
        """Return the column with ``value`` as the marker of missing values."""
        return replace(self, missing=value) if self.keeps_values else self

    def with_mark(self, value, cuts):
        """Return the column with ``value`` treated as missing."""
        marks = (*self.marks, value) if self.keeps_values else self.marks
        return replace(self, marks=marks, cuts=np.append(self.cuts, cuts))

    def with_labels(self, labels, cuts):
        """Return the column with labels that a step distinguishes, as raw values or cuts."""
        labels = tuple(labels) if self.keeps_values else self.labels
        return replace(self, labels=labels, cuts=np.append(self.cuts, cuts))

    def then(self, link, **changes):
        """Return the column after one more step."""
        changes = {"keeps_values": False, **changes}
        return replace(self, links=(*self.links, link), **changes)


def run(columns, which, values):
    """Send raw values through the steps of their columns, all at once.

    Parameters
    ----------
    columns : sequence of Derived
        The columns.
    which : ndarray of shape (n,)
        Index into ``columns`` for each value.
    values : ndarray of shape (n,)
        Raw numbers, or objects.

    Returns
    -------
    derived : ndarray of shape (n,)
        Results, in float64 if the values are; an overflow becomes the largest number.
    refused : ndarray of shape (n,), bool
        Whether a step raises an error for each value.
    """
    values = values.copy()
    refused = np.zeros(len(values), dtype=bool)
    chains = [column.links for column in columns]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for depth in range(max((len(links) for links in chains), default=0)):
            for links in _by_step(chains, depth):
                rows = np.flatnonzero(np.isin(which, list(links)) & ~refused)
                _advance(links, rows, which, values, refused)
    return values, refused


def spread(columns, wanted):
    """Find the raw numbers at which columns cross given values.

    Parameters
    ----------
    columns : sequence of Derived
        The columns.
    wanted : sequence of ndarray
        For each column, the values to cross.

    Returns
    -------
    cuts : list of ndarray
        For each column, the last raw number before a value is crossed.
    """
    cuts = [np.empty(0) for _ in columns]
    for k, (column, values) in enumerate(zip(columns, wanted, strict=True)):
        if column.keeps_values:
            cuts[k] = values
    rest = [k for k, column in enumerate(columns) if not column.keeps_values and len(wanted[k])]
    if not rest:
        return cuts
    which, low, high = accepted_pieces(columns, rest)
    at_low, at_high = run(columns, which, low)[0], run(columns, which, high)[0]
    pairs = [(p, value) for p in range(len(which)) for value in wanted[which[p]]]
    piece = np.array([p for p, _ in pairs])
    value = np.array([value for _, value in pairs])
    passed = (at_low[piece] <= value) != (at_high[piece] <= value)
    piece, value = piece[passed], value[passed]
    like = at_low[piece] <= value
    last = last_alike(
        low[piece], high[piece], lambda x: (run(columns, which[piece], x)[0] <= value) == like
    )
    for k in rest:
        cuts[k] = last[which[piece] == k]
    return cuts


def accepted_pieces(columns, chosen):
    """Return the pieces of some columns without the numbers that a step rejects.

    A step may reject infinite results of another step, at either end of a piece.

    Parameters
    ----------
    columns : sequence of Derived
        The columns.
    chosen : sequence of int
        Positions of the requested columns.

    Returns
    -------
    which, low, high : arrays of shape (n,)
        Column, first and last accepted number of each piece that has one.
    """
    ends = [columns[k].pieces for k in chosen]
    which = np.repeat(np.asarray(chosen, dtype=np.int64), [len(low) for low, _ in ends])
    low, high = (np.concatenate([pair[side] for pair in ends]) for side in (0, 1))
    refused = [run(columns, which, end)[1] for end in (low, high)]
    parts = np.flatnonzero(refused[0] | refused[1])
    inside = _accepted_inside(columns, which[parts], low[parts], high[parts])
    for end, no in zip((low, high), refused, strict=True):
        at, found = parts[no[parts]], inside[no[parts]]
        at, found = at[~np.isnan(found)], found[~np.isnan(found)]
        if not len(at):
            continue
        sign = 1.0 if end is high else -1.0  # negated, because the search goes from low to high
        end[at] = sign * last_alike(
            sign * found,
            sign * end[at],
            lambda x, at=at, sign=sign: ~run(columns, which[at], sign * x)[1],
        )
    kept = np.ones(len(which), dtype=bool)
    kept[parts[np.isnan(inside)]] = False
    return which[kept], low[kept], high[kept]


def _accepted_inside(columns, which, low, high):
    """Find a number in each piece that all steps accept; NaN if none is found."""
    found = np.full(len(which), np.nan)
    first, last = to_keys(low), to_keys(high)
    for part in np.arange(1, _PROBES) / _PROBES:
        todo = np.flatnonzero(np.isnan(found))
        if not len(todo):
            break
        # Halve first, because the difference of two keys may overflow.
        keys = first[todo] + 2 * ((last[todo] // 2 - first[todo] // 2) * part).astype(np.int64)
        x = from_keys(np.clip(keys, first[todo], last[todo]))
        accepted = ~run(columns, which[todo], x)[1]
        found[todo[accepted]] = x[accepted]
    return found


def _by_step(chains, depth):
    """Group the links at a depth by their step."""
    steps = {}
    for k, links in enumerate(chains):
        if len(links) > depth:
            steps.setdefault(id(links[depth].step), {})[k] = links[depth]
    return steps.values()


def _advance(links, rows, which, values, refused):
    """Apply a step to some rows; a batch with rejected values is halved and tried again."""
    if not len(rows):
        return
    own = [links[k] for k in which[rows]]
    column_in = np.array([link.column_in for link in own])
    row = _rows_of(column_in, values[rows])
    try:
        made = _dense(own[0].apply(values[rows], row, column_in))
    except (ValueError, TypeError):
        if len(rows) == 1:
            refused[rows], values[rows] = True, np.nan
            return
        for part in np.array_split(rows, 2):
            _advance(links, part, which, values, refused)
        return
    made = made[row, [link.column_out for link in own]]
    if made.dtype.kind in "biuf":  # the next step must reject infinite numbers, as in the pipeline
        made = np.clip(made.astype(np.float64), -LARGEST, LARGEST)
    values[rows] = made


def _as_floats(values):
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):  # None and other values that are not numbers
        return values


def _neutral(step, width):
    """Return a row that the step accepts, for the columns that are not examined."""
    categories = getattr(step, "categories_", None)
    if categories is not None:
        row = np.empty(width, dtype=object)
        row[:] = [labels[0] for labels in categories]
        return row
    statistics = getattr(step, "statistics_", None)
    if statistics is not None and statistics.dtype == object:
        return statistics
    return np.ones(width)


def _rows_of(column, values):
    """Return a row for each value, so that different values of a column never share a row."""
    if values.dtype == object:  # a one-hot encoder has the same labels for each output
        rows = [{} for _ in range(column.max() + 1)]
        return np.array(
            [
                rows[j].setdefault((type(v), v), len(rows[j]))
                for j, v in zip(column, values, strict=True)
            ]
        )
    order = np.argsort(column, kind="stable")
    first = np.concatenate([[0], np.flatnonzero(np.diff(column[order])) + 1])
    start = np.repeat(first, np.diff(np.append(first, len(column))))
    row = np.empty(len(column), dtype=np.int64)
    row[order] = np.arange(len(column)) - start
    return row


def _dense(made):
    return made.toarray() if issparse(made) else np.asarray(made)
