"""How the columns of new cases differ from those of the training sample."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from keeptree.auditing.count import tested_columns
from keeptree.auditing.significance import (
    choose_ends,
    compare_counts,
    compare_curves,
    compare_shares,
    stability_index,
)
from keeptree.data.labels import plain
from keeptree.explanation.chance import chance_of_outside
from keeptree.explanation.unfamiliar import LEAST_SHARE
from keeptree.explanation.wording import tell_number
from keeptree.text import clean

# With a million cases any change is significant, so it must also be this large to matter.
LEAST_INDEX = 0.1  # population stability index; the usual limit for a moderate change
LEAST_DISTANCE = 0.1  # Kolmogorov-Smirnov distance
_LEAST_VANISHED = 5  # expected cases of a category that no longer occurs
_MOST_PARTS = 12
KINDS = ("distribution", "missing", "unseen", "outside")


@dataclass(frozen=True)
class ColumnChange:
    """One column of the new cases compared with the training sample.

    Parameters
    ----------
    name : str
        The column.
    nominal : bool
        Whether its values are categories.
    tested : float
        Share of the training cases whose path tests the column; 0 if the tree does not use it.
    read : bool
        Whether the model reads the column, for its decisions or its probabilities.
    distance : float or None
        Kolmogorov-Smirnov distance of a numeric column.
    index : float or None
        Population stability index.
    missing, missing_before : float
        Share of cases without a value, now and in the training sample.
    unseen, outside : float
        Share of cases with a category the tree does not know, or outside the range of the sample.
    new, vanished : tuple
        Categories that only the new cases have, or only the training sample.
    p_values : dict
        Kind of change -> p-value of its test; the kinds are ``"distribution"``, ``"missing"``,
        ``"unseen"`` and ``"outside"``.
    parts : tuple of dict
        About ten ranges of values, or the commonest categories: ``values`` in words, and the share
        of the known values in each, ``before`` and ``now``.
    changed : tuple of str
        Kinds that differ significantly and by enough to matter.
    slight : tuple of str
        Kinds that differ significantly, but by too little to matter.
    """

    name: str
    nominal: bool
    tested: float
    read: bool
    distance: float | None
    index: float | None
    missing: float
    missing_before: float
    unseen: float
    outside: float
    new: tuple
    vanished: tuple
    p_values: dict
    parts: tuple
    changed: tuple = ()
    slight: tuple = ()

    @property
    def large(self):
        """Kinds of change that are large enough to matter, significant or not."""
        moved = (self.index or 0) >= LEAST_INDEX or (self.distance or 0) >= LEAST_DISTANCE
        sizes = {
            "distribution": moved,
            "missing": abs(self.missing - self.missing_before) >= LEAST_SHARE,
            "unseen": self.unseen >= LEAST_SHARE,
            "outside": self.outside >= LEAST_SHARE,
        }
        return tuple(kind for kind in KINDS if sizes[kind])


def compare_columns(count):
    """Return a :class:`ColumnChange` per column, starting with those the tree relies on most.

    Parameters
    ----------
    count : AuditCount
        Sums over the new cases.
    """
    order = tested_columns(count.tree)
    place = {f: k for k, f in enumerate(count.reference.columns.tolist())}
    described = [f for f in order if f in place] + [f for f in place if f not in order]
    news = count.unfamiliar().columns
    weight = _tested_share(count.tree)
    return [_compare(count, f, place[f], news[f], weight[f]) for f in described]


def _compare(count, f, k, news, tested):
    reference, tree, rows = count.reference, count.tree, count.rows
    n_1, n_2 = int(reference.known[k]), int(count.known[k])
    missing_1 = reference.rows - n_1
    p_values = {"missing": compare_shares(missing_1, reference.rows, news.missing, rows)}
    labels = tree.categories[f]
    parts, distance, vanished = _count_parts(count, f, k), None, ()
    if labels is not None:
        before, now = reference.below[k], count.below[k]
        p_values["distribution"] = compare_counts(before, now)
        p_values["unseen"] = compare_shares(0, reference.rows, news.unseen, rows)
        vanished = _vanished(labels, before, now, n_1, n_2)
    else:
        curves = reference.below[k], n_1, count.below[k], n_2
        distance, p_values["distribution"] = compare_curves(*curves)
        p_values["outside"] = chance_of_outside(n_1, news.outside, n_2)
    index = stability_index(*parts[1:]) if n_1 and n_2 and len(parts[0]) > 1 else None
    return ColumnChange(
        name=tree.feature_name(f),
        nominal=labels is not None,
        tested=float(tested),
        read=tested > 0 or news.probabilities_only,
        distance=distance,
        index=index,
        missing=news.missing / rows,
        missing_before=missing_1 / reference.rows,
        unseen=news.unseen / rows,
        outside=news.outside / rows,
        new=tuple(news.categories),
        vanished=vanished,
        p_values=p_values,
        parts=tuple(_part_shares(*parts, n_1, n_2, news.unseen)),
    )


def _count_parts(count, f, k):
    """Names of the parts of a column, and the number of values in each, before and now."""
    before, now = count.reference.below[k], count.below[k]
    labels, points = count.tree.categories[f], count.reference.points[k]
    if labels is not None:
        return [clean(label) for label in labels], before, now
    if not len(points):
        return [], before, now
    ends = choose_ends(len(points))
    cuts = [tell_number(points[end]) for end in ends]
    names = [f"≤ {cuts[0]}", *(f"{a} to {b}" for a, b in pairwise(cuts)), f"> {cuts[-1]}"]
    known = (int(count.reference.known[k]), int(count.known[k]))
    counted = [
        np.diff(np.concatenate([[0], c[ends], [n]]))
        for c, n in zip((before, now), known, strict=True)
    ]
    return names, *counted


def _part_shares(names, before, now, n_1, n_2, unseen):
    """The parts with their shares; with many categories, only the commonest and the new ones."""
    n_2 += unseen
    order = np.arange(len(names))
    if len(names) > _MOST_PARTS:
        order = np.argsort(-(before / max(n_1, 1) + now / max(n_2, 1)), kind="stable")[:_MOST_PARTS]
    for k in order.tolist():
        yield {
            "values": names[k],
            "before": float(before[k] / max(n_1, 1)),
            "now": float(now[k] / max(n_2, 1)),
        }
    if unseen:
        yield {"values": "new categories", "before": 0.0, "now": unseen / n_2}


def _vanished(labels, before, now, n_1, n_2):
    """Categories that no longer occur although several cases were expected."""
    if not (n_1 and n_2):
        return ()
    expected = before / n_1 * n_2
    gone = np.flatnonzero((now == 0) & (expected >= _LEAST_VANISHED))
    return tuple(plain(labels[code]) for code in gone.tolist())


def _tested_share(tree):
    """Share of the training cases whose path tests each column."""
    share = np.zeros(tree.n_features)
    if tree.weight[0] <= 0:
        return share
    above = [frozenset()] * tree.n_nodes
    for node in tree.preorder.tolist():
        feature = int(tree.feature[node])
        first = feature >= 0 and feature not in above[node]
        if first:
            share[feature] += tree.weight[node] / tree.weight[0]
        passed = above[node] | {feature} if first else above[node]
        for child in tree.children(node).tolist():
            above[child] = passed
    return np.minimum(share, 1.0)
