"""Render a story as plain text and Markdown."""

import re

from keeptree.explanation.wording import join, lower_first, tell_estimate
from keeptree.text import (
    between_text,
    class_text,
    clean,
    count_text,
    in_hundred,
    of_class_text,
    plain_number,
    plural,
    training_cases,
)

_TESTS = ("test", "column")  # kinds of contributions to the margins
_MOST = 5  # number of classes, contributions and leaves listed; the rest are counted
_LEAST_PUSH = 0.005  # smaller values are shown as 0.00
_INSIDE = "Tests, within the margin, compared with the mean training case"
_DISAGREES = "Our estimate disagrees"
_OTHER_RULE = (
    "The model decides by {}, so its decision may differ from the tree's. The nearest change "
    "alters the tree's decision."
)
CAVEAT = "This describes the tree; it does not mean that the change is possible or would help."


def decided_name(data):
    """Return the display name of the decided class."""
    return class_text(clean(data["names"][data["decision"]["index"]]))


def headline(data):
    """Return the first sentences: the decisions of the tree and, if it has a rule, of the model."""
    label = decided_name(data)
    verb = "always decides" if data["always"] else "decides"
    return " ".join([f"The tree {verb} {label}.", *filter(None, [model_decision(data)])])


def model_decision(data):
    """Return the sentence on what the model decides if it does not follow the tree, or None."""
    found = data["model_decision"]
    if found is None:
        return None
    label = class_text(clean(data["names"][found["index"]]))
    too = ", too" if found["index"] == data["decision"]["index"] else ""
    return f"By {found['rule']}, the model decides {label}{too}{_expected_costs(data, found)}."


def _expected_costs(data, found):
    """Return the expected costs of the decided class and of the next, or "" without costs."""
    if "costs" not in found:
        return ""
    index, costs = found["index"], found["costs"]
    others = (c for c in range(len(costs)) if c != index)
    other = min(others, key=costs.__getitem__, default=None)
    if other is None:
        return ""
    name = class_text(clean(data["names"][other]))
    return f" (expected cost {costs[index]:.3g}; {costs[other]:.3g} for {name})"


def estimate(data):
    """Return the probability of the decided class by the model and by the leaf."""
    index = data["decision"]["index"]
    label = decided_name(data)
    own = in_hundred(data["probability"]["tree"][index])
    ours = data["probability"]["model"]
    if ours is None:
        return f"The tree's own percentage for {label}: {own}."
    return f"Our estimate for {label}: {told_estimate(data, index)} (the tree's own: {own})."


def told_estimate(data, index):
    """Return the probability of a class, with its interval: ``98 in 100; between 91 and 99``."""
    told, interval = in_hundred(data["probability"]["model"][index]), data["interval"]
    return told if interval is None else f"{told}; {between_text(*interval['ends'][index])}"


def second_opinion(data):
    """Return the sentence that tells that our estimate disagrees with the tree, or None."""
    opinion = data["second_opinion"]
    if opinion is None:
        return None
    other = class_text(clean(data["names"][opinion["index"]]))
    probability = told_estimate(data, opinion["index"])
    return (
        f"{_DISAGREES}: the tree decides {decided_name(data)}; our estimate for {other} is "
        f"{probability}. The tree's decision stands; please look again."
    )


def probabilities(data):
    """Return (position, estimate or None, share in the leaf) of the classes, largest first.

    With many classes, only the first ones are returned, and the number of the others.
    """
    own, ours = data["probability"]["tree"], data["probability"]["model"]
    shown = own if ours is None else ours
    order = sorted(range(len(shown)), key=lambda k: -shown[k])
    kept = order if len(order) <= _MOST + 1 else order[:_MOST]
    rows = [(k, None if ours is None else ours[k], own[k]) for k in kept]
    return rows, len(order) - len(kept)


def steps(data):
    """Return (text, distance, whether it is near) of each test on the path."""
    return [
        (step["text"], _step_distance(step, data["unit"]), step["near"]) for step in data["path"]
    ]


def leaves(data):
    """Return a sentence about each leaf of the case."""
    several = len(data["leaves"]) > 1
    lines = []
    for leaf in data["leaves"][:_MOST]:
        counts = sorted(enumerate(leaf["counts"]), key=lambda entry: -entry[1])
        named = [
            f"{count_text(count)} {of_class_text(clean(data['names'][k]))}"
            for k, count in counts
            if count > 0
        ]
        others = f" and {plural(len(named) - _MOST, 'other class', 'other classes')}"
        held = join(named) if len(named) <= _MOST else ", ".join(named[:_MOST]) + others
        share = f", for {leaf['share']:.0%} of the case" if several else ""
        lines.append(
            f"Leaf {leaf['node']}{share}: {class_text(clean(data['names'][leaf['class']]))}; "
            f"{training_cases(leaf['cases'])}{': ' + held if named else ''}."
        )
    if len(data["leaves"]) > _MOST:
        lines.append(f"And {plural(len(data['leaves']) - _MOST, 'other leaf', 'other leaves')}.")
    return lines


def rule_note(rule):
    """Return a note, in a list, if the model may decide differently from its tree; else no note.

    Examples
    --------
    >>> rule_note("tree")
    []
    """
    return [] if rule == "tree" else [_OTHER_RULE.format(rule)]


def distance(data):
    """Return the sentence on how far the case is from another decision, or None."""
    if data["distance"] is None:
        return None
    return f"Distance to another decision: {_far(data['distance'], data['unit'])}."


