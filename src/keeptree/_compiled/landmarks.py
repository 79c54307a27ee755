"""Sums over landmarks: the weight of nearby landmarks for every row and class.

A block of rows is transposed, so that the rows are the vector lanes: every landmark adds to all
rows of the block at once, and a row's sum does not depend on its block. If there are only a few
rows, each is processed separately. Distances are float32, which allows twice as many lanes as
float64; seven digits are more than enough for a bandwidth. Every product is rounded before it is
added, so that processors with and without fused multiply-add, and the report's page, compute the
same sums to the last bit.
"""

from typing import NamedTuple

import numpy as np
from numpy import float32, float64, int64

from keeptree._compiled.declare import In, Out, entry, inlined, inner

BLOCK = 384  # rows; their coordinates fit in the first-level cache
LANES = 32  # rows that are processed together: a few rows cost less than a block
FEW = 3  # rows that are processed one by one: too few for vector lanes to pay off
FAR = 1e18  # limit of a scaled coordinate; its square is a finite float32
ZERO, HALF, ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)


class Space(NamedTuple):
    """Description of how the coordinates of a row are computed.

    Coordinate k is the value in the column ``feature[k]`` minus ``frame[0, k]``, times
    ``frame[1, k]``, bent at the thresholds ``bends[0]`` from ``bend_start[k]`` on (see ``_place``);
    or for a nominal attribute ``table[table_start[k] + code]`` (a numeric one has no entries up to
    ``table_start[k + 1]``).
    """

    feature: In(int64, 1)
    frame: In(float64, 2)
    bend_start: In(int64, 1)
    bends: In(float64, 2, "C")
    table_start: In(int64, 1)
    table: In(float64, 1)


class Landmarks(NamedTuple):
    """Points with masses; those of class c are ``class_start[c]:class_start[c + 1]``.

    They have the coordinates of a space, padded with zeros to a multiple of four. ``columns`` holds
    the same points coordinate by coordinate, for use with a few rows; it may be empty. ``laplace``
    tells whether a distance is the sum of the absolute differences of the coordinates instead of
    that of their squares.
    """

    landmarks: In(float32, 2, "C")
    columns: In(float32, 2, "C")
    sharpness: In(float32, 1, "C")
    mass: In(float32, 1, "C")
    class_start: In(int64, 1, "C")
    laplace: bool


@inlined
def _bell(sharpness, distance):
    """Return (1 - s d)^64, nearly exp(-64 s d); 0 where that is less than 2^-64.

    It uses only products and a difference. Unlike exp, it therefore vectorises without a call, and
    every processor rounds it in the same way.
    """
    x = ONE - sharpness * distance
    x = x if x > HALF else ZERO
    x *= x
    x *= x
    x *= x
    x *= x
    x *= x
    return x * x


@inlined
def _apart(laplace, gap):
    """Return what the difference of two coordinates adds to the distance."""
    return abs(gap) if laplace else gap * gap


@inlined
def _add_squares(size, block, k, landmark, squared):
    """Add four coordinates from ``k`` on to the squared distances of a block."""
    a, b, c, d = landmark[k], landmark[k + 1], landmark[k + 2], landmark[k + 3]
    for j in range(size):
        u, v = block[k, j] - a, block[k + 1, j] - b
        w, x = block[k + 2, j] - c, block[k + 3, j] - d
        squared[j] = (((squared[j] + u * u) + v * v) + w * w) + x * x


@inlined
def _add_known(laplace, size, block, k, landmark, distance):
    """Add one coordinate if values may be missing; a missing value (NaN) adds nothing."""
    a = landmark[k]
    for j in range(size):
        u = block[k, j] - a
        u = u if u == u else ZERO
        distance[j] += _apart(laplace, u)


@inlined
def _weigh(pair, s, t, total):
    """Add the weights of two landmarks at the distances s and t to a sum."""
    sharp, sharp_f, mass, mass_f = pair
    return (total + mass * _bell(sharp, s)) + mass_f * _bell(sharp_f, t)


