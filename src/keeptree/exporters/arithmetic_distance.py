"""How exported Python code computes the distance kernel; see :mod:`.arithmetic`."""

import math

from keeptree.exporters.arithmetic import single, unpack
from keeptree.exporters.arithmetic_boxes import box_distances, in_single, is_beside, main_leaf


def distance(tree, model, x):
    """Return probabilities from the distance to the decision boundary of each class."""
    curve = 0 if model["curve"] is None else model["curve"][main_leaf(tree, x)]
    return curve_shares(tree, model, x, curve)


def curve_shares(tree, model, x, curve):
    """Look up the share of each class at its distance, and normalise."""
    h = algebraic_distances(tree, model, x)
    n_curves = len(model["axis"]) // len(model["estimated"])
    if len(model["prior"]) == 2:
        first = curve_share(model, curve, h[0])
        return [first, 1 - first]
    p = [0.0 if c in model["estimated"] else prior for c, prior in enumerate(model["prior"])]
    for j, c in enumerate(model["estimated"]):
        p[c] = curve_share(model, curve + j * n_curves, h[c]) + 1e-9 * model["prior"][c]
    total = sum(p)
    return [value / total for value in p]


def algebraic_distances(tree, model, x):
    """Return the float32 distance to the boundary of each class, negative inside the class."""
    if model["grid"] is not None and is_beside(model["grid"], x):
        best = box_distances(tree, model["grid"], len(model["prior"]), x)
    else:
        best = [single(math.sqrt(d)) for d in step_distances(model, x)]
    if len(best) == 2:
        return [single(best[0] - best[1])]
    second = sorted(best)[1] if len(best) > 1 else math.inf
    return [single(d if d > 0 else -second) for d in best]


def step_distances(model, x):
    """Return squared distances to the regions of each class, computed step by step in float32."""
    program = model["steps"]
    here = [scaled_value(program, k, x[at]) for k, at in enumerate(program["attribute"])]
    slots = [0.0] * program["slots"]
    best = [math.inf] * (len(model["prior"]) + 1)
    for (code, k, source, left, right, start), bound in zip(program["step"], program["bound"]):
        if code & 8:
            added = single(slots[source] + program["growth"][start + int(here[k])])
            keep_nearest(slots, best, code & 2, left, added)
            continue
        gap = single(here[k] - bound[0])
        above = single(slots[source] + beyond(gap, bound[1]))
        below = single(slots[source] + beyond(-gap, -bound[2]))
        keep_nearest(slots, best, code & 2, left, above)
        keep_nearest(slots, best, code & 4, right, below)
    return best[:-1]


def scaled_value(program, k, value):
    """Centre and scale a number; keep the code of a category."""
    codes = program["codes"][k]
    if value != value:
        return float(codes) if codes else value
    if program["rounded"][k]:
        value = in_single(value)
    scaled = single(single(value - program["center"][k]) * program["factor"][k])
    return max(-program["reach"][k], min(program["reach"][k], scaled))


def beyond(gap, width):
    """Return what a bound that moved inward by ``width`` adds to a squared distance."""
    if not gap > 0:
        return 0.0
    moved = min(gap, width)
    return single(moved * single(2 * gap - moved))


def keep_nearest(slots, best, is_region, at, squared):
    """Store a squared distance: the smallest of a class, or that of a box that is split again."""
    if is_region:
        best[at] = min(best[at], squared)
    else:
        slots[at] = squared


def curve_share(model, curve, h):
    """Return the share of a class at a distance: a cubic piece of its curve."""
    origin, scale, left, middle, last, reach, even, start = model["axis"][curve]
    if isinstance(model["coefficient"], str):
        model["coefficient"] = unpack(model["coefficient"])
    place = (h - origin) * scale
    if 0 <= place < reach:  # cells with equally many pieces
        first, y = int(start), place * even
    else:
        if place < 0:
            place = -math.log1p(-place)
        elif place > middle:
            place = middle + math.log1p(place - middle)
        place = max(0.0, min(last, place + left))
        cell = model["cell"][curve] + int(place)
        first, end = model["piece"][cell], model["piece"][cell + 1]
        y = (place - int(place)) * (end - first)
    j = 4 * (first + int(y))
    y -= int(y)
    c0, c1, c2, c3 = model["coefficient"][j : j + 4]
    return max(0.0, min(1.0, c0 + y * (c1 + y * (c2 + y * c3))))
