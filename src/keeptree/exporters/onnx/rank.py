"""The geometric ranking in the graph: scores by the distance to the decision boundary."""

import numpy as np

from keeptree.exporters.onnx.boxes import class_distances, signed
from keeptree.exporters.plain_lists import leaf_values
from keeptree.probability.geometric_rank import LEAST, MOST


def add_scores(cases, place, routes, model, code):
    """Scores of each row: (rows, classes), or (rows, 1) of the second of two classes.

    Parameters
    ----------
    cases : Cases
        The rows.
    place : dict
        Column of the tree -> column of the cases.
    routes : Routes
        Where the rows go.
    model : GeometricRankClassifier
        Fitted.
    code : Value
        Position of the class that the tree decides for.
    """
    n_classes = routes.n_classes
    score = _geometric_scores(cases, place, model, n_classes, code)
    if model.scope == "local":
        p, half_gap = model.local_order
        p, half_gap = (leaf_values(model.tree_, values) for values in (p, half_gap))
        bounded = score / (abs(score) + 1.0)
        score = routes.average(p) - 0.5 + routes.average(half_gap, normalise=False) * bounded
    return score.take([1]) if n_classes == 2 else score


def _geometric_scores(cases, place, model, n_classes, code):
    """Return the distance to the boundary of each class, positive inside the class."""
    graph = cases.graph
    h = signed(class_distances(cases, place, model.boundary_), n_classes)
    score = graph.concat([-h, h]) if n_classes == 2 else -h
    score = score.at_least(-MOST).at_most(MOST)
    # On the boundary, or with a missing value, the tree's decision gives the sign.
    own = graph.constant(np.arange(n_classes)).equals(code.upright())
    score = graph.where(own, score.at_least(LEAST), score.at_most(-LEAST))
    if model.boundary == "whole" and n_classes > 2:
        nearest = abs(score).min()
        score = graph.where(score > 0.0, nearest, -nearest)
    return score
