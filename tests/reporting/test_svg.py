"""Elements escape text and attributes, and every class has its own marker."""

from xml.etree import ElementTree

import pytest

from keeptree.reporting.svg import Svg, el, label, marker


def test_elements_escape_text_and_attributes_but_not_elements():
    inner = el("b", "<i>")
    assert el("a", inner, "&", title='"') == '<a title="&quot;"><b>&lt;i&gt;</b>&amp;</a>'
    assert isinstance(inner, Svg)


def test_the_tooltip_contains_the_full_text_of_a_shortened_label():
    drawn = label("a rather long label", 0, 0, width=40)
    assert "<title>a rather long label</title>" in drawn


@pytest.mark.parametrize("slot", range(7))
def test_every_class_has_a_marker(slot):
    assert ElementTree.fromstring(marker(slot, 5, 5)).get("class") == f"c{slot}"


def test_the_markers_have_different_shapes():
    assert len({marker(slot, 5, 5).split("class")[0] for slot in range(7)}) == 7
