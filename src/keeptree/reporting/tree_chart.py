"""The drawing of a tree: root left, one row per leaf, edges as wide as their cases are many."""

from typing import NamedTuple

from keeptree.reporting.svg import SIZE, drawing, el, label, marker
from keeptree.text import count_text, plural, text_width

MAX_LEAVES, MAX_WIDTH = 24, 1420  # beyond these the outline is easier to read

_ROW, _TOP = 40, 40
_NAME_WIDTH, _RELATION_WIDTH, _CLASS_WIDTH = 200, 150, 140  # the most a label may take
_CURVE, _GAP, _PAD = 32, 12, 16
_BAR_WIDTH, _BAR_HEIGHT, _NUMBER = 96, 12, 48
_BOLD = 1.1  # how much wider the decision at a leaf is set
_SMALL = 12  # size of relations, counts and heads
_EDGE = 11  # width of the edge that carries every case


def tree_drawing(tree, classes, path=()):
    """Return the tree as SVG, or None where it would not fit.

    What belongs to a node is in a group with its number as ``data-node``, so that the page can
    highlight the path of a case.

    Parameters
    ----------
    tree : dict
        ``nodes`` in preorder, from :func:`keeptree.reporting.tree_data.collect_tree`.
    classes : list of dict
        ``label`` and ``slot`` of each class.
    path : collection of int
        Nodes that are highlighted.

    Returns
    -------
    svg : Svg or None
    """
    nodes = tree["nodes"]
    leaves = [node for node in nodes if node["name"] is None]
    if len(leaves) > MAX_LEAVES:
        return None
    layout = _lay_out(nodes, classes)
    if layout.errors > MAX_WIDTH:
        return None
    by_id = {node["id"]: node for node in nodes}
    edges, inner, ends = [], [], []
    for node in nodes:
        group = {"data_node": node["id"], "class_": "on" if node["id"] in path else None}
        if node["parent"] is not None:
            edge = _edge(node, by_id[node["parent"]], nodes[0]["cases"], layout)
            edges.append(el("g", *edge, **group))
        if node["name"] is None:
            ends.append(el("g", *_leaf(node, classes, layout), **group))
        else:
            inner.append(el("g", *_question(node, layout), **group))
    return drawing(
        layout.errors + 2,
        _TOP + _ROW * len(leaves),
        f"The tree: {plural(len(leaves), 'leaf', 'leaves')}, root on the left",
        "Each question leads to the right; the width of a line shows how many training cases take "
        "it. The outline has the same content as text.",
        *edges,
        *inner,
        *_head(layout),
        *ends,
        class_="chart tree-drawing",
    )


def class_bar(counts, classes, x=0, y=0, width=_BAR_WIDTH, height=_BAR_HEIGHT):
    """Return one bar divided in proportion to the class counts, commonest class first."""
    by_slot = {}  # the classes without a colour of their own share a part
    for item, count in zip(classes, counts, strict=True):
        by_slot[item["slot"]] = by_slot.get(item["slot"], 0) + count
    total = sum(counts)
    parts, at = [el("rect", x=x, y=y, width=width, height=height, class_="track")], float(x)
    for slot in sorted(by_slot, key=lambda slot: slot or 99):
        if by_slot[slot] > 0:
            part = width * by_slot[slot] / total
            parts.append(el("rect", x=at, y=y, width=part, height=height, class_=f"c{slot} part"))
            at += part
    return el("g", *parts, class_="class-bar")


class _Layout(NamedTuple):
    """Where things are drawn."""

    y: dict  # of every node
    x: dict  # left edge of the questions of each depth
    turn: dict  # where the edges from them have turned
    leaf: float  # left edge of the leaves: the marker of the class
    label: float  # then its name
    bar: float  # then the class counts
    cases: float  # right edges of the last columns
    errors: float


def _lay_out(nodes, classes):
    x, turn, leaf = _columns(nodes)
    name = max(min(_BOLD * text_width(c["label"], SIZE), _CLASS_WIDTH) for c in classes)
    bar = leaf + 20 + max(name, text_width("Decision", _SMALL)) + 16
    cases = bar + _BAR_WIDTH + _NUMBER
    return _Layout(_rows(nodes), x, turn, leaf, leaf + 20, bar, cases, cases + _NUMBER)


