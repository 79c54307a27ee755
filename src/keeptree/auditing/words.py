"""An audit in words: the verdict in one sentence, and a short report for the terminal."""

from keeptree.auditing.columns import LEAST_SHARE
from keeptree.auditing.performance import LEAST_LEAF
from keeptree.explanation.wording import join
from keeptree.text import clean, plural

_MOST = 5  # columns, leaves and categories named


def percent(share):
    """Return a share in percent.

    Examples
    --------
    >>> percent(0.8234), percent(None)
    ('82.3 %', '-')
    """
    return "-" if share is None else f"{100 * share:.1f} %"


def tell_verdict(audit):
    """Return the verdict of an audit in one sentence."""
    if not (audit.drift or audit.inaccurate):
        return f"No alarm: the new cases look like the training sample{_tell_steady(audit)}."
    parts = []
    if audit.drift:
        moved = [column for column in audit.columns if column.changed]
        names = [clean(column.name) for column in moved[:_MOST]]
        rest = len(moved) - len(names)
        names += [plural(rest, "other column")] if rest else []
        parts.append(f"the data have changed in {join(names)}")
    parts.append(_tell_accuracy(audit))
    text = "; ".join(part for part in parts if part)
    return f"Alarm: {text}."


def tell_audit(audit):
    """Yield the lines of a short report."""
    yield audit.verdict
    yield ""
    yield (
        f"{plural(audit.rows, 'new case')}, compared with {audit.reference_rows:,} training cases; "
        f"tree {audit.digest[:8]}; chance of a false alarm at most {percent(audit.alpha)}."
    )
    if audit.expected:
        yield _tell_expected(audit.expected)
    if audit.realised:
        yield from _tell_realised(audit)
    changed = [column for column in audit.columns if column.changed]
    if changed:
        yield ""
        yield "Columns that changed (those that most decisions depend on first):"
        yield from (f"  {tell_column(column)}" for column in changed)
    if not audit.realised:
        yield from _tell_moved_leaves(audit)
    leaves = [leaf for leaf in audit.leaves if leaf.changed]
    if leaves:
        yield ""
        yield "Leaves whose share of right decisions is not what it was:"
        yield from (f"  {tell_leaf(leaf)}" for leaf in leaves)


def tell_column(column):
    """Return the name of a column and how it has changed, in one line."""
    used = "" if column.tested else " (not used by the tree)"
    return f"{clean(column.name)}{used}: {tell_change(column)}"


def tell_change(column):
    """Return how a column has changed; "" if it has not."""
    told = []
    if "distribution" in column.changed:
        sizes = [f"stability index {column.index:.2f}"] if column.index is not None else []
        sizes += [f"KS distance {column.distance:.2f}"] if column.distance is not None else []
        told.append(f"distribution ({', '.join(sizes)})")
    if "missing" in column.changed:
        before = percent(column.missing_before)
        told.append(f"missing in {percent(column.missing)} ({before} before)")
    if "unseen" in column.changed:
        told.append(f"new categories in {percent(column.unseen)}: {_listed(column.new)}")
    if "outside" in column.changed:
        told.append(f"outside the range of the training sample in {percent(column.outside)}")
    if column.changed and column.vanished:
        told.append(f"no longer seen: {_listed(column.vanished)}")
    return "; ".join(told)


def tell_leaf(leaf):
    """Return how a leaf has changed, in one line."""
    return (
        f"{leaf.rule}: {clean(leaf.decision)} is right for {percent(leaf.right)} of "
        f"{plural(leaf.outcomes, 'case')} ({percent(leaf.expected_before)} expected)"
    )


