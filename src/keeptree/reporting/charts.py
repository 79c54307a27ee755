"""The charts of a report as SVG, without JavaScript or matplotlib."""

from itertools import compress

from keeptree.reporting.plot import Plot, percent
from keeptree.reporting.svg import el, icon, number
from keeptree.text import class_text, plain_number, plural

_WIDE = 500  # pixels; narrower charts have fewer ticks and shorter names
_EDGE = 8  # pixels between the frame and the outermost mark
ZOOM = 0.2  # false positive rate at the end of a zoomed ROC curve
_MOST_TICKS = 200  # thresholds drawn behind one control


def roc_chart(ours, leaves, name, size=400):
    """Return the ROC curves of a class, with ``fpr`` and ``tpr``: ours solid, leaves dashed."""
    plot = Plot((0, 1), (0, 1), size)
    plot.axis_y(percent, name=f"{name} found")
    plot.footnote("false alarms", "middle")
    for end, class_ in ((1.0, "roc-ticks"), (ZOOM, "roc-ticks zoomed")):
        plot.group(class_, lambda end=end: plot.ticks_x(percent, end))
    plot.rule(y=0)
    _draw_roc(plot, ours, leaves)
    return plot.draw(
        "ROC curves on the cases the tree had not seen",
        f"Share of {name} cases found against share of false alarms: our estimate and the tree's "
        "own percentages. "
        "See the table for values.",
    )


def small_roc(curve, leaves, name, size=180):
    """Return the ROC curve of one method, drawn over that of the leaves."""
    plot = Plot((0, 1), (0, 1), size, margins=(4, 4, 4, 4))
    plot.rule(x=0, y=0)
    _draw_roc(plot, curve, leaves)
    return plot.draw(
        f"ROC curve: {name}",
        "Share of cases found (up) against share of false alarms (right); dashed: the tree's own "
        "percentages. See the table for the areas.",
        class_="chart small",
    )


def reliability_chart(ours, leaves, name, size=400):
    """Return a reliability diagram: observed frequency against predicted probability.

    ``ours`` and ``leaves`` are bins of :func:`keeptree.evaluation.reliability.quantile_bins`.
    """
    plot = _shares(size, f"estimate for {name}", "observed share")
    for group in leaves:
        plot.hollow(group)
    plot.line([b["scored"] for b in ours], [b["observed"] for b in ours], "line thin")
    for group in ours:
        plot.interval(group, f"estimate {percent(group['from'])} to {percent(group['to'])}")
    return plot.draw(
        f"Reliability: observed share of {name} against the estimate",
        "Dots on the diagonal are calibrated; bars are 95% intervals. See the table for values.",
    )


