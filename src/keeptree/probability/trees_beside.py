"""Trees that scikit-learn grows, placed beside the kept tree as splits of a new leaf."""

import numpy as np

from keeptree.probability.leaf_splits import EVENLY, leaf_splits, split_features
from keeptree.probability.more_columns import more_columns

_FAR_ABOVE = 100.0  # above the smallest value of a column, in units of its range
_LARGEST = float(np.finfo(np.float32).max)  # scikit-learn's trees read float32


class Scaled:
    """Numeric columns of a sample, scaled from 0 to 1 because scikit-learn's trees read float32.

    ``columns`` holds those that may be read, except those that float32 cannot hold.
    """

    def __init__(self, sample):
        self.columns = readable_columns(sample)
        self.low, high = sample.observed.low[self.columns], sample.observed.high[self.columns]
        self.unit = np.where(high > self.low, high - self.low, 1.0)

    def rows(self, X):
        """Return the scaled columns of rows in float32, so that no tree converts them again."""
        return ((X[:, self.columns] - self.low) / self.unit).astype(np.float32)

    def split(self, node, column, threshold, missing):
        """Return a split of a scaled column as one of the sample's columns.

        A split with an infinite threshold sends all known values to its first child, and so does
        one far above the largest value.
        """
        threshold = self.low[column] + min(threshold, _FAR_ABOVE) * self.unit[column]
        return node, self.columns[column], threshold, missing


def readable_columns(sample):
    """Return the numeric columns that may be read, except those that float32 cannot hold."""
    tree = sample.tree
    more = [f for f in more_columns(sample) if tree.categories[f] is None]
    columns = np.append(split_features(tree), more).astype(np.int64)
    ends = np.abs([sample.observed.low[columns], sample.observed.high[columns]])
    return columns[(ends < _LARGEST).all(axis=0)]


def place_beside(tree, grown, scaled, weight=1.0):
    """Place grown trees beside a tree; a row is divided evenly among them.

    Parameters
    ----------
    tree : Tree
        The kept tree, which has a numeric test.
    grown : list
        Trees grown on scaled columns, as scikit-learn's ``tree_``.
    scaled : Scaled
        The columns.
    weight : float
        Weight of all grown trees together, relative to the kept tree.

    Returns
    -------
    splits : LeafSplits
    """
    leaf, place = tree.n_nodes + 1, tree.n_nodes + 2
    splits, leaves = _even_splits(leaf, place, len(grown), scaled.columns[0])
    for each, root in zip(grown, leaves, strict=True):
        own = _splits_of(each, root, place + 2 * len(splits))
        splits += [scaled.split(*split) for split in own]
    return leaf_splits(splits, beside=True, weight=weight)


def _even_splits(leaf, place, n, column):
    """Divide a leaf evenly into n leaves, all at about the same depth; return splits and leaves."""
    splits, leaves = [], [leaf]
    while len(leaves) < n:
        splits.append((leaves.pop(0), column, 0.0, EVENLY))
        leaves += [place, place + 1]
        place += 2
    return splits, leaves


def _splits_of(grown, node, place):
    """Return the splits of a grown tree whose root is ``node``, with new nodes from ``place``."""
    splits, todo = [], [(0, node)]
    while todo:
        at, node = todo.pop(0)
        if grown.children_left[at] < 0:
            continue
        missing = 0 if grown.missing_go_to_left[at] else 1
        splits.append((node, grown.feature[at], grown.threshold[at], missing))
        todo += [(grown.children_left[at], place), (grown.children_right[at], place + 1)]
        place += 2
    return splits
