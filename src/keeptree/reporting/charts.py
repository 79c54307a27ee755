"""The charts of a report as SVG text, drawn from plain data: no JavaScript, no matplotlib."""

from keeptree.reporting.svg import Scale, dots_path, drawing, el, label, marker, points_path
from keeptree.text import plain_number, shorten_title

_NARROW = 500  # below this width labels are short and ticks few
_SIZE = 13  # drawn a little larger than 12, so that a phone's scaling leaves 12


def roc_chart(curves, size=420):
    """Return ROC curves: ours solid, those of the leaves broken.

    Parameters
    ----------
    curves : list of dict
        ``label``, ``line`` (the CSS class of its stroke), ``fpr`` and ``tpr``; drawn in order, so
        that the last is on top.
    size : int, default=420
        Width in pixels; the plot is square.

    Returns
    -------
    svg : Svg
    """
    left, right, top, bottom = 66, 26, 12, 52
    height = size - left - right + top + bottom
    x = Scale(0, 1, left, size - right)
    y = Scale(0, 1, height - bottom, top)
    names = ", ".join(curve["label"] for curve in curves)
    return drawing(
        size,
        height,
        "ROC curves on the held-out cases",
        f"Share of positive cases found against share of false alarms, for {names}. "
        "The table below has the values.",
        *_axes(x, y, "false alarms", "positive cases found", percent=True),
        el("path", d=points_path([x(0), x(1)], [y(0), y(1)]), class_="chance"),
        *[
            el(
                "path",
                el("title", shorten_title(curve["label"])),
                d=points_path(map(x, curve["fpr"]), map(y, curve["tpr"])),
                class_=f"line {curve['line']}",
            )
            for curve in curves
        ],
    )


def distance_chart(distance, classes, width=860, height=430):
    """Return Figure 1 of Alvarez et al. (2007): probability against algebraic distance.

    Parameters
    ----------
    distance : dict
        ``curve`` (``h`` and ``p`` of the kernel estimate), ``cases`` (each with ``h``, ``kernel``,
        ``laplace``, ``truth`` and ``error``), ``steps`` (``h`` range and ``p`` of each leaf) and
        ``positive``, the index of the positive class; see
        :func:`keeptree.reporting.collect.collect_distance`.
    classes : list of dict
        ``label`` and ``slot`` of each class.
    width, height : int
        Size in pixels; a narrow one for phones.

    Returns
    -------
    svg : Svg
    """
    left, right, top, bottom = 56, 14, 46, 52
    cases = distance["cases"]
    everything = [case["h"] for case in cases] + distance["curve"]["h"]
    margin = 0.02 * (max(everything) - min(everything)) or 1.0
    x = Scale(min(everything) - margin, max(everything) + margin, left, width - right)
    y = Scale(-0.04, 1.04, height - bottom, top)
    positive = classes[distance["positive"]]
    right_ones = [case for case in cases if not case["error"]]
    wrong = [case for case in cases if case["error"]]
    others = [item["label"] for item in classes if item is not positive]
    other = others[0] if len(others) == 1 else "another class"
    x_label = "algebraic distance (standard deviations)"
    if width >= _NARROW:
        x_label += f", negative inside {positive['label']}"
    return drawing(
        width,
        height,
        f"Probability of {positive['label']} against distance to the boundary",
        "The distance-kernel estimate is a smooth curve; the Laplace estimate of the leaves is "
        f"piecewise constant. {len(wrong)} errors of the tree are highlighted among {len(cases)} "
        "held-out cases. The table below has the values.",
        *_axes(x, y, x_label, f"probability of {positive['label']}"),
        *_sides(x, y, positive["label"], other, "tree: " if width >= _NARROW else ""),
        *_truth_ticks(cases, classes, distance["positive"], x, y),
        *[
            el("path", d=points_path(map(x, step["h"]), [y(step["p"])] * 2), class_="line step")
            for step in distance["steps"]
        ],
        el("path", d=_dots(right_ones, "laplace", x, y), class_="dots hollow"),
        el(
            "path",
            d=points_path(map(x, distance["curve"]["h"]), map(y, distance["curve"]["p"])),
            class_="line kernel",
        ),
        el("path", d=_dots(right_ones, "kernel", x, y), class_="dots"),
        *[_error(case, classes, x, y) for case in wrong],
    )


