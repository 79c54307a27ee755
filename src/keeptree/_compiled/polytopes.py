"""Project rows onto polytopes, the regions of a tree with oblique tests.

A polytope is a sequence of half-spaces, each on a column or on a weighted sum of columns. In the
metric their normals have length 1. For each polytope, ``normal`` holds them in coordinates of their
own span, so the projection of a row is the shortest ``y`` with ``normal @ y <= slack``. The dual
active set method of Goldfarb and Idnani (1983) finds it: constraints are added, the most violated
first, until none is violated, and those whose multiplier would turn negative are dropped.
"""

from typing import NamedTuple

import numpy as np
from numpy import float64, int64

from keeptree._compiled.declare import In, Out, entry, inner

_TOLERANCE = 1e-12  # tolerance of a violation in the metric, relative to the size of the slacks
_TIE = 1.0 - 2.0**-36  # squared distances that agree to this precision count as equal


class Polytopes(NamedTuple):
    """Polytopes; polytope r has the half-spaces ``start[r]`` to ``start[r + 1]``.

    Half-space k requires ``sign[k] * value <= sign[k] * bound[k]``, where the value is column
    ``source[k]`` or, beyond the last column, a weighted sum. ``length[k]`` is the length of one
    unit of it in the metric, and ``test[k]`` the node that imposes it. Sum s has the terms
    ``term_start[s]`` to ``term_start[s + 1]``. The normals of polytope r are rows of length
    ``rank[r]`` that start at ``normal[normal_start[r]]``. Its nominal sides are ``side_start[r]``
    to ``side_start[r + 1]``: for the column ``side_feature``, costs start at ``table``, with a
    missing value after the last of ``n_codes``, and ``failed`` is the test that imposes the side.
    """

    label: In(int64, 1, "C")
    start: In(int64, 1, "C")
    source: In(int64, 1, "C")
    sign: In(float64, 1, "C")
    bound: In(float64, 1, "C")
    length: In(float64, 1, "C")
    test: In(int64, 1, "C")
    term_start: In(int64, 1, "C")
    term_feature: In(int64, 1, "C")
    term_weight: In(float64, 1, "C")
    rank: In(int64, 1, "C")
    normal_start: In(int64, 1, "C")
    normal: In(float64, 1, "C")
    side_start: In(int64, 1, "C")
    side_feature: In(int64, 1, "C")
    table: In(int64, 1, "C")
    n_codes: In(int64, 1, "C")
    cost: In(float64, 1, "C")
    failed: In(int64, 1, "C")


@entry
def nearest_polytopes(
    rows: In(float64, 2),
    polytopes: Polytopes,
    own: In(int64, 1),
    wanted: In(int64, 1),
    region: Out(int64, 1),
    distance: Out(float64, 1),
    separator: Out(int64, 1),
):
    """Fill the nearest polytope of the wanted class, or of any other class if it is negative.

    If there is none, the region is -1 and the distance infinite. The separator is the test of the
    half-space with the largest multiplier, along whose normal the row moves most. For a row that
    touches the polytope, it is the test on whose threshold the row lies.
    """
    label, n_regions = polytopes.label, len(polytopes.label)
    work, values = _make_work(polytopes), np.empty(_width(rows, polytopes))
    bound = np.empty(n_regions)
    for i in range(rows.shape[0]):
        _fill_values(rows, i, polytopes, values)
        for r in range(n_regions):
            fits = label[r] == wanted[i] if wanted[i] >= 0 else label[r] != own[i]
            bound[r] = _lower_bound(values, polytopes, r) if fits else np.inf
        region[i], best = _search(values, polytopes, bound, work)
        distance[i] = np.sqrt(best)
        separator[i] = -1
        if region[i] >= 0:
            _project(values, polytopes, region[i], np.inf, work)
            separator[i] = _strongest(values, polytopes, region[i], work)


@entry
def class_polytopes(
    rows: In(float64, 2), polytopes: Polytopes, own: In(int64, 1), distance: Out(float64, 2)
):
    """Fill the distance of each row to each class: 0 to its own, infinite without a polytope."""
    label, n_regions = polytopes.label, len(polytopes.label)
    work, values = _make_work(polytopes), np.empty(_width(rows, polytopes))
    lower, bound = np.empty(n_regions), np.empty(n_regions)
    for i in range(rows.shape[0]):
        _fill_values(rows, i, polytopes, values)
        for r in range(n_regions):
            lower[r] = np.inf if label[r] == own[i] else _lower_bound(values, polytopes, r)
        for c in range(distance.shape[1]):
            distance[i, c] = 0.0
            if c != own[i]:
                for r in range(n_regions):
                    bound[r] = lower[r] if label[r] == c else np.inf
                distance[i, c] = np.sqrt(_search(values, polytopes, bound, work)[1])


