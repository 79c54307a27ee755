"""What a training sample held: the range, mean and spread of each column, the categories seen."""

from dataclasses import dataclass

import numpy as np

from keeptree.tree import NOMINAL


@dataclass(frozen=True)
class Observed:
    """What a model remembers of the columns of its training sample.

    Parameters
    ----------
    low, high, mean, deviation : ndarray of shape (n_features,)
        Of the known values of each column, rows of weight 0 apart; zeros where nothing is known.
    seen : tuple
        For each nominal attribute the tree tests whether each of its categories occurs, None for
        the others.
    """

    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    seen: tuple


def observe(X, tree, sample_weight=None):
    """Observed columns of an encoded matrix."""
    seen = [None] * tree.n_features
    for f in np.unique(tree.feature[tree.kind == NOMINAL]).tolist():
        known = ~np.isnan(X[:, f])
        if sample_weight is not None:
            known &= np.asarray(sample_weight) > 0
        seen[f] = np.bincount(X[known, f].astype(np.int64), minlength=len(tree.categories[f])) > 0
    return Observed(*spread(X, sample_weight), tuple(seen))


def spread(X, sample_weight=None):
    """Least, largest, mean and standard deviation of each column; zeros where nothing is known."""
    from keeptree._kernels.columns import spread_columns

    weight = np.empty(0) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    values = np.empty((5, X.shape[1]))
    spread_columns(X, weight, values)
    values[1:, values[0] == 0] = 0.0
    return values[1:]
