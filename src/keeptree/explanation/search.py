"""Search the boxes of a tree for the cheapest allowed change."""

from weakref import WeakKeyDictionary

import numpy as np

from keeptree._compiled.boxes import ANY_NUMBER, find_cheapest, move_rows, price_boxes
from keeptree.blocks import map_rows
from keeptree.explanation.wording import round_outwards
from keeptree.geometry.cells import find_cells

_CELLS = WeakKeyDictionary()  # cache of the boxes for cases without missing values, by tree


class Search:
    """Cheapest changes in a tree, under a metric and constraints."""

    def __init__(self, subject, constraints):
        self.subject, self.constraints, self.tree = subject, constraints, subject.tree
        self.rules = constraints.rules(self.tree, subject.observed)
        self.most = constraints.max_changes or ANY_NUMBER
        self.factor = constraints.factor(self.tree, subject.metric)
        self._boxes = {}

    def cheapest(self, X, own, wanted, n_jobs=None):
        """Return the box (-1 for none), cost and number of changes of each encoded row."""
        box = np.full(len(X), -1, dtype=np.int64)
        cost, n_changes = np.full(len(X), np.inf), np.zeros(len(X), dtype=np.int64)
        whole = ~np.isnan(X).any(axis=1)
        rows = np.flatnonzero(whole)
        part = X if whole.all() else X[rows]
        outputs = [np.empty(len(part), dtype=dtype) for dtype in (np.int64, np.float64, np.int64)]
        _, boxes = self.boxes(())

        def fill(start, stop):
            s, of = slice(start, stop), rows[start:stop]
            filled = (array[s] for array in outputs)
            find_cheapest(part[s], boxes, self.rules, own[of], wanted[of], self.most, *filled)

        map_rows(fill, len(part), n_jobs, block=1024)
        box[rows], cost[rows], n_changes[rows] = outputs[0], np.sqrt(outputs[1]), outputs[2]
        for i in np.flatnonzero(~whole):
            found = self.ranked(X[i], own[i], wanted[i], 1)
            if found:
                box[i], cost[i], n_changes[i] = found[0]
        already = wanted == own
        box[already], cost[already], n_changes[already] = -1, 0.0, 0
        return box, cost, n_changes

    def ranked(self, row, own, wanted, n):
        """Return up to n (box, cost, number of changes) of a row, cheapest first.

        Changes that contain a cheaper one are left out; see :func:`goes_past`.
        """
        found, boxes = self.boxes(missing_of(row))
        cost, n_changes = np.empty(len(found.label)), np.empty(len(found.label), dtype=np.int64)
        price_boxes(row, boxes, self.rules, self.most, cost, n_changes)
        counts = found.label == wanted if wanted >= 0 else found.label != own
        order = np.lexsort((n_changes, cost))
        order = order[(counts & np.isfinite(cost))[order]]
        chosen, points = [], []
        for r in order.tolist():
            point = self.move(row[None], np.array([r]))[0]
            # Shared missing values may give ties up to rounding, so the tree itself decides the
            # class.
            if np.isnan(row).any() and self.tree.decide(point[None])[0] != found.label[r]:
                continue
            if not any(goes_past(row, point, other, self.tree) for other in points):
                chosen.append((r, float(np.sqrt(cost[r])), int(n_changes[r])))
                points.append(point)
            if len(chosen) == n:
                break
        return chosen

    def move(self, X, box):
        """Return rows moved into boxes; rows with box -1 stay. All rows lack the same values."""
        point = np.empty(X.shape)
        _, boxes = self.boxes(missing_of(X[0]))
        move_rows(np.ascontiguousarray(X), box, boxes, self.rules, False, point)
        return point

    def round(self, row, point, box):
        """Return the point with the fewest decimals that is allowed and still in its box."""
        found, given, shown = self.boxes(missing_of(row))[0], self.constraints, point.copy()
        for k in range(found.start[box], found.start[box + 1]):
            f = int(found.feature[k])
            if found.table[k] < 0 and point[f] != row[f] and given.step(f) is None:
                least, most = given.limits(f, self.subject.observed)
                low, high = max(found.low[k], least), min(found.high[k], most)
                shown[f] = round_outwards(float(row[f]), float(point[f]), low, high)
        return shown

    def boxes(self, missing):
        """Return the boxes for cases that lack some values, with and without costs."""
        if missing not in self._boxes:
            if missing:
                found = find_cells(self.tree, missing)
            else:
                found = _CELLS.get(self.tree) or _CELLS.setdefault(self.tree, find_cells(self.tree))
            self._boxes[missing] = found, self._price(found)
        return self._boxes[missing]

    def _price(self, boxes):
        given, tree, metric = self.constraints, self.tree, self.subject.metric
        return boxes.price(
            tree,
            self.factor,
            lambda f: given.category_costs(f, metric),
            lambda f: given.permitted(f, tree, self.subject.observed),
        )


def missing_of(row):
    """Return the columns with missing values."""
    return tuple(np.flatnonzero(np.isnan(row)).tolist())


def goes_past(row, point, other, tree):
    """Return whether the move from a row to a point passes another point on the way."""
    for f in np.flatnonzero((other != row) & ~np.isnan(row)).tolist():
        if tree.categories[f] is not None:
            if point[f] != other[f]:
                return False
        elif not min(row[f], point[f]) <= other[f] <= max(row[f], point[f]):
            return False
    return True
