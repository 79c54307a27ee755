"""What the page needs to decide and score a moved case by itself, as JSON."""

import base64

import numpy as np

from keeptree.probability.kept import KeptTreeClassifier
from keeptree.probability.kernel_expert import KernelExpert
from keeptree.probability.margin import PARTS, MarginExpert, MarginTreeClassifier
from keeptree.probability.pool import SHARE, SOFTNESS
from keeptree.probability.smoothing import SmoothedTreeClassifier
from keeptree.probability.soft import SoftExpert, SoftTreeClassifier, slope_of
from keeptree.progress import step
from keeptree.tree import LEAF, NOMINAL

MOST_NUMBERS = 300_000  # of training rows in a file: about 1.6 MB


@step("Preparing the what-if panel")
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
    place = {attribute["column"]: at for at, attribute in enumerate(attributes)}
    return {
        "float32": model.tree_.compare_dtype == "float32",
        "tree": _tree(model.tree_, place),
        "metric": _metric(boundary, model.observed_, list(place)),
        "model": _write(model, place, rows),
    }


def tell_missing_model(model, rows):
    """Return why the page shows no probability of a moved case."""
    if not rows:
        return (
            "The probability of a moved case needs training rows, which were kept out of this file."
        )
    if isinstance(model, KeptTreeClassifier):
        return (
            "The probability of a moved case needs training rows, which are too many for this file."
        )
    return f"The page does not compute the probability of a moved case by {type(model).__name__}."


def _tree(tree, place):
    return {
        "attribute": [place[f] if f >= 0 else None for f in tree.feature.tolist()],
        "threshold": _known(tree.threshold),
        "children": [tree.children(node).tolist() for node in range(tree.n_nodes)],
        "table": {
            str(node): tree.category_children(node).tolist()
            for node in np.flatnonzero(tree.kind == NOMINAL).tolist()
        },
        "missing": np.where(tree.kind != LEAF, tree.missing, -2).tolist(),
        "share": tree.shares.tolist(),
        "label": tree.label.tolist(),
        "proportions": _leaf_values(tree, tree.proportions),
    }


def _metric(boundary, observed, columns):
    """Costs of a change, the step of each column, and the range that a changed value keeps to."""
    metric = boundary.metric_
    costs = [metric.category_costs_[f] for f in columns]
    return {
        "factor": metric.factor_[columns].tolist(),
        "costs": [None if matrix is None else matrix.tolist() for matrix in costs],
        "low": observed.low[columns].tolist(),
        "high": observed.high[columns].tolist(),
        "step": boundary.grid_[columns].tolist(),
        "seen": [None if observed.seen[f] is None else observed.seen[f].tolist() for f in columns],
    }


def _leaf_values(tree, values):
    """Values of the leaves only, by node."""
    leaves = (tree.kind == LEAF).tolist()
    return [row if leaf else None for row, leaf in zip(values.tolist(), leaves, strict=True)]


def _write(model, place, rows):
    """A probability model or one of its experts as ``js/probability.js`` reads it, or None."""
    writer = _WRITERS.get(type(model))  # a subclass may answer otherwise
    return None if writer is None else writer(model, place, rows)


def _write_pool(model, place, rows):
    if not rows or model.kernel_.landmarks.size > MOST_NUMBERS:
        return None
    experts = {"soft": model.soft_, "margin": model.margin_, "kernel": model.kernel_}
    return {
        "kind": "pool",
        "names": list(model.pool_.names),
        "experts": [_write(experts[name], place, rows) for name in model.pool_.names],
        "weights": model.pool_.weights.tolist(),
        "prior": model.pool_.prior.tolist(),
        "share": SHARE,
        "softness": SOFTNESS if model.coherent else None,
        "rows": len(model.kernel_.landmarks),
    }


def _write_expert(model, place, rows):
    return _write(model.expert_, place, rows)


def _write_leaves(model, place, rows):
    return {"kind": "leaves", "values": _leaf_values(model.tree_, model.node_probabilities_)}


def _write_soft(expert, place, rows):
    return {
        "kind": "soft",
        "tests": _soft_tests(expert.tests, place),
        "steep": expert.tests.steep(slope_of(expert.strength)).tolist(),
        "values": expert.values.tolist(),
    }


def _write_margin(expert, place, rows):
    steep = [expert.tests.steep(slope).tolist() for slope, _ in PARTS]
    scores = [values.tolist() for values in (*expert.side, expert.path)]
    parts = list(zip(steep, scores, PARTS, strict=True))
    return {
        "kind": "margin",
        "tests": _soft_tests(expert.tests, place),
        "sides": [{"steep": at, "scores": of} for at, of, (_, down) in parts if not down],
        "reach": [{"steep": at, "values": of} for at, of, (_, down) in parts if down],
        "intercept": expert.intercept.tolist(),
        "centre": expert.centre.tolist(),
    }


def _write_kernel(expert, place, rows):
    """Landmarks are training rows, or means of some: the bulk of the file, hence in base64."""
    space = expert.space
    return {
        "kind": "kernel",
        "attribute": [place[f] for f in space.feature.tolist()],
        "center": space.center.tolist(),
        "factor": space.factor.tolist(),
        "slope": space.slope.tolist(),
        "bends": _split(space.bends.T, space.bend_start),
        "table": [table or None for table in _split(space.table, space.table_start)],
        "landmarks": _base64(expert.landmarks[:, : len(space.feature)]),
        "sharpness": _base64(expert.sharpness),
        "mass": _base64(expert.mass),
        "start": expert.class_start.tolist(),
        "prior": expert.prior.tolist(),
        "pseudo": expert.pseudo_cases,
    }


def _soft_tests(tests, place):
    """Tests in the order in which they are combined: children before their parents."""
    columns = tests.columns.tolist()
    asked = zip(tests.column.tolist(), (tests.kind != LEAF).tolist(), strict=True)
    children, tables = (
        _split(tests.child, tests.child_start),
        _split(tests.table, tests.table_start),
    )
    return {
        "attribute": [place[columns[c]] if asks else None for c, asks in asked],
        "threshold": _known(tests.threshold),
        "children": children,
        "missing": tests.missing.tolist(),
        "table": {
            str(k): np.reshape(tables[k], (-1, len(children[k]))).tolist()
            for k in np.flatnonzero(tests.kind == NOMINAL).tolist()
        },
    }


def _split(values, start):
    """Lists of the values between each start and the next."""
    return [part.tolist() for part in np.split(values, start[1:-1])]


def _known(values):
    """Values as a list, None for NaN."""
    return [None if np.isnan(value) else value for value in values.tolist()]


def _base64(values):
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode()


_WRITERS = {
    KernelExpert: _write_kernel,
    KeptTreeClassifier: _write_pool,
    MarginExpert: _write_margin,
    MarginTreeClassifier: _write_expert,
    SmoothedTreeClassifier: _write_leaves,
    SoftExpert: _write_soft,
    SoftTreeClassifier: _write_expert,
}
