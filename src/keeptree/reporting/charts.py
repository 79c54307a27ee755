"""The charts of a report as SVG text, drawn from plain data: no JavaScript, no matplotlib."""

from keeptree.reporting.svg import Scale, drawing, el, label, marker, points_path
from keeptree.text import plain_number, plural

SIZE = 13  # drawn a little larger than 12, so that a phone's scaling leaves 12
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 22, 12, 52


def roc_chart(ours, leaves, name, size=400):
    """Return ROC curves: ours solid, that of the leaves broken.

    Parameters
    ----------
    ours, leaves : dict
        ``fpr`` and ``tpr``.
    name : str
        The class that is to be found.
    size : int, default=400
        Width in pixels; the plot is square.

    Returns
    -------
    svg : Svg
    """
    x, y, height = _square(size)
    return drawing(
        size,
        height,
        "ROC curves on the held-out cases",
        f"Share of {name} cases found against share of false alarms: ours and the tree's leaves. "
        "The table below has the values.",
        *_axes(x, y, "false alarms", f"{name} found"),
        el("path", d=points_path([x(0), x(1)], [y(0), y(1)]), class_="chance"),
        *[
            el(
                "path",
                d=points_path(map(x, curve["fpr"]), map(y, curve["tpr"])),
                class_=f"line {line}",
            )
            for curve, line in ((leaves, "leaves"), (ours, "ours"))
        ],
    )


def small_roc(curve, leaves, name, size=180):
    """Return the ROC curve of one method among many, before that of the leaves."""
    x, y = Scale(0, 1, 4, size - 4), Scale(0, 1, size - 4, 4)
    return drawing(
        size,
        size,
        f"ROC curve: {name}",
        "Share of cases found (up) against share of false alarms (right); broken: the tree's own "
        "leaves. The table has the areas.",
        el("path", d=f"M4 4V{size - 4}H{size - 4}", class_="axis"),
        el("path", d=points_path([x(0), x(1)], [y(0), y(1)]), class_="chance"),
        *[
            el("path", d=points_path(map(x, of["fpr"]), map(y, of["tpr"])), class_=f"line {line}")
            for of, line in ((leaves, "leaves"), (curve, "ours"))
        ],
        class_="chart small",
    )


def reliability_chart(ours, leaves, name, size=400):
    """Return how often it happened against how probable it was said to be.

    Parameters
    ----------
    ours, leaves : list of dict
        Bins, see :func:`keeptree.evaluation.reliability.quantile_bins`.
    name : str
        The class that happened or not.
    size : int, default=400
        Width in pixels; the plot is square.

    Returns
    -------
    svg : Svg
    """
    x, y, height = _square(size)
    return drawing(
        size,
        height,
        f"Reliability: how often {name} happened against what was said",
        "Dots on the diagonal are right; bars are 95 % intervals. The table below has the values.",
        *_axes(x, y, f"probability of {name}", "happened"),
        el("path", d=points_path([x(0), x(1)], [y(0), y(1)]), class_="chance"),
        *[_hollow(point, x, y) for point in leaves],
        el(
            "path",
            d=points_path([x(b["scored"]) for b in ours], [y(b["observed"]) for b in ours]),
            class_="line thin",
        ),
        *[
            dot_with_interval(
                point, f"scored {_percent(point['from'])} to {_percent(point['to'])}", x, y
            )
            for point in ours
        ],
    )


def distance_chart(distance, width=620, height=380):
    """Return mirrored histograms: hits up, errors down, each in shares of its own number.

    Parameters
    ----------
    distance : dict
        From :func:`keeptree.reporting.distances.collect_distances`.
    width, height : int
        Size in pixels.

    Returns
    -------
    svg : Svg
    """
    groups = [("hits", distance["hits"], 1), ("errors", distance["errors"], -1)]
    edges = distance["edges"]
    shares = {name: _shares(group) for name, group, _ in groups}
    top = max(max(share, default=0) for share in shares.values()) * 1.12 or 1.0
    x = Scale(0, edges[-1], _LEFT, width - _RIGHT)
    y = Scale(-top, top, height - _BOTTOM, _TOP)
    parts = [grid(x.start, x.stop, map(y, y.ticks(6)))]
    for tick in y.ticks(6):
        said = f"{abs(round(tick * 100)):d} %"
        parts.append(label(said, x.start - 8, y(tick) + 4.5, size=SIZE, anchor="end"))
    for tick in x.ticks(7 if width > 500 else 5):
        said = plain_number(round(tick, 10))
        parts.append(label(said, x(tick), y.start + 20, size=SIZE, anchor="middle"))
    for name, group, sign in groups:
        bars = "".join(
            f"M{x(edges[k]) + 0.5:.1f} {y(0):.1f}V{y(sign * share):.1f}"
            f"H{x(edges[k + 1]) - 0.5:.1f}V{y(0):.1f}Z"
            for k, share in enumerate(shares[name])
            if share
        )
        parts.append(el("path", d=bars, class_=f"bars {name}"))
        if group["median"] is not None:
            parts += _median(min(group["median"], edges[-1]), sign, x, y, top)
    parts.append(el("path", d=f"M{x.start:g} {y(0):.1f}H{x.stop:g}", class_="axis"))
    said = f"✓ {plural(distance['hits']['cases'], 'hit')}"
    wrong = f"✗ {plural(distance['errors']['cases'], 'error')}"
    return drawing(
        width,
        height,
        "Distance of hits and errors from the boundary",
        "Two histograms on one scale: hits upwards, errors downwards, each in shares of its own "
        "number. The table below has the counts.",
        *parts,
        label(said, x.stop, y(top) + 14, size=SIZE, anchor="end"),
        label(wrong, x.stop, y(-top) - 6, size=SIZE, anchor="end"),
        label(
            "distance to the boundary (standard deviations)" if width > 500 else "distance (SD)",
            (x.start + x.stop) / 2,
            y.start + 42,
            size=SIZE,
            anchor="middle",
            class_="muted",
        ),
    )


