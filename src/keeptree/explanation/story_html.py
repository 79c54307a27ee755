"""Render a story as HTML for notebooks: own style, no script, all data escaped."""

from html import escape

from keeptree.explanation import story_text as words
from keeptree.notebook import bar, class_mark, framed, text_html
from keeptree.text import in_hundred, plural

_SVG = '<svg viewBox="0 0 120 10" preserveAspectRatio=none role=presentation>'


def story_html(data):
    """Return the story as a ``<section>``."""
    return framed(
        "story",
        _head(data),
        _opinion(data),
        _part("How probable", _probabilities(data)),
        _part("The path through the tree", _path(data)),
        _part("The nearest change", _change(data)),
        _part("What raised or lowered the estimate", _contributions(data)),
        _trace(data),
        _foot(data),
    )


def _head(data):
    index = data["decision"]["index"]
    always = "always decides" if data["always"] else "decides"
    lead = " ".join(filter(None, [words.model_decision(data), words.estimate(data)]))
    return (
        f'<p class="kt-head">The tree {always} {_mark(data, index)}'
        f"<strong>{text_html(words.decided_name(data))}</strong></p>"
        f'<p class="kt-lead">{text_html(lead)}</p>'
    )


def _opinion(data):
    opinion = words.second_opinion(data)
    return opinion and f'<p class="kt-opinion" role="note">{escape(opinion)}</p>'


def _probabilities(data):
    (classes, more), rows = words.probabilities(data), []
    for k, ours, own in classes:
        shown = own if ours is None else ours
        leaf = "" if ours is None else f"<td>{in_hundred(own)}</td>"
        told = in_hundred(own) if ours is None else words.told_estimate(data, k)
        rows.append(
            f"<tr><th scope=row>{_mark(data, k)}{text_html(data['names'][k])}</th>"
            f"<td>{bar((shown, data['slots'][k]))}</td><td>{told}</td>{leaf}</tr>"
        )
    if more:
        others = plural(more, "other class", "other classes")
        rows.append(f"<tr><th scope=row>{others}</th></tr>")
    ours = "" if classes[0][1] is None else "<th>our estimate</th>"
    head = f"<th>class</th><th></th>{ours}<th>the tree's own</th>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _path(data):
    if not data["path"]:
        return "<p>The tree is a single leaf, so there is no test.</p>" + _ends(data)
    items = []
    for text, far, near in words.steps(data):
        distance = f' <span class="kt-far">{escape(far)}</span>' if far else ""
        flag = ' <span class="kt-near">very close</span>' if near else ""
        items.append(f"<li>{text_html(text)}{distance}{flag}</li>")
    return f"<ol>{''.join(items)}</ol>" + _ends(data)


def _ends(data):
    lines = [*words.leaves(data), words.distance(data)]
    return "".join(f"<p>{text_html(line)}</p>" for line in lines if line)


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
        name, push = text_html(row["name"]), _push(row["value"] / widest)
        lines.append(f"<tr><th scope=row>{name}</th><td>{push}</td><td>{row['text']}</td></tr>")
    rest = f"<p>{plural(more, 'other test')} contributed less.</p>" if more else ""
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
    return class_mark(data["slots"][index])


def _push(share):
    """Return a bar to the right of the middle (for the class) or to its left (against it)."""
    width = abs(share) * 58
    x = 60 if share >= 0 else 60 - width
    side = "for" if share >= 0 else "against"
    return (
        f'{_SVG}<rect class="kt-push kt-{side}" x="{x:.1f}" width="{width:.1f}" height=10 />'
        "<line class=kt-middle x1=60 x2=60 y1=0 y2=10 /></svg>"
    )
