"""What a model answers for a block of rows: the part that all engines share."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from keeptree.data.labels import label_codes, plain
from keeptree.explanation.subject import boundary_of
from keeptree.importers import unwrap
from keeptree.importers.steps import run_steps
from keeptree.probability.answers import answers_of, is_second_opinion


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
        self._boundary = boundary_of(inner) if distance else None
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
        answers = answers_of(self._model, run_steps(X, self._steps))
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
    """Whether the model differs from the tree, which decides in place of ``decide``."""
    p, classes, decided = answers.scores, model.classes_, answers.prediction
    if answers.rows is not None and getattr(model, "decide", "tree") == "probability":
        decided = classes[model.tree_.decide(answers.rows)]
    differs = classes[p.argmax(axis=1)] != decided
    rows = np.flatnonzero(differs)  # few: labels of all rows would take long to encode
    if len(rows):
        differs[rows] = is_second_opinion(p[rows], label_codes(decided[rows], classes))
    return differs
