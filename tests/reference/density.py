"""Ratios of kernel sums, computed case by case without a table."""

import numpy as np


def gaussian_ratio(h_new, h, in_class, weight, bandwidth):
    """Return the ratio of kernel sums by log-sum-exp over all cases.

    Differences of squares are factored to avoid cancellation.
    """
    keep = weight > 0
    h, in_class, weight = h[keep], in_class[keep], weight[keep]
    out = np.empty(len(h_new))
    for row, x in enumerate(h_new):
        nearest = h[np.argmin(np.abs(h - np.clip(x, h.min(), h.max())))]
        apart = (nearest - h) / bandwidth
        with np.errstate(over="ignore", invalid="ignore"):
            exponent = -0.5 * apart * ((x - nearest) / bandwidth + (x - h) / bandwidth)
        exponent[h == nearest] = 0.0
        # The nearest value and its mirror image may differ by rounding.
        factor = np.exp(np.minimum(exponent, 0.0))
        out[row] = (in_class * factor).sum() / (weight * factor).sum()
    return out


KERNELS = {
    "epanechnikov": lambda u: 1 - u * u,
    "triangular": lambda u: 1 - u,
    "uniform": lambda u: np.ones_like(u),
}


def window_ratio(h_new, h, in_class, weight, bandwidth, kernel):
    keep = weight > 0
    h, in_class, weight = h[keep], in_class[keep], weight[keep]
    out = np.empty(len(h_new))
    for row, x in enumerate(h_new):
        apart = np.abs(x - h)
        value = np.where(apart <= bandwidth, KERNELS[kernel](np.minimum(apart / bandwidth, 1)), 0)
        if (weight * value).sum() <= 0:
            apart = np.abs(np.clip(x, h.min(), h.max()) - h)
            value = apart == apart.min()
        out[row] = (in_class * value).sum() / (weight * value).sum()
    return out


def ratio(h_new, h, in_class, weight, bandwidth, kernel="gaussian"):
    h_new, h, in_class, weight = (np.asarray(a, float) for a in (h_new, h, in_class, weight))
    if kernel == "gaussian":
        return gaussian_ratio(h_new, h, in_class, weight, bandwidth)
    return window_ratio(h_new, h, in_class, weight, bandwidth, kernel)


def leave_one_out(h, in_class, weight, bandwidth, kernel="gaussian"):
    rows = np.arange(len(h))
    return np.array(
        [
            ratio(h[[i]], h[rows != i], in_class[rows != i], weight[rows != i], bandwidth, kernel)[
                0
            ]
            for i in rows
        ]
    )
