"""Print a Tree exactly as Weka's J48 does."""

import math
from decimal import Decimal
from functools import partial

from keeptree.tree.text import outline


def j48_text(tree, *, unpruned=False, binary_splits=False, names=None):
    """Return a tree as J48 prints it.

    Parameters
    ----------
    tree : Tree
        A classification tree.
    unpruned : bool, default=False
        Whether the title calls the tree unpruned (Weka's ``-U``).
    binary_splits : bool, default=False
        Whether nominal tests are one category against the rest (Weka's ``-B``, which also prints
        thresholds in another way).
    names : sequence of str, optional
        Display names of the classes; by default their labels.

    Returns
    -------
    text : str
        The output of J48.

    Examples
    --------
    >>> import keeptree as kt
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(j48_text(kt.C45Classifier(min_samples_leaf=10).fit(X[["petal width (cm)"]], y).tree_))
    J48 pruned tree
    ------------------
    <BLANKLINE>
    petal width (cm) <= 0.6: 0 (50.0)
    petal width (cm) > 0.6
    |   petal width (cm) <= 1.7: 1 (54.0/5.0)
    |   petal width (cm) > 1.7: 2 (46.0/1.0)
    <BLANKLINE>
    Number of Leaves  : 	3
    <BLANKLINE>
    Size of the tree : 	5
    <BLANKLINE>
    """
    names = tree.classes if names is None else names
    lines = outline(
        tree,
        partial(_branch_text, tree, binary_splits=binary_splits),
        partial(_leaf_text, tree, names),
        "|   ",
    )
    body = "\n" + lines if lines else f": {_leaf_text(tree, names, 0)}"
    title = f"J48 {'un' if unpruned else ''}pruned tree\n------------------"
    size = f"Number of Leaves  : \t{tree.n_leaves}\n\nSize of the tree : \t{tree.n_nodes}\n"
    return f"{title}\n{body}\n\n{size}"


def _branch_text(tree, branch, binary_splits):
    if branch.is_numeric:
        shown = _java_double if binary_splits else _six_decimals
        return f"{branch.name} {branch.sign} {shown(branch.threshold)}"
    if not binary_splits:
        return branch.text()
    first = tree.branch(tree.children(branch.node)[0])  # single category
    return f"{branch.name} {'=' if branch == first else '!='} {first.labels[0]}"


def _leaf_text(tree, names, node):
    weight, label = tree.weight[node], tree.label[node]
    errors = weight - tree.counts[node, label]
    tail = f"/{_java_double(_two_decimals(errors))}" if errors > 1e-6 else ""
    return f"{names[label]} ({_java_double(_two_decimals(weight))}{tail})"


def _two_decimals(value):
    """Round like Java: half up."""
    return math.floor(value * 100 + 0.5) / 100


def _six_decimals(value):
    """Format a number with at most six decimals and no trailing zeros."""
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _java_double(value):
    """Format a number as Java's Double.toString does.

    It has at least one decimal, and a power of ten outside [0.001, 10^7).
    """
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(float(value))
    sign, digits, _ = Decimal(repr(float(value))).normalize().as_tuple()
    first, *rest = map(str, digits)
    power = Decimal(repr(float(value))).adjusted()
    return f"{'-' * sign}{first}.{''.join(rest) or '0'}E{power}"
