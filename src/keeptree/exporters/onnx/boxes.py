"""Distances to the decision boundary in the graph, in double precision: one box per region.

A row lies outside a side of a box by its difference from the side's end, scaled by the metric; the
squared distance to a box is the sum over its sides. Boxes share sides, so each is computed once.
"""

from typing import NamedTuple

import numpy as np

from keeptree.geometry.boxes import Cuts
from keeptree.geometry.grid import inverse_step
from keeptree.geometry.regions import find_regions
from keeptree.tree import NUMERIC

_MOST = 1e150  # of a scaled difference: its square is finite
_LARGEST_SINGLE = float(np.finfo(np.float32).max)


def class_distances(cases, place, boundary):
    """Distance of each row to the regions of each class: (rows, classes), infinite for none.

    Parameters
    ----------
    cases : Cases
        The rows.
    place : dict
        Column of the tree -> column of the cases.
    boundary : Boundary
        Metric and grid.
    """
    graph, tree = cases.graph, boundary.tree_
    boxes = find_regions(tree).boxes
    sides, box_sides = distinct_sides(boxes)
    squares = _squares(cases, place, boundary, boxes, sides)
    # One more column, of zeros: boxes have as many sides as the one with most.
    squares = graph.concat([squares, graph.fill(cases.rows, 0.0, np.float64, 1)])
    total = squares.take(box_sides[:, 0])
    for column in box_sides.T[1:]:
        total = total + squares.take(column)
    found = []
    for c in range(len(tree.classes)):
        own = np.flatnonzero(boxes.label == c)
        nothing = graph.fill(cases.rows, np.inf, np.float64, 1)
        found.append(total.take(own).min() if len(own) else nothing)
    return graph.concat(found).sqrt()


def signed(distances, n_classes):
    """Algebraic distances: of the first of two classes, (rows, 1), or of each, (rows, classes).

    Outside a class the distance to it, inside minus that to the nearest other one.
    """
    graph = distances.graph
    if n_classes == 1:
        return distances * 0.0 - np.inf
    if n_classes == 2:
        return distances.take([0]) - distances.take([1])
    return graph.where(distances > 0.0, distances, 0.0 - second_smallest(distances))


def boundary_distance(distances, n_classes):
    """Distance of each row to the decision boundary."""
    h = signed(distances, n_classes)
    return abs(h).flat() if n_classes <= 2 else (0.0 - h.min()).flat()


def second_smallest(values):
    """The second smallest value of each row: (rows, 1)."""
    return values.graph.smallest(values, 2).take([1])


def off_grid(cases, place, boundary):
    """Return which rows have a number that is not a multiple of its step; None without steps."""
    tree, step, off = boundary.tree_, boundary.grid_, None
    tested = np.unique(tree.feature[tree.kind == NUMERIC])
    for f in tested[step[tested] > 0].tolist() if step is not None else ():
        value, inverse = cases.raw.take([place[f]]), float(inverse_step(step[f]))
        if inverse:
            nearest = cases.graph.op("Round", value * inverse) / inverse
        else:
            nearest = cases.graph.op("Round", value / step[f]) * step[f]
        here = ~(nearest.equals(value) | value.is_nan())
        off = here if off is None else off | here
    return off


class _Numeric(NamedTuple):
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


def _squares(cases, place, boundary, boxes, sides):
    """Squared distances of the rows from the sides: (rows, sides)."""
    nominal = boxes.table[sides] >= 0
    parts = []
    if (~nominal).any():
        ends = find_ends(boundary, boxes, sides[~nominal])
        parts.append(_numeric_moves(cases, place, boundary, ends))
    if nominal.any():
        parts.append(_category_moves(cases, place, boundary, boxes, sides[nominal]))
    if not parts:
        return cases.graph.fill(cases.rows, 0.0, np.float64, 1)
    moves = cases.graph.concat(parts)
    return moves * moves


def find_ends(boundary, boxes, sides):
    """Numeric sides; in a column with a step a value moves to a multiple, if one is inside."""
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
    return _Numeric(feature, lower, upper, rises_to, falls_to, boundary.metric_.factor_[feature])


def _numeric_moves(cases, place, boundary, ends):
    graph, columns = cases.graph, [place[f] for f in ends.feature.tolist()]
    compared = value = cases.compared.take(columns)
    unknown, zero = compared.is_nan(), graph.constant(0.0)
    if boundary.tree_.compare_dtype == "float32":
        compared = value = compared.at_least(-_LARGEST_SINGLE).at_most(_LARGEST_SINGLE)
        if boundary.grid_ is not None:  # multiples are measured as they are
            exact = graph.constant(boundary.grid_[ends.feature] > 0)
            value = graph.where(exact, cases.raw.take(columns), value)
    falls, rises = value - ends.falls_to, ends.rises_to - value
    move = graph.where(
        compared > ends.upper, falls, graph.where(compared > ends.lower, zero, rises)
    )
    move = graph.where(unknown, zero, move) * ends.factor
    return move.at_most(_MOST)


def _category_moves(cases, place, boundary, boxes, sides):
    """Return the cost of changing each row's category to one of the side; missing ones are free."""
    graph, metric = cases.graph, boundary.metric_
    cost = boxes.price(boundary.tree_, metric.factor_, metric.category_costs_.__getitem__).cost
    code = cases.raw.take([place[f] for f in boxes.feature[sides].tolist()])
    missing = boxes.n_codes[sides].astype(float)
    code = graph.where(code.is_nan(), graph.constant(missing), code).at_least(0.0)
    return graph.constant(cost).take(code.cast(np.int64) + boxes.table[sides], axis=0)
