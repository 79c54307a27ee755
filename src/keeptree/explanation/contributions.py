"""Contributions to a probability, in one format for all models that provide them."""

import numpy as np

from keeptree.explanation.wording import tell_branch
from keeptree.text import clean

_SHARES = "Start: the shares of the classes in the sample"
_MEAN = "Start: the mean training case"
_EXPERTS = {
    "soft": "How clearly the case passes the tests (soft)",
    "soft, similar trees": "How the tree and similar trees judge the case (soft)",
    "margin": "All tests of the tree, weighted (margin)",
    "margin, other columns": "All tests of the tree and other columns, weighted (margin)",
    "kernel": "Training cases like this one (kernel)",
    "coherent": "Kept in line with the tree's decision",
}


def collect_contributions(subject, encoded, label):
    """Return the contributions of experts and tests, or None if the model has none.

    Parameters
    ----------
    subject : Subject
        The model.
    encoded : ndarray of shape (1, n_features)
        The case.
    label : int
        Index of the class in ``tree.classes``.

    Returns
    -------
    parts : list of dict or None
        ``kind`` (``"expert"``, ``"test"``, ``"column"`` or ``"start"``; a column is one that the
        tree does not test on its own), ``name``, ``node`` (of a test), ``answer`` (of the case to a
        test: ``"yes"``, ``"no"`` or ``"not known"``), ``tested`` (whether a column is part of a
        weighted sum that the tree tests), ``expert`` (the short name of an expert) and ``value``,
        what the part adds to the log-odds of the class. The start comes first, then the largest
        values. Experts with weight 0 are left out.
    """
    model = subject.inner
    if not hasattr(model, "contributions_encoded"):
        return None
    found = model.contributions_encoded(encoded)
    if hasattr(found, "expert"):
        parts, tests = _experts(model, found, label), found.test[0]
        if model.weights_["margin"] == 0:
            return _sorted(parts)
    else:
        parts, tests = [_start(_MEAN, found.intercept, label)], found.value[0]
    for k, (node, value) in enumerate(zip(found.node, _of_class(tests, label), strict=True)):
        if node < 0:
            name = clean(subject.tree.feature_name(int(found.column[k])))
            part = _part("column", name, None, value)
            parts.append({**part, "tested": int(found.column[k]) in subject.tree.tested})
        else:
            part = _part("test", _question(subject.tree, node), int(node), value)
            parts.append({**part, "answer": _answer(subject.tree, node, encoded)})
    return _sorted(parts)


def averages_trees(model):
    """Return whether the soft expert of a model averages the tree with similar trees."""
    expert = getattr(model, "soft_", None)
    return expert is not None and expert.splits is not None


def _experts(model, found, label):
    """Return the class shares and what each expert that plays a part adds to them."""
    others = {"margin": "margin, other columns"} if (found.node < 0).any() else {}
    if averages_trees(model):
        others["soft"] = "soft, similar trees"
    parts = [_start(_SHARES, found.start, label)]
    for name, value in zip(found.expert, _of_class(found.value[0], label), strict=True):
        if model.weights_.get(name) != 0:
            told = _EXPERTS.get(others.get(name, name), clean(name))
            parts.append({**_part("expert", told, None, value), "expert": name})
    return parts


def _start(name, value, label):
    return _part("start", name, None, _of_class(np.asarray(value)[None], label)[0])


def _of_class(values, label):
    """Return the log-odds of one class; with two classes, ``values`` are those of the second."""
    if values.ndim == 1:
        return values if label == 1 else -values
    return values[:, label]


def _sorted(parts):
    order = {"start": 0, "expert": 1, "test": 2, "column": 2}
    return sorted(parts, key=lambda part: (order[part["kind"]], -abs(part["value"])))


def _part(kind, name, node, value):
    return {"kind": kind, "name": name, "node": node, "value": float(value)}


def _question(tree, node):
    return tell_branch(tree.branch(tree.children(node)[0])) + "?"


def _answer(tree, node, encoded):
    """Return whether the case would go to the first child of a node, on its path or not."""
    if np.isnan(tree.lift(encoded)[0, tree.lifted.feature[node]]):
        return "not known"
    _, child, _ = tree.descend(encoded, np.array([0]), np.array([node]), np.ones(1))
    return "yes" if child[0] == tree.children(node)[0] else "no"
