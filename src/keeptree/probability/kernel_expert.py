"""The kernel expert: what became of training cases like this one, by the attributes the tree tests.

A Nadaraya-Watson estimate. Its cost per row does not grow with the sample: beyond a cap, cases of a
class that lie close together are merged into landmarks.
"""

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from keeptree.checks import require, require_array, require_number, require_starts
from keeptree.probability.condense import centres, condense
from keeptree.probability.kernel_space import KernelSpace, embed

MOST_LANDMARKS = 1024
_FLATNESS = 64.0  # the bell (1 - u / 64)^64 is nearly exp(-u), u = d² / (2 bandwidth²)
_WIDTHS = tuple(0.04 * 1.6**j for j in range(8))  # of the spread of the sample
_FINER = (0.8, 1.0, 1.25)  # tried around the best of them
_POWERS = (0.0, 0.25, 0.5, 1.0)
_MIDDLE = 0.25  # power by which landmarks are formed before one is chosen
_PSEUDO_CASES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
_MOST_LEFT_OUT = 2048  # cases that judge a bandwidth


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
    """Landmarks of each class, and a bell of the distance to them.

    Landmarks are in the coordinates of ``space``, whose unit is where the bell ends; those of
    class c are at ``class_start[c]:class_start[c + 1]``. ``mass`` is the weight of the training
    cases that each stands for, in mean cases.
    """

    space: KernelSpace
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

    def check(self, tree):
        """Raise a ValueError if what was read from a file does not fit the tree."""
        require(isinstance(self.space, KernelSpace), "the kernel expert has no space")
        self.space.check(tree)
        n, width = len(self.mass), len(self.space.feature)
        require_array(self.mass, "mass", np.float64, (n,))
        require_array(self.landmarks, "landmarks", np.float64, (n, width), finite=False)
        require(not np.isinf(self.landmarks).any(), "a landmark is infinite")
        require_array(self.class_start, "class_start", np.int64, (len(tree.classes) + 1,))
        require_starts(self.class_start, "class_start", n)
        require_array(self.prior, "prior", np.float64, (len(tree.classes),))
        for name in ("bandwidth", "width", "power", "pseudo_cases"):
            require_number(getattr(self, name), name)

    def _sum(self, X, out):
        from keeptree._kernels.landmarks import weigh_landmarks  # numba loads when first needed

        weigh_landmarks(X, *self.space.arrays, self.landmarks, self.mass, self.class_start, out)


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
    space, importance, prior = embed(tree, X, y, weight)
    points = space.coordinates(X)
    power = _MIDDLE if settings is None else settings.power
    member, n_of_class = condense(points * importance**power, y, len(tree.classes), most)
    landmarks, mass = centres(points, weight, member, int(n_of_class.sum()))
    class_start = np.append(0, np.cumsum(n_of_class))
    cloud = _Cloud(space, importance, prior, landmarks, mass, class_start)
    return cloud.expert(_choose(cloud, X, y, weight, member) if settings is None else settings)


@dataclass(frozen=True, eq=False)
class _Cloud:
    """Landmarks in coordinates of spread 1: an expert but for its settings."""

    space: KernelSpace
    importance: np.ndarray
    prior: np.ndarray
    landmarks: np.ndarray
    mass: np.ndarray
    class_start: np.ndarray

    def expert(self, settings):
        sizes = np.where(self.space.feature >= 0, self.importance**settings.power, 0.0)
        bandwidth = settings.width * np.sqrt((sizes**2).sum())
        if bandwidth > 0:
            sizes = sizes / (bandwidth * np.sqrt(2 * _FLATNESS))
        return KernelExpert(
            self.space.scaled(sizes),
            self.landmarks * sizes,
            self.mass,
            self.class_start,
            self.prior,
            float(bandwidth),
            *map(float, settings),
        )


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
    gap = expert.space.coordinates(X) - expert.landmarks[member]
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
