"""Shared parts of notebook views: frame, style, and the colour and mark of a class."""

from html import escape
from importlib.resources import files

import numpy as np

from keeptree.text import clean, shorten_title

_COLOURS = 6  # class colours and marks; with more classes the commonest keep them
_MARKS = "○●■▲◆✚★"  # by slot: never colour alone


def framed(name, *parts):
    """Return parts of HTML as a ``<section>`` with its own style; parts that are None are left out.

    Parameters
    ----------
    name : str
        Name of the section; its CSS class is ``keeptree-`` followed by the name.
    *parts : str or None
        HTML; what comes from data must be escaped.
    """
    style = files("keeptree").joinpath("notebook.css").read_text(encoding="utf-8")
    body = "\n".join(part for part in parts if part)
    opening = f'<section class="keeptree-view keeptree-{name}">'
    return f"{opening}<style>{style}</style>\n{body}\n</section>"


def framed_text(name, text, head=None):
    """Return printed text as a ``<section>``: its columns stay aligned, and wide lines scroll."""
    head = f'<p class="kt-head">{escape(head)}</p>' if head else None
    return framed(name, head, f'<div class="kt-scroll"><pre>{escape(text)}</pre></div>')


def text_html(value):
    """Return text from data as HTML: cleaned, shortened and escaped."""
    return escape(shorten_title(clean(value)))


def class_slots(counts):
    """Slot of each class by its training cases.

    Slots 1 to 6 are assigned by frequency; with more than six classes, the five commonest have
    their own slots and the rest share slot 0.

    Examples
    --------
    >>> class_slots([30.0, 50.0])
    [2, 1]
    """
    order = np.argsort(-np.asarray(counts), kind="stable").tolist()
    coloured = _COLOURS if len(order) <= _COLOURS else _COLOURS - 1
    return [order.index(k) + 1 if order.index(k) < coloured else 0 for k in range(len(order))]


def class_mark(slot):
    """Return the mark of a class in its colour."""
    return f'<span class="kt-c{slot}" aria-hidden=true>{_MARKS[slot]}</span> '


def bar(*parts):
    """Return a bar of 120 units, in which each part (share, slot) fills its share.

    Examples
    --------
    >>> bar((0.5, 1)).count("<rect")
    2
    """
    drawn, at = ["<rect class=kt-track width=120 height=10 />"], 0.0
    for share, slot in parts:
        width = max(0.6, 120 * share)
        drawn.append(
            f'<rect class="kt-bar kt-c{slot}" x="{at:.1f}" width="{width:.1f}" height=10 />'
        )
        at += 120 * share
    opening = '<svg viewBox="0 0 120 10" preserveAspectRatio=none role=presentation>'
    return f"{opening}{''.join(drawn)}</svg>"
