"""The kernel expert in plain Python: one case, one landmark, one coordinate at a time.

As in the expert, every product and every sum is rounded to float32.
"""

import math

import numpy as np


def class_sums(expert, row):
    """Return, for one encoded row, the sum of mass x bell(distance) over each class's landmarks."""
    here, sums = coordinates(expert.space, row), []
    for first, last in zip(expert.class_start[:-1], expert.class_start[1:], strict=True):
        total = 0.0
        for e in range(first, last):
            distance = DISTANCES[expert.shape](here, expert.landmarks[e])
            height = bell(float(expert.sharpness[e]), distance)
            total = single(single(float(expert.mass[e]) * height) + total)
        sums.append(total)
    return sums


def probability(expert, row):
    """Return the class probabilities of one row: the sums plus prior pseudo-cases."""
    sums = [
        s + expert.pseudo_cases * p
        for s, p in zip(class_sums(expert, row), expert.prior, strict=True)
    ]
    return [s / sum(sums) for s in sums]


def coordinates(space, row):
    """Return the coordinates of one encoded row; NaN where missing."""
    result = []
    for k, f in enumerate(space.feature):
        start, stop = space.table_start[k], space.table_start[k + 1]
        if math.isnan(row[f]):
            here = math.nan
        elif stop > start:
            here = space.table[start + int(row[f])]
        else:
            here = (row[f] - space.center[k]) * space.factor[k]
            for e in range(space.bend_start[k], space.bend_start[k + 1]):
                at, size = space.bends[:, e]
                u = (row[f] - at) * space.slope[k]
                here += size * (u / math.sqrt(1 + u * u))
        result.append(single(here))
    return result


def absolute_distance(here, landmark):
    """Return the sum of the absolute differences of the coordinates that are known in both."""
    distance = 0.0
    for a, b in zip(here, landmark.tolist(), strict=False):  # landmarks are padded with zeros
        u = single(a - b)
        if not math.isnan(u):
            distance = single(abs(u) + distance)
    return distance


def squared_distance(here, landmark):
    """Return the squared distance over the coordinates that are known in both."""
    squared = 0.0
    for a, b in zip(here, landmark.tolist(), strict=False):  # landmarks are padded with zeros
        u = single(a - b)
        if not math.isnan(u):
            squared = single(single(u * u) + squared)
    return squared


DISTANCES = {"laplace": absolute_distance, "gaussian": squared_distance}


def bell(sharpness, distance):
    """Return (1 - s d)^64, or 0 if that is less than 2^-64."""
    x = single(1.0 - single(sharpness * distance))
    if x <= 0.5:
        return 0.0
    for _ in range(6):
        x = single(x * x)
    return x


def nearest_landmark(point, landmarks):
    """Return the nearest landmark; ties go to the first."""
    squared = [squared_distance(point.tolist(), landmark) for landmark in landmarks]
    return squared.index(min(squared))


def single(x):
    """Return the float32 nearest to a number."""
    return float(np.float32(x))