@entry
def project_rows(
    rows: In(float64, 2),
    polytopes: Polytopes,
    region: In(int64, 1),
    square: Out(float64, 1),
    multiplier: Out(float64, 2),
):
    """Fill the squared distance of each row to its polytope and the half-spaces' multipliers.

    ``multiplier[i, k]`` belongs to half-space ``start[region[i]] + k`` and is 0 if it does not
    bind. The distance is infinite if the polytope is empty. Rows with a negative region are
    skipped.
    """
    work, values = _make_work(polytopes), np.empty(_width(rows, polytopes))
    for i in range(rows.shape[0]):
        if region[i] < 0:
            continue
        _fill_values(rows, i, polytopes, values)
        square[i] = _project(values, polytopes, region[i], np.inf, work)
        for a in range(work.state[0]):
            multiplier[i, work.active[a]] = work.weight[a]


class _Work(NamedTuple):
    """Work space of one projection: slacks, violations, active half-spaces, vectors."""

    slack: In(float64, 1, "C")
    state: In(int64, 1, "C")  # number of active half-spaces
    active: In(int64, 1, "C")
    weight: In(float64, 1, "C")  # multipliers, in the order of ``active``
    y: In(float64, 1, "C")
    direction: In(float64, 1, "C")
    step: In(float64, 1, "C")  # how the multipliers change
    basis: In(float64, 2, "C")  # orthonormal rows that span the active normals
    upper: In(float64, 2, "C")  # coefficients that combine them into the normals


@inner
def _make_work(polytopes):
    most, widest = 1, 1
    for r in range(len(polytopes.label)):
        most = max(most, polytopes.start[r + 1] - polytopes.start[r])
        widest = max(widest, polytopes.rank[r])
    return _Work(
        np.empty(most),
        np.zeros(1, dtype=int64),
        np.zeros(most + 1, dtype=int64),
        np.zeros(most + 1),
        np.empty(widest),
        np.empty(widest),
        np.empty(most + 1),
        np.empty((most + 1, widest)),
        np.empty((most + 1, most + 1)),
    )


@inner
def _width(rows, polytopes):
    return rows.shape[1] + len(polytopes.term_start) - 1


@inner
def _fill_values(rows, i, polytopes, values):
    """Fill the columns of row i, followed by the weighted sums."""
    start, feature, weight = polytopes.term_start, polytopes.term_feature, polytopes.term_weight
    width = rows.shape[1]
    for f in range(width):
        values[f] = rows[i, f]
    for s in range(len(start) - 1):
        total = 0.0
        for k in range(start[s], start[s + 1]):
            total += rows[i, feature[k]] * weight[k]
        values[width + s] = total


@inner
def _slack(values, polytopes, k):
    """Return how far inside a half-space a row is; infinite if a value is missing."""
    value = values[polytopes.source[k]]
    if np.isnan(value):
        return np.inf
    return polytopes.sign[k] * (polytopes.bound[k] - value) * polytopes.length[k]


@inner
def _nominal_cost(values, polytopes, r):
    """Return the squared cost of the nominal sides of a polytope."""
    table, n_codes, cost = polytopes.table, polytopes.n_codes, polytopes.cost
    total = 0.0
    for e in range(polytopes.side_start[r], polytopes.side_start[r + 1]):
        value = values[polytopes.side_feature[e]]
        code = n_codes[e] if np.isnan(value) else int64(value)
        total += cost[table[e] + code] ** 2
    return total


@inner
def _lower_bound(values, polytopes, r):
    """Return the squared distance to the farthest half-space, plus the cost of nominal sides."""
    farthest = 0.0
    for k in range(polytopes.start[r], polytopes.start[r + 1]):
        farthest = max(farthest, -_slack(values, polytopes, k))
    return _nominal_cost(values, polytopes, r) + farthest * farthest


@inner
def _search(values, polytopes, bound, work):
    """Return the nearest polytope and its squared distance; ties go to the first.

    ``bound`` holds lower bounds, infinite for polytopes that do not count; it is overwritten.
    """
    best, chosen = np.inf, -1
    while True:
        r, least = -1, np.inf
        for candidate in range(len(bound)):
            if bound[candidate] < least:
                r, least = candidate, bound[candidate]
        if r < 0 or least > best:
            return chosen, best
        bound[r] = np.inf
        square = _project(values, polytopes, r, best, work)
        if square < best * _TIE or (square <= best / _TIE and r < chosen):
            best, chosen = square, r


@inner
def _project(values, polytopes, r, limit, work):
    """Return the squared distance to a polytope; infinite if it is empty or beyond ``limit``.

    Afterwards ``work`` holds the active half-spaces, by their position in the polytope, and their
    multipliers.
    """
    first, rank = polytopes.start[r], polytopes.rank[r]
    m = polytopes.start[r + 1] - first
    normal = polytopes.normal[polytopes.normal_start[r] :]
    slack, y = work.slack, work.y
    work.state[0] = 0
    nominal = _nominal_cost(values, polytopes, r)
    size = 0.0
    for k in range(m):
        slack[k] = _slack(values, polytopes, first + k)
        if slack[k] < 0.0:
            size = max(size, -slack[k])
    if size == 0.0 or nominal == np.inf:
        return nominal
    y[:rank] = 0.0
    tolerance = 0.0
    for _ in range(100 + 20 * m):
        worst, p = tolerance, -1
        for k in range(m):
            over = _dot(normal, k, y, rank) - slack[k]
            if over > worst and not _is_active(work, k):
                worst, p = over, k
        square = 0.0
        for j in range(rank):
            square += y[j] * y[j]
        if p < 0 or nominal + square > limit * (1.0 + 1e-9):
            break
        tolerance = _TOLERANCE * max(size, 1e-300)
        if not _add(normal, rank, p, worst, work):
            return np.inf
    _polish(normal, rank, work)
    square = nominal
    for j in range(rank):
        square += y[j] * y[j]
    return square


