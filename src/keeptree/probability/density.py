"""Share of a class among the training cases near a distance: a ratio of two kernel sums.

Distance kernel estimate (Alvarez 2007, eq. 2) with one bandwidth for both densities:
p(h) = sum over cases of class c of K((h - h_i) / b) / sum over all cases of K((h - h_i) / b).
Where every term underflows p(h) is the limit, which the nearest cases decide.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from keeptree._compiled import density as gaussian
from keeptree._compiled import window
from keeptree.savable import expect, expect_array, expect_codes, expect_starts, saved_part

__all__ = [
    "KERNELS",
    "KernelTables",
    "WindowTables",
    "choose_bandwidth",
    "kernel_tables",
]

# Kernels of finite reach: c0 + c1 |u| + c2 u² for |u| <= 1. The bandwidth is the half width.
WINDOWS = {
    "epanechnikov": np.array([1.0, 0.0, -1.0]),
    "triangular": np.array([1.0, -1.0, 0.0]),
    "uniform": np.array([1.0, 0.0, 0.0]),
}
# Sorting cases is what costs in a large curve; bucketing those deep inside the data avoids it.
BUCKET_FROM = 20_000
BUCKET = gaussian.RUN / 8  # in bandwidths
MOST_CELLS = 1 << 16
MOST_EVEN = 4096  # pieces: 64 kB, so that the table of a curve stays in the cache
LEAVE_OUT_CASES = 5000


@saved_part
@dataclass(frozen=True)
class KernelTables:
    """Many Gaussian curves as piecewise cubics in flat arrays, within 1e-4 of the exact ratio.

    Curve k has cells ``cell[k]`` .. ``cell[k + 1] - 1`` along an axis: one bandwidth each from the
    first case on (``middle`` of them), and before and after that as wide as needed to reach the
    limit, each wider than its inner neighbour by e. Cell i is cut into the equal pieces
    ``piece[i]`` .. ``piece[i + 1] - 1``: few where the curve is smooth, thousands where it
    steps from one case to the next in the middle of a wide gap.

    Attributes
    ----------
    axis : ndarray of shape (n_curves, 8)
        Origin, 1 / bandwidth, number of cells left of the origin, ``middle``, the largest number
        below that of all cells; and where all cells in the middle have equally many pieces, a
        short cut: ``middle`` again (else 0), that many, and the first of them.
    cell : int64 ndarray of shape (n_curves + 1,)
        First cell of each curve.
    piece : int64 ndarray of shape (n_cells + 1,)
        First piece of each cell.
    coefficient : float32 ndarray of shape (n_pieces, 4)
        Of 1, y, y², y³ with y in [0, 1] the place in the piece.
    """

    axis: np.ndarray
    cell: np.ndarray
    piece: np.ndarray
    coefficient: np.ndarray

    def __post_init__(self):
        expect_array(self.axis, "axis", np.float64, (None, 8))
        expect_array(self.coefficient, "coefficient", np.float32, (None, 4))
        expect_starts(self.piece, "piece", len(self.coefficient))
        expect_starts(self.cell, "cell", len(self.piece) - 1)
        expect(len(self.cell) == len(self.axis) + 1, "every curve must have an axis")
        expect((np.diff(self.piece) > 0).all(), "every cell must have a piece")
        _, scale, _, _, last, width, even, first = self.axis.T
        positive = (scale > 0) & (self.axis[:, 2:] >= 0).all(axis=1)
        inside = (last < np.diff(self.cell)) & (width * even + first <= len(self.coefficient))
        expect((positive & inside).all(), "an axis reaches beyond its curve")

    @property
    def n_curves(self):
        """Number of curves."""
        return len(self.axis)

    def lookup(self, curve, h):
        """Class share at each h on the curve its row names.

        Parameters
        ----------
        curve : array-like of int
            Curve of each row.
        h : array-like of float32 or float64
            Distances; infinite ones give the limit, NaN gives NaN.

        Returns
        -------
        ndarray of float64 in [0, 1]
        """
        curve, h = _check_rows(curve, h, len(self.axis))
        out = np.empty(len(h))
        gaussian.lookup_rows(curve, h, self._arrays, out)
        return out

    def classify(self, curve, h, estimated, prior, out):
        """Fill class probabilities; the curves are those of the estimated classes in turn.

        Parameters
        ----------
        curve : int64 ndarray of shape (n,) or (1,)
            Curve of each row, or of all rows, within those of a class. Not checked.
        h : float32 ndarray of shape (n, n_classes), or (n, 1) for two classes
            Distances, not NaN.
        estimated : int64 ndarray
            Classes that have curves; the others keep their prior. Of two classes only the first.
        prior : ndarray of shape (n_classes,)
            Prior probabilities.
        out : ndarray of shape (n, n_classes)
            Filled with rows that sum to one.
        """
        stride = int(len(curve) > 1)
        if len(prior) == 2:
            gaussian.classify_two(curve, stride, h, self._arrays, out)
        else:
            gaussian.classify_many(curve, stride, h, estimated, prior, self._arrays, out)

    @property
    def _arrays(self):
        return gaussian.Tables(self.axis, self.cell, self.piece, self.coefficient)


@saved_part
@dataclass(frozen=True)
class WindowTables:
    """Many curves of a kernel of finite reach, exact: the distinct sorted cases and prefix sums.

    Attributes
    ----------
    start : int64 ndarray of shape (n_curves + 1,)
        First case of each curve.
    h, mass : ndarrays of shape (n_cases,) and (n_cases, 2)
        Distances; weight and class weight.
    anchor, moments : ndarrays of shape (n_cases,) and (n_cases, 6)
        Origin and prefix sums of the stretch each case is in.
    reach : ndarray of shape (n_curves,)
    coefficient : ndarray of shape (3,)
        Of 1, abs(u), u² in the kernel.
    """

    start: np.ndarray
    h: np.ndarray
    mass: np.ndarray
    anchor: np.ndarray
    moments: np.ndarray
    reach: np.ndarray
    coefficient: np.ndarray

    def __post_init__(self):
        n = len(self.h)
        expect_array(self.h, "h", np.float64, (n,))
        expect_array(self.mass, "mass", np.float64, (n, 2))
        expect_array(self.moments, "moments", np.float64, (n, 6))
        expect_array(self.reach, "reach", np.float64, (None,))
        expect_array(self.coefficient, "coefficient", np.float64, (3,))
        expect_codes(self.anchor, "anchor", (n,), n)
        expect((self.anchor <= np.arange(n)).all(), "an anchor comes after its case")
        expect_starts(self.start, "start", n)
        some = len(self.start) == len(self.reach) + 1 and (np.diff(self.start) > 0).all()
        expect(some and (self.reach > 0).all(), "every curve must have cases and a reach")
        expect((self.mass[:, 0] > 0).all() and (self.mass >= 0).all(), "a case has no weight")

    @property
    def n_curves(self):
        """Number of curves."""
        return len(self.reach)

    def lookup(self, curve, h):
        """Class share at each h on the curve its row names; see `KernelTables.lookup`."""
        curve, h = _check_rows(curve, h, len(self.reach))
        out = np.empty(len(h))
        tables = window.Tables(*(getattr(self, name) for name in window.Tables._fields))
        window.weigh_window_rows(curve, h, tables, out)
        return out

    def classify(self, curve, h, estimated, prior, out):
        """Fill class probabilities; see `KernelTables.classify`."""
        step = len(self.reach) // len(estimated)
        curve = np.broadcast_to(curve, len(h))
        out[:] = prior
        for j, c in enumerate(estimated):
            out[:, c] = self.lookup(curve + j * step, h[:, c])
        if len(prior) == 2:
            np.subtract(1, out[:, 0], out=out[:, 1])
        else:
            out[:, estimated] += 1e-9 * prior[estimated]  # as `gaussian.classify_many` does
            out /= out.sum(axis=1, keepdims=True)


def kernel_tables(h, in_class, weight, starts, bandwidth, kernel="gaussian"):
    """Estimate many curves: curve k from the cases starts[k] .. starts[k + 1] - 1.

    Parameters
    ----------
    h : array-like of shape (n_cases,) or (n_cases, n_columns)
        Finite algebraic distances of the training cases, those of all curves one after the other.
        Each column has all the curves again, after those of the column before.
    in_class : array-like of the same shape
        Weight of each case if it belongs to the class, else 0.
    weight : array-like of shape (n_cases,)
        Weights; a case of weight 0 is as if absent.
    starts : array-like of int of shape (n_groups + 1,)
        First case of each curve, and the number of cases.
    bandwidth : float or array-like
        Standard deviation of the Gaussian, half width of the other kernels, in the unit of h: one
        for all curves, or broadcast to the shape (n_columns, n_groups).
    kernel : {"gaussian", "epanechnikov", "triangular", "uniform"}
        The uniform kernel is the Parzen window. Where no case is within reach the nearest decide.

    Returns
    -------
    KernelTables or WindowTables

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
            raise ValueError(f"Curve {k} has no case of positive weight; estimate it elsewhere.")
    curves = (
        (h[cases, j], in_class[cases, j], weight[cases], bandwidth[j, k])
        for j in range(shape[0])
        for k, cases in enumerate(groups)
    )
    return _find_kernel(kernel).tabulate(curves)


