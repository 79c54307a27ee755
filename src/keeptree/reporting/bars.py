"""Small bars in tables and lists as SVG; ``js/dom.js`` draws them the same way."""

from keeptree.reporting.svg import el, icon

_STRETCHED = {"width": None, "height": None, "preserveAspectRatio": "none"}


def risk_meter(risk):
    """Return a bar for the probability that the tree is wrong."""
    return icon(
        100,
        6,
        el("rect", width=100, height=6, class_="track"),
        el("rect", width=float(100 * risk), height=6, class_="fill"),
        class_="meter",
        **_STRETCHED,
    )


def push_bar(value, pushes, data):
    """Return a bar to the left or right of the middle, for a contribution.

    Parameters
    ----------
    value : float
        Contribution; positive values point to the right.
    pushes : dict
        ``class`` and ``rows``; the largest contribution fills half of the width.
    data : dict
        Data of the report, with the colours of its ``classes``.
    """
    most = max(abs(row["value"]) for row in pushes["rows"])
    length = float(98 * abs(value) / most)
    x = 100.0 if value > 0 else 100 - length
    slot = push_slot(value, pushes["class"], data["classes"])
    return icon(
        200,
        10,
        el("path", d="M100 0V10", class_="zero"),
        el("rect", x=x, y=1, width=length, height=8, class_=f"c{slot}"),
        class_="push",
        **_STRETCHED,
    )


def push_slot(value, towards, classes):
    """Return the colour slot of the class that a contribution favours; 0 for other classes."""
    if value > 0:
        return classes[towards]["slot"]
    return classes[1 - towards]["slot"] if len(classes) == 2 else 0
