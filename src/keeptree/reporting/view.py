"""The case shown when a page opens: the tree's decision, our estimate, and why.

``js/view.js`` writes the same texts for every other case.
"""

from dataclasses import replace

import numpy as np

from keeptree.data.labels import plain
from keeptree.explanation.contributions import averages_trees, collect_contributions
from keeptree.explanation.nearest_change import find_changes
from keeptree.explanation.path import collect_path
from keeptree.explanation.unseen import name_unseen, with_labels
from keeptree.explanation.wording import join, tell_estimate, tell_number
from keeptree.exporters.plain import read_columns
from keeptree.text import (
    class_text,
    clean,
    count_text,
    of_class_text,
    plain_number,
    plural,
    training_cases,
)

NEAR = 0.2  # in the metric, as in keeptree.explain
_MOST_PUSHES, _LEAST_PUSH = 6, 0.005  # number of bars; values below this round to 0.00
_MOST_NAMED = 4  # categories and classes named in one sentence
_EXPERTS = {
    "soft": "how clearly it passes the tests",
    "kernel": "training cases like this one",
    "coherent": "kept in line with the tree",
}
_SIMILAR = "how this tree and similar trees judge it"  # if the soft expert averages them


def collect_view(subject, row, positive, fixed=(), unseen=None):
    """Return the texts and figures that the page shows for one case.

    Parameters
    ----------
    subject : Subject
        The model.
    row : ndarray of shape (n_features,)
        The encoded case.
    positive : int
        With two classes, the one for which a contribution counts as positive.
    fixed : collection of int
        Columns that cannot change.
    unseen : dict, optional
        Labels of the case that the tree has not seen: column -> label.

    Returns
    -------
    view : dict
        ``steps`` of the path, each with the ``node`` it leads to, ``name``, ``value``, ``test``,
        ``note``, ``near`` (whether it is the nearest) and ``short``, all in a few words;
        ``pushes``, the contributions, or None: their ``class`` and ``rows`` of ``name`` and
        ``value``; ``leaf``, ``change``, ``after``, ``locked`` and ``such`` as
        sentences, some of them empty.
    """
    subject = replace(subject, tree=name_unseen(subject.tree))
    tree, encoded = subject.tree, row[None]
    p = subject.probabilities(encoded)[0]
    towards = positive if len(p) == 2 else int(p.argmax())
    change = with_labels(find_changes(subject, encoded, fixed=sorted(fixed))[0], unseen)
    leaves = _leaves(tree, encoded)
    leaf = leaves[0][0]
    path = collect_path(subject, row, leaf, NEAR, unseen)
    return {
        "steps": tell_steps([tree.branch(child) for child in tree.path(leaf)[1:]], path, change),
        "pushes": _pushes(subject, encoded, towards),
        "leaf": tell_leaf(tree, leaves, subject.class_names),
        "change": change.sentence,
        "after": tell_estimate(change.predicted, change.probability, change.names)
        if change.changes
        else "",
        "locked": tell_locked(subject, fixed),
        "such": "",
    }


def tell_locked(subject, fixed):
    """Return a sentence about the attributes that cannot change; "" if none is shown."""
    tree = subject.tree
    shown = read_columns(tree, subject.inner)
    names = [clean(tree.feature_name(f)) for f in shown if f in fixed]
    return f"Locked: {join(names)}." if names else ""


def tell_steps(branches, path, change):
    """Return the tests of a path as rows of text; the nearest one states the other decision."""
    known = [step["distance"] for step in path if step["distance"] is not None]
    nearest = min(known, default=None)
    rows = []
    for branch, step in zip(branches, path, strict=True):
        missing = step["value"] is None
        first = nearest is not None and step["distance"] == nearest
        nearest = None if first else nearest  # among equally near tests, only the first is marked
        rows.append(
            {
                "node": branch.child,
                "short": _tell_short(step, branch),
                "name": step["attribute"],
                "value": "not known" if missing else _value(step),
                "test": _tell_unknown(step, branch)
                if missing
                else tell_test(branch, step["value"]),
                "note": _tell_margin(step, branch, first, change),
                "near": first,
            }
        )
    return rows


def tell_test(branch, value=None):
    """Return the side of a test: ``above 16.8``, ``up to 25.67``, ``among red and blue``.

    A category with its own branch needs no further text, but a value that the tree has not seen
    does: it is none of the categories.
    """
    if branch.is_numeric:
        word = "up to" if branch.symbol == "≤" else "above"
        return f"{word} {tell_number(branch.threshold)}"
    labels = [clean(label) for label in branch.labels]
    if len(labels) == 1:
        return "" if value is None or value == plain(branch.labels[0]) else labels[0]
    if len(labels) <= _MOST_NAMED:
        return f"among {join(labels)}"
    return f"among {', '.join(labels[:_MOST_NAMED])} and {len(labels) - _MOST_NAMED} others"


