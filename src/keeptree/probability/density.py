"""Share of a class among training cases at a similar distance: a ratio of two kernel sums.

Distance kernel estimate (Alvarez 2007, eq. 2) with one bandwidth for both densities:
p(h) = sum over cases of class c of K((h - h_i) / b) / sum over all cases of K((h - h_i) / b).
Where every term underflows, p(h) is the limit, which is determined by the nearest cases.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from keeptree.probability.density_gaussian import leave_out_gaussian, tabulate_gaussian
from keeptree.probability.density_window import WINDOWS, leave_out_window, tabulate_window

LEAVE_OUT_CASES = 5000


def kernel_tables(h, in_class, weight, starts, bandwidth, kernel="gaussian"):
    """Estimate many curves; curve k uses the cases starts[k] to starts[k + 1] - 1.

    Parameters
    ----------
    h : array-like of shape (n_cases,) or (n_cases, n_columns)
        Finite algebraic distances of the training cases, sorted by curve. Each further column holds
        another set of curves, which are numbered after those of the previous column.
    in_class : array-like of the same shape
        Weight of each case if it belongs to the class, else 0.
    weight : array-like of shape (n_cases,)
        Weights; cases of weight 0 are ignored.
    starts : array-like of int of shape (n_groups + 1,)
        First case of each curve, followed by the number of cases.
    bandwidth : float or array-like
        Standard deviation of the Gaussian kernel, or half width of the other kernels, in the unit
        of h: one value for all curves, or an array that broadcasts to (n_columns, n_groups).
    kernel : {"gaussian", "epanechnikov", "triangular", "uniform"}
        Kind of kernel; ``"uniform"`` is the Parzen window. Where no case is within reach, the
        nearest cases are used.

    Returns
    -------
    KernelTables or WindowTables
        Tables of the curves, for looking up shares.

    Examples
    --------
    >>> tables = kernel_tables([0.0, 1.0, 5.0], [0, 1, 1], [1, 1, 1], [0, 2, 3], bandwidth=0.2)
    >>> tables.lookup([0, 0, 1], [0.5, 1.0, 0.0]).round(4)
    array([0.5, 1. , 1. ])
    """
    h, in_class, weight = _check_cases(h, in_class, weight)
    h, in_class = h.reshape(len(h), -1), in_class.reshape(len(h), -1)
    shape = (h.shape[1], len(starts) - 1)
    bandwidth = np.broadcast_to(np.asarray(bandwidth, float), shape)
    if not (np.isfinite(bandwidth) & (bandwidth > 0)).all():
        raise ValueError(f"bandwidth must be positive and finite, got {bandwidth.min()}.")
    groups = [slice(a, b) for a, b in pairwise(starts)]
    if not (weight > 0).all():
        groups = [np.arange(a, b)[weight[a:b] > 0] for a, b in pairwise(starts)]
    for k, cases in enumerate(groups):
        if not len(weight[cases]):
            raise ValueError(f"Curve {k} has no case with a positive weight; leave it out.")
    curves = (
        (h[cases, j], in_class[cases, j], weight[cases], bandwidth[j, k])
        for j in range(shape[0])
        for k, cases in enumerate(groups)
    )
    return _find_kernel(kernel).tabulate(curves)


def choose_bandwidth(h, in_class, weight, starts, candidates, kernel="gaussian"):
    """Return the bandwidth with the lowest weighted leave-one-out log-loss.

    All curves share one bandwidth. A curve with more than 5000 cases is represented by 5000 of
    them, evenly spaced in the order of h. Probabilities are clipped to 1e-6; ties go to the first
    candidate.

    Parameters
    ----------
    h, in_class, weight, starts, kernel
        See `kernel_tables`.
    candidates : array-like of float
        Bandwidths to compare, in the unit of h.

    Returns
    -------
    float
        The chosen bandwidth.

    Examples
    --------
    >>> choose_bandwidth([0, 1, 2, 3], [0, 0, 1, 1], [1, 1, 1, 1], [0, 4], [0.5, 50.0])
    0.5
    """
    h, in_class, weight = _check_cases(h, in_class, weight)
    losses = np.zeros(len(candidates))
    for start, end in pairwise(starts):
        here = np.arange(start, end)[weight[start:end] > 0]
        order = here[np.argsort(h[here], kind="stable")]
        if len(order) < 2:
            continue  # a curve with a single case has no others to estimate it from
        taken = order[np.linspace(0, len(order) - 1, min(len(order), LEAVE_OUT_CASES)).astype(int)]
        sample = (h[taken], in_class[taken], weight[taken])
        losses += _leave_out_losses(*sample, candidates, kernel) * (len(order) / len(taken))
    return float(candidates[int(np.argmin(losses))])


def _leave_out_losses(h, in_class, weight, candidates, kernel):
    leave_out = _find_kernel(kernel).leave_out
    losses = []
    for candidate in candidates:
        share = np.clip(leave_out(h, in_class, weight, candidate), 1e-6, 1 - 1e-6)
        losses.append(-in_class @ np.log(share) - (weight - in_class) @ np.log1p(-share))
    return np.array(losses)


def _check_cases(h, in_class, weight):
    h, in_class, weight = (np.asarray(column, float) for column in (h, in_class, weight))
    if not (np.isfinite(h).all() and np.isfinite(weight).all()):
        raise ValueError("Distances and weights of training cases must be finite.")
    if not ((in_class >= 0) & (weight >= in_class.T).T).all():
        raise ValueError("in_class must lie between 0 and the weight of each case.")
    return h, in_class, weight


@dataclass(frozen=True)
class _Kernel:
    tabulate: object
    leave_out: object


KERNELS = {"gaussian": _Kernel(tabulate_gaussian, leave_out_gaussian)} | {
    name: _Kernel(partial(tabulate_window, coefficient=c), partial(leave_out_window, coefficient=c))
    for name, c in WINDOWS.items()
}


def _find_kernel(name):
    if name not in KERNELS:
        raise ValueError(f"kernel must be one of {sorted(KERNELS)}, got {name!r}.")
    return KERNELS[name]
