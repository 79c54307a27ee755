"""One plot as SVG: scales, axes with ticks, and the marks of charts."""

from itertools import pairwise
from math import ceil, floor, log10

from keeptree.reporting.svg import drawing, el, icon, label, number
from keeptree.text import plural

_MARGINS = (62, 22, 12, 52)  # left, right, top, bottom: room for tick labels and names of axes


class Scale:
    """A linear map from data to pixels.

    Parameters
    ----------
    low, high : float
        Range of the data.
    start, stop : float
        Pixels at which its ends are drawn.
    """

    def __init__(self, low, high, start, stop):
        self.low, self.high, self.start, self.stop = low, high, start, stop
        self.factor = (stop - start) / (high - low)

    def __call__(self, value):
        """Return the pixel of a value."""
        return self.start + (value - self.low) * self.factor

    def clip(self, value):
        """Return the value, clipped to the range."""
        return min(max(value, self.low), self.high)

    def ticks(self, about=6):
        """Return round numbers inside the range, at most ``about``."""
        span = self.high - self.low
        power = 10.0 ** (floor(log10(span)) - 1)
        step = next(s * power for s in (1, 2, 5, 10, 20, 50, 100) if span / (s * power) <= about)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


class Plot:
    """A chart under construction: two scales and the elements drawn so far.

    Parameters
    ----------
    x, y : tuple of float
        Ranges of the data.
    width : int
        Width of the chart in pixels.
    height : int, optional
        Height in pixels; by default the frame is a square.
    pad : int, default=0
        Pixels between the frame and the ends of the ranges, so that marks there are not clipped.
    margins : tuple of int, optional
        Pixels around the frame: left, right, top, bottom; by default with room for the axes.
    """

    def __init__(self, x, y, width, height=None, *, pad=0, margins=_MARGINS):
        left, right, top, bottom = margins
        height = width - left - right + top + bottom if height is None else height
        self.width, self.height, self.parts = width, height, []
        self.left, self.right, self.top, self.foot = left, width - right, top, height - bottom
        self.x = Scale(*x, self.left + pad, self.right - pad)
        self.y = Scale(*y, self.foot - pad, self.top + pad)

    def axis_x(self, tell, about=6, name=None):
        """Write the ticks below the frame, formatted by ``tell``, and the name of the axis."""
        for tick in self.x.ticks(about):
            self.text(tell(tick), self.x(tick), self.foot + 20, anchor="middle")
        if name:
            self.footnote(name, "middle")

    def ticks_x(self, tell, end, count=5):
        """Write ticks from 0 to ``end`` evenly across the frame, independent of the scale."""
        for k in range(count + 1):
            x = self.left + (self.right - self.left) * k / count
            self.text(tell(end * k / count), x, self.foot + 20, anchor="middle")

    def axis_y(self, tell, about=6, name=None):
        """Draw lines across the frame with the ticks to their left, and the name of the axis."""
        ticks = self.y.ticks(about)
        across = "".join(f"M{self.left} {number(self.y(tick))}H{self.right}" for tick in ticks)
        self.path(across, "grid")
        for tick in ticks:
            self.text(tell(tick), self.left - 8, self.y(tick) + 4.5, anchor="end")
        if name:
            room = self.foot - self.top
            turned = label(name, 0, 0, class_="muted", anchor="middle", width=room)
            place = f"translate(13 {number((self.top + self.foot) / 2)}) rotate(-90)"
            self.parts.append(el("g", turned, transform=place))

    def footnote(self, text, anchor, share=1.0):
        """Write text below the ticks, at the start, middle or end, within a share of the width."""
        at = {"start": self.left, "middle": (self.left + self.right) / 2, "end": self.right}
        room = (self.right - self.left) * share
        self.text(text, at[anchor], self.foot + 42, anchor=anchor, width=room, class_="muted")

    def rule(self, *, x=None, y=None):
        """Draw a straight axis through the frame, at a position on the other axis."""
        if x is not None:
            self.path(f"M{number(self.x(x))} {self.foot}V{self.top}", "axis")
        if y is not None:
            self.path(f"M{self.left} {number(self.y(y))}H{self.right}", "axis")

    def line(self, xs, ys, class_):
        """Draw a line through points of the data."""
        places = zip(map(self.x, xs), map(self.y, ys), strict=True)
        points = "L".join(f"{number(a)} {number(b)}" for a, b in places)
        self.path(f"M{points}" if points else "", class_)

    def marks(self, kind, xs, ys):
        """Draw equal marks as one element: "points", "squares" or "crosses"."""
        places = zip(map(self.x, xs), map(self.y, ys), strict=True)
        self.path(marks_path(kind, places), kind)

    def bars(self, edges, heights, class_):
        """Draw the bars of a histogram, which start at 0."""
        zero = number(self.y(0))
        sides = [(self.x(a) + 0.5, self.x(b) - 0.5) for a, b in pairwise(edges)]
        self.path(
            "".join(
                f"M{number(start)} {zero}V{number(self.y(height))}H{number(stop)}V{zero}Z"
                for (start, stop), height in zip(sides, heights, strict=True)
                if height
            ),
            class_,
        )

    def hollow(self, group):
        """Draw the share observed in a group of cases without its interval."""
        x, y = self.x(group["scored"]), self.y(group["observed"])
        self.parts.append(el("circle", cx=x, cy=y, r=4, class_="dot hollow"))

    def interval(self, group, span):
        """Draw the share observed in a group of cases with its interval and a tooltip."""
        x = self.x(self.x.clip(group["scored"]))
        low, high = (number(self.y(group[end])) for end in ("low", "high"))
        told = f"{span}: observed in {group['happened']} of {plural(group['cases'], 'case')}"
        self.parts.append(
            el(
                "g",
                el("title", told),
                el("path", d=f"M{number(x)} {low}V{high}", class_="whisker"),
                el("circle", cx=x, cy=self.y(group["observed"]), r=5, class_="dot"),
                class_="bin",
            )
        )

    def text(self, text, x, y, **options):
        """Write text at a position in pixels; the options are those of ``label``."""
        self.parts.append(label(text, x, y, **options))

    def path(self, d, class_):
        """Draw path data in pixels."""
        self.parts.append(el("path", d=d, class_=class_))

    def group(self, class_, draw):
        """Put the output of ``draw`` into a group."""
        before, self.parts = self.parts, []
        draw()
        self.parts = [*before, el("g", *self.parts, class_=class_)]

    def inset(self, class_, draw):
        """Put the output of ``draw`` into a clipping frame, in a group that starts at 0."""
        width, height = self.right - self.left, self.foot - self.top
        view = f"{number(self.left)} {number(self.top)} {number(width)} {number(height)}"
        before, self.parts = self.parts, []
        draw()
        # The group starts at the left edge, so stretching it leaves that edge in place.
        moved = el("g", *self.parts, transform=f"translate({number(-self.left)} 0)")
        inner = el(
            "g", el("g", moved, class_=class_), transform=f"translate({number(self.left)} 0)"
        )
        frame = {"x": self.left, "y": self.top, "width": width, "height": height, "viewBox": view}
        frame["aria_hidden"] = "true"
        self.parts = [*before, el("svg", inner, **frame)]

    def draw(self, title, desc, class_="chart"):
        """Return the chart as ``svg``."""
        return drawing(self.width, self.height, title, desc, *self.parts, class_=class_)


def marks_path(kind, places):
    """Return the path data of marks; marks at the same place are written once."""
    shape = _MARKS[kind]
    return "".join(dict.fromkeys(shape.format(*map(number, place)) for place in places))


def line_sample(line):
    """Return a short stroke in the style of a curve, for legends."""
    return icon(32, 12, el("path", d="M1 6H31", class_=f"line {line}"), class_="key")


def mark_sample(kind):
    """Return one mark, for legends: points, squares, crosses, dot or ring."""
    if kind in _MARKS:
        mark = el("path", d=marks_path(kind, [(8, 8)]), class_=kind)
    else:
        mark = el("circle", cx=8, cy=8, r=5 if kind == "dot" else 6.5, class_=kind)
    return icon(16, 16, mark, class_="key")


# A point is a stroke of no length, which round line caps make visible.
_MARKS = {
    "points": "M{} {}h0",
    "squares": "M{} {}m-2.5 -2.5h5v5h-5z",
    "crosses": "M{} {}m-4.5 -4.5l9 9m0 -9l-9 9",
}


def percent(share):
    """Return a share for a tick or a sentence: ``40%``, without its sign."""
    return f"{abs(100 * share):.0f}%"
