"""Gaussian sums over landmarks: for every row and class, the weight of the landmarks near it.

A block of rows lies transposed, so that the rows are the vector lanes: every landmark adds to all
rows of the block at once, and a row's sum is the same whatever block it is in.
"""

from functools import partial

import numpy as np
from numba import float64, int64, void

from keeptree._kernels.jit import kernel, readonly

inlined = partial(kernel, cache=False, forceinline=True)

BLOCK = 128  # rows; their coordinates stay in the nearest cache
FAR = 1e100  # a scaled coordinate; its square is finite


@inlined
def _bell(squared):
    """(1 - d²)^64, 0 beyond distance 1: nearly exp(-64 d²), by six products and no call.

    Unlike an exp it vectorises as it stands, and every machine and language rounds it alike.
    """
    x = 1.0 - squared
    x = x if x > 0.0 else 0.0
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
        squared[j] += (u * u + v * v) + (w * w + x * x)


@inlined
def _add_known(block, k, landmark, squared):
    """The same where values are missing: a missing coordinate (NaN) costs nothing."""
    for i in range(k, k + 4):
        a = landmark[i]
        for j in range(BLOCK):
            u = block[i, j] - a
            squared[j] += u * u if u == u else 0.0


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


@kernel(
    void(
        readonly(float64, 2),
        readonly(int64, 1),
        readonly(float64, 2),
        readonly(int64, 1),
        readonly(float64, 2, "C"),
        readonly(int64, 1),
        readonly(float64, 1),
        readonly(float64, 2, "C"),
        readonly(float64, 1, "C"),
        readonly(int64, 1, "C"),
        float64[:, ::1],
    )
)
def weigh_landmarks(
    X,
    feature,
    frame,
    bend_start,
    bends,
    table_start,
    table,
    landmarks,
    mass,
    class_start,
    out,
):
    """Fill ``out[row, c]`` with the sum over the landmarks of class c of mass x bell(distance).

    Coordinate k of a row is its value in the column ``feature[k]`` minus ``frame[0, k]``, times
    ``frame[1, k]``, bent at the thresholds ``bends[0]`` from ``bend_start[k]`` on (see ``_place``);
    or for a nominal attribute ``table[table_start[k] + code]`` (a numeric one has no entries up to
    ``table_start[k + 1]``). There are a multiple of four coordinates (``feature`` -1: always 0).
    Landmarks are in the same coordinates, class c at ``class_start[c]:class_start[c + 1]``.
    """
    n, width = X.shape[0], len(feature)
    block, value = np.zeros((width, BLOCK)), np.zeros(BLOCK)
    squared, total = np.empty(BLOCK), np.empty(BLOCK)
    some_unknown = np.isnan(landmarks).any()
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        unknown = some_unknown
        for k in range(width):
            if feature[k] < 0:
                continue
            nominal = table_start[k + 1] > table_start[k]
            for j in range(m):
                value[j] = X[start + j, feature[k]]
            if nominal:
                for j in range(m):
                    code = value[j]
                    block[k, j] = table[table_start[k] + int64(code)] if code == code else code
            else:
                first, last = bend_start[k], bend_start[k + 1]
                center, factor, slope = frame[0, k], frame[1, k], frame[2, k]
                _place(value, first, last, center, factor, slope, bends, block[k])
            for j in range(m):
                if value[j] != value[j]:
                    unknown = True
                    block[k, j] = np.nan
        for c in range(out.shape[1]):
            total[:] = 0.0
            for e in range(class_start[c], class_start[c + 1]):
                squared[:] = 0.0
                landmark = landmarks[e]
                if unknown:
                    for k in range(0, width, 4):
                        _add_known(block, k, landmark, squared)
                else:
                    for k in range(0, width, 4):
                        _add_squares(block, k, landmark, squared)
                weight = mass[e]
                for j in range(BLOCK):
                    total[j] += weight * _bell(squared[j])
            for j in range(m):
                out[start + j, c] = total[j]
