"""The logarithmic pool of experts, and the step that makes the tree's class most probable."""

import math

import numpy as np
from numpy import float64, int64

from keeptree._compiled.declare import In, Out, entry, inner
from keeptree._compiled.elementary import exp, log

ROWS = 128  # rows at a time, so that their logits stay in the first-level cache


@inner
def _add_logs(opinion, floor, kept, weight, logit):
    """Add the weighted logarithms of probabilities, each mixed with a little of the prior."""
    for i in range(len(opinion)):
        logit[i] += weight * log(kept * opinion[i] + floor[i])


@inner
def _divide_exponentials(logit, n_classes):
    """Turn the logits of rows into probabilities."""
    for start in range(0, len(logit), n_classes):
        row = logit[start : start + n_classes]
        most = row[0]
        for c in range(1, n_classes):
            most = max(most, row[c])
        for c in range(n_classes):
            row[c] -= most
    for i in range(len(logit)):
        logit[i] = exp(logit[i])
    for start in range(0, len(logit), n_classes):
        row = logit[start : start + n_classes]
        total = row[0]
        for c in range(1, n_classes):
            total += row[c]
        for c in range(n_classes):
            row[c] /= total


@entry
def pool_opinions(
    opinions: In(float64, 3, "C"),
    weights: In(float64, 1),
    prior: In(float64, 1),
    share: float,
    out: Out(float64, 2),
):
    """Fill ``out`` with the weighted product of the experts' probabilities, normalised.

    ``opinions`` has shape (n_experts, n, n_classes). A ``share`` of the prior is mixed into each
    expert, so that none can rule out a class.
    """
    n_classes = out.shape[1]
    width = ROWS * n_classes
    floor = np.empty(width)
    for i in range(width):
        floor[i] = share * prior[i % n_classes]
    flat = out.reshape(-1)
    flat[:] = 0.0
    for start in range(0, len(flat), width):
        stop = min(start + width, len(flat))
        logit = flat[start:stop]
        for e in range(len(weights)):
            opinion = opinions[e].reshape(-1)[start:stop]
            _add_logs(opinion, floor, 1.0 - share, weights[e], logit)
        _divide_exponentials(logit, n_classes)


@entry
def lift_labels(p: Out(float64, 2), label: In(int64, 1), softness: float, least: float):
    """Raise the probability of each row's label above all others, by as little as necessary.

    The margin m, the label's log-probability minus the largest of the others, becomes (m + sqrt(m²
    + softness²)) / 2, and the ratio of the two probabilities becomes at least ``least``.
    """
    n, n_classes = p.shape
    for i in range(n):
        own, other = p[i, label[i]], 0.0
        for c in range(n_classes):
            if c != label[i]:
                other = max(other, p[i, c])
        if other == 0.0:
            continue
        m = log(own / other)
        root = math.sqrt(m * m + softness * softness)
        # The second form avoids the difference of nearly equal numbers.
        moved = (m + root) / 2.0 if m > 0.0 else softness * softness / (2.0 * (root + abs(m)))
        p[i, label[i]] = other * max(exp(moved), least)
        total = 0.0
        for c in range(n_classes):
            total += p[i, c]
        for c in range(n_classes):
            p[i, c] /= total