def distance_chart(distance, width=620, height=380):
    """Return mirrored histograms of correct decisions (up) and errors (down), each normalised.

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
    edges = distance["edges"]
    groups = {"hits": (1, "✓", "correct", "correct"), "errors": (-1, "✗", "error", "errors")}
    shares = {
        name: [count / (distance[name]["cases"] or 1) for count in distance[name]["counts"]]
        for name in groups
    }
    top = 1.12 * max(map(max, shares.values())) or 1.0
    wide = width > _WIDE
    plot = Plot((0, edges[-1]), (-top, top), width, height)
    plot.axis_y(percent)
    plot.axis_x(
        _tell_distance,
        7 if wide else 5,
        "distance to the boundary (standard deviations)" if wide else "distance (SD)",
    )
    for name, (sign, mark, one, many) in groups.items():
        plot.bars(edges, [sign * share for share in shares[name]], f"bars {name}")
        told = f"{mark} {plural(distance[name]['cases'], one, many)}"
        _tell_group(plot, told, distance[name]["median"], sign * top)
    plot.rule(y=0)
    return plot.draw(
        "Distance of correct decisions and errors from the boundary",
        "Two histograms on one scale: correct upwards, errors downwards, each as shares of its "
        "own total. See the table for the counts.",
    )


def curve_chart(curve, classes, case=None, width=620, height=380):
    """Return the probability of a class against the distance to its boundary.

    Parameters
    ----------
    curve : dict
        One of ``by_class`` of :func:`keeptree.reporting.distances.collect_distances`.
    classes : list of dict
        ``label`` of each class.
    case : dict, optional
        Selected case: its ``decision``, ``distance`` and ``p``; the page moves its ring.
    width, height : int
        Size in pixels.

    Returns
    -------
    svg : Svg
    """
    c, names = curve["class"], [class_text(item["label"]) for item in classes]
    left, right = names[1 - c] if len(names) == 2 else "another", names[c]
    wide = width > _WIDE
    plot = Plot((curve["low"], curve["high"]), (0, 1), width, height, pad=_EDGE)
    plot.axis_y(percent, name="probability")
    plot.axis_x(_tell_distance, 8 if wide else 5, "distance to the boundary (SD)" if wide else "SD")
    plot.footnote(f"← tree: {left}", "start", 0.36 if wide else 0.44)
    plot.footnote(f"tree: {right} →", "end", 0.36 if wide else 0.44)
    plot.rule(x=0)
    _draw_cases(plot, curve)
    plot.parts.append(_ring(plot, c, _place(case, c, len(names))))
    return plot.draw(
        f"Probability of {right} against the distance to the boundary",
        f"To the right the tree decides {right}, to the left {left}. See the table for values.",
    )


def strip(attribute, width=240, height=28):
    """Return the small histogram behind a control, with the thresholds of the tree as ticks."""
    low, high, bins = attribute["low"], attribute["high"], attribute["bins"] or []
    most, step = max(bins, default=0) or 1, (high - low) / max(len(bins), 1)
    plot = Plot((low, high), (0, most), width, height, margins=(0, 0, 6, 0))
    plot.bars([low + step * k for k in range(len(bins) + 1)], bins, "bars quiet")
    inside = [t for t in attribute["thresholds"][:_MOST_TICKS] if low <= t <= high]
    ticks = [
        el("path", d=f"M{number(plot.x(t))} 0V{height}", class_="threshold", data_at=repr(t))
        for t in inside
    ]
    stretched = {"width": None, "height": None, "preserveAspectRatio": "none"}
    return icon(width, height, *plot.parts, *ticks, class_="strip", **stretched)


def _shares(size, x_name, y_name):
    """A square plot of one share against another, with the diagonal."""
    plot = Plot((0, 1), (0, 1), size)
    plot.axis_y(percent, name=y_name)
    plot.axis_x(percent, name=x_name)
    plot.rule(y=0)
    plot.line([0, 1], [0, 1], "chance")
    return plot


def _draw_roc(plot, ours, leaves):
    """Draw the curves in their own frame, so that the page can zoom in."""

    def curves():
        plot.line([0, 1], [0, 1], "chance")
        plot.line(leaves["fpr"], leaves["tpr"], "line leaves")
        plot.line(ours["fpr"], ours["tpr"], "line ours")

    plot.inset("roc", curves)


def _tell_group(plot, told, median, top):
    """Draw a dashed line at the median, with its value and the number of cases."""
    y = plot.y(top) + (14 if top > 0 else -6)
    x = plot.right if median is None else plot.x(plot.x.clip(median))
    late = median is not None and x > (plot.left + plot.right) / 2
    plot.text(told, plot.left + 8 if late else plot.right, y, anchor="start" if late else "end")
    if median is not None:
        plot.line([plot.x.clip(median)] * 2, [0, top], "median")
        plot.text(
            f"median {plain_number(median, 2)}",
            x - 5 if late else x + 5,
            y + (18 if top > 0 else -18),  # below or above the number of cases
            anchor="end" if late else None,
            size=12,
            class_="muted",
        )


def _draw_cases(plot, curve):
    """Draw single cases, with errors crossed, or groups with intervals."""
    line, points = curve["line"], curve["points"]
    if points:
        across, wrong = points["inside"], points["wrong"]
        plot.marks("squares", across, points["leaves"])
        plot.marks("points", *_choose(across, points["ours"], [not w for w in wrong]))
    if line:
        plot.line(line["inside"], line["p"], "line ours")
    if points:
        plot.marks("crosses", *_choose(across, points["ours"], wrong))
        return
    for group in curve["bins"]:
        ends = (plain_number(group[end], 2) for end in ("from", "to"))
        plot.interval(group, f"{' to '.join(ends)} SD")


def _choose(xs, ys, chosen):
    return list(compress(xs, chosen)), list(compress(ys, chosen))


def _ring(plot, c, place):
    """Draw a ring around the selected case, which the page can move."""
    x, y = plot.x, plot.y
    across, up = place or (0.0, 0.0)
    return el(
        "g",
        el("circle", r=9, class_="ring"),
        class_="here" if place else "here off",
        transform=f"translate({number(x(x.clip(across)))} {number(y(up))})",
        data_class=c,
        data_low=repr(x.low),
        data_high=repr(x.high),
        data_zero=x(0),
        data_unit=repr(x.factor),
        data_foot=y(0),
        data_rise=y(1) - y(0),
    )


def _place(case, c, n_classes):
    """Coordinates of a case on the chart of a class; None if it is not on the chart."""
    if not case or (
        case["decision"] != c and n_classes > 2
    ):  # its distance refers to another class
        return None
    return case["distance"] if case["decision"] == c else -case["distance"], case["p"][c]


def _tell_distance(tick):
    return plain_number(abs(round(tick, 10)))
