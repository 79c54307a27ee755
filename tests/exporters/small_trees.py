"""Random small trees for the export tests, with any test, rule and threshold."""

import numpy as np
from hypothesis import strategies as st

from keeptree.tree import Tree

CATEGORIES = ("red", "blue", "a b", 'q"t', "")
THRESHOLDS = (0.0, -0.0, 0.1, 1.0, -2.5, 1e300, -1e300, 5e-324, 16777217.0, 0.30000001192092896)


@st.composite
def small_trees(draw, rules=("child", "share", "error")):
    """Draw trees with up to six tests of two numbers and a category, and two or three classes.

    Missing values go to a child, are shared or raise an error, as ``rules`` allow.
    """
    n_classes = draw(st.integers(2, 3))
    rule = draw(st.sampled_from(rules))
    nodes, todo = [], [(0, 0)]
    children = {}
    while todo:
        at, depth = todo.pop(0)
        kind = draw(st.sampled_from([0, 1, 1, 2])) if depth < 3 and len(nodes) < 10 else 0
        width = {0: 0, 1: 2}.get(kind) if kind < 2 else draw(st.integers(2, 3))
        nodes.append((kind, width))
        children[at] = list(range(len(nodes) + len(todo), len(nodes) + len(todo) + width))
        todo += [(child, depth + 1) for child in children[at]]
    n = len(nodes)
    counts = np.zeros((n, n_classes))
    for node in range(n - 1, -1, -1):
        if not children[node]:
            counts[node] = draw(st.lists(st.integers(0, 9), min_size=n_classes, max_size=n_classes))
        counts[node] += counts[children[node]].sum(axis=0)
    category_start, category_child, missing = [0], [], []
    for node, (kind, width) in enumerate(nodes):
        below = children[node]
        if kind == 2:
            ways = [draw(st.sampled_from(below)) for _ in CATEGORIES]
            ways[:width] = below
            category_child += ways
        category_start.append(len(category_child))
        goes = draw(st.sampled_from(below)) if below and rule == "child" else -2
        missing.append(-1 if below and rule == "share" else goes)
    threshold = [draw(st.sampled_from(THRESHOLDS)) if kind == 1 else np.nan for kind, _ in nodes]
    feature = [{0: -1, 2: 2}.get(kind, draw(st.integers(0, 1))) for kind, _ in nodes]
    return Tree(
        kind=[kind for kind, _ in nodes],
        feature=feature,
        threshold=threshold,
        child_start=np.cumsum([0] + [width for _, width in nodes]),
        child=np.array([child for node in range(n) for child in children[node]], dtype=int),
        category_start=category_start,
        category_child=np.array(category_child, dtype=int),
        missing=missing,
        counts=counts,
        classes=["no", "yes", "-"][:n_classes],
        n_features=3,
        feature_names=["a", "b & c", "colour"],
        categories=[None, None, CATEGORIES],
        unknown=[-1, -1, draw(st.sampled_from([-1, 0, 3]))],
        compare_dtype=draw(st.sampled_from(["float64", "float32"])),
    )
