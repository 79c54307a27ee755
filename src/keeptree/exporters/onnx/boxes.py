"""Distances to the decision boundary in the graph, in double precision: one box per region.

A row lies outside a side of a box by its difference from the side's end, scaled by the metric; the
squared distance to a box is the sum over its sides. Boxes share sides, so each is computed once.
"""

import numpy as np

from keeptree.exporters.sides import distinct_sides, find_ends
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
