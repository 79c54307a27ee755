"""The kernel expert, slowly: one case, one training case, one coordinate at a time."""

import math


def class_sums(expert, row):
    """Sum over the landmarks of each class of mass x bell(distance) for one encoded row."""
    space, sums = expert.space, []
    for first, last in zip(expert.class_start[:-1], expert.class_start[1:], strict=True):
        total = 0.0
        for e in range(first, last):
            squared = 0.0
            for k, f in enumerate(space.feature):
                if f < 0 or math.isnan(row[f]) or math.isnan(expert.landmarks[e, k]):
                    continue
                start, stop = space.table_start[k], space.table_start[k + 1]
                if stop > start:
                    here = space.table[start + int(row[f])]
                else:
                    here = (row[f] - space.center[k]) * space.factor[k]
                    for e_bend in range(space.bend_start[k], space.bend_start[k + 1]):
                        at, size = space.bends[:, e_bend]
                        u = (row[f] - at) * space.slope[k]
                        here += size * u / math.sqrt(1 + u * u)
                squared += (here - expert.landmarks[e, k]) ** 2
            total += expert.mass[e] * max(1.0 - squared, 0.0) ** 64
        sums.append(total)
    return sums


def probability(expert, row):
    """Class probabilities of one row: the sums and the pseudo-cases at the prior."""
    sums = [
        s + expert.pseudo_cases * p
        for s, p in zip(class_sums(expert, row), expert.prior, strict=True)
    ]
    return [s / sum(sums) for s in sums]
