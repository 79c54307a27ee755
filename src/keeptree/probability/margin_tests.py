"""The tests of a margin expert, and the features that its logistic model is fitted to."""

import numpy as np

from keeptree.probability.finer import join_splits, split_quantiles, with_finer_leaves
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
        Further splits of the leaves.
    quantiles : bool
        Whether each tested column is also compared with its quantiles.
    scale : str
        As for :func:`~keeptree.probability.soft_tests.soft_tests`.

    Notes
    -----
    ``nodes`` holds the nodes of each of ``PARTS``: all children but the last of each test, which is
    redundant. Comparisons with quantiles are asked on their own, so they are not part of the reach.
    """

    def __init__(self, sample, splits, quantiles, scale):
        divided = sample if splits is None else with_finer_leaves(sample, splits)
        own, chain = divided.tree.n_nodes, split_quantiles(divided) if quantiles else None
        asked = _heaviest_tests(divided)
        if chain is not None:
            divided = with_finer_leaves(divided, chain)
            asked = np.append(asked, np.zeros(divided.tree.n_nodes - own, dtype=bool))
            asked[chain.node] = True
            above = chain.node[0]
            while above:  # a test is asked only together with those above it
                above = divided.tree.parent[above]
                asked[above] = True
        self.splits = join_splits(splits, chain)
        self.tests = soft_tests(divided, asked, scale)
        node = _feature_nodes(self.tests)
        self.nodes = (node, node, node[self.tests.node[node] < own])

    def features(self, X):
        """Return the shares of the rows in the nodes, part by part: shape (n, p)."""
        parts = zip(PARTS, self.nodes, strict=True)
        return np.concatenate([self.tests.shares(X, *part)[node] for part, node in parts]).T

    def logistic(self, sample, largest):
        """Return the logistic problem of a sample, for values of C up to the largest."""
        n_classes = len(sample.tree.classes)
        features = self.features(sample.X)
        return RidgeLogistic(features, sample.y, sample.weight, n_classes, largest)


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


def _feature_nodes(tests):
    """Return the nodes whose shares are features: all children but the last, which is redundant."""
    last = np.zeros(len(tests.kind), dtype=bool)
    last[-1] = True  # the root
    last[tests.child[tests.child_start[1:][tests.kind != LEAF] - 1]] = True
    return np.flatnonzero(~last)
