"""The held-out cases of a report, starting with those to check."""

import numpy as np

from keeptree.reporting.held_out import MOST_CHECKED
from keeptree.text import clean

_MOST_HELD, _MOST_VALUES = 300, 30_000  # maximum number of cases, unless more are to be checked


def collect_cases(held, columns, rows=True):
    """Return the cases in the file, in decreasing order of the risk that the tree is wrong.

    Parameters
    ----------
    held : HeldOut
        All cases.
    columns : list of int
        Columns the tree tests.
    rows : bool, default=True
        Whether the values of the cases may be included.

    Returns
    -------
    cases : list of dict
        ``id``, ``decision``, ``leaf``, ``p``, ``risk`` (the chance that the tree is wrong),
        ``check`` (whether to check it by hand), ``disagrees`` (whether another class is more
        probable), ``distance`` to the boundary (None if there is none; a lower bound if ``least``),
        ``truth`` (or None), ``values`` (or None), ``unseen`` (labels that the tree has not seen:
        position in ``columns``, as text -> label) and ``between``: the ends of the interval of the
        displayed probability: the largest one if our estimate disagrees, otherwise that of the
        decision (None for a model without intervals).
    """
    width, least = max(len(columns), 1) if rows else 1, 2 * MOST_CHECKED
    ends = _told_intervals(held)
    names, unknown = held.names, np.isnan(held.rows[:, columns]).any(axis=1)
    shown = choose_rows(held, int(np.clip(_MOST_VALUES // width, least, _MOST_HELD)))
    unseen = held.unseen(shown)
    return [
        {
            "id": names[row],
            "decision": int(held.decision[row]),
            "leaf": int(held.leaf[row]),
            "p": held.ours[row].tolist(),
            "risk": float(held.risk[row]),
            "check": bool(held.checked[row]),
            "disagrees": bool(held.disagrees[row]),
            "distance": float(held.distance[row]) if np.isfinite(held.distance[row]) else None,
            "least": bool(unknown[row]),
            "truth": None if held.truth is None else int(held.truth[row]),
            "values": _values(held.rows[row, columns]) if rows else None,
            "unseen": _by_place(unseen.get(row, {}), columns) if rows else {},
            "between": None if ends is None else ends[row].tolist(),
        }
        for row in shown
    ]


def _told_intervals(held):
    """Interval of the displayed probability of each case: shape (n, 2), or None.

    The ends are rounded outwards, so that the interval still contains the probability.
    """
    if held.intervals is None:
        return None
    told = np.where(held.disagrees, held.ours.argmax(axis=1), held.decision)
    low, high = 1e4 * held.intervals[np.arange(len(held)), told].T
    return np.column_stack([np.floor(low + 1e-7), np.ceil(high - 1e-7)]) / 1e4


def choose_rows(held, most):
    """Choose the rows of a file: half by risk, the others evenly over the sample."""
    first = held.by_risk[: most if len(held) <= most else most // 2]
    others = np.setdiff1d(np.arange(len(held)), first)
    room = min(len(others), most - len(first))
    spread = np.linspace(0, len(others) - 1, room).astype(int) if room > 0 else []
    return [*first.tolist(), *others[np.unique(np.asarray(spread, dtype=int))].tolist()]


def _by_place(labels, columns):
    """Return the labels of a case by position among the columns."""
    return {str(at): clean(labels[f]) for at, f in enumerate(columns) if f in labels}


def _values(row):
    return [None if np.isnan(value) else value for value in row.tolist()]
