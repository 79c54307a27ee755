"""The quality of probabilities on held-out cases: ours beside the leaves', with intervals."""

import numpy as np
from sklearn.metrics import roc_curve

from keeptree.evaluation.ranking import weighted_area

# Metric -> name, whether larger is better; all are shown with three decimals.
METRICS = {"auc": ("AUC", True), "brier": ("Brier score", False), "log_loss": ("Log-loss", False)}

_RESAMPLES, _FEWEST = 2000, 200
_WORK = 40_000_000  # cases times classes times resamples; beyond it resamples are fewer
_BLOCK = 2_000_000  # weights held at a time
_ROC_POINTS = 300


def compare(ours, leaves, truth, positive):
    """Return each metric of both methods and of their difference, with 95 % intervals.

    The intervals are percentiles of bootstrap resamples of the cases, the same for both methods,
    so that the interval of the difference is a paired one. No matrix of positive by negative
    cases is built: a resample weights the cases, and ranks are counted along the sorted scores.

    Parameters
    ----------
    ours, leaves : ndarray of shape (n, n_classes)
        Probabilities, rows sum to 1.
    truth : ndarray of shape (n,)
        Column of each case's true class.
    positive : int
        With two classes, the one whose AUC is taken; with more it is the mean over the classes,
        each against the rest.

    Returns
    -------
    quality : dict
        ``resamples``, and for each metric ``ours``, ``leaves`` and ``difference``, each with
        ``value``, ``low`` and ``high``.
    """
    n, n_classes = ours.shape
    shown = [positive] if n_classes == 2 else np.unique(truth).tolist()
    measures = [_measures(p, truth, shown) for p in (ours, leaves)]
    resamples = int(np.clip(_WORK // (n * len(shown)), _FEWEST, _RESAMPLES))
    whole = [_values(measure, np.ones((1, n))) for measure in measures]
    parts = [[], []]
    for weights in _resamples(n, resamples):
        for part, measure in zip(parts, measures, strict=True):
            part.append(_values(measure, weights))
    drawn = [np.concatenate(part, axis=1) for part in parts]
    rows = {"ours": (whole[0], drawn[0]), "leaves": (whole[1], drawn[1])}
    rows["difference"] = (whole[0] - whole[1], drawn[0] - drawn[1])
    metrics = {
        key: {name: _interval(value[at, 0], draws[at]) for name, (value, draws) in rows.items()}
        for at, key in enumerate(METRICS)
    }
    return {"resamples": resamples, "metrics": metrics}


def measure(p, truth, positive):
    """Return each metric of one method; the AUC is None where only one class is present."""
    shown = [positive] if p.shape[1] == 2 else np.unique(truth).tolist()
    values = _values(_measures(p, truth, shown), np.ones((1, len(p))))[:, 0].tolist()
    return {key: None if np.isnan(v) else v for key, v in zip(METRICS, values, strict=True)}


def roc_points(score, positive):
    """Return a ROC curve as ``fpr`` and ``tpr``, thinned to a few hundred points."""
    fpr, tpr, _ = roc_curve(positive, score)
    if len(fpr) > _ROC_POINTS:
        keep = np.unique(np.linspace(0, len(fpr) - 1, _ROC_POINTS).astype(int))
        fpr, tpr = fpr[keep], tpr[keep]
    return {"fpr": fpr.round(5).tolist(), "tpr": tpr.round(5).tolist()}


def _measures(p, truth, shown):
    """What the metrics are computed from: rankings of the shown classes, losses of the cases."""
    rankings = [weighted_area(truth == c, p[:, c]) for c in shown]
    right = np.arange(p.shape[1]) == truth[:, None]
    brier = ((p - right) ** 2).sum(axis=1) / (2 if p.shape[1] == 2 else 1)
    # Clipped as scikit-learn's log_loss does: a case called impossible would cost infinitely much.
    log_loss = -np.log(np.clip(p[right], np.finfo(float).eps, None))
    return rankings, np.column_stack([brier, log_loss])


def _values(measures, weights):
    """AUC, Brier score and log-loss (rows) under each row of weights."""
    rankings, losses = measures
    areas = np.array([area(weights) for area in rankings])
    known = ~np.isnan(areas)
    total = np.where(known, areas, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        auc = total / known.sum(axis=0)
    return np.vstack([auc, (weights @ losses).T / weights.sum(axis=1)])


def _resamples(n, resamples):
    """Blocks of resamples as counts of how often each case is drawn."""
    rng = np.random.default_rng(0)
    block = max(1, _BLOCK // n)
    for start in range(0, resamples, block):
        drawn = [rng.integers(n, size=n) for _ in range(min(block, resamples - start))]
        yield np.array([np.bincount(rows, minlength=n) for rows in drawn], dtype=float)


def _interval(value, draws):
    draws = draws[~np.isnan(draws)]
    if np.isnan(value) or len(draws) == 0:
        return {"value": None, "low": None, "high": None}
    low, high = np.percentile(draws, [2.5, 97.5])
    return {"value": float(value), "low": float(low), "high": float(high)}
