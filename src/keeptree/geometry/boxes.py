"""Boxes of a tree: what it takes to be in a leaf, or in a sub-tree of one class.

A box is a dict from attributes to sides, narrowed test by test on the way down; it is never
changed, only replaced, so that boxes share their sides. ``Boxes`` has many of them as arrays, and
``PricedBoxes`` has what it costs to enter them besides.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keeptree._compiled.boxes import PricedBoxes
from keeptree.geometry.grid import first_multiple, last_multiple
from keeptree.tree import NUMERIC


class Side(NamedTuple):
    """What a box asks of one attribute.

    A number lies above ``lower`` and not above ``upper``, thresholds of the tests ``lower_test``
    and ``upper_test``: as the model compares, from ``low`` to ``high``. (Of a column with a step,
    ``lower`` and ``upper`` are ``low`` and ``high``.) A category is one of those
    ``allowed``; ``failed`` has for each, and for a missing value after the last, the last test
    that leads elsewhere, -1 if none does.
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
        """Whether some value that the model can compare lies inside."""
        if self.nominal:
            return bool(self.allowed.any())
        return self.low <= self.high and self.low < np.inf and self.high > -np.inf


ANYTHING = Side()


class Cuts:
    """How the tests of a tree narrow a box.

    With the ``step`` of each column (0: any number) a box ends at multiples of it, the nearest ones
    that the model puts on that side of the threshold; without, at the threshold.
    """

    def __init__(self, tree, step=None):
        self.tree = tree
        dtype = np.dtype(tree.compare_dtype).type
        with np.errstate(over="ignore"):
            rounded = tree.threshold.astype(dtype)
            above = np.nextafter(rounded, dtype(np.inf)).astype(np.float64)
            below = np.nextafter(rounded, dtype(-np.inf)).astype(np.float64)
        rounded = rounded.astype(np.float64)
        # The largest number the model does not put above the threshold, and the next one.
        at_most = np.where(rounded <= tree.threshold, rounded, below)
        above = np.where(rounded > tree.threshold, rounded, above)
        upper, lower = tree.threshold, tree.threshold
        if step is not None:
            # A test for missing values only has the largest number as its threshold.
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
        """Side of the attribute that ``node`` tests in the box of a child; the same if no other."""
        tree, side = self.tree, box.get(int(self.tree.feature[node]), ANYTHING)
        if tree.kind[node] != NUMERIC:
            return self._categories(side, node, child)
        # A test that repeats a bound has an empty side: it cuts nothing.
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

    Box r stands for ``node[r]`` and has the class ``label[r]`` and the sides ``start[r]`` to
    ``start[r + 1]``, by feature; their fields are those of ``Side``. A nominal side has a
    ``table``, the others -1: ``allowed[table + code]`` and ``failed[table + code]`` are those of
    its ``n_codes`` categories, and of a missing value after them. ``tables`` has the feature and
    the beginning of each.
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
        """Boxes of triples of a node, a class and a box."""
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
        """The boxes with prices.

        Parameters
        ----------
        tree : Tree
            Whose boxes they are.
        factor : ndarray of shape (n_features,)
            What a unit of each numeric attribute costs.
        costs : callable
            Gives the matrix of costs between the categories of an attribute.
        permitted : callable, optional
            Gives the categories that an attribute may change to.

        Returns
        -------
        boxes : PricedBoxes
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
    """What each category costs to become an allowed one, and which: itself if it is one.

    A missing value, after the last category, becomes the first for nothing. If the ``permitted``
    ones have none that is allowed the cost is infinite and the category -1.
    """
    codes = np.arange(len(allowed))
    targets = np.flatnonzero(allowed if permitted is None else allowed & permitted)
    cost, becomes, first = np.full(len(codes), np.inf), np.full(len(codes), -1), -1
    if len(targets):
        cost, first = costs[:, targets].min(axis=1), targets[0]
        becomes = targets[costs[:, targets].argmin(axis=1)]
    cost, becomes = np.where(allowed, 0.0, cost), np.where(allowed, codes, becomes)
    return np.append(cost, 0.0), np.append(becomes, first)
