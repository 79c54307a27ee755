"""The kernel expert: what became of training cases like this one, by the attributes the tree tests.

A Nadaraya-Watson estimate. Its cost per row does not grow with the sample: beyond a cap, cases of a
class that lie close together are merged into landmarks.
"""

import heapq
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from keeptree.geometry.metric import Metric
from keeptree.tree import LEAF

MOST_LANDMARKS = 1024
_FLATNESS = 64.0  # the bell (1 - u / 64)^64 is nearly exp(-u), u = d² / (2 bandwidth²)
_WIDTHS = tuple(0.04 * 1.6**j for j in range(8))  # of the spread of the sample
_FINER = (0.8, 1.0, 1.25)  # tried around the best of them
_POWERS = (0.0, 0.25, 0.5, 1.0)
_MIDDLE = 0.25  # power by which landmarks are formed before one is chosen
_PSEUDO_CASES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
_MOST_LEFT_OUT = 2048  # cases that judge a bandwidth
_CATEGORY_CASES = 5.0  # at the prior, in the class shares of a category
_LEAST_IMPORTANCE = 1e-4
_FAR = 1e100  # as in keeptree._kernels.landmarks


class Settings(NamedTuple):
    """What leave-one-out log-loss chooses.

    The bandwidth as a share of the spread of the sample, the power of an attribute's importance
    that stretches its axis, and the pseudo-cases at the prior that every case has near it.
    """

    width: float
    power: float
    pseudo_cases: float


@dataclass(frozen=True, eq=False)
class KernelExpert:
    """Landmarks in scaled coordinates; a bell of their distance is what each of them counts.

    Coordinates are differences from ``center`` times ``factor`` (a nominal attribute: an entry of
    ``table``), in units in which the bell ends at distance 1.
    """

    feature: np.ndarray
    center: np.ndarray
    factor: np.ndarray
    table_start: np.ndarray
    table: np.ndarray
    landmarks: np.ndarray
    mass: np.ndarray
    class_start: np.ndarray
    prior: np.ndarray
    bandwidth: float
    width: float
    power: float
    pseudo_cases: float

    @property
    def settings(self):
        """Width, power and pseudo-cases, for the same expert on another sample."""
        return Settings(self.width, self.power, self.pseudo_cases)

    def probability(self, X, out):
        """Fill ``out`` with the class probabilities of the rows of an encoded matrix."""
        self._sum(X, out)
        out += self.pseudo_cases * self.prior
        out /= out.sum(axis=1, keepdims=True)

    def _sum(self, X, out):
        from keeptree._kernels.landmarks import weigh_landmarks

        weigh_landmarks(
            X,
            self.feature,
            np.vstack([self.center, self.factor]),
            self.table_start,
            self.table,
            self.landmarks,
            self.mass,
            self.class_start,
            out,
        )


def fit_kernel(tree, X, y, weight, settings=None, most=MOST_LANDMARKS):
    """Choose landmarks, metric and bandwidth from an encoded training sample.

    Parameters
    ----------
    tree : Tree
        The attributes it tests are compared, each by its importance to a power.
    X, y, weight : ndarray
        Encoded matrix, class codes and weights.
    settings : Settings, optional
        Default: those of the least leave-one-out log-loss.
    most : int
        Number of landmarks that is not exceeded.

    Returns
    -------
    expert : KernelExpert
    """
    used = weight > 0
    if not used.all():
        X, y, weight = X[used], y[used], weight[used]
    weight = weight / weight.mean()
    space = _embed(tree, X, y, weight)
    points = _coordinates(space, X)
    scaled = points * space.sizes(_MIDDLE if settings is None else settings.power)
    member, n_of_class = condense(scaled, y, len(tree.classes), most)
    landmarks, mass = _centres(points, weight, member, int(n_of_class.sum()))
    cloud = _Cloud(space, landmarks, mass, np.append(0, np.cumsum(n_of_class)))
    if settings is None:
        settings = _choose(cloud, X, y, weight, member)
    return cloud.expert(settings)


def condense(points, y, n_classes, most):
    """Divide the cases of each class into cells of like ones, at most ``most`` in all.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Coordinates; NaN where missing.
    y : ndarray of shape (n,)
        Class codes.
    n_classes, most : int
        Number of classes and of cells.

    Returns
    -------
    member : ndarray of shape (n,)
        Cell of each case; the cells of the first class come first.
    n_of_class : ndarray of shape (n_classes,)
        Cells of each class.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1], [0.0]])
    >>> member, n_of_class = condense(points, np.array([0, 0, 0, 0, 1]), n_classes=2, most=3)
    >>> member.tolist(), n_of_class.tolist()
    ([0, 0, 1, 1, 2], [2, 1])
    """
    n_of_class = _quotas(np.bincount(y, minlength=n_classes), most)
    member = np.empty(len(y), dtype=np.int64)
    first = 0
    for c in range(n_classes):
        cells = _cells(points, np.flatnonzero(y == c), n_of_class[c])
        for cell, part in enumerate(cells):
            member[part] = first + cell
        n_of_class[c] = len(cells)  # fewer if cases are equal
        first += len(cells)
    return member, n_of_class


