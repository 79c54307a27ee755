"""Gaussian sums over landmarks: for every row and class, the weight of the landmarks near it.

A block of rows lies transposed, so that the rows are the vector lanes: every landmark adds to all
rows of the block at once, and a row's sum is the same whatever block it is in. Distances are
float32: twice the lanes of float64, and the seven digits are more than a bandwidth deserves.
"""

from typing import NamedTuple

import numpy as np
from numpy import float32, float64, int64

from keeptree._compiled.declare import In, Out, entry, inlined
from keeptree._compiled.intrinsics import multiply_add

BLOCK = 256  # rows; their coordinates stay in the nearest cache
FAR = 1e18  # a scaled coordinate; its square is a finite float32
ZERO, HALF, ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)


class Space(NamedTuple):
    """What makes coordinates of a row.

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
    """Points with a mass, class c at ``class_start[c]:class_start[c + 1]``.

    They are in the coordinates of a space and some more that are 0, a multiple of four in all.
    """

    landmarks: In(float32, 2, "C")
    sharpness: In(float32, 1, "C")
    mass: In(float32, 1, "C")
    class_start: In(int64, 1, "C")


@inlined
def _bell(sharpness, squared):
    """(1 - s d²)^64, nearly exp(-64 s d²); 0 where that is less than 2^-64.

    Six products and no call: unlike an exp it vectorises as it stands, and every machine with fused
    multiply-add rounds it alike (see `multiply_add`).
    """
    x = multiply_add(-sharpness, squared, ONE)
    x = x if x > HALF else ZERO
    x *= x
    x *= x
    x *= x
    x *= x
    x *= x
    return x * x


@inlined
def _add_squares(block, k, landmark, squared):
    """Add to the squared distances of a block what four coordinates from ``k`` on contribute."""
    a, b, c, d = landmark[k], landmark[k + 1], landmark[k + 2], landmark[k + 3]
    for j in range(BLOCK):
        u, v = block[k, j] - a, block[k + 1, j] - b
        w, x = block[k + 2, j] - c, block[k + 3, j] - d
        s = multiply_add(v, v, multiply_add(u, u, squared[j]))
        squared[j] = multiply_add(x, x, multiply_add(w, w, s))


@inlined
def _pair_squares(block, j, k, a, b, c, d, e, f, g, h, s, t):
    """Add to the squared distances s and t of a row to two landmarks, reading the row once."""
    p, q, r, o = block[k, j], block[k + 1, j], block[k + 2, j], block[k + 3, j]
    u, v, w, x = p - a, q - b, r - c, o - d
    s = multiply_add(v, v, multiply_add(u, u, s))
    s = multiply_add(x, x, multiply_add(w, w, s))
    u, v, w, x = p - e, q - f, r - g, o - h
    t = multiply_add(v, v, multiply_add(u, u, t))
    return s, multiply_add(x, x, multiply_add(w, w, t))


@inlined
def _start_pair(block, k, one, two, squared, other):
    """Fill the squared distances of a block to two landmarks by four coordinates from ``k`` on."""
    a, b, c, d = one[k], one[k + 1], one[k + 2], one[k + 3]
    e, f, g, h = two[k], two[k + 1], two[k + 2], two[k + 3]
    for j in range(BLOCK):
        squared[j], other[j] = _pair_squares(block, j, k, a, b, c, d, e, f, g, h, ZERO, ZERO)


@inlined
def _add_pair(block, k, one, two, squared, other):
    """Add what four more coordinates contribute."""
    a, b, c, d = one[k], one[k + 1], one[k + 2], one[k + 3]
    e, f, g, h = two[k], two[k + 1], two[k + 2], two[k + 3]
    for j in range(BLOCK):
        squared[j], other[j] = _pair_squares(
            block, j, k, a, b, c, d, e, f, g, h, squared[j], other[j]
        )


@inlined
def _add_known(block, k, landmark, squared):
    """The same where values are missing: a missing coordinate (NaN) costs nothing."""
    for i in range(k, k + 4):
        a = landmark[i]
        for j in range(BLOCK):
            u = block[i, j] - a
            u = u if u == u else ZERO
            squared[j] = multiply_add(u, u, squared[j])


@inlined
def _place(value, start, stop, center, factor, slope, bends, out):
    """Fill the coordinates of a block's numbers: a line, and a bend at each threshold.

    A bend is size x u / sqrt(1 + u²), u being the slope times the distance from the threshold.
    """
    for j in range(BLOCK):
        x = (value[j] - center) * factor
        x = x if x > -FAR else -FAR
        out[j] = x if x < FAR else FAR
    for e in range(start, stop):
        at, size = bends[0, e], bends[1, e]
        for j in range(BLOCK):
            u = (value[j] - at) * slope
            u = u if u > -FAR else -FAR
            u = u if u < FAR else FAR
            out[j] += size * (u / np.sqrt(1.0 + u * u))


@entry
def weigh_landmarks(X: In(float64, 2), space: Space, cloud: Landmarks, out: Out(float64, 2)):
    """Fill ``out[row, c]`` with the sum over the landmarks of class c of mass x bell."""
    landmarks = cloud.landmarks
    n, width = X.shape[0], landmarks.shape[1]
    block, value, place = np.zeros((width, BLOCK), np.float32), np.zeros(BLOCK), np.zeros(BLOCK)
    squared, other = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    total = np.empty(BLOCK, np.float32)
    some_unknown = np.isnan(landmarks).any()
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        unknown = some_unknown
        for k in range(len(space.feature)):
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
                _place(value, first, last, center, factor, slope, space.bends, place)
            for j in range(m):
                known = value[j] == value[j]
                unknown |= not known
                block[k, j] = place[j] if known else np.nan
        for c in range(out.shape[1]):
            total[:] = ZERO
            end = cloud.class_start[c + 1]
            for e in range(cloud.class_start[c], end, 2):
                f = min(e + 1, end - 1)  # the last of an odd number again, with no weight
                if unknown or width == 0:
                    squared[:], other[:] = ZERO, ZERO
                    for k in range(0, width, 4):
                        _add_known(block, k, landmarks[e], squared)
                        _add_known(block, k, landmarks[f], other)
                else:
                    _start_pair(block, 0, landmarks[e], landmarks[f], squared, other)
                    for k in range(4, width, 4):
                        _add_pair(block, k, landmarks[e], landmarks[f], squared, other)
                weight, sharp = cloud.mass[e], cloud.sharpness[e]
                weight_f, sharp_f = cloud.mass[f] if f > e else ZERO, cloud.sharpness[f]
                for j in range(BLOCK):
                    sum_e = multiply_add(weight, _bell(sharp, squared[j]), total[j])
                    total[j] = multiply_add(weight_f, _bell(sharp_f, other[j]), sum_e)
            for j in range(m):
                out[start + j, c] = total[j]


@entry
def nearest_landmark(
    points: In(float32, 2, "C"),
    landmarks: In(float32, 2, "C"),
    out: Out(int64, 1),
):
    """Fill ``out`` with the landmark nearest to each point, the first of equally near ones.

    Both have a multiple of four coordinates, none of them missing.
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
                _add_squares(block, k, landmarks[e], squared)
            here = np.int32(e)
            for j in range(BLOCK):
                closer = squared[j] < least[j]
                least[j] = squared[j] if closer else least[j]
                nearest[j] = here if closer else nearest[j]
        for j in range(m):
            out[start + j] = nearest[j]
