"""The quality of scores on held-out cases: metrics, ROC points, an interval of the difference."""

import numpy as np
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score, roc_curve

# Metric -> whether larger is better, decimals shown.
METRICS = {"auc": (True, 3), "brier": (False, 3), "log_loss": (False, 3)}

_RESAMPLES = 2000


def measure_scores(score, truth, is_probability):
    """Return the metrics of scores for the positive class; None where a ranking has none.

    Log-loss clips as scikit-learn does; ``impossible`` counts the cases that happened although
    their probability was 0, for which it would be infinite.
    """
    row = {
        "auc": float(roc_auc_score(truth, score)),
        "brier": None,
        "log_loss": None,
        "distinct": len(np.unique(np.round(score, 12))),
        "impossible": 0,
    }
    if is_probability:
        row["brier"] = float(brier_score_loss(truth, score))
        row["log_loss"] = float(log_loss(truth, score, labels=[False, True]))
        row["impossible"] = int(np.count_nonzero(np.where(truth, score, 1 - score) <= 0))
    return row


def mark_best(rows):
    """Add ``best`` to every row: its metrics that no other row beats in the digits shown."""
    for row in rows:
        row["best"] = []
    for key, (larger, decimals) in METRICS.items():
        values = [round(row[key], decimals) for row in rows if row[key] is not None]
        best = max(values) if larger else min(values)
        for row in rows:
            if row[key] is not None and round(row[key], decimals) == best:
                row["best"].append(key)


def roc_points(score, truth):
    """Return the corners of a ROC curve as lists."""
    fpr, tpr, _ = roc_curve(truth, score, drop_intermediate=True)
    return {"fpr": fpr.tolist(), "tpr": tpr.tolist()}


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


def _wins(score, truth):
    """For each pair of a positive and a negative case: 1 if ranked right, 1/2 if tied."""
    difference = np.sign(score[truth][:, None] - score[~truth][None, :])
    return (difference + 1) / 2


def _resamples(rng, size):
    return rng.multinomial(size, np.full(size, 1 / size), size=_RESAMPLES).astype(float)
