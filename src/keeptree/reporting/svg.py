"""SVG as text: elements that escape what they are given, class markers, a linear scale."""

from html import escape
from math import ceil, cos, floor, log10, pi, sin

from keeptree.text import shorten, shorten_title, xml_safe


class Svg(str):
    """Markup that may go on a page as it is: everything in it was escaped by :func:`el`."""

    __slots__ = ()

    def __html__(self):
        """Tell Jinja that this is markup."""
        return str(self)


def el(name, *children, **attributes):
    """Return one element; text among the children and all attributes are escaped.

    ``class_`` stands for ``class``, ``_`` in a name for ``-``; attributes that are None are left
    out and numbers are written with two decimals at most.

    Examples
    --------
    >>> el("text", "a < b", x=1.005, class_="tick")
    '<text x="1" class="tick">a &lt; b</text>'
    """
    written = "".join(
        f' {_attribute(key)}="{escape(xml_safe(_value(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(
        child if isinstance(child, Svg) else escape(xml_safe(str(child)), quote=False)
        for child in children
        if child is not None
    )
    return Svg(f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>")


def drawing(width, height, title, desc, *children, class_="chart"):
    """Return an ``svg`` that screen readers announce as one image with a title."""
    return el(
        "svg",
        el("title", shorten_title(title)),
        el("desc", shorten_title(desc)),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_value(width)} {_value(height)}",
        width=width,
        height=height,
        role="img",
        aria_label=shorten_title(title),
        class_=class_,
    )


def label(text, x, y, *, size=13, width=None, class_=None, anchor=None, full=None):
    """Return text at a place, cut to ``width``; what was cut is in the tooltip."""
    shown = text if width is None else shorten(text, width, size)
    full = full or (text if shown != text else None)
    tooltip = el("title", shorten_title(full)) if full else None
    return el("text", tooltip, shown, x=x, y=y, font_size=size, class_=class_, text_anchor=anchor)


def marker(slot, x, y, radius=6):
    """Return the marker of a class: its shape says the class where colour cannot."""
    if slot == 1:
        return el("circle", cx=x, cy=y, r=radius * 0.95, class_="c1")
    corners = [(float(x + radius * a), float(y + radius * b)) for a, b in _SHAPES[slot]]
    points = " ".join(f"{_value(a)},{_value(b)}" for a, b in corners)
    return el("polygon", points=points, class_=f"c{slot}")


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


class Scale:
    """A linear map from data to pixels.

    Parameters
    ----------
    low, high : float
        Range of the data.
    start, stop : float
        Where its ends are drawn.
    """

    def __init__(self, low, high, start, stop):
        self.low, self.high, self.start, self.stop = low, high, start, stop
        self.factor = (stop - start) / (high - low)

    def __call__(self, value):
        """Return where a value is drawn."""
        return self.start + (value - self.low) * self.factor

    def ticks(self, about=6):
        """Return round numbers inside the range, at most ``about``."""
        span = self.high - self.low
        power = 10.0 ** (floor(log10(span)) - 1)
        step = next(s * power for s in (1, 2, 5, 10, 20, 50, 100) if span / (s * power) <= about)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


def points_path(xs, ys):
    """Path data of a line through points."""
    pairs = [f"{_value(x)} {_value(y)}" for x, y in zip(xs, ys, strict=True)]
    return "M" + "L".join(pairs) if pairs else ""


def dots_path(xs, ys):
    """Path data of dots: strokes of no length, which round line caps make visible."""
    return "".join(f"M{_value(x)} {_value(y)}h0" for x, y in zip(xs, ys, strict=True))


def _attribute(key):
    return key.rstrip("_").replace("_", "-")


def _value(value):
    if isinstance(value, float):
        text = f"{value:.2f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return str(value)
