"""How exported Python code applies the corrections of ConfDTree; see :mod:`.arithmetic`."""

from keeptree.exporters.arithmetic import compared


def confdtree(tree, model, x):
    """Return the probabilities of the leaf, corrected if the row is unusual for its class."""
    p = walk_up(tree, model, 0, x, True)
    total = sum(p)
    return [value / total for value in p]


def walk_up(tree, model, node, x, checks):
    """Return the probabilities below a node; ``checks``: whether to check its tests."""
    children = tree["children"][node]
    if not children:
        return list(model["values"][node])
    value = compared(tree, x[tree["attribute"][node]])
    if value != value and tree["missing"][node] >= 0:
        return walk_up(tree, model, tree["missing"][node], x, False)
    if value != value:
        parts = [(tree["share"][child], child) for child in children if tree["share"][child] > 0]
        return blend([(share, walk_up(tree, model, child, x, False)) for share, child in parts])
    if str(node) in tree["table"]:
        taken = tree["table"][str(node)][int(value)]
    else:
        taken = children[0 if value <= tree["threshold"][node] else 1]
    p = walk_up(tree, model, taken, x, checks)
    rule = model["checks"].get(str(node)) if checks else None
    return p if rule is None else correct(tree, model, rule, children, taken, value, p, x)


def blend(parts):
    """Return the weighted average of probabilities."""
    total = sum(weight for weight, _ in parts)
    return [sum(w * p[c] for w, p in parts) / total for c in range(len(parts[0][1]))]


def correct(tree, model, rule, children, taken, value, p, x):
    """Return probabilities after a check: unchanged, from alternative routes, or after a fine."""
    most = max(p)
    leader = next(c for c in tree["declared"] if p[c] >= most - 1e-12)
    if rule["interval"][leader] is None or is_usual(rule, "interval", value, leader):
        return p
    others = [c for c in range(len(p)) if c != leader and is_usual(rule, "other", value, c)]
    if not others:
        return impose_fine(model, rule, leader, p)
    weights = [sum(weight[c] for c in others) for weight in rule["weight"]]
    routes = [(w, child) for w, child in zip(weights, children) if child != taken and w > 0]
    if not routes:
        return p
    own = weights[children.index(taken)]
    return blend([(own, p), *((w, walk_up(tree, model, child, x, True)) for w, child in routes)])


def is_usual(rule, name, value, c):
    """Return whether a value lies in an interval of a class, or a category is typical of it."""
    if rule["usual"] is not None:
        return rule["usual"][int(value)][c] & (1 if name == "interval" else 2) > 0
    bounds = rule[name][c]
    return bounds is not None and bounds[0] <= value <= bounds[1]


def impose_fine(model, rule, leader, p):
    """Move part of the largest probability to the other classes of the node."""
    receives = [
        share if model["to_all"] or c != leader else 0.0 for c, share in enumerate(rule["receives"])
    ]
    total, amount = sum(receives), model["fine"][leader] * p[leader]
    if total == 0 or amount == 0:
        return p
    p[leader] -= amount
    return [value + amount * share / total for value, share in zip(p, receives)]