@inlined
def _go_on(laplace, first, last, count, size, block, k, one, two, pair, near, other, total):
    """Add ``count`` coordinates from ``k`` on to the distances to two landmarks.

    If ``first``, the sums start at zero; if ``last``, the landmarks are weighed. The first four
    arguments are constants.
    """
    a, b, c, d = one[k], one[k + 1], one[k + 2], one[k + 3]
    e, f, g, h = two[k], two[k + 1], two[k + 2], two[k + 3]
    for j in range(size):
        u, v = block[k, j] - a, block[k, j] - e
        s, t = _apart(laplace, u), _apart(laplace, v)
        if not first:
            s, t = near[j] + s, other[j] + t
        if count > 1:
            u, v = block[k + 1, j] - b, block[k + 1, j] - f
            s, t = s + _apart(laplace, u), t + _apart(laplace, v)
        if count > 2:
            u, v = block[k + 2, j] - c, block[k + 2, j] - g
            s, t = s + _apart(laplace, u), t + _apart(laplace, v)
        if count > 3:
            u, v = block[k + 3, j] - d, block[k + 3, j] - h
            s, t = s + _apart(laplace, u), t + _apart(laplace, v)
        if last:
            total[j] = _weigh(pair, s, t, total[j])
        else:
            near[j], other[j] = s, t


@inlined
def _finish(laplace, first, count, size, block, k, one, two, pair, near, other, total):
    """Add the last one to four coordinates and weigh the landmarks."""
    if count == 1:
        _go_on(laplace, first, True, 1, size, block, k, one, two, pair, near, other, total)
    elif count == 2:
        _go_on(laplace, first, True, 2, size, block, k, one, two, pair, near, other, total)
    elif count == 3:
        _go_on(laplace, first, True, 3, size, block, k, one, two, pair, near, other, total)
    else:
        _go_on(laplace, first, True, 4, size, block, k, one, two, pair, near, other, total)


@inlined
def _add_pair(laplace, size, block, d, one, two, pair, near, other, total):
    """Add the weights of two landmarks to every row of a block without missing values."""
    if d <= 4:
        _finish(laplace, True, d, size, block, 0, one, two, pair, near, other, total)
        return
    _go_on(laplace, True, False, 4, size, block, 0, one, two, pair, near, other, total)
    k = 4
    while k + 4 < d:
        _go_on(laplace, False, False, 4, size, block, k, one, two, pair, near, other, total)
        k += 4
    _finish(laplace, False, d - k, size, block, k, one, two, pair, near, other, total)


@inner
def _add_known_pair(laplace, size, block, d, one, two, pair, near, other, total):
    """Do the same as ``_add_pair`` if values are missing or there are no coordinates."""
    near[:], other[:] = ZERO, ZERO
    for k in range(d):
        _add_known(laplace, size, block, k, one, near)
        _add_known(laplace, size, block, k, two, other)
    for j in range(size):
        total[j] = _weigh(pair, near[j], other[j], total[j])


@inlined
def _place(size, value, start, stop, center, factor, slope, bends, out):
    """Fill the coordinates of numeric values: linear, with a bend at each threshold.

    A bend is height x u / sqrt(1 + u²), where u is the slope times the distance from the threshold.
    """
    for j in range(size):
        x = (value[j] - center) * factor
        x = x if x > -FAR else -FAR
        out[j] = x if x < FAR else FAR
    for e in range(start, stop):
        at, height = bends[0, e], bends[1, e]
        for j in range(size):
            u = (value[j] - at) * slope
            u = u if u > -FAR else -FAR
            u = u if u < FAR else FAR
            out[j] += height * (u / np.sqrt(1.0 + u * u))


