"""The figures of the first screen: accuracy, misses and cases to check."""

from dataclasses import replace

import numpy as np

from keeptree.data.labels import label_codes
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


def collect_rule(held, model):
    """Evaluate the model's own decisions, if it does not follow the tree.

    Parameters
    ----------
    held : HeldOut
        Cases with their true classes.
    model : fitted KeepTree classifier
        The model.

    Returns
    -------
    found : dict or None
        ``rule`` (``"cost"`` or ``"probability"``), the results of :func:`collect_decisions`, and
        the mean ``cost`` of a case and the ``tree_cost`` that the tree's decisions would have, None
        without costs. None if the model follows the tree.
    """
    rule = getattr(model, "decide", "tree")
    if rule == "tree":
        return None
    decision = label_codes(model.predict_encoded(held.rows), held.tree.classes)
    found = collect_decisions(replace(held, decision=decision))
    costs, matrix = (None, None), model.cost_matrix
    if matrix is not None:
        costs = (float(matrix[held.truth, d].mean()) for d in (decision, held.decision))
    return {
        "rule": rule,
        **found,
        **dict(zip(("cost", "tree_cost"), costs, strict=True)),
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
