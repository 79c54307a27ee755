"""The distance kernel in the graph: its distances in float32 as Python has them, and its curves."""

import numpy as np

from keeptree._compiled.program import LEFT_REGION, NOMINAL, RIGHT_REGION
from keeptree.exporters.onnx import boxes
from keeptree.exporters.plain import TREE_ALONE
from keeptree.probability.density_gaussian import KernelTables


def add_distance_kernel(cases, place, routes, model):
    """Probabilities of each row: (rows, classes).

    Parameters
    ----------
    cases : Cases
        The rows.
    place : dict
        Column of the tree -> column of the cases.
    routes : Routes
        Where the rows go.
    model : DistanceKernelClassifier
        Fitted, with curves.
    """
    graph, curves, n_classes = cases.graph, model.curves_, len(model.classes_)
    h = _algebraic_distances(cases, place, model.boundary_).cast(np.float64)
    curve = None
    if model.scope == "leaf":
        curve = graph.constant(curves.curve).take(routes.leaf.at_least(0), axis=0)
    step = curves.tables.n_curves // len(curves.estimated)
    shares = {}
    for j, c in enumerate(curves.estimated.tolist()):
        own = h.column(0 if n_classes == 2 else c)
        shares[c] = _lookup(graph, curves.tables, own, curve, j * step).upright()
    if n_classes == 2:
        return graph.concat([shares[0], 1.0 - shares[0]])
    prior = curves.prior.copy()
    prior[curves.estimated] *= 1e-9
    nothing = graph.fill(cases.rows, 0.0, np.float64, 1)
    p = graph.concat([shares.get(c, nothing) for c in range(n_classes)]) + prior
    return p / p.sum()


def check_distance_kernel(model):
    """Raise a ValueError if the graph cannot have the probabilities of a distance kernel."""
    if model.scope == "separator":
        raise ValueError(
            'ONNX cannot express a DistanceKernelClassifier with scope="separator"; export one '
            f'with scope="global" or "leaf", or {TREE_ALONE}.'
        )
    if not isinstance(model.curves_.tables, KernelTables):
        raise ValueError(
            f"ONNX cannot express a DistanceKernelClassifier with kernel={model.kernel!r}; export "
            f'one with kernel="gaussian", or {TREE_ALONE}.'
        )


def _algebraic_distances(cases, place, boundary):
    """What ``Boundary.algebraic_distance`` gives, to the last bit but for rows off the grid."""
    n_classes = len(boundary.tree_.classes)
    h = _Steps(cases, place, boundary).signed()
    beside = boxes.off_grid(cases, place, boundary)
    if beside is None:
        return h
    exact = boxes.signed(boxes.class_distances(cases, place, boundary), n_classes)
    return cases.graph.where(beside, exact.cast(np.float32), h)


