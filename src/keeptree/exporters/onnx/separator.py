"""The separator of each row: the most violated side of the nearest region of another class.

The numbers are those of :func:`~keeptree.exporters.plain_separator.plain_separator`.
"""

import numpy as np

from keeptree.exporters.onnx import boxes
from keeptree.exporters.onnx.steps import Steps
from keeptree.exporters.plain_separator import plain_separator

_MOST = 1e150
_LARGEST_SINGLE = float(np.finfo(np.float32).max)
_POWERS = np.ldexp(1.0, np.arange(-1074, 1024))


def add_separators(cases, place, boundary, own):
    """Test that separates each row from the nearest region of another class, -1 for none.

    Parameters
    ----------
    cases : Cases
        The rows.
    place : dict
        Column of the tree -> column of the cases.
    boundary : Boundary
        Of an axis-parallel tree.
    own : Value
        Position of the class that the tree decides for.
    """
    found = plain_separator(boundary, place)
    squared = Steps(cases, place, boundary, boundary.program_.double).region_squares()
    squared = _others(without_bits(squared, found["bits"]), found["label"], own)
    test = _Sides(cases, found["boxes"]).crossed_test(_first_smallest(squared), squared.min())
    beside = boxes.off_grid(cases, place, boundary)
    if beside is None:
        return test.flat()
    sides = _Sides(cases, found["off_grid"]["boxes"])
    total, changes = sides.prices()
    total = _others(total, found["off_grid"]["label"], own)
    tied = total.equals(total.min())
    region = _first_smallest(cases.graph.where(tied, changes, cases.graph.constant(np.inf)))
    return cases.graph.where(beside, sides.crossed_test(region, total.min()), test).flat()


def without_bits(value, bits):
    """Clear the lowest bits of positive numbers by arithmetic, because no operator reads bits."""
    graph, powers = value.graph, value.graph.constant(_POWERS)
    finite = value.at_most(_POWERS[-1]).at_least(_POWERS[0])
    at = (finite.log() / np.log(2.0)).floor().at_least(-1074.0).at_most(1022.0) + 1074.0
    at = at.cast(np.int64)
    at = graph.where(powers.take(at, axis=0) > finite, at - 1, at)
    at = graph.where(powers.take(at + 1, axis=0) > finite, at, at + 1)
    unit = powers.take(at, axis=0) * 2.0 ** (bits - 52)
    cut = (value / unit.at_least(_POWERS[0])).floor() * unit
    return graph.where(value < _POWERS[-1], cut, value)


def _others(value, label, own):
    """Values of the boxes of other classes, infinite for those of the row's own."""
    graph = value.graph
    is_own = graph.constant(label, np.int64).equals(own.upright())
    return graph.where(is_own, graph.constant(np.inf), value)


def _first_smallest(value):
    return value.graph.op("ArgMin", value, dtype=np.int64, axis=1, keepdims=1)


