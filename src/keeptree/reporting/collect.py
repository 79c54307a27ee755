"""From a fitted model and held-out cases to a plain dict of numbers and text.

Nothing here draws: :mod:`keeptree.reporting.render` reads the dict, and so can any other program.
"""

import numpy as np

from keeptree.data.labels import label_codes
from keeptree.explanation.constraints import Constraints
from keeptree.explanation.nearest_change import NearestChanges
from keeptree.explanation.search import Search
from keeptree.explanation.subject import resolve
from keeptree.explanation.wording import join
from keeptree.geometry.boundary import Boundary
from keeptree.geometry.rows import leaves_of
from keeptree.importers import keep
from keeptree.probability.base import is_kept
from keeptree.probability.kept import KeptTreeClassifier
from keeptree.probability.smoothing import leaf_average, smoothed_nodes
from keeptree.reporting.attributes import collect_attributes
from keeptree.reporting.cases import choose_first, collect_cases
from keeptree.reporting.curve import collect_curves, find_kernel
from keeptree.reporting.distances import collect_distances
from keeptree.reporting.methods import check_same_tree, measure_methods
from keeptree.reporting.quality import auc_score, compare, reliability, roc_points, wilson
from keeptree.reporting.summary import summarise
from keeptree.reporting.tree_data import collect_classes, collect_tree, fingerprint
from keeptree.reporting.whatif import collect_whatif, encode_values
from keeptree.text import clean

SCHEMA = 2  # of the dict: a change that breaks its readers raises it


def collect(model, X=None, y=None, *, title, about, positive=None, rows=True, others=None):
    """Measure a model on held-out cases and gather everything a page needs.

    Parameters
    ----------
    model : fitted KeepTree classifier with ``predict_proba``
        Its tree is kept.
    X : array-like or data frame, optional
        Held-out cases: neither the tree nor the model has seen them.
    y : array-like, optional
        Their true classes.
    title : str
        Of the page.
    about : dict of str to str
        Where the data come from, how they were split.
    positive : label, optional
        With two classes, the one whose probability is shown; default the rarer.
    rows : bool, default=True
        Whether the file may hold the values of single cases.
    others : dict of str to fitted classifier, optional
        Other methods on the same tree, to measure beside the model.

    Returns
    -------
    data : dict
        Only dicts, lists, numbers, text, booleans and None.
    """
    tree, others = model.tree_, {} if others is None else others
    check_same_tree(others, tree)
    matrix = None if X is None else resolve(model).encode(X)
    attributes = collect_attributes(tree, model.observed_, matrix)
    boundary = boundary_of(model)
    data = {
        "schema": SCHEMA,
        "title": clean(title),
        "model": type(model).__name__,
        "classes": collect_classes(tree),
        "positive": _positive(tree, positive),
        "tree": {**collect_tree(tree), "unchanged": _is_unchanged(model)},
        "attributes": attributes,
        "n_others": tree.n_features - len(attributes),
        "whatif": collect_whatif(model, boundary, attributes, rows),
        "rows": rows,
        "n_test": 0 if X is None else len(matrix),
        "decisions": None,
        "quality": None,
        "methods": None,
        "distance": None,
        "first": {"near": 0, "opinion": 0, "both": 0},
        "naming": None if X is None else _naming(X),
        "cases": [],
        "selected": None,
        "distances": [],
        "no_model": _no_model(model, rows),
    }
    if X is not None:
        data.update(_measure(data, model, boundary, X, matrix, y, others))
    data["summary"] = summarise(data)
    data["about"] = {clean(key): clean(value) for key, value in about.items()}
    return data


def boundary_of(model):
    """Return the boundary distances are measured to: the model's own, or one by its sample."""
    if hasattr(model, "boundary_"):
        return model.boundary_
    tree = model.tree_
    nothing = np.empty((0, tree.n_features))
    return Boundary(tree).fit_encoded(tree, nothing, observed=model.observed_)


