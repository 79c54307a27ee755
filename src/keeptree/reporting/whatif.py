"""What the page needs to decide and score a moved case by itself, as JSON."""

import numpy as np

from keeptree.tree import LEAF, NOMINAL


def collect_whatif(model, boundary, attributes, rows=True):
    """Return the tree, the metric and the probability model as ``page.js`` reads them.

    Columns are numbered by their place among ``attributes``; the page knows no others.

    Parameters
    ----------
    model : fitted KeepTree classifier
        Its tree is kept.
    boundary : Boundary or None
        How distances are measured.
    attributes : list of dict
        From :func:`keeptree.reporting.attributes.collect_attributes`.
    rows : bool, default=True
        Whether training rows may go into the file; some models need them.

    Returns
    -------
    data : dict
    """
    columns = [attribute["column"] for attribute in attributes]
    scorer = _SCORERS.get(type(model).__name__)
    return {
        "float32": model.tree_.compare_dtype == "float32",
        "tree": _tree(model.tree_, columns),
        "metric": None if boundary is None else _metric(boundary.metric_, columns),
        "model": None if scorer is None else scorer(model, columns, rows),
    }


def encode_values(X, attributes):
    """Return the tested attributes of encoded rows as lists; missing values are None."""
    values = X[:, [attribute["column"] for attribute in attributes]]
    return [[None if np.isnan(v) else v for v in row] for row in values.tolist()]


def _tree(tree, columns):
    place = {column: at for at, column in enumerate(columns)}
    inner = tree.kind != LEAF
    return {
        "attribute": [place[f] if f >= 0 else None for f in tree.feature.tolist()],
        "threshold": [t if t == t else None for t in tree.threshold.tolist()],
        "children": [tree.children(node).tolist() for node in range(tree.n_nodes)],
        "table": {
            str(node): tree.category_child[
                tree.category_start[node] : tree.category_start[node + 1]
            ].tolist()
            for node in np.flatnonzero(tree.kind == NOMINAL).tolist()
        },
        "missing": np.where(inner, tree.missing, -2).tolist(),
        "heaviest": np.where(inner, tree._missing_child, -1).tolist(),
        "share": tree.shares.tolist(),
        "label": tree.label.tolist(),
        "proportions": _leaf_values(tree, tree.proportions),
    }


def _metric(metric, columns):
    costs = [metric.category_costs_[f] for f in columns]
    return {
        "factor": metric.factor_[columns].tolist(),
        "costs": [None if matrix is None else matrix.tolist() for matrix in costs],
    }


def _leaf_values(tree, values):
    """Values of the leaves only, by node."""
    leaves = (tree.kind == LEAF).tolist()
    return [row if leaf else None for row, leaf in zip(values.tolist(), leaves, strict=True)]


def _smoothed(model, columns, rows):
    return {"kind": "leaves", "values": _leaf_values(model.tree_, model.node_probabilities_)}


_SCORERS = {"SmoothedTreeClassifier": _smoothed}
