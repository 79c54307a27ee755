"""Regions of a tree with oblique tests: polytopes of one class, and moving rows into them.

A region is a box (``keeptree.geometry.boxes``) cut by the half-spaces of its oblique tests. The
functions at the end do for such a tree what ``keeptree.geometry.projection`` does for a tree
without oblique tests.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from keeptree._compiled.polytopes import (
    Polytopes,
    class_polytopes,
    nearest_polytopes,
    project_rows,
)
from keeptree.geometry.boxes import Boxes, Cuts, category_prices
from keeptree.geometry.rows import check_finite, classes_of, round_columns
from keeptree.tree import LEAF, OBLIQUE

_THIN = 1e-9  # smallest inner radius in the metric: a narrower region counts as empty
# Distances in the metric by which rows move beyond the border of a region, tried in order.
_NUDGES = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
# Multiples of the rounding error of a sum: sums of large values need them, because the next
# representable number is further away than these distances.
_ROUNDINGS = (1.0, 4.0, 16.0, 64.0, 256.0)
_UNREACHABLE, _MIXED = -1, -2


class Half(NamedTuple):
    """A half-space: ``sign * value <= sign * bound`` for a column or a weighted sum of columns."""

    terms: tuple  # pairs of a column and its weight
    sign: int
    bound: float
    test: int

    @property
    def is_column(self):
        """Whether the half-space bounds a single column."""
        return len(self.terms) == 1 and self.terms[0][1] == 1.0


class Region(NamedTuple):
    """A region: its node, class, box and half-spaces."""

    node: int
    label: int
    box: dict
    halves: tuple


@dataclass(frozen=True)
class PolytopeProgram:
    """The polytopes of a tree in the form that compiled functions read, and their boxes.

    ``columns[r]`` lists the columns that polytope r restricts, and ``normals[r]`` the normals of
    its half-spaces in the metric; ``becomes`` belongs to the tables of ``polytopes``.
    """

    polytopes: Polytopes
    boxes: Boxes
    columns: list
    normals: list
    becomes: np.ndarray
    factor: np.ndarray
    center: np.ndarray
    rounded: np.ndarray

    @property
    def classes(self):
        """Classes that have at least one region."""
        return np.unique(self.boxes.label)


def compile_polytopes(tree, metric):
    """Return the program of a classification tree with oblique tests under a fitted metric."""
    costs = metric.category_costs_.__getitem__
    leaves = list(walk_regions(tree, lambda node: (tree.children(node).tolist(), True)))
    probe = pack(tree, leaves, metric.factor_, metric.center_, costs)
    possible = np.array([not _is_contradictory(leaf) for leaf in leaves])
    wide = possible & _contain_balls(probe, _THIN)
    # Rows on a threshold can reach a leaf that is too thin to count. If it has another class, the
    # subtree is not one region, because a row moved into it could land in that leaf.
    touched = possible & _contain_balls(probe, -_NUDGES[-1])
    label, shared = _common_labels(tree, leaves, wide), _common_labels(tree, leaves, touched)
    found = walk_regions(
        tree, lambda node: (tree.children(node).tolist(), True) if shared[node] == _MIXED else None
    )
    regions = [r._replace(label=int(label[r.node])) for r in found if label[r.node] >= 0]
    return pack(tree, regions, metric.factor_, metric.center_, costs)


def walk_regions(tree, ways):
    """Yield regions in preorder: the leaves, and the nodes where the walk stops.

    ``ways(node)`` returns the children to visit and whether the test narrows their regions, or None
    to stop at this node.
    """
    cuts, stack = Cuts(tree), [(0, {}, {})]
    while stack:
        node, box, halves = stack.pop()
        following = None if tree.kind[node] == LEAF else ways(node)
        if following is None:
            yield Region(node, int(tree.label[node]), box, tuple(halves.values()))
            continue
        children, narrows = following
        for child in children[::-1]:
            if not narrows:
                stack.append((child, box, halves))
            elif tree.kind[node] == OBLIQUE:
                stack.append((child, box, _cut(tree, halves, node, child)))
            else:
                side = cuts.side(box, node, child)
                stack.append((child, {**box, int(tree.feature[node]): side}, halves))


def _cut(tree, halves, node, child):
    """Return the half-spaces of a child: those of its parent, and that of the oblique test.

    Of two parallel half-spaces only the tighter is kept.
    """
    sign, bound = 1 if child == tree.children(node)[0] else -1, float(tree.threshold[node])
    key = tree.terms(node), sign
    if key in halves and sign * halves[key].bound <= sign * bound:
        return halves
    return {**halves, key: Half(tree.terms(node), sign, bound, node)}


def _common_labels(tree, leaves, reached):
    """Return, for each node, the class shared by all reached leaves below it.

    ``_MIXED`` marks nodes with several classes, and ``_UNREACHABLE`` those without a reached leaf.
    """
    label = np.full(tree.n_nodes, _UNREACHABLE)
    for region, inside in zip(leaves, reached, strict=True):
        sides = region.box.values()
        if inside and all(side.can_be_reached for side in sides):
            label[region.node] = region.label
    for node in tree.preorder[::-1].tolist():
        if tree.kind[node] != LEAF:
            below = np.unique(label[tree.children(node)])
            below = below[below != _UNREACHABLE]
            if len(below):
                label[node] = below[0] if len(below) == 1 else _MIXED
    return label


def _contain_balls(program, radius):
    """Return which polytopes contain a ball of a radius in the metric.

    A negative radius asks which would not be empty if each half-space were that much wider.
    """
    n = len(program.polytopes.label)
    rows = np.repeat(np.nan_to_num(program.center)[None], n, axis=0)
    square, _ = _solve(_shrunk(program.polytopes, radius), rows, np.arange(n))
    return np.isfinite(square)


def _is_contradictory(region):
    """Return whether a weighted sum, or a column, must be both above and at most some threshold."""
    upper = {half.terms: half.bound for half in region.halves if half.sign > 0}
    narrow = [s.lower >= s.upper for s in region.box.values() if not s.nominal]
    lower = [(half.terms, half.bound) for half in region.halves if half.sign < 0]
    return any(narrow) or any(bound >= upper.get(terms, np.inf) for terms, bound in lower)


def _shrunk(polytopes, by):
    """Return the polytopes with every half-space moved inward by a distance in the metric."""
    return polytopes._replace(bound=polytopes.bound - polytopes.sign * by / polytopes.length)


def _solve(polytopes, rows, region):
    """Return the squared distances of rows to polytopes, and the multipliers of the half-spaces."""
    widest = int(np.diff(polytopes.start).max(initial=1))
    square, multiplier = np.full(len(rows), np.inf), np.zeros((len(rows), widest))
    project_rows(rows, polytopes, region, square, multiplier)
    return square, multiplier


def pack(tree, regions, factor, center, costs, permitted=None, fixed=()):
    """Return the program of some regions.

    Parameters
    ----------
    tree : Tree
        The tree that the regions belong to.
    regions : list of Region
        Regions to pack. Half-spaces that do not come from a test of the tree have -1 as their test.
    factor, center : ndarray of shape (n_features,)
        Cost of one unit of each numeric attribute, and the centre of its values.
    costs, permitted : callable
        As for :meth:`keeptree.geometry.boxes.Boxes.price`.
    fixed : sequence of int
        Columns that do not move.
    """
    boxes = Boxes.pack([(r.node, r.label, r.box) for r in regions])
    sums = list(dict.fromkeys(h.terms for r in regions for h in r.halves if not h.is_column))
    place = {terms: tree.n_features + s for s, terms in enumerate(sums)}
    free = np.ones(tree.n_features)
    free[list(fixed)] = 0.0
    rows, columns, normals, rank = [], [], [], []
    for region in regions:
        halves = (*_sides(region.box), *region.halves)
        used = sorted({f for half in halves for f, _ in half.terms})
        normal = np.zeros((len(halves), len(used)))
        for k, half in enumerate(halves):
            features, weights = map(np.array, zip(*half.terms, strict=True))
            slope = half.sign * weights * free[features] / factor[features]
            size = np.hypot.reduce(slope)
            normal[k, np.searchsorted(used, features)] = slope / size if size else 0.0
            source = half.terms[0][0] if half.is_column else place[half.terms]
            rows.append((source, half.sign, half.bound, 1 / size if size else 1.0, half.test))
        columns.append(np.array(used, dtype=np.int64))
        normals.append(normal)
        rank.append(min(normal.shape))
    source, sign, bound, length, test = zip(*rows, strict=True) if rows else ((),) * 5
    short = [_in_own_span(normal).ravel() for normal in normals]
    nominal = boxes.table >= 0
    cost, becomes = _price(tree, boxes, costs, permitted)
    polytopes = Polytopes(
        label=boxes.label,
        start=_starts(len(normal) for normal in normals),
        source=np.array(source, dtype=np.int64),
        sign=np.array(sign, dtype=np.float64),
        bound=np.array(bound, dtype=np.float64),
        length=np.array(length, dtype=np.float64),
        test=np.array(test, dtype=np.int64),
        term_start=_starts(map(len, sums)),
        term_feature=np.array([f for terms in sums for f, _ in terms], dtype=np.int64),
        term_weight=np.array([w for terms in sums for _, w in terms], dtype=np.float64),
        rank=np.array(rank, dtype=np.int64),
        normal_start=_starts(map(len, short))[:-1],
        normal=np.concatenate([np.empty(0), *short]),
        side_start=_starts(nominal)[boxes.start],
        side_feature=boxes.feature[nominal],
        table=boxes.table[nominal],
        n_codes=boxes.n_codes[nominal],
        cost=cost,
        failed=boxes.failed,
    )
    single = tree.compare_dtype == "float32"
    numeric = [f for f in tree.tested.tolist() if tree.categories[f] is None]
    rounded = np.array(numeric if single else [], dtype=np.int64)
    return PolytopeProgram(polytopes, boxes, columns, normals, becomes, factor, center, rounded)


def _sides(box):
    """Yield the half-spaces of the numeric sides of a box."""
    for f in sorted(box):
        side = box[f]
        if side.nominal:
            continue
        if side.upper < np.inf:
            yield Half(((f, 1.0),), 1, side.upper, side.upper_test)
        if side.lower > -np.inf:
            yield Half(((f, 1.0),), -1, side.lower, side.lower_test)


def _in_own_span(normal):
    """Return the normals in coordinates of the subspace that they span, if it is smaller."""
    if normal.shape[0] >= normal.shape[1]:
        return normal
    return np.linalg.qr(normal.T, mode="r").T


def _price(tree, boxes, costs, permitted):
    """Return the cheapest change of each category to an allowed one, and its cost."""
    cost, becomes = np.empty(len(boxes.allowed)), np.empty(len(boxes.allowed), dtype=np.int64)
    for f, table in boxes.tables:
        end = table + len(tree.categories[f])
        targets = None if permitted is None else permitted(f)
        priced = category_prices(costs(f), boxes.allowed[table:end], targets)
        cost[table : end + 1], becomes[table : end + 1] = priced
    return cost, becomes


def _starts(widths):
    return np.cumsum([0, *widths], dtype=np.int64)


def fill_signed(program, tree, X, start, stop, out):
    """Fill ``out`` with the class-algebraic distances of the rows start to stop of ``X``."""
    rows, own = _read(program, tree, X, start, stop)
    distance = np.empty((len(rows), len(tree.classes)))
    class_polytopes(rows, program.polytopes, own, distance)
    at = np.arange(len(rows)), own
    distance[at] = np.inf
    nearest = distance.min(axis=1)
    distance[at] = -nearest
    out[:] = distance[:, : out.shape[1]]


def find_nearest(program, tree, X, start, stop, found, wanted=None, fill=False):
    """Fill ``found`` for rows start to stop; return the rows with missing values and points."""
    rows, own = _read(program, tree, X, start, stop)
    wanted = np.full(len(rows), -1) if wanted is None else wanted
    polytopes = program.polytopes
    nearest_polytopes(rows, polytopes, own, wanted, found.region, found.distance, found.separator)
    already = wanted == own
    found.region[already], found.distance[already], found.separator[already] = -1, 0.0, -1
    inside = found.region >= 0
    found.label[:] = np.where(inside, polytopes.label[found.region], own)
    missing = np.isnan(X[start:stop]).any(axis=1)
    missing = np.flatnonzero(missing & inside & (not fill))
    points = np.empty((len(missing), X.shape[1]))
    given = X[start:stop][missing]
    move_rows(program, tree, given, found.region[missing], points)
    lost = np.flatnonzero(classes_of(tree, points) != found.label[missing])
    if len(lost):  # the decision is still not the desired one: fill in the missing values as well
        filled = np.where(np.isnan(given[lost]), program.center, given[lost])
        part = np.empty(filled.shape)
        move_rows(program, tree, filled, found.region[missing[lost]], part)
        points[lost] = part
    return missing, points


def move_rows(program, tree, rows, region, out):
    """Fill ``out`` with rows moved into their regions; rows with region -1 stay.

    Rows move slightly beyond the border, just far enough for the tree itself to place them inside.
    Missing values stay missing. A row that no such move places inside becomes NaN.
    """
    rows = np.asarray(rows, dtype=np.float64)
    out[:] = rows
    todo = np.flatnonzero(region >= 0)
    for nudge in (0.0, *_NUDGES):
        if not len(todo):
            return
        inside = _shrunk(program.polytopes, nudge)
        todo = _move_inside(program, tree, inside, rows, region, todo, out)
    for i in todo:
        for multiple in _ROUNDINGS:
            inside = _tightened(program.polytopes, tree, rows[i], region[i], multiple)
            if not len(_move_inside(program, tree, inside, rows, region, np.array([i]), out)):
                break
        else:
            out[i] = np.nan


def _move_inside(program, tree, polytopes, rows, region, todo, out):
    """Move the rows ``todo`` into slightly smaller regions; return those still outside."""
    part = round_columns(rows[todo], program.rounded)
    square, multiplier = _solve(polytopes, part, region[todo])
    solved = np.isfinite(square)
    for i, force in zip(todo[solved], multiplier[solved], strict=True):
        out[i] = _moved(program, rows[i], int(region[i]), force)
    return todo[~_is_inside(program, tree, out[todo], region[todo])]


def _tightened(polytopes, tree, row, r, multiple):
    """Return the polytopes, where r is moved inward by a multiple of the rounding errors of a row.

    The error of a value or a weighted sum is relative to its terms and to the threshold.
    """
    weight, feature = abs(polytopes.term_weight), polytopes.term_feature
    size = np.nan_to_num(abs(row))
    ends = pairwise(polytopes.term_start.tolist())
    sums = [weight[start:stop] @ size[feature[start:stop]] for start, stop in ends]
    part = slice(polytopes.start[r], polytopes.start[r + 1])
    bound = polytopes.bound.copy()
    error = np.append(size, sums)[polytopes.source[part]] + abs(bound[part])
    error *= np.finfo(tree.compare_dtype).eps
    bound[part] -= polytopes.sign[part] * multiple * error
    return polytopes._replace(bound=bound)


def _moved(program, row, r, force):
    """Return a row moved along the normals of a polytope, with exact sides and new categories."""
    boxes, point, columns = program.boxes, row.copy(), program.columns[r]
    normal = program.normals[r]
    moved = -(force[: len(normal)] @ normal) / program.factor[columns]
    at = columns[moved != 0]
    point[at] = row[at] + moved[moved != 0]
    for e in range(boxes.start[r], boxes.start[r + 1]):
        f, value = int(boxes.feature[e]), row[boxes.feature[e]]
        if np.isnan(value):
            continue
        if boxes.table[e] >= 0:
            point[f] = program.becomes[boxes.table[e] + int(value)]
        else:
            point[f] = _within(point[f], boxes.low[e], boxes.high[e], len(program.rounded) > 0)
    return point


def _within(value, low, high, single):
    """Return the number, or the nearer end if the model places it outside low and high."""
    with np.errstate(over="ignore"):
        compared = float(np.float32(value)) if single else value
    return high if compared > high else low if compared < low else value


def _is_inside(program, tree, points, region):
    """Return whether the tree sends points to their regions, and decides their classes there.

    Points with missing values count as inside, because callers check their class.
    """
    gaps = np.isnan(points).any(axis=1)
    inside = np.zeros(len(points), dtype=bool)
    leaf = tree.route(points, strict=False)
    for i, r in enumerate(region):
        if gaps[i]:
            inside[i] = True  # callers check their class
        else:
            here = program.boxes.node[r] in tree.path(leaf[i])
            inside[i] = here and tree.label[leaf[i]] == program.boxes.label[r]
    return inside


def _read(program, tree, X, start, stop):
    """Check the rows start to stop; return them as the model compares them, and their classes."""
    check_finite(X[start:stop], tree, start)
    rows = X[start:stop]
    missing = np.isnan(rows).any(axis=1)
    if missing.any():
        try:
            tree.route(rows[missing])
        except ValueError:
            tree.route(X)  # raises the same error with the row number in X
            raise
    return round_columns(rows, program.rounded), classes_of(tree, rows)
