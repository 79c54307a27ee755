"""The drawing of a tree: root on the left, one row per leaf, edge widths by number of cases."""

from typing import NamedTuple

from keeptree.reporting.svg import drawing, el, label, marker
from keeptree.text import count_text, plural, shorten, text_width

# With more, the outline is easier to read. A drawing wider than the text column (1312 pixels)
# extends into the right margin, which has room for it up to 1440 pixels.
MAX_LEAVES, MAX_WIDTH = 24, 1420
SIZE = 14  # font size of all text

_ROW, _TOP, _LINE = 44, 40, 17
_NAME_WIDTH, _RELATION_WIDTH, _CLASS_WIDTH = 130, 180, 130  # maximum width of a line of a label
_CURVE, _GAP, _PAD = 28, 8, 8
_BAR_WIDTH, _BAR_HEIGHT = 48, 12
_BOLD = 1.1  # factor by which the decision at a leaf is wider
_EDGE = 11  # width of the edge that carries every case


def tree_drawing(tree, classes, path=(), tests=None):
    """Return the tree as SVG, or None if it would not fit.

    The elements of a node form a group with its number as ``data-node``, so that the page can
    highlight the path of a case.

    Parameters
    ----------
    tree : dict
        ``nodes`` in preorder, from :func:`keeptree.reporting.tree_data.collect_tree`.
    classes : list of dict
        ``label`` and ``slot`` of each class.
    path : collection of int
        Nodes that are highlighted.
    tests : dict, optional
        Text of the edge to a node for the selected case, and whether it is the nearest test.

    Returns
    -------
    svg : Svg or None
    """
    nodes, tests = tree["nodes"], tests or {}
    leaves = [node for node in nodes if node["name"] is None]
    if len(leaves) > MAX_LEAVES:
        return None
    layout = _lay_out(nodes, classes)
    if layout.right > MAX_WIDTH:
        return None
    by_id = {node["id"]: node for node in nodes}
    edges, inner, ends = [], [], []
    for node in nodes:
        group = {"data_node": node["id"], "class_": "on" if node["id"] in path else None}
        if node["parent"] is not None:
            told, near = tests.get(node["id"], (node["relation"], False))
            edge = _edge(node, by_id[node["parent"]], nodes[0]["cases"], layout, told)
            marked = {**group, "class_": "on nearest"} if near else group
            edges.append(el("g", *edge, **marked))
        if node["name"] is None:
            ends.append(el("g", *_leaf(node, classes, layout), **group))
        else:
            inner.append(el("g", *_test(node, layout), **group))
    return drawing(
        layout.right + 2,
        _TOP + _ROW * len(leaves),
        f"The tree: {plural(len(leaves), 'leaf', 'leaves')}, root on the left",
        "Each test leads to the right; the width of a line shows how many training cases take "
        "it. The outline has the same content as text.",
        *edges,
        *inner,
        *_head(layout),
        *ends,
        class_="chart tree-drawing",
    )


def class_bar(counts, classes, x=0, y=0, width=_BAR_WIDTH, height=_BAR_HEIGHT):
    """Return one bar divided in proportion to the class counts, commonest class first."""
    by_slot = {}  # classes without their own colour share a part
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
    """Positions of the elements of the drawing."""

    y: dict  # of every node
    x: dict  # left edge of the tests of each depth
    turn: dict  # where their edges begin to turn
    last: dict  # for every node, whether its edge is the lowest of its test
    leaf: float  # left edge of the leaves: the marker of the class
    label: float  # then its name
    bar: float  # then the class counts
    count: float  # and the cases
    right: float  # where the drawing ends


def _lay_out(nodes, classes):
    x, turn, leaf = _columns(nodes)
    name = max(min(_BOLD * text_width(c["label"], SIZE), _CLASS_WIDTH) for c in classes)
    bar = leaf + 20 + max(name, text_width("Decision", SIZE)) + 12
    count = bar + _BAR_WIDTH + 10
    ends = [text_width(_tell_leaf(node), SIZE) for node in nodes if node["name"] is None]
    right = count + max(*ends, text_width("Training cases", SIZE) - _BAR_WIDTH)
    last = {
        child["id"]: child is below[-1] for below in _children(nodes).values() for child in below
    }
    return _Layout(_rows(nodes), x, turn, last, leaf, leaf + 20, bar, count, right)


def _children(nodes):
    children = {}
    for node in nodes:
        children.setdefault(node["parent"], []).append(node)
    return children


def _rows(nodes):
    """Height of every node: leaves below each other, a test in the middle of its children."""
    y, children, row = {}, _children(nodes), 0
    for node in nodes:
        if node["name"] is None:
            y[node["id"]] = _TOP + _ROW * (row + 0.5)
            row += 1
    for node in reversed(nodes):  # in preorder, so children come before their parent
        if node["name"] is not None:
            below = children[node["id"]]
            y[node["id"]] = (y[below[0]["id"]] + y[below[-1]["id"]]) / 2
    return y


