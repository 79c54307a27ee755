"""The example of Section 5.2 of Alvarez, Bernard and Deffuant (2007).

It shows why separators divide the cases better than leaves. Cases are uniform in a square. The
probability of class 1 depends only on x: it rises smoothly around -0.25 and falls sharply around
0.25. The tree has three leaves, but its boundary has two pieces.
"""

from dataclasses import dataclass

import numpy as np

from keeptree.geometry.boundary import Boundary
from keeptree.geometry.metric import Metric
from keeptree.learners.c45 import C45Classifier
from keeptree.probability.distance_kernel import DistanceKernelClassifier
from keeptree.tree import Tree

_HALF_WIDTH = 0.05  # a Parzen window of width 0.1
_AS_IT_IS = Metric(scales=[1.0, 1.0])


@dataclass(frozen=True, eq=False)
class Example:
    """A sample, its tree, and the estimates on both partitions.

    Attributes
    ----------
    X, y : ndarray
        Cases and classes.
    tree : Tree
        Tree grown from the cases.
    left, right : float
        The two thresholds: the soft border and the sharp one.
    x : ndarray
        Positions at which the curves are computed.
    truth : ndarray
        Probability of class 1 that the sample was drawn with.
    along_x : ndarray
        Parzen estimate along the x axis, without a partition.
    by_leaf, by_separator : ndarray
        Kernel estimates inside the leaves and inside the separators' subsets.
    subset : ndarray
        Separator of each case: 0 for the left one, 1 for the right one.
    """

    X: np.ndarray
    y: np.ndarray
    tree: Tree
    left: float
    right: float
    x: np.ndarray
    truth: np.ndarray
    along_x: np.ndarray
    by_leaf: np.ndarray
    by_separator: np.ndarray
    subset: np.ndarray

    def findings(self):
        """Return the measurements behind the paper's three remarks.

        Returns
        -------
        findings : dict of float
            Mean absolute deviations of the ``leaf`` and ``separator`` estimates from the truth, and
            of the latter from the estimate along x. The ``side_effect`` is how much the leaf and
            the separators add to the probability just inside the soft border. The ``asymmetry`` is
            the largest difference between positions equally far inside the two borders.
        """
        inside = (self.x > self.left) & (self.x < self.left + _HALF_WIDTH)
        depth = np.linspace(0.01, (self.right - self.left) / 2 - 0.01, 50)
        return {
            "leaf": _mean_gap(self.by_leaf, self.truth),
            "separator": _mean_gap(self.by_separator, self.truth),
            "along_x": _mean_gap(self.along_x, self.truth),
            "separator_to_along_x": _mean_gap(self.by_separator, self.along_x),
            "leaf_to_along_x": _mean_gap(self.by_leaf, self.along_x),
            "side_effect": float((self.by_leaf - self.truth)[inside].mean()),
            "side_effect_separator": float((self.by_separator - self.truth)[inside].mean()),
            "asymmetry": self._asymmetry(self.by_leaf, depth),
            "asymmetry_separator": self._asymmetry(self.by_separator, depth),
            "asymmetry_truth": self._asymmetry(self.truth, depth),
        }

    def _asymmetry(self, curve, depth):
        """Return the largest difference between positions equally far inside the two borders."""
        left = np.interp(self.left + depth, self.x, curve)
        right = np.interp(self.right - depth, self.x, curve)
        return float(np.abs(left - right).max())


def true_probability(x):
    """Return the probability of class 1 at each x."""
    rise = 0.1 + 0.8 / (1 + np.exp(-(x + 0.25) / 0.04))
    fall = 1 / (1 + np.exp((x - 0.25) / 0.005))
    return np.where(x < 0, rise, fall)


def draw_example(n=2000, random_state=0):
    """Draw the sample, grow the tree and compute the curves.

    Parameters
    ----------
    n : int
        Number of cases.
    random_state : int
        Seed.

    Returns
    -------
    example : Example or None
        None if the tree, unlike that of the paper, does not have three leaves.
    """
    rng = np.random.default_rng(random_state)
    X = rng.uniform(-0.5, 0.5, (n, 2))
    y = (rng.random(n) < true_probability(X[:, 0])).astype(int)
    tree = C45Classifier(min_samples_leaf=n // 50).fit(X, y).tree_
    if tree.n_leaves != 3:
        return None
    left, right = np.sort(tree.threshold[tree.feature >= 0])
    x = np.linspace(-0.499, 0.499, 999)
    near = Boundary(tree, _AS_IT_IS).fit(X).nearest(X).separator
    return Example(
        X,
        y,
        tree,
        float(left),
        float(right),
        x,
        true_probability(x),
        along_x=np.array([y[np.abs(X[:, 0] - at) <= _HALF_WIDTH].mean() for at in x]),
        by_leaf=_kernel(tree, "leaf", X, y, x),
        by_separator=_kernel(tree, "separator", X, y, x),
        subset=(tree.threshold[near] == right).astype(int),
    )


def _kernel(tree, scope, X, y, x):
    model = DistanceKernelClassifier(
        tree, scope, metric=_AS_IT_IS, kernel="uniform",
        bandwidth=_HALF_WIDTH, bandwidth_unit="distance", grid=None,
    ).fit(X, y)  # fmt: skip
    return model.predict_proba(np.column_stack([x, np.zeros_like(x)]))[:, 1]


def _mean_gap(a, b):
    return float(np.abs(a - b).mean())
