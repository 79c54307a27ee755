"""The held-out cases of a report: encoded once, with all that is known about each of them."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keeptree.data.labels import label_codes
from keeptree.probability.answers import is_second_opinion
from keeptree.progress import step
from keeptree.text import clean
from keeptree.tree import Tree

NEAREST_SHARE = 0.05  # of the cases are "near the boundary"


@dataclass(frozen=True)
class HeldOut:
    """Held-out cases, and what the tree, its boundary and the model say about them.

    Parameters
    ----------
    tree : Tree
        The kept tree; class indices and columns of classes are in its order.
    X : array-like or data frame of n rows
        The cases as the user has them.
    rows : ndarray of shape (n, n_features)
        The same as the tree reads them.
    truth : ndarray of shape (n,) or None
        Index of the true class.
    decision : ndarray of shape (n,)
        Index of the class the tree decides.
    inside : ndarray of shape (n, n_classes)
        Distance to the boundary of each class, positive where the tree decides for it: the
        algebraic distance of Alvarez et al. (2007) with the other sign, on the grid of the columns.
    ours, leaves : ndarray of shape (n, n_classes)
        Probabilities of the model, and of the tree's own leaves.
    """

    tree: Tree
    X: object
    rows: np.ndarray
    truth: np.ndarray | None
    decision: np.ndarray
    inside: np.ndarray
    ours: np.ndarray
    leaves: np.ndarray

    def __len__(self):
        return len(self.rows)

    @cached_property
    def distance(self):
        """Distance of each case to the nearest possible one that the tree decides otherwise.

        Infinite where there is none.
        """
        return self.inside[np.arange(len(self)), self.decision]

    @cached_property
    def leaf(self):
        """Leaf each case falls in."""
        return self.tree.route(self.rows, strict=False)

    @cached_property
    def near(self):
        """Whether a case is near the boundary: the nearest twentieth, rounded up.

        Of equally near ones those are that the model is least sure of, then the first ones.
        """
        sure = self.ours[np.arange(len(self)), self.decision]
        few = np.lexsort((sure, self.distance))[: math.ceil(NEAREST_SHARE * len(self))]
        near = np.zeros(len(self), dtype=bool)
        near[few] = True
        return near & np.isfinite(self.distance)

    @cached_property
    def opinion(self):
        """Whether a case has a second opinion: some class is more probable than the decision."""
        return is_second_opinion(self.ours, self.decision)

    @property
    def wrong(self):
        """Whether the tree errs."""
        return self.decision != self.truth

    @property
    def names(self):
        """Names of the cases: the index of a frame, else their row numbers."""
        index = _index(self.X)
        return [clean(i) for i in (range(len(self)) if index is None else index)]

    @property
    def naming(self):
        """What the names are, in one sentence."""
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
        Whose tree is kept.
    boundary : Boundary
        Of the tree.
    X : array-like or data frame
        The cases.
    y : array-like, optional
        Their true classes.

    Returns
    -------
    held : HeldOut
    """
    tree, rows = model.tree_, model.encode(X)
    return HeldOut(
        tree=tree,
        X=X,
        rows=rows,
        truth=None if y is None else label_codes(np.asarray(y), tree.classes),
        decision=tree.decide(rows),
        inside=-boundary.class_distances(rows),
        ours=model.predict_proba_encoded(rows),
        leaves=tree.mix_proportions(rows),
    )


def _index(X):
    index = getattr(X, "index", None)
    return None if callable(index) else index
