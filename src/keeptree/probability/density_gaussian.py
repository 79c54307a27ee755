"""Ratios of Gaussian kernel sums, tabulated as piecewise cubics."""

from dataclasses import dataclass

import numpy as np

from keeptree._compiled import density as gaussian
from keeptree.savable import expect, expect_array, expect_starts, saved_part

# Sorting dominates the cost of a large curve, so cases deep inside the data are put into buckets
# instead.
BUCKET_FROM = 20_000
BUCKET = gaussian.RUN / 8  # width of a bucket in bandwidths
MOST_CELLS = 1 << 16
MOST_EVEN = 4096  # maximum number of pieces (64 kB), so that the table of a curve fits in the cache


@saved_part
@dataclass(frozen=True)
class KernelTables:
    """Many Gaussian curves as piecewise cubics in flat arrays, within 1e-4 of the exact ratio.

    Curve k has the cells ``cell[k]`` to ``cell[k + 1] - 1`` along an axis. The ``middle`` cells,
    which begin at the first case, are one bandwidth wide. On either side of them, each cell is
    wider than the one before by a factor of e, until the limit of the curve is reached. Cell i is
    divided into the equal pieces ``piece[i]`` to ``piece[i + 1] - 1``. A smooth part of the curve
    needs few pieces, but a jump in a wide gap between two cases needs thousands.

    Attributes
    ----------
    axis : ndarray of shape (n_curves, 8)
        Origin, 1 / bandwidth, number of cells left of the origin, ``middle``, and the largest float
        below the number of cells. Then a shortcut for curves whose middle cells all have the same
        number of pieces: ``middle`` again (otherwise 0), that number, and the first piece.
    cell : int64 ndarray of shape (n_curves + 1,)
        First cell of each curve.
    piece : int64 ndarray of shape (n_cells + 1,)
        First piece of each cell.
    coefficient : float32 ndarray of shape (n_pieces, 4)
        Coefficients of 1, y, y², y³, where y in [0, 1] is the position in the piece.
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
        """Return the share of the class at each h, on the curve given for each row.

        Parameters
        ----------
        curve : array-like of int
            Curve of each row.
        h : array-like of float32 or float64
            Distances; infinite ones give the limit, NaN gives NaN.

        Returns
        -------
        ndarray of float64 in [0, 1]
            Share of the class at each h.
        """
        curve, h = check_curves(curve, h, len(self.axis))
        out = np.empty(len(h))
        gaussian.lookup_rows(curve, h, self._arrays, out)
        return out

    def classify(self, curve, h, estimated, prior, out):
        """Fill in class probabilities; the curves are ordered by estimated class.

        Parameters
        ----------
        curve : int64 ndarray of shape (n,) or (1,)
            Curve of each row, or one curve for all rows, counted within a class. It is not checked.
        h : float32 ndarray of shape (n, n_classes), or (n, 1) for two classes
            Distances, without NaN.
        estimated : int64 ndarray
            Classes that have curves; the others keep their prior. With two classes, only the first.
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


def check_curves(curve, h, n_curves):
    """Return the curves and distances of rows as the compiled functions read them."""
    h = np.ascontiguousarray(h, float)
    curve = np.ascontiguousarray(curve, np.int64)
    if len(curve) and not 0 <= curve.min() <= curve.max() < n_curves:
        raise ValueError(f"curve must lie between 0 and {n_curves - 1}.")
    return curve, h


def tabulate_gaussian(curves):
    """Return the tables of curves given as (h, in_class, weight, bandwidth)."""
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
    """Divide the middle cells into equally many pieces, if that number stays small.

    The curve does not change. Returns the first piece of each cell, the coefficients of the pieces,
    and the number of pieces of a middle cell (0 if there would be too many). Numbers of pieces are
    powers of two, so each divides the larger ones.
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
    """Return sorted runs of close cases, and the run of each row that was merged."""
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
    """Return one run per bucket deep inside the data and one per case elsewhere, unsorted."""
    low, width = h.min(), BUCKET * bandwidth
    bucket = np.empty(len(h), np.int64)
    # Columns as in runs, but the first counts cases.
    sums = np.zeros((int((h.max() - low) / width) + 1, 7))
    gaussian.fill_buckets(h, in_class, weight, low, width, BUCKET, bucket, sums)
    deep = _find_deep_buckets(np.flatnonzero(sums[:, 0]))
    runs = sums[deep]
    runs[:, 0] = low + (deep + 0.5) * width
    is_raw = np.ones(len(sums), bool)
    is_raw[deep] = False
    raw = np.flatnonzero(is_raw[bucket])
    return np.concatenate([runs, _as_runs(h[raw], in_class[raw], weight[raw])])


def _find_deep_buckets(occupied):
    """Return the buckets that are far enough from gaps in the data for wide runs.

    A gap is wider than half a bandwidth; a run may grow with its distance from the next gap.
    """
    margin, gap = 3 / gaussian.GRADING, 0.5 / BUCKET
    wide = np.diff(occupied) > gap
    stretch = np.concatenate([[0], np.cumsum(wide)])
    first, last = occupied[np.r_[True, wide]], occupied[np.r_[wide, True]]
    inside = (occupied - first[stretch] > margin) & (last[stretch] - occupied > margin)
    return occupied[inside]


def _measure_axis(runs, bandwidth):
    """Return the number of cells left of, across and right of the cases."""
    share = runs[:, 4] / runs[:, 1]
    if share.min() == share.max():
        return 0, 1, 0
    left, right = (_measure_tail(runs[::way], share[::way], bandwidth) for way in (1, -1))
    return left, int(np.ceil((runs[-1, 0] - runs[0, 0]) / bandwidth)), right


def _measure_tail(runs, share, bandwidth):
    """Return the number of cells until only the outermost cases matter."""
    other = int(np.argmax(share != share[0]))
    depth = (1 - gaussian.GRADING) * abs(runs[other, 0] - runs[0, 0]) / bandwidth
    excess = np.log(runs[:, 1].sum() / runs[0, 1] / gaussian.NEGLIGIBLE) - depth * depth / 2
    # The lower limit keeps the squares of distances in the tail finite.
    return int(np.ceil(np.log1p(max(excess, 0) / max(depth, 1e-140))))


def leave_out_gaussian(h, in_class, weight, bandwidth):
    """Return the share of the class at each case, estimated from the other cases."""
    runs, member = _gather_runs(h, in_class, weight, bandwidth)
    out = np.empty(len(h))
    gaussian.leave_out_gaussian(h, in_class, weight, runs, member, bandwidth, out)
    return out
