"""The tests of a margin expert, and the features that its logistic model is fitted to."""

import numpy as np

from keeptree.probability.leaf_splits import divide_evenly, with_splits
from keeptree.probability.ridge_logistic import RidgeLogistic
from keeptree.probability.soft_tests import soft_tests
from keeptree.tree import LEAF

_FEWEST = 10  # smallest number of cases in a node whose test is a feature
_MOST_TESTS = 200  # a larger tree uses the tests of its heaviest nodes
# Slopes of the soft tests, and whether shares are multiplied down the path: tanh(z / 0.5) and
# tanh(z / 4) for z = (x - t) / spread of every test, and the soft reach. The compiled function
# contains the same slopes.
PARTS = ((4.0, False), (0.5, False), (3.5, True))


class MarginTests:
    """Tests that the logistic model asks, and the nodes whose shares are its features.

    Parameters
    ----------
    sample : Sample
        The training sample, with the tree.
    splits : LeafSplits or None
        Further tests: rules or comparisons with quantiles.
    scale : str
        As for :func:`~keeptree.probability.soft_tests.soft_tests`.

    Notes
    -----
    ``nodes`` holds the nodes of each of ``PARTS``: all children but the last of each test, which is
    redundant. The tests of the tree are features on their own and by their reach, comparisons with
    quantiles only on their own, and rules only by their reach.
    """

    def __init__(self, sample, splits, scale):
        self.splits, asked, own = splits, _heaviest_tests(sample), sample.tree.n_nodes
        if splits is not None:
            sample = with_splits(sample, splits)
            asked = _with_further_tests(asked, splits, sample.tree)
        self.tests = soft_tests(sample, asked, scale)
        node = _feature_nodes(self.tests)
        if splits is not None and splits.beside:
            self.tests = divide_evenly(self.tests, splits, own)
            self.nodes = _nodes_with_rules(self.tests, node, own)
        else:
            self.nodes = node, node, node[self.tests.node[node] < own]

    def features(self, X):
        """Return the shares of the rows in the nodes, part by part: shape (n, p)."""
        parts = zip(PARTS, self.nodes, strict=True)
        return np.concatenate([self.tests.shares(X, *part)[node] for part, node in parts]).T

    def logistic(self, sample, largest, precision=np.float64):
        """Return the logistic problem of a sample, for values of C up to the largest."""
        n_classes = len(sample.tree.classes)
        features = self.features(sample.X)
        return RidgeLogistic(features, sample.y, sample.weight, n_classes, largest, precision)


def _heaviest_tests(sample):
    """Return which nodes have tests with enough training cases; of many, the heaviest nodes."""
    tree = sample.tree
    cases = np.bincount(tree.route(sample.X), sample.weight, minlength=tree.n_nodes)
    for nodes in tree.levels[:0:-1]:
        np.add.at(cases, tree.parent[nodes], cases[nodes])
    asked = (tree.kind != LEAF) & (cases >= _FEWEST)
    # A node is at least as heavy as those below and comes before them in the order, so a test is
    # used only together with those above it.
    order = tree.preorder[np.argsort(-cases[tree.preorder], kind="stable")]
    asked[order[asked[order]][_MOST_TESTS:]] = False
    return asked


def _nodes_with_rules(tests, node, own):
    """Return the nodes of each part, where the root of a tree of ``own`` nodes has that number."""
    above = tests.node[tests.parent[node]]
    of_tree = (above > 0) & (above <= own)
    of_rule = (above > own) & (tests.spread[tests.parent[node]] >= 0)  # not an even test
    return node[of_tree], node[of_tree], node[of_tree | of_rule]


def _with_further_tests(asked, splits, tree):
    """Return which nodes of a tree with further tests are used, given those of the kept tree."""
    n = len(asked)
    used = np.append(asked, np.zeros(tree.n_nodes - n, dtype=bool))
    if splits.beside:
        used[n], used[0] = asked[0], True
    used[splits.node] = True
    above = splits.node[0]
    while above:  # a test is asked only with those above it; all others are below the first
        above = tree.parent[above]
        used[above] = True
    return used


def _feature_nodes(tests):
    """Return the nodes whose shares are features: all children but the last, which is redundant."""
    last = np.zeros(len(tests.kind), dtype=bool)
    last[-1] = True  # the root
    last[tests.child[tests.child_start[1:][tests.kind != LEAF] - 1]] = True
    return np.flatnonzero(~last)
