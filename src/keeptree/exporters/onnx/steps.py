"""Squared distances to the regions of a tree in the graph, equal to Python's to the last bit."""

import numpy as np

from keeptree._compiled.program import LEFT_REGION, NOMINAL, RIGHT_REGION


class Steps:
    """The program of a boundary: all its steps at once, then sums down the paths.

    A step leads from a box to two narrower ones, or to one by a nominal test. The squared distance
    of a box is that of the one before plus what the tighter bound adds.

    Parameters
    ----------
    cases : Cases
        The rows.
    place : dict
        Column of the tree -> column of the cases.
    boundary : Boundary
        Of an axis-parallel tree.
    program : SingleProgram or DoubleProgram
        One of its programs; distances have its precision.
    """

    def __init__(self, cases, place, boundary, program):
        self._cases, self._program = cases, program
        self._number = program.bounds.dtype.type
        self._n_classes = len(boundary.tree_.classes)
        self._load(place, boundary)
        self._unroll()

    def class_squares(self):
        """Squared distance to each class, infinite without a region: a list of (rows, 1)."""
        squared, found = self._squares(), []
        for c in range(self._n_classes):
            own = [v for v, label in enumerate(self._label) if label == c]
            nothing = self._cases.graph.fill(self._cases.rows, np.inf, self._number, 1)
            found.append(squared.take(own).min() if own else nothing)
        return found

    def region_squares(self):
        """Squared distance to each region: (rows, regions)."""
        place = {region: v for v, region in enumerate(self._region) if region > 0}
        return self._squares().take([place[region] for region in sorted(place)])

    def _squares(self):
        """Squared distance to each box: (rows, boxes)."""
        graph, added = self._cases.graph, self._added()
        start = graph.fill(self._cases.rows, self._number(0), self._number, len(self._parent))
        return graph.repeat(self._depth, start, lambda sums: sums.take(self._parent) + added)

    def _load(self, place, boundary):
        """The used columns, centred and scaled; the codes of nominal ones."""
        program, cases = self._program, self._cases
        columns = [place[f] for f in program.columns[:, 0].tolist()]
        raw, nominal = cases.raw.take(columns), program.columns[:, 1] > 0
        rounded = np.isin(program.columns[:, 0], boundary.program_.rounded)
        limit = float(np.finfo(np.float32).max)
        center, factor, reach = program.frame.T
        if program.compare_single or rounded.any():
            chosen = cases.graph.constant(rounded | program.compare_single)
            single = raw.at_least(-limit).at_most(limit).rounded()
            raw = cases.graph.where(chosen, single, raw)
        scaled = (raw - center).cast(self._number) * factor
        scaled = scaled.at_least(-reach).at_most(reach)
        missing = np.where(nominal, program.columns[:, 1], np.nan)
        missing = cases.graph.constant(missing, self._number)
        self._block = cases.graph.where(raw.is_nan(), missing, scaled)

    def _unroll(self):
        """Boxes in the order of the steps: parent, step, side; class and number of a region."""
        slot, self._parent, self._step, self._side, self._label = {0: 0}, [0], [-1], [0], [None]
        self._region, depth = [0], [0]
        for e, row in enumerate(self._program.steps.tolist()):
            code, _, source, left, right, left_id, right_id, _ = row
            ways = [(0, left, LEFT_REGION, left_id), (1, right, RIGHT_REGION, right_id)]
            before = slot[source]
            for side, target, region, number in ways[:1] if code & NOMINAL else ways:
                box = len(self._parent)
                self._parent.append(before)
                self._step.append(e)
                self._side.append(side)
                self._label.append(target if code & region else None)
                self._region.append(number if code & region else 0)
                depth.append(depth[before] + 1)
                if not code & region:
                    slot[target] = box
        self._depth = max(depth)

    def _added(self):
        """What each box adds to the squared distance of the one before: (rows, boxes)."""
        graph, program = self._cases.graph, self._program
        step, side = np.array(self._step[1:]), np.array(self._side[1:])
        code, column = program.steps[step, 0], program.steps[step, 1]
        nominal, zero = (code & NOMINAL) > 0, graph.constant(self._number(0))
        value = self._block.take(column)
        gap = value - np.where(nominal, 0.0, program.bounds[step, 0])
        gap = graph.where(gap.is_nan(), zero, gap)
        lower = side == 1
        # Of a lower bound gap and width are negative: the same with their signs changed.
        gap = graph.where(graph.constant(lower), -gap, gap)
        gap = graph.where(gap > 0.0, gap, zero)
        if program.bounds.shape[1] > 3 and self._number is np.float64:
            gap = gap * np.where(nominal, 1.0, program.bounds[step, 3])
        width = np.where(lower, -program.bounds[step, 2], program.bounds[step, 1])
        moved = gap.at_most(np.where(nominal, 0.0, width))
        added = moved * (gap * 2.0 - moved)
        if nominal.any():
            code = graph.where(graph.constant(nominal), value, zero).at_least(0.0).cast(np.int64)
            table = graph.constant(np.append(program.growth, self._number(0)))
            at = np.where(nominal, program.steps[step, 7], len(program.growth))
            costs = table.take(code + at, axis=0)
            added = graph.where(graph.constant(nominal), costs, added)
        root = graph.fill(self._cases.rows, 0.0, self._number, 1)
        return graph.concat([root, added])
