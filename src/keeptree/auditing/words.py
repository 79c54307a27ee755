"""An audit in words: the verdict in one sentence, and a short report for the terminal."""

from keeptree.auditing.columns import LEAST_SHARE
from keeptree.explanation.wording import join
from keeptree.text import clean, plural

_MOST = 5  # columns, leaves and categories named
_FEW = 30  # with fewer cases, only large changes can be detected
_NO_OUTCOMES = (
    "Without outcomes, a change in how the classes depend on the attributes cannot be detected; "
    "give the outcomes when they are known."
)


def percent(share):
    """Return a share in percent.

    Examples
    --------
    >>> percent(0.8234), percent(None)
    ('82.3%', '-')
    """
    return "-" if share is None else f"{100 * share:.1f}%"


def tell_verdict(audit):
    """Return the verdict of an audit in one sentence."""
    if not (audit.drift or audit.inaccurate):
        few = ""
        if audit.rows < _FEW:
            are = "is" if audit.rows == 1 else "are"
            few = f", but {plural(audit.rows, 'case')} {are} too few to detect small changes"
        return f"No alarm{few}: the new cases {_tell_alike(audit)}{_tell_steady(audit)}."
    parts = []
    moved = [column for column in audit.columns if column.changed]
    if moved:
        unused = "" if any(column.read for column in moved) else ", which the model does not use"
        parts.append(f"the data have changed in {_names(moved)}{unused}")
    risen = _most_risen(audit)
    if (
        risen
        and audit.expected.trusted
        and (audit.realised is None or not (moved or audit.inaccurate))
    ):
        parts.append(_tell_risen(risen))
    parts.append(_tell_accuracy(audit))
    return f"Alarm: {'; '.join(parts)}."


def tell_audit(audit):
    """Yield the lines of a short report."""
    yield audit.verdict
    yield ""
    yield (
        f"{plural(audit.rows, 'new case')}, compared with {audit.reference_rows:,} training cases; "
        f"tree {audit.digest[:8]}; chance of a false alarm at most {percent(audit.alpha)}."
    )
    yield _tell_expected(audit.expected)
    if audit.realised:
        yield from _tell_realised(audit)
    else:
        yield tell_expected_classes(audit)
        yield _NO_OUTCOMES
    if audit.by_rule:
        yield tell_rule(audit)
    changed = [column for column in audit.columns if column.changed]
    if changed:
        yield ""
        yield "Columns that changed (those that most decisions depend on first):"
        yield from (f"  {tell_column(column)}" for column in changed)
    slight = [column for column in audit.columns if column.slight and not column.changed]
    if slight:
        yield ""
        yield "Columns that changed by more than chance, but by too little to matter:"
        yield from (f"  {tell_column(column)}" for column in slight)
    if audit.ignored:
        yield ""
        yield tell_ignored(audit)
    yield from _tell_moved_leaves(audit)
    leaves = [leaf for leaf in audit.leaves if leaf.changed]
    if leaves:
        yield ""
        yield "Leaves whose share of right decisions differs from what was expected at fit:"
        yield from (f"  {tell_leaf(leaf)}" for leaf in leaves)


def tell_rule(audit):
    """Return the figures of a model that does not follow the tree; "" if it does."""
    found = audit.by_rule
    if found is None:
        return ""
    told = (
        f"All this is about the tree's decisions. By {found.rule}, the model decides "
        f"{percent(found.differing)} of the cases differently. Its decisions are expected to be "
        f"right for {percent(found.expected)}"
    )
    if found.expected_cost is not None:
        told += (
            f" and to cost {found.expected_cost:.3g} a case ({found.expected_tree_cost:.3g} by the "
            "tree)"
        )
    if found.accuracy is None:
        return f"{told}."
    told += f". Of the known outcomes, they are right for {percent(found.accuracy)}"
    if found.cost is not None:
        told += f" and cost {found.cost:.3g} a case ({found.tree_cost:.3g} by the tree)"
    return f"{told}."


