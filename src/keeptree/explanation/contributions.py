"""Contributions to a probability, in one format for all models that provide them."""

import numpy as np

from keeptree.explanation.wording import tell_branch
from keeptree.text import clean

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
        what the part adds to the log-odds of the class. The largest values come first.
    """
    model = subject.inner
    if not hasattr(model, "contributions_encoded"):
        return None
    found = model.contributions_encoded(encoded)
    parts = []
    if hasattr(found, "expert"):
        values = _of_class(found.value[0], label)
        others = {"margin": "margin, other columns"} if (found.node < 0).any() else {}
        if averages_trees(model):
            others["soft"] = "soft, similar trees"
        for name, value in zip(found.expert, values, strict=True):
            told = _EXPERTS.get(others.get(name, name), clean(name))
            part = _part("expert", told, None, value)
            parts.append({**part, "expert": name})
        tests = found.test[0]
    else:
        start = _of_class(np.asarray(found.intercept)[None], label)[0]
        parts.append(_part("start", "The mean training case", None, start))
        tests = found.value[0]
    for k, (node, value) in enumerate(zip(found.node, _of_class(tests, label), strict=True)):
        if node < 0:
            name = clean(subject.tree.feature_name(int(found.column[k])))
            part = _part("column", name, None, value)
            parts.append({**part, "tested": int(found.column[k]) in subject.tree.tested})
        else:
            part = _part("test", _question(subject.tree, node), int(node), value)
            parts.append({**part, "answer": _answer(subject.tree, node, encoded)})
    order = {"start": 0, "expert": 1, "test": 2, "column": 2}
    return sorted(parts, key=lambda part: (order[part["kind"]], -abs(part["value"])))


def averages_trees(model):
    """Return whether the soft expert of a model averages the tree with similar trees."""
    expert = getattr(model, "soft_", None)
    return expert is not None and expert.splits is not None


def _of_class(values, label):
    """Return the log-odds of one class; with two classes, ``values`` are those of the second."""
    if values.ndim == 1:
        return values if label == 1 else -values
    return values[:, label]


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
