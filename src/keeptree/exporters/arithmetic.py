"""How exported Python code scores a row: only the standard library, copied into each export.

The functions read the dict of :func:`keeptree.exporters.plain.plain_dict`. A row ``x`` has the
tested columns as floats: numbers, category codes, NaN where missing. The page and the JavaScript
export have the same formulas in ``js/``.
"""

import base64
import math
import sys
from array import array
from itertools import compress


def single(value):
    """Round a number to float32."""
    return array("f", (value,))[0]


def compared(tree, value):
    """Return a value as the tree compares it."""
    return single(value) if tree["float32"] else value


def add_sums(tree, sums, x):
    """Append the weighted sums, each product and each sum rounded as the tree compares."""
    for part in sums:
        total = 0.0
        for at, weight in part["terms"]:
            total = compared(tree, total + compared(tree, compared(tree, x[at]) * weight))
        x.append(total)
    return x


def route(tree, x):
    """Return the leaves that a row reaches and its share in each; a missing value may be shared."""
    found, rest = [], [(0, 1.0)]
    while rest:
        node, share = rest.pop()
        children = tree["children"][node]
        if not children:
            found.append((node, share))
            continue
        value = compared(tree, x[tree["attribute"][node]])
        if value == value and str(node) in tree["table"]:
            rest.append((tree["table"][str(node)][int(value)], share))
        elif value == value:
            rest.append((children[0 if value <= tree["threshold"][node] else 1], share))
        elif tree["missing"][node] == -1:
            for child in reversed(children):
                if tree["share"][child] > 0:
                    rest.append((child, share * tree["share"][child]))
        elif tree["missing"][node] >= 0:
            rest.append((tree["missing"][node], share))
        else:
            raise ValueError("A value is missing where the tree has no rule for that.")
    return found


def leaf_average(tree, values, x):
    """Average the values of the leaves by the share of the row in each."""
    reached = route(tree, x)
    if len(reached) == 1:
        return list(values[reached[0][0]])
    n_classes = len(values[reached[0][0]])
    mixed = [sum(share * values[leaf][c] for leaf, share in reached) for c in range(n_classes)]
    total = sum(mixed)
    return [value / total for value in mixed]


def is_mixed(tree, x):
    """Return whether a row meets a test that shares its missing value among the children."""
    node = 0
    while tree["children"][node]:
        value = compared(tree, x[tree["attribute"][node]])
        if value != value and tree["missing"][node] < 0:
            return tree["missing"][node] == -1
        if value != value:
            node = tree["missing"][node]
        elif str(node) in tree["table"]:
            node = tree["table"][str(node)][int(value)]
        else:
            node = tree["children"][node][0 if value <= tree["threshold"][node] else 1]
    return False


def decide_mixed(tree, x):
    """Return the class with the largest share; a later one must be larger by 1e-6, as in J48."""
    shares = leaf_average(tree, tree["proportions"], x)
    best, chosen = 0.0, tree["declared"][0]
    for c in tree["declared"]:
        if shares[c] - best > 1e-6:
            best, chosen = shares[c], c
    return chosen


def child_shares(tree, tests, node, steep, x):
    """Return the shares of a row that a soft test passes to its children."""
    value = x[tests["attribute"][node]]
    table = tests["table"].get(str(node))
    if table is not None:
        return table[int(value) if value == value else -1]
    if value != value or steep[node] < 0:
        first = tests["missing"][node]
    else:
        gap = tests["threshold"][node] - compared(tree, value)
        if steep[node] == 0:
            first = 1.0 if gap >= 0 else 0.0
        else:
            first = 1 / (1 + math.exp(-max(-40.0, min(40.0, gap * steep[node]))))
    return first, 1 - first


def soft_average(tree, tests, steep, values, x):
    """Average the values of the leaves by the soft share of the row in each."""
    result = []
    for node, children in enumerate(tests["children"]):  # children come before their parents
        if not children:
            result.append(values[node])
            continue
        shares = child_shares(tree, tests, node, steep, x)
        below = [result[child] for child in children]
        result.append([sum(s * v[j] for s, v in zip(shares, below)) for j in range(len(below[0]))])
    return list(result[-1])


def cheapest(p, costs):
    """Return the class with the lowest expected cost; costs are by true, then by decided class."""
    expected = [0.0] * len(p)
    for share, row in zip(p, costs):
        expected = [total + share * cost for total, cost in zip(expected, row)]
    return expected.index(min(expected))


def softmax(logits):
    """Return the softmax of logits."""
    most = max(logits)
    terms = [math.exp(logit - most) for logit in logits]
    total = sum(terms)
    return [term / total for term in terms]


def leaves(tree, model, x):
    """Return the class probabilities of the leaf."""
    return leaf_average(tree, model["values"], x)


def soft(tree, model, x):
    """Return probabilities from soft tests."""
    return soft_average(tree, model["tests"], model["steep"], model["values"], x)


