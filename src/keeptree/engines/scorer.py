"""Score a block of rows; shared by all engines."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from keeptree.data.labels import label_codes, label_names, plain
from keeptree.explanation.subject import boundary_of
from keeptree.explanation.unfamiliar import UnfamiliarCount, find_unseen
from keeptree.geometry.rows import check_finite
from keeptree.importers import unwrap
from keeptree.importers.steps import run_steps
from keeptree.probability.answers import answers_encoded, answers_of, is_second_opinion
from keeptree.probability.guarantees import check_share
from keeptree.tree import Tree


class Scorer:
    """Scores blocks of rows, encoding each block only once.

    Parameters
    ----------
    model : fitted model
        A KeepTree classifier or learner, any other model with ``predict``, or a pipeline, search or
        ``FrozenEstimator`` around one.
    distance : bool, default=False
        Whether to add the distance to the tree's decision boundary.
    labels : dict, optional
        Class -> display name.
    interval : float, optional
        Confidence level; adds an interval for each probability.
    sets : float, optional
        Coverage; adds a set of possible classes.
    counting : bool, default=True
        Whether to count values that are new since fitting, for :meth:`unfamiliar`. A scorer that
        does not count may be shared by threads.

    Attributes
    ----------
    reader : fitted model
        Model that defines the columns of a file, for :func:`~keeptree.data.cases.read_blocks`.
    names : list of str
        Columns of the answer: ``prediction``; ``probability_...`` of each class and
        ``second_opinion``, or ``score`` of a ranking; ``distance``; ``low_...`` and ``high_...``
        of each class; ``set``, the possible classes separated by ``" | "``.
    has_second_opinion : bool
        Whether the model has probabilities to compare with its decision.
    interval_kind : {"case", "calibration"} or None
        Kind of the intervals, as in ``predict_interval``; None without ``interval``.
    reads_encoded : bool
        Whether the model is a KeepTree model without pipeline steps, so that :meth:`score_encoded`
        can be used.
    labels : ndarray
        Possible values of ``prediction``; empty for a regression.

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

    def __init__(self, model, distance=False, labels=None, counting=True, interval=None, sets=None):
        check_is_fitted(model)
        inner, steps = unwrap(model)
        own_steps = getattr(inner, "preprocessing_", ())
        self._steps = steps[: len(steps) - len(own_steps)]
        if own_steps and not self._steps:
            raise ValueError(
                f"This {type(inner).__name__} is the last step of a pipeline, so the types of its "
                "input columns are unknown; read the file and call predict_proba."
            )
        self._model = inner
        self._boundary = boundary_of(inner) if distance else None
        self._interval, self._sets = interval, sets
        _check_guarantees(inner, interval, sets)
        self.interval_kind = None if interval is None else inner.interval_kind
        ours = _is_ours(inner) and not own_steps
        self._new = UnfamiliarCount(inner) if ours and counting else None
        self.reader = model if self._steps else inner
        self.reads_encoded = ours and not self._steps
        self.has_second_opinion = hasattr(inner, "predict_proba")
        classes = getattr(inner, "classes_", ())
        self._names = None if labels is None else np.array(label_names(classes, labels), object)
        self.labels = np.asarray(classes if labels is None else self._names)
        self.names = [
            "prediction",
            *_score_names(inner, classes if labels is None else self._names),
        ]
        self.names += ["second_opinion"] if self.has_second_opinion else []
        self.names += ["distance"] if distance else []
        ends = [f"{end}_{plain(name)}" for name in self.labels for end in ("low", "high")]
        self.names += [] if interval is None else ends
        self.names += [] if sets is None else ["set"]

    def score(self, X, unseen=None):
        """Return the answers for a block of rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows in the format of the model's ``predict``.
        unseen : dict, optional
            Column number -> positions and categories that the model does not know, if they have
            already been removed from X.

        Returns
        -------
        columns : dict of str to ndarray of shape (n_samples,)
            Answers in the order of ``names``.
        """
        table = run_steps(X, self._steps)
        answers = answers_of(self._model, table)
        if self._new is not None:
            rows = answers.rows
            if unseen is None or self._steps:
                unseen = find_unseen(table, rows, self._new.tree)
            self._new.add(rows, unseen)
        return self._columns(answers)

    def score_encoded(self, rows):
        """:meth:`score` for encoded rows; new values are not counted."""
        check_finite(rows, self._model.tree_)
        return self._columns(answers_encoded(self._model, rows))

    def _columns(self, answers):
        columns = [self._name(answers.prediction)]
        if answers.scores is not None:
            columns += [*answers.scores.reshape(len(answers.prediction), -1).T]
        if self.has_second_opinion:
            columns.append(_second_opinion(self._model, answers))
        if self._boundary is not None:
            columns.append(self._boundary.distance_encoded(answers.rows))
        if self._interval is not None:
            ends = self._model.intervals_encoded(answers.rows, answers.scores, self._interval)
            columns += [*ends.reshape(len(ends), -1).T]
        if self._sets is not None:
            columns.append(self._name_sets(self._model.sets_of(answers.scores, self._sets)))
        return dict(zip(self.names, columns, strict=True))

    def _name_sets(self, sets):
        """The classes of each set as text; equal sets are formatted only once."""
        labels = [str(plain(label)) for label in self.labels]
        kinds, kind = np.unique(sets, axis=0, return_inverse=True)
        texts = [" | ".join(np.compress(held, labels)) for held in kinds]
        return np.array(texts, dtype=object)[kind.ravel()]

    def _name(self, prediction):
        if self._names is None:
            return prediction
        return self._names[label_codes(prediction, self._model.classes_)]

    def unfamiliar(self):
        """Return what is new in the rows scored so far, compared with the training sample.

        Returns
        -------
        new : Unfamiliar or None
            None for a model other than a KeepTree model.
        """
        return None if self._new is None else self._new.result()


def _is_ours(model):
    """Return whether a model is a KeepTree model that scores encoded rows."""
    return isinstance(getattr(model, "tree_", None), Tree) and hasattr(model, "predict_encoded")


def _check_guarantees(model, interval, sets):
    """Raise a ValueError if the model has no intervals or sets at the requested levels."""
    for name, level in (("interval", interval), ("sets", sets)):
        if level is None:
            continue
        check_share(level, name)
        if not hasattr(model, "sets_of"):
            raise ValueError(
                f"A {type(model).__name__} has no intervals and no class sets; fit a KeepTree "
                "classifier, such as kt.KeptTreeClassifier."
            )
        one = np.full((1, len(model.classes_)), 1 / len(model.classes_))
        if name == "sets" or model.interval_kind is None:
            model.sets_of(one, level)  # explains what is missing


def _score_names(model, names):
    if hasattr(model, "predict_proba"):
        return [f"probability_{plain(name)}" for name in names]
    if not hasattr(model, "decision_function"):
        return []
    if len(names) == 2:
        return ["score"]
    return [f"score_{plain(name)}" for name in names]


def _second_opinion(model, answers):
    """Whether the model prefers another class than the tree, regardless of ``decide``."""
    p, classes, decided = answers.scores, model.classes_, answers.prediction
    if answers.rows is not None and getattr(model, "decide", "tree") != "tree":
        decided = classes[model.tree_.decide(answers.rows)]
    differs = classes[p.argmax(axis=1)] != decided
    rows = np.flatnonzero(differs)  # few, so comparing them with every class is cheap
    if len(rows):
        codes = (decided[rows, None] == classes).argmax(axis=1)
        differs[rows] = is_second_opinion(p[rows], codes)
    return differs
