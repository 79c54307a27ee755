"""An audit as one self-contained HTML page without a script, in the style of the report."""

from functools import cache

from keeptree import __version__
from keeptree.auditing.words import (
    moved_leaves,
    percent,
    tell_beyond,
    tell_change,
    tell_expected_classes,
    tell_ignored,
    tell_rule,
    tell_slight,
)
from keeptree.reporting.assets import compact, content_policy, make_environment, read_asset
from keeptree.reporting.svg import el, icon
from keeptree.text import clean, plural, shorten_title

_STYLES = ("base", "facts")
_HEIGHT, _STEP, _BAR = 64, 26, 10  # pixels of the chart of a column
_SCALE, _ROW, _DOT = 180, 14, 5.5  # of the chart of a leaf, with the radius of a dot


def render_audit(audit):
    """Return the page of an :class:`~keeptree.auditing.result.Audit` as HTML text."""
    css = compact("\n".join(read_asset(f"css/{name}.css") for name in _STYLES) + _own_style())
    return (
        _environment()
        .get_template("page.html.j2")
        .render(audit=audit, css=css, csp=content_policy(css), version=__version__)
    )


def parts_chart(parts):
    """Return pairs of bars: the share of training cases and of new cases in each part.

    Parameters
    ----------
    parts : sequence of dict
        ``values``, ``before`` and ``now``.
    """
    most = max((max(part["before"], part["now"]) for part in parts), default=0) or 1.0
    bars = []
    for place, part in enumerate(parts):
        told = f"{part['values']}: {percent(part['before'])}, now {percent(part['now'])}"
        pair = [
            _column(place * _STEP + at, part[which] / most, which)
            for at, which in ((2, "before"), (2 + _BAR, "now"))
        ]
        bars.append(el("g", el("title", told), *pair))
    width = max(len(parts), 1) * _STEP
    return icon(width, _HEIGHT, *bars, class_="parts")


def accuracy_chart(leaf):
    """Return a line from 0 to 1 with the expected and the realised accuracy of a leaf."""
    middle, length = _ROW / 2, _SCALE - 2 * _DOT
    marks = [el("path", d=f"M{_DOT} {middle}h{length}", class_="line-track")]
    if leaf.expected_before is not None:
        x = _DOT + length * float(leaf.expected_before)
        marks.append(el("path", d=f"M{x:.1f} 0V{_ROW}", class_="mark-before"))
    if leaf.right is not None:
        x = _DOT + length * float(leaf.right)
        marks.append(el("circle", cx=round(x, 1), cy=middle, r=_DOT, class_="now"))
    return icon(_SCALE, _ROW, *marks, class_="scale")


def _column(x, share, which):
    height = max(float((_HEIGHT - 2) * share), 1.0)
    return el("rect", x=x, y=_HEIGHT - height, width=_BAR, height=height, class_=which)


def _sample(which):
    """A square in the colour of the training sample or of the new cases."""
    return icon(12, 12, el("rect", width=12, height=12, class_=which))


def _leaf_sample(which):
    """The marker of the expected or the realised accuracy of a leaf."""
    if which == "before":
        return icon(12, 12, el("path", d="M6 0V12", class_="mark-before"))
    return icon(12, 12, el("circle", cx=6, cy=6, r=_DOT, class_="now"))


@cache
def _environment():
    environment = make_environment("auditing")
    environment.filters.update(
        percent=percent,
        plural=plural,
        clean=clean,
        tooltip=shorten_title,
        change=tell_change,
        ignored=tell_ignored,
        rule=tell_rule,
        slight=tell_slight,
        beyond=tell_beyond,
        moved_leaves=moved_leaves,
        expected_classes=tell_expected_classes,
    )
    environment.filters["plural_of"] = lambda items, *words: plural(len(items), *words)
    environment.globals.update(
        parts_chart=parts_chart,
        accuracy_chart=accuracy_chart,
        sample=_sample,
        leaf_sample=_leaf_sample,
    )
    return environment


def _own_style():
    return read_asset("page.css", "keeptree.auditing")
