"""What a model answers for a block of rows: the part that all engines share."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from keeptree.data.labels import label_codes, plain
from keeptree.explanation.subject import resolve
from keeptree.geometry.boundary import Boundary
from keeptree.importers import unwrap
from keeptree.probability.answers import answers_of


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
        answers = answers_of(self._model, X)
        columns = [answers.prediction]
        if answers.scores is not None:
            columns += [*answers.scores.reshape(len(answers.prediction), -1).T]
        if self.has_second_opinion:
            columns.append(_second_opinion(self._model, answers))
        if self._boundary is not None:
            columns.append(self._boundary.distance_encoded(answers.rows))
        return dict(zip(self.names, columns, strict=True))


def _score_names(model):
    if hasattr(model, "predict_proba"):
        return [f"probability_{plain(label)}" for label in model.classes_]
    if not hasattr(model, "decision_function"):
        return []
    if len(model.classes_) == 2:
        return ["score"]
    return [f"score_{plain(label)}" for label in model.classes_]


def _second_opinion(model, answers):
    """Whether some class is more probable than the one the tree decides for."""
    p, classes, decided = answers.scores, model.classes_, answers.prediction
    if answers.rows is not None and getattr(model, "decide", "tree") == "probability":
        decided = classes[model.tree_.decide(answers.rows)]
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