def tell_column(column):
    """Return the name of a column and how it has changed, in one line."""
    used = " (used by the probabilities only)" if column.read else " (not used by the model)"
    used = "" if column.tested else used
    return f"{clean(column.name)}{used}: {tell_change(column) or tell_slight(column)}"


def tell_ignored(audit):
    """Return which columns are not compared, in one line; "" if all are."""
    if not audit.ignored:
        return ""
    told = f"Not compared, because the model does not know them: {_listed(audit.ignored)}."
    if audit.likely_target is None:
        return told
    name = clean(audit.likely_target)
    return (
        f"{told} {name} contains classes of the tree; if these are the outcomes, give them with "
        f"--target {_quoted(name)} (in Python as y)."
    )


def _quoted(name):
    """A name as an argument on the command line."""
    return f'"{name}"' if " " in name else name


def tell_expected_classes(audit):
    """Return the class shares that the probabilities expect, and whether they have changed."""
    classes = audit.expected_classes
    shown = sorted(classes, key=_movement, reverse=True)[:_MOST]
    shares = [
        f"{clean(found.name)} {percent(found.share)}{_beside([(found.share_before, 'at fit')])}"
        for found in classes
        if found in shown
    ]
    rest = len(classes) - len(shown)
    shares += [plural(rest, "other class", "other classes")] if rest else []
    told = f"Expected class shares: {join(shares)}."
    if not (audit.expected.trusted and any(found.changed for found in classes)):
        return told
    return (
        f"{told} They have changed by more than chance. If this is label shift (a class itself has "
        "become more common), the true shares have changed even more, and the expected accuracy "
        "may be wrong."
    )


def _movement(found):
    return 0.0 if found.share_before is None else abs(found.share - found.share_before)


def tell_change(column):
    """Return how a column has changed by enough to matter; "" if it has not."""
    told = _tell_kinds(column, column.changed)
    if column.changed and column.vanished:
        told.append(f"no longer seen: {_listed(column.vanished)}")
    return "; ".join(told)


def tell_slight(column):
    """Return how a column has changed by more than chance, but too little to matter."""
    return "; ".join(_tell_kinds(column, column.slight))


def _tell_kinds(column, kinds):
    """How a column has changed, for some kinds of change."""
    told = []
    if "distribution" in kinds:
        sizes = [f"stability index {column.index:.2f}"] if column.index is not None else []
        sizes += [f"KS distance {column.distance:.2f}"] if column.distance is not None else []
        told.append(f"distribution ({', '.join(sizes)}{_tell_part(column)})")
    if "missing" in kinds:
        before = percent(column.missing_before)
        told.append(f"missing in {percent(column.missing)} ({before} before)")
    if "unseen" in kinds:
        told.append(f"new categories in {percent(column.unseen)}: {_listed(column.new)}")
    if "outside" in kinds:
        told.append(f"outside the range of the training sample in {percent(column.outside)}")
    return told


def _tell_part(column):
    """The part whose share changed most, for example one filled by a stuck sensor."""
    if not column.parts:
        return ""
    part = max(column.parts, key=lambda part: abs(part["now"] - part["before"]))
    now, before = percent(part["now"]), percent(part["before"])
    return f"; {part['values']} in {now}, {before} before"


def tell_leaf(leaf):
    """Return how a leaf has changed, in one line."""
    other = "" if _is_commonest(leaf) else f"; {clean(leaf.commonest)} is now more common"
    return (
        f"{leaf.rule}: {clean(leaf.decision)} is right for {percent(leaf.right)} of "
        f"{plural(leaf.outcomes, 'case')} ({percent(leaf.expected_before)} expected){other}"
    )