@inner
def _dot(normal, k, y, rank):
    total = 0.0
    for j in range(rank):
        total += normal[k * rank + j] * y[j]
    return total


@inner
def _is_active(work, k):
    found = False
    for a in range(work.state[0]):
        found |= work.active[a] == k
    return found


@inner
def _add(normal, rank, p, over, work):
    """Move until half-space p holds, dropping others on the way; return False if impossible."""
    active, weight, step, state = work.active, work.weight, work.step, work.state
    y, direction = work.y, work.direction
    own = 0.0  # multiplier of p
    while True:
        length = _split(normal, rank, p, work)
        n = state[0]
        shortest, dropped = np.inf, -1
        for a in range(n):
            if step[a] > 0.0 and weight[a] < shortest * step[a]:
                shortest, dropped = weight[a] / step[a], a
        full = over / length if length > 1e-20 else np.inf
        move = min(shortest, full)
        if move == np.inf:
            return False
        for a in range(n):
            weight[a] -= move * step[a]
        own += move
        if full < np.inf:
            for j in range(rank):
                y[j] -= move * direction[j]
            over -= move * length
        if move == full:
            active[n], weight[n] = p, own
            state[0] = n + 1
            return True
        for a in range(dropped, n - 1):
            active[a], weight[a] = active[a + 1], weight[a + 1]
        state[0] = n - 1


@inner
def _split(normal, rank, p, work):
    """Split a normal into a combination of the active normals and a remainder.

    Fills ``step`` (the combination) and ``direction`` (the remainder); returns the remainder's
    square.
    """
    basis, upper, step, direction = work.basis, work.upper, work.step, work.direction
    active, n = work.active, work.state[0]
    for a in range(n):
        for j in range(rank):
            basis[a, j] = normal[active[a] * rank + j]
        _orthogonalise(basis, upper, a, rank, basis[a])
        length = 0.0
        for j in range(rank):
            length += basis[a, j] * basis[a, j]
        upper[a, a] = np.sqrt(length)
        for j in range(rank):
            basis[a, j] /= upper[a, a]
    for j in range(rank):
        direction[j] = normal[p * rank + j]
    _orthogonalise(basis, upper, n, rank, direction)
    for a in range(n - 1, -1, -1):
        total = upper[a, n]
        for b in range(a + 1, n):
            total -= upper[a, b] * step[b]
        step[a] = total / upper[a, a]
    length = 0.0
    for j in range(rank):
        length += direction[j] * direction[j]
    return length


@inner
def _orthogonalise(basis, upper, n, rank, vector):
    """Subtract the projections onto n basis vectors twice; store them in ``upper[:n, n]``."""
    for a in range(n):
        upper[a, n] = 0.0
    for _ in range(2):
        for a in range(n):
            inside = 0.0
            for j in range(rank):
                inside += basis[a, j] * vector[j]
            upper[a, n] += inside
            for j in range(rank):
                vector[j] -= inside * basis[a, j]


@inner
def _polish(normal, rank, work):
    """Solve for the active half-spaces again, without the rounding accumulated so far."""
    basis, upper, step, slack = work.basis, work.upper, work.step, work.slack
    active, weight, y, n = work.active, work.weight, work.y, work.state[0]
    if n == 0:
        return
    _split(normal, rank, active[0], work)  # fills the basis
    for a in range(n):  # along the basis
        total = slack[active[a]]
        for b in range(a):
            total -= upper[b, a] * step[b]
        step[a] = total / upper[a, a]
    for j in range(rank):
        total = 0.0
        for a in range(n):
            total += basis[a, j] * step[a]
        y[j] = total
    for a in range(n - 1, -1, -1):
        total = -step[a]
        for b in range(a + 1, n):
            total -= upper[a, b] * weight[b]
        weight[a] = total / upper[a, a]


@inner
def _strongest(values, polytopes, r, work):
    """Return the test along whose normal, or in whose category, a projected row moves most."""
    most, chosen = 0.0, -1
    for e in range(polytopes.side_start[r], polytopes.side_start[r + 1]):
        value = values[polytopes.side_feature[e]]
        code = polytopes.table[e] + (polytopes.n_codes[e] if np.isnan(value) else int64(value))
        if polytopes.cost[code] > most:
            most, chosen = polytopes.cost[code], polytopes.failed[code]
    for a in range(work.state[0]):
        if work.weight[a] > most:
            most, chosen = work.weight[a], polytopes.test[polytopes.start[r] + work.active[a]]
    if chosen < 0:  # the row touches the polytope
        for k in range(polytopes.start[r], polytopes.start[r + 1]):
            if _slack(values, polytopes, k) == 0.0:
                return polytopes.test[k]
    return chosen
