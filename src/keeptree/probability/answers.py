"""Get the decisions and scores of a fitted model, encoding the rows only once."""

from dataclasses import dataclass

import numpy as np

from keeptree.probability.base import binary_or_all


@dataclass(frozen=True)
class Answers:
    """Decisions and scores of a model for some rows.

    Parameters
    ----------
    prediction : ndarray of shape (n,)
        Result of ``predict``.
    scores : ndarray or None
        Result of ``predict_proba``, or of ``decision_function`` for a model that only ranks; None
        for a model that has neither.
    rows : ndarray of shape (n, n_features) or None
        The rows as the tree reads them; None if the model is not a KeepTree model.
    """

    prediction: np.ndarray
    scores: np.ndarray | None
    rows: np.ndarray | None = None


def answers_of(model, X):
    """Return the :class:`Answers` of a model; KeepTree models encode X only once.

    Parameters
    ----------
    model : fitted estimator
        A classifier or regressor.
    X : array-like or data frame of shape (n, n_features)
        Rows in the format of its ``predict``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True)
    >>> answers = answers_of(kt.C45Classifier().fit(X, y), X[:2])
    >>> answers.prediction.tolist(), answers.scores.tolist()
    ([0, 0], [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    """
    if not hasattr(model, "predict_encoded"):
        return Answers(model.predict(X), _scores(model, X))
    return answers_encoded(model, model.encode(X))


def answers_encoded(model, rows):
    """Return the result of :func:`answers_of` for rows that the model's ``encode`` returned."""
    scores = model.scores_encoded(rows) if hasattr(model, "scores_encoded") else None
    if scores is not None and not hasattr(model, "predict_proba"):
        return Answers(model.predict_encoded(rows), binary_or_all(scores), rows)
    if scores is not None and getattr(model, "decide", "tree") == "probability":
        return Answers(model.classes_[scores.argmax(axis=1)], scores, rows)
    return Answers(model.predict_encoded(rows), scores, rows)


def is_second_opinion(p, decision):
    """Return whether some class is more probable than the decision; ties do not count.

    Parameters
    ----------
    p : ndarray of shape (n, n_classes)
        Probabilities.
    decision : ndarray of shape (n,)
        Position of the class that the tree assigns.

    Returns
    -------
    differs : ndarray of bool of shape (n,)
        Whether the most probable class is not the decision.

    Examples
    --------
    >>> is_second_opinion(np.array([[0.4, 0.6], [0.5, 0.5]]), np.array([0, 1]))
    array([ True, False])
    """
    return p[np.arange(len(p)), decision] < p.max(axis=1)


def _scores(model, X):
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    return model.decision_function(X) if hasattr(model, "decision_function") else None
