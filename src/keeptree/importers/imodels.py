"""Read imodels classifiers that consist of one tree."""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from keeptree.importers.members import choose_tree, forest_tree
from keeptree.importers.scikit_learn import classifier_tree
from keeptree.importers.sketch import Sketch, just_below


def wrapped_tree(model, *, tree=None):
    """Return the tree of a model that wraps a scikit-learn tree or forest."""
    inner = getattr(model, "estimator_", None)
    if inner is None:
        raise ValueError(
            f"This {type(model).__name__} is not fitted, or has no tree inside; fit it first."
        )
    if hasattr(inner, "estimators_"):
        return forest_tree(inner, tree=tree)
    choose_tree(tree, 1)
    _check_classifies(model, inner)
    kept = classifier_tree(inner)
    return replace(kept, source={**kept.source, "model": type(model).__name__})


def shrunk_tree(model, *, tree=None):
    """Return the tree of hierarchical shrinkage, with shrunk counts."""
    kept = wrapped_tree(model, tree=tree)
    lost = "Hierarchical shrinkage has replaced the class counts by shrunk probabilities"
    warnings.warn(f"{lost}; give X and y to count them.", stacklevel=4)
    return replace(kept, source={**kept.source, "counts": "shrunk probabilities", "lost": lost})


def tao_tree(model, *, tree=None):
    """Return the tree of alternating optimization (TAO), without its outdated class counts."""
    check_is_fitted(model, "model")
    choose_tree(tree, 1)
    _check_classifies(model, model.model)
    kept = classifier_tree(model.model)
    lost = "TAO moves the tests of a tree but does not update its class counts"
    warnings.warn(f"{lost}; give X and y to count them.", stacklevel=4)
    source = {**kept.source, "model": type(model).__name__, "lost": lost}
    return replace(
        kept,
        counts=np.zeros_like(kept.counts),
        classes=model.classes_,
        declared=None,
        feature_names=getattr(model, "feature_names_in_", None),
        source=source,
    )


def optimal_tree(model, *, tree=None):
    """Return the tree of a ``FastSmallTreeClassifier``, which compares float64 numbers."""
    check_is_fitted(model, "estimator_")
    choose_tree(tree, 1)
    kept = classifier_tree(model.estimator_)
    counts, label = np.zeros_like(kept.counts), np.zeros(kept.n_nodes, dtype=np.int64)
    for node, rule in zip(kept.preorder, _preorder(model.tree_), strict=True):
        if "prediction" in rule:
            counts[node], label[node] = rule["dist"], int(rule["prediction"])
    for nodes in kept.levels[:0:-1]:
        np.add.at(counts, kept.parent[nodes], counts[nodes])
    inner = kept.kind != 0
    label[inner] = counts[inner].argmax(axis=1)
    return replace(
        kept,
        counts=counts,
        label=label,
        compare_dtype="float64",
        source={**kept.source, "model": type(model).__name__},
    )


def _preorder(rule):
    """Return nested rules in preorder; the left child is the false side."""
    stack = [rule]
    while stack:
        rule = stack.pop()
        yield rule
        if "prediction" not in rule:
            stack += [rule["true"], rule["false"]]


def c45_tree(model, *, tree=None):
    """Return the Sketch of a ``C45TreeClassifier``, whose tree is an XML document."""
    check_is_fitted(model, "dom_")
    choose_tree(tree, 1)
    sketch = _empty(model)
    stack = [(0, model.root)]
    while stack:
        node, element = stack.pop()
        tests = [child for child in element.childNodes if child.nodeName != "#text"]
        if not tests:
            sketch.label[node] = _c45_class(element, len(model.classes_))
            continue
        if [test.getAttribute("flag") for test in tests] != ["l", "r"]:
            raise ValueError(
                "A test of this C45TreeClassifier does not divide numbers in two, which a Tree "
                "cannot represent."
            )
        column = model.feature_names.index(tests[0].nodeName)
        threshold = just_below(float(tests[0].getAttribute("feature")))
        stack += zip(sketch.numeric(node, column, threshold), tests, strict=True)
    return sketch


def shrunk_c45_tree(model, *, tree=None):
    """Return the Sketch of a C4.5 tree inside hierarchical shrinkage."""
    sketch = c45_tree(model.estimator_, tree=tree)
    sketch.source["model"] = type(model).__name__
    return sketch


def _c45_class(leaf, n_classes):
    """Return the class of a leaf, stored as its index or, for two classes, as a probability."""
    value = float(leaf.firstChild.nodeValue)
    if n_classes == 2:
        return int(value > 0.5)
    # imodels decides for the first class if the share of the leaf was rounded to 0.
    return int(value) if float(leaf.getAttribute("p")) > 0 else 0


def rule_list(model, *, tree=None):
    """Return the Sketch of a ``GreedyRuleListClassifier`` or ``OneRClassifier``: a chain of tests.

    A rule applies if ``x >= cutoff``; if it is flipped, it applies if ``x < cutoff``.
    """
    check_is_fitted(model, "rules_")
    choose_tree(tree, 1)
    sketch, node = _empty(model), 0
    *rules, last = model.rules_
    for rule in rules:
        below, above = sketch.numeric(node, rule["index_col"], just_below(rule["cutoff"]))
        leaf, node = (below, above) if rule["flip"] else (above, below)
        _answer(sketch, leaf, rule["val_right"], rule["num_pts_right"])
    _answer(sketch, node, last["val"], last["num_pts"] - last.get("num_pts_right", 0))
    sketch.source["counts"] = "the rules"
    return sketch


def frugal_tree(model, *, tree=None):
    """Return the Sketch of a ``FastFrugalTreeClassifier``: each test but the last has one exit.

    A rule applies if ``x > cutoff``; if it is flipped, it applies if ``x <= cutoff``.
    """
    check_is_fitted(model, "rules_")
    choose_tree(tree, 1)
    sketch, node = _empty(model), 0
    *rules, last = model.rules_
    for rule in rules:
        below, above = sketch.numeric(node, rule["index_col"], rule["cutoff"])
        leaf, node = (below, above) if rule["flip"] else (above, below)
        sketch.label[leaf] = int(rule["val_right"])
    sketch.label[node] = int(last["val"])
    return sketch


def _answer(sketch, leaf, share, cases):
    """Set the class counts of a leaf, from its number of cases and share of the second class."""
    sketch.label[leaf] = int(share > 0.5)
    second = 0.0 if cases == 0 else float(np.rint(share * cases))
    sketch.counts[leaf] = np.array([cases - second, second])


def _empty(model):
    names = getattr(model, "feature_names_in_", None)
    return Sketch(
        int(model.n_features_in_) if names is None else tuple(map(str, names)),
        classes=list(model.classes_),
        source={"model": type(model).__name__, "library": "imodels"},
    )


def _check_classifies(model, inner):
    if type(inner).__name__.endswith("Regressor"):
        raise ValueError(f"This {type(model).__name__} predicts numbers; keep a classifier.")