@dataclass(frozen=True, eq=False)
class _Space:
    """How the columns the tree tests become coordinates of spread 1.

    A nominal attribute becomes the class shares of its categories (value difference, Stanfill and
    Waltz 1986): ``table[table_start[k]:table_start[k + 1]]``, empty for a numeric one.
    """

    feature: np.ndarray
    center: np.ndarray
    factor: np.ndarray
    table_start: np.ndarray
    table: np.ndarray
    importance: np.ndarray
    prior: np.ndarray

    def sizes(self, power):
        """What each coordinate is multiplied by for a power of the importance."""
        return self.importance**power


@dataclass(frozen=True, eq=False)
class _Cloud:
    """Landmarks in coordinates of spread 1: an expert but for metric and bandwidth."""

    space: _Space
    landmarks: np.ndarray
    mass: np.ndarray
    class_start: np.ndarray

    def expert(self, settings):
        space, sizes = self.space, self.space.sizes(settings.power)
        bandwidth = settings.width * np.sqrt((sizes**2).sum())
        sizes = sizes / (bandwidth * np.sqrt(2 * _FLATNESS)) if len(sizes) else sizes
        pad = -len(sizes) % 4  # the kernel reads four coordinates at once
        start = space.table_start
        return KernelExpert(
            feature=np.pad(space.feature, (0, pad), constant_values=-1),
            center=np.pad(space.center, (0, pad)),
            factor=np.pad(space.factor * sizes, (0, pad)),
            table_start=np.pad(start, (0, pad), mode="edge"),
            table=space.table * np.repeat(sizes, np.diff(start)),
            landmarks=np.pad(self.landmarks * sizes, ((0, 0), (0, pad))),
            mass=self.mass,
            class_start=self.class_start,
            prior=space.prior,
            bandwidth=float(bandwidth),
            width=float(settings.width),
            power=float(settings.power),
            pseudo_cases=float(settings.pseudo_cases),
        )


def _coordinates(frame, X):
    """Coordinates of encoded rows in the frame of a space or an expert; NaN where missing."""
    points = np.zeros((len(X), len(frame.feature)))
    for k, f in enumerate(frame.feature):
        table = frame.table[frame.table_start[k] : frame.table_start[k + 1]]
        if len(table):
            codes = np.where(np.isnan(X[:, f]), len(table), X[:, f]).astype(np.int64)
            points[:, k] = np.append(table, np.nan)[codes]
        elif f >= 0:
            points[:, k] = (X[:, f] - frame.center[k]) * frame.factor[k]
    return np.clip(points, -_FAR, _FAR)


def _embed(tree, X, y, weight):
    """Coordinates of the columns that the tree tests."""
    n_classes = len(tree.classes)
    prior = np.bincount(y, weight, minlength=n_classes) / weight.sum()
    metric = Metric().fit(X, tree, sample_weight=weight)
    importance = importances(tree)
    parts = []
    for f in np.flatnonzero(importance > 0):
        if tree.categories[f] is None:
            parts.append((f, metric.center_[f], metric.factor_[f], np.empty(0)))
            continue
        shares = _category_shares(X[:, f], y, weight, prior, len(tree.categories[f]))
        parts += [(f, 0.0, 1.0, column) for column in shares.T]
    feature = np.array([f for f, *_ in parts], dtype=np.int64)
    return _Space(
        feature=feature,
        center=np.array([center for _, center, _, _ in parts]),
        factor=np.array([factor for _, _, factor, _ in parts]),
        table_start=np.cumsum([0, *(len(table) for *_, table in parts)]),
        table=np.concatenate([np.empty(0), *(table for *_, table in parts)]),
        importance=importance[feature],
        prior=prior,
    )


def importances(tree):
    """Decrease of the Gini impurity by the tests on each column, the largest being 1.

    A column that is tested without any decrease keeps a little: the tree does use it.
    """
    total = np.maximum(tree.weight, 1e-300)
    impurity = total - (tree.counts**2).sum(axis=1) / total
    decrease = np.zeros(tree.n_features)
    inner = np.flatnonzero(tree.kind != LEAF)
    np.add.at(decrease, tree.feature[inner], impurity[inner])
    below = np.flatnonzero(tree.parent >= 0)
    np.add.at(decrease, tree.feature[tree.parent[below]], -impurity[below])
    tested = np.isin(np.arange(tree.n_features), tree.feature[inner])
    largest = decrease.max(initial=0.0)
    relative = decrease / largest if largest > 0 else tested.astype(float)
    return np.where(tested, np.maximum(relative, _LEAST_IMPORTANCE), 0.0)


