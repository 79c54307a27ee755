"""Project rows on one region each: exact distance, separator and nearest point."""

import numpy as np
from numba import boolean, float64, int64, void

from keeptree._kernels.jit import kernel, readonly

LARGEST_SINGLE = 3.4028234663852886e38
LARGEST_MOVE = 1e150  # as in keeptree.geometry.program: its square is finite


@kernel
def _compared(value, single):
    """The value the model compares."""
    if single:
        value = float64(np.float32(min(max(value, -LARGEST_SINGLE), LARGEST_SINGLE)))
    return value


@kernel(
    void(
        readonly(float64, 2),
        readonly(int64, 1, "C"),
        readonly(int64, 1, "C"),
        readonly(int64, 2, "C"),
        readonly(float64, 2, "C"),
        readonly(float64, 1, "C"),
        readonly(int64, 1, "C"),
        readonly(int64, 1, "C"),
        boolean,
        boolean,
        float64[::1],
        int64[::1],
        float64[:, ::1],
    )
)
def project_rows(
    X,
    region,
    start,
    nodes,
    bounds,
    cost,
    category,
    test,
    single,
    fill,
    distance,
    separator,
    point,
):
    """Fill distance, separator and (unless it has no column) point of each row and its region.

    The arrays in between are those of ``keeptree.geometry.regions.Regions``. The separator is the
    binding test of the coordinate that moves most, the lowest of ties. ``point`` comes in as a copy
    of X; a missing value gets a place inside only if ``fill``.
    """
    for i in range(len(region)):
        if region[i] < 0:
            continue
        total, largest = 0.0, -1.0
        for e in range(start[region[i]], start[region[i] + 1]):
            f, table = nodes[e, 0], nodes[e, 3]
            value = X[i, f]
            move, node, place = -1.0, int64(-1), value  # negative: it stays where it is
            if np.isnan(value):
                if not fill:
                    continue
                move = 0.0
                if table >= 0:
                    node, place = test[table + nodes[e, 1]], category[table + nodes[e, 1]]
                elif bounds[e, 1] < np.inf:
                    node, place = nodes[e, 2], bounds[e, 3]
                else:
                    node, place = nodes[e, 1], bounds[e, 2]
            elif table >= 0:
                code = table + int64(value)
                if category[code] != int64(value):
                    move, node, place = cost[code], test[code], category[code]
            else:
                compared = _compared(value, single)
                if compared > bounds[e, 1]:
                    move = (compared - bounds[e, 1]) * bounds[e, 4]
                    node, place = nodes[e, 2], bounds[e, 3]
                elif compared <= bounds[e, 0]:
                    move = (bounds[e, 0] - compared) * bounds[e, 4]
                    node, place = nodes[e, 1], bounds[e, 2]
            if move >= 0.0:
                move = min(move, LARGEST_MOVE)
                total += move * move
                if move > largest:
                    largest, separator[i] = move, node
                if point.shape[1] > 0:
                    point[i, f] = place
        distance[i] = np.sqrt(total)