def margin(tree, model, x):
    """Return probabilities from how clearly the row passes each test."""
    tests, logits = model["tests"], list(model["intercept"])
    for part in model["reach"]:
        added = soft_average(tree, tests, part["steep"], part["values"], x)
        logits = [a + b for a, b in zip(logits, added)]
    for part in model["sides"]:
        for node, children in enumerate(tests["children"]):
            if not children:
                continue
            for child, share in zip(children, child_shares(tree, tests, node, part["steep"], x)):
                for j, score in enumerate(part["scores"][child]):
                    logits[j] += share * score
    if len(logits) > 1:
        return softmax(logits)
    second = 1 / (1 + math.exp(-max(-40.0, min(40.0, logits[0]))))
    return [1 - second, second]


def bounded(value):
    """Limit a scaled number so that its square is a finite float32."""
    return min(max(value, -1e18), 1e18)


def coordinate(model, k, value):
    """Return the float32 coordinate of a value: linear, with a bend at each threshold."""
    if value != value:
        return value
    if model["table"][k] is not None:
        return single(model["table"][k][int(value)])
    place = bounded((value - model["center"][k]) * model["factor"][k])
    for at, size in model["bends"][k]:
        u = bounded((value - at) * model["slope"][k])
        place += size * (u / math.sqrt(1 + u * u))
    return single(place)


def unpack(text):
    """Decode float32 numbers from base64, little-endian."""
    numbers = array("f")
    numbers.frombytes(base64.b64decode(text))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def landmark_columns(model):
    """Return the landmarks of each class by column, their sharpness and mass; decoded once."""
    if "columns" not in model:
        names = ("landmarks", "sharpness", "mass")
        points, sharpness, mass = (unpack(model[name]) for name in names)
        width = len(model["attribute"])
        model["columns"] = [
            (
                [points[a * width + k : b * width : width] for k in range(width)],
                sharpness[a:b],
                mass[a:b],
            )
            for a, b in zip(model["start"], model["start"][1:])
        ]
    return model["columns"]


def weigh_class(columns, sharpness, mass, here, laplace):
    """Sum mass x (1 - sharpness x distance)^64 over the landmarks of a class.

    The computation is in float32: an array of type "f" rounds every difference, product and sum.
    If most landmarks are too far away after some coordinates, the other coordinates skip them.
    """
    distance = array("f", bytes(4 * len(mass)))
    for k, place in enumerate(here):
        if place != place:
            continue
        gap = array("f", [place - value for value in columns[k]])
        gap = array("f", [(abs(u) if laplace else u * u) if u == u else 0.0 for u in gap])
        distance = array("f", [d + u for d, u in zip(distance, gap)])
        if k % 4 < 3:
            continue
        near = [s * d < 0.500001 for s, d in zip(sharpness, distance)]
        if 2 * sum(near) < len(near):
            columns = columns[: k + 1] + [list(compress(c, near)) for c in columns[k + 1 :]]
            distance = array("f", compress(distance, near))
            sharpness, mass = list(compress(sharpness, near)), list(compress(mass, near))
    bell = array("f", [s * d for s, d in zip(sharpness, distance)])
    bell = array("f", [1 - u for u in bell])
    bell = [u if u > 0.5 else 0.0 for u in bell]
    for _ in range(6):
        bell = array("f", [u * u for u in bell])
    total = array("f", [0.0])
    for weight in array("f", [m * u for m, u in zip(mass, bell)]):
        total[0] += weight
    return total[0]


def kernel(tree, model, x):
    """Return probabilities from the training cases that resemble the row."""
    here = [coordinate(model, k, x[at]) for k, at in enumerate(model["attribute"])]
    sums = [
        weigh_class(*cloud, here, model["laplace"]) + model["pseudo"] * prior
        for cloud, prior in zip(landmark_columns(model), model["prior"])
    ]
    total = sum(sums)
    return [value / total for value in sums]


def pool(tree, model, x):
    """Multiply the probabilities of the experts, each raised to the power of its weight."""
    logits = [0.0] * len(model["prior"])
    for expert, weight in zip(model["experts"], model["weights"]):
        p = KINDS[expert["kind"]](tree, expert, x)
        for c, prior in enumerate(model["prior"]):
            logits[c] += weight * math.log((1 - model["share"]) * p[c] + model["share"] * prior)
    return softmax(logits)


def make_coherent(p, label, softness):
    """Change probabilities as little as necessary to make the tree's class the most probable."""
    other = max([value for c, value in enumerate(p) if c != label], default=0.0)
    if other == 0:
        return p
    m = math.log(p[label] / other)
    root = math.sqrt(m * m + softness * softness)
    moved = (m + root) / 2 if m > 0 else softness * softness / (2 * (root + abs(m)))
    p[label] = other * max(math.exp(moved), 1 + 2.0**-40)
    total = sum(p)
    return [value / total for value in p]


KINDS = {"leaves": leaves, "soft": soft, "margin": margin, "kernel": kernel, "pool": pool}
