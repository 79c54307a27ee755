"""The kernel estimate on distance and position, case by case from the equation in the guide."""

import numpy as np


def fisher(places, own, weight, ridge=0.1):
    """Return the mean and direction of the ridge-regularised discriminant, by sums over cases."""
    n = places.shape[1]
    mean = sum(w * z for w, z in zip(weight, places, strict=True)) / weight.sum()
    share = (weight * own).sum() / weight.sum()
    between, within = np.zeros(n), np.zeros((n, n))
    for z, o, w in zip(places, own, weight, strict=True):
        between += w * (o - share) * (z - mean)
        within += w * np.outer(z - mean, z - mean)
    within /= weight.sum()
    within += ridge * np.trace(within) / n * np.eye(n)
    u = np.linalg.solve(within, between / weight.sum())
    length = np.linalg.norm(u)
    return mean, u / length if length > 0 else u


def plane_share(h, places, h_train, places_train, own, weight, bandwidth, spread=None):
    """Return the share of the class at each row; ``bandwidth`` is a fraction of both ranges.

    ``spread`` is the range of the distance, by default that of the given cases.
    """
    mean, u = fisher(places_train, own, weight)
    s, s_train = (places - mean) @ u, (places_train - mean) @ u
    spread = np.ptp(h_train) if spread is None else spread
    width = bandwidth * (spread or 1.0), bandwidth * (np.ptp(s_train) or 1.0)
    out = np.empty(len(h))
    for row in range(len(h)):
        log = (
            -0.5 * ((h[row] - h_train) / width[0]) ** 2 - 0.5 * ((s[row] - s_train) / width[1]) ** 2
        )
        near = weight * np.exp(log - log.max())
        out[row] = (near * own).sum() / near.sum()
    return out