def _measure(data, model, boundary, X, matrix, y, others):
    tree = model.tree_
    order = label_codes(tree.classes, model.classes_)
    ours, leaves = model.predict_proba(X)[:, order], tree.mix_proportions(matrix)
    decision = tree.decide(matrix)
    inside = -boundary.class_distances(matrix)
    distance = inside[np.arange(len(matrix)), decision]
    truth = None if y is None else label_codes(np.asarray(y), tree.classes)
    finite = distance[np.isfinite(distance)]
    near, opinion = choose_first(ours, decision, distance)
    values = encode_values(matrix, data["attributes"]) if data["rows"] else None
    found = {
        "distances": np.quantile(finite, np.linspace(0, 1, 101)).tolist() if len(finite) else [],
        "first": {
            "near": int(near.sum()),
            "opinion": int(opinion.sum()),
            "both": int((near & opinion).sum()),
        },
        "cases": collect_cases(
            _names(X, len(matrix)),
            ours,
            decision,
            leaves_of(tree, matrix),
            distance,
            np.isnan(matrix[:, [a["column"] for a in data["attributes"]]]).any(axis=1),
            truth,
            near,
            opinion,
            values,
            lambda held: _tell_changes(model, matrix[held], data["rows"]),
        ),
    }
    if data["rows"]:
        found["selected"] = next(
            (at for at, case in enumerate(found["cases"]) if case["opinion"]), 0
        )
    if truth is None:
        return found
    right = int(np.count_nonzero(decision == truth))
    low, high = wilson(right, len(truth))
    found["decisions"] = {"right": right, "accuracy": right / len(truth), "low": low, "high": high}
    found["quality"] = _quality(ours, leaves, truth, data["positive"])
    if others:
        found["methods"] = measure_methods(
            data["model"], ours, leaves, others, X, truth, data["positive"]
        )
    found["distance"] = collect_distances(distance, decision != truth)
    if found["distance"]:
        kernel = find_kernel((model, *others.values()), boundary)
        smoothed = leaf_average(tree, matrix, smoothed_nodes(tree, "laplace"))
        classes = _shown_classes(truth, data["positive"], ours.shape[1])
        found["distance"]["by_class"] = collect_curves(
            classes, inside, ours, smoothed, truth, decision, kernel, data["rows"]
        )
    return found


def _tell_changes(model, matrix, rows):
    """What has to change in each row; nothing where values must not be told."""
    if not rows:
        return [""] * len(matrix)
    return [
        join([str(move) for move in change.changes]) if change.changes else "–"
        for change in _nearest(model, matrix)
    ]


def _nearest(model, matrix):
    """Nearest changes of encoded rows, as :func:`keeptree.nearest_change` finds them."""
    subject = resolve(model)
    within = frozenset(range(subject.tree.n_features))
    whole = frozenset(np.flatnonzero(subject.observed.whole).tolist())
    search = Search(subject, Constraints(within=within, whole=whole))
    return NearestChanges(search, matrix, np.full(len(matrix), -1), 1, model.n_jobs)


def _no_model(model, rows):
    """Why the page shows no probability of a moved case."""
    if not rows:
        return (
            "The probability of a moved case needs training rows, which were kept out of this file."
        )
    if isinstance(model, KeptTreeClassifier):
        return (
            "The probability of a moved case needs training rows, which are too many for this file."
        )
    return f"The page does not compute the probability of a moved case by {type(model).__name__}."


def _quality(ours, leaves, truth, positive):
    """Metrics of all classes, and the curves of each class that occurs."""
    return {
        **compare(ours, leaves, truth, positive),
        "impossible": int((leaves[np.arange(len(truth)), truth] <= 0).sum()),
        "by_class": [
            {
                "class": c,
                "cases": int((truth == c).sum()),
                **{
                    name: {
                        "auc": auc_score(p[:, c], truth == c),
                        "roc": roc_points(p[:, c], truth == c),
                        "bins": reliability(p[:, c], truth == c),
                    }
                    for name, p in (("ours", ours), ("leaves", leaves))
                },
            }
            for c in _shown_classes(truth, positive, ours.shape[1])
            if 0 < (truth == c).sum() < len(truth)
        ],
    }


def _shown_classes(truth, positive, n_classes):
    """Classes that have curves: of two the positive one, of more all that occur."""
    return [positive] if n_classes == 2 else np.unique(truth).tolist()


def _is_unchanged(model):
    """Whether the model still decides by the very tree it was given; a grown one is its own."""
    if not is_kept(model.estimator):
        return True
    return fingerprint(keep(model.estimator)) == fingerprint(model.tree_)


def _positive(tree, positive):
    """Index of the class shown: the one asked for, else the rarer of two, else the commonest."""
    if positive is not None:
        return int(label_codes([positive], tree.classes)[0])
    counts = tree.counts[0]
    if len(counts) != 2:
        return int(counts.argmax())
    return int(counts[1] <= counts[0])


def _names(X, n):
    """Names of the cases: a frame's index, else their row numbers."""
    index = _index(X)
    return [str(i) for i in (range(n) if index is None else index)]


def _naming(X):
    """What the names of the cases are, in one sentence."""
    index = _index(X)
    if index is None:
        return "A case is named by its position in X, counted from 0."
    if index.name is None:
        return "A case is named by its label in the index of the data frame."
    return f"A case is named by its {clean(index.name)}."


def _index(X):
    index = getattr(X, "index", None)
    return None if callable(index) else index