def change(data):
    """Return the sentences about the nearest change, or None."""
    found = data["change"]
    if found is None:
        return None
    lines = [found["sentence"]]
    if found["changes"]:
        there = {entry["class"]: entry["probability"] for entry in found["probability"]}
        names = dict(zip(data["classes"], data["names"], strict=True))
        lines.append(tell_estimate(found["predicted"], there, names))
    lines += [f"Or it {lower_first(other['sentence'])}" for other in found["alternatives"]]
    return lines + ([f"Locked: {join(data['locked'])}."] if data["locked"] else [])


def contributions(data):
    """Return the contributions: rows of group, name, value and text, and the number of others.

    Only the largest contributions of tests are listed, without those that round to 0. If the same
    test occurs in several branches, its contributions are added.
    """
    parts = data["contributions"]
    if parts is None:
        return None
    label = decided_name(data)
    tests = _add_equal([part for part in parts if part["kind"] in _TESTS])
    shown = [part for part in parts if part["kind"] not in _TESTS] + tests[:_MOST]
    shown = [part for part in shown if abs(part["value"]) >= _LEAST_PUSH]
    if not shown:
        return None
    whole = f"For {label} (+) or against it (−)"
    pooled = any(part["kind"] == "expert" for part in parts)
    inside = _INSIDE if pooled else "Tests"
    rows = [
        {
            "group": inside if part["kind"] in _TESTS else whole,
            "name": _name(part),
            "value": part["value"],
            "text": f"{part['value']:+.2f}".replace("-", "−"),
        }
        for part in shown
    ]
    return rows, len(tests) - sum(part["kind"] in _TESTS for part in shown)


def _name(part):
    if part["kind"] == "column":
        return f"{part['name']} ({'on its own' if part['tested'] else 'not in the tree'})"
    return f"{part['name']} {part['answer']}" if "answer" in part else part["name"]


def _add_equal(tests):
    """Return the tests by name with the sum of their contributions, the largest first."""
    total = {}
    for part in tests:
        before = total.get(part["name"], {**part, "value": 0.0})
        total[part["name"]] = {**before, "value": before["value"] + part["value"]}
    return sorted(total.values(), key=lambda part: -abs(part["value"]))


def story_text(data):
    """Return the story as plain text."""
    blocks = []
    for title, lines, numbered in _sections(data):
        if numbered:
            lines = [f"{k}. {line}" for k, line in enumerate(lines, start=1)]
        indent = "  " if title else ""
        blocks.append("\n".join([*([title] if title else []), *(indent + line for line in lines)]))
    return "\n\n".join(blocks)


def story_markdown(data):
    """Return the story as Markdown, with all data escaped."""
    blocks = []
    for title, lines, numbered in _sections(data):
        if title:
            marks = [f"{k}. " if numbered else "- " for k in range(1, len(lines) + 1)]
            blocks += [f"**{title}**", "\n".join(map(_markdown_item, marks, lines))]
        else:
            blocks += map(escape_markdown, lines)
    return "\n\n".join(blocks)


def escape_markdown(text):
    r"""Escape text for Markdown.

    Examples
    --------
    >>> escape_markdown("<b> a_b |")
    '&lt;b&gt; a\\_b \\|'
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~$])", r"\\\1", text)


def _markdown_item(mark, line):
    """Return a line as an item of a list; an indented line belongs to the item above it."""
    text = line.lstrip()
    return line[: len(line) - len(text)] + mark + escape_markdown(text.rstrip())


def _sections(data):
    """Return the story as tuples (title or None, lines, whether they are numbered)."""
    yield None, [f"{headline(data)} {estimate(data)}"], False
    if data["second_opinion"]:
        lines = [second_opinion(data).replace(f"{_DISAGREES}: the", "The")]
        yield _DISAGREES, lines, False
    if len(data["classes"]) > 2:
        yield "How probable", _probability_lines(data), False
    if data["path"]:
        yield "The path through the tree", [_step_line(*step) for step in steps(data)], True
    yield None, [*leaves(data), *filter(None, [distance(data)])], False
    if contributions(data):
        # With more classes, the parts add up to a log-probability minus the mean over the classes.
        unit = "log-odds" if len(data["classes"]) == 2 else "compared with the other classes"
        yield f"What raised or lowered the estimate ({unit})", _contribution_lines(data), False
    if data["change"]:
        yield "The nearest change", change(data), False
    if data["trace"]:
        yield "What ConfDTree did", data["trace"]["text"].splitlines(), False
    yield None, [*data["notes"], CAVEAT], False


def _step_line(text, far, near):
    if far is None:
        return text
    return f"{text} ({far}: very close)" if near else f"{text} ({far})"


def _probability_lines(data):
    (rows, more), lines = probabilities(data), []
    for k, ours, own in rows:
        leaf = in_hundred(own)
        told = leaf if ours is None else f"{told_estimate(data, k)} (leaf: {leaf})"
        lines.append(f"{clean(data['names'][k])}: {told}")
    return lines + ([plural(more, "other class", "other classes")] if more else [])


def _contribution_lines(data):
    (rows, more), lines, group = contributions(data), [], None
    for row in rows:
        if row["group"] != group:
            group = row["group"]
            lines.append(f"{group}:")
        lines.append(f"  {row['text']}  {row['name']}")
    return lines + ([f"  {plural(more, 'other test')} contributed less"] if more else [])


def _step_distance(step, unit):
    """Return the distance from the other side of a numeric test; nominal tests have none."""
    if step["threshold"] is None or step["distance"] is None:
        return None
    far = _far(step["distance"], unit)
    return far if step["margin"] else f"{far} from the next value"


def _far(value, unit):
    return None if value is None else f"{plain_number(value, 2)} {unit}"
