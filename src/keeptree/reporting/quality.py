"""Evaluate our probabilities and those of the leaves on held-out cases, with intervals."""

from itertools import chain

import numpy as np
from sklearn.metrics import roc_curve

from keeptree.evaluation.ranking import auc, weighted_area
from keeptree.evaluation.reliability import quantile_bins
from keeptree.evaluation.resampling import count_resamples, draw_weights, find_scarce
from keeptree.progress import step

# Metric -> name, whether larger is better; all are shown with three decimals.
SHOWN_METRICS = {
    "auc": ("AUC", True),
    "brier": ("Brier score", False),
    "log_loss": ("Log-loss", False),
}

_ROC_POINTS = 300


@step("Measuring the quality on resamples")
def collect_quality(held, positive):
    """Return the metrics of our estimates and of the leaves, and the curves of each class.

    Parameters
    ----------
    held : HeldOut
        Cases with their true classes.
    positive : int
        With two classes, the one that is shown.

    Returns
    -------
    quality : dict
        Result of :func:`compare_metrics`; ``impossible``, the number of cases whose true class had
        leaf probability 0; and ``by_class``, with the AUC, ROC curve and bins of both methods.
    """
    truth, methods = held.truth, {"ours": held.ours, "leaves": held.leaves}
    return {
        **compare_metrics(held.ours, held.leaves, truth, positive),
        "impossible": int((held.leaves[np.arange(len(truth)), truth] <= 0).sum()),
        "by_class": [
            {
                "class": c,
                "cases": int((truth == c).sum()),
                **{name: _curves(p[:, c], truth == c) for name, p in methods.items()},
            }
            for c in shown_classes(truth, held.ours.shape[1], positive)
            if 0 < (truth == c).sum() < len(truth)
        ],
    }


def compare_metrics(ours, leaves, truth, positive):
    """Return each metric of both methods and of their difference, with 95% intervals.

    The intervals are percentiles of bootstrap resamples of the cases, the same for both methods, so
    the interval of the difference is paired.

    Parameters
    ----------
    ours, leaves : ndarray of shape (n, n_classes)
        Probabilities; each row sums to 1.
    truth : ndarray of shape (n,)
        Column of each case's true class.
    positive : int
        With two classes, the one whose AUC is computed; with more, the AUC is the mean over the
        classes, each against the rest.

    Returns
    -------
    quality : dict
        ``resamples``, and for each of the ``metrics`` ``ours``, ``leaves`` and ``difference``,
        each with ``value``, ``low`` and ``high``. ``scarce`` is the class with too few cases to
        compare the estimates, as in :func:`~keeptree.evaluation.resampling.find_scarce`; the AUC
        then has no intervals.
    """
    n, n_classes = ours.shape
    measured = [_weighted_metrics(p, truth, positive) for p in (ours, leaves)]
    resamples = count_resamples(n * len(shown_classes(truth, n_classes, positive)))
    blocks = chain([np.ones((1, n))], draw_weights(n, resamples))  # the sample itself comes first
    values = np.concatenate([[of(weights) for of in measured] for weights in blocks], axis=2)
    rows = {"ours": values[0], "leaves": values[1], "difference": values[0] - values[1]}
    metrics = {
        key: {name: _interval(found[at, 0], found[at, 1:]) for name, found in rows.items()}
        for at, key in enumerate(SHOWN_METRICS)
    }
    scarce = find_scarce(truth, n_classes)
    if scarce is not None:
        for found in metrics["auc"].values():
            found.update(low=None, high=None)
    return {"resamples": resamples, "scarce": scarce, "metrics": metrics}


def single_metrics(p, truth, positive):
    """Return each metric of one method; the AUC is None where only one class is present."""
    values = _weighted_metrics(p, truth, positive)(np.ones((1, len(p))))[:, 0].tolist()
    return {key: None if np.isnan(v) else v for key, v in zip(SHOWN_METRICS, values, strict=True)}


def roc_points(score, positive):
    """Return a ROC curve as ``fpr`` and ``tpr``, thinned to a few hundred points."""
    fpr, tpr, _ = roc_curve(positive, score)
    if len(fpr) > _ROC_POINTS:
        keep = np.unique(np.linspace(0, len(fpr) - 1, _ROC_POINTS).astype(int))
        fpr, tpr = fpr[keep], tpr[keep]
    return {"fpr": fpr.round(5).tolist(), "tpr": tpr.round(5).tolist()}


def shown_classes(truth, n_classes, positive):
    """Return the classes with curves: the positive one of two, or all that occur."""
    return [positive] if n_classes == 2 else np.unique(truth).tolist()


def _curves(score, happened):
    return {
        "auc": auc(happened, score),
        "roc": roc_points(score, happened),
        "bins": quantile_bins(score, happened),
    }


def _weighted_metrics(p, truth, positive):
    """Return a function from case weights (b, n) to AUC, Brier score and log-loss (3, b)."""
    n_classes = p.shape[1]
    shown = shown_classes(truth, n_classes, positive)
    rankings = [weighted_area(truth == c, p[:, c]) for c in shown]
    right = np.arange(n_classes) == truth[:, None]
    brier = ((p - right) ** 2).sum(axis=1) / (2 if n_classes == 2 else 1)
    # Clipped as in scikit-learn's log_loss, so that probability 0 has a finite cost.
    log_loss = -np.log(np.clip(p[right], np.finfo(float).eps, None))
    losses = np.column_stack([brier, log_loss])

    def metrics(weights):
        areas = np.array([area(weights) for area in rankings])
        known = ~np.isnan(areas)
        with np.errstate(invalid="ignore"):
            mean = np.where(known, areas, 0.0).sum(axis=0) / known.sum(axis=0)
        return np.vstack([mean, (weights @ losses).T / weights.sum(axis=1)])

    return metrics


def _interval(value, draws):
    draws = draws[~np.isnan(draws)]
    if np.isnan(value) or len(draws) == 0:
        return {"value": None, "low": None, "high": None}
    low, high = np.percentile(draws, [2.5, 97.5])
    return {"value": float(value), "low": float(low), "high": float(high)}