def tell_class(found):
    """Return the share of a class and how often it is recognised, in one line."""
    told = f"{clean(found.name)}: {percent(found.share)} of the cases"
    before = [(found.expected, "expected"), (found.share_before, "at fit")]
    told += _beside(before)
    if not found.cases:
        return told
    right = percent(found.right / found.cases)
    told += f"; {found.right:,} of {found.cases:,} decided correctly: {right}"
    return told + _beside([(found.right_before, "at fit")])


def _beside(shares):
    """Other shares in brackets, those that are known."""
    known = [f"{percent(share)} {what}" for share, what in shares if share is not None]
    return f" ({', '.join(known)})" if known else ""


def _is_commonest(leaf):
    return leaf.commonest in (None, leaf.decision)


def moved_leaves(audit):
    """Return the leaves whose expected accuracy changed by enough to matter, largest first.

    Empty if outcomes are known, because they say more, or if the expected accuracy cannot be
    trusted.
    """
    if audit.realised or not audit.expected.trusted:
        return []
    moved = [leaf for leaf in audit.leaves if leaf.moved and leaf.share >= LEAST_SHARE]
    return sorted(moved, key=lambda leaf: -leaf.share)


def _tell_moved_leaves(audit):
    moved = moved_leaves(audit)
    if not moved:
        return
    yield ""
    yield "Leaves whose expected accuracy changed:"
    for leaf in moved[:_MOST]:
        yield (
            f"  {leaf.rule}: {clean(leaf.decision)} is expected to be right for "
            f"{percent(leaf.expected)} ({percent(leaf.expected_before)} at fit), "
            f"{percent(leaf.share)} of the cases"
        )


def _names(columns):
    """The first names of some columns, and how many others there are."""
    names = [clean(column.name) for column in columns[:_MOST]]
    rest = len(columns) - len(names)
    return join([*names, plural(rest, "other column")] if rest else names)


def _tell_alike(audit):
    """How far new cases without an alarm are like the training sample; after "the new cases"."""
    slight = [column for column in audit.columns if column.slight]
    if not slight:
        return "look like the training sample"
    return (
        f"differ from the training sample by more than chance in {_names(slight)}, but by too "
        "little to matter"
    )


def _most_risen(audit):
    """The class whose expected share has risen most, if any has changed; else None."""
    changed = [found for found in audit.expected_classes if found.changed]
    return max(changed, key=lambda found: found.share - found.share_before, default=None)


def _tell_risen(found):
    return (
        f"the probabilities expect {percent(found.share)} of the cases to be {clean(found.name)} "
        f"({percent(found.share_before)} at fit)"
    )


def _tell_steady(audit):
    """How the sentence continues after the new cases have been compared."""
    if audit.realised:
        right, before = percent(audit.realised.accuracy), percent(audit.realised.at_fit)
        known = audit.realised.cases
        them = "them" if known == audit.rows else f"the {known:,} with a known outcome"
        return (
            f", and the tree's decisions are right for {right} of {them} ({before} expected when "
            "the model was fitted)"
        )
    now, before = percent(audit.expected.accuracy), percent(audit.expected.at_fit)
    return (
        f", and the tree's decisions are expected to be right for {now} of them ({before} when "
        "the model was fitted)"
    )


def _tell_accuracy(audit):
    """What happened to the accuracy, without a full stop."""
    realised, expected = audit.realised, audit.expected
    if realised is None and not expected.trusted:
        return f"the accuracy of the tree cannot be estimated, because {tell_beyond(expected)}"
    if realised is None:
        verb = "has fallen to" if audit.fell else "is"
        return (
            f"the expected accuracy of the tree {verb} {percent(expected.accuracy)} "
            f"({percent(expected.at_fit)} when the model was fitted)"
        )
    told = (
        f"the tree's decisions are right for {percent(realised.accuracy)} of the cases "
        f"({percent(realised.at_fit)} expected when the model was fitted)"
    )
    told += _REASONS[audit.aged](audit)
    if realised.new_classes:
        belong = "belongs" if realised.new_classes == 1 else "belong"
        told += (
            f"; {plural(realised.new_classes, 'case')} {belong} to a class that the tree does not "
            "know"
        )
    return told


