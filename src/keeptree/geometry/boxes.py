"""Boxes of a tree: the conditions for reaching a leaf, or a subtree of one class.

A box is a dict that maps an attribute to its side, the condition on this attribute. Each test on
the path narrows one side. Boxes are never modified in place, so they can share their sides.
``Boxes`` holds many boxes as arrays, and ``PricedBoxes`` adds the costs of entering them.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keeptree._compiled.boxes import PricedBoxes
from keeptree.geometry.grid import first_multiple, last_multiple
from keeptree.tree import NUMERIC


class Side(NamedTuple):
    """The condition that a box places on one attribute.

    A number must be larger than ``lower`` and at most ``upper``, the thresholds of the tests
    ``lower_test`` and ``upper_test``. The smallest and largest such numbers that the model can
    represent are ``low`` and ``high``; for a column with a step, these equal ``lower`` and
    ``upper``.

    A category must be one of those ``allowed``. ``failed`` holds, for each category and finally for
    a missing value, the last test that sends it elsewhere, or -1.
    """

    lower: float = -np.inf
    upper: float = np.inf
    low: float = -np.inf
    high: float = np.inf
    lower_test: int = -1
    upper_test: int = -1
    allowed: np.ndarray | None = None
    failed: np.ndarray | None = None

    @property
    def nominal(self):
        """Whether the attribute has categories."""
        return self.allowed is not None

    @property
    def can_be_reached(self):
        """Whether the side contains at least one value that the model can represent."""
        if self.nominal:
            return bool(self.allowed.any())
        return self.low <= self.high and self.low < np.inf and self.high > -np.inf


ANYTHING = Side()


class Cuts:
    """Narrows boxes by the tests of a tree.

    Without ``step``, a side ends at the threshold of a test. With ``step``, the step of each column
    (0 for any number), it ends at the nearest multiple that the model places on that side of the
    threshold.
    """

    def __init__(self, tree, step=None):
        self.tree = tree
        dtype = np.dtype(tree.compare_dtype).type
        with np.errstate(over="ignore"):
            rounded = tree.threshold.astype(dtype)
            above = np.nextafter(rounded, dtype(np.inf)).astype(np.float64)
            below = np.nextafter(rounded, dtype(-np.inf)).astype(np.float64)
        rounded = rounded.astype(np.float64)
        # Largest number that the model does not place above each threshold, and the next number.
        at_most = np.where(rounded <= tree.threshold, rounded, below)
        above = np.where(rounded > tree.threshold, rounded, above)
        upper, lower = tree.threshold, tree.threshold
        if step is not None:
            # A test that only separates missing values has the largest number as its threshold.
            between = (tree.kind == NUMERIC) & np.isfinite(at_most) & np.isfinite(above)
            tests = np.flatnonzero(between & (step[tree.feature] > 0))
            steps = step[tree.feature[tests]]
            ends = (at_most[tests], above[tests], steps, dtype)
            at_most[tests], above[tests] = last_multiple(*ends), first_multiple(*ends)
            upper, lower = tree.threshold.copy(), tree.threshold.copy()
            upper[tests], lower[tests] = at_most[tests], above[tests]
        self.at_most, self.above = at_most.tolist(), above.tolist()
        self.upper, self.lower = upper.tolist(), lower.tolist()

    def side(self, box, node, child):
        """Return the side of the tested attribute in the box of a child."""
        tree, side = self.tree, box.get(int(self.tree.feature[node]), ANYTHING)
        if tree.kind[node] != NUMERIC:
            return self._categories(side, node, child)
        # A test that does not tighten a bound leaves the side as it is.
        if child == tree.children(node)[0]:
            bound = self.upper[node]
            if bound < side.upper:
                return side._replace(upper=bound, high=self.at_most[node], upper_test=node)
        elif (bound := self.lower[node]) > side.lower:
            return side._replace(lower=bound, low=self.above[node], lower_test=node)
        return side

    def _categories(self, side, node, child):
        tree = self.tree
        here = tree.category_children(node) == child
        failed = np.full(len(here) + 1, -1) if side.failed is None else side.failed
        allowed = here & side.allowed if side.nominal else here
        if side.nominal and np.array_equal(allowed, side.allowed):
            return side
        failed = np.where(np.append(here, False), failed, node)
        return Side(np.nan, np.nan, np.nan, np.nan, allowed=allowed, failed=failed)


@dataclass(frozen=True)
class Boxes:
    """Boxes of one class each, in preorder.

    Box r belongs to ``node[r]`` and has the class ``label[r]``. Its sides, ordered by feature, are
    the entries from ``start[r]`` up to ``start[r + 1]`` of the arrays named like the fields of
    ``Side``. ``table`` is -1 for a numeric side. For a nominal side, ``allowed[table + code]`` and
    ``failed[table + code]`` describe its ``n_codes`` categories and, after them, a missing value.
    ``tables`` lists the feature and the start of each table.
    """

    node: np.ndarray
    label: np.ndarray
    start: np.ndarray
    feature: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    low: np.ndarray
    high: np.ndarray
    tests: np.ndarray  # rows: lower_test, upper_test
    table: np.ndarray
    n_codes: np.ndarray
    allowed: np.ndarray
    failed: np.ndarray
    tables: tuple

    @classmethod
    def pack(cls, found):
        """Pack triples of a node, a class and a box into arrays."""
        node, label, start, entries, places, tables = [], [], [0], [], {}, []
        allowed, failed = [np.empty(0, dtype=bool)], [np.empty(0, dtype=np.int64)]
        for at, its_label, box in found:
            node.append(at)
            label.append(its_label)
            for f in sorted(box):
                side = box[f]
                if side.nominal and id(side) not in places:
                    places[id(side)] = tables[-1][1] + len(allowed[-1]) if tables else 0
                    tables.append((f, places[id(side)]))
                    allowed.append(np.append(side.allowed, False))
                    failed.append(side.failed)
                entries.append((f, side, places.get(id(side), -1)))
            start.append(len(entries))
        sides = [side for _, side, _ in entries]
        return cls(
            node=np.array(node, np.int64),
            label=np.array(label, np.int64),
            start=np.array(start, np.int64),
            feature=np.array([f for f, _, _ in entries], np.int64),
            lower=np.array([side.lower for side in sides], np.float64),
            upper=np.array([side.upper for side in sides], np.float64),
            low=np.array([side.low for side in sides], np.float64),
            high=np.array([side.high for side in sides], np.float64),
            tests=np.array(
                [[s.lower_test for s in sides], [s.upper_test for s in sides]], np.int64
            ),
            table=np.array([table for _, _, table in entries], np.int64),
            n_codes=np.array([len(s.allowed) if s.nominal else 0 for s in sides], np.int64),
            allowed=np.concatenate(allowed),
            failed=np.concatenate(failed),
            tables=tuple(tables),
        )

    def price(self, tree, factor, costs, permitted=None):
        """Return the boxes with the costs of entering them.

        Parameters
        ----------
        tree : Tree
            The tree that the boxes belong to.
        factor : ndarray of shape (n_features,)
            Cost of one unit of each numeric attribute.
        costs : callable
            Returns the matrix of costs between the categories of an attribute.
        permitted : callable, optional
            Returns the categories that an attribute may change to; by default all.

        Returns
        -------
        boxes : PricedBoxes
            The boxes, with the cost of entering each.
        """
        cost, becomes = np.empty(len(self.allowed)), np.empty(len(self.allowed), dtype=np.int64)
        for f, table in self.tables:
            end = table + len(tree.categories[f])
            targets = None if permitted is None else permitted(f)
            priced = category_prices(costs(f), self.allowed[table:end], targets)
            cost[table : end + 1], becomes[table : end + 1] = priced
        return PricedBoxes(
            self.label,
            self.start,
            self.feature,
            self.lower,
            self.upper,
            self.low,
            self.high,
            factor[self.feature],
            self.tests,
            self.table,
            self.n_codes,
            cost,
            becomes,
            self.failed,
            tree.compare_dtype == "float32",
        )


def category_prices(costs, allowed, permitted=None):
    """Return the cost of the cheapest change of each category to an allowed one, and that category.

    An allowed category stays as it is. The last entry is for a missing value, which becomes the
    first allowed category at no cost. If no allowed category is ``permitted``, the cost is infinite
    and the category -1.
    """
    codes = np.arange(len(allowed))
    targets = np.flatnonzero(allowed if permitted is None else allowed & permitted)
    cost, becomes, first = np.full(len(codes), np.inf), np.full(len(codes), -1), -1
    if len(targets):
        cost, first = costs[:, targets].min(axis=1), targets[0]
        becomes = targets[costs[:, targets].argmin(axis=1)]
    cost, becomes = np.where(allowed, 0.0, cost), np.where(allowed, codes, becomes)
    return np.append(cost, 0.0), np.append(becomes, first)