class _Steps:
    """The single precision program of a boundary: all its steps at once, then sums down the paths.

    A step leads from a box to two narrower ones, or to one by a nominal test. The squared distance
    of a box is that of the one before plus what the tighter bound adds, in float32.
    """

    def __init__(self, cases, place, boundary):
        self._cases, self._program = cases, boundary.program_.single
        self._n_classes = len(boundary.tree_.classes)
        self._load(place, boundary)
        self._unroll()

    def signed(self):
        """Algebraic distances in float32."""
        graph, zero = self._cases.graph, np.float32(0)
        added = self._added()
        start = graph.fill(self._cases.rows, zero, np.float32, len(self._parent))
        squared = graph.repeat(self._depth, start, lambda sums: sums.take(self._parent) + added)
        found = []
        for c in range(self._n_classes):
            boxes_of_class = [v for v, label in enumerate(self._label) if label == c]
            nothing = graph.fill(self._cases.rows, np.inf, np.float32, 1)
            found.append(squared.take(boxes_of_class).min() if boxes_of_class else nothing)
        best = graph.concat(found)
        if self._n_classes == 2:
            return _root(best.take([0])) - _root(best.take([1]))
        other = boxes.second_smallest(best)
        return graph.where(best > 0.0, _root(best), 0.0 - _root(other))

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
        scaled = (raw - center).cast(np.float32) * factor
        scaled = scaled.at_least(-reach).at_most(reach)
        missing = cases.graph.constant(np.where(nominal, program.columns[:, 1], np.nan), np.float32)
        self._block = cases.graph.where(raw.is_nan(), missing, scaled)

    def _unroll(self):
        """Boxes in the order of the steps: parent, step, side, class (None unless a region)."""
        slot, self._parent, self._step, self._side, self._label = {0: 0}, [0], [-1], [0], [None]
        depth = [0]
        for e, (code, _, source, left, right, *_) in enumerate(self._program.steps.tolist()):
            ways = [(0, left, LEFT_REGION), (1, right, RIGHT_REGION)]
            before = slot[source]
            for side, target, region in ways[:1] if code & NOMINAL else ways:
                box = len(self._parent)
                self._parent.append(before)
                self._step.append(e)
                self._side.append(side)
                self._label.append(target if code & region else None)
                depth.append(depth[before] + 1)
                if not code & region:
                    slot[target] = box
        self._depth = max(depth)

    def _added(self):
        """What each box adds to the squared distance of the one before: (rows, boxes)."""
        graph, program = self._cases.graph, self._program
        step, side = np.array(self._step[1:]), np.array(self._side[1:])
        code, column = program.steps[step, 0], program.steps[step, 1]
        nominal, zero = (code & NOMINAL) > 0, graph.constant(np.float32(0))
        value = self._block.take(column)
        gap = value - np.where(nominal, 0.0, program.bounds[step, 0])
        gap = graph.where(gap.is_nan(), zero, gap)
        lower = side == 1
        # Of a lower bound gap and width are negative: the same with their signs changed.
        gap = graph.where(graph.constant(lower), -gap, gap)
        gap = graph.where(gap > 0.0, gap, zero)
        width = np.where(lower, -program.bounds[step, 2], program.bounds[step, 1])
        moved = gap.at_most(np.where(nominal, 0.0, width))
        added = moved * (gap * 2.0 - moved)
        if nominal.any():
            code = graph.where(graph.constant(nominal), value, zero).at_least(0.0).cast(np.int64)
            table = graph.constant(np.append(program.growth, np.float32(0)))
            at = np.where(nominal, program.steps[step, 7], len(program.growth))
            costs = table.take(code + at, axis=0)
            added = graph.where(graph.constant(nominal), costs, added)
        root = graph.fill(self._cases.rows, 0.0, np.float32, 1)
        return graph.concat([root, added])


def _root(squared):
    """Square root in float32: that of onnxruntime 1.15 is not the nearest number."""
    return squared.cast(np.float64).sqrt().cast(np.float32)


def _lookup(graph, tables, h, curve, offset):
    """Share at each distance: the cubic piece of the curve there, see ``KernelTables``."""
    axis, cell, piece = (graph.constant(a) for a in (tables.axis, tables.cell, tables.piece))
    if curve is None:
        curve = graph.constant([0])
    curve = curve + offset
    origin, scale, left, middle, last = (
        axis.take([k]).take(curve, axis=0).flat() for k in range(5)
    )
    x = (h - origin) * scale
    before = _log1p((0.0 - x).at_least(0.0))
    after = _log1p((x - middle).at_least(0.0))
    x = graph.where(x < 0.0, 0.0 - before, graph.where(x > middle, middle + after, x))
    x = (x + left).at_least(0.0).at_most(last)
    whole = x.floor()
    i = cell.take(curve, axis=0) + whole.cast(np.int64)
    first = piece.take(i, axis=0)
    y = (x - whole) * (piece.take(i + 1, axis=0) - first).cast(np.float64)
    j = first + y.floor().cast(np.int64)
    y = y - y.floor()
    c = graph.constant(tables.coefficient.astype(np.float64)).take(j, axis=0)
    c0, c1, c2, c3 = (c.column(k) for k in range(4))
    return (c0 + y * (c1 + y * (c2 + y * c3))).at_least(0.0).at_most(1.0)


def _log1p(x):
    """log(1 + x) with the digits of a small x."""
    u = x + 1.0
    lost = (x - (u - 1.0)) / u
    return x.graph.where(u < np.inf, u.log() + lost, x)
