"""What ConfDTree learns about each node and class: statistics, intervals and route weights."""

from typing import NamedTuple

import numpy as np
from scipy.special import kolmogorov, ndtr
from scipy.stats import kstwo, t

from keeptree.savable import expect, expect_array, saved_part
from keeptree.tree import LEAF, NOMINAL, NUMERIC

_LARGE = 1e100
# Shares of cases with missing values sum to whole cases only up to this rounding error.
_ROUNDING = 1e-9
_STEPHENS_ERROR = 0.04  # upper bound of the error of Stephens' formula, for two or more cases


@saved_part
class NodeStatistics(NamedTuple):
    """Statistics of the attribute that each node tests, for the training cases of each class.

    All arrays have shape (n_nodes, n_classes), and weights count as repeated cases. ``reached`` is
    the number of cases in the node and ``count`` that of the cases with a value of the tested
    attribute. ``mean`` and ``sd`` (with divisor n - 1) describe that value; NaN where unknown.
    ``normality`` is the p-value of a Kolmogorov-Smirnov test against the normal distribution with
    this mean and sd, and 0 where sd is 0. It is exact where it matters, and otherwise computed by
    Stephens' formula, whose error is at most 0.035. ``category_count`` is the number of cases in
    each category of the nominal tests.
    """

    reached: np.ndarray
    count: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    normality: np.ndarray
    category_count: np.ndarray


@saved_part
class Intervals(NamedTuple):
    """Bounds of the intervals of the assigned class (index 0) and of other classes (index 1).

    They have shape (2, n_nodes, n_classes), with NaN where a class has no interval. ``normal``
    marks the normal intervals, as opposed to t intervals. ``takes_part`` marks the nodes that are
    checked.
    """

    low: np.ndarray
    high: np.ndarray
    normal: np.ndarray
    takes_part: np.ndarray


def check_learned(tree, statistics, intervals):
    """Raise a ValueError if statistics or intervals read from a file do not fit the tree."""
    expect(isinstance(statistics, NodeStatistics), "it has no statistics")
    expect(isinstance(intervals, Intervals), "it has no intervals")
    shape = tree.counts.shape
    for name in ("reached", "count"):
        expect_array(getattr(statistics, name), name, np.float64, shape)
        expect((getattr(statistics, name) >= 0).all(), f"{name} must not be negative")
    expect(statistics.reached[0].sum() > 0, "no case reached the root")
    for name in ("mean", "sd", "normality"):
        expect_array(getattr(statistics, name), name, np.float64, shape, finite=False)
    categories = (len(tree.category_child), shape[1])
    expect_array(statistics.category_count, "category_count", np.float64, categories)
    for name in ("low", "high"):
        expect_array(getattr(intervals, name), name, np.float64, (2, *shape), finite=False)
    expect_array(intervals.normal, "normal", bool, shape)
    expect_array(intervals.takes_part, "takes_part", bool, shape[:1])


def node_statistics(sample, significance=None):
    """Return the statistics of a training sample in each node of its tree.

    A case with a missing value is divided among the children where the tree divides it. Normality
    is tested only if ``significance`` is given.
    """
    tree, X, y, weight = sample.tree, sample.X, sample.y, sample.weight
    tree.route(X)  # raises the error that names the row and the column
    shape = (tree.n_nodes, len(tree.classes))
    reached, count = np.zeros(shape), np.zeros(shape)
    mean, sd, normality = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape)
    category_count = np.zeros((len(tree.category_child), shape[1]))
    row = np.flatnonzero(weight > 0)
    node, share = np.zeros(len(row), dtype=np.int64), np.ones(len(row))
    while len(row):
        np.add.at(reached, (node, y[row]), weight[row] * share)
        inner = tree.kind[node] != LEAF
        row, node, share = row[inner], node[inner], share[inner]
        value = _compared(tree, X[row, tree.feature[node]])
        known = ~np.isnan(value)
        level = node[known], y[row[known]], value[known], (weight[row] * share)[known]
        nominal = tree.kind[level[0]] == NOMINAL
        _add_categories(tree, count, category_count, *(part[nominal] for part in level))
        place, *found = group_statistics(
            *(part[~nominal] for part in level), shape[1], significance
        )
        for table, values in zip((count, mean, sd, normality), found, strict=True):
            table.flat[place] = values
        row, node, share = tree.descend(X, row, node, share)
    return NodeStatistics(reached, count, mean, sd, normality, category_count)


