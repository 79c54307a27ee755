"""Gather the results of a model on held-out cases in a plain dict.

Drawing is left to :mod:`keeptree.reporting.render` or any other program that reads the dict.
"""

import warnings
from dataclasses import replace

import numpy as np

from keeptree.data.labels import class_names, label_codes
from keeptree.explanation.constraints import read_constraints
from keeptree.explanation.subject import boundary_of, resolve
from keeptree.importers import keep_with_steps
from keeptree.probability.estimator import is_kept
from keeptree.probability.methods import name_of
from keeptree.reporting.attributes import collect_attributes
from keeptree.reporting.cases import collect_cases
from keeptree.reporting.distances import collect_distances, find_kernel
from keeptree.reporting.facts import collect_check, collect_decisions, collect_rule
from keeptree.reporting.held_out import hold_out_cases
from keeptree.reporting.methods import check_same_tree, measure_methods
from keeptree.reporting.quality import collect_quality
from keeptree.reporting.summary import summarise, tell_facts
from keeptree.reporting.tree_data import collect_classes, collect_tree, fingerprint
from keeptree.reporting.view import collect_view
from keeptree.reporting.whatif import collect_whatif, tell_missing_model
from keeptree.reporting.words import shown_class, tell_neighbours
from keeptree.text import class_text, clean

SCHEMA = 3  # version of the dict, raised by incompatible changes


def collect(
    model,
    X=None,
    y=None,
    *,
    title,
    about,
    positive=None,
    fixed=(),
    rows=True,
    others=None,
    grown=False,
):
    """Evaluate a model on held-out cases and gather everything for a page.

    Parameters
    ----------
    model : fitted KeepTree classifier with ``predict_proba``
        Model to report on.
    X, y : array-like or data frame, optional
        Held-out cases and their true classes, unused in training.
    title : str
        Title of the page.
    about : dict of str to str
        Origin and split of the data.
    positive, fixed, rows, others
        As in :func:`keeptree.report`.
    grown : bool, default=False
        Whether the tree was grown for this report, rather than given.

    Returns
    -------
    data : dict
        JSON-compatible values.
    """
    tree, others = model.tree_, {} if others is None else others
    decides = getattr(model, "decide", "tree")
    check_same_tree(others, tree)
    fixed = read_constraints(tree, None, fixed=fixed).fixed
    boundary = boundary_of(model)
    held = None if X is None else hold_out_cases(model, boundary, X, y)
    attributes = collect_attributes(model, None if held is None else held.rows)
    data = {
        "schema": SCHEMA,
        "title": clean(title),
        "model": type(model).__name__,
        "method": name_of(model),
        "classes": collect_classes(tree, class_names(model, tree.classes)),
        "positive": _positive(tree, positive),
        "tree": {
            **collect_tree(tree),
            "unchanged": _is_unchanged(model),
            "grown": grown or not is_kept(model.estimator),
        },
        "attributes": attributes,
        "locked": [at for at, item in enumerate(attributes) if item["column"] in fixed],
        "columns": {"count": tree.n_features, "named": tree.feature_names is not None},
        "decides": decides,
        "costs": model.cost_matrix.tolist() if decides == "cost" else None,
        "n_others": tree.n_features - len(attributes),
        "computes": not tree.has_oblique,
        "whatif": collect_whatif(model, boundary, attributes, rows),
        "rows": rows,
        "n_test": 0 if held is None else len(held),
        "decisions": None,
        "by_rule": None,
        "quality": None,
        "methods": None,
        "distance": None,
        "check": None,
        "naming": None if held is None else held.naming,
        "cases": [],
        "selected": None,
        "view": None,
        "distances": [],
        "no_model": tell_missing_model(model, rows),
    }
    if held is not None:
        data |= _tell_cases(held, model, data, fixed)
    if held is not None and held.truth is not None:
        data |= _measure(held, model, data, others)
        _tell_such_cases(data)
        kernel = find_kernel((model, *others.values()), boundary)
        data["distance"] = collect_distances(held, data["positive"], kernel, rows)
    data["facts"] = tell_facts(data)
    data["summary"] = summarise(data)
    data["about"] = {clean(key): clean(value) for key, value in about.items()}
    return data


def _tell_cases(held, model, data, fixed):
    """Collect what is known without the true classes."""
    columns, rows = [attribute["column"] for attribute in data["attributes"]], data["rows"]
    finite = held.distance[np.isfinite(held.distance)]
    first, shows = int(held.by_risk[0]), rows and columns
    unseen = held.unseen([first]).get(first)
    return {
        "distances": np.quantile(finite, np.linspace(0, 1, 101)).tolist() if len(finite) else [],
        "check": collect_check(held),
        "cases": collect_cases(held, columns, rows),
        "selected": 0 if shows else None,
        "view": collect_view(resolve(model), held.rows[first], data["positive"], fixed, unseen)
        if shows
        else None,
    }


def _measure(held, model, data, others):
    """Evaluate decisions and probabilities."""
    positive = data["positive"]
    return {
        "decisions": collect_decisions(held),
        "by_rule": collect_rule(held, model),
        "quality": collect_quality(held, positive),
        "methods": measure_methods(held, data["method"], others, positive) if others else None,
    }


def _tell_such_cases(data):
    """Add the outcomes of cases with similar estimates to the view of a case."""
    if data["view"] is None:
        return
    p = data["cases"][data["selected"]]["p"]
    shown = shown_class(p, data["positive"])
    bins = [item for item in data["quality"]["by_class"] if item["class"] == shown]
    label = class_text(data["classes"][shown]["label"])
    data["view"]["such"] = tell_neighbours(p[shown], label, bins[0]["ours"]["bins"] if bins else [])


def _is_unchanged(model):
    """Whether the model's tree equals the given one; always true for a grown tree."""
    if not is_kept(model.estimator):
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ignoring counts, which fit may update
        given, _ = keep_with_steps(model.estimator)
    if given.counts.shape != model.tree_.counts.shape:
        return False
    return fingerprint(replace(given, counts=model.tree_.counts)) == fingerprint(model.tree_)


def _positive(tree, positive):
    """Index of the displayed class: the requested one, the rarer of two, or the most frequent."""
    if positive is not None:
        return int(label_codes([positive], tree.classes)[0])
    counts = tree.counts[0]
    if len(counts) != 2:
        return int(counts.argmax())
    return int(counts[1] <= counts[0])