def line_sample(line):
    """Return a short stroke in the style of a curve, for legends and table rows."""
    stroke = el("path", d="M1 6H31", class_=f"line {line}")
    return el(
        "svg", stroke, viewBox="0 0 32 12", width=32, height=12, aria_hidden="true", class_="key"
    )


def class_sample(slot):
    """Return the marker of a class, for legends."""
    return el(
        "svg",
        marker(slot, 8, 8, 6),
        viewBox="0 0 16 16",
        width=16,
        height=16,
        aria_hidden="true",
        class_="sample",
    )


def _axes(x, y, x_label, y_label, percent=False):
    """Grid, tick labels and names of the axes."""
    parts = []
    for tick in y.ticks(6):
        if not 0 <= tick <= 1:
            continue
        parts.append(el("path", d=f"M{x.start:g} {y(tick):.1f}H{_end(x):g}", class_="grid"))
        parts.append(
            label(_tick(tick, percent), x.start - 8, y(tick) + 4.5, size=_SIZE, anchor="end")
        )
    for tick in x.ticks(6 if _end(x) < _NARROW else 9):
        foot = y.start
        parts.append(el("path", d=f"M{x(tick):.1f} {foot:g}v5", class_="axis"))
        parts.append(label(_tick(tick, percent), x(tick), foot + 20, size=_SIZE, anchor="middle"))
    middle_x, middle_y = (x.start + _end(x)) / 2, (y.start + _end(y)) / 2
    parts.append(el("path", d=f"M{x.start:g} {y.start:g}H{_end(x):g}", class_="axis"))
    parts.append(
        label(
            x_label,
            middle_x,
            y.start + 42,
            size=_SIZE,
            anchor="middle",
            width=_end(x) - x.start,
            class_="muted",
        )
    )
    turned = label(
        y_label, 0, 0, size=_SIZE, anchor="middle", width=y.start - _end(y), class_="muted"
    )
    parts.append(el("g", turned, transform=f"translate(13 {middle_y:.1f}) rotate(-90)"))
    return parts


def _sides(x, y, positive, other, says):
    """The boundary at distance 0, and what the tree says on either side of it."""
    top, zero = _end(y), x(0)
    left = {"anchor": "end", "width": zero - x.start - 8}
    right = {"width": _end(x) - zero - 4}
    return [
        el("path", d=f"M{zero:.1f} {y.start:g}V{top - 30:g}", class_="boundary"),
        label(f"← {says}{positive}", zero - 8, top - 18, size=_SIZE, **left),
        label(f"{says}{other} →", zero + 8, top - 18, size=_SIZE, **right),
    ]


def _truth_ticks(cases, classes, positive, x, y):
    """What the cases really were: ticks above for the positive class, below for the rest."""
    parts = []
    for index, item in enumerate(classes):
        foot = y(1.04) - 8 if index == positive else y.start - 8
        mine = [case["h"] for case in cases if case["truth"] == index]
        path = "".join(f"M{x(h):.1f} {foot:.1f}v8" for h in mine)
        if path:
            parts.append(el("path", d=path, class_=f"tick s{item['slot']}"))
    return parts


def _error(case, classes, x, y):
    """One error of the tree: its two estimates joined, the marker of what it really was."""
    slot = classes[case["truth"]]["slot"]
    at, low, high = x(case["h"]), y(case["laplace"]), y(case["kernel"])
    says = f"truly {classes[case['truth']]['label']}: kernel {case['kernel']:.2f}, "
    says += f"Laplace {case['laplace']:.2f}, distance {plain_number(case['h'], 2)}"
    return el(
        "g",
        el("title", shorten_title(says)),
        el("path", d=f"M{at:.1f} {low:.1f}V{high:.1f}", class_=f"tie s{slot}"),
        el("g", marker(slot, at, low, 5), class_=f"open s{slot}"),
        marker(slot, at, high, 6),
        class_="error",
    )


def _dots(cases, key, x, y):
    return dots_path([x(case["h"]) for case in cases], [y(case[key]) for case in cases])


def _end(scale):
    return scale(scale.high)


def _tick(value, percent):
    value = round(value, 10)
    return f"{value * 100:.0f} %" if percent else plain_number(value)
