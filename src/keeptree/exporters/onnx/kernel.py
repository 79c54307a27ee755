"""The kernel expert in the graph: float32, every product and sum rounded, in Python's order.

Landmarks are rows and cases are columns of all matrices, so that sums over landmarks run through
memory in order.
"""

import numpy as np

_FAR = 1e18
_SQUARINGS = 6  # (1 - s d)^64


def add_kernel(cases, model):
    """Probabilities of each row: (rows, classes)."""
    graph = cases.graph
    weight = _bells(graph, _coordinates(cases, model), model)
    sums = [
        _sum_class(cases, weight, model, first, last) + model["pseudo"] * prior
        for first, last, prior in zip(
            model["start"][:-1], model["start"][1:], model["prior"], strict=True
        )
    ]
    sums = graph.concat([total.upright() for total in sums])
    return sums / sums.sum()


def _coordinates(cases, model):
    """Coordinates of the rows: a float32 vector for each, NaN where a value is missing."""
    graph, found = cases.graph, []
    for k, attribute in enumerate(model["attribute"]):
        value = cases.raw.take([attribute])
        if model["table"][k] is not None:
            code = graph.where(value.is_nan(), graph.constant(0.0), value).at_least(0.0)
            place = graph.constant(np.array(model["table"][k])).take(code.cast(np.int64), axis=0)
        else:
            place = _place(graph, value, model, k)
        place = graph.where(value.is_nan(), value, place)
        found.append(place.flat().cast(np.float32))
    return found


def _place(graph, value, model, k):
    """A number as a coordinate: a line, and a bend at each threshold of the tree.

    The bends are added one after the other, as in Python: the sum is rounded to float32.
    """
    line = _bounded((value - model["center"][k]) * model["factor"][k])
    if not model["bends"][k]:
        return line
    at, size = np.array(model["bends"][k]).T
    u = _bounded((value - at) * model["slope"][k])
    bends = (u / (u * u + 1.0).sqrt()) * size
    return graph.concat([line, bends]).running_total(1).take([len(at)])


def _bounded(value):
    return value.at_least(-_FAR).at_most(_FAR)


def _bells(graph, here, model):
    """Weight of each landmark at each row: (landmarks, rows)."""
    landmarks = np.asarray(model["landmarks"], dtype=np.float32)
    distance = graph.constant(np.zeros((len(landmarks), 1), dtype=np.float32))
    for k, coordinate in enumerate(here):
        gap = coordinate - landmarks[:, [k]]
        gap = graph.where(gap.is_nan(), graph.constant(np.float32(0.0)), gap)
        distance = distance + (abs(gap) if model["laplace"] else gap * gap)
    sharpness, mass = (np.asarray(model[name])[:, None] for name in ("sharpness", "mass"))
    bell = 1.0 - distance * sharpness
    bell = graph.where(bell > 0.5, bell, graph.constant(np.float32(0.0)))
    for _ in range(_SQUARINGS):
        bell = bell * bell
    return bell * mass


def _sum_class(cases, weight, model, first, last):
    """Sum of the weights of a class, one landmark after the other."""
    graph = cases.graph
    if first == last:
        return graph.fill(cases.rows, 0.0, np.float64)
    part = weight
    if last - first < len(model["mass"]):
        bounds = (graph.constant([at], np.int64) for at in (first, last, 0))
        part = graph.op("Slice", weight, *bounds)
    total = part.running_total(0).take(last - first - 1, axis=0)
    if not model["attribute"]:  # no coordinates: the same for all rows
        return graph.fill(cases.rows, 0.0, np.float64) + total.cast(np.float64)
    return total.cast(np.float64)
