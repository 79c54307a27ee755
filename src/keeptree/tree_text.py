"""A Tree as indented text, in the manner of C4.5."""

from keeptree.text import enough_digits


def tree_to_text(tree, precision=6):
    """Return one line per branch; ``|   `` marks the depth, a leaf ends in class and weights."""
    if tree.kind[0] == 0:
        return f": {_leaf_text(tree, 0, precision)}"
    lines = []
    for node in tree.preorder[1:]:
        up = int(tree.parent[node])
        line = "|   " * int(tree.depth[up]) + branch_text(tree, up, int(node), precision)
        if tree.kind[node] == 0:
            line += f": {_leaf_text(tree, node, precision)}"
        lines.append(line)
    return "\n".join(lines)


def branch_text(tree, node, child, precision=6):
    """Return the test that leads from ``node`` to ``child``: ``age <= 2.5``, ``colour = red``."""
    feature = tree.feature[node]
    name = tree.feature_name(feature)
    if tree.kind[node] == 1:
        sign = "<=" if child == tree.children(node)[0] else ">"
        return f"{name} {sign} {number_text(tree.threshold[node], precision)}"
    labels = tree.categories[feature]
    first = tree.category_start[node]
    taken = [
        str(label) for k, label in enumerate(labels) if tree.category_child[first + k] == child
    ]
    return f"{name} = {taken[0]}" if len(taken) == 1 else f"{name} in {{{', '.join(taken)}}}"


def number_text(value, precision=6):
    """A number with ``precision`` significant digits, more if it has as many before the point."""
    return f"{value:.{enough_digits(value, precision)}g}"


def _leaf_text(tree, node, precision):
    weight = tree.weight[node]
    if tree.classes is None:
        return f"{number_text(tree.mean[node], precision)} ({number_text(weight, precision)})"
    label = tree.label[node]
    errors = weight - tree.counts[node, label]
    tail = f"/{number_text(errors, precision)}" if errors > 1e-9 * max(weight, 1) else ""
    return f"{tree.classes[label]} ({number_text(weight, precision)}{tail})"
