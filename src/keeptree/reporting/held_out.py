"""The held-out cases of a report, encoded once, with decisions and probabilities."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keeptree.data.arrow import from_arrow
from keeptree.data.labels import label_codes
from keeptree.explanation.story import CONFIDENCE
from keeptree.explanation.subject import resolve
from keeptree.explanation.unseen import unseen_labels
from keeptree.probability.answers import is_second_opinion
from keeptree.progress import step
from keeptree.text import clean
from keeptree.tree import Tree

CHECKED_SHARE, MOST_CHECKED = 0.1, 50  # maximum number of cases to check by hand


@dataclass(frozen=True)
class HeldOut:
    """Held-out cases with their decisions, distances and probabilities.

    Parameters
    ----------
    tree : Tree
        The kept tree; class indices and columns of classes are in its order.
    X : array-like or data frame of n rows
        Cases in the user's format.
    rows : ndarray of shape (n, n_features)
        Encoded cases.
    truth : ndarray of shape (n,) or None
        Index of the true class.
    decision : ndarray of shape (n,)
        Index of the class the tree decides.
    inside : ndarray of shape (n, n_classes)
        Distance to the boundary of each class, positive where the tree assigns that class: the
        algebraic distance of Alvarez et al. (2007) with the opposite sign, on the grid of the
        columns.
    ours, leaves : ndarray of shape (n, n_classes)
        Probabilities of the model, and of the tree's own leaves.
    intervals : ndarray of shape (n, n_classes, 2), optional
        Intervals of the model's probabilities; None if it has none.
    as_tested : bool
        Whether the tree tests the columns of X, not those that steps of a pipeline compute.
    """

    tree: Tree
    X: object
    rows: np.ndarray
    truth: np.ndarray | None
    decision: np.ndarray
    inside: np.ndarray
    ours: np.ndarray
    leaves: np.ndarray
    intervals: np.ndarray | None = None
    as_tested: bool = False

    def __len__(self):
        return len(self.rows)

    @cached_property
    def distance(self):
        """Distance of each case to the nearest possible case with another decision.

        Infinite if there is none.
        """
        return self.inside[np.arange(len(self)), self.decision]

    @cached_property
    def leaf(self):
        """Leaf of each case."""
        return self.tree.route(self.rows, strict=False)

    @cached_property
    def risk(self):
        """Estimated probability that the tree is wrong about each case."""
        return 1 - self.ours[np.arange(len(self)), self.decision]

    @cached_property
    def disagrees(self):
        """Whether our estimate disagrees: some class is more probable than the decision."""
        return is_second_opinion(self.ours, self.decision)

    @cached_property
    def by_risk(self):
        """Positions of the cases in decreasing order of risk."""
        return np.argsort(-self.risk, kind="stable")

    @cached_property
    def checked(self):
        """Mask of the cases to check by hand, those with the highest risk.

        They are a tenth of the cases, or as many as the estimate disagrees on, whichever is more,
        up to a limit that a person can read.
        """
        wanted = max(np.ceil(CHECKED_SHARE * len(self)), np.count_nonzero(self.disagrees))
        chosen = np.zeros(len(self), dtype=bool)
        chosen[self.by_risk[: int(min(wanted, MOST_CHECKED))]] = True
        return chosen

    def unseen(self, cases):
        """Return the labels of some cases that the tree has not seen: case -> column -> label."""
        if not self.as_tested:
            return {}
        return unseen_labels(self.tree, from_arrow(self.X), self.rows, cases)

    @property
    def wrong(self):
        """Whether the tree is wrong."""
        return self.decision != self.truth

    @property
    def names(self):
        """Names of the cases: the index of a data frame, or row numbers."""
        index = _index(self.X)
        return [clean(i) for i in (range(len(self)) if index is None else index)]

    @property
    def naming(self):
        """Explain the names in one sentence."""
        index = _index(self.X)
        if index is None:
            return "A case is named by its position in X, counted from 0."
        if index.name is None:
            return "A case is named by its label in the index of the data frame."
        return f"A case is named by its {clean(index.name)}."


@step("Scoring the held-out cases")
def hold_out_cases(model, boundary, X, y=None):
    """Return the cases as :class:`HeldOut`, encoded once.

    Parameters
    ----------
    model : fitted KeepTree classifier
        Model with the kept tree.
    boundary : Boundary
        Boundary of the tree.
    X : array-like or data frame
        The cases.
    y : array-like, optional
        Their true classes.

    Returns
    -------
    held : HeldOut
    """
    tree, rows = model.tree_, model.encode(X)
    ours, intervals = model.predict_proba_encoded(rows), None
    if getattr(model, "interval_kind", None) is not None:
        intervals = model.intervals_encoded(rows, ours, CONFIDENCE)
    return HeldOut(
        tree=tree,
        X=X,
        rows=rows,
        truth=None if y is None else label_codes(np.asarray(y), tree.classes),
        decision=tree.decide(rows),
        inside=-boundary.class_distances(rows),
        ours=ours,
        leaves=tree.mix_proportions(rows),
        intervals=intervals,
        as_tested=not resolve(model).transformers,
    )


def _index(X):
    index = getattr(X, "index", None)
    return None if callable(index) else index
