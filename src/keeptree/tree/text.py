"""A Tree as indented text, in the manner of C4.5."""

from keeptree.text import number_text
from keeptree.tree.kinds import LEAF


def tree_to_text(tree, precision=6):
    """Return one line per branch; ``|   `` marks the depth, a leaf ends in class and weights."""
    if tree.kind[0] == LEAF:
        return f": {_leaf_text(tree, 0, precision)}"
    return outline(
        tree,
        lambda branch: branch.text(precision),
        lambda leaf: _leaf_text(tree, leaf, precision),
    )


def outline(tree, branch_text, leaf_text):
    """Return the branches of a tree as indented lines, given the text of a branch and of a leaf."""
    lines = []
    for node in tree.preorder[1:].tolist():
        line = "|   " * int(tree.depth[node] - 1) + branch_text(tree.branch(node))
        lines.append(line + (f": {leaf_text(node)}" if tree.kind[node] == LEAF else ""))
    return "\n".join(lines)


def _leaf_text(tree, node, precision):
    weight = tree.weight[node]
    if tree.classes is None:
        return f"{number_text(tree.mean[node], precision)} ({number_text(weight, precision)})"
    label = tree.label[node]
    errors = weight - tree.counts[node, label]
    tail = f"/{number_text(errors, precision)}" if errors > 1e-9 * max(weight, 1) else ""
    return f"{tree.classes[label]} ({number_text(weight, precision)}{tail})"
