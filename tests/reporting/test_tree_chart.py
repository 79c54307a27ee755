"""The drawing of a tree shows its tests, branches, decisions and counts."""

from keeptree.reporting.tree_chart import MAX_LEAVES, tree_drawing
from tests.reporting.svg_text import SPACE, parse, texts


def stump(name="age", relation="≤ 3", first="no", second="yes"):
    """Return a tree with one test and its classes, as ``collect`` describes them."""
    shared = {"relation_exact": f"{name} {relation}"}
    nodes = [
        {"id": 0, "parent": None, "depth": 0, "name": name, "relation": "", "relation_exact": "",
         "cases": 10.0, "counts": [6.0, 4.0], "class": 0, "errors": 4.0},
        {"id": 1, "parent": 0, "depth": 1, "name": None, "relation": relation, **shared,
         "cases": 7.0, "counts": [6.0, 1.0], "class": 0, "errors": 1.0},
        {"id": 2, "parent": 0, "depth": 1, "name": None, "relation": "> 3", **shared,
         "cases": 3.0, "counts": [0.0, 3.0], "class": 1, "errors": 0.0},
    ]  # fmt: skip
    classes = [{"label": first, "slot": 1, "cases": 6}, {"label": second, "slot": 2, "cases": 4}]
    return {"nodes": nodes}, classes


def test_hostile_names_stay_text_in_the_tree(hostile):
    root = parse(tree_drawing(*stump(hostile, hostile, hostile, hostile)))
    assert float(root.get("width")) < 1000  # long names are shortened


def test_the_tree_shows_its_test_branches_decisions_and_counts():
    root = parse(tree_drawing(*stump()))
    assert root.get("role") == "img"
    assert root.find(f"{SPACE}title").text == "The tree: 2 leaves, root on the left"
    assert root.find(f"{SPACE}desc").text
    shown = texts(root)
    for text in ("age", "10 cases", "≤ 3", "> 3", "no", "yes", "7, 1 wrong", "3"):
        assert text in shown


def test_the_width_of_an_edge_grows_with_its_cases():
    root = parse(tree_drawing(*stump()))
    widths = [float(e.get("stroke-width")) for e in root.iter(f"{SPACE}path")]
    assert widths == [1 + 10 * 0.7, 1 + 10 * 0.3]


def test_a_tree_with_too_many_leaves_has_no_drawing():
    tree, classes = stump()
    leaves = [{**tree["nodes"][1], "id": k + 1} for k in range(MAX_LEAVES + 1)]
    assert tree_drawing({"nodes": [tree["nodes"][0], *leaves]}, classes) is None


def test_the_path_of_a_case_is_highlighted():
    root = parse(tree_drawing(*stump(), path={0, 2}))
    lit = {g.get("data-node") for g in root.iter(f"{SPACE}g") if g.get("class") == "on"}
    assert lit == {"0", "2"}


def test_the_path_shows_the_values_of_the_case_and_marks_the_nearest_test():
    root = parse(tree_drawing(*stump(), path={0, 2}, tests={2: ("3.5 > 3", True)}))
    assert "3.5 > 3" in texts(root)
    marked = [g.get("data-node") for g in root.iter(f"{SPACE}g") if g.get("class") == "on nearest"]
    assert marked == ["2"]


def test_all_text_has_the_same_readable_size():
    root = parse(tree_drawing(*stump("a rather long name of an attribute")))
    assert {float(e.get("font-size")) for e in root.iter(f"{SPACE}text")} == {14.0}


def test_a_long_name_takes_two_lines():
    shown = texts(parse(tree_drawing(*stump("worst concave points"))))
    assert shown[shown.index("worst concave") + 1] == "points"
