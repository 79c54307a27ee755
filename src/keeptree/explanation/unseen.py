"""Labels that a tree has never seen: those of the cases, and a name for all of them."""

from dataclasses import replace

import numpy as np

from keeptree.data.labels import free_label, is_other_label, plain
from keeptree.data.table import column_values

_ANY_OTHER = "any other value"


def unseen_labels(tree, X, encoded, cases):
    r"""Return the labels that the tree reads as its category for unseen ones.

    Parameters
    ----------
    tree : Tree
        The kept tree.
    X : array-like or data frame of n rows
        Cases with the columns of the tree.
    encoded : ndarray of shape (n, n_features)
        The same cases, encoded.
    cases : sequence of int
        Positions of the cases to look at.

    Returns
    -------
    labels : dict
        Position of a case -> column -> its label; only cases with such labels.

    Examples
    --------
    >>> import keeptree as kt
    >>> tree = kt.keep("colour = red: a\nelse: b")
    >>> X = [["red"], ["purple"]]
    >>> unseen_labels(tree, X, tree.encode(X), [0, 1])
    {1: {0: 'purple'}}
    """
    columns = [f for f, code in enumerate(tree.unknown) if tree.categories[f] and code >= 0]
    if not columns:
        return {}
    table, cases, found = tree.select(X), np.asarray(cases), {}
    for f in columns:
        code = tree.unknown[f]
        rows = cases[encoded[cases, f] == code]
        known = tree.categories[f][code]  # a known category may also take unseen labels
        for row, label in zip(rows.tolist(), column_values(table, f, rows), strict=True):
            if label != known and str(label) != str(known):  # 2.0 is 2, and "True" is True
                found.setdefault(row, {})[f] = plain(label)
    return found


def with_labels(change, unseen):
    """Return a nearest change that starts from the labels of unseen categories."""
    if not unseen:
        return change
    moves = tuple(replace(m, before=unseen.get(m.feature, m.before)) for m in change.changes)
    others = tuple(with_labels(other, unseen) for other in change.alternatives)
    return replace(change, changes=moves, alternatives=others)


def name_unseen(tree):
    r"""Return the tree with plain names of its categories for unseen labels, for display only.

    Examples
    --------
    >>> import keeptree as kt
    >>> name_unseen(kt.keep("colour = red: a\nelse: b")).categories
    (('red', 'any other value'),)
    """
    categories = list(tree.categories)
    for f, code in enumerate(tree.unknown):
        labels = categories[f]
        if labels and code >= 0 and is_other_label(labels[code]):
            named = free_label(_ANY_OTHER, labels)
            categories[f] = (*labels[:code], named, *labels[code + 1 :])
    changed = tuple(categories) != tuple(tree.categories)
    return replace(tree, categories=tuple(categories)) if changed else tree
