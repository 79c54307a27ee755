"""How exported Python code measures the distance of a row to boxes; see :mod:`.arithmetic`."""

import math

from keeptree.exporters.arithmetic import compared, decide_mixed, is_mixed, single


def main_leaf(tree, x):
    """Return the leaf of a row; a shared missing value follows the heaviest child."""
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


def tree_class(tree, x):
    """Return the class that the tree predicts."""
    return decide_mixed(tree, x) if is_mixed(tree, x) else tree["label"][main_leaf(tree, x)]


def is_beside(grid, x):
    """Return whether any number is not a multiple of its column's step."""
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
    """Round a number to float32 without overflow."""
    return single(max(-3.4028234663852886e38, min(3.4028234663852886e38, value)))


def box_distances(tree, boxes, n_classes, x):
    """Return the distance to the nearest region of each class."""
    best = [math.inf] * n_classes
    squares = [side_square(tree, side, x[side["attribute"]]) for side in boxes["sides"]]
    for sides, label in zip(boxes["boxes"], boxes["label"]):
        best[label] = min(best[label], sum(squares[side] for side in sides))
    return [math.sqrt(squared) for squared in best]


def side_square(tree, side, value):
    """Return the squared cost of moving a value inside a side of a box."""
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
