"""The cheapest allowed change of rows in a tree with oblique tests.

A leaf is a polytope. A column may keep its value or take any value that the constraints allow, a
set that may have gaps. The search is an exact branch and bound: it first ignores the gaps and
projects the row on the polytope, which gives a lower bound of the cost. If the projection places a
column in a gap, the values below and above the gap are searched separately.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

import numpy as np

from keeptree._compiled.polytopes import project_rows
from keeptree.explanation.search import goes_past, missing_of
from keeptree.geometry.boxes import ANYTHING
from keeptree.geometry.grid import multiples
from keeptree.geometry.polytopes import Half, pack, walk_regions
from keeptree.importers.sketch import widened
from keeptree.tree import SHARE

_SNAP = 1e-9  # share of a step; a number this close to a multiple counts as one
_ROUNDING = {
    "float64": 2.0**-46,
    "float32": 2.0**-20,
}  # rounding error of a weighted sum, relative to its terms
# Multiples of the rounding error by which half-spaces are tightened, tried in order.
_MARGINS = (0.0, 1.0, 16.0, 256.0, 4096.0)
_MOST_NODES = 20_000  # maximum number of search steps in one leaf


class ObliqueSearch:
    """Cheapest changes in a tree with oblique tests; same interface as ``Search``."""

    def __init__(self, subject, constraints):
        self.subject, self.constraints, self.tree = subject, constraints, subject.tree
        self.most = constraints.max_changes or subject.tree.n_features
        self.factor = constraints.factor(self.tree, subject.metric)
        self._programs, self._found = {}, {}

    def cheapest(self, X, own, wanted, n_jobs=None):
        """Return the leaf (-1 for none), cost and number of changes of each encoded row."""
        box = np.full(len(X), -1, dtype=np.int64)
        cost, n_changes = np.full(len(X), np.inf), np.zeros(len(X), dtype=np.int64)
        for i, row in enumerate(X):
            if wanted[i] == own[i]:
                cost[i] = 0.0
                continue
            best = None
            for r, least in self._candidates(row, own[i], wanted[i]):
                if best is not None and least >= best.square:
                    break
                found = self._enter(row, r, np.inf if best is None else best.square)
                if found is not None and (best is None or found.square < best.square):
                    best, box[i] = found, r
            if best is not None:
                cost[i], n_changes[i] = np.sqrt(best.square), best.n_changes
        return box, cost, n_changes

    def ranked(self, row, own, wanted, n):
        """Return up to n (leaf, cost, number of changes) of a row, cheapest first."""
        found = [(r, self._enter(row, r)) for r, _ in self._candidates(row, own, wanted)]
        found = [(r, change) for r, change in found if change is not None]
        chosen, points = [], []
        for r, change in sorted(found, key=lambda entry: (entry[1].square, entry[1].n_changes)):
            if not any(goes_past(row, change.point, other, self.tree) for other in points):
                chosen.append((r, float(np.sqrt(change.square)), change.n_changes))
                points.append(change.point)
            if len(chosen) == n:
                break
        return chosen

    def move(self, X, box):
        """Return rows moved into leaves; rows with leaf -1 stay. All rows lack the same values."""
        pairs = zip(X, box.tolist(), strict=True)
        moved = [row if r < 0 else self._enter(row, r).point for row, r in pairs]
        return np.array(moved).reshape(X.shape)

    def boxes(self, missing):
        """Return the boxes around the leaves, for cases that lack some values."""
        return self._program(missing).boxes, None

    def round(self, row, point, box):
        """Return the point with the fewest decimals that is allowed and still in its leaf."""
        leaf = self._program(missing_of(row)).boxes.node[box]
        moved = [
            f
            for f in np.flatnonzero((point != row) & ~np.isnan(row)).tolist()
            if self.tree.categories[f] is None and self.constraints.step(f) is None
        ]
        for digits in range(2, 12):  # significant digits of each move
            shown = point.copy()
            for f in moved:
                away = np.ceil if point[f] > row[f] else np.floor
                unit = 10.0 ** (digits - np.ceil(np.log10(abs(point[f] - row[f]))))
                shown[f] = away(point[f] * unit) / unit
            allowed = all(self._domain(row, f).holds(shown[f]) for f in moved)
            if allowed and self.tree.route(shown[None], strict=False)[0] == leaf:
                return shown
        return point

    def _candidates(self, row, own, wanted):
        """Return the leaves with the desired (or any other) class, and lower bounds of the cost."""
        program = self._program(missing_of(row))
        label = program.boxes.label
        chosen = np.flatnonzero(label == wanted if wanted >= 0 else label != own)
        square = _project(program, program.polytopes, row, chosen)[0]
        order = np.argsort(square, kind="stable")
        order = order[np.isfinite(square[order])]
        return list(zip(chosen[order].tolist(), square[order].tolist(), strict=True))

    def _program(self, missing):
        """Return the leaves as polytopes, for cases with some missing values.

        The last half-spaces of a polytope, two per column, have no bounds yet. The search sets them
        for each part of a leaf.
        """
        if missing not in self._programs:
            tree, given, metric = self.tree, self.constraints, self.subject.metric
            regions = [_with_limits(r, tree) for r in walk_regions(tree, self._ways(missing))]
            self._programs[missing] = pack(
                tree,
                regions,
                self.factor,
                metric.center_,
                lambda f: given.category_costs(f, metric),
                lambda f: given.permitted(f, tree, self.subject.observed),
            )
        return self._programs[missing]

    def _ways(self, missing):
        """Return the function ``ways`` of ``walk_regions`` for a case with some missing values."""
        tree, lacking = self.tree, set(missing)

        def ways(node):
            columns = {f for f, _ in tree.terms(node)} or {int(tree.feature[node])}
            if not columns & lacking:
                return tree.children(node).tolist(), True
            if tree.missing[node] == SHARE:
                raise ValueError(
                    "The case lacks a value that the tree divides among branches; in a tree with "
                    "oblique tests, changes of such cases are not supported. Fill the value in."
                )
            return [c for c in [int(tree.missing[node])] if c >= 0], False

        return ways

    def _domain(self, row, f):
        """Return the values that a column of a row may take."""
        given = self.constraints
        low, high = given.limits(f, self.subject.observed)
        low = max(low, row[f]) if f in given.increase_only else low
        high = min(high, row[f]) if f in given.decrease_only else high
        if f in given.fixed:
            low, high = np.inf, -np.inf
        return Domain(float(row[f]), float(low), float(high), given.step(f))

    def _enter(self, row, r, limit=np.inf):
        """Return the cheapest change of a row into leaf r that costs less than a limit, or None."""
        key = row.tobytes(), r
        if key in self._found:
            return self._found[key]
        program = self._program(missing_of(row))
        for margin in _MARGINS:
            found = _Leaf(self, program, row, r, margin).enter(limit)
            if found is None or self._arrives(program, found.point, r):
                break
            found = None
        if found is not None or limit == np.inf:
            self._found[key] = found
        return found

    def _arrives(self, program, point, r):
        return self.tree.route(point[None], strict=False)[0] == program.boxes.node[r]


@dataclass(frozen=True)
class Change:
    """A change of a row: its squared cost, the number of changed columns, and the new row."""

    square: float
    n_changes: int
    point: np.ndarray


@dataclass(frozen=True)
class Domain:
    """The values that a number may take: its own, and those of a grid or list from low to high."""

    value: float
    low: float
    high: float
    step: float | np.ndarray | None

    def holds(self, number):
        """Return whether a number is allowed; multiples of a step may differ by rounding."""
        return abs(self.nearest(number) - number) <= self.room

    def nearest(self, number):
        """Return the allowed number nearest to a given one."""
        ends = [end for end in (self.below(number), self.above(number)) if end is not None]
        return min(ends, key=lambda end: abs(end - number))

    @property
    def room(self):
        """Tolerance within which a number counts as a multiple of the step."""
        return _SNAP * self.step if isinstance(self.step, float) else 0.0

    def below(self, number, room=None):
        """Return the largest allowed number that is at most a given one, or None."""
        room = self.room if room is None else room
        return _largest([*self._allowed(number, np.floor, -1), self.value], number + room)

    def above(self, number, room=None):
        """Return the smallest allowed number that is at least a given one, or None."""
        room = self.room if room is None else room
        mirrored = [-x for x in [*self._allowed(number, np.ceil, 1), self.value]]
        largest = _largest(mirrored, -(number - room))
        return None if largest is None else -largest

    def _allowed(self, number, whole, way):
        """Return the allowed numbers on one side of a number, including the nearest one."""
        if self.low > self.high:
            return []
        if self.step is None:
            return [min(max(number, self.low), self.high)]
        if not isinstance(self.step, float):
            return [x for x in self.step.tolist() if self.low <= x <= self.high]
        inside = min(max(number, self.low), self.high)
        k = whole((inside - way * self.room) / self.step)
        found = multiples(k + np.arange(-1.0, 2.0), np.full(3, self.step)).tolist()
        return [x for x in found if self.low <= x <= self.high]


def _largest(numbers, limit):
    return max((x for x in numbers if x <= limit), default=None)


class _Leaf:
    """Branch and bound inside one leaf, for one row."""

    def __init__(self, search, program, row, r, margin):
        self.search, self.program, self.row, self.r = search, program, row, r
        polytopes, tree = program.polytopes, search.tree
        self.span = slice(int(polytopes.start[r]), int(polytopes.start[r + 1]))
        self.columns = [f for f in program.columns[r].tolist() if not np.isnan(row[f])]
        self.domain = {f: search._domain(row, f) for f in self.columns}
        self.ends = dict(_ends(program.boxes, r, tree.compare_dtype == "float32"))
        self.sign, self.source = polytopes.sign[self.span], polytopes.source[self.span]
        self.bound = polytopes.bound[self.span].copy()
        self._tighten(tree, margin)

    def _tighten(self, tree, margin):
        """Move the half-spaces of sums inward, so that rounding cannot move a point out."""
        polytopes, size = self.program.polytopes, abs(self.row) + 1 / self.search.factor
        for k in np.flatnonzero(self.source >= tree.n_features):
            s = self.source[k] - tree.n_features
            part = slice(polytopes.term_start[s], polytopes.term_start[s + 1])
            columns, weights = polytopes.term_feature[part], abs(polytopes.term_weight[part])
            room = _ROUNDING[tree.compare_dtype] * (weights @ size[columns] + abs(self.bound[k]))
            snaps = weights @ [self.domain[f].room if f in self.domain else 0.0 for f in columns]
            # Points on the border belong to the other side.
            least = 0.0 if self.sign[k] > 0 else 1.0
            if max(margin, least) > 0:
                self.bound[k] -= self.sign[k] * (room * max(margin, least) + 4 * snaps)

    def enter(self, limit):
        """Return the cheapest change below a limit, or None."""
        number, best = count(), None
        start = {f: self._hull(f) for f in self.columns}
        heap = [(0.0, next(number), start, frozenset())]
        if any(low > high for low, high in start.values()):
            return None
        for _ in range(_MOST_NODES):
            if not heap or heap[0][0] >= limit:
                return best
            _, _, limits, used = heappop(heap)
            square, point = self._solve(limits)
            if not square < limit:
                continue
            parts = self._divide(limits, used, point)
            if parts is None:
                best = self._change(point)
                limit = min(limit, best.square)
            else:
                for part, its_used in parts:
                    heappush(heap, (square, next(number), part, its_used))
        raise ValueError(
            "The constraints leave too many combinations of values to search; allow any number in "
            "some columns (within_data=False), or fix some."
        )

    def _hull(self, f):
        """Return the smallest and largest allowed value of a column in the leaf."""
        domain, (low, high) = self.domain[f], self.ends.get(f, (-np.inf, np.inf))
        if domain.low <= domain.high:
            low = max(min(domain.value, domain.low), low)
            high = min(max(domain.value, domain.high), high)
        least = domain.above(low, room=0.0) if np.isfinite(low) else low
        most = domain.below(high, room=0.0) if np.isfinite(high) else high
        return (np.inf, -np.inf) if least is None or most is None else (least, most)

    def _solve(self, limits):
        """Return the squared cost and point of the projection, with each column in its limits."""
        bound = self.program.polytopes.bound.copy()
        part = self.bound.copy()
        for k in range(len(part) - 2 * len(self.program.columns[self.r]), len(part)):
            if (f := int(self.source[k])) in limits:
                part[k] = limits[f][0 if self.sign[k] < 0 else 1]
        bound[self.span] = part
        polytopes = self.program.polytopes._replace(bound=bound)
        square, force = _project(self.program, polytopes, self.row, np.array([self.r]))
        point = self.row.copy()
        if not np.isfinite(square[0]):
            return np.inf, point
        columns, normal = self.program.columns[self.r], self.program.normals[self.r]
        moved = -(force[0, : len(normal)] @ normal) / self.search.factor[columns]
        for f, by in zip(columns.tolist(), moved.tolist(), strict=True):
            if not np.isnan(point[f]):
                point[f] = min(max(point[f] + by, limits[f][0]), limits[f][1])
        return float(square[0]), point

    def _divide(self, limits, used, point):
        """Return the parts to search separately, or None if the point is allowed as it is."""
        for f in self.columns:
            domain = self.domain[f]
            if point[f] == self.row[f] or domain.holds(point[f]):
                continue
            low, high = limits[f]
            below, above = domain.below(point[f]), domain.above(point[f])
            parts = []
            if below is not None and below >= low:
                parts.append(({**limits, f: (low, below)}, used))
            if above is not None and above <= high:
                parts.append(({**limits, f: (above, high)}, used))
            return parts
        moved = [f for f in self.columns if point[f] != self.row[f]]
        changes = self._n_nominal()
        if len(moved) + changes <= self.search.most:
            return None
        open_columns = [f for f in moved if f not in used]
        if not open_columns:
            return []
        f = max(open_columns, key=lambda f: abs(point[f] - self.row[f]) * self.search.factor[f])
        parts, its_used = [(self._keeping(limits, [f]), used)], used | {f}
        if len(its_used) + changes < self.search.most:
            parts.append((limits, its_used))
        # The maximum number of columns has changed, so all others must keep their values.
        elif len(its_used) + changes == self.search.most:
            rest = [g for g in self.columns if g not in its_used]
            parts.append((self._keeping(limits, rest), its_used))
        return [(part, its_used) for part, its_used in parts if part is not None]

    def _keeping(self, limits, columns):
        """Return the limits if some columns keep their values; None if a value is outside."""
        if any(not limits[f][0] <= self.row[f] <= limits[f][1] for f in columns):
            return None
        return {**limits, **{f: (self.row[f], self.row[f]) for f in columns}}

    def _n_nominal(self):
        return sum(1 for f, code in self._categories() if code != self.row[f])

    def _categories(self):
        """Return the nominal columns of the leaf and their new values."""
        boxes = self.program.boxes
        for e in range(boxes.start[self.r], boxes.start[self.r + 1]):
            f = int(boxes.feature[e])
            if boxes.table[e] >= 0 and not np.isnan(self.row[f]):
                yield f, float(self.program.becomes[boxes.table[e] + int(self.row[f])])

    def _change(self, point):
        """Return the change to a point whose numbers lie exactly on their grids."""
        point = point.copy()
        for f in self.columns:
            if point[f] != self.row[f]:
                point[f] = self.domain[f].nearest(point[f])
        moved = (point != self.row) & ~np.isnan(self.row)
        square = float((((point - self.row) * self.search.factor)[moved] ** 2).sum())
        nominal = 0
        metric, given = self.search.subject.metric, self.search.constraints
        for f, code in self._categories():
            if code != self.row[f]:
                costs, nominal = given.category_costs(f, metric), nominal + 1
                square += float(costs[int(self.row[f]), int(code)]) ** 2
                point[f] = code
        return Change(square, int(moved.sum()) + nominal, point)


def _ends(boxes, r, single):
    """Yield the numeric columns of a box, with the smallest and largest number inside."""
    for e in range(boxes.start[r], boxes.start[r + 1]):
        if boxes.table[e] < 0:
            low, high = float(boxes.low[e]), float(boxes.high[e])
            if single:  # a number counts as inside if it rounds to a value inside
                low = -widened(-low) if np.isfinite(low) else low
                high = widened(high) if np.isfinite(high) else high
            yield int(boxes.feature[e]), (low, high)


def _project(program, polytopes, row, regions):
    """Return the squared distances of one row to some polytopes, and the multipliers."""
    widest = int(np.diff(polytopes.start).max(initial=1))
    square, force = np.full(len(regions), np.inf), np.zeros((len(regions), widest))
    rows = np.repeat(row[None], len(regions), axis=0)
    project_rows(rows, polytopes, np.asarray(regions, dtype=np.int64), square, force)
    return square, force


def _with_limits(region, tree):
    """Turn single-column tests into sides of the region's box, and add limits for every column."""
    box, sums = dict(region.box), []
    for half in region.halves:
        if half.is_column:
            f = half.terms[0][0]
            box[f] = _narrowed(box.get(f, ANYTHING), half, np.dtype(tree.compare_dtype).type)
        else:
            sums.append(half)
    numeric = {f for f, side in box.items() if not side.nominal}
    columns = sorted(numeric | {f for half in sums for f, _ in half.terms})
    limits = [Half(((f, 1.0),), sign, sign * np.inf, -1) for f in columns for sign in (1, -1)]
    return region._replace(box=box, halves=(*sums, *limits))


def _narrowed(side, half, dtype):
    """Return a side narrowed by a half-space, ending at numbers that the model can represent."""
    with np.errstate(over="ignore"):
        rounded = dtype(half.bound)
        exact = float(rounded)  # NumPy would round the bound to compare it with a float32
        if half.sign > 0:
            end = rounded if exact <= half.bound else np.nextafter(rounded, dtype(-np.inf))
            return side._replace(upper=min(side.upper, half.bound), high=min(side.high, float(end)))
        end = rounded if exact > half.bound else np.nextafter(rounded, dtype(np.inf))
    return side._replace(lower=max(side.lower, half.bound), low=max(side.low, float(end)))
