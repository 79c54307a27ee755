"""From models and held-out data to a plain dict of numbers and text, which JSON can hold.

Nothing here draws: :mod:`keeptree.report.render` reads the dict, and so can any other program.
"""

import hashlib
import json
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score, roc_curve

from keeptree.report.text import clean, plain_number
from keeptree.tree_text import branch_text

SCHEMA = 1  # of the dict: a change that breaks its readers raises it

_COLOURS = 6  # class colours and markers; with more classes the commonest keep them
_RESAMPLES = 2000
# Metric -> whether larger is better, decimals shown.
METRICS = {"auc": (True, 3), "brier": (False, 3), "log_loss": (False, 3)}


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
    rows = [_measure(method, scores[method.key], truth) for method in methods]
    _mark_best(rows)
    by_key = {method.key: method for method in methods}
    data = {
        "schema": SCHEMA,
        "title": clean(title),
        "classes": collect_classes(tree),
        "positive": index,
        "n_test": len(y),
        "n_positive": int(truth.sum()),
        "tree": collect_tree(tree),
        "decisions": _decisions(tree, methods, X, y),
        "methods": rows,
        "ranking_gain": auc_difference(scores["kernel-global"], scores[methods[0].key], truth),
        "roc": [_roc(method, scores[method.key], truth) for method in methods],
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


def auc_difference(ours, leaves, truth):
    """Return the difference of two AUCs on the same cases with a 95 % bootstrap interval.

    Positive and negative cases are resampled apart; both scores see the same cases. The cost is
    one matrix of positive by negative cases.

    Parameters
    ----------
    ours, leaves : ndarray of shape (n,)
        Scores, larger for the positive class.
    truth : ndarray of shape (n,), bool
        Whether a case is positive.

    Returns
    -------
    gain : dict
        ``difference``, ``low``, ``high``.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.arange(40) % 2 == 1
    >>> auc_difference(truth * 1.0, np.zeros(40), truth)
    {'difference': 0.5, 'low': 0.5, 'high': 0.5}
    """
    wins = _wins(ours, truth) - _wins(leaves, truth)
    rng = np.random.default_rng(0)
    up, down = (_resamples(rng, size) for size in wins.shape)
    differences = ((up @ wins) * down).sum(axis=1) / wins.size
    low, high = np.percentile(differences, [2.5, 97.5])
    return {"difference": float(wins.mean()), "low": float(low), "high": float(high)}


def summarise(data):
    """Return three sentences: the tree, its decisions and our ranking, the probabilities."""
    rows = {row["key"]: row for row in data["methods"]}
    own, ours = data["methods"][0], rows["kernel-global"]
    tree, decided, gain = data["tree"], data["decisions"], data["ranking_gain"]
    questions = f"{tree['max_depth']} question{'' if tree['max_depth'] == 1 else 's'}"
    first = f"This tree asks at most {questions}, has {tree['n_leaves']} leaves and is unchanged."
    second = (
        f"On {data['n_test']} held-out cases it decided {100 * decided['accuracy']:.0f} in 100 "
        f"correctly (95 % interval {100 * decided['low']:.0f} to {100 * decided['high']:.0f}); the "
        f"distance kernel ranks them {_verdict(gain['low'], gain['high'])} (AUC {ours['auc']:.3f} "
        f"against {own['auc']:.3f}, difference {_signed(gain['low'])} to {_signed(gain['high'])})."
    )
    leaves = [row for row in data["methods"] if row["family"] == "leaves"]
    parts = [_against_leaves(ours, leaves, *metric) for metric in _PROBABILITY_METRICS]
    return [first, second, f"As a probability, {' and '.join(parts)}{_losses(rows, leaves)}."]


_PROBABILITY_METRICS = (("brier", "Brier score"), ("log_loss", "log-loss"))


def _verdict(low, high):
    """What a 95 % interval of a gain allows to say, in the digits shown."""
    if round(low, 3) > 0:
        return "better than its leaves do"
    if round(high, 3) < 0:
        return "worse than its leaves do"
    return "with no clear difference from its leaves"


def _against_leaves(ours, leaves, key, name):
    """``its log-loss of 0.214 beats the best of the leaves (Shrinkage, 0.241)``."""
    best = min(leaves, key=lambda row: row[key])
    a, b = _shown(ours, key), _shown(best, key)
    verb = "equals" if a == b else "beats" if float(a) < float(b) else "loses to"
    return f"its {name} of {a} {verb} the best of the leaves ({best['label']}, {b})"


def _losses(rows, leaves):
    """Where the separator variant is worse than the best of the leaves, said as plainly."""
    worse = [
        f"{name} ({_shown(rows['kernel-separator'], key)})"
        for key, name in _PROBABILITY_METRICS
        if float(_shown(rows["kernel-separator"], key))
        > min(float(_shown(row, key)) for row in leaves)
    ]
    return f"; the separator variant loses on {' and '.join(worse)}" if worse else ""


def _shown(row, key):
    return f"{row[key]:.{METRICS[key][1]}f}"


def _signed(value):
    return f"{value:+.3f}".replace("-", "−")


def _scores(model, X, index):
    """Score of the positive class and whether it is a probability."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)[:, index]
    scores = model.decision_function(X)
    if scores.ndim == 1:
        return scores if index == 1 else -scores
    return scores[:, index]


def _measure(method, score, truth):
    row = {
        "key": method.key,
        "label": method.label,
        "family": method.family,
        "auc": float(roc_auc_score(truth, score)),
        "brier": None,
        "log_loss": None,
        "distinct": len(np.unique(np.round(score, 12))),
        "impossible": 0,
    }
    if hasattr(method.model, "predict_proba"):
        row["brier"] = float(brier_score_loss(truth, score))
        row["log_loss"] = float(log_loss(truth, score, labels=[False, True]))
        # Cases that happened although their probability was 0: log-loss infinite but for clipping.
        row["impossible"] = int(np.count_nonzero(np.where(truth, score, 1 - score) <= 0))
    return row


def _mark_best(rows):
    """Add ``best`` to every row: its metrics that no other row beats in the digits shown."""
    for row in rows:
        row["best"] = []
    for key, (larger, decimals) in METRICS.items():
        values = [round(row[key], decimals) for row in rows if row[key] is not None]
        best = max(values) if larger else min(values)
        for row in rows:
            if row[key] is not None and round(row[key], decimals) == best:
                row["best"].append(key)


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


def _roc(method, score, truth):
    fpr, tpr, _ = roc_curve(truth, score, drop_intermediate=True)
    return {
        "key": method.key,
        "label": method.label,
        "fpr": fpr.tolist(),
        "tpr": tpr.tolist(),
    }


def _wins(score, truth):
    """For each pair of a positive and a negative case: 1 if ranked right, 1/2 if tied."""
    difference = np.sign(score[truth][:, None] - score[~truth][None, :])
    return (difference + 1) / 2


def _resamples(rng, size):
    return rng.multinomial(size, np.full(size, 1 / size), size=_RESAMPLES).astype(float)


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