def _columns(nodes):
    """Left edge of the tests of each depth, where their edges turn, and left edge of the leaves."""
    names, relations = {}, {}
    for node in nodes:
        if node["name"] is not None:
            shown = max(text_width(line, SIZE) for line in _lines(node))
            names[node["depth"]] = max(names.get(node["depth"], 0), shown)
        if node["parent"] is not None:
            depth = node["depth"] - 1
            shown = min(text_width(_with_value(node["relation"]), SIZE), _RELATION_WIDTH)
            relations[depth] = max(relations.get(depth, 0), shown)
    x, turn, right = {}, {}, 2.0
    for depth in sorted(names):
        x[depth] = right
        turn[depth] = right + names[depth] + _GAP
        right = turn[depth] + max(relations[depth], _CURVE) + _PAD
    return x, turn, right


def _edge(node, parent, total, layout, told):
    """The line to a node. Its condition is above the line, or below it if the line turns down."""
    width = 1 + (_EDGE - 1) * (node["cases"] / total if total else 0)
    y0, y1 = layout.y[parent["id"]], layout.y[node["id"]]
    turn = layout.turn[parent["depth"]]
    x0 = layout.x[parent["depth"]] + text_width(_lines(parent)[0], SIZE) + 6
    x1 = (layout.leaf if node["name"] is None else layout.x[node["depth"]]) - 8
    middle, end = turn + _CURVE / 2, turn + _CURVE
    curve = f"C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {end:.1f} {y1:.1f}"
    path = f"M{min(x0, turn):.1f} {y0:.1f}H{turn:.1f}{curve}H{x1:.1f}"
    below = layout.last[node["id"]]
    y = y1 + width / 2 + 15 if below else y1 - width / 2 - 5
    shown = shorten(told, _RELATION_WIDTH, SIZE)
    chip = {"width": text_width(shown, SIZE) + 8, "height": 20, "rx": 10}
    return [
        el("path", d=path, stroke_width=width, class_="edge"),
        el("rect", x=turn - 2, y=y - 15, **chip, class_="chip"),
        label(
            told,
            turn + 2,
            y,
            size=SIZE,
            width=_RELATION_WIDTH,
            class_="test muted",
            full=node["relation_exact"],
        ),
    ]


def _test(node, layout):
    """The tested attribute, in one or two lines, and the number of cases that pass."""
    x, (*names, cases) = layout.x[node["depth"]], _lines(node)
    y = layout.y[node["id"]] + 4.5
    said = [
        label(line, x, y + _LINE * k, size=SIZE, full=node["name"] if "…" in line else None)
        for k, line in enumerate(names)
    ]
    return [*said, label(cases, x, y + _LINE * len(names), size=SIZE, class_="muted")]


def _lines(node):
    """The name of a tested attribute in at most two lines, and the number of cases."""
    name = node["name"]
    if text_width(name, SIZE) <= _NAME_WIDTH or " " not in name:
        return [shorten(name, _NAME_WIDTH, SIZE), _cases(node)]
    words, first = name.split(" "), ""
    while len(words) > 1 and text_width(f"{first} {words[0]}", SIZE) <= _NAME_WIDTH:
        first = f"{first} {words.pop(0)}".strip()
    rest = " ".join(words)
    lines = [first, rest] if first else [rest]
    return [*(shorten(line, _NAME_WIDTH, SIZE) for line in lines), _cases(node)]


def _leaf(node, classes, layout):
    y, chosen = layout.y[node["id"]], classes[node["class"]]
    room = _CLASS_WIDTH / _BOLD
    return [
        marker(chosen["slot"], layout.leaf + 6, y),
        label(chosen["label"], layout.label, y + 4.5, size=SIZE, width=room, class_="decision"),
        class_bar(node["counts"], classes, layout.bar, y - _BAR_HEIGHT / 2),
        label(_tell_leaf(node), layout.count, y + 4.5, size=SIZE),
    ]


def _tell_leaf(node):
    wrong = f", {count_text(node['errors'])} wrong" if node["errors"] else ""
    return f"{count_text(node['cases'])}{wrong}"


def _head(layout):
    words = [("Decision", layout.label), ("Training cases", layout.bar)]
    return [label(word, x, 18, size=SIZE, class_="muted") for word, x in words]


def _cases(node):
    return f"{count_text(node['cases'])} case{'' if node['cases'] == 1 else 's'}"


def _with_value(relation):
    """A relation with room in front for the value of a case, about as long as the threshold."""
    sign, _, number = relation.partition(" ")
    return f"{number}0 {relation}" if sign in ("≤", ">") else relation
