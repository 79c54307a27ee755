"""Compute class probabilities with the naive Bayes models in the leaves of a tree."""

from typing import NamedTuple

import numpy as np
from numpy import bool_, float64, int64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.elementary import exp


class Models(NamedTuple):
    """Naive Bayes models of the leaves as flat arrays.

    ``model_of`` is the model of each node. The cuts of column f in model k start at ``cut_start[k *
    columns + f]``, and the log-probabilities of its bins at ``cell_start[k * columns + f]``.
    """

    model_of: In(int64, 1)
    cuts: In(float64, 1)
    cut_start: In(int64, 1)
    cells: In(float64, 2)
    cell_start: In(int64, 1)
    prior: In(float64, 2)


class Reached(NamedTuple):
    """The leaves that rows reach and the share of each; those of row i start at ``first[i]``."""

    first: In(int64, 1)
    leaf: In(int64, 1)
    share: In(float64, 1)


@inner
def add_answer(score, share, probability):
    """Convert log scores to probabilities, multiply them by ``share`` and add them."""
    highest = score[0]
    for c in range(1, len(score)):
        highest = max(highest, score[c])
    total = 0.0
    for c in range(len(score)):
        score[c] = exp(score[c] - highest)
        total += score[c]
    for c in range(len(score)):
        probability[c] += share * score[c] / total


@inner
def find_bin(cuts, first, end, x):
    """Return the number of cuts below x among the ascending ``cuts[first:end]``."""
    low, high = first, end
    while low < high:
        middle = (low + high) // 2
        if cuts[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low - first


@entry
def answer_rows(
    X: In(float64, 2),
    reached: Reached,
    nominal: In(bool_, 1),
    models: Models,
    probability: Out(float64, 2),
):
    """Fill class probabilities: average the models of a row's leaves, weighted by share."""
    first, leaf, share = reached
    model_of, cuts, cut_start, cells, cell_start, prior = models
    n_columns, n_classes = X.shape[1], prior.shape[1]
    score = np.empty(n_classes)
    for i in range(len(X)):
        for c in range(n_classes):
            probability[i, c] = 0.0
        for r in range(first[i], first[i + 1]):
            k = model_of[leaf[r]]
            for c in range(n_classes):
                score[c] = prior[k, c]
            for f in range(n_columns):
                x, at = X[i, f], k * n_columns + f
                if np.isnan(x) or cell_start[at + 1] - cell_start[at] < 2:
                    continue
                b = int64(x) if nominal[f] else find_bin(cuts, cut_start[at], cut_start[at + 1], x)
                for c in range(n_classes):
                    score[c] += cells[cell_start[at] + b, c]
            add_answer(score, share[r], probability[i])
        total = 0.0
        for c in range(n_classes):
            total += probability[i, c]
        for c in range(n_classes):
            probability[i, c] /= total
