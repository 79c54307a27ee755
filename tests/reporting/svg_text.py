"""Helpers that parse SVG."""

from xml.etree import ElementTree

SPACE = "{http://www.w3.org/2000/svg}"


def parse(svg):
    root = ElementTree.fromstring(svg)
    assert not root.findall(f".//{SPACE}script")
    return root


def texts(root):
    """Return the visible text, without tooltips."""
    return ["".join([e.text or "", *(c.tail or "" for c in e)]) for e in root.iter(f"{SPACE}text")]
