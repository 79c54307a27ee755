"""The held-out cases of a report one by one, the ones to look at first before the others."""

import numpy as np

from keeptree.explanation.nearest_change import find_changes
from keeptree.explanation.subject import resolve
from keeptree.explanation.wording import join
from keeptree.progress import step

_MOST_HELD, _MOST_VALUES = 300, 30_000  # cases, and their values
_MOST_LISTED = 100  # cases to look at first, half for each reason: what a person can read


def collect_cases(held, columns, changes=None):
    """Return the cases the file holds, those near the boundary and second opinions first.

    Parameters
    ----------
    held : HeldOut
        All cases.
    columns : list of int
        Columns the tree tests.
    changes : callable, optional
        Takes encoded rows and returns the nearest change of each as text. Without it neither the
        changes nor the values of the cases are told.

    Returns
    -------
    cases : list of dict
    """
    width = max(len(columns), 1) if changes else 1
    chosen = _choose(held, min(_MOST_HELD, _MOST_VALUES // width))
    names, unknown = held.names, np.isnan(held.rows[:, columns]).any(axis=1)
    nearer = np.searchsorted(np.sort(held.distance), held.distance, side="left")  # equals share it
    told = changes(held.rows[chosen]) if changes else [""] * len(chosen)
    return [
        {
            "id": names[row],
            "decision": int(held.decision[row]),
            "leaf": int(held.leaf[row]),
            "p": held.ours[row].tolist(),
            "distance": float(held.distance[row]) if np.isfinite(held.distance[row]) else None,
            "least": bool(unknown[row]),
            "percentile": float(nearer[row] / len(held)),
            "near": bool(held.near[row]),
            "opinion": bool(held.opinion[row]),
            "truth": None if held.truth is None else int(held.truth[row]),
            "change": change,
            "values": _values(held.rows[row, columns]) if changes else None,
        }
        for row, change in zip(chosen, told, strict=True)
    ]


@step("Finding the nearest changes")
def tell_changes(model, fixed, rows):
    """Return the nearest change of encoded rows as text, as ``keeptree.nearest_change`` finds it.

    Parameters
    ----------
    model : fitted KeepTree classifier
        Whose tree decides.
    fixed : collection of int
        Columns that cannot change.
    rows : ndarray
        Encoded rows.

    Returns
    -------
    told : list of str
    """
    found = find_changes(resolve(model), rows, n_jobs=model.n_jobs, fixed=sorted(fixed))
    return [join([str(move) for move in change.changes] or ["–"]) for change in found]


def _choose(held, most):
    """Rows the file holds: those to look at first, then others evenly over the sample."""
    by_distance = np.argsort(held.distance, kind="stable")
    each = min(most, _MOST_LISTED) // 2
    listed = [by_distance[flag[by_distance]][:each] for flag in (held.near, held.opinion)]
    first = by_distance[np.isin(by_distance, np.concatenate(listed))]
    others = np.flatnonzero(~(held.near | held.opinion))
    room = min(len(others), max(most - len(first), 0))
    spread = np.unique(np.linspace(0, len(others) - 1, room).astype(int)) if room else []
    return [*first.tolist(), *others[np.asarray(spread, dtype=int)].tolist()]


def _values(row):
    return [None if np.isnan(value) else value for value in row.tolist()]
