"""How exported Python code has the distance kernel of a row; see :mod:`.arithmetic`."""

import math

from keeptree.exporters.arithmetic import compared, single, unpack


def distance(tree, model, x):
    """Probabilities by the distance to the decision boundary of each class."""
    h = algebraic_distances(tree, model, x)
    curve = 0 if model["curve"] is None else model["curve"][main_leaf(tree, x)]
    n_curves = len(model["axis"]) // len(model["estimated"])
    if len(model["prior"]) == 2:
        first = curve_share(model, curve, h[0])
        return [first, 1 - first]
    p = [0.0 if c in model["estimated"] else prior for c, prior in enumerate(model["prior"])]
    for j, c in enumerate(model["estimated"]):
        p[c] = curve_share(model, curve + j * n_curves, h[c]) + 1e-9 * model["prior"][c]
    total = sum(p)
    return [value / total for value in p]


def main_leaf(tree, x):
    """The leaf of a row; a missing value that is shared goes to the heaviest child."""
    node = 0
    while tree["children"][node]:
        value = compared(tree, x[tree["attribute"][node]])
        if value != value:
            node = tree["following"][node]
        elif str(node) in tree["table"]:
            node = tree["table"][str(node)][int(value)]
        else:
            node = tree["children"][node][0 if value <= tree["threshold"][node] else 1]
    return node


def algebraic_distances(tree, model, x):
    """Distances to the boundary of each class in float32, negative inside it."""
    if model["grid"] is not None and is_beside(model["grid"], x):
        best = [math.sqrt(d) for d in box_distances(tree, model, x)]
    else:
        best = [single(math.sqrt(d)) for d in step_distances(model, x)]
    if len(best) == 2:
        return [single(best[0] - best[1])]
    second = sorted(best)[1] if len(best) > 1 else math.inf
    return [single(d if d > 0 else -second) for d in best]


def is_beside(grid, x):
    """Whether some number is no multiple of the step of its column."""
    for at, step, inverse in zip(grid["attribute"], grid["step"], grid["inverse"]):
        value = x[at]
        if value != value:
            continue
        scaled = value * inverse if inverse else value / step
        if abs(scaled) < 2.0**52:
            scaled = round(scaled)
        if (scaled / inverse if inverse else scaled * step) != value:
            return True
    return False


def in_single(value):
    """A finite number in float32, finite too."""
    return single(max(-3.4028234663852886e38, min(3.4028234663852886e38, value)))


def step_distances(model, x):
    """Squared distances to the regions of each class, by a program in float32."""
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
    """A value centred and scaled; the code of a category."""
    codes = program["codes"][k]
    if value != value:
        return float(codes) if codes else value
    if program["rounded"][k]:
        value = in_single(value)
    scaled = single(single(value - program["center"][k]) * program["factor"][k])
    return max(-program["reach"][k], min(program["reach"][k], scaled))


def beyond(gap, width):
    """What a bound that has moved in by ``width`` adds to a squared distance."""
    if not gap > 0:
        return 0.0
    moved = min(gap, width)
    return single(moved * single(2 * gap - moved))


def keep_nearest(slots, best, is_region, at, squared):
    """Keep a squared distance: the least one of a class, or that of a box that is cut further."""
    if is_region:
        best[at] = min(best[at], squared)
    else:
        slots[at] = squared


def box_distances(tree, model, x):
    """Squared distances to the regions of each class, box by box."""
    grid, best = model["grid"], [math.inf] * len(model["prior"])
    squares = [side_square(tree, side, x[side["attribute"]]) for side in grid["sides"]]
    for sides, label in zip(grid["boxes"], grid["label"]):
        best[label] = min(best[label], sum(squares[side] for side in sides))
    return best


def side_square(tree, side, value):
    """The square of what it costs to pass a side of a box."""
    if side["cost"] is not None:
        move = side["cost"][-1 if value != value else int(value)]
    elif value != value:
        return 0.0
    else:
        lower, upper, rises_to, falls_to, factor = side["bounds"]
        here = in_single(value) if tree["float32"] else value
        value = in_single(value) if side["rounded"] else value
        if here > upper:
            move = (value - falls_to) * factor
        else:
            move = 0.0 if here > lower else (rises_to - value) * factor
        move = min(move, 1e150)
    return move * move


def curve_share(model, curve, h):
    """The share of a class at a distance: a cubic piece of a curve."""
    origin, scale, left, middle, last = model["axis"][curve]
    if isinstance(model["coefficient"], str):
        model["coefficient"] = unpack(model["coefficient"])
    place = (h - origin) * scale
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
