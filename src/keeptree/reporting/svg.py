"""Build SVG with escaping, labels and class markers."""

from html import escape
from math import cos, pi, sin

from keeptree.text import shorten, shorten_title, xml_safe

SIZE = 13  # font size, slightly above 12 so that scaling on a phone leaves 12


class Svg(str):
    """Safe markup: everything in it was escaped by :func:`el`."""

    __slots__ = ()

    def __html__(self):
        """Tell Jinja that this is markup."""
        return str(self)


def el(name, *children, **attributes):
    """Return an element with escaped text and attributes.

    Write ``class_`` for ``class``, and ``_`` for ``-`` in a name. Attributes that are None are left
    out, and numbers have at most two decimals.

    Examples
    --------
    >>> el("text", "a < b", x=1.005, class_="tick")
    '<text x="1" class="tick">a &lt; b</text>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(xml_safe(number(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(
        child if isinstance(child, Svg) else escape(xml_safe(str(child)), quote=False)
        for child in children
        if child is not None
    )
    return Svg(f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>")


def number(value):
    """Return a number with two decimals at most; anything else as text."""
    if isinstance(value, float):
        text = f"{value:.2f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return str(value)


def drawing(width, height, title, desc, *children, class_="chart"):
    """Return an ``svg`` that screen readers announce as one image with a title."""
    return el(
        "svg",
        el("title", shorten_title(title)),
        el("desc", shorten_title(desc)),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        role="img",
        aria_label=shorten_title(title),
        class_=class_,
    )


def icon(width, height, /, *children, **attributes):
    """Return a small ``svg`` that screen readers skip; the text next to it has the same content."""
    size = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return el("svg", *children, **{**size, **attributes}, aria_hidden="true")


def label(text, x, y, *, size=SIZE, width=None, class_=None, anchor=None, full=None):
    """Return text at a position, truncated to ``width`` with the full text as tooltip."""
    shown = text if width is None else shorten(text, width, size)
    full = full or (text if shown != text else None)
    tooltip = el("title", shorten_title(full)) if full else None
    return el("text", tooltip, shown, x=x, y=y, font_size=size, class_=class_, text_anchor=anchor)


def marker(slot, x, y, radius=6):
    """Return the marker of a class, recognisable without colour."""
    if slot == 1:
        return el("circle", cx=x, cy=y, r=radius * 0.95, class_="c1")
    corners = [(float(x + radius * a), float(y + radius * b)) for a, b in _SHAPES[slot]]
    points = " ".join(f"{number(a)},{number(b)}" for a, b in corners)
    return el("polygon", points=points, class_=f"c{slot}")


def class_sample(slot):
    """Return the marker of a class, for legends and cells."""
    return icon(16, 16, marker(slot, 8, 8), class_="sample", data_slot=slot)


def _polygon(corners, inner=1.0):
    """Corners on a circle from the top; every second one at ``inner`` times the radius."""
    angles = [2 * pi * k / corners for k in range(corners)]
    radii = [inner if k % 2 else 1.0 for k in range(corners)]
    return [(r * sin(a), -r * cos(a)) for r, a in zip(radii, angles, strict=True)]


_SQUARE = [(-0.86, -0.86), (0.86, -0.86), (0.86, 0.86), (-0.86, 0.86)]
_CROSS = [(-0.3, -1), (0.3, -1), (0.3, -0.3), (1, -0.3), (1, 0.3), (0.3, 0.3)]
_CROSS += [(-a, -b) for a, b in _CROSS]
# Slots 1 to 6 are ● ■ ▲ ◆ ✚ ★; slot 0 is every class beyond the coloured ones.
_TRIANGLE = [(0, -1), (1, 0.8), (-1, 0.8)]
_SHAPES = [_polygon(6), [], _SQUARE, _TRIANGLE, _polygon(4), _CROSS, _polygon(10, 0.45)]
