"""Oblique trees of obliquetree and treeple: tests on weighted sums of columns."""

from importlib.metadata import PackageNotFoundError, version

import numpy as np
from sklearn.utils.validation import check_is_fitted

from keeptree.data.columns import REFUSED
from keeptree.importers.sketch import Sketch, just_below
from keeptree.tree import ERROR


def obliquetree_model(model):
    """Return the Sketch of a fitted ``obliquetree`` Classifier or Regressor.

    obliquetree adds the terms in float64, in the order in which it lists them. A missing value
    makes the sum NaN, which is not below the threshold, so the row goes to the second child.
    """
    from obliquetree.utils import export_tree

    document = export_tree(model)
    params, width = document["params"], int(document["params"]["n_features"])
    known = getattr(model, "_categories", None) or {}
    categories = tuple(_whole(known[f]) if f in known else None for f in range(width))
    sketch = Sketch(width, categories, source=_source(model, "obliquetree"))
    sketch.unknown = dict.fromkeys(known, REFUSED)
    if not params["task"]:
        sketch.classes = range(int(params["n_classes"]))
    stack = [(0, document["tree"])]
    while stack:
        node, found = stack.pop()
        _give_values(sketch, node, found, classifies=not params["task"])
        if not found["is_leaf"]:
            first, second = _split(sketch, node, found, known)
            stack += [(second, found["right"]), (first, found["left"])]
    if params["task"]:
        _add_up(sketch)
    return sketch


def _split(sketch, node, found, known):
    """Set the test of a node from obliquetree; return its children."""
    if found["is_oblique"]:
        terms = zip(found["features"], found["weights"], strict=True)
        terms = [(feature, weight) for feature, weight in terms if weight]
        return sketch.oblique(node, terms, found["threshold"], missing=1)
    feature, missing = found["feature_idx"], 0 if found["missing_go_left"] else 1
    if "category_left" in found:
        left = set(found["category_left"])
        goes = [0 if label in left else 1 for label in _whole(known[feature])]
        return sketch.nominal(node, feature, goes, ERROR, 2)
    return sketch.numeric(node, feature, found["threshold"], missing)


def _give_values(sketch, node, found, classifies):
    """Set the class counts of a node, or its weight and mean, from cases and fractions."""
    if not classifies:
        variance = max(float(found["impurity"]), 0.0)
        sketch.values[node] = float(found["n_samples"]), float(found["value"]), variance
        return
    second = found.get("value")
    shares = found["values"] if second is None else [1 - second, second]
    counts = np.array(shares) * found["n_samples"]
    whole = np.rint(counts)
    sketch.counts[node] = np.where(abs(counts - whole) < 1e-6, whole, counts)
    sketch.label[node] = int(np.argmax(shares))


def _add_up(sketch):
    """Compute the weights of the inner nodes of a regression tree as sums over their children."""
    for node in reversed(range(len(sketch.kind))):
        if sketch.children[node]:
            weight = sum(sketch.values[child][0] for child in sketch.children[node])
            sketch.values[node] = (weight, *sketch.values[node][1:])


def _whole(labels):
    """Return category codes as integers."""
    return tuple(int(label) for label in labels)


def treeple_classifier(model):
    """Return the Sketch of a fitted oblique tree classifier of ``treeple``.

    treeple adds the terms in float32, in the order in which the columns were drawn. A loaded model
    adds in column order, because the original order is not stored, and so does the Tree. For sums
    of up to two columns, both orders give the same result.
    """
    check_is_fitted(model)
    if model.n_outputs_ != 1:
        raise ValueError(
            f"The tree has {model.n_outputs_} outputs, but a kept tree has one; fit one tree for "
            "each output."
        )
    nodes, weights = model.tree_, model.tree_.get_projection_matrix()
    names = getattr(model, "feature_names_in_", None)
    sketch = Sketch(
        model.n_features_in_ if names is None else tuple(names),
        classes=model.classes_.tolist(),
        compare_dtype="float32",
        source=_source(model, "treeple"),
    )
    fractions = nodes.value[:, 0, : len(model.classes_)]
    stack = [(0, 0)]
    while stack:
        node, theirs = stack.pop()
        counts = fractions[theirs] * nodes.weighted_n_node_samples[theirs]
        whole = np.rint(counts)
        sketch.counts[node] = np.where(abs(counts - whole) < 1e-6, whole, counts)
        sketch.label[node] = int(np.argmax(fractions[theirs]))
        if nodes.children_left[theirs] >= 0:
            below = nodes.children_left[theirs], nodes.children_right[theirs]
            children = _project(sketch, node, weights[theirs], float(nodes.threshold[theirs]))
            stack += list(zip(children, below, strict=True))[::-1]
    return sketch


def _project(sketch, node, weights, threshold):
    """Set the test of a node from a projection; return its children, that of small sums first."""
    columns = np.flatnonzero(weights).tolist()
    terms = [(f, float(weights[f])) for f in columns]
    if len(terms) == 1 and terms[0][1] == 1.0:
        return sketch.numeric(node, columns[0], threshold)
    # -x <= t means x >= -t, which is the second child of x < -t
    if len(terms) == 1 and terms[0][1] == -1.0:
        return sketch.numeric(node, columns[0], just_below(-threshold))[::-1]
    return sketch.oblique(node, terms, threshold)


def _source(model, library):
    try:
        made = f"{library} {version(library)}"
    except PackageNotFoundError:
        made = library
    return {"model": type(model).__name__, "library": made}
