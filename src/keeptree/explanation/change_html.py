"""Render a nearest change for notebooks: the sentence, what changes, and the new estimate."""

from html import escape

from keeptree.explanation.wording import tell_estimate, tell_pair
from keeptree.notebook import framed, text_html
from keeptree.text import plural

_MOST = 10  # number of cases of a table that are shown


def change_html(change):
    """Return a :class:`~keeptree.explanation.change.NearestChange` as a ``<section>``."""
    head = f'<p class="kt-head">{escape(change.sentence)}</p>'
    if not change.changes:
        return framed("change", head)
    rows = "".join(_row(move) for move in change.changes)
    table = (
        "<table><thead><tr><th>attribute</th><th>now</th><th>becomes</th><th>cost</th></tr>"
        f"</thead><tbody>{rows}</tbody></table>"
    )
    others = "".join(f"<li>{escape(other.sentence)}</li>" for other in change.alternatives)
    estimate = tell_estimate(change.predicted, change.probability, change.names)
    return framed(
        "change",
        head,
        f"<p>{escape(estimate)}</p>",
        table,
        others and f"<h4>Other changes with the same outcome</h4><ul>{others}</ul>",
    )


def changes_html(changes):
    """Return the changes of a table: the first cases, and how many there are."""
    rows = "".join(
        f"<tr><th scope=row>{k}</th><td>{_name(change, change.decided)}</td>"
        f"<td>{text_html(_told(change))}</td></tr>"
        for k, change in zip(range(_MOST), changes, strict=False)
    )
    found = int(sum(cost < float("inf") for cost in changes.cost.tolist()))
    head = f'<p class="kt-head">{plural(len(changes), "case")}, {found} with a change</p>'
    table = (
        "<table><thead><tr><th>case</th><th>decision</th><th>nearest change</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
    more = len(changes) - _MOST
    rest = f'<p class="kt-foot">{plural(more, "more case")}</p>' if more > 0 else None
    return framed("changes", head, f'<div class="kt-scroll">{table}</div>', rest)


def _row(move):
    before, after = move.before, move.rounded
    if not move.nominal:
        before, after, _ = tell_pair(before, after)
    return (
        f"<tr><th scope=row>{text_html(move.name)}</th><td>{text_html(before)}</td>"
        f"<td>{text_html(after)}</td><td>{move.cost:.2g}</td></tr>"
    )


def _name(change, label):
    return text_html(change.names.get(label, label))


def _told(change):
    if not change.changes:
        return change.sentence
    return "; ".join(str(move) for move in change.changes)