def _tell_moved_leaves(audit):
    """The leaves whose expected accuracy moved by enough to matter, those with most cases first."""
    moved = [
        leaf
        for leaf in audit.leaves
        if None not in (leaf.expected, leaf.expected_before)
        and abs(leaf.expected - leaf.expected_before) >= LEAST_LEAF
        and leaf.share >= LEAST_SHARE
    ]
    if not moved:
        return
    yield ""
    yield "Leaves whose expected accuracy moved most:"
    for leaf in sorted(moved, key=lambda leaf: -leaf.share)[:_MOST]:
        yield (
            f"  {leaf.rule}: {clean(leaf.decision)} is expected to be right for "
            f"{percent(leaf.expected)} ({percent(leaf.expected_before)} at fit), "
            f"{percent(leaf.share)} of the cases"
        )


def _tell_steady(audit):
    """What goes on after "look like the training sample"."""
    if audit.realised:
        right, before = percent(audit.realised.accuracy), audit.realised.at_fit
        told = f", and the tree's decisions are right for {right} of them"
        return told + (f" ({percent(before)} expected when the model was fitted)" if before else "")
    if audit.expected:
        now, before = percent(audit.expected.accuracy), percent(audit.expected.at_fit)
        return (
            f", and the tree's decisions are expected to be right for {now} of them ({before} when "
            "the model was fitted)"
        )
    return ""


def _tell_accuracy(audit):
    """What has become of the accuracy, without a full stop; "" if nothing is known of it."""
    realised, expected = audit.realised, audit.expected
    if realised is None:
        if expected is None:
            return ""
        verb = "has fallen to" if audit.fell else "is"
        return (
            f"the expected accuracy of the tree {verb} {percent(expected.accuracy)} "
            f"({percent(expected.at_fit)} when the model was fitted)"
        )
    told = f"the tree's decisions are right for {percent(realised.accuracy)} of the cases"
    if realised.at_fit is not None:
        told += f" ({percent(realised.at_fit)} expected when the model was fitted)"
    return told + _REASONS[audit.aged](audit)


def _tree_aged(audit):
    leaves = sum(leaf.changed for leaf in audit.leaves)
    where = f"in {plural(leaves, 'leaf', 'leaves')} " if leaves else ""
    return f", and {where}outcomes no longer depend on the attributes as they did: review the tree"


def _estimate_aged(audit):
    return (
        f", but the probabilities led to expect {percent(audit.realised.expected)}: fit the model "
        "again around the same tree"
    )


# What has aged -> how the sentence goes on.
_REASONS = {
    None: lambda audit: "",
    "tree": _tree_aged,
    "cases": lambda audit: ", as the probabilities foresaw: other cases come now",
    "estimate": _estimate_aged,
}


def _tell_expected(expected):
    how = "without the cases themselves" if expected.unseen else "on the training cases themselves"
    return (
        f"Expected accuracy: {percent(expected.accuracy)}, between {percent(expected.low)} and "
        f"{percent(expected.high)}; at fit {percent(expected.at_fit)}, estimated {how}."
    )


def _tell_realised(audit):
    realised = audit.realised
    hoped = "" if realised.expected is None else f"; {percent(realised.expected)} was expected"
    yield (
        f"Realised accuracy: {percent(realised.accuracy)} of {plural(realised.cases, 'outcome')}, "
        f"between {percent(realised.low)} and {percent(realised.high)}{hoped}."
    )
    for name, row in zip(audit.class_names, realised.classes, strict=True):
        if row["cases"]:
            yield (
                f"  {clean(name)}: {row['right']:,} of {plural(row['cases'], 'case')} decided "
                f"correctly ({percent(row['right'] / row['cases'])})"
            )
    if realised.new_classes:
        yield f"  {plural(realised.new_classes, 'case')} of a class that the tree does not know"
    if realised.calibration is not None:
        before = realised.calibration_at_fit
        told = "" if before is None else f" ({percent(before)} at fit)"
        yield f"Calibration error of the probabilities: {percent(realised.calibration)}{told}."


def _listed(labels):
    shown = ", ".join(clean(label) for label in labels[:_MOST])
    rest = len(labels) - _MOST
    return f"{shown} and {rest:,} more" if rest > 0 else shown
