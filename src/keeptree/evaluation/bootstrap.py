"""The .632 and .632+ bootstraps, which average errors on left-out and on training cases."""

from collections import defaultdict
from dataclasses import replace
from functools import partial

import numpy as np

from keeptree.evaluation.metrics import CURVES

LEFT_OUT = 0.632  # 1 - 1/e, the expected share of distinct cases in a bootstrap sample
_NO_INFORMATION = "{} without information"


def mix_resubstitution(rows, split):
    """Return the results of bootstrap samples as estimates of the .632 bootstrap.

    Parameters
    ----------
    rows : list of dict
        Rows of a comparison; those of ``split`` come from models fitted and tested on all cases.
    split : int
        Number of that split, which is removed.

    Returns
    -------
    rows : list of dict
        Each value is 0.632 times that of the left-out cases plus 0.368 times that of all cases;
        curves remain those of the left-out cases.

    Examples
    --------
    >>> rows = [{"split": 0, "model": "m", "metric": "accuracy", "value": 0.5},
    ...         {"split": 1, "model": "m", "metric": "accuracy", "value": 1.0}]
    >>> mix_resubstitution(rows, 1)
    [{'split': 0, 'model': 'm', 'metric': 'accuracy', 'value': 0.68...}]
    """
    apparent = _by_metric(rows, split)

    def mix(key, unseen):
        seen = apparent.get(key)
        return None if seen is None else LEFT_OUT * unseen + (1 - LEFT_OUT) * seen

    return _mix_rows(rows, split, mix)


def add_no_information(metrics):
    """Add, for each metric, its value if classes and predictions were independent.

    Parameters
    ----------
    metrics : dict of str to QualityMetric
        Metrics of a comparison.

    Returns
    -------
    metrics : dict of str to QualityMetric
        The metrics, and one more for each that is a mean over cases or has a known value.

    Examples
    --------
    >>> from keeptree.evaluation.metrics import METRICS
    >>> both = add_no_information({"accuracy": METRICS["accuracy"]})
    >>> both["accuracy without information"].function([0, 0, 0, 1], [0, 0, 1, 1], [0, 1])
    0.5
    """
    added = dict(metrics)
    for name, metric in metrics.items():
        if metric.per_case:
            function = partial(_independent, metric.function)
        elif metric.no_information is not None:
            function = partial(_constant, metric.no_information)
        else:
            continue
        added[_NO_INFORMATION.format(name)] = replace(metric, function=function)
    return added


def mix_plus(rows, split, metrics):
    """Return the results of bootstrap samples as estimates of the .632+ bootstrap.

    The more a model overfits, the more the left-out cases count. Their weight reaches 1 for a model
    that predicts them no better than chance (Efron and Tibshirani 1997).

    Parameters
    ----------
    rows : list of dict
        Rows of a comparison with the metrics of :func:`add_no_information`; see
        :func:`mix_resubstitution`.
    split : int
        Number of the split that is removed.
    metrics : dict of str to QualityMetric
        The requested metrics.

    Returns
    -------
    rows : list of dict
        Rows whose mean over the samples is the estimate. The value is None for a metric whose value
        for independent predictions is unknown. Curves remain those of the left-out cases.
    """
    apparent, left_out = _by_metric(rows, split), defaultdict(list)
    for row in rows:
        if row["split"] != split and row["metric"] not in CURVES and row["value"] is not None:
            left_out[row["model"], row["metric"]].append(row["value"])

    def mix(key, unseen):
        model, name = key
        seen, chance = apparent.get(key), apparent.get((model, _NO_INFORMATION.format(name)))
        if seen is None or chance is None:
            return None
        mean = float(np.mean(left_out[key]))
        weight, limited = _weigh(mean, seen, chance, larger=metrics[name].larger)
        return (1 - weight) * seen + weight * (unseen - mean + limited)

    return _mix_rows([row for row in rows if row["metric"] in metrics], split, mix)


def _weigh(unseen, seen, chance, *, larger):
    """Return the weight of the left-out cases, and their value, limited to that of chance."""
    sign = -1 if larger else 1
    if sign * (unseen - chance) > 0:
        unseen = chance
    loss, most = sign * (unseen - seen), sign * (chance - seen)
    overfitting = loss / most if loss > 0 and most > 0 else 0.0
    return LEFT_OUT / (1 - (1 - LEFT_OUT) * overfitting), unseen


def _by_metric(rows, split):
    return {(r["model"], r["metric"]): r["value"] for r in rows if r["split"] == split}


def _mix_rows(rows, split, mix):
    """Return rows with mixed values, without those of a split; curves and missing values stay."""
    return [
        row
        if row["metric"] in CURVES or row["value"] is None
        else {**row, "value": mix((row["model"], row["metric"]), row["value"])}
        for row in rows
        if row["split"] != split
    ]


def _independent(function, y_true, values, labels):
    """Return the mean of a metric over all pairs of a true class and a prediction."""
    classes, counts = np.unique(y_true, return_counts=True)
    found = [function(np.full(len(y_true), c), values, labels) for c in classes]
    return float(np.average(found, weights=counts))


def _constant(value, y_true, values, labels):
    return value
