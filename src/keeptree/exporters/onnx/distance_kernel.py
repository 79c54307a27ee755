"""The distance kernel in the graph: float32 distances, equal to Python's, and curves."""

import numpy as np

from keeptree.exporters.onnx import boxes
from keeptree.exporters.onnx.separator import add_separators
from keeptree.exporters.onnx.steps import Steps
from keeptree.exporters.plain_model import TREE_ALONE
from keeptree.probability.density_gaussian import KernelTables


def add_distance_kernel(cases, place, routes, model, decide):
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
    decide : callable
        Returns the position of the class that the tree decides for.
    """
    graph, curves, n_classes = cases.graph, model.curves_, len(model.classes_)
    h = _algebraic_distances(cases, place, model.boundary_).cast(np.float64)
    curve = None
    if model.scope == "leaf":
        curve = graph.constant(curves.curve).take(routes.leaf.at_least(0), axis=0)
    elif model.scope == "separator":
        node = add_separators(cases, place, model.boundary_, decide())
        last = len(curves.curve) - 1  # of rows without a separator
        node = graph.where(node < 0, last, node)
        curve = graph.constant(curves.curve).take(node, axis=0)
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
    """Raise a ValueError if a graph cannot compute a distance kernel."""
    if not isinstance(model.curves_.tables, KernelTables):
        raise ValueError(
            f"ONNX cannot express a DistanceKernelClassifier with kernel={model.kernel!r}; export "
            f'one with kernel="gaussian", or {TREE_ALONE}.'
        )


def _algebraic_distances(cases, place, boundary):
    """Compute ``Boundary.algebraic_distance``, to the last bit except for rows off the grid."""
    n_classes = len(boundary.tree_.classes)
    h = _signed(Steps(cases, place, boundary, boundary.program_.single).class_squares())
    beside = boxes.off_grid(cases, place, boundary)
    if beside is None:
        return h
    exact = boxes.signed(boxes.class_distances(cases, place, boundary), n_classes)
    return cases.graph.where(beside, exact.cast(np.float32), h)


def _signed(best):
    """Algebraic distances in float32 from the squared distances to the classes."""
    graph = best[0].graph
    if len(best) == 2:
        return _root(best[0]) - _root(best[1])
    squared = graph.concat(best)
    other = boxes.second_smallest(squared)
    return graph.where(squared > 0.0, _root(squared), 0.0 - _root(other))


def _root(squared):
    """Square root in float32; onnxruntime 1.15 does not round it correctly."""
    return squared.cast(np.float64).sqrt().cast(np.float32)


def _lookup(graph, tables, h, curve, offset):
    """Look up the share at each distance: a cubic piece of a curve, see ``KernelTables``."""
    axis, cell, piece = (graph.constant(a) for a in (tables.axis, tables.cell, tables.piece))
    if curve is None:
        curve = graph.constant([0])
    curve = curve + offset
    origin, scale, left, middle, last, reach, even, start = (
        axis.take([k]).take(curve, axis=0).flat() for k in range(8)
    )
    x = (h - origin) * scale
    is_even, y_even = ~(x < 0.0) & (x < reach), x * even  # cells with equally many pieces
    before = _log1p((0.0 - x).at_least(0.0))
    after = _log1p((x - middle).at_least(0.0))
    x = graph.where(x < 0.0, 0.0 - before, graph.where(x > middle, middle + after, x))
    x = (x + left).at_least(0.0).at_most(last)
    whole = x.floor()
    i = cell.take(curve, axis=0) + whole.cast(np.int64)
    first = piece.take(i, axis=0)
    y = (x - whole) * (piece.take(i + 1, axis=0) - first).cast(np.float64)
    first = graph.where(is_even, start.cast(np.int64), first)
    y = graph.where(is_even, y_even, y)
    j = first + y.floor().cast(np.int64)
    y = y - y.floor()
    c = graph.constant(tables.coefficient.astype(np.float64)).take(j, axis=0)
    c0, c1, c2, c3 = (c.column(k) for k in range(4))
    return (c0 + y * (c1 + y * (c2 + y * c3))).at_least(0.0).at_most(1.0)


def _log1p(x):
    """Return log(1 + x), accurate for small x."""
    u = x + 1.0
    lost = (x - (u - 1.0)) / u
    return x.graph.where(u < np.inf, u.log() + lost, x)
