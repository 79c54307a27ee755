"""The tree as an outline: initially open nodes, and nested lists without recursion."""

from heapq import heappop, heappush

from keeptree.reporting.svg import icon
from keeptree.reporting.tree_chart import class_bar

MAX_NODES = 40  # initially shown


def fold(nodes, path=(), most=MAX_NODES):
    """Return the nodes of an outline: all of them, or those with the most cases.

    Parameters
    ----------
    nodes : list of dict
        Nodes in preorder.
    path : collection of int
        Nodes that are always shown.
    most : int, default=40
        Maximum number of other nodes.

    Returns
    -------
    shown : list of dict
        Nodes in preorder; ``folded`` means that the children are hidden.
    """
    if len(nodes) <= most:
        return [{**node, "folded": False} for node in nodes]
    below = {}
    for node in nodes:
        below.setdefault(node["parent"], []).append(node)
    opened, shown = set(), 1
    waiting = [(-nodes[0]["cases"], nodes[0]["id"])]
    while waiting:
        _, node = heappop(waiting)
        children = below.get(node, [])
        if shown + len(children) > most:
            break
        if children:
            opened.add(node)
            shown += len(children)
            for child in children:
                heappush(waiting, (-child["cases"], child["id"]))
    opened.update(path)
    return [
        {**node, "folded": node["name"] is not None and node["id"] not in opened}
        for node in nodes
        if node["parent"] is None or node["parent"] in opened
    ]


def outline_items(nodes):
    """Return the lines of the outline as a flat list, for trees of any depth.

    Parameters
    ----------
    nodes : list of dict
        In preorder, as returned by :func:`fold`.

    Returns
    -------
    items : list of dict
        ``node``, ``parent`` (a node or None), ``opens`` (whether a list starts before it),
        ``inner`` (whether it contains a list) and ``closes`` (how many lists end after it).
    """
    by_id = {node["id"]: node for node in nodes}
    levels = [node["depth"] for node in nodes]
    items, before = [], levels[0]
    for node, after in zip(nodes, [*levels[1:], levels[0]], strict=True):
        depth = node["depth"]
        items.append(
            {
                "node": node,
                "parent": by_id.get(node["parent"]),
                "opens": depth > before,
                "inner": after > depth,
                "closes": max(depth - after, 0),
            }
        )
        before = depth
    return items


def open_nodes(nodes):
    """Return the initially open nodes; None if the whole tree is shown."""
    shown = fold(nodes)
    if len(shown) == len(nodes):
        return None
    return [node["id"] for node in shown if not node["folded"]]


def path_to(leaf, nodes):
    """Return the nodes from the root to a leaf as a set."""
    parent = {node["id"]: node["parent"] for node in nodes}
    path, node = set(), leaf
    while node is not None:
        path.add(node)
        node = parent[node]
    return path


def outline_bar(counts, classes):
    """Return the small bar before a line of the outline."""
    return icon(28, 12, class_bar(counts, classes, 0, 0, 28, 12))