def _compared(tree, value):
    """Return values as the tree compares them; scikit-learn rounds them to float32."""
    if tree.compare_dtype == "float32":
        with np.errstate(over="ignore"):
            return value.astype(np.float32).astype(np.float64)
    return value


def _add_categories(tree, count, category_count, node, y, code, weight):
    np.add.at(count, (node, y), weight)
    position = tree.category_start[node] + code.astype(np.int64)
    np.add.at(category_count, (position, y), weight)


def group_statistics(node, y, value, weight, n_classes, significance):
    """Return the weight, mean, sd and normality of each (node, class) pair with cases.

    The first array holds the flat position of each pair, ``node * n_classes + y``.
    """
    group = node * n_classes + y
    order = np.lexsort((value, group))
    group, value, weight = group[order], value[order], weight[order]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    if len(first) == 0:
        return first, *np.empty((4, 0))
    sizes = np.diff(first, append=len(group))
    count = np.add.reduceat(weight, first)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        # Using differences from the smallest value makes the mean of constant values exact and
        # their sd 0.
        above = np.add.reduceat(weight * (value - np.repeat(value[first], sizes)), first)
        mean = value[first] + above / count
        centred = value - np.repeat(mean, sizes)
        sd = np.sqrt(np.add.reduceat(weight * centred**2, first) / (count - 1))
        sd[count <= 1 + _ROUNDING] = np.nan
    normality = np.zeros(len(first))
    tested = np.flatnonzero((sd > 0) & np.isfinite(sd)) if significance is not None else []
    if len(tested):
        distance = _distance_from_normal(centred, weight, first, sizes, count, sd)
        normality[tested] = _p_value(distance[tested], np.rint(count[tested]), significance)
    return group[first], count, mean, sd, normality


