"""The way of a case through the tree, test by test: what was asked, and how near it was."""

from itertools import pairwise

import numpy as np

from keeptree.data.labels import plain
from keeptree.explanation.wording import tell_number, tell_side
from keeptree.text import clean
from keeptree.tree import NUMERIC, SHARE

_UNITS = {"standard": "SD", "minmax": "of the range"}


def distance_unit(metric):
    """What distances in a metric are counted in."""
    return "in your scales" if metric.scales is not None else _UNITS[metric.kind]


def collect_path(subject, row, leaf, near):
    """Steps of an encoded row on the way to a leaf.

    Parameters
    ----------
    subject : Subject
        The model.
    row : ndarray of shape (n_features,)
        The case.
    leaf : int
        Where it ends (the heaviest leaf, if a missing value is shared).
    near : float
        A test is near if the case is at most so far from its other side, in the metric.

    Returns
    -------
    steps : list of dict
        ``node``, ``attribute``, ``value`` (None: not known), ``test``, ``threshold``, ``margin``
        (value minus threshold, in the attribute's own unit), ``distance`` (in the metric; None
        where it is not known), ``near``, ``share`` (of the case that goes on; 1 unless a missing
        value is shared) and ``text``.
    """
    tree = subject.tree
    steps = []
    for node, child in pairwise(tree.path(leaf)):
        f = int(tree.feature[node])
        numeric = tree.kind[node] == NUMERIC
        missing = bool(np.isnan(row[f]))
        distance = None if missing else _distance(subject, node, child, row[f])
        value = None if missing else float(row[f]) if numeric else tree.categories[f][int(row[f])]
        threshold = float(tree.threshold[node]) if numeric else None
        share = float(tree.shares[child]) if missing and tree.missing[node] == SHARE else 1.0
        step = {
            "node": int(node),
            "attribute": clean(tree.feature_name(f)),
            "value": plain(value),
            "test": branch(tree, node, child),
            "threshold": threshold,
            "margin": float(value - threshold) if numeric and not missing else None,
            "distance": distance,
            "near": distance is not None and distance <= near,
            "share": share,
        }
        steps.append({**step, "text": _tell(step, tree, node, child)})
    return steps


def branch(tree, node, child):
    """The condition under which a case goes to a child: ``age ≤ 40``, ``colour is red or blue``."""
    name = clean(tree.feature_name(tree.feature[node]))
    if tree.kind[node] == NUMERIC:
        sign = "≤" if child == tree.children(node)[0] else ">"
        return f"{name} {sign} {tell_number(float(tree.threshold[node]))}"
    return f"{name} is {' or '.join(clean(label) for label in _labels(tree, node, child))}"


def _labels(tree, node, child):
    labels = tree.categories[tree.feature[node]]
    first = tree.category_start[node]
    return [label for k, label in enumerate(labels) if tree.category_child[first + k] == child]


def _distance(subject, node, child, value):
    """What it costs in the metric to take the other side of a test."""
    tree, metric = subject.tree, subject.metric
    if metric is None:
        return None
    f = int(tree.feature[node])
    if tree.kind[node] == NUMERIC:
        compared = float(np.float32(value)) if tree.compare_dtype == "float32" else float(value)
        return float(abs(compared - tree.threshold[node]) * metric.factor_[f])
    first = tree.category_start[node]
    others = tree.category_child[first : first + len(tree.categories[f])] != child
    if not others.any():
        return None
    return float(metric.category_costs_[f][int(value)][others].min())


def _tell(step, tree, node, child):
    """One step in words."""
    name = step["attribute"]
    if step["value"] is None:
        if step["share"] < 1.0:
            share = f"{step['share']:.0%}"
            return f"{name} is not known: {share} of the case goes on where {step['test']}"
        return f"{name} is not known: the tree goes on as if {step['test']}"
    if step["threshold"] is None:
        return f"{name} is {clean(step['value'])}"
    sign = "≤" if child == tree.children(node)[0] else ">"
    return f"{name} {tell_side(step['value'], sign, step['threshold'])}"
