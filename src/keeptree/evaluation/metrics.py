"""Metrics by name: scikit-learn's, and those of the papers.

Every function takes the true classes, the predictions (scores, probabilities or decisions; see
:class:`QualityMetric`) and ``labels``, the classes in the order of the columns. With two classes,
the last one is positive.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    log_loss,
    precision_score,
    recall_score,
)

from keeptree.choice import one_of
from keeptree.evaluation.indicators import indicators
from keeptree.evaluation.ranking import auc, mean_roc, partial_auc
from keeptree.evaluation.reliability import expected_calibration_error, reliability_bins


@dataclass(frozen=True)
class QualityMetric:
    """A metric as :func:`keeptree.evaluation.compare` uses it.

    Parameters
    ----------
    function : callable
        ``function(y_true, values, labels)`` returns a number, or an array for a curve.
    needs : {"score", "probability", "decision"}
        Kind of predictions: one column of scores per class, probabilities, or classes. Models
        without probabilities skip metrics that need them.
    larger : bool
        Whether larger is better.
    label : str
        Name in tables and pictures.
    decimals : int
        Number of decimals in tables.
    per_case : bool
        Whether the metric is a mean over cases, so that it is defined for a single case.
    no_information : float, optional
        Value of the metric if predictions and classes are independent, if this is a constant.

    Examples
    --------
    A metric that compares decisions with the true classes:

    >>> from sklearn.metrics import cohen_kappa_score
    >>> def kappa(y_true, decision, labels):
    ...     return cohen_kappa_score(y_true, decision, labels=labels)
    >>> metric = QualityMetric(kappa, "decision", label="kappa", no_information=0.0)
    >>> metric.function([0, 0, 1, 1], [0, 1, 1, 1], [0, 1])
    0.5
    """

    function: Callable
    needs: str
    larger: bool = True
    label: str = ""
    decimals: int = 3
    per_case: bool = False
    no_information: float | None = None


def squared_error(y_true, probability, labels=None):
    """Return the MSE of Alvarez (2007): squared errors summed over classes, averaged over cases.

    With two classes, it is twice the Brier score.

    Examples
    --------
    >>> round(squared_error([0, 1], [[0.9, 0.1], [0.4, 0.6]]), 12)
    0.17
    """
    truth, probability = indicators(y_true, probability, labels)
    return float(((truth - probability) ** 2).sum(axis=1).mean())


def brier(y_true, probability, labels=None):
    """Return the Brier score of the positive class, or summed over three or more classes.

    Examples
    --------
    >>> round(brier([0, 1], [[0.9, 0.1], [0.4, 0.6]]), 12)
    0.085
    """
    error = squared_error(y_true, probability, labels)
    return error / 2 if np.shape(probability)[1] == 2 else error


def unclipped_log_loss(y_true, probability, labels=None):
    """Return the log-loss without clipping, as in Alvarez (2007).

    It is infinite if the true class of a case has probability 0.

    Examples
    --------
    >>> unclipped_log_loss([0, 1], [[1, 0], [1, 0]])
    inf
    """
    truth, probability = indicators(y_true, probability, labels)
    with np.errstate(divide="ignore"):
        return float(-np.log(probability[truth]).mean())


def cost(
    y_true: ArrayLike,
    decision: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    matrix: ArrayLike,
    normalise: bool = False,
) -> float:
    """Return the total or mean cost of decisions.

    Parameters
    ----------
    y_true, decision : array-like of shape (n,)
        True and predicted classes.
    labels : array-like, optional
        Order of the rows and columns of the matrix; by default sorted.
    matrix : array-like of shape (n_classes, n_classes)
        Cost of a case, by true class (row) and predicted class (column); may be negative.
    normalise : bool
        Whether to divide by the number of cases.

    Returns
    -------
    cost : float
        Total cost, or mean cost per case with ``normalise``.

    Examples
    --------
    >>> cost(["+", "+", "-"], ["+", "-", "+"], ["+", "-"], matrix=[[-1, 100], [1, 0]])
    100.0
    """
    table, matrix = _table_and(matrix, y_true, decision, labels)
    total = (table * matrix).sum()
    return float(total / table.sum() if normalise else total)


def cost_metric(matrix: ArrayLike) -> QualityMetric:
    """Return the mean cost per case as a :class:`QualityMetric`.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        See :func:`cost`.

    Returns
    -------
    metric : QualityMetric
        For the ``metrics`` of :func:`~keeptree.evaluation.compare`.

    Examples
    --------
    >>> metric = cost_metric([[0, 1], [20, 0]])
    >>> metric.function(["ill", "well"], ["well", "well"], ["well", "ill"])
    10.0
    """
    function = partial(cost, matrix=np.asarray(matrix, dtype=float).tolist(), normalise=True)
    return QualityMetric(function, "decision", larger=False, label="cost", per_case=True)


def weighted_accuracy(
    y_true: ArrayLike,
    decision: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    weights: ArrayLike,
) -> float:
    """Return the weighted accuracy: the weight of right decisions divided by the total weight.

    Parameters
    ----------
    y_true, decision : array-like of shape (n,)
        True and predicted classes.
    labels : array-like, optional
        Order of the rows and columns of the weights; by default sorted.
    weights : array-like of shape (n_classes, n_classes)
        Nonnegative weight of a case, by true class (row) and predicted class (column). If all are
        1, the result is the accuracy; if each row holds 1 / class size, it is scikit-learn's
        ``balanced_accuracy_score``.

    Returns
    -------
    accuracy : float
        Weighted accuracy; NaN if no case has a weight.

    Examples
    --------
    >>> round(weighted_accuracy(["+", "+", "-"], ["+", "-", "-"], weights=[[1, 5], [1, 1]]), 3)
    0.286
    """
    table, weights = _table_and(weights, y_true, decision, labels)
    if not (weights >= 0).all():
        raise ValueError("Weights of decisions must not be negative.")
    total = (table * weights).sum()
    return float((table * weights).trace() / total) if total > 0 else float("nan")


def weighted_accuracy_metric(weights: ArrayLike) -> QualityMetric:
    """Return the weighted accuracy as a :class:`QualityMetric`.

    Parameters
    ----------
    weights : array-like of shape (n_classes, n_classes)
        See :func:`weighted_accuracy`.

    Returns
    -------
    metric : QualityMetric
        For the ``metrics`` of :func:`~keeptree.evaluation.compare`.

    Examples
    --------
    >>> metric = weighted_accuracy_metric([[1, 1], [5, 5]])
    >>> round(metric.function(["ill", "well"], ["well", "well"], ["well", "ill"]), 3)
    0.167
    """
    function = partial(weighted_accuracy, weights=np.asarray(weights, dtype=float).tolist())
    return QualityMetric(function, "decision", label="weighted accuracy")


def _of_labels(function, y_true, decision, labels):
    """Return a metric such as precision, for the positive class or averaged over classes."""
    counted = labels[1:] if len(labels) == 2 else labels
    return function(y_true, decision, labels=counted, average="macro", zero_division=0)


def _accuracy(y_true, decision, labels):
    return accuracy_score(y_true, decision)


def _log_loss(y_true, probability, labels):
    return log_loss(y_true, probability, labels=labels)


def _confusion(y_true, decision, labels):
    return confusion_matrix(y_true, decision, labels=labels)


METRICS = {
    "auc": QualityMetric(auc, "score", label="AUC", no_information=0.5),
    "auc_weighted": QualityMetric(
        partial(auc, average="weighted"), "score", label="weighted AUC", no_information=0.5
    ),
    "auc_ties_0": QualityMetric(partial(auc, ties=0.0), "score", label="AUC, ties 0"),
    "brier": QualityMetric(brier, "probability", False, "Brier", per_case=True),
    "mse": QualityMetric(squared_error, "probability", False, "MSE", per_case=True),
    "log_loss": QualityMetric(_log_loss, "probability", False, "log-loss", per_case=True),
    "log_loss_unclipped": QualityMetric(
        unclipped_log_loss, "probability", False, "log-loss, unclipped", per_case=True
    ),
    "ece": QualityMetric(expected_calibration_error, "probability", False, "ECE"),
    "accuracy": QualityMetric(_accuracy, "decision", label="accuracy", per_case=True),
    "precision": QualityMetric(partial(_of_labels, precision_score), "decision", label="precision"),
    "recall": QualityMetric(partial(_of_labels, recall_score), "decision", label="recall"),
    "f1": QualityMetric(partial(_of_labels, f1_score), "decision", label="F"),
}

# Curves are summed or averaged over the splits, and drawn.
CURVES = {
    "confusion": QualityMetric(_confusion, "decision", label="confusion matrix"),
    "partial_auc": QualityMetric(partial_auc, "score", label="AUC(x)"),
    "reliability": QualityMetric(reliability_bins, "probability", label="reliability"),
    "roc": QualityMetric(mean_roc, "score", label="ROC"),
}


def find_metrics(metrics):
    """Return metrics by name.

    Parameters
    ----------
    metrics : list of str or dict
        Names in ``METRICS`` or ``CURVES``, or a dict of names to your own
        :class:`QualityMetric`.

    Returns
    -------
    metrics : dict of str to QualityMetric
        The metrics by name.

    Examples
    --------
    >>> list(find_metrics(["auc", "brier"]))
    ['auc', 'brier']
    """
    if isinstance(metrics, dict):
        return dict(metrics)
    known = {**METRICS, **CURVES}
    return {name: known[one_of(known, name, "metric")] for name in metrics}


def _table_and(matrix, y_true, decision, labels):
    """Return the confusion matrix, and the given matrix after checking its shape."""
    table, matrix = confusion_matrix(y_true, decision, labels=labels), np.asarray(matrix, float)
    if matrix.shape != table.shape:
        raise ValueError(
            f"The matrix has shape {matrix.shape}; give one row and one column for each of "
            f"{len(table)} classes."
        )
    return table, matrix
