"""From models and held-out data to a plain dict of numbers and text, which JSON can hold.

Nothing here draws: :mod:`keeptree.reporting.render` reads the dict, and so can any other program.
"""

import hashlib
import json
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from keeptree.reporting.quality import auc_difference, mark_best, measure_scores, roc_points
from keeptree.reporting.summary import summarise
from keeptree.text import clean, plain_number
from keeptree.tree_text import branch_text

SCHEMA = 1  # of the dict: a change that breaks its readers raises it

_COLOURS = 6  # class colours and markers; with more classes the commonest keep them


@dataclass(frozen=True)
class Method:
    """One row of the comparison.

    Parameters
    ----------
    key : str
        Short name for programs.
    label : str
        Name for readers.
    model : fitted classifier
        With ``predict_proba``, or with ``decision_function`` only where it ranks.
    family : {"leaves", "geometry"}
        Whether its scores are constant over each leaf.
    """

    key: str
    label: str
    model: object
    family: str


def collect(tree, methods, X, y, positive, *, train, title, about):
    """Measure methods on held-out data and gather everything a page needs.

    Parameters
    ----------
    tree : Tree
        The kept tree.
    methods : list of Method
        The first is the tree's own probabilities; ``kernel-global`` and ``laplace`` are used for
        the summary and the distance chart.
    X, y : array-like
        The held-out cases and their true classes.
    positive : label
        The class whose probability is examined, against the rest.
    train : array-like
        The training cases, on which the curve of the distance chart is traced too.
    title : str
        Of the page.
    about : dict of str to str
        Where the data come from, how they were split.

    Returns
    -------
    data : dict
        Only dicts, lists, numbers, text, booleans and None.
    """
    y = np.asarray(y)
    index = int(np.flatnonzero(tree.classes == positive)[0])
    truth = y == positive
    scores = {method.key: _scores(method.model, X, index) for method in methods}
    rows = [_row(method, scores[method.key], truth) for method in methods]
    mark_best(rows)
    by_key = {method.key: method for method in methods}
    data = {
        "schema": SCHEMA,
        "title": clean(title),
        "classes": collect_classes(tree),
        "positive": index,
        "n_test": len(y),
        "n_positive": int(truth.sum()),
        "tree": {**collect_tree(tree), "unchanged": _is_kept(tree, methods)},
        "decisions": _decisions(tree, methods, X, y),
        "methods": rows,
        "ranking_gain": auc_difference(scores["kernel-global"], scores[methods[0].key], truth),
        "roc": [
            {**roc_points(scores[method.key], truth), "key": method.key, "label": method.label}
            for method in methods
        ],
        "distance": collect_distance(
            by_key["kernel-global"].model, by_key["laplace"].model, X, y, index, train
        ),
        "about": {clean(key): clean(value) for key, value in about.items()},
    }
    data["summary"] = summarise(data)
    return data


def collect_classes(tree):
    """Return label, training cases and colour slot of each class, in the tree's order.

    The slots 1 to 6 go by frequency; with more than six classes the five commonest keep theirs
    and the rest share slot 0.
    """
    counts = tree.counts[0]
    order = np.argsort(-counts, kind="stable").tolist()
    coloured = _COLOURS if len(order) <= _COLOURS else _COLOURS - 1
    return [
        {
            "label": clean(label),
            "cases": float(counts[k]),
            "slot": order.index(k) + 1 if order.index(k) < coloured else 0,
        }
        for k, label in enumerate(tree.classes)
    ]


def collect_tree(tree):
    """Return the nodes in preorder with their tests as text, and a fingerprint of the tree."""
    nodes = []
    for node in tree.preorder.tolist():
        up = int(tree.parent[node])
        label = int(tree.label[node])
        inner = tree.kind[node] != 0
        nodes.append(
            {
                "id": node,
                "parent": up if up >= 0 else None,
                "depth": int(tree.depth[node]),
                "name": clean(tree.feature_name(tree.feature[node])) if inner else None,
                **_relation(tree, up, node),
                "cases": float(tree.weight[node]),
                "counts": tree.counts[node].tolist(),
                "class": label,
                "errors": float(tree.weight[node] - tree.counts[node, label]),
            }
        )
    return {
        "nodes": nodes,
        "n_leaves": tree.n_leaves,
        "max_depth": tree.max_depth,
        "fingerprint": fingerprint(tree),
    }