@inner
def _weigh_row(laplace, block, j, d, columns, sharpness, mass, start, stop, near):
    """Return the sum over some landmarks for one row, equal to the block's sum to the last bit.

    Here the landmarks are the vector lanes; their weights are added one after another.
    """
    total = ZERO
    for first in range(start, stop, BLOCK):
        n = min(BLOCK, stop - first)
        near[:n] = ZERO
        for k in range(d):
            here, column = block[k, j], columns[k, first : first + n]
            for i in range(n):
                u = here - column[i]
                u = u if u == u else ZERO
                near[i] += _apart(laplace, u)
        sharp, weight = sharpness[first : first + n], mass[first : first + n]
        for i in range(n):
            near[i] = weight[i] * _bell(sharp[i], near[i])
        for i in range(n):
            total += near[i]
    return total


@entry
def weigh_landmarks(X: In(float64, 2), space: Space, cloud: Landmarks, out: Out(float64, 2)):
    """Fill ``out[row, c]`` with the sum over the landmarks of class c of mass x bell."""
    landmarks, columns, sharpness, mass, class_start, laplace = cloud
    n, width, d = X.shape[0], landmarks.shape[1], len(space.feature)
    room = min(BLOCK, -(-n // LANES) * LANES)
    block, value, place = np.zeros((width, room), np.float32), np.zeros(room), np.zeros(room)
    near, other = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    total = np.empty(room, np.float32)
    few = FEW if len(columns) else 0
    some_unknown = n > few and np.isnan(landmarks).any()
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        size = m if m <= few else -(-m // LANES) * LANES
        unknown = some_unknown
        for k in range(d):
            for j in range(m):
                value[j] = X[start + j, space.feature[k]]
            if space.table_start[k + 1] > space.table_start[k]:
                for j in range(m):
                    code = value[j]
                    place[j] = (
                        space.table[space.table_start[k] + int64(code)] if code == code else code
                    )
            else:
                first, last = space.bend_start[k], space.bend_start[k + 1]
                center, factor, slope = space.frame[0, k], space.frame[1, k], space.frame[2, k]
                _place(size, value, first, last, center, factor, slope, space.bends, place)
            for j in range(m):
                known = value[j] == value[j]
                unknown |= not known
                block[k, j] = place[j] if known else np.nan
        for c in range(out.shape[1]):
            end = class_start[c + 1]
            if m <= few:
                for j in range(m):
                    out[start + j, c] = _weigh_row(
                        laplace, block, j, d, columns, sharpness, mass, class_start[c], end, near
                    )
                continue
            total[:] = ZERO
            for e in range(class_start[c], end, 2):
                f = min(e + 1, end - 1)  # if the number is odd, the last again, without weight
                pair = sharpness[e], sharpness[f], mass[e], mass[f] if f > e else ZERO
                one, two = landmarks[e], landmarks[f]
                if unknown or d == 0:
                    _add_known_pair(laplace, size, block, d, one, two, pair, near, other, total)
                elif laplace:
                    _add_pair(True, size, block, d, one, two, pair, near, other, total)
                else:
                    _add_pair(False, size, block, d, one, two, pair, near, other, total)
            for j in range(m):
                out[start + j, c] = total[j]


@entry
def nearest_landmark(
    points: In(float32, 2, "C"),
    landmarks: In(float32, 2, "C"),
    out: Out(int64, 1),
):
    """Fill ``out`` with the landmark nearest to each point; ties go to the first.

    Points and landmarks have a multiple of four coordinates, none of them missing.
    """
    n, width = points.shape
    block = np.zeros((width, BLOCK), np.float32)
    squared, least = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    nearest = np.empty(BLOCK, np.int32)
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        for k in range(width):
            for j in range(m):
                block[k, j] = points[start + j, k]
        least[:] = np.inf
        nearest[:] = 0
        for e in range(len(landmarks)):
            squared[:] = ZERO
            for k in range(0, width, 4):
                _add_squares(BLOCK, block, k, landmarks[e], squared)
            here = np.int32(e)
            for j in range(BLOCK):
                closer = squared[j] < least[j]
                least[j] = squared[j] if closer else least[j]
                nearest[j] = here if closer else nearest[j]
        for j in range(m):
            out[start + j] = nearest[j]