def _tree_aged(audit):
    leaves = sum(leaf.changed for leaf in audit.leaves)
    where = f"in {plural(leaves, 'leaf', 'leaves')} " if leaves else ""
    return (
        f", and {where}outcomes no longer depend on the attributes as they did: "
        f"{_check_first(audit)}review the tree"
    )


def _cases_changed(audit):
    told = ", as the probabilities predicted"
    if any(column.changed and column.read for column in audit.columns):
        return f"{told}: either the mix of cases has changed, or a changed column is wrong"
    return f"{told}: the mix of cases has changed"


def _classes_changed(audit):
    known = [found for found in audit.classes if found.share_before is not None]
    most = max(known, key=lambda found: found.share - found.share_before)
    shares = f"{clean(most.name)} {percent(most.share)}, {percent(most.share_before)} at fit"
    separates = ", but the tree separates them as before" if len(audit.leaves) > 1 else ""
    told = (
        f"; the shares of the classes have changed ({shares}){separates}: refit the model around "
        "the same tree"
    )
    leaves = sum(leaf.changed and not _is_commonest(leaf) for leaf in audit.leaves)
    if not leaves:
        return told
    return (
        f"{told} and review its decision in {plural(leaves, 'leaf', 'leaves')}, where another "
        "class is now more common"
    )


def _estimate_aged(audit):
    if audit.estimate_off:
        told = f", but {percent(audit.realised.expected)} was expected from the probabilities"
    else:
        off = [found for found in audit.classes if found.changed]
        most = max(off, key=lambda found: found.share - found.expected)
        told = (
            f", but {percent(most.share)} of the cases are {clean(most.name)}, where the "
            f"probabilities predicted {percent(most.expected)}"
        )
    return f"{told}: {_check_first(audit)}refit the model around the same tree"


def _check_first(audit):
    read = any(column.changed and column.read for column in audit.columns)
    return "check the changed columns, then " if read else ""


# What has aged -> how the sentence continues.
_REASONS = {
    None: lambda audit: "",
    "cases": _cases_changed,
    "classes": _classes_changed,
    "tree": _tree_aged,
    "estimate": _estimate_aged,
}


def _tell_expected(expected):
    how = "out of fold"
    if not expected.unseen:
        how = "on cases that the tree has seen, so it may be too high"
    told = (
        f"Expected accuracy: {percent(expected.accuracy)}, between {percent(expected.low)} and "
        f"{percent(expected.high)}; at fit {percent(expected.at_fit)}, estimated {how}."
    )
    if expected.trusted:
        return told
    return f"{told} Do not trust it: {tell_beyond(expected)}."


def tell_beyond(expected):
    """Return how many cases are beyond the training sample, without a full stop."""
    return (
        f"{percent(expected.beyond)} of the cases have an unseen category or a value outside the "
        "training range in a column that the model reads"
    )


def _tell_realised(audit):
    realised = audit.realised
    yield (
        f"Realised accuracy: {percent(realised.accuracy)} of {plural(realised.cases, 'outcome')}, "
        f"between {percent(realised.low)} and {percent(realised.high)}; "
        f"{percent(realised.expected)} was expected."
    )
    yield from (f"  {tell_class(found)}" for found in audit.classes)
    if realised.new_classes:
        yield f"  {plural(realised.new_classes, 'case')} of a class that the tree does not know"
    before = _beside([(realised.calibration_at_fit, "at fit")])
    yield f"Calibration error of the probabilities: {percent(realised.calibration)}{before}."


def _listed(labels):
    shown = ", ".join(clean(label) for label in labels[:_MOST])
    rest = len(labels) - _MOST
    return f"{shown} and {rest:,} more" if rest > 0 else shown
