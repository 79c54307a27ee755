"""The distance kernel as plain lists: the steps that measure distances, and the curves."""

import numpy as np

from keeptree.exporters.plain_separator import plain_separator
from keeptree.exporters.sides import distinct_sides, find_ends
from keeptree.geometry.grid import inverse_step
from keeptree.geometry.regions import find_regions
from keeptree.probability.density_gaussian import KernelTables
from keeptree.tree import NUMERIC

_LARGEST_SINGLE = float(np.finfo(np.float32).max)
_LARGEST = float(np.finfo(np.float64).max)


def plain_distance(model, place):
    """Return the kind ``distance`` of :func:`~keeptree.exporters.plain_model.plain_model`.

    Parameters
    ----------
    model : DistanceKernelClassifier
        Fitted. None is returned for one without Gaussian curves.
    place : dict
        Number of each column.
    """
    curves = model.curves_
    if not isinstance(getattr(curves, "tables", None), KernelTables):
        return None
    tables, boundary = curves.tables, model.boundary_
    return {
        "kind": "separator" if model.scope == "separator" else "distance",
        "steps": _steps(boundary, place),
        "grid": plain_grid(boundary, place),
        "estimated": curves.estimated.tolist(),
        "prior": curves.prior.tolist(),
        "curve": curves.curve.tolist() if model.scope != "global" else None,
        "separator": plain_separator(boundary, place) if model.scope == "separator" else None,
        "axis": tables.axis.tolist(),
        "cell": tables.cell.tolist(),
        "piece": tables.piece.tolist(),
        "coefficient": tables.coefficient,
    }


def _steps(boundary, place):
    """Return the float32 program of the boundary, without infinite bounds."""
    program = boundary.program_.single
    rounded = np.isin(program.columns[:, 0], boundary.program_.rounded) | program.compare_single
    center, factor, reach = program.frame.T
    bounds = np.nan_to_num(program.bounds[:, :3].astype(float))  # a nominal step has none
    bounds = np.clip(bounds, -_LARGEST_SINGLE, _LARGEST_SINGLE)
    return {
        "attribute": [place[f] for f in program.columns[:, 0].tolist()],
        "codes": program.columns[:, 1].tolist(),
        "rounded": rounded.tolist(),
        "center": center.tolist(),
        "factor": factor.tolist(),
        "reach": reach.tolist(),
        "step": program.steps[:, [0, 1, 2, 3, 4, 7]].tolist(),
        "bound": bounds.tolist(),
        "growth": program.growth.astype(float).tolist(),
        "slots": int(program.n_slots),
    }


def plain_grid(boundary, place):
    """Return the columns with a step, and the boxes for values off the grid; None without steps."""
    tree, step = boundary.tree_, boundary.grid_
    tested = np.unique(tree.feature[tree.kind == NUMERIC])
    gridded = tested[step[tested] > 0].tolist() if step is not None else []
    if not gridded:
        return None
    return {
        "attribute": [place[f] for f in gridded],
        "step": step[gridded].tolist(),
        "inverse": [float(inverse_step(step[f])) for f in gridded],
        **plain_boxes(boundary, place),
    }


def plain_boxes(boundary, place):
    """Return the boxes of the regions and their distinct sides: ``sides``, ``boxes``, ``label``.

    A box is a list of sides. A numeric side has ``bounds``: lower and upper bound, the values that
    a number below and above it moves to, and the cost of one unit. A nominal side has ``cost``, of
    each category and of a missing value.
    """
    tree, metric = boundary.tree_, boundary.metric_
    boxes = find_regions(tree).boxes
    sides, box_sides = distinct_sides(boxes)
    cost = boxes.price(tree, metric.factor_, metric.category_costs_.__getitem__).cost
    return {
        "sides": [_side(boundary, boxes, cost, e, place) for e in sides.tolist()],
        "boxes": [[side for side in row if side < len(sides)] for row in box_sides.tolist()],
        "label": boxes.label.tolist(),
    }


def _side(boundary, boxes, cost, e, place):
    """Return a side of a box: bounds of a number, or the cost of changing each category."""
    f, first = int(boxes.feature[e]), int(boxes.table[e])
    if first >= 0:
        costs = cost[first : first + int(boxes.n_codes[e]) + 1]
        return {"attribute": place[f], "bounds": None, "rounded": False, "cost": _finite(costs)}
    ends = find_ends(boundary, boxes, np.array([e]))
    single = boundary.tree_.compare_dtype == "float32"
    bounds = (ends.lower, ends.upper, ends.rises_to, ends.falls_to, ends.factor)
    return {
        "attribute": place[f],
        "bounds": _finite(np.concatenate(bounds)),
        "rounded": bool(single and (boundary.grid_ is None or boundary.grid_[f] == 0)),
        "cost": None,
    }


def _finite(values):
    return np.clip(values, -_LARGEST, _LARGEST).tolist()
