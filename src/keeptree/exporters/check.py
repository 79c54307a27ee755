"""Check an export: score the same rows with the target and with Python, and compare."""

from dataclasses import dataclass

import numpy as np

from keeptree.data.labels import label_codes
from keeptree.probability.answers import answers_encoded

TOLERANCE = 1e-12  # of a probability, where the target has doubles


@dataclass(frozen=True, eq=False)
class Answers:
    """Predictions of a target, or of Python, for some rows.

    Parameters
    ----------
    label : ndarray of shape (n,)
        Position of the class in ``subject.classes``; -1 for any other value.
    leaf : ndarray of shape (n,) or None
        Index of the leaf; None if the target does not return it.
    probability : ndarray of shape (n, n_classes) or None
        Probabilities, or the scores of a ranking: for two classes, only those of the second, or
        both. None if the target returns none.
    note : str
        Remark that follows "equal on 1000 of 1000 rows", such as which database ran.
    seconds : float or None
        Processor time of scoring alone, where the target reports it.
    """

    label: np.ndarray
    leaf: np.ndarray | None = None
    probability: np.ndarray | None = None
    note: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Difference:
    """Differences between the answers of a target and those of Python.

    Parameters
    ----------
    rows, labels, leaves : int
        Number of rows compared, with another label, and with another leaf.
    probability : float
        Largest difference of a probability, or of a score (relative to it if it is above 1).
    wrong : int
        Number of rows whose label or leaf differs, or a probability by more than the tolerance.
    """

    rows: int
    labels: int
    leaves: int
    probability: float
    wrong: int

    def __str__(self):
        if self.wrong == 0:
            return f"equal on {self.rows} of {self.rows} rows"
        return (
            f"different on {self.wrong} of {self.rows} rows (labels on {self.labels}, leaves on "
            f"{self.leaves}, probabilities by up to {self.probability:.2g})"
        )


def answers_of_python(subject, rows):
    """Return the answers of the model, or of the bare tree, for encoded rows."""
    tree, model = subject.tree, subject.model
    leaf = tree.route(rows)
    if model is None:
        return Answers(tree.decide(rows), leaf, tree.mix_proportions(rows))
    answers = answers_encoded(model, rows)
    return Answers(
        label_codes(answers.prediction, tree.classes), leaf, answers.scores.reshape(len(rows), -1)
    )


def compare(ours, theirs, tolerance=TOLERANCE):
    """Return the :class:`Difference` of two :class:`Answers`; None fields are not compared."""
    label = ours.label != theirs.label
    leaf = np.zeros(len(label), dtype=bool)
    if theirs.leaf is not None:
        leaf = ours.leaf != theirs.leaf
    gap = np.zeros(len(label))
    if theirs.probability is not None:
        expected = ours.probability
        found = theirs.probability[:, -expected.shape[1] :]  # the last of two scores
        gap = np.abs(expected - found) / np.maximum(1.0, np.abs(expected))
        gap = gap.max(axis=1, initial=0.0)
        gap[np.isnan(gap)] = np.inf  # an answer is missing
    wrong = label | leaf | (gap > tolerance)
    return Difference(
        len(label), int(label.sum()), int(leaf.sum()), float(gap.max(initial=0.0)), int(wrong.sum())
    )


def codes_of(labels, classes):
    """Return the position of each label among the classes, -1 for an unknown one.

    Examples
    --------
    >>> codes_of(["b", None], ("a", "b")).tolist()
    [1, -1]
    """
    position = {label: code for code, label in enumerate(classes)}
    return np.array([position.get(label, -1) for label in labels], dtype=np.int64)