def _rows(nodes):
    """Height of every node: leaves one below the other, a question amid its answers."""
    y, children, row = {}, {}, 0
    for node in nodes:
        children.setdefault(node["parent"], []).append(node["id"])
        if node["name"] is None:
            y[node["id"]] = _TOP + _ROW * (row + 0.5)
            row += 1
    for node in reversed(nodes):  # in preorder, so children come before their parent
        if node["name"] is not None:
            below = children[node["id"]]
            y[node["id"]] = (y[below[0]] + y[below[-1]]) / 2
    return y


def _columns(nodes):
    """Left edge of each depth's questions, where their edges turn, and that of the leaves."""
    names, relations = {}, {}
    for node in nodes:
        if node["name"] is not None:
            shown = max(_fit(node["name"], _NAME_WIDTH), _fit(_cases(node), _NAME_WIDTH, _SMALL))
            names[node["depth"]] = max(names.get(node["depth"], 0), shown)
        if node["parent"] is not None:
            depth = node["depth"] - 1
            shown = _fit(node["relation"], _RELATION_WIDTH, _SMALL)
            relations[depth] = max(relations.get(depth, 0), shown)
    x, turn, right = {}, {}, 2.0
    for depth in sorted(names):
        x[depth] = right
        turn[depth] = right + names[depth] + _GAP + _CURVE
        right = turn[depth] + relations[depth] + _PAD
    return x, turn, right


def _edge(node, parent, total, layout):
    width = 1 + (_EDGE - 1) * (node["cases"] / total if total else 0)
    y0, y1 = layout.y[parent["id"]], layout.y[node["id"]]
    turn = layout.turn[parent["depth"]]
    x0 = layout.x[parent["depth"]] + _fit(parent["name"], _NAME_WIDTH) + 8
    x1 = (layout.leaf if node["name"] is None else layout.x[node["depth"]]) - 10
    middle = turn - _CURVE / 2
    curve = f"C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {turn:.1f} {y1:.1f}"
    path = f"M{x0:.1f} {y0:.1f}H{turn - _CURVE:.1f}{curve}H{x1:.1f}"
    return [
        el("path", d=path, stroke_width=width, class_="edge"),
        label(
            node["relation"],
            turn + 2,
            y1 - width / 2 - 4,
            size=_SMALL,
            width=_RELATION_WIDTH,
            class_="muted",
            full=node["relation_exact"],
        ),
    ]


def _question(node, layout):
    x, y = layout.x[node["depth"]], layout.y[node["id"]]
    return [
        label(node["name"], x, y + 4.5, width=_NAME_WIDTH),
        label(_cases(node), x, y + 20, size=_SMALL, class_="muted"),
    ]


def _leaf(node, classes, layout):
    y, chosen = layout.y[node["id"]], classes[node["class"]]
    room = _CLASS_WIDTH / _BOLD
    return [
        marker(chosen["slot"], layout.leaf + 6, y),
        label(chosen["label"], layout.label, y + 4.5, width=room, class_="decision"),
        class_bar(node["counts"], classes, layout.bar, y - _BAR_HEIGHT / 2),
        label(count_text(node["cases"]), layout.cases, y + 4.5, anchor="end"),
        label(count_text(node["errors"]), layout.errors, y + 4.5, anchor="end"),
    ]


def _head(layout):
    words = [("Decision", layout.label, None), ("Training cases", layout.bar, None)]
    words += [("Cases", layout.cases, "end"), ("Errors", layout.errors, "end")]
    return [
        label(word, x, 18, size=_SMALL, class_="muted", anchor=anchor) for word, x, anchor in words
    ]


def _cases(node):
    return f"{count_text(node['cases'])} case{'' if node['cases'] == 1 else 's'}"


def _fit(text, limit, size=SIZE):
    return min(text_width(text, size), limit)