def _category_shares(codes, y, weight, prior, n_categories):
    """Class shares of each category, some cases at the prior added, their spread being 1.

    With two classes the share of the second says it all.
    """
    known = ~np.isnan(codes)
    codes = codes[known].astype(np.int64)
    counts = np.zeros((n_categories, len(prior)))
    np.add.at(counts, (codes, y[known]), weight[known])
    size = counts.sum(axis=1, keepdims=True)
    shares = (counts + _CATEGORY_CASES * prior) / (size + _CATEGORY_CASES)
    shares = shares[:, 1:] if len(prior) == 2 else shares
    share_of = size / max(size.sum(), 1e-300)
    mean = (share_of * shares).sum(axis=0)
    spread = np.sqrt((share_of * (shares - mean) ** 2).sum())
    return (shares - mean) / (spread if spread > 1e-12 else 1.0)


def _quotas(n_of_class, most):
    """Landmarks of each class: all cases if they are few, else by size, a small class more."""
    if n_of_class.sum() <= most:
        return n_of_class
    present = np.count_nonzero(n_of_class)
    floor = np.minimum(n_of_class, max(most // (2 * present), 1))
    rest = n_of_class - floor
    return floor + rest * max(most - floor.sum(), 0) // max(rest.sum(), 1)


def _cells(points, rows, n_cells):
    """Divide the cell of the largest sum of squares, across its widest coordinate, repeatedly."""
    if n_cells == len(rows):
        return list(rows[:, None])
    cells, heap = [rows], [(*_widest(points[rows]), 0)]
    while len(cells) < n_cells and heap[0][0] < 0:
        _, column, at, number = heapq.heappop(heap)
        part = cells[number]
        above = points[part, column] > at  # a missing value stays with the smaller ones
        cells[number] = part[~above]
        cells.append(part[above])
        for new in (number, len(cells) - 1):
            heapq.heappush(heap, (*_widest(points[cells[new]]), new))
    return cells


def _widest(points):
    """Minus the sum of squares of a cell, its widest coordinate and where to divide it.

    The sum is 0 for equal cases, which cannot be divided.
    """
    if points.shape[1] == 0:
        return 0.0, 0, 0.0
    known = ~np.isnan(points)
    values = np.where(known, points, 0.0)
    mean = values.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    squares = (np.where(known, points - mean, 0.0) ** 2).sum(axis=0)
    column = int(np.argmax(squares))
    if squares[column] == 0:
        return 0.0, 0, 0.0
    low, high = np.nanmin(points[:, column]), np.nanmax(points[:, column])
    if not low < high:
        return 0.0, 0, 0.0
    # Rounding may put the mean on the largest value; then nothing would lie above it.
    return -float(squares.sum()), column, float(mean[column] if mean[column] < high else low)


def _centres(points, weight, member, n_cells):
    """Weighted mean of the known values of each cell, and its weight."""
    mass = np.bincount(member, weight, minlength=n_cells)
    centres = np.empty((n_cells, points.shape[1]))
    for k in range(points.shape[1]):
        known = ~np.isnan(points[:, k])
        part, at = weight[known], member[known]
        size = np.bincount(at, part, minlength=n_cells)
        total = np.bincount(at, part * points[known, k], minlength=n_cells)
        with np.errstate(invalid="ignore"):
            centres[:, k] = total / size
    return centres, mass


def _choose(cloud, X, y, weight, member):
    """Settings of the least leave-one-out log-loss."""
    order = np.argsort(y, kind="stable")
    rows = np.sort(order[:: -(-len(y) // _MOST_LEFT_OUT)])
    sample = X[rows], y[rows], weight[rows], member[rows]
    best = _best(cloud, product(_WIDTHS, _POWERS), sample)
    return _best(cloud, ((best.width * finer, best.power) for finer in _FINER), sample)


def _best(cloud, pairs, sample):
    losses = {}
    for width, power in pairs:
        expert = cloud.expert(Settings(width, power, 0.0))
        sums = leave_one_out(expert, *sample)
        for cases in _PSEUDO_CASES:
            losses[Settings(width, power, cases)] = _loss(sums, cases * expert.prior, sample)
    return min(losses, key=losses.get)


def _loss(sums, pseudo, sample):
    _, y, weight, _ = sample
    assigned = (sums[np.arange(len(y)), y] + pseudo[y]) / (sums.sum(axis=1) + pseudo.sum())
    return -(weight * np.log(np.maximum(assigned, 1e-300))).sum()


def leave_one_out(expert, X, y, weight, member):
    """Class sums at training cases from all the others.

    A case alone in its cell takes its landmark away with it; else the landmark moves to the mean
    of those that stay, away from the case by the factor mass / (mass - weight).
    """
    out = np.empty((len(X), len(expert.prior)))
    expert._sum(X, out)
    gap = _coordinates(expert, X) - expert.landmarks[member]
    squared = np.nansum(gap * gap, axis=1)
    mass = expert.mass[member]
    rest = np.maximum(mass - weight, 0.0)
    rest[rest < 1e-9 * mass] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        away = squared * (mass / rest) ** 2
    own = np.arange(len(X)), y
    out[own] = np.maximum(out[own] + rest * bell(away) - mass * bell(squared), 0.0)
    return out


def bell(squared):
    """(1 - d²)^64 inside distance 1, nearly exp(-64 d²)."""
    return np.fmax(1.0 - squared, 0.0) ** _FLATNESS