def choose_bandwidth(h, in_class, weight, starts, candidates, kernel="gaussian"):
    """Bandwidth of the least weighted log-loss when each case is estimated from the others.

    One bandwidth for all curves. Of a curve of more than 5000 cases, 5000 at even steps in the
    order of h stand for it. Probabilities are clipped to 1e-6; of equal losses the first candidate
    wins.

    Parameters
    ----------
    h, in_class, weight, starts, kernel
        As in `kernel_tables`.
    candidates : array-like of float
        Bandwidths to compare, in the unit of h.

    Returns
    -------
    float

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
            continue  # nothing is left to estimate the only case from
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


def _check_rows(curve, h, n_curves):
    h = np.ascontiguousarray(h, float)
    curve = np.ascontiguousarray(curve, np.int64)
    if len(curve) and not 0 <= curve.min() <= curve.max() < n_curves:
        raise ValueError(f"curve must lie between 0 and {n_curves - 1}.")
    return curve, h


def _tabulate_gaussian(curves):
    axis, cells, piece, coefficient = [], [0], [np.zeros(1, np.int64)], []
    for h, in_class, weight, bandwidth in curves:
        runs, _ = _gather_runs(h, in_class, weight, bandwidth)
        left, middle, right = _measure_axis(runs, bandwidth)
        first = np.empty(left + middle + right + 1, np.int64)
        cubics = gaussian.tabulate_curve(runs, bandwidth, left, middle, right, first)
        first, cubics, even = _even_pieces(first, cubics[: first[-1]], left, middle)
        short_cut = (middle, even, piece[-1][-1] + first[left]) if even else (0, 0, 0)
        scale = (runs[0, 0], 1 / bandwidth, left, middle, np.nextafter(len(first) - 1, 0))
        axis.append((*scale, *short_cut))
        coefficient.append(cubics)
        cells.append(len(first) - 1)
        piece.append(first[1:] + piece[-1][-1])
    tables = (np.array(axis), np.cumsum(cells), np.concatenate(piece), np.concatenate(coefficient))
    return KernelTables(*tables)


def _even_pieces(first, cubics, left, middle):
    """Cut the cells in the middle into equally many pieces, the same cubics, if they stay few.

    Returns the first piece of each cell, the pieces, and how many a cell in the middle has (0 if
    they would be too many). Numbers of pieces are powers of two, so they divide each other.
    """
    number = np.diff(first)
    even = int(number[left : left + middle].max())
    if middle * even > MOST_EVEN:
        return first, cubics, 0
    parts = np.ones(len(number), np.int64)
    parts[left : left + middle] = even // number[left : left + middle]
    repeat = np.repeat(parts, number)
    old = np.repeat(np.arange(len(cubics)), repeat)
    c0, c1, c2, c3 = cubics[old].astype(float).T
    width = 1 / repeat[old]
    ends = np.cumsum(repeat)
    y = (np.arange(len(old)) - np.repeat(ends - repeat, repeat)) * width
    moved = (
        c0 + y * (c1 + y * (c2 + y * c3)),
        width * (c1 + y * (2 * c2 + 3 * y * c3)),
        width**2 * (c2 + 3 * y * c3),
        width**3 * c3,
    )
    first = np.concatenate([[0], np.cumsum(number * parts)])
    return first, np.column_stack(moved).astype(np.float32), even


def _gather_runs(h, in_class, weight, bandwidth):
    """Sorted runs of cases, and the run of each row that was merged."""
    cells = (h.max() - h.min()) / bandwidth
    if cells > MOST_CELLS:
        raise ValueError(
            f"bandwidth {bandwidth} is below 1/{MOST_CELLS} of the range of h; choose a larger one."
        )
    if len(h) > max(BUCKET_FROM, cells / BUCKET):
        runs = _condense_inside(h, in_class, weight, bandwidth)
    else:
        runs = _as_runs(h, in_class, weight)
    runs = runs[np.argsort(runs[:, 0])]
    member = np.empty(len(runs), np.int64)
    return runs[: gaussian.merge_close(runs, bandwidth, member)], member


def _as_runs(h, in_class, weight):
    runs = np.zeros((len(h), 7))
    runs[:, 0], runs[:, 1], runs[:, 4] = h, weight, in_class
    return runs


def _condense_inside(h, in_class, weight, bandwidth):
    """One run per bucket deep inside the data, one per case elsewhere, in no order."""
    low, width = h.min(), BUCKET * bandwidth
    bucket = np.empty(len(h), np.int64)
    sums = np.zeros((int((h.max() - low) / width) + 1, 7))  # as runs; the first column counts cases
    gaussian.fill_buckets(h, in_class, weight, low, width, BUCKET, bucket, sums)
    deep = _find_deep_buckets(np.flatnonzero(sums[:, 0]))
    runs = sums[deep]
    runs[:, 0] = low + (deep + 0.5) * width
    is_raw = np.ones(len(sums), bool)
    is_raw[deep] = False
    raw = np.flatnonzero(is_raw[bucket])
    return np.concatenate([runs, _as_runs(h[raw], in_class[raw], weight[raw])])


def _find_deep_buckets(occupied):
    """Those so far from a gap of half a bandwidth that runs there are wider than three buckets."""
    margin, gap = 3 / gaussian.GRADING, 0.5 / BUCKET
    wide = np.diff(occupied) > gap
    stretch = np.concatenate([[0], np.cumsum(wide)])
    first, last = occupied[np.r_[True, wide]], occupied[np.r_[wide, True]]
    inside = (occupied - first[stretch] > margin) & (last[stretch] - occupied > margin)
    return occupied[inside]


def _measure_axis(runs, bandwidth):
    """Cells left of the cases, across them, and right of them; one for a constant."""
    share = runs[:, 4] / runs[:, 1]
    if share.min() == share.max():
        return 0, 1, 0
    left, right = (_measure_tail(runs[::way], share[::way], bandwidth) for way in (1, -1))
    return left, int(np.ceil((runs[-1, 0] - runs[0, 0]) / bandwidth)), right


def _measure_tail(runs, share, bandwidth):
    """Cells until no case counts but the extreme ones of equal share."""
    other = int(np.argmax(share != share[0]))
    depth = (1 - gaussian.GRADING) * abs(runs[other, 0] - runs[0, 0]) / bandwidth
    excess = np.log(runs[:, 1].sum() / runs[0, 1] / gaussian.NEGLIGIBLE) - depth * depth / 2
    # The floor keeps the squares of distances in the tail finite.
    return int(np.ceil(np.log1p(max(excess, 0) / max(depth, 1e-140))))


def _leave_out_gaussian(h, in_class, weight, bandwidth):
    runs, member = _gather_runs(h, in_class, weight, bandwidth)
    out = np.empty(len(h))
    gaussian.leave_out_gaussian(h, in_class, weight, runs, member, bandwidth, out)
    return out


def _tabulate_window(curves, coefficient):
    start, reaches, columns = [0], [], []
    for h, in_class, weight, reach in curves:
        distinct, place = np.unique(h, return_inverse=True)
        mass = np.column_stack([np.bincount(place, w) for w in (weight, in_class)])
        anchor, moments = np.empty(len(distinct), np.int64), np.empty((len(distinct), 6))
        window.sum_moments(distinct, mass, reach, anchor, moments)
        columns.append((distinct, mass, anchor + start[-1], moments))
        start.append(start[-1] + len(distinct))
        reaches.append(reach)
    flat = (np.concatenate(column) for column in zip(*columns, strict=True))
    return WindowTables(np.array(start), *flat, np.array(reaches), coefficient)


def _leave_out_window(h, in_class, weight, reach, coefficient):
    out = np.empty(len(h))
    window.leave_out_window(h, np.column_stack([weight, in_class]), reach, coefficient, out)
    return out


@dataclass(frozen=True)
class _Kernel:
    tabulate: object
    leave_out: object


KERNELS = {"gaussian": _Kernel(_tabulate_gaussian, _leave_out_gaussian)} | {
    name: _Kernel(
        partial(_tabulate_window, coefficient=c), partial(_leave_out_window, coefficient=c)
    )
    for name, c in WINDOWS.items()
}


def _find_kernel(name):
    if name not in KERNELS:
        raise ValueError(f"kernel must be one of {sorted(KERNELS)}, got {name!r}.")
    return KERNELS[name]
