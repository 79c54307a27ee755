"""The kernel expert: the classes of similar training cases.

This is a Nadaraya-Watson estimate. Its cost per row does not grow with the sample: beyond a limit,
nearby cases of a class are merged into landmarks.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from keeptree._compiled.landmarks import FEW, Landmarks, weigh_landmarks
from keeptree.data.sample import stratified_part
from keeptree.probability.condense import centres, condense, padded
from keeptree.probability.kernel_metric import Comparison, learn_stretch, some_cases
from keeptree.probability.kernel_space import KernelSpace, embed
from keeptree.probability.soft_tests import SCALES
from keeptree.progress import step
from keeptree.savable import (
    expect,
    expect_array,
    expect_number,
    expect_probabilities,
    expect_starts,
    saved_part,
)
from keeptree.tree import NUMERIC

MOST_LANDMARKS = 3072
_FLATNESS = 64.0  # the bell (1 - u / 64)^64 is nearly exp(-u), u = d / bandwidth
_WIDTHS = tuple(0.02 * 1.6**j for j in range(8))  # shares of the spread of the sample
_FINER = (0.8, 1.0, 1.25)  # factors tried around the best width
_POWERS = (0.0, 0.25, 0.5, 1.0)
_MIDDLE = 0.25  # power used to form landmarks, before a power is chosen
LAPLACE, GAUSSIAN = "laplace", "gaussian"  # shapes of the bell in one coordinate
_NEIGHBOUR = 10  # the distance to this neighbour measures the density around a landmark
_MOST_SHARP = 4.0  # local bandwidths are between a quarter and four times the chosen one
_CHUNK = 512  # landmarks whose distances are held in memory at once
_PSEUDO_CASES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
_FEWEST_STRETCHED = 300  # cases
_MOST_LEFT_OUT = 2048  # cases used to compare settings


class KernelSettings(NamedTuple):
    """Settings chosen by leave-one-out log-loss.

    They are the bandwidth as a share of the spread of the sample, the power of an attribute's
    importance that scales its axis, the number of pseudo-cases with the prior's class shares, and
    the scale of numeric attributes.
    """

    width: float
    power: float
    pseudo_cases: float
    scale: str = SCALES[0]


@saved_part
@dataclass(frozen=True, eq=False)
class KernelExpert:
    """Landmarks of each class, weighted by a bell-shaped function of the distance.

    Landmarks are given in the coordinates of ``space``, padded with zeros to a multiple of four;
    those of class c are at ``class_start[c]:class_start[c + 1]``. ``sharpness`` multiplies the
    distance from each landmark, the sum of the absolute differences of the coordinates if ``shape``
    is "laplace", and of their squares if it is "gaussian", as in older models. ``mass`` is the
    weight of the training cases it represents, divided by the mean weight.
    """

    space: KernelSpace
    landmarks: np.ndarray
    sharpness: np.ndarray
    mass: np.ndarray
    class_start: np.ndarray
    prior: np.ndarray
    bandwidth: float
    width: float
    power: float
    pseudo_cases: float
    shape: str = GAUSSIAN  # older files have none

    @property
    def settings(self):
        """Settings for fitting the same expert on another sample."""
        return KernelSettings(self.width, self.power, self.pseudo_cases, self.space.scale)

    def probability(self, X, out):
        """Fill ``out`` with the class probabilities of the rows of an encoded matrix."""
        self._sum(X, out)
        out += self.pseudo_cases * self.prior
        out /= out.sum(axis=1, keepdims=True)

    def similar_cases(self, X, out):
        """Fill ``out`` with the effective number of training cases that each row is compared with.

        This is Kish's (Σ w)² / Σ w² over the weights w of the cases: the number of equally weighted
        cases whose mean would have the same variance. It is multiplied by the cases' share of the
        total weight including the pseudo-cases, so that it is 0 far from all cases.
        """
        sums, squares = np.empty((2, len(X), len(self.prior)))
        self._sum(X, sums)
        self._squared._sum(X, squares)
        total, square = sums.sum(axis=1), squares.sum(axis=1)
        out[:] = 0.0
        near = square > 0
        weight = total[near] / (total[near] + self.pseudo_cases)
        out[near] = weight * total[near] ** 2 / square[near]

    def check(self, tree):
        """Raise a ValueError if the content of a file does not fit the tree."""
        expect(isinstance(self.space, KernelSpace), "the kernel expert has no space")
        self.space.check(tree)
        n, width = len(self.mass), -(-len(self.space.feature) // 4) * 4
        expect_array(self.prior, "prior", np.float64, (len(tree.classes),))
        expect_array(self.sharpness, "sharpness", np.float32, (n,))
        expect_array(self.mass, "mass", np.float32, (n,))
        expect_array(self.landmarks, "landmarks", np.float32, (n, width), finite=False)
        expect(not np.isinf(self.landmarks).any(), "a landmark is infinite")
        expect_array(self.class_start, "class_start", np.int64, (len(tree.classes) + 1,))
        expect_starts(self.class_start, "class_start", n)
        expect_probabilities(self.prior[None], "prior", (1, len(self.prior)))
        known = isinstance(self.shape, str) and self.shape in (LAPLACE, GAUSSIAN)
        expect(known, "the kernel expert has an unknown shape")
        for name in ("bandwidth", "width", "power", "pseudo_cases"):
            expect_number(getattr(self, name), name)
        weighs = (self.sharpness > 0).all() and (self.mass >= 0).all() and self.pseudo_cases > 0
        expect(weighs, "sharpness and pseudo_cases must be positive, mass not negative")

    def _sum(self, X, out):
        columns = self._columns if len(X) <= FEW else self.landmarks[:0]
        shape = self.shape == LAPLACE
        cloud = Landmarks(
            self.landmarks, columns, self.sharpness, self.mass, self.class_start, shape
        )
        weigh_landmarks(X, self.space.arrays, cloud, out)

    @cached_property
    def _squared(self):
        """The expert with squared kernel weights, nearly those of twice the sharpness."""
        return replace(self, sharpness=2 * self.sharpness)

    @cached_property
    def _columns(self):
        """The transposed landmarks, used to score a few rows."""
        return np.ascontiguousarray(self.landmarks.T)


@step("Learning from similar cases")
def fit_kernel(sample, settings=None, most=MOST_LANDMARKS):
    """Choose landmarks, metric and bandwidth from a training sample.

    Parameters
    ----------
    sample : Sample
        The training sample. The attributes that its tree tests are compared, and those that
        ``sample.more`` adds.
    settings : KernelSettings, optional
        Default: those with the lowest leave-one-out log-loss.
    most : int
        Maximum number of landmarks.

    Returns
    -------
    expert : KernelExpert
    """
    if settings is not None:
        found = _cloud(sample, settings.scale, settings.power, most)
        return _fitted(sample, most, *found, settings)
    numeric = (sample.tree.kind == NUMERIC).any() or sample.more != "tree"
    scales = SCALES if numeric else SCALES[:1]
    if len(sample) > most and len(scales) > 1:
        scales = (_choose_scale(sample.take(stratified_part(sample.y, most)), scales, most),)
    tried = {}
    for scale in scales:
        cloud, judges = _cloud(sample, scale, _MIDDLE, most)
        chosen, loss = _choose(cloud, judges)
        tried[loss] = cloud, judges, chosen
    return _fitted(sample, most, *tried[min(tried)])


def _fitted(sample, most, cloud, judges, settings):
    """Return the expert, with stretched axes if it may read columns that the tree does not test.

    Where landmarks are means of cases, and in small samples, axes keep the sizes that they are
    given: there, stretching gained nothing on the development sets.
    """
    if sample.more == "tree" or not _FEWEST_STRETCHED <= len(sample.present) <= most:
        return cloud.expert(settings)
    return cloud.expert(settings, _stretch(cloud, judges, settings))


def _stretch(cloud, judges, settings):
    """Return the factors of the axes that :mod:`keeptree.probability.kernel_metric` learns."""
    sizes = _FLATNESS * cloud.sizes(settings)
    rows = some_cases(len(judges.y), len(sizes), len(cloud.mass))
    y, left_out, member = judges.y[rows], judges.left_out[rows], judges.member[rows]
    places = (cloud.space.coordinates(judges.X[rows]) * sizes).T.astype(np.float32)
    landmarks = (cloud.landmarks * sizes).T.astype(np.float32)
    gaps = np.abs(places[:, :, None] - landmarks[:, None]) * cloud.sharpness
    mass = np.tile(cloud.mass, (len(rows), 1))
    own = np.arange(len(rows)), member
    mass[own] = np.maximum(mass[own] - left_out, 0)
    of_landmark = np.repeat(np.arange(len(cloud.prior)), np.diff(cloud.class_start))
    weight = judges.weight[rows] ** 2 / left_out  # copies of a case are one piece of evidence
    return learn_stretch(
        Comparison(
            gaps=np.nan_to_num(gaps),
            mass=mass.astype(np.float32),
            own=of_landmark == y[:, None],
            weight=weight * len(judges.y) / len(rows),
            pseudo=(settings.pseudo_cases * cloud.prior[y], settings.pseudo_cases),
        )
    )


def _choose_scale(part, scales, most):
    """Return the scale with the lowest leave-one-out log-loss on part of a large sample."""
    losses = {}
    for scale in scales:
        cloud, judges = _cloud(part, scale, _MIDDLE, most)
        _, losses[scale] = _best(cloud, product(_WIDTHS, (_MIDDLE,)), judges)
    return min(losses, key=losses.get)


def _cloud(sample, scale, power, most):
    """Return the landmarks of a sample on a scale, and the cases that compare settings."""
    columns, present = sample.observed.columns, sample.present
    cases = replace(present, weight=present.weight / present.weight.mean())
    space, importance, prior = embed(cases, columns, scale)
    points = space.coordinates(cases.X)
    member, n_of_class = condense(points * importance**power, cases.y, len(prior), most)
    landmarks, mass = centres(points, cases.weight, member, int(n_of_class.sum()))
    class_start = np.append(0, np.cumsum(n_of_class))
    sharpness = _sharpness(landmarks * importance**_MIDDLE, mass)
    cloud = _Cloud(space, importance, prior, landmarks, sharpness, mass, class_start)
    return cloud, _judges(cases, present.copies, member)


@dataclass(frozen=True, eq=False)
class _Cloud:
    """Landmarks in coordinates of spread 1, before settings are chosen."""

    space: KernelSpace
    importance: np.ndarray
    prior: np.ndarray
    landmarks: np.ndarray
    sharpness: np.ndarray
    mass: np.ndarray
    class_start: np.ndarray

    def bandwidth(self, settings):
        return settings.width * np.sqrt((self.importance ** (2 * settings.power)).sum())

    def sizes(self, settings):
        """Return the sizes of the axes in which the kernel is (1 - d)^64."""
        bandwidth = self.bandwidth(settings)
        return self.importance**settings.power / (_FLATNESS * (bandwidth or 1.0))

    def expert(self, settings, stretch=1.0):
        """Return the expert with these settings, its axes stretched."""
        sizes = stretch * self.sizes(settings)
        return KernelExpert(
            self.space.scaled(sizes),
            padded(self.landmarks * sizes),
            self.sharpness,
            self.mass.astype(np.float32),
            self.class_start,
            self.prior,
            float(self.bandwidth(settings)),
            *map(float, settings[:3]),
            LAPLACE,
        )


def _sharpness(places, mass):
    """Return the factors of distances: wide kernels where landmarks are sparse.

    The local bandwidth is proportional to the square root of the distance to the tenth nearest
    landmark (Abramson's square root law) and varies around the chosen bandwidth.
    """
    distance = _distance_to_neighbour(np.nan_to_num(places), _NEIGHBOUR)
    if not (distance > 0).any():
        return np.ones(len(places), dtype=np.float32)
    distance = np.maximum(distance, 1e-9 * distance.max())
    middle = np.exp(np.average(np.log(distance), weights=mass))
    return np.clip(np.sqrt(middle / distance), 1 / _MOST_SHARP, _MOST_SHARP).astype(np.float32)


def _distance_to_neighbour(places, k):
    """Return the distance to the k-th nearest other point, or to the farthest if fewer exist."""
    k = min(k, len(places) - 1)
    squares = (places**2).sum(axis=1)
    squared = np.empty(len(places))
    for start in range(0, len(places), _CHUNK):
        part = slice(start, start + _CHUNK)
        gaps = squares[part, None] + squares - 2 * places[part] @ places.T
        squared[part] = np.partition(gaps, k, axis=1)[:, k]  # the point itself is neighbour 0
    return np.sqrt(np.maximum(squared, 0.0))


class _Judges(NamedTuple):
    """Cases that compare settings: their weights, the weights left out with them, their cells."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    left_out: np.ndarray
    member: np.ndarray


def _judges(cases, copies, member):
    """Return a stratified part of the cases; a case is left out together with its copies."""
    order = np.argsort(cases.y, kind="stable")
    rows = np.sort(order[:: -(-len(cases) // _MOST_LEFT_OUT)])
    left_out = np.bincount(copies, cases.weight)[copies]
    part = cases.X, cases.y, cases.weight, left_out, member
    return _Judges(*(column[rows] for column in part))


def _choose(cloud, judges):
    """Return the settings with the lowest leave-one-out log-loss, and that loss."""
    best, _ = _best(cloud, product(_WIDTHS, _POWERS), judges)
    return _best(cloud, ((best.width * finer, best.power) for finer in _FINER), judges)


def _best(cloud, pairs, judges):
    losses = {}
    for width, power in pairs:
        expert = cloud.expert(KernelSettings(width, power, 0.0))
        sums = leave_one_out(expert, judges.X, judges.y, judges.left_out, judges.member)
        for cases in _PSEUDO_CASES:
            losses[KernelSettings(width, power, cases)] = _loss(sums, cases * expert.prior, judges)
    best = min(losses, key=losses.get)
    return best, losses[best]


def _loss(sums, pseudo, judges):
    own = np.arange(len(judges.y)), judges.y
    assigned = (sums[own] + pseudo[judges.y]) / (sums.sum(axis=1) + pseudo.sum())
    return -(judges.weight * np.log(np.maximum(assigned, 1e-300))).sum()


def leave_one_out(expert, X, y, weight, member):
    """Return the class sums at training cases, computed from all other cases.

    The landmark of a case that is alone in its cell is removed. Otherwise the landmark moves to the
    mean of the remaining cases, away from the case by the factor mass / (mass - weight).
    """
    out = np.empty((len(X), len(expert.prior)))
    expert._sum(X, out)
    gap = padded(expert.space.coordinates(X)) - expert.landmarks[member]
    distance = np.nansum(np.abs(gap), axis=1, dtype=np.float64) * expert.sharpness[member]
    mass = expert.mass[member].astype(np.float64)
    rest = np.maximum(mass - weight, 0.0)
    rest[rest < 1e-6 * mass] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        away = distance * (mass / rest)
    own = np.arange(len(X)), y
    out[own] = np.maximum(out[own] + rest * bell(away) - mass * bell(distance), 0.0)
    return out


def unseen(expert, sample, most=MOST_LANDMARKS):
    """Return leave-one-out probabilities of training cases, with their classes and weights.

    ``expert`` was fitted to ``sample`` with the same limit of landmarks, without given settings.
    """
    _, judges = _cloud(sample, expert.space.scale, _MIDDLE, most)
    p = leave_one_out(expert, judges.X, judges.y, judges.left_out, judges.member)
    p += expert.pseudo_cases * expert.prior
    return p / p.sum(axis=1, keepdims=True), judges.y, judges.weight


def bell(distance):
    """Return (1 - d)^64, nearly exp(-64 d), or 0 where it is below 2^-64."""
    return np.where(distance < 0.5, 1.0 - distance, 0.0) ** _FLATNESS
