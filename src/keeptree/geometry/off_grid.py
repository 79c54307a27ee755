"""Distances of rows off the grid, such as a case with 2.3 in a column of whole numbers.

The compiled program measures distances between multiples of the steps. For a value off the grid,
the cost of a change also depends on which side of the threshold it lies, so this module computes
the costs of entering all regions one by one.
"""

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from keeptree._compiled import boxes as compiled
from keeptree.geometry.grid import inverse_step
from keeptree.geometry.regions import find_regions
from keeptree.geometry.rows import classes_of, flat_rows
from keeptree.tree import NUMERIC

_MOST_PARTS = 64  # patterns of missing columns whose boxes are kept for the next rows


class Settled(NamedTuple):
    """Nearest regions of rows: distance, separator, class and nearest point."""

    distance: np.ndarray
    separator: np.ndarray
    label: np.ndarray
    point: np.ndarray


class OffGrid:
    """Distances of rows with a number that is not a multiple of its column's step.

    Parameters
    ----------
    tree : Tree
        A classification tree.
    metric : Metric
        Fitted metric.
    step : ndarray of shape (n_features,)
        Step of each column, 0 for any number.
    """

    def __init__(self, tree, metric, step):
        tested = np.unique(tree.feature[tree.kind == NUMERIC])
        self.tree, self.metric = tree, metric
        self.step = np.where(np.isin(np.arange(tree.n_features), tested), step, 0.0)
        self._regions, self._parts = None, {}
        inverse = inverse_step(np.where(self.step > 0, self.step, 1.0))
        self._whole = np.flatnonzero((self.step > 0) & (inverse > 0))  # 1 / step is a whole number
        self._other = np.flatnonzero((self.step > 0) & (inverse == 0))
        self._inverse = inverse[self._whole]

    def find_rows(self, X):
        """Return the rows with a number that is not a multiple of its column's step."""
        value, other = X[:, self._whole], X[:, self._other]
        off = _differs(np.rint(value * self._inverse) / self._inverse, value)
        if len(self._other):
            step = self.step[self._other]
            off |= _differs(np.rint(other / step) * step, other)
        return np.flatnonzero(off)

    def signed_distances(self, X):
        """Return class-algebraic distances, with one column per class, or one for two classes."""
        n_classes = len(self.tree.classes)
        to_class = np.empty((len(X), n_classes))
        for c in range(n_classes):
            wanted = np.full(len(X), c)
            to_class[:, c] = self._cheapest(X, np.full(len(X), -1), wanted)[1]
        if n_classes == 2:
            return to_class[:, :1] - to_class[:, 1:]
        others = np.array(
            [np.delete(to_class, c, 1).min(1, initial=np.inf) for c in range(n_classes)]
        ).T
        return np.where(to_class > 0, to_class, 0.0 - others)

    def nearest(self, X, wanted, fill=False):
        """Return the nearest regions of the classes ``wanted``; -1 stands for any other class."""
        own = classes_of(self.tree, X)
        box, distance = self._cheapest(X, own, wanted)
        box[wanted == own], distance[wanted == own] = -1, 0.0
        _, separator = self._project(X, box, fill)
        label = np.where(box >= 0, self.priced_boxes[0].label[box], own)
        return Settled(distance, separator, label, self._points(X, box, label))

    def _project(self, X, box, fill=False):
        """Return distances to the closures of boxes (infinite for box -1), and the separators."""
        distance, separator = np.empty(len(X)), np.empty(len(X), dtype=np.int64)
        any_class = np.full(len(X), -1)
        arguments = (self.priced_boxes[1], fill, any_class, any_class, box, distance, separator)
        compiled.project_rows(flat_rows(X, 0, len(X)), *arguments)
        return distance, separator

    def _measure(self, X, box):
        """Return the costs of moving rows into boxes; missing values cost nothing.

        A column with a step moves to a multiple; any other column moves to the closure of the box.
        """
        gridded, moved = self.step > 0, np.empty(X.shape)
        compiled.move_rows(
            np.ascontiguousarray(X), box, self.priced_boxes[1], self.rules, False, moved
        )
        moves = (moved - X)[:, gridded] * self.metric.factor_[gridded]
        rest, _ = self._project(np.where(gridded, moved, X), box)
        with np.errstate(over="ignore"):  # a distance that overflows becomes infinite
            return np.hypot(rest, np.sqrt(np.nansum(moves**2, axis=1)))

    def _points(self, X, box, label):
        """Return rows moved into boxes; missing values are filled if the decision needs them."""
        X, point = np.ascontiguousarray(X), np.empty(X.shape)
        _, priced = self.priced_boxes
        compiled.move_rows(X, box, priced, self.rules, False, point)
        lost = np.flatnonzero(np.isnan(X).any(axis=1) & (classes_of(self.tree, point) != label))
        if len(lost):
            filled = np.empty((len(lost), X.shape[1]))
            compiled.move_rows(X[lost], box[lost], priced, self.rules, True, filled)
            still = classes_of(self.tree, filled) != label[lost]
            filled[still] = np.nan_to_num(filled[still])
            point[lost] = filled
        return point

    def _cheapest(self, X, own, wanted):
        """Return the box of the cheapest change of each row (-1 for none), and its cost."""
        box = np.empty(len(X), dtype=np.int64)
        patterns, group = np.isnan(X), np.zeros(len(X))
        if len(X) > 1:
            patterns, group = np.unique(patterns, axis=0, return_inverse=True)
        for g, missing in enumerate(patterns):
            rows = np.flatnonzero(group.ravel() == g)
            found, cost, n_changes = (np.empty(len(rows), dtype=kind) for kind in (int, float, int))
            asked = (own[rows], wanted[rows], compiled.ANY_NUMBER)
            outputs = (found, cost, n_changes)
            compiled.find_cheapest(X[rows], self._without(missing), self.rules, *asked, *outputs)
            box[rows] = found
        return box, self._measure(X, box)

    def _without(self, missing):
        """Return the boxes without the sides of some columns."""
        boxes, priced = self.priced_boxes
        kept = ~missing[boxes.feature]
        if kept.all():
            return priced
        part = self._parts.get(missing.tobytes())
        if part is None:
            if len(self._parts) >= _MOST_PARTS:
                self._parts.clear()
            part = self._parts[missing.tobytes()] = self._price(_with_sides(boxes, kept))
        return part

    @property
    def priced_boxes(self):
        """The boxes of the regions without steps, and the same boxes with costs."""
        if self._regions is None:
            found = find_regions(self.tree).boxes
            self._regions = found, self._price(found)
        return self._regions

    def _price(self, boxes):
        metric = self.metric
        return boxes.price(self.tree, metric.factor_, metric.category_costs_.__getitem__)

    @cached_property
    def rules(self):
        """The steps in the form that the compiled functions read."""
        rules = np.zeros((len(self.step), compiled.LAST + 1))
        rules[:, compiled.LEAST], rules[:, compiled.MOST] = -np.inf, np.inf
        rules[:, compiled.RISE] = rules[:, compiled.FALL] = 1.0
        gridded = self.step > 0
        rules[:, compiled.STEP] = self.step
        rules[gridded, compiled.INVERSE] = inverse_step(self.step[gridded])
        return compiled.Rules(rules, np.empty(0))


def _with_sides(boxes, kept):
    """Return the boxes with only some of their sides."""
    return replace(
        boxes,
        start=np.concatenate([[0], np.cumsum(kept)])[boxes.start],
        tests=np.ascontiguousarray(boxes.tests[:, kept]),
        **{name: getattr(boxes, name)[kept] for name in _SIDES},
    )


def _differs(nearest, value):
    """Return which rows have a number that differs from its nearest multiple.

    A missing value does not differ.
    """
    return ((nearest != value) & (value == value)).any(axis=1)


_SIDES = ("feature", "lower", "upper", "low", "high", "table", "n_codes")  # one entry per side
