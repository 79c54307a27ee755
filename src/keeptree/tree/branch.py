"""Branches: the condition that a test places on the cases that follow one of its branches."""

import sys
from dataclasses import dataclass

from keeptree.text import number_text
from keeptree.tree.kinds import NOMINAL, OBLIQUE
from keeptree.tree.oblique import combination_text

_LARGEST = sys.float_info.max  # tests that only separate missing values use it: no number is larger


@dataclass(frozen=True)
class Branch:
    """The condition under which a case goes from a node to one of its children.

    Attributes
    ----------
    node, child : int
        The node with the test, and the child that the branch leads to.
    feature : int
        Column tested; -1 for an oblique test.
    name : str
        Name of the column, or the weighted sum of an oblique test.
    sign : {"<=", ">"} or None
        Comparison with the threshold; None for a nominal test.
    threshold : float or None
        Number that the test compares with; None for a nominal test.
    labels : tuple
        Categories that a nominal test sends down this branch; empty for a numeric test.
    terms : tuple
        Pairs of a column and its weight in the sum of an oblique test; otherwise empty.

    Examples
    --------
    >>> import keeptree as kt
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = kt.C45Classifier(max_depth=1).fit(X, y).tree_
    >>> branch = tree.branch(2)
    >>> branch.name, branch.sign, branch.threshold
    ('petal width (cm)', '>', 0.6)
    >>> branch.text()
    'petal width (cm) > 0.6'
    """

    node: int
    child: int
    feature: int
    name: str
    sign: str | None
    threshold: float | None
    labels: tuple
    terms: tuple = ()

    @property
    def is_oblique(self):
        """Whether the test compares a weighted sum of columns with its threshold."""
        return bool(self.terms)

    @property
    def columns(self):
        """The tested columns: one, or all columns of a weighted sum."""
        return tuple(feature for feature, _ in self.terms) or (self.feature,)

    @property
    def is_numeric(self):
        """Whether the test compares with a threshold."""
        return self.sign is not None

    @property
    def symbol(self):
        """The sign for display: ``≤`` or ``>``."""
        return "≤" if self.sign == "<=" else self.sign

    def text(self, precision=6):
        """Return the condition as C4.5 writes it: ``age <= 2.5``, ``colour = red``.

        Parameters
        ----------
        precision : int, default=6
            Significant digits of the threshold; digits before the decimal point are never dropped.

        Returns
        -------
        text : str
            The condition, with the name of the column.
        """
        return f"{self.name} {self.relation(precision)}"

    def relation(self, precision=6):
        """Return the condition without the name: ``<= 2.5``, ``= red``, ``in {red, blue}``.

        A test that only checks for a missing value gives ``is missing`` or ``is known``.

        Parameters
        ----------
        precision : int, default=6
            Significant digits of the threshold; digits before the decimal point are never dropped.

        Returns
        -------
        text : str
            The condition.
        """
        if self.is_numeric and self.threshold == _LARGEST:
            return "is known" if self.sign == "<=" else "is missing"
        if not (self.is_numeric or self.labels):
            return "is missing"
        if self.is_numeric:
            return f"{self.sign} {number_text(self.threshold, precision)}"
        labels = [str(label) for label in self.labels]
        return f"= {labels[0]}" if len(labels) == 1 else f"in {{{', '.join(labels)}}}"


def find_branch(tree, child):
    """Return the branch that leads to a node of a tree."""
    node = int(tree.parent[child])
    if node < 0:
        raise ValueError("No branch leads to the root; give another node.")
    feature = int(tree.feature[node])
    numeric, oblique = tree.kind[node] != NOMINAL, tree.kind[node] == OBLIQUE
    first = child == tree.children(node)[0]
    return Branch(
        node=node,
        child=int(child),
        feature=feature,
        name=combination_text(tree, node) if oblique else tree.feature_name(feature),
        sign=("<=" if first else ">") if numeric else None,
        threshold=float(tree.threshold[node]) if numeric else None,
        labels=() if numeric else _labels(tree, node, feature, child),
        terms=tree.terms(node),
    )


def _labels(tree, node, feature, child):
    taken = tree.category_children(node) == child
    return tuple(label for label, goes in zip(tree.categories[feature], taken, strict=True) if goes)
