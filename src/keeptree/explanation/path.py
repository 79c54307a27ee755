"""The path of a case through the tree: each test, and how close the case is to its threshold."""

import numpy as np

from keeptree._compiled.program import LARGEST_SINGLE
from keeptree.data.labels import plain
from keeptree.explanation.wording import tell_branch, tell_side
from keeptree.geometry.boxes import Cuts
from keeptree.text import clean
from keeptree.tree import SHARE

_UNITS = {"standard": "SD", "minmax": "of the range"}


def distance_unit(metric):
    """Return the unit of distances in a metric."""
    return "in your scales" if metric.scales is not None else _UNITS[metric.kind]


def collect_path(subject, row, leaf, near, unseen=None):
    """Return the tests that an encoded row passes on its path to a leaf.

    Parameters
    ----------
    subject : Subject
        The model.
    row : ndarray of shape (n_features,)
        The case.
    leaf : int
        Leaf of the case; if a missing value is shared among leaves, the one with the largest share.
    near : float
        Maximum distance from the other side of a test, in the metric, to count as near.
    unseen : dict, optional
        Column -> label of the case that the tree reads as its category for unseen labels.

    Returns
    -------
    steps : list of dict
        ``node``, ``attribute``, ``value`` (None if missing), ``test``, ``threshold``, ``margin``
        (value minus threshold, in the attribute's own unit), ``distance`` (in the metric, to the
        nearest possible value on the other side; None if it is unknown), ``near``, ``share`` (of
        the case that follows this path; 1 unless a missing value is divided) and ``text``.
    """
    tree, observed, unseen = subject.tree, subject.observed, unseen or {}
    cuts, steps = Cuts(tree, None if observed is None else observed.step), []
    lifted = tree.lift(row[None])[0]
    for child in tree.path(leaf)[1:]:
        branch = tree.branch(child)
        node, numeric = branch.node, branch.is_numeric
        value = lifted[tree.lifted.feature[node]]
        missing = bool(np.isnan(value))
        distance = None if missing else _distance(subject, branch, value, cuts)
        if numeric:
            value = None if missing else float(value)
        else:
            value = None if missing else tree.categories[branch.feature][int(value)]
            value = unseen.get(branch.feature, value)
        share = float(tree.shares[child]) if missing and tree.missing[node] == SHARE else 1.0
        step = {
            "node": node,
            "attribute": clean(branch.name),
            "value": plain(value),
            "test": tell_branch(branch),
            "threshold": branch.threshold,
            "margin": float(value - branch.threshold) if numeric and not missing else None,
            "distance": distance,
            "near": distance is not None and distance <= near,
            "share": share,
        }
        text = _tell(step, branch)
        text += " (an unseen category)" if branch.feature in unseen and not numeric else ""
        steps.append({**step, "text": text})
    return steps


def _distance(subject, branch, value, cuts):
    """Return the cost of reaching the other side of a test."""
    tree, metric = subject.tree, subject.metric
    if metric is None:
        return None
    f = branch.feature
    if branch.is_oblique:
        columns, weights = map(list, zip(*branch.terms, strict=True))
        slope = np.hypot.reduce(np.array(weights) / metric.factor_[columns])
        return float(abs(value - branch.threshold) / slope)
    if branch.is_numeric:
        across = (cuts.lower if branch.sign == "<=" else cuts.upper)[branch.node]
        if across == branch.threshold and tree.compare_dtype == "float32":
            value = float(np.float32(np.clip(value, -LARGEST_SINGLE, LARGEST_SINGLE)))
        return float(abs(value - across) * metric.factor_[f])
    others = tree.category_children(branch.node) != branch.child
    if not others.any():
        return None
    return float(metric.category_costs_[f][int(value)][others].min())


def _tell(step, branch):
    """Return a step as a sentence."""
    name = step["attribute"]
    if step["value"] is None:
        if step["share"] < 1.0:
            share = f"{step['share']:.0%}"
            return f"{name} is not known: {share} of the case goes on where {step['test']}"
        return f"{name} is not known: the tree goes on as if {step['test']}"
    if step["threshold"] is None:
        return f"{name} is {clean(step['value'])}"
    name = f"{name} =" if branch.is_oblique else name
    return f"{name} {tell_side(step['value'], branch.symbol, branch.threshold)}"
