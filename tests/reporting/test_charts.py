"""The charts are valid, escaped SVG and show the given data."""

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
from keeptree.reporting.svg import label
from tests.reporting.svg_text import SPACE, parse, texts


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
    """Return a case of class 1 as ``collect`` describes it."""
    return {"decision": 1, "distance": distance, "p": [1 - p, p]}


def classes_named(*names):
    return [{"label": name} for name in names]


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
        return [tag for tag in tags if tag != f"{SPACE}title"]  # only shortened names have one

    assert elements(hostile) == elements("yes")


def test_correct_cases_are_drawn_upwards_and_errors_downwards():
    root = parse(distance_chart(distances()))
    paths = {e.get("class"): e.get("d") for e in root.iter(f"{SPACE}path")}

    def tips(name):
        return [float(y) for y in re.findall(r"V([0-9.]+)H", paths[f"bars {name}"])]

    zero = float(re.match(r"M[0-9.]+ ([0-9.]+)", paths["bars hits"])[1])
    assert len(tips("hits")) == 2  # one bar for each bin that is not empty
    assert len(tips("errors")) == 1
    assert max(tips("hits")) < zero < min(tips("errors"))


def test_the_curve_shows_both_estimates_of_each_case_and_marks_errors():
    root = parse(curve_chart(distance_curve(), classes_named("no", "yes"), width=620))
    paths = {e.get("class"): e.get("d") for e in root.iter(f"{SPACE}path")}
    assert paths["points"].count("M") == 2  # the correct cases
    assert paths["crosses"].count("M") == 1
    assert paths["squares"].count("M") == 3
    assert paths["line ours"].count("L") == 2
    assert {"← tree: no", "tree: yes →", "0.5", "0"} <= set(texts(root))
    assert (
        root.find(f"{SPACE}title").text == "Probability of yes against the distance to the boundary"
    )


def test_the_curve_has_bins_with_intervals_if_it_shows_no_single_cases():
    root = parse(curve_chart(distance_curve(points=False), classes_named("no", "yes")))
    kinds = [e.get("class") for e in root.iter()]
    assert "whisker" in kinds
    assert not {"points", "crosses", "squares"} & set(kinds)


def test_the_ring_marks_the_selected_case_and_is_hidden_without_one():
    classes = classes_named("a", "b")
    root = parse(curve_chart(distance_curve(), classes, shown_case(1.0, 0.5)))
    ring = next(e for e in root.iter() if "here" in (e.get("class") or ""))
    zero, unit, foot, rise = (
        float(ring.get(f"data-{k}")) for k in ("zero", "unit", "foot", "rise")
    )
    place = [float(v) for v in re.findall(r"[0-9.]+", ring.get("transform"))]
    assert place == pytest.approx([zero + unit, foot + rise / 2], abs=0.06)
    assert 'class="here off"' in curve_chart(distance_curve(), classes)


def test_the_ring_is_hidden_for_a_case_of_another_class_if_there_are_three():
    case = {"decision": 0, "distance": 1.0, "p": [0.5, 0.3, 0.2]}
    assert 'class="here off"' in curve_chart(distance_curve(), classes_named(*"abc"), case)


def test_a_strip_has_a_bar_for_each_nonempty_bin_and_a_tick_for_each_threshold_in_range():
    attribute = {"low": 0.0, "high": 3.0, "bins": [2, 0, 4], "thresholds": [1.5, 7.0]}
    root = ElementTree.fromstring(strip(attribute))
    bars, tick = root.iter("path")
    assert bars.get("d").count("M") == 2
    assert tick.get("data-at") == "1.5"
    assert root.get("width") is None  # it stretches to the width of its control
    assert ElementTree.fromstring(strip({**attribute, "bins": None})) is not None


def test_distances_without_errors_can_be_drawn():
    none = {"cases": 0, "counts": [0, 0], "median": None}
    for hits, shown in ((distances()["hits"], "✓ 4 correct"), (none, "✓ 0 correct")):
        root = parse(distance_chart({**distances(), "errors": none, "hits": hits}))
        assert {shown, "✗ 0 errors"} <= set(texts(root))
        paths = {e.get("class"): e.get("d") for e in root.iter(f"{SPACE}path")}
        assert paths["bars errors"] == ""
        assert (paths["bars hits"] == "") == (hits is none)


def test_the_label_of_a_median_far_to_the_right_is_on_its_left_and_the_count_opposite():
    root = parse(distance_chart(distances()))
    hits, errors = (
        {e.text: (float(e.get("x")), e.get("text-anchor")) for e in root.iter(f"{SPACE}text")}[text]
        for text in ("✓ 4 correct", "✗ 2 errors")
    )
    assert hits[1] == "start"  # the median, 0.7, is far to the right
    assert errors[1] == "end"
    assert hits[0] < errors[0]
    medians = [e for e in root.iter(f"{SPACE}text") if e.text.startswith("median")]
    assert [e.get("text-anchor") for e in medians] == ["end", None]


def test_reliability_has_a_dot_and_an_interval_for_each_bin():
    root = parse(reliability_chart(bins(), [], "yes"))
    groups = [g for g in root.iter(f"{SPACE}g") if g.get("class") == "bin"]
    assert len(groups) == 1
    assert groups[0].find(f"{SPACE}title").text == "estimate 20% to 30%: observed in 3 of 10 cases"