def fingerprint(tree):
    """Return 12 hexadecimal digits that change when anything in the tree does."""
    text = json.dumps(tree.to_dict(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def collect_distance(kernel, laplace, X, y, index, train):
    """Return what Figure 1 of Alvarez et al. (2007) shows, or None without a boundary.

    The kernel estimate depends on the algebraic distance alone, so that the held-out and the
    training cases together trace its curve.
    """
    h = kernel.boundary_.signed_distance(X)[:, index]
    if not np.isfinite(h).all():
        return None
    tree = kernel.tree_
    p_kernel, p_laplace = (model.predict_proba(X)[:, index] for model in (kernel, laplace))
    decided = kernel.predict(X)
    codes = {label: code for code, label in enumerate(tree.classes.tolist())}
    truth, decision = ([codes[label] for label in labels.tolist()] for labels in (y, decided))
    cases = [
        {
            "row": row,
            "h": float(h[row]),
            "kernel": float(p_kernel[row]),
            "laplace": float(p_laplace[row]),
            "truth": truth[row],
            "decision": decision[row],
            "error": truth[row] != decision[row],
        }
        for row in np.argsort(h, kind="stable").tolist()
    ]
    leaf = tree.apply(X)
    steps = [
        {
            "h": [float(h[leaf == node].min()), float(h[leaf == node].max())],
            "p": float(p_laplace[leaf == node][0]),
        }
        for node in np.unique(leaf)
    ]
    traced = np.vstack([np.asarray(train, dtype=float), np.asarray(X, dtype=float)])
    at = kernel.boundary_.signed_distance(traced)[:, index]
    order = np.unique(at, return_index=True)[1]
    curve = {"h": at[order].tolist(), "p": kernel.predict_proba(traced)[order, index].tolist()}
    return {"positive": index, "cases": cases, "steps": steps, "curve": curve}


def _scores(model, X, index):
    """Score of the positive class: its probability, or what ranks."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)[:, index]
    scores = model.decision_function(X)
    if scores.ndim == 1:
        return scores if index == 1 else -scores
    return scores[:, index]


def _is_kept(tree, methods):
    """Whether every method still holds the very tree it was given."""
    return all(fingerprint(method.model.tree_) == fingerprint(tree) for method in methods)


def _row(method, score, truth):
    """One row of the comparison."""
    is_probability = hasattr(method.model, "predict_proba")
    names = {"key": method.key, "label": clean(method.label), "family": method.family}
    return {**names, **measure_scores(score, truth, is_probability)}


def _decisions(tree, methods, X, y):
    """How often the tree is right, and on how many cases every method decides as it does."""
    decided = tree.predict(X)
    right = int(np.count_nonzero(decided == y))
    interval = binomtest(right, len(y)).proportion_ci(0.95, method="wilson")
    same = np.ones(len(y), dtype=bool)
    for method in methods:
        same &= method.model.predict(X) == decided
    return {
        "right": right,
        "accuracy": right / len(y),
        "low": float(interval.low),
        "high": float(interval.high),
        "kept": int(same.sum()),
    }


def _relation(tree, up, node):
    """How a node follows from its parent, in few digits and exactly."""
    if up < 0:
        return {"relation": "", "relation_exact": ""}
    if tree.kind[up] == 1:
        sign = "≤" if node == tree.children(up)[0] else ">"
        threshold = float(tree.threshold[up])
        exact = f"{clean(tree.feature_name(tree.feature[up]))} {sign} {threshold!r}"
        return {"relation": f"{sign} {plain_number(threshold)}", "relation_exact": exact}
    text = branch_text(tree, up, node)
    relation = text[len(tree.feature_name(tree.feature[up])) :]
    return {"relation": clean(relation), "relation_exact": clean(text)}
