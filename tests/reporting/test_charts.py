"""The charts are valid, escaped SVG that draws the data it was given."""

import re
from xml.etree import ElementTree

import pytest

from keeptree.reporting.charts import (
    curve_chart,
    distance_chart,
    reliability_chart,
    roc_chart,
    small_roc,
    strip,
)
from keeptree.reporting.outline import MAX_NODES, fold, outline_bar
from keeptree.reporting.plot import Scale, line_sample, mark_sample
from keeptree.reporting.svg import Svg, class_sample, el, label, marker
from keeptree.reporting.tree_chart import MAX_LEAVES, tree_drawing

SPACE = "{http://www.w3.org/2000/svg}"


def stump(name="age", relation="≤ 3", first="no", second="yes"):
    """A tree of one question and its classes, as ``collect`` gives them."""
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


def distances():
    return {
        "edges": [0.0, 0.5, 1.0],
        "beyond": 0,
        "hits": {"cases": 4, "counts": [1, 3], "median": 0.7},
        "errors": {"cases": 2, "counts": [2, 0], "median": 0.1},
    }


def bins():
    shared = {"cases": 10, "low": 0.1, "high": 0.6}
    return [{"from": 0.2, "to": 0.3, "scored": 0.25, "happened": 3, "observed": 0.3, **shared}]


def distance_curve(points=True):
    shown = {"inside": [-0.9, 0.4, 1.0], "ours": [0.1, 0.7, 0.9], "leaves": [0.2, 0.8, 0.8]}
    return {
        "class": 1,
        "cases": 3,
        "low": -1.0,
        "high": 1.0,
        "line": {"inside": [-1.0, 0.0, 1.0], "p": [0.0, 0.5, 1.0]},
        "points": {**shown, "wrong": [True, False, False]} if points else None,
        "bins": [{**bins()[0], "ours": 0.4}],
    }


def shown_case(distance, p):
    """A case for which the tree decides class 1, as ``collect`` gives it."""
    return {"decision": 1, "distance": distance, "p": [1 - p, p]}


def classes_named(*names):
    return [{"label": name} for name in names]


def parse(svg):
    root = ElementTree.fromstring(svg)
    assert not root.findall(f".//{SPACE}script")
    return root


def texts(root):
    """What is shown: text without tooltips."""
    return ["".join([e.text or "", *(c.tail or "" for c in e)]) for e in root.iter(f"{SPACE}text")]


def test_elements_escape_text_and_attributes_but_not_elements():
    inner = el("b", "<i>")
    assert el("a", inner, "&", title='"') == '<a title="&quot;"><b>&lt;i&gt;</b>&amp;</a>'
    assert isinstance(inner, Svg)


def test_hostile_names_stay_text_in_the_tree(hostile):
    root = parse(tree_drawing(*stump(hostile, hostile, hostile, hostile)))
    assert float(root.get("width")) < 1000  # long names are cut


def test_hostile_labels_stay_text_in_the_charts(hostile):
    curve = {"fpr": [0, 1], "tpr": [0, 1]}

    def elements(name):
        charts = [
            roc_chart(curve, curve, name),
            reliability_chart(bins(), bins(), name),
            small_roc(curve, curve, name),
            curve_chart(distance_curve(), classes_named(name, name), shown_case(0.5, 0.5)),
            f'<svg xmlns="{SPACE[1:-1]}">{label(name, 1, 2, width=50)}</svg>',
        ]
        tags = [e.tag for chart in charts for e in parse(chart).iter()]
        return [tag for tag in tags if tag != f"{SPACE}title"]  # a name that is cut has one

    assert elements(hostile) == elements("yes")


def test_what_was_cut_is_in_the_tooltip():
    drawn = label("a rather long label", 0, 0, width=40)
    assert "<title>a rather long label</title>" in drawn


