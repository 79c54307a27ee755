"""The separator of a row as plain lists: the nearest region of another class, and its sides."""

import numpy as np

from keeptree._compiled import boxes as compiled

_LARGEST = float(np.finfo(np.float64).max)


def plain_separator(boundary, place):
    """Return the part ``separator`` of the kind ``distance`` of a model by separators.

    ``program`` has the steps to the squared distances of all regions, in float64; the lowest
    ``bits`` of a squared distance are ignored, and of equal ones the first region counts. ``boxes``
    has the sides of each region and ``label`` its class. ``off_grid`` has boxes and classes for
    rows that are not on the grid, with what their sides cost (None without a grid).

    Parameters
    ----------
    boundary : Boundary
        Of an axis-parallel tree.
    place : dict
        Number of each column.
    """
    program = boundary.program_
    rounded = program.rounded.tolist()
    if program.double.compare_single:
        rounded = range(boundary.tree_.n_features)
    return {
        "program": _program(program.double, place, rounded),
        "bits": program.region_bits,
        "boxes": _boxes(program.priced, place, rounded),
        "label": program.priced.label.tolist(),
        "off_grid": None if program.off_grid is None else _off_grid(program.off_grid, place),
    }


def _program(program, place, rounded):
    columns = program.columns.tolist()
    return {
        # Column 0 stands in the program of a tree with one class, which may not test it.
        "attribute": [place.get(f, 0) for f, _ in columns],
        "codes": [codes for _, codes in columns],
        "rounded": [f in rounded for f, _ in columns],
        "reach": program.frame[:, 2].tolist(),
        "step": program.steps.tolist(),
        "bound": _finite(np.nan_to_num(program.bounds, nan=0.0, posinf=np.inf, neginf=-np.inf)),
        "growth": program.growth.tolist(),
        "slots": int(program.n_slots),
    }


def _boxes(priced, place, rounded):
    ends = zip(priced.start[:-1].tolist(), priced.start[1:].tolist(), strict=True)
    return [[_side(priced, e, place, rounded) for e in range(*pair)] for pair in ends]


def _side(priced, e, place, rounded):
    """Bounds and tests of a numeric side; cost and test of each category of a nominal one."""
    f, first = int(priced.feature[e]), int(priced.table[e])
    side = {"attribute": place[f], "cost": None}
    if first >= 0:
        codes = np.arange(priced.n_codes[e] + 1)
        stays = priced.becomes[first + codes] == codes
        cost = np.where(stays, -1.0, priced.cost[first + codes])
        cost[-1] = priced.cost[first + codes[-1]]
        return {**side, "cost": _finite(cost), "test": priced.failed[first + codes].tolist()}
    below, above = priced.tests[:, e].tolist()
    return {
        **side,
        "bounds": _finite([priced.lower[e], priced.upper[e], priced.factor[e]]),
        "test": [below, above, above if priced.upper[e] < np.inf else below],
        "rounded": f in rounded,
    }


def _off_grid(off_grid, place):
    """Boxes up to the thresholds; a number moves to ``moves``, or stays between ``inside``."""
    tree, (_, priced), rules = off_grid.tree, off_grid.priced_boxes, off_grid.rules
    rounded = range(tree.n_features if priced.single else 0)
    boxes = _boxes(priced, place, rounded)
    rises, falls = (_targets(tree, priced, rules, value) for value in (-1e300, 1e300))
    for r, (start, box) in enumerate(zip(priced.start.tolist(), boxes, strict=False)):
        for e, side in enumerate(box, start):
            if side["cost"] is None:
                f = priced.feature[e]
                side["inside"] = _finite([priced.low[e], priced.high[e]])
                moves = (rises[r, f], falls[r, f])
                side["moves"] = [None if np.isnan(move) else float(move) for move in moves]
    return {"boxes": boxes, "label": priced.label.tolist()}


def _targets(tree, priced, rules, value):
    """Where a number far below or above every box moves to, by box and column; NaN for nowhere."""
    n = len(priced.label)
    rows = np.full((n, tree.n_features), value)
    rows[:, [f for f, labels in enumerate(tree.categories) if labels is not None]] = 0.0
    moved = np.empty_like(rows)
    compiled.move_rows(rows, np.arange(n), priced, rules, False, moved)
    return moved


def _finite(values):
    return np.clip(values, -_LARGEST, _LARGEST).tolist()
