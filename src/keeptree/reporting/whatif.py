"""What the page needs to decide and score a moved case by itself, as JSON."""

import base64

import numpy as np

from keeptree.tree import LEAF, NOMINAL

MOST_NUMBERS = 300_000  # of training rows in a file: about 1.6 MB


def collect_whatif(model, boundary, attributes, rows=True):
    """Return the tree, the metric and the probability model as the scripts of the page read them.

    Columns are numbered by their place among ``attributes``; the page knows no others.

    Parameters
    ----------
    model : fitted KeepTree classifier
        Its tree is kept.
    boundary : Boundary
        How distances are measured.
    attributes : list of dict
        From :func:`keeptree.reporting.attributes.collect_attributes`.
    rows : bool, default=True
        Whether training rows may go into the file; some models need them.

    Returns
    -------
    data : dict
        ``model`` is None where the page cannot score a moved case as Python does.
    """
    columns = [attribute["column"] for attribute in attributes]
    scorer = _SCORERS.get(type(model).__name__)
    return {
        "float32": model.tree_.compare_dtype == "float32",
        "tree": _tree(model.tree_, columns),
        "metric": _metric(boundary.metric_, model.observed_, columns),
        "model": None if scorer is None else scorer(model, columns, rows),
    }


def _tree(tree, columns):
    place = {column: at for at, column in enumerate(columns)}
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
        "missing": np.where(tree.kind != LEAF, tree.missing, -2).tolist(),
        "share": tree.shares.tolist(),
        "label": tree.label.tolist(),
        "proportions": _leaf_values(tree, tree.proportions),
    }


def _metric(metric, observed, columns):
    """Costs of a change, and the range of the training sample, which a changed value keeps to."""
    costs = [metric.category_costs_[f] for f in columns]
    return {
        "factor": metric.factor_[columns].tolist(),
        "costs": [None if matrix is None else matrix.tolist() for matrix in costs],
        "low": observed.low[columns].tolist(),
        "high": observed.high[columns].tolist(),
        "whole": observed.whole[columns].tolist(),
        "seen": [None if observed.seen[f] is None else observed.seen[f].tolist() for f in columns],
    }


def _leaf_values(tree, values):
    """Values of the leaves only, by node."""
    leaves = (tree.kind == LEAF).tolist()
    return [row if leaf else None for row, leaf in zip(values.tolist(), leaves, strict=True)]


def _smoothed(model, columns, rows):
    return {"kind": "leaves", "values": _leaf_values(model.tree_, model.node_probabilities_)}


def _soft(expert, columns):
    from keeptree.probability.soft import slope_of

    return {
        "kind": "soft",
        "tests": _soft_tests(expert.tests, columns),
        "steep": expert.tests.steep(slope_of(expert.strength)).tolist(),
        "values": expert.values.tolist(),
    }


def _margin(expert, columns):
    from keeptree.probability.margin import PARTS

    steep = [expert.tests.steep(slope).tolist() for slope, _ in PARTS]
    scores = [values.tolist() for values in (*expert.side, expert.path)]
    parts = list(zip(steep, scores, PARTS, strict=True))
    return {
        "kind": "margin",
        "tests": _soft_tests(expert.tests, columns),
        "sides": [{"steep": at, "scores": of} for at, of, (_, down) in parts if not down],
        "reach": [{"steep": at, "values": of} for at, of, (_, down) in parts if down],
        "intercept": expert.intercept.tolist(),
    }


def _soft_tests(tests, columns):
    """Tests in the order in which they are combined: children before their parents."""
    place = {column: at for at, column in enumerate(columns)}
    inner = (tests.kind != LEAF).tolist()
    asked = zip(tests.column.tolist(), inner, strict=True)
    at = [place[int(tests.columns[c])] if asks else None for c, asks in asked]
    children = [
        tests.child[tests.child_start[k] : tests.child_start[k + 1]].tolist()
        for k in range(len(tests.kind))
    ]
    return {
        "attribute": at,
        "threshold": [t if t == t else None for t in tests.threshold.tolist()],
        "children": children,
        "missing": tests.missing.tolist(),
        "table": {
            str(k): tests.table[tests.table_start[k] : tests.table_start[k + 1]]
            .reshape(-1, len(children[k]))
            .tolist()
            for k in np.flatnonzero(tests.kind == NOMINAL).tolist()
        },
    }


def _kernel(expert, columns):
    """Landmarks are training rows, or means of some: the bulk of the file, hence in base64."""
    place = {column: at for at, column in enumerate(columns)}
    space = expert.space
    width = len(space.feature)
    bends = [space.bends[:, space.bend_start[k] : space.bend_start[k + 1]].T for k in range(width)]
    tables = [space.table[space.table_start[k] : space.table_start[k + 1]] for k in range(width)]
    return {
        "kind": "kernel",
        "attribute": [place[f] for f in space.feature.tolist()],
        "center": space.center.tolist(),
        "factor": space.factor.tolist(),
        "slope": space.slope.tolist(),
        "bends": [pairs.tolist() for pairs in bends],
        "table": [table.tolist() if len(table) else None for table in tables],
        "landmarks": _base64(expert.landmarks[:, :width]),
        "sharpness": _base64(expert.sharpness),
        "mass": _base64(expert.mass),
        "start": expert.class_start.tolist(),
        "prior": expert.prior.tolist(),
        "pseudo": expert.pseudo_cases,
    }


def _pool(model, columns, rows):
    from keeptree.probability.pool import SHARE, SOFTNESS

    if not rows or model.kernel_.landmarks.size > MOST_NUMBERS:
        return None
    experts = {"soft": _soft, "margin": _margin, "kernel": _kernel}
    return {
        "kind": "pool",
        "experts": [
            experts[name](getattr(model, f"{name}_"), columns) for name in model.pool_.names
        ],
        "weights": model.pool_.weights.tolist(),
        "prior": model.pool_.prior.tolist(),
        "share": SHARE,
        "softness": SOFTNESS if model.coherent else None,
        "rows": len(model.kernel_.landmarks),
    }


def _base64(values):
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode()


# By name, so that a model is only imported where it is used.
_SCORERS = {
    "KeptTreeClassifier": _pool,
    "MarginTreeClassifier": lambda model, columns, rows: _margin(model.expert_, columns),
    "SmoothedTreeClassifier": _smoothed,
    "SoftTreeClassifier": lambda model, columns, rows: _soft(model.expert_, columns),
}