def tell_leaf(tree, leaves, names):
    """Return what the leaf of a case contains.

    Parameters
    ----------
    tree : Tree
        The kept tree.
    leaves : list of (int, float)
        The leaves of the case and its share in each, the largest first.
    names : sequence of str
        Display names of the classes.
    """
    node, share = leaves[0]
    cases, counts = tree.weight[node], tree.counts[node]
    order = np.argsort(-counts, kind="stable")
    labels = [clean(name) for name in names]
    named = [f"{count_text(counts[k])} {of_class_text(labels[k])}" for k in order if counts[k] > 0]
    tied = int(np.count_nonzero(counts == counts.max()))
    held = training_cases(cases)
    if len(named) == 1:
        label = labels[order[0]]
        held += f", of {class_text(label)}" if cases == 1 else f", all {of_class_text(label)}"
    elif tied == len(named) == 2:
        held += f", {count_text(counts.max())} of each class"
    elif named:
        rest = len(named) - _MOST_NAMED
        more = f" and {plural(rest, 'other class', 'other classes')}"
        held += ": " + (", ".join(named[:_MOST_NAMED]) + more if rest > 0 else join(named))
    guess = ": the tree was guessing" if tied > 1 and named else ""
    if len(leaves) == 1:
        return f"Its leaf contains {held}{guess}."
    return (
        f"A value is not known, so the case is shared among {len(leaves)} leaves; the one "
        f"with the largest share ({share:.0%}) contains {held}{guess}."
    )


def _leaves(tree, encoded):
    """Nodes and shares of the leaves a case ends in, the largest first."""
    weights = tree.route_shares(encoded)
    order = np.argsort(-weights.data, kind="stable")
    return [(int(weights.indices[k]), float(weights.data[k])) for k in order]


def _tell_short(step, branch):
    """A test with the value of the case, as shown in the drawing: ``711.4 ≤ 718.65``."""
    if step["value"] is None:
        return f"not known: {_relation(branch)}"
    if branch.is_numeric:
        return f"{_value(step)} {_relation(branch)}"
    return f"= {_value(step)}"


def _relation(branch):
    if branch.is_numeric:
        return f"{branch.symbol} {tell_number(branch.threshold)}"
    return clean(branch.relation())


def _value(step):
    return tell_number(step["value"]) if step["threshold"] is not None else clean(step["value"])


def _tell_unknown(step, branch):
    test = tell_test(branch) or f"is {clean(branch.labels[0])}"
    if step["share"] < 1.0:
        return f"{step['share']:.0%} of the case goes on: {test}"
    return f"the tree goes on as if {test}"


def _tell_margin(step, branch, first, change):
    """``by 7.25``; the nearest test adds how close it is and the decision on its other side."""
    if step["margin"] is None:
        return "closest" if first and step["value"] is not None else ""
    margin = plain_number(float(f"{abs(step['margin']):.3g}"), 3)
    if not first:
        return f"by {margin}"
    told = f"{'very close' if step['near'] else 'closest'}: {margin} from the threshold"
    moves = change.changes
    if len(moves) == 1 and moves[0].feature == branch.feature and not moves[0].nominal:
        told += f"; at {tell_number(moves[0].rounded)} the tree decides {_name(change)}"
    return told


def _name(change):
    return class_text(clean(change.names.get(change.predicted, change.predicted)))


def _pushes(subject, encoded, towards):
    """Contributions to the estimate of a class: the tests by attribute, and the other experts.

    Tests are compared with the mean training case, the others with the class shares.
    """
    parts = collect_contributions(subject, encoded, towards)
    if parts is None:
        return None
    tree, sums = subject.tree, {}
    experts = dict(_EXPERTS)
    if averages_trees(subject.inner):
        experts["soft"] = _SIMILAR
    for part in parts:
        if part["kind"] == "column":
            name = part["name"]
        elif part["kind"] == "test":
            name = clean(tree.branch(tree.children(part["node"])[0]).name)
        elif part["kind"] == "expert" and part["expert"] in experts:
            name = experts[part["expert"]]
        else:
            continue
        sums[name] = sums.get(name, 0.0) + part["value"]
    rows = [{"name": name, "value": value} for name, value in sums.items()]
    rows = [row for row in rows if abs(row["value"]) >= _LEAST_PUSH]
    rows.sort(key=lambda row: -abs(row["value"]))
    return {"class": towards, "rows": rows[:_MOST_PUSHES]} if rows else None
