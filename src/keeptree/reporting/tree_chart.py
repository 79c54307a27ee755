"""The drawing of a tree: root left, one row per leaf, edges as wide as their cases are many."""

from heapq import heappop, heappush

from keeptree.reporting.svg import drawing, el, label, marker
from keeptree.text import count_text, plural, text_width

MAX_LEAVES, MAX_WIDTH = 24, 1420  # beyond these the outline is easier to read
MAX_NODES = 40  # shown in an outline before one opens more

_ROW, _TOP, _SIZE = 40, 40, 13
_NAME_WIDTH, _RELATION_WIDTH, _CLASS_WIDTH = 200, 150, 140  # the most a label may take
_CURVE, _GAP, _PAD = 32, 12, 16
_BAR_WIDTH, _BAR_HEIGHT, _NUMBER = 96, 12, 48
_BOLD = 1.1  # how much wider the decision at a leaf is set
_EDGE = 11  # width of the edge that carries every case


def tree_drawing(tree, classes, way=()):
    """Return the tree as SVG, or None where it would not fit.

    What belongs to a node is in a group with its number as ``data-node``, so that the page can
    light the way of a case.

    Parameters
    ----------
    tree : dict
        ``nodes`` in preorder, each with ``id``, ``parent``, ``depth``, ``name`` (of the tested
        attribute; None in a leaf), ``relation`` (how it follows from its parent), ``cases``,
        ``counts``, ``class`` and ``errors``; see :func:`keeptree.reporting.collect.collect_tree`.
    classes : list of dict
        ``label`` and ``slot`` of each class.
    way : collection of int
        Nodes of a case's way, which are lit.

    Returns
    -------
    svg : Svg or None
    """
    nodes = tree["nodes"]
    leaves = [node for node in nodes if node["name"] is None]
    if len(leaves) > MAX_LEAVES:
        return None
    y = _rows(nodes)
    x, turn, leaf_x = _columns(nodes)
    columns = _leaf_columns(leaf_x, classes)
    if columns["errors"] > MAX_WIDTH:
        return None
    by_id = {node["id"]: node for node in nodes}
    edges, inner, ends = [], [], []
    for node in nodes:
        lit = {"data_node": node["id"], "class_": "on" if node["id"] in way else None}
        if node["parent"] is not None:
            edge = _edge(node, by_id[node["parent"]], nodes[0]["cases"], x, y, turn, leaf_x)
            edges.append(el("g", *edge, **lit))
        if node["name"] is None:
            ends.append(el("g", *_leaf(node, y[node["id"]], columns, classes), **lit))
        else:
            inner.append(el("g", *_question(node, x[node["depth"]], y[node["id"]]), **lit))
    height = _TOP + _ROW * len(leaves)
    return drawing(
        columns["errors"] + 2,
        height,
        f"The tree: {plural(len(leaves), 'leaf', 'leaves')}, root on the left",
        "Each question leads to the right; the width of a line shows how many training cases take "
        "it. The outline has the same content as text.",
        *edges,
        *inner,
        *_head(columns),
        *ends,
        class_="chart tree-drawing",
    )


def fold(nodes, way=(), most=MAX_NODES):
    """Return the nodes of an outline: all of them, or those most cases pass.

    Parameters
    ----------
    nodes : list of dict
        In preorder.
    way : collection of int
        Nodes that are shown in any case.
    most : int, default=40
        How many nodes are shown besides.

    Returns
    -------
    shown : list of dict
        In preorder; ``folded`` says that the children of a node are not shown.
    """
    if len(nodes) <= most:
        return [{**node, "folded": False} for node in nodes]
    below = {}
    for node in nodes:
        below.setdefault(node["parent"], []).append(node)
    open_nodes, shown = set(), 1
    waiting = [(-nodes[0]["cases"], nodes[0]["id"])]
    while waiting:
        _, node = heappop(waiting)
        children = below.get(node, [])
        if shown + len(children) > most:
            break
        if children:
            open_nodes.add(node)
            shown += len(children)
            for child in children:
                heappush(waiting, (-child["cases"], child["id"]))
    open_nodes.update(way)
    return [
        {**node, "folded": node["name"] is not None and node["id"] not in open_nodes}
        for node in nodes
        if node["parent"] is None or node["parent"] in open_nodes
    ]


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