def _distance_from_normal(centred, weight, first, sizes, count, sd):
    """Return the Kolmogorov-Smirnov statistic of each group of sorted values."""
    cumulated = np.cumsum(weight)
    cumulated -= np.repeat(cumulated[first] - weight[first], sizes)
    n = np.repeat(count, sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        cdf = ndtr(centred / np.repeat(sd, sizes))
    distance = np.maximum(cumulated / n - cdf, cdf - (cumulated - weight) / n)
    return np.maximum.reduceat(distance, first)


def _p_value(distance, n, significance):
    """Return p-values of Kolmogorov-Smirnov tests, each on the correct side of ``significance``.

    SciPy's exact value takes milliseconds, so it is computed only where Stephens' formula (1970) is
    too close to ``significance``.
    """
    root = np.sqrt(n)
    p = kolmogorov((root + 0.12 + 0.11 / root) * distance)
    close = np.abs(p - significance) < _STEPHENS_ERROR
    p[close] = kstwo.sf(distance[close], n[close])
    return p


def _every_class(count, present, m):
    """Return which classes have an interval: those in nodes where every class has m cases.

    This is the prerequisite as stated in the paper.
    """
    enough = (count >= m) | ~present
    return present & enough.all(axis=1, keepdims=True)


def _each_class(count, present, m):
    """Return which classes have an interval: those with at least m cases."""
    return count >= m


def _whole_node(count, present, m):
    """Return which classes have an interval: those in nodes with at least m cases (Algorithm 1).

    A class also needs two cases for its sd.
    """
    return (count >= 2) & (count.sum(axis=1, keepdims=True) >= m)


MINIMUM = {"every": _every_class, "class": _each_class, "node": _whole_node}

# Factor by which t sd is multiplied, for an interval that covers the mean of a class, an individual
# ("mean +- t s"), or the next individual, which includes the error of the estimated mean.
T_SCALE = {
    "mean": lambda n: 1 / np.sqrt(n),
    "individual": np.ones_like,
    "prediction": lambda n: np.sqrt(1 + 1 / n),
}

# Weight of a child with T cases for a class that has n of them.
ROUTE_WEIGHT = {
    "sqrt": lambda n, T: np.sqrt(n) * n / T,
    "linear": lambda n, T: n * n / T,
    "count": lambda n, T: n,
}


def confidence_intervals(tree, statistics, settings):
    """Return the intervals of each class in each node, at both confidence levels."""
    count, present = statistics.count + _ROUNDING, statistics.reached > 0
    checked = (tree.kind == NUMERIC) | ((tree.kind == NOMINAL) & settings.nominal)
    nominal = (tree.kind == NOMINAL)[:, None]
    has = MINIMUM[settings.minimum](count, present, settings.m) & checked[:, None]
    has &= np.isfinite(statistics.sd) | nominal
    normal = statistics.normality > settings.significance
    if settings.normal_by == "node":
        normal = np.broadcast_to((normal | ~has).all(axis=1, keepdims=True), has.shape)
    if settings.interval == "t":
        normal = np.zeros_like(has)
    elif settings.interval == "normal":
        has &= normal | nominal
    bounds = []
    for z, level in (
        (settings.z_assigned, settings.level_assigned),
        (settings.z_other, settings.level_other),
    ):
        with np.errstate(invalid="ignore", divide="ignore"):
            quantile = t.ppf(1 - (1 - level) / settings.tails, statistics.count - 1)
            wide = np.where(normal, z, quantile * T_SCALE[settings.t_for](statistics.count))
            half = np.where(nominal, 0.0, wide * statistics.sd)
            middle = np.where(nominal, 0.0, statistics.mean)
            bounds.append(np.where(has, [middle - half, middle + half], np.nan))
    low, high = np.stack(bounds, axis=1)
    takes_part = has.any(axis=1) & (present.sum(axis=1) >= 2)
    return Intervals(low, high, normal & has & ~nominal, takes_part)


def characteristic_categories(tree, statistics, intervals, settings):
    """Return which categories are usual in a class.

    Bit 0 is for the assigned class and bit 1 for the other classes.

    The usual categories take the place of a confidence interval. They are the most frequent
    categories of the class in the node that together reach the coverage of the interval, including
    ties.
    """
    found = np.zeros(statistics.category_count.shape, dtype=np.uint8)
    if settings.interval == "t":
        coverage = settings.level_assigned, settings.level_other
    else:
        coverage = 2 * ndtr([settings.z_assigned, settings.z_other]) - 1
    for node in np.flatnonzero(tree.kind == NOMINAL):
        part = slice(tree.category_start[node], tree.category_start[node + 1])
        for c in np.flatnonzero(~np.isnan(intervals.low[0, node])):
            count = statistics.category_count[part, c]
            ascending = np.sort(count)
            more = np.append(np.cumsum(ascending[::-1])[::-1], 0.0)
            # Share of the strictly more frequent categories.
            before = more[np.searchsorted(ascending, count + _ROUNDING, side="right")] / more[0]
            for bit, level in enumerate(coverage):
                usual = (before < level - _ROUNDING) & (count > 0)
                found[part, c] |= usual.astype(np.uint8) << bit
    return found


def route_weights(statistics, settings, class_weight):
    """Return the weight of each node, as a child, for each class (Katz et al. 2012)."""
    n = statistics.reached * class_weight
    if n.max() > _LARGE:  # scaled, because only ratios matter and n * n must not overflow
        n = n / n.max()
    total = np.maximum(n.sum(axis=1, keepdims=True), 1e-300)
    return ROUTE_WEIGHT[settings.route_weight](n, total)