def strip(attribute, width=240, height=28):
    """Return the small histogram behind a control, with the thresholds of the tree as ticks."""
    x = Scale(attribute["low"], attribute["high"], 0, width)
    bins = attribute["bins"] or []
    most = max(bins, default=0) or 1
    wide = width / max(len(bins), 1)
    bars = "".join(
        f"M{k * wide:.1f} {height}v{-(height - 6) * count / most:.1f}h{wide - 0.6:.1f}V{height}Z"
        for k, count in enumerate(bins)
        if count
    )
    ticks = [
        el("path", d=f"M{x(t):.1f} 0V{height}", class_="threshold", data_at=repr(t))
        for t in attribute["thresholds"][:200]
        if attribute["low"] <= t <= attribute["high"]
    ]
    return el(
        "svg",
        el("path", d=bars, class_="bars quiet") if bars else None,
        *ticks,
        viewBox=f"0 0 {width} {height}",
        preserveAspectRatio="none",
        aria_hidden="true",
        class_="strip",
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
        data_slot=slot,
    )


def grid(start, stop, ys):
    """Return thin lines across a chart, as one element."""
    return el("path", d="".join(f"M{start:g} {y:.1f}H{stop:g}" for y in ys), class_="grid")


def dot_with_interval(point, span, x, y):
    """Return one bin of cases: how often it happened, with its interval."""
    said = f"{span}: {point['happened']} of {plural(point['cases'], 'case')} happened"
    across = x(point["scored"])
    return el(
        "g",
        el("title", said),
        el(
            "path",
            d=f"M{across:.1f} {y(point['low']):.1f}V{y(point['high']):.1f}",
            class_="whisker",
        ),
        el("circle", cx=across, cy=y(point["observed"]), r=5, class_="dot"),
        class_="bin",
    )


def _square(size):
    height = size - _LEFT - _RIGHT + _TOP + _BOTTOM
    return Scale(0, 1, _LEFT, size - _RIGHT), Scale(0, 1, height - _BOTTOM, _TOP), height


def _axes(x, y, x_label, y_label):
    """Grid, tick labels in per cent and names of the axes."""
    parts = [grid(x.start, x.stop, map(y, y.ticks(6)))]
    for tick in y.ticks(6):
        said = f"{round(tick * 100):d} %"
        parts.append(label(said, x.start - 8, y(tick) + 4.5, size=SIZE, anchor="end"))
        parts.append(label(said, x(tick), y.start + 20, size=SIZE, anchor="middle"))
    middle_x, middle_y = (x.start + x.stop) / 2, (y.start + y.stop) / 2
    room = {"size": SIZE, "anchor": "middle", "class_": "muted", "width": x.stop - x.start}
    parts.append(el("path", d=f"M{x.start:g} {y.start:g}H{x.stop:g}", class_="axis"))
    parts.append(label(x_label, middle_x, y.start + 42, **room))
    turned = label(y_label, 0, 0, **room)
    parts.append(el("g", turned, transform=f"translate(13 {middle_y:.1f}) rotate(-90)"))
    return parts


def _hollow(point, x, y):
    return el("circle", cx=x(point["scored"]), cy=y(point["observed"]), r=4, class_="dot hollow")


def _median(value, sign, x, y, top):
    """A tick at the median, with its value."""
    tip = y(sign * top)
    shown = plain_number(value, 2)
    return [
        el("path", d=f"M{x(value):.1f} {y(0):.1f}V{tip:.1f}", class_="median"),
        label(
            f"median {shown}",
            x(value) + 5,
            tip + (14 if sign > 0 else -6),
            size=12,
            class_="muted",
        ),
    ]


def _shares(group):
    return [count / group["cases"] if group["cases"] else 0 for count in group["counts"]]


def _percent(share):
    return f"{100 * share:.0f} %"
