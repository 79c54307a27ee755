"""The chart of probability against distance (Alvarez et al. 2007, Figure 1) as SVG text."""

from keeptree.reporting.charts import SIZE, dot_with_interval, grid
from keeptree.reporting.svg import Scale, dots_path, drawing, el, label, points_path
from keeptree.text import plain_number

_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 30, 20, 74  # room inside which a mark at an edge is whole
_EDGE = 8  # from the plot to the last mark


def curve_chart(curve, names, here=None, width=620, height=380):
    """Return the probability of a class against the distance to its boundary.

    Parameters
    ----------
    curve : dict
        From :func:`keeptree.reporting.curve.collect_curves`.
    names : tuple of str
        What the tree says on the left and on the right of the boundary: the class is the second.
    here : tuple of float, optional
        Distance and probability of the case shown; the page moves its ring.
    width, height : int
        Size in pixels.

    Returns
    -------
    svg : Svg
    """
    left, right = names
    x = Scale(curve["low"], curve["high"], _LEFT, width - _RIGHT)
    y = Scale(0, 1, height - _BOTTOM, _TOP)
    line, points = curve["line"], curve["points"]
    parts = _curve_axes(x, y, left, right, width > 500)
    if points:
        parts += _draw_estimates(points, x, y)
    if line:
        d = points_path(map(x, line["inside"]), map(y, line["p"]))
        parts.append(el("path", d=d, class_="line ours"))
    parts += [_crosses(points, x, y)] if points else _draw_bins(curve["bins"], x, y)
    return drawing(
        width,
        height,
        f"Probability of {right} against the distance to the boundary",
        f"To the right the tree says {right}, to the left {left}. The table below has the values.",
        *parts,
        _ring(curve["class"], here, x, y),
    )


def point_sample(kind):
    """Return a sample of the marks of :func:`curve_chart`: ours, leaves, wrong, bin, here."""
    middle = Scale(0, 1, 8, 9)
    one = {"inside": [0], "ours": [0], "leaves": [0], "wrong": [True]}
    drawn = {
        "ours": el("path", d=dots_path([8], [8]), class_="points"),
        "leaves": el("path", d=_squares([8], [8]), class_="squares"),
        "wrong": _crosses(one, middle, middle),
        "bin": el("circle", cx=8, cy=8, r=5, class_="dot"),
        "here": el("circle", cx=8, cy=8, r=6.5, class_="ring"),
    }[kind]
    return el(
        "svg", drawn, viewBox="0 0 16 16", width=16, height=16, aria_hidden="true", class_="key"
    )


def _curve_axes(x, y, left, right, wide):
    """Per cent upwards; to the sides the distance, and what the tree says there."""
    ends = (x.start - _EDGE, x.stop + _EDGE)
    parts = [grid(*ends, map(y, y.ticks(6)))]
    for tick in y.ticks(6):
        said = f"{round(100 * tick):d} %"
        parts.append(label(said, ends[0] - 8, y(tick) + 4.5, size=SIZE, anchor="end"))
    for tick in x.ticks(8 if wide else 5):
        said = plain_number(abs(round(tick, 10)))
        parts.append(label(said, x(tick), y.start + 28, size=SIZE, anchor="middle"))
    parts.append(el("path", d=f"M{x(0):.1f} {y.start + 10:.1f}V{y.stop - 8:.1f}", class_="axis"))
    turned = label("probability", 0, 0, size=SIZE, anchor="middle", class_="muted")
    middle = (y.start + y.stop) / 2
    parts.append(el("g", turned, transform=f"translate(13 {middle:.1f}) rotate(-90)"))
    room = {
        "size": SIZE,
        "width": (ends[1] - ends[0]) * (0.36 if wide else 0.44),
        "class_": "muted",
    }
    foot = y.start + 52
    said = "distance to the boundary (SD)" if wide else "SD"
    return [
        *parts,
        label(f"← tree: {left}", ends[0], foot, **room),
        label(said, sum(ends) / 2, foot, **{**room, "width": None}, anchor="middle"),
        label(f"tree: {right} →", ends[1], foot, **room, anchor="end"),
    ]


def _draw_estimates(points, x, y):
    """Squares for the leaves' estimates, dots for ours."""
    right = [not wrong for wrong in points["wrong"]]
    across = [x(value) for value in points["inside"]]
    ours = [(a, y(p)) for a, p, told in zip(across, points["ours"], right, strict=True) if told]
    return [
        el("path", d=_squares(across, [y(p) for p in points["leaves"]]), class_="squares"),
        el("path", d=dots_path(*zip(*ours, strict=True)) if ours else "", class_="points"),
    ]


def _draw_bins(bins, x, y):
    """How often it happened among the cases of each stretch."""
    return [
        dot_with_interval(
            {**item, "scored": min(max(item["scored"], x.low), x.high)},
            f"{plain_number(item['from'], 2)} to {plain_number(item['to'], 2)} SD",
            x,
            y,
        )
        for item in bins
    ]


def _crosses(points, x, y):
    """A cross at our estimate of each case on which the tree errs."""
    wrong = [
        (x(value), y(p))
        for value, p, errs in zip(points["inside"], points["ours"], points["wrong"], strict=True)
        if errs
    ]
    d = "".join(f"M{a - 4.5:.1f} {b - 4.5:.1f}l9 9m0 -9l-9 9" for a, b in wrong)
    return el("path", d=d, class_="crosses")


def _squares(xs, ys):
    places = zip(xs, ys, strict=True)
    return "".join(dict.fromkeys(f"M{a - 2.5:.1f} {b - 2.5:.1f}h5v5h-5z" for a, b in places))


def _ring(c, here, x, y):
    """The case shown; the page moves it, by the numbers it carries."""
    across, up = here or (0.0, 0.0)
    return el(
        "g",
        el("circle", r=9, class_="ring"),
        class_="here" if here else "here off",
        transform=f"translate({x(min(max(across, x.low), x.high)):.1f} {y(up):.1f})",
        data_class=c,
        data_low=repr(x.low),
        data_high=repr(x.high),
        data_zero=x(0),
        data_unit=repr(x.factor),
        data_foot=y(0),
        data_rise=y(1) - y(0),
    )
