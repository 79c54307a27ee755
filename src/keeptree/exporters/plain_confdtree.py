"""ConfDTree as plain lists: the intervals of each test, and the corrections outside them."""

import numpy as np

from keeptree._compiled.confdtree import (
    FINE,
    HIGH,
    HIGH_OTHER,
    LOW,
    LOW_OTHER,
    PRESENT,
    RECEIVES,
    ROUTE_WEIGHT,
    TAKES_PART,
)
from keeptree.exporters.plain_lists import leaf_values
from keeptree.tree import NOMINAL


def plain_confdtree(model, place):
    """Return the kind ``confdtree`` of :func:`~keeptree.exporters.plain_model.plain_model`.

    Parameters
    ----------
    model : ConfDTreeClassifier
        Fitted.
    place : dict
        Number of each column; the tree names them.
    """
    tree, program = model.tree_, model.walk_.program
    checked = np.flatnonzero(program.steps[:-1, TAKES_PART]).tolist()
    return {
        "kind": "confdtree",
        "values": leaf_values(tree, program.leaf_value[: tree.n_nodes]),
        "checks": {str(node): _check(tree, program, node) for node in checked},
        "fine": program.fines[FINE].tolist(),
        "to_all": bool(program.to_all),
    }


def _check(tree, program, node):
    rules = program.rules[node]
    usual = None
    if tree.kind[node] == NOMINAL:
        start, end = tree.category_start[node : node + 2]
        usual = program.characteristic[start:end].tolist()
    present = rules[:, PRESENT] > 0
    return {
        "interval": _pairs(rules[:, LOW], rules[:, HIGH]),
        "other": _pairs(rules[:, LOW_OTHER], rules[:, HIGH_OTHER]),
        "usual": usual,
        "weight": program.rules[tree.children(node)][:, :, ROUTE_WEIGHT].tolist(),
        "receives": np.where(present, program.fines[RECEIVES], 0.0).tolist(),
    }


def _pairs(low, high):
    """Return the bounds of each class as pairs of finite numbers; None if it has no interval."""
    largest = np.finfo(float).max
    bounds = np.clip(np.column_stack([low, high]), -largest, largest).tolist()
    return [None if np.isnan(pair).any() else pair for pair in bounds]
