"""Ranges, thresholds and distributions of the attributes that a model reads."""

from math import floor, log10

import numpy as np

from keeptree.data.labels import plain
from keeptree.explanation.unseen import name_unseen
from keeptree.exporters.plain import read_columns
from keeptree.text import clean
from keeptree.tree import ERROR

_BINS = 24
_MOST_DECIMALS = 6


def collect_attributes(model, X=None):
    """Return the tested attributes in the order in which the tree first tests them, then others.

    Parameters
    ----------
    model : fitted KeepTree classifier
        Model whose columns are described; most models read only those that the tree tests.
    X : ndarray of shape (n, n_features), optional
        Encoded cases that define typical values.

    Returns
    -------
    attributes : list of dict
        ``column``, ``name``, ``key`` (the name in files), ``kind``, ``tested`` (by the tree),
        ``may_be_missing`` and ``typical``; a numeric one has ``low`` and ``high`` (1st and 99th
        percentile), ``least`` and ``most`` (of the training sample), ``step``, ``decimals``,
        ``thresholds`` and ``bins`` (a histogram from low to high); a nominal one has
        ``categories``, how they are ``written`` in a file, ``bins`` and ``unknown``, the rule for
        other labels as in :class:`keeptree.Tree`.
    """
    tree, observed = model.tree_, model.observed_
    shown = name_unseen(tree).categories
    return [
        _attribute(tree, f, shown[f], observed, None if X is None else X[:, f])
        for f in read_columns(tree, model)
    ]


def _attribute(tree, f, shown, observed, values):
    sums = np.repeat(np.arange(tree.n_nodes), np.diff(tree.term_start))[tree.term_feature == f]
    alone = np.flatnonzero(tree.feature == f)
    tests = np.concatenate([alone, sums])
    known = np.empty(0) if values is None else values[~np.isnan(values)]
    shared = {
        "column": f,
        "name": clean(tree.feature_name(f)),
        "key": str(tree.feature_name(f)),
        "tested": len(tests) > 0,
        "may_be_missing": bool((tree.missing[tests] != ERROR).all()),
    }
    if tree.categories[f] is None:
        sample = observed.low[f], observed.high[f], observed.mean[f]
        return {**shared, **_numeric(np.unique(tree.threshold[alone]), known, *sample)}
    return {**shared, **_nominal(tree.categories[f], shown, known), "unknown": int(tree.unknown[f])}


def _numeric(thresholds, known, least, most, mean):
    low, high, typical, bins = least, most, mean, None
    if len(known):
        low, high = np.percentile(known, [1, 99], method="nearest")
        typical = np.percentile(known, 50, method="nearest")
    if not low < high:
        low, high = low - 0.5, high + 0.5
    if len(known):
        bins = np.histogram(known, bins=_BINS, range=(low, high))[0].tolist()
    decimals = _decimals_of(known[:2000] if len(known) else np.append(thresholds, [least, most]))
    return {
        "kind": "numeric",
        "low": float(low),
        "high": float(high),
        "least": float(least),
        "most": float(most),
        "typical": float(np.round(typical, decimals)),
        "decimals": decimals,
        "step": _step(float(high - low), decimals),
        "thresholds": thresholds.tolist(),
        "bins": bins,
    }


def _nominal(categories, shown, known):
    counts = np.bincount(known.astype(np.int64), minlength=len(categories))
    return {
        "kind": "nominal",
        "categories": [clean(label) for label in shown],
        "written": [plain(label) for label in categories],
        "typical": int(counts.argmax()),
        "bins": counts.tolist() if len(known) else None,
    }


def _decimals_of(values):
    """Number of decimals of the values, at most six."""
    for decimals in range(_MOST_DECIMALS):
        if np.allclose(np.round(values, decimals), values, rtol=1e-12, atol=0):
            return decimals
    return _MOST_DECIMALS


def _step(span, decimals):
    """A round step of about 1/200 of the span, no finer than the data."""
    power = 10.0 ** floor(log10(span / 200))
    step = next(k * power for k in (1, 2, 5, 10) if k * power >= span / 200 * 0.999)
    return float(max(step, 10.0**-decimals))
