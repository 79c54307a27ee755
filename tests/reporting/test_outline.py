"""The outline of a large tree is folded, and its bars show the class proportions."""

from xml.etree import ElementTree

from keeptree.reporting.outline import (
    MAX_NODES,
    fold,
    open_nodes,
    outline_bar,
    outline_items,
    path_to,
)

CLASSES = [{"label": "no", "slot": 1}, {"label": "yes", "slot": 2}]


def chain_of(n):
    """Return a chain of ``n`` tests in preorder; later nodes have fewer cases."""
    nodes = []
    for k in range(n):
        up = 2 * k - 2 if k else None
        shared = {"cases": 100.0 - k, "counts": [1.0], "class": 0}
        nodes.append({"id": 2 * k, "parent": up, "depth": k, "name": "x", **shared})
        nodes.append({"id": 2 * k + 1, "parent": 2 * k, "depth": k + 1, "name": None, **shared})
    return [*nodes, {**nodes[-1], "id": 2 * n, "parent": 2 * n - 2, "depth": n}]


def test_bars_are_proportional_to_the_classes():
    root = ElementTree.fromstring(outline_bar([6.0, 2.0], CLASSES))
    widths = [float(e.get("width")) for e in root.iter("rect")]
    assert widths == [28, 21, 7]


def test_classes_without_a_colour_share_one_part_of_the_bar():
    slots = [{"slot": 1}, {"slot": 0}, {"slot": 0}]
    root = ElementTree.fromstring(outline_bar([2.0, 1.0, 1.0], slots))
    assert [float(e.get("width")) for e in root.iter("rect")] == [28, 14, 14]


def test_a_leaf_without_cases_has_an_empty_bar():
    assert outline_bar([0.0, 0.0], CLASSES).count("<rect") == 1


def test_a_large_tree_is_folded_and_the_path_of_a_case_stays_open():
    nodes = chain_of(300)
    shown = fold(nodes)
    assert len(shown) <= MAX_NODES
    assert [node["id"] for node in shown] == sorted(node["id"] for node in shown)
    assert sum(node["folded"] for node in shown) == 1
    path = [node["id"] for node in nodes if node["name"] is not None]
    assert len(fold(nodes, path)) == len(nodes)


def test_a_small_tree_is_not_folded():
    assert not any(node["folded"] for node in fold(chain_of(10)))


def test_the_outline_is_nested_like_the_tree(demo_data):
    nodes = demo_data["tree"]["nodes"]
    open_lists = 1
    for item in outline_items(nodes):
        open_lists += item["opens"]
        assert open_lists == item["node"]["depth"] + 1
        if item["parent"] is not None:
            assert item["parent"]["id"] == item["node"]["parent"]
        assert item["inner"] == (item["node"]["name"] is not None)
        open_lists -= item["closes"]
    assert open_lists == 1


def test_the_open_nodes_are_those_that_are_not_folded():
    nodes = chain_of(300)
    opened = open_nodes(nodes)
    assert set(opened) == {node["id"] for node in fold(nodes) if not node["folded"]}
    assert open_nodes(chain_of(10)) is None
    assert path_to(7, nodes) == {0, 2, 4, 6, 7}
