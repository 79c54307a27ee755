"""The sides of the boxes around the regions of a tree, each distinct side once."""

from typing import NamedTuple

import numpy as np

from keeptree.geometry.boxes import Cuts


class NumericSides(NamedTuple):
    """Sides of numeric columns, as arrays: bounds, and where a value from outside moves to."""

    feature: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    rises_to: np.ndarray
    falls_to: np.ndarray
    factor: np.ndarray


def distinct_sides(boxes):
    """Return one entry for each distinct side, and the positions of the sides of each box.

    Numeric sides come first. Boxes with fewer sides than others have the position past the last.
    """
    keys = list(zip(boxes.feature, boxes.lower, boxes.upper, boxes.table, strict=True))
    entry = {}
    for e, (f, lower, upper, table) in enumerate(keys):
        entry.setdefault((f, table) if table >= 0 else (f, lower, upper), e)
    sides = np.array(sorted(entry.values(), key=lambda e: boxes.table[e] >= 0), dtype=int)
    position = {e: at for at, e in enumerate(sides.tolist())}
    widths = np.diff(boxes.start)
    rows = np.full((len(widths), max(1, widths.max(initial=0))), len(sides))
    for r, start in enumerate(boxes.start[:-1].tolist()):
        for s in range(widths[r]):
            f, lower, upper, table = keys[start + s]
            key = (f, table) if table >= 0 else (f, lower, upper)
            rows[r, s] = position[entry[key]]
    return sides, rows


def find_ends(boundary, boxes, sides):
    """Return numeric sides; in a column with a step, values move to multiples if possible."""
    tree, feature = boundary.tree_, boxes.feature[sides]
    lower, upper = boxes.lower[sides], boxes.upper[sides]
    rises_to, falls_to = lower.copy(), upper.copy()
    if boundary.grid_ is not None:
        cuts, dtype = Cuts(tree, boundary.grid_), np.dtype(tree.compare_dtype)
        for k, e in enumerate(sides.tolist()):
            if boundary.grid_[feature[k]] == 0:
                continue
            first, last = boxes.tests[:, e]
            up = cuts.above[first] if first >= 0 else -np.inf
            down = cuts.at_most[last] if last >= 0 else np.inf
            with np.errstate(over="ignore"):
                rises_to[k] = up if dtype.type(up) <= boxes.high[e] else np.inf
                falls_to[k] = down if dtype.type(down) >= boxes.low[e] else -np.inf
    return NumericSides(
        feature, lower, upper, rises_to, falls_to, boundary.metric_.factor_[feature]
    )
