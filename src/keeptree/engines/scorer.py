"""What a model answers for a block of rows: the part that all engines share."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from keeptree.data.labels import label_codes, plain
from keeptree.explanation.subject import resolve
from keeptree.geometry.boundary import Boundary
from keeptree.importers import unwrap
from keeptree.probability.base import binary_or_all


class Scorer:
    """Score blocks of rows, each encoded once and sent through a pipeline's steps once.

    Parameters
    ----------
    model : fitted model
        One of our classifiers or learners, any other with ``predict``, or a pipeline, search or
        ``FrozenEstimator`` around one.
    distance : bool, default=False
        Whether to add the distance to the tree's decision boundary.

    Attributes
    ----------
    reader : fitted model
        The model that knows the columns of a file: what :func:`~keeptree.data.cases.read_blocks`
        takes.
    names : list of str
        Columns of the answer: ``prediction``; ``probability_...`` of each class and
        ``second_opinion``, or ``score`` of a ranking; ``distance``.
    has_second_opinion : bool
        Whether the model has probabilities to compare with its decision.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = Scorer(kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y))
    >>> {name: column.tolist() for name, column in scorer.score(X[:1]).items()}
    {'prediction': [0], 'probability_0': [0.96...], 'probability_1': [0.01...],
     'probability_2': [0.01...], 'second_opinion': [False]}
    """

    def __init__(self, model, distance=False):
        check_is_fitted(model)
        inner, steps = unwrap(model)
        own_steps = getattr(inner, "preprocessing_", ())
        self._steps = steps[: len(steps) - len(own_steps)]
        if own_steps and not self._steps:
            raise ValueError(
                f"The tree of this {type(inner).__name__} stands at the end of a pipeline, so the "
                "types of its columns are unknown; read the file and call predict_proba."
            )
        self._model = inner
        self._ask = _ask_encoded if hasattr(inner, "encode") else _ask
        self._boundary = _boundary(inner) if distance else None
        self.reader = model if self._steps else inner
        self.has_second_opinion = hasattr(inner, "predict_proba")
        self.names = ["prediction", *_score_names(inner)]
        self.names += ["second_opinion"] if self.has_second_opinion else []
        self.names += ["distance"] if distance else []

    def score(self, X):
        """Return the answers for a block of rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows as the model's ``predict`` takes them.

        Returns
        -------
        columns : dict of str to ndarray of shape (n_samples,)
            In the order of ``names``.
        """
        for step in self._steps:
            X = step.transform(X)
        answer = self._ask(self._model, X, self._boundary)
        columns = [answer.prediction, *answer.scores.T]
        if self.has_second_opinion:
            columns.append(_second_opinion(self._model.classes_, answer))
        if answer.distance is not None:
            columns.append(answer.distance)
        return dict(zip(self.names, columns, strict=True))


@dataclass(frozen=True)
class _Answer:
    """Answers for some rows; ``decision`` is the tree's, whatever ``predict`` goes by."""

    prediction: np.ndarray
    scores: np.ndarray
    decision: np.ndarray
    distance: np.ndarray | None = None


def _ask_encoded(model, X, boundary):
    """Ask a model that has methods on encoded rows."""
    rows, tree = model.encode(X), model.tree_
    prediction = decision = model.predict_encoded(rows)
    scores = np.empty((len(rows), 0))
    if tree.classes is not None:
        scores = model.scores_encoded(rows)
        if not hasattr(model, "predict_proba"):
            scores = binary_or_all(scores).reshape(len(rows), -1)
    if getattr(model, "decide", None) == "probability":
        decision = tree.classes[tree.decide(rows)]
    distance = None if boundary is None else boundary.distance_encoded(rows)
    return _Answer(prediction, scores, decision, distance)


def _ask(model, X, boundary):
    """Ask any other model, which reads the rows itself."""
    prediction, scores = model.predict(X), np.empty((len(X), 0))
    if hasattr(model, "predict_proba"):
        scores = model.predict_proba(X)
    elif hasattr(model, "decision_function"):
        scores = np.reshape(model.decision_function(X), (len(X), -1))
    return _Answer(prediction, scores, prediction)


def _score_names(model):
    if hasattr(model, "predict_proba"):
        return [f"probability_{plain(label)}" for label in model.classes_]
    if not hasattr(model, "decision_function"):
        return []
    if len(model.classes_) == 2:
        return ["score"]
    return [f"score_{plain(label)}" for label in model.classes_]


def _second_opinion(classes, answer):
    """Whether some class is more probable than the one decided for."""
    p, decided = answer.scores, answer.decision
    differs = classes[p.argmax(axis=1)] != decided
    rows = np.flatnonzero(differs)
    if len(rows):  # a tie is no second opinion
        own = p[rows, label_codes(decided[rows], classes)]
        differs[rows] = own < p[rows].max(axis=1)
    return differs


def _boundary(model):
    """The boundary of the model's tree, in its own metric or the standard one."""
    boundary = getattr(model, "boundary_", None)
    if boundary is not None:
        return boundary
    if not hasattr(model, "observed_"):
        raise ValueError(
            f"A {type(model).__name__} does not know the scale of its columns, so that no distance "
            "can be measured; fit a KeepTree classifier around its tree."
        )
    return Boundary.of_metric(model.tree_, resolve(model).metric)
