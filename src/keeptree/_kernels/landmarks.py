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


@kernel(
    void(
        readonly(float64, 2),
        readonly(int64, 1),
        readonly(float64, 2),
        readonly(int64, 1),
        readonly(float64, 1),
        readonly(float64, 2, "C"),
        readonly(float64, 1, "C"),
        readonly(int64, 1, "C"),
        float64[:, ::1],
    )
)
def weigh_landmarks(X, feature, frame, table_start, table, landmarks, mass, class_start, out):
    """Fill ``out[row, c]`` with the sum over the landmarks of class c of mass x bell(distance).

    Coordinate k of a row is ``(X[:, feature[k]] - frame[0, k]) * frame[1, k]``, or for a nominal
    attribute ``table[table_start[k] + code]`` (a numeric one has no entries up to
    ``table_start[k + 1]``). There are a multiple of four coordinates (``feature`` -1: always 0).
    Landmarks are in the same coordinates, class c at ``class_start[c]:class_start[c + 1]``.
    """
    n, width = X.shape[0], len(feature)
    block, squared, total = np.zeros((width, BLOCK)), np.empty(BLOCK), np.empty(BLOCK)
    some_unknown = np.isnan(landmarks).any()
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        unknown = some_unknown
        for k in range(width):
            if feature[k] < 0:
                continue
            for j in range(m):
                value = X[start + j, feature[k]]
                if value != value:
                    unknown = True
                elif table_start[k + 1] > table_start[k]:
                    value = table[table_start[k] + int64(value)]
                else:
                    value = min(max((value - frame[0, k]) * frame[1, k], -FAR), FAR)
                block[k, j] = value
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