def outline_bar(counts, classes):
    """Return the small bar before a line of the outline; the counts stand beside it as text."""
    bar = class_bar(counts, classes, 0, 0, 28, 12)
    return el("svg", bar, viewBox="0 0 28 12", width=28, height=12, aria_hidden="true")


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
            shown = max(_fit(node["name"], _NAME_WIDTH), _fit(_cases(node), _NAME_WIDTH, 12))
            names[node["depth"]] = max(names.get(node["depth"], 0), shown)
        if node["parent"] is not None:
            depth = node["depth"] - 1
            shown = _fit(node["relation"], _RELATION_WIDTH, 12)
            relations[depth] = max(relations.get(depth, 0), shown)
    x, turn, right = {}, {}, 2.0
    for depth in sorted(names):
        x[depth] = right
        turn[depth] = right + names[depth] + _GAP + _CURVE
        right = turn[depth] + relations[depth] + _PAD
    return x, turn, right


def _leaf_columns(x, classes):
    """Where the columns at the leaves are: marker, class, bar, cases, errors (right edges)."""
    name = max(min(_BOLD * text_width(c["label"], _SIZE), _CLASS_WIDTH) for c in classes)
    bar = x + 20 + max(name, text_width("Decision", 12)) + 16
    cases = bar + _BAR_WIDTH + _NUMBER
    return {
        "marker": x,
        "class": x + 20,
        "bar": bar,
        "cases": cases,
        "errors": cases + _NUMBER,
    }


def _edge(node, parent, total, x, y, turn, leaf_x):
    depth = parent["depth"]
    width = 1 + (_EDGE - 1) * (node["cases"] / total if total else 0)
    y0, y1 = y[parent["id"]], y[node["id"]]
    x0 = x[depth] + _fit(parent["name"], _NAME_WIDTH) + 8
    x1 = (leaf_x if node["name"] is None else x[node["depth"]]) - 10
    middle = turn[depth] - _CURVE / 2
    curve = f"C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {turn[depth]:.1f} {y1:.1f}"
    path = f"M{x0:.1f} {y0:.1f}H{turn[depth] - _CURVE:.1f}{curve}H{x1:.1f}"
    return [
        el("path", d=path, stroke_width=width, class_="edge"),
        label(
            node["relation"],
            turn[depth] + 2,
            y1 - width / 2 - 4,
            size=12,
            width=_RELATION_WIDTH,
            class_="muted",
            full=node["relation_exact"],
        ),
    ]


def _question(node, x, y):
    return [
        label(node["name"], x, y + 4.5, size=_SIZE, width=_NAME_WIDTH),
        label(_cases(node), x, y + 20, size=12, class_="muted"),
    ]


def _leaf(node, y, columns, classes):
    chosen = classes[node["class"]]
    return [
        marker(chosen["slot"], columns["marker"] + 6, y),
        label(
            chosen["label"],
            columns["class"],
            y + 4.5,
            width=_CLASS_WIDTH / _BOLD,
            class_="decision",
        ),
        class_bar(node["counts"], classes, columns["bar"], y - _BAR_HEIGHT / 2),
        label(count_text(node["cases"]), columns["cases"], y + 4.5, anchor="end"),
        label(count_text(node["errors"]), columns["errors"], y + 4.5, anchor="end"),
    ]


def _head(columns):
    words = [("Decision", "class", None), ("Training cases", "bar", None)]
    words += [("Cases", "cases", "end"), ("Errors", "errors", "end")]
    return [
        label(word, columns[place], 18, size=12, class_="muted", anchor=anchor)
        for word, place, anchor in words
    ]


def _cases(node):
    return f"{count_text(node['cases'])} case{'' if node['cases'] == 1 else 's'}"


def _fit(text, limit, size=_SIZE):
    return min(text_width(text, size), limit)