def test_the_tree_shows_question_branches_decisions_and_counts():
    root = parse(tree_drawing(*stump()))
    assert root.get("role") == "img"
    assert root.find(f"{SPACE}title").text == "The tree: 2 leaves, root on the left"
    assert root.find(f"{SPACE}desc").text
    shown = texts(root)
    for text in ("age", "10 cases", "≤ 3", "> 3", "no", "yes", "7", "3"):
        assert text in shown


def test_edges_are_as_wide_as_their_cases_are_many():
    root = parse(tree_drawing(*stump()))
    widths = [float(e.get("stroke-width")) for e in root.iter(f"{SPACE}path")]
    assert widths == [1 + 10 * 0.7, 1 + 10 * 0.3]


def test_a_tree_with_too_many_leaves_is_left_to_the_outline():
    tree, classes = stump()
    leaves = [{**tree["nodes"][1], "id": k + 1} for k in range(MAX_LEAVES + 1)]
    assert tree_drawing({"nodes": [tree["nodes"][0], *leaves]}, classes) is None


def test_class_bars_are_in_proportion():
    root = ElementTree.fromstring(outline_bar([6.0, 2.0], stump()[1]))
    widths = [float(e.get("width")) for e in root.iter("rect")]
    assert widths == [28, 21, 7]


def test_classes_without_a_colour_share_one_part_of_the_bar():
    slots = [{"slot": 1}, {"slot": 0}, {"slot": 0}]
    root = ElementTree.fromstring(outline_bar([2.0, 1.0, 1.0], slots))
    assert [float(e.get("width")) for e in root.iter("rect")] == [28, 14, 14]


def test_a_leaf_without_cases_has_an_empty_bar():
    assert outline_bar([0.0, 0.0], stump()[1]).count("<rect") == 1


def test_hits_are_drawn_upwards_and_errors_downwards():
    root = parse(distance_chart(distances()))
    paths = {e.get("class"): e.get("d") for e in root.iter(f"{SPACE}path")}

    def tips(name):
        return [float(y) for y in re.findall(r"V([0-9.]+)H", paths[f"bars {name}"])]

    zero = float(re.match(r"M[0-9.]+ ([0-9.]+)", paths["bars hits"])[1])
    assert len(tips("hits")) == 2  # one bar for each bin that is not empty
    assert len(tips("errors")) == 1
    assert max(tips("hits")) < zero < min(tips("errors"))


def test_the_curve_shows_each_case_by_us_and_by_its_leaf_and_crosses_errors():
    root = parse(curve_chart(distance_curve(), classes_named("no", "yes"), width=620))
    paths = {e.get("class"): e.get("d") for e in root.iter(f"{SPACE}path")}
    assert paths["points"].count("M") == 2  # the hits
    assert paths["crosses"].count("M") == 1
    assert paths["squares"].count("M") == 3
    assert paths["line ours"].count("L") == 2
    assert {"← tree: no", "tree: yes →", "0.5", "0"} <= set(texts(root))
    assert (
        root.find(f"{SPACE}title").text == "Probability of yes against the distance to the boundary"
    )


def test_without_single_cases_the_curve_has_bins_with_intervals():
    root = parse(curve_chart(distance_curve(points=False), classes_named("no", "yes")))
    kinds = [e.get("class") for e in root.iter()]
    assert "whisker" in kinds
    assert not {"points", "crosses", "squares"} & set(kinds)


def test_the_ring_is_at_the_case_shown_and_hidden_without_one():
    classes = classes_named("a", "b")
    root = parse(curve_chart(distance_curve(), classes, shown_case(1.0, 0.5)))
    ring = next(e for e in root.iter() if "here" in (e.get("class") or ""))
    zero, unit, foot, rise = (
        float(ring.get(f"data-{k}")) for k in ("zero", "unit", "foot", "rise")
    )
    place = [float(v) for v in re.findall(r"[0-9.]+", ring.get("transform"))]
    assert place == pytest.approx([zero + unit, foot + rise / 2], abs=0.06)
    assert 'class="here off"' in curve_chart(distance_curve(), classes)