class _Sides:
    """The sides of boxes, numeric ones before nominal ones.

    Parameters
    ----------
    cases : Cases
        The rows.
    found : list of list of dict
        The sides of each box.
    """

    def __init__(self, cases, found):
        self._cases, self._graph = cases, cases.graph
        every = [side for box in found for side in box]
        self._numeric = [side for side in every if side["cost"] is None]
        self._nominal = [side for side in every if side["cost"] is not None]
        place = {id(side): at for at, side in enumerate([*self._numeric, *self._nominal])}
        width = max(1, *(len(box) for box in found))
        self._box = np.full((len(found), width), len(every))  # past the last: no side
        for r, box in enumerate(found):
            self._box[r, : len(box)] = [place[id(side)] for side in box]

    def crossed_test(self, region, nearest):
        """Return the test of the side that a row violates most: (rows, 1), -1 without a region."""
        graph, sizes, tests = self._graph, [], []
        for part in (self._outside_numbers(), self._outside_categories()):
            sizes += part[:1]
            tests += part[1:]
        sizes.append(graph.fill(self._cases.rows, -1.0, np.float64, 1))
        tests.append(graph.fill(self._cases.rows, -1, np.int64, 1))
        own = graph.constant(self._box, np.int64).take(region.flat(), axis=0)
        size = graph.concat(sizes).pick(own)
        farthest = graph.op("ArgMax", size, dtype=np.int64, axis=1, keepdims=1)
        test = graph.concat(tests).pick(own).pick(farthest)
        return graph.where(nearest < np.inf, test, -1)

    def prices(self):
        """Squared cost of entering each box, and the number of values to change: (rows, boxes)."""
        graph, sizes = self._graph, []
        if self._numeric:
            sizes.append(self._number_prices())
        if self._nominal:
            cost, _ = self._outside_categories(-1.0)
            sizes.append(cost)
        size = graph.concat([*sizes, graph.fill(self._cases.rows, -1.0, np.float64, 1)])
        move, zero = size.at_most(_MOST), graph.constant(0.0)
        square = graph.where(size < 0.0, zero, move * move)
        square = graph.where(size < np.inf, square, graph.constant(np.inf))
        change = graph.where(size < 0.0, zero, graph.constant(1.0))
        total, changes = square.take(self._box[:, 0]), change.take(self._box[:, 0])
        for column in self._box.T[1:]:  # in Python's order
            total, changes = total + square.take(column), changes + change.take(column)
        return total, changes

    def _outside_numbers(self):
        """How far rows lie outside the numeric sides (-1: inside), and the tests that they fail."""
        if not self._numeric:
            return []
        graph, inside = self._graph, self._graph.constant(-1.0)
        value = self._values(self._numeric)
        single = value.at_least(-_LARGEST_SINGLE).at_most(_LARGEST_SINGLE).rounded()
        known = graph.where(graph.constant([s["rounded"] for s in self._numeric]), single, value)
        lower, upper, factor = np.array([side["bounds"] for side in self._numeric]).T
        tests = np.array([side["test"] for side in self._numeric]).T
        below, above, missing = (graph.constant(part, np.int64) for part in tests.copy())
        is_above, is_below = known > upper, ~(known > lower)
        rises = ((lower - known) * factor).at_most(_MOST)
        falls = ((known - upper) * factor).at_most(_MOST)
        size = graph.where(is_above, falls, graph.where(is_below, rises, inside))
        test = graph.where(is_above, above, graph.where(is_below, below, -1))
        unknown = value.is_nan()
        return [
            graph.where(unknown, graph.constant(0.0), size),
            graph.where(unknown, missing, test),
        ]

    def _outside_categories(self, missing=None):
        """Do the same for nominal sides; ``missing`` replaces the size of a missing value."""
        if not self._nominal:
            return []
        graph, value = self._graph, self._values(self._nominal)
        lengths = [len(side["cost"]) for side in self._nominal]
        first, last = np.cumsum([0, *lengths[:-1]]), np.array(lengths) - 1.0
        code = graph.where(value.is_nan(), graph.constant(last), value).at_least(0.0)
        at = code.cast(np.int64) + first
        cost, test = (
            graph.constant([v for side in self._nominal for v in side[name]]).take(at, axis=0)
            for name in ("cost", "test")
        )
        if missing is not None:
            cost = graph.where(value.is_nan(), graph.constant(missing), cost)
        return [cost, test]

    def _number_prices(self):
        """What it costs to move each number into each side; -1 if it may stay."""
        graph, value = self._graph, self._values(self._numeric)
        at = self._cases.compared.take([side["attribute"] for side in self._numeric])
        low, high = np.array([side["inside"] for side in self._numeric]).T
        moves = np.array([side["moves"] for side in self._numeric], dtype=float).T
        rises_to, falls_to = (graph.constant(part.copy()) for part in moves)
        factor = np.array([side["bounds"][2] for side in self._numeric])
        size = abs(graph.where(at < low, rises_to, falls_to) - value) * factor
        size = graph.where(size.is_nan(), graph.constant(np.inf), size)
        stays = ~((at < low) | (at > high)) | value.is_nan()
        return graph.where(stays, graph.constant(-1.0), size)

    def _values(self, sides):
        return self._cases.raw.take([side["attribute"] for side in sides])
