"""The held-out cases of a report, and which of them a person should look at first."""

import numpy as np

from keeptree.text import clean

NEAREST_SHARE = 0.05  # of the cases are "near the boundary"
_MOST_HELD, _MOST_VALUES = 300, 30_000  # cases, and their values: half for each reason to look


def choose_first(p, decision, distance):
    """Return which cases are near the boundary, and which have a second opinion.

    Near are the nearest twentieth, equally near ones together or not at all (but always the
    nearest of all); a second opinion is a case whose most probable class is not the
    tree's decision.

    Parameters
    ----------
    p : ndarray of shape (n, n_classes)
        Probabilities in the tree's order of classes.
    decision : ndarray of shape (n,)
        Class index the tree decides.
    distance : ndarray of shape (n,)
        Distance to the boundary.

    Returns
    -------
    near, opinion : ndarray of shape (n,), bool
    """
    as_near = np.searchsorted(np.sort(distance), distance, side="right")
    few = (as_near <= np.ceil(NEAREST_SHARE * len(p))) | (distance == distance.min(initial=np.inf))
    near = few & np.isfinite(distance)
    opinion = p.argmax(axis=1) != decision
    return near, opinion


def collect_cases(ids, p, decision, leaf, distance, unknown, truth, near, opinion, rows, changes):
    """Return the cases the file holds, the ones to look at first before the others.

    Parameters
    ----------
    ids : list of str
        Names of the cases.
    p, decision, distance, near, opinion : ndarray
        As :func:`choose_first` has them.
    leaf : ndarray of shape (n,)
        Leaf each case falls in.
    unknown : ndarray of shape (n,), bool
        Whether a tested value is missing, so that the distance is only the least it can be.
    truth : ndarray of shape (n,) or None
        Class index of what each case really was.
    rows : list of list or None
        Values of the tested attributes of each case; None leaves them out.
    changes : callable
        Takes row numbers and returns what the nearest change of each is, as text.

    Returns
    -------
    cases : list of dict
    """
    width = 1 if rows is None or not rows[0] else len(rows[0])
    held = _held(distance, near, opinion, min(_MOST_HELD, _MOST_VALUES // width))
    nearer = np.searchsorted(np.sort(distance), distance, side="left")  # equals share a rank
    return [
        {
            "id": clean(ids[row]),
            "decision": int(decision[row]),
            "leaf": int(leaf[row]),
            "p": p[row].tolist(),
            "distance": float(distance[row]) if np.isfinite(distance[row]) else None,
            "least": bool(unknown[row]),
            "percentile": float(nearer[row] / len(p)),
            "near": bool(near[row]),
            "opinion": bool(opinion[row]),
            "truth": None if truth is None else int(truth[row]),
            "change": change,
            "values": None if rows is None else rows[row],
        }
        for row, change in zip(held, changes(held), strict=True)
    ]


def _held(distance, near, opinion, most):
    """Rows the file holds: those to look at first, then others evenly over the sample."""
    by_distance = np.argsort(distance, kind="stable")
    listed = np.concatenate(
        [[r for r in by_distance if chosen[r]][: most // 2] for chosen in (near, opinion)]
    ).astype(int)
    first = by_distance[np.isin(by_distance, listed)]
    others = np.setdiff1d(np.arange(len(distance)), np.flatnonzero(near | opinion))
    room = min(len(others), max(most - len(first), 0))
    spread = np.unique(np.linspace(0, len(others) - 1, room).astype(int)) if room else []
    return [*first.tolist(), *others[np.asarray(spread, dtype=int)].tolist()]
