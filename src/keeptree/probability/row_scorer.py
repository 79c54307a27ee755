"""Score one row at a time, as a service does; tables are checked once, rows quickly."""

from typing import Any, NamedTuple

import numpy as np

from keeptree.data.columns import encode_nominal
from keeptree.data.dates import day_of
from keeptree.data.labels import is_missing, plain
from keeptree.data.notation import dated_columns


class RowAnswer(NamedTuple):
    """Decision and probabilities of one row.

    Attributes
    ----------
    label : object
        The class that ``predict`` returns, as a plain Python value.
    probability : ndarray of shape (n_classes,) or None
        Equal to ``predict_proba`` to the last bit; None for a model that only ranks.
    leaf : int
        Number of the leaf, as returned by ``Tree.apply``.
    score : ndarray of shape (n_classes,) or None
        Score of each class for a model that only ranks.
    """

    label: object
    probability: np.ndarray | None
    leaf: int
    score: np.ndarray | None = None


class RowScorer:
    """Scores single rows with little overhead; ``model.scorer()`` returns one.

    Names, types and categories are looked up once, when the scorer is created. It reads only the
    columns that the tree tests; other columns may be absent. Threads may share a scorer, because it
    stores nothing about a row.

    Parameters
    ----------
    model : fitted classifier
        A KeepTree model.
    fill : callable
        ``fill(X, out)`` fills in the probabilities or scores of encoded rows.
    decide : callable or None
        ``decide(X, out)`` fills in class codes; None if the tree decides.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns that a row must have.
    classes : ndarray
        Class labels, in the order of the probabilities.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    >>> scorer = model.scorer()
    >>> scorer.columns
    ('petal length (cm)', 'petal width (cm)')
    >>> answer = scorer({"petal length (cm)": 1.4, "petal width (cm)": 0.2})
    >>> answer.label, answer.leaf, answer.probability.round(3)
    (0, 1, array([0.962, 0.019, 0.019]))
    """

    def __init__(self, model, fill, decide=None):
        self._tree = tree = model.tree_
        self._fill, self._decide = fill, decide
        self._ranks = not hasattr(model, "predict_proba")
        self.classes = tree.classes
        self._labels = [plain(label) for label in tree.classes]
        read = model.read_columns.tolist()
        self.columns = tuple(tree.feature_name(f) for f in read)
        self._read = [(f, tree.feature_name(f), _codes(tree.categories[f])) for f in read]
        self._sharing = tree.sharing_columns
        self._dated = set(dated_columns(model))

    def __call__(self, row: Any) -> RowAnswer:
        """Return the answer for one row.

        Parameters
        ----------
        row : dict, pandas Series, or array-like of shape (n_features,)
            Values by column name, or in the order of the training table. None and NaN are missing.
            Text that spells a number, such as ``"52"``, is read as that number, and other text in a
            numeric column raises a ValueError. Dates become days since 1970-01-01 in a column that
            the model read from dates in a file.

        Returns
        -------
        answer : RowAnswer
            Class, probabilities and leaf of the row.
        """
        X = self.encode(row)
        leaf = int(self._tree.route(X)[0])
        scores = np.empty((1, len(self.classes)))
        self._fill(X, scores)
        code = self._code(X, leaf)
        if self._ranks:
            return RowAnswer(self._labels[code], None, leaf, scores[0])
        return RowAnswer(self._labels[code], scores[0], leaf)

    def encode(self, row):
        """Return a row as the tree reads it, of shape (1, n_features); columns not read are 0."""
        X = np.zeros((1, self._tree.n_features))
        named = hasattr(row, "keys")
        if not named and len(row) != X.shape[1]:
            raise ValueError(
                f"The row has {len(row)} values, but the model was fitted on {X.shape[1]} columns; "
                "give one for each, or a dict with the names of the columns."
            )
        try:
            for f, name, codes in self._read:
                value = row[name] if named else row[f]
                if codes is None:
                    X[0, f] = value if type(value) in _NUMBERS else self._number(f, value)
                else:
                    code = codes.get(value)
                    X[0, f] = self._label(f, value) if code is None else code
        except KeyError:
            raise ValueError(
                f"The row has no {name!r}; give None if its value is missing."
            ) from None
        return X

    def _number(self, f, value):
        """Return a number of another type, or a missing value, as a float; refuse other text."""
        if is_missing(value):
            return np.nan
        try:
            return float(day_of(value) if f in self._dated else value)
        except (TypeError, ValueError):
            raise ValueError(
                f"The numeric column {self._tree.feature_name(f)!r} holds {value!r:.50}; "
                "correct it, or give None if it is missing."
            ) from None

    def _label(self, f, value):
        """Return the code of a label that is missing, unknown or not a plain value."""
        tree = self._tree
        column = _Column([value], tree.feature_name(f))
        return encode_nominal(column, tree.categories[f], int(tree.unknown[f]))[0]

    def _code(self, X, leaf):
        if self._decide is not None:
            code = np.empty(1, dtype=np.int32)
            self._decide(X, code)
            return int(code[0])
        if len(self._sharing) and len(self._tree.shared_rows(X)):
            return int(self._tree.decide_shared(X)[0])
        return int(self._tree.label[leaf])


def _codes(labels):
    if labels is None:
        return None
    return {plain(label): float(code) for code, label in enumerate(labels)}


_NUMBERS = {float, int, bool, np.float64, np.float32, np.int64, np.int32}


class _Column(list):
    """Values together with the column name for messages."""

    def __init__(self, values, name):
        super().__init__(values)
        self.name = name