@pytest.mark.parametrize("kind", ["points", "squares", "crosses", "dot", "ring"])
def test_marks_have_samples(kind):
    assert 'aria-hidden="true"' in mark_sample(kind)


def test_a_case_of_another_class_has_no_place_among_three():
    case = {"decision": 0, "distance": 1.0, "p": [0.5, 0.3, 0.2]}
    assert 'class="here off"' in curve_chart(distance_curve(), classes_named(*"abc"), case)


def test_a_strip_has_a_bar_for_each_bin_that_is_not_empty_and_a_tick_for_each_threshold():
    attribute = {"low": 0.0, "high": 3.0, "bins": [2, 0, 4], "thresholds": [1.5, 7.0]}
    root = ElementTree.fromstring(strip(attribute))
    bars, tick = root.iter("path")
    assert bars.get("d").count("M") == 2
    assert tick.get("data-at") == "1.5"
    assert root.get("width") is None  # it is as wide as its control
    assert ElementTree.fromstring(strip({**attribute, "bins": None})) is not None


def test_distances_without_errors_can_be_drawn():
    none = {"cases": 0, "counts": [0, 0], "median": None}
    for hits, shown in ((distances()["hits"], "✓ 4 hits"), (none, "✓ 0 hits")):
        root = parse(distance_chart({**distances(), "errors": none, "hits": hits}))
        assert {shown, "✗ 0 errors"} <= set(texts(root))
        paths = {e.get("class"): e.get("d") for e in root.iter(f"{SPACE}path")}
        assert paths["bars errors"] == ""
        assert (paths["bars hits"] == "") == (hits is none)


def test_reliability_has_a_dot_and_an_interval_for_each_bin():
    root = parse(reliability_chart(bins(), [], "yes"))
    groups = [g for g in root.iter(f"{SPACE}g") if g.get("class") == "bin"]
    assert len(groups) == 1
    assert groups[0].find(f"{SPACE}title").text == "scored 20 % to 30 %: 3 of 10 cases happened"


def test_the_path_of_a_case_is_highlighted():
    root = parse(tree_drawing(*stump(), path={0, 2}))
    lit = {g.get("data-node") for g in root.iter(f"{SPACE}g") if g.get("class") == "on"}
    assert lit == {"0", "2"}


def chain_of(n):
    """A chain of ``n`` tests in preorder; later nodes have fewer cases."""
    nodes = []
    for k in range(n):
        up = 2 * k - 2 if k else None
        shared = {"cases": 100.0 - k, "counts": [1.0], "class": 0}
        nodes.append({"id": 2 * k, "parent": up, "depth": k, "name": "x", **shared})
        nodes.append({"id": 2 * k + 1, "parent": 2 * k, "depth": k + 1, "name": None, **shared})
    return [*nodes, {**nodes[-1], "id": 2 * n, "parent": 2 * n - 2, "depth": n}]


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


def test_samples_are_hidden_from_screen_readers():
    assert 'aria-hidden="true"' in line_sample("ours")
    assert 'aria-hidden="true"' in class_sample(2)


@pytest.mark.parametrize("slot", range(7))
def test_every_class_has_a_marker(slot):
    assert ElementTree.fromstring(marker(slot, 5, 5)).get("class") == f"c{slot}"


def test_the_markers_have_different_shapes():
    assert len({marker(slot, 5, 5).split("class")[0] for slot in range(7)}) == 7


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-2.8, 0.8), (1e-9, 3e-9), (-1e6, 1e7)])
def test_ticks_are_few_and_inside_the_range(low, high):
    ticks = Scale(low, high, 0, 100).ticks(6)
    assert 2 <= len(ticks) <= 7
    span = high - low
    assert min(ticks) >= low - 1e-9 * span
    assert max(ticks) <= high + 1e-9 * span
