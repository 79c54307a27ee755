"""The figures of the first screen: accuracy, misses and cases to check."""

import numpy as np

from keeptree.evaluation.significance import accuracy_interval


def collect_decisions(held):
    """Evaluate the tree's decisions on cases with true classes.

    Parameters
    ----------
    held : HeldOut
        Cases with their true classes.

    Returns
    -------
    decisions : dict
        ``right`` (number of cases), ``accuracy`` and its 95% interval from ``low`` to ``high``;
        ``baseline``, the most frequent ``class`` and the number of cases for which it is
        ``right``; ``confusion``, one row per true class and one column per decided class.
    """
    n, n_classes = len(held), len(held.tree.classes)
    confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(confusion, (held.truth, held.decision), 1)
    right, of_class = int(np.trace(confusion)), confusion.sum(axis=1)
    low, high = accuracy_interval(right / n, n)
    commonest = int(of_class.argmax())
    return {
        "right": right,
        "accuracy": right / n,
        "low": low,
        "high": high,
        "baseline": {"class": commonest, "right": int(of_class[commonest])},
        "confusion": confusion.tolist(),
    }


def collect_check(held):
    """Return how many cases to check by hand, and how many errors that would catch.

    Parameters
    ----------
    held : HeldOut
        The cases.

    Returns
    -------
    check : dict
        ``cases`` to check, and on how many our estimate ``disagrees`` with the tree. With true
        classes, also the tree's ``errors``, how many of them are ``caught`` among the cases to
        check, and how often the estimate (``estimate_right``) and the tree (``tree_right``) are
        right where they disagree; otherwise None.
    """
    differs = held.disagrees
    found = {"cases": int(held.checked.sum()), "disagrees": int(differs.sum())}
    known = dict.fromkeys(("errors", "caught", "estimate_right", "tree_right"))
    if held.truth is not None:
        likeliest = held.ours.argmax(axis=1)
        known = {
            "errors": int(held.wrong.sum()),
            "caught": int((held.wrong & held.checked).sum()),
            "estimate_right": int((likeliest == held.truth)[differs].sum()),
            "tree_right": int((~held.wrong)[differs].sum()),
        }
    return {**found, **known}
