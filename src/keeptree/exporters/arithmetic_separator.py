"""How exported Python code finds the separator that a row projects on; see :mod:`.arithmetic`."""

import math

from keeptree.exporters.arithmetic import compared
from keeptree.exporters.arithmetic_boxes import in_single, is_beside, tree_class
from keeptree.exporters.arithmetic_distance import curve_shares


def separator(tree, model, x):
    """Return probabilities from the distance to the boundary, on the curve of the separator."""
    return curve_shares(tree, model, x, model["curve"][nearest_separator(tree, model, x)])


def nearest_separator(tree, model, x):
    """Return the test between a row and the nearest region of another class; -1 if none."""
    own, found = tree_class(tree, x), model["separator"]
    if model["grid"] is not None and is_beside(model["grid"], x):
        found = found["off_grid"]
        region = cheapest_box(tree, found, own, x)
    else:
        region = nearest_region(found, own, x)
    return -1 if region < 0 else crossed_test(found["boxes"][region], x)


def nearest_region(found, own, x):
    """Return the nearest region of a class other than ``own``; -1 if none."""
    best, region = math.inf, -1
    for r, squared in enumerate(region_distances(found["program"], len(found["label"]), x)):
        squared = without_bits(squared, found["bits"])
        if found["label"][r] != own and squared < best:
            best, region = squared, r
    return region


def without_bits(value, bits):
    """Set the lowest bits of the mantissa of a number to zero."""
    if math.isinf(value):
        return value
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.floor(math.ldexp(mantissa, 53 - bits)), exponent - 53 + bits)


def region_distances(program, n, x):
    """Return the squared distances to all regions, computed step by step in float64."""
    here = [limited_value(program, k, x[at]) for k, at in enumerate(program["attribute"])]
    slots, found = [0.0] * program["slots"], [math.inf] * (n + 1)
    for step, bound in zip(program["step"], program["bound"]):
        code, k, source, left, right, left_region, right_region, start = step
        if code & 8:
            above = slots[source] + program["growth"][start + int(here[k])]
        else:
            gap = here[k] - bound[0]
            above = slots[source] + growth_beyond(gap, bound[1], bound[3])
            below = slots[source] + growth_beyond(-gap, -bound[2], bound[3])
            if code & 4:
                found[right_region] = below
            else:
                slots[right] = below
        if code & 2:
            found[left_region] = above
        else:
            slots[left] = above
    return found[1:]


def limited_value(program, k, value):
    """Limit a number to the range of the program; keep the code of a category."""
    if value != value:
        return float(program["codes"][k]) if program["codes"][k] else value
    value = in_single(value) if program["rounded"][k] else value
    return max(-program["reach"][k], min(program["reach"][k], value))


def growth_beyond(gap, width, scale):
    """Return what a bound that moved inward by ``width`` adds to a squared distance."""
    if not gap > 0:
        return 0.0
    gap *= scale
    moved = min(gap, width)
    return moved * (2 * gap - moved)


def crossed_test(sides, x):
    """Return the test of the side of a box that the row violates most."""
    largest, crossed = -1.0, -1
    for side in sides:
        size, test = outside_side(side, x[side["attribute"]])
        if size > largest:
            largest, crossed = size, test
    return crossed


def outside_side(side, value):
    """Return how far a value lies outside a side (-1 if inside), and the test that it fails."""
    if side["cost"] is not None:
        code = -1 if value != value else int(value)
        return side["cost"][code], side["test"][code]
    below, above, missing = side["test"]
    if value != value:
        return 0.0, missing
    lower, upper, factor = side["bounds"]
    value = in_single(value) if side["rounded"] else value
    if value > upper:
        return min((value - upper) * factor, 1e150), above
    if value > lower:
        return -1.0, -1
    return min((lower - value) * factor, 1e150), below


def cheapest_box(tree, found, own, x):
    """Return the cheapest box of another class; ties go to the one with the fewest changes."""
    best, region = (math.inf, 0), -1
    for r, (sides, label) in enumerate(zip(found["boxes"], found["label"])):
        if label != own:
            price = box_price(tree, sides, x)
            if price < best and price[0] < math.inf:
                best, region = price, r
    return region


def box_price(tree, sides, x):
    """Return the squared cost of entering a box and the number of changes; NaN values stay."""
    total, changes = 0.0, 0
    for side in sides:
        value = x[side["attribute"]]
        size = -1.0 if value != value else move_price(tree, side, value)
        if size == math.inf:
            return math.inf, 0
        if size >= 0:
            total += min(size, 1e150) ** 2
            changes += 1
    return total, changes


def move_price(tree, side, value):
    """Return the cost of moving a value into a side; -1 if it is inside, infinite if it cannot."""
    if side["cost"] is not None:
        return side["cost"][int(value)]
    low, high = side["inside"]
    at = compared(tree, value)
    if low <= at <= high:
        return -1.0
    target = side["moves"][0 if at < low else 1]
    return math.inf if target is None else abs(target - value) * side["bounds"][2]
