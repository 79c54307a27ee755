"""The story of a case as a piece of HTML for a notebook: its own style, no script, all escaped."""

from html import escape
from importlib.resources import files

from keeptree.explanation import story_text as words
from keeptree.text import clean, in_hundred, plural, shorten_title

_MARKS = "○●■▲◆✚★"  # by slot: never colour alone
_SVG = '<svg viewBox="0 0 120 10" preserveAspectRatio=none role=presentation>'


def story_html(data):
    """Return the story as a ``<section>``."""
    parts = [
        _head(data),
        _opinion(data),
        _part("How probable", _probabilities(data)),
        _part("The path through the tree", _path(data)),
        _part("The nearest change", _change(data)),
        _part("What pushed the estimate", _contributions(data)),
        _trace(data),
        _foot(data),
    ]
    style = files("keeptree.explanation").joinpath("story.css").read_text(encoding="utf-8")
    body = "\n".join(part for part in parts if part)
    return f'<section class="keeptree-story"><style>{style}</style>\n{body}\n</section>'


def _text(value):
    """Text from the data as HTML can hold it."""
    return escape(shorten_title(str(value)))


def _head(data):
    index = data["decision"]["index"]
    always = "always decides" if data["always"] else "decides"
    return (
        f'<p class="kt-head">The tree {always} {_mark(data, index)}'
        f"<strong>{_text(words.decided_name(data))}</strong></p>"
        f'<p class="kt-lead">{_text(words.estimate(data))}</p>'
    )


def _opinion(data):
    opinion = words.second_opinion(data)
    return opinion and f'<p class="kt-opinion" role="note">{escape(opinion)}</p>'


def _probabilities(data):
    (classes, more), rows = words.probabilities(data), []
    for k, ours, own in classes:
        shown = own if ours is None else ours
        leaf = "" if ours is None else f"<td>{in_hundred(own)}</td>"
        rows.append(
            f"<tr><th scope=row>{_mark(data, k)}{_text(clean(data['names'][k]))}</th>"
            f"<td>{_bar(shown, data['slots'][k])}</td><td>{in_hundred(shown)}</td>{leaf}</tr>"
        )
    if more:
        others = plural(more, "other class", "other classes")
        rows.append(f"<tr><th scope=row>{others}</th></tr>")
    ours = "" if classes[0][1] is None else "<th>our estimate</th>"
    head = f"<th>class</th><th></th>{ours}<th>the tree's own</th>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _path(data):
    if not data["path"]:
        return "<p>There is nothing to ask: the tree is one leaf.</p>" + _ends(data)
    items = []
    for text, far, near in words.steps(data):
        distance = f' <span class="kt-far">{escape(far)}</span>' if far else ""
        flag = ' <span class="kt-near">very close</span>' if near else ""
        items.append(f"<li>{_text(text)}{distance}{flag}</li>")
    return f"<ol>{''.join(items)}</ol>" + _ends(data)


def _ends(data):
    lines = [*words.leaves(data), words.distance(data)]
    return "".join(f"<p>{_text(line)}</p>" for line in lines if line)


def _change(data):
    lines = words.change(data)
    return lines and "".join(f"<p>{escape(line)}</p>" for line in lines)


def _contributions(data):
    found = words.contributions(data)
    if not found:
        return None
    rows, more = found
    widest = max(abs(row["value"]) for row in rows) or 1.0
    lines, group = [], None
    for row in rows:
        if row["group"] != group:
            group = row["group"]
            lines.append(f"<tr class=kt-group><th colspan=3>{escape(group)}</th></tr>")
        lines.append(
            f"<tr><th scope=row>{_text(row['name'])}</th><td>{_push(row['value'] / widest)}</td>"
            f"<td>{row['text']}</td></tr>"
        )
    rest = f"<p>{plural(more, 'other test')} pushed less.</p>" if more else ""
    return f"<table><tbody>{''.join(lines)}</tbody></table>{rest}"


def _trace(data):
    if not data["trace"]:
        return None
    text = escape(data["trace"]["text"])
    return f"<details><summary>What ConfDTree did</summary><pre>{text}</pre></details>"


def _foot(data):
    lines = [*data["notes"], words.CAVEAT]
    return "".join(f'<p class="kt-foot">{escape(line)}</p>' for line in lines)


def _part(title, content):
    return content and f"<h4>{title}</h4>\n{content}"


def _mark(data, index):
    slot = data["slots"][index]
    return f'<span class="kt-c{slot}" aria-hidden=true>{_MARKS[slot]}</span> '


def _bar(p, slot):
    return (
        f"{_SVG}<rect class=kt-track width=120 height=10 />"
        f'<rect class="kt-bar kt-c{slot}" width="{max(0.6, 120 * p):.1f}" height=10 /></svg>'
    )


def _push(share):
    """A bar to the right (for the class) or to the left of the middle."""
    width = abs(share) * 58
    x = 60 if share >= 0 else 60 - width
    side = "for" if share >= 0 else "against"
    return (
        f'{_SVG}<rect class="kt-push kt-{side}" x="{x:.1f}" width="{width:.1f}" height=10 />'
        "<line class=kt-middle x1=60 x2=60 y1=0 y2=10 /></svg>"
    )
