"""Explain one case: collect the reasons for a decision in a dict."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from keeptree import __version__
from keeptree.data.labels import label_codes, plain
from keeptree.explanation.constraints import observed_grid, read_constraints
from keeptree.explanation.contributions import collect_contributions
from keeptree.explanation.nearest_change import find_changes
from keeptree.explanation.path import collect_path, distance_unit
from keeptree.explanation.story_html import story_html
from keeptree.explanation.story_text import rule_note, story_markdown, story_text
from keeptree.explanation.subject import read_given, resolve
from keeptree.explanation.unseen import unseen_labels, with_labels
from keeptree.geometry.metric import Metric
from keeptree.notebook import class_slots
from keeptree.probability.answers import is_second_opinion
from keeptree.text import clean
from keeptree.tree import LEAF

SCHEMA = 1  # version of the dict; incompatible changes increase it
CONFIDENCE = 0.9  # confidence of intervals


def explain(
    model: Any,
    x: Any,
    *,
    near: float = 0.2,
    X: ArrayLike | None = None,
    metric: Literal["standard", "minmax"] | Metric | None = None,
    **constraints: Any,
) -> "Story":
    """Explain one case: the reasons for the decision, its probability and what would change it.

    Parameters
    ----------
    model : fitted model or Tree
        A KeepTree classifier, a fitted scikit-learn tree or a :class:`~keeptree.Tree`. The tree
        decides; the model gives the probability.
    x : array-like, dict or data frame
        One case: a row, a dict by column, or a table with one row.
    near : float, default=0.2
        Maximum distance from the other side of a test, in the metric, to count as near.
    X : array-like or data frame, optional
        Sample that defines the range and scale of the attributes. A tree without a model needs it
        to measure distances; KeepTree classifiers store this information.
    metric : {"standard", "minmax"} or Metric, optional
        Metric of the distances; by default the model's own, or ``"standard"``.
    **constraints
        Constraints on the nearest change: ``target``, ``fixed``, ``bounds``, ... as in
        :func:`~keeptree.nearest_change`.

    Returns
    -------
    story : Story
        Prints as text and displays as HTML in a notebook; ``to_dict()`` returns the data.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import keeptree as kt
    >>> data = load_breast_cancer(as_frame=True)
    >>> X, y = data.data, data.target_names[data.target]
    >>> tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, y)
    >>> model = kt.DistanceKernelClassifier(tree).fit(X, y)
    >>> story = kt.explain(model, X.iloc[3])
    >>> print(story.text.splitlines()[0])
    The tree decides malignant. Our estimate for malignant: 41 in 100 (the tree's own: over 99 in
    100).
    >>> story.to_dict()["second_opinion"]["class"]
    'benign'
    """
    subject = resolve(model, X, metric)
    names = getattr(model, "feature_names_in_", subject.tree.feature_names)
    rows, single = read_given(subject.tree, x, None if names is None else tuple(names))
    if subject.transformers and single and names is not None:
        rows = _named(rows, names)
    encoded = subject.encode(rows)
    if len(encoded) != 1:
        raise ValueError(
            f"explain takes one case, but x has {len(encoded)} rows; give one of them."
        )
    labels = {} if subject.transformers else unseen_labels(subject.tree, rows, encoded, [0])
    unseen = labels.get(0, {})
    return Story(_collect(subject, encoded, near, unseen, constraints))


class Story:
    """The explanation of one case.

    Parameters
    ----------
    data : dict
        Result of :meth:`to_dict`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = kt.SmoothedTreeClassifier(kt.C45Classifier(max_depth=2)).fit(X, y)
    >>> story = kt.explain(model, X.iloc[0])
    >>> story
    Story(decision=0, model='SmoothedTreeClassifier')
    >>> story.to_dict()["decision"]
    {'class': 0, 'index': 0}
    >>> print(story.text.splitlines()[0])
    The tree decides target = 0. Our estimate for target = 0: 96 in 100 (the tree's own: ...).
    """

    def __init__(self, data):
        self._data = data

    def to_dict(self) -> dict[str, Any]:
        """Return the story as JSON-compatible values.

        Returns
        -------
        data : dict
            ``decision``: label and index of the class that the tree decides. ``model_decision``:
            the same for the model, with its ``rule``, ``"cost"`` or ``"probability"``; None if the
            model follows the tree. ``classes``: the labels, and ``names``: their display names.
            ``probability``: one number per class, by the ``tree`` (the proportions of the leaf)
            and by the ``model`` (None for a tree without a model). ``second_opinion``: None, or the
            class that the model finds more probable.
            ``interval``: None, or the ``ends`` of the interval of each class, its ``kind``
            (``"case"`` or ``"calibration"``) and its ``confidence``, as in ``predict_interval``.
            ``path``: for each test ``node``, ``attribute``, ``value`` (None if missing), ``test``,
            ``threshold``, ``margin`` (value minus threshold), ``distance`` (in the metric, to the
            other side of the test), ``near``, ``share`` (of the case that follows this path) and
            ``text``. ``leaves``: leaves of the case, with shares and training counts. ``distance``
            to the decision boundary in ``unit``. ``contributions``: what raised or lowered the
            probability, in log-odds of the decided class, with the ``start`` first. ``change``: the
            result of :meth:`~keeptree.explanation.change.NearestChange.to_dict`. ``locked``: names
            of the columns in ``fixed``. ``trace``: steps of ConfDTree. ``notes``: what is left out,
            and why.
        """
        return self._data

    @property
    def text(self) -> str:
        """The story as plain text."""
        return story_text(self._data)

    @property
    def markdown(self) -> str:
        """The story as Markdown."""
        return story_markdown(self._data)

    @property
    def html(self) -> str:
        """The story as an HTML fragment with its own style; all data are escaped."""
        return story_html(self._data)

    def __str__(self):
        return self.text

    def __repr__(self):
        decision = self._data["decision"]["class"]
        return f"Story(decision={decision!r}, model={self._data['model']!r})"

    def _repr_html_(self):
        return self.html

    def _repr_markdown_(self):
        return self.markdown


def _named(rows, names):
    """Return rows as a data frame, because pipeline steps may select columns by name."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        return rows
    frame = pd.DataFrame(rows, columns=list(names))
    # A missing value looks like a number, which an encoder fitted to text does not accept.
    return frame.astype(dict.fromkeys(frame.columns[frame.isna().all()], object))


def _collect(subject, encoded, near, unseen, constraints):
    tree, row = subject.tree, encoded[0]
    label = int(tree.decide(encoded)[0])
    leaves = _leaves(tree, encoded)
    own = tree.mix_proportions(encoded)[0].tolist()
    ours = subject.probabilities(encoded)[0].tolist() if subject.has_own_probability else None
    notes, change = [], None
    if subject.transformers:
        notes.append("The tests use the columns that the pipeline's steps produce.")
    elif subject.metric is None or subject.observed is None:
        notes.append("Give X, a sample, to measure distances and to find the nearest change.")
    else:
        found = find_changes(subject, encoded, **constraints)[0]
        change = with_labels(found, unseen).to_dict()
    notes += rule_note(_rule(subject))
    fixed = read_constraints(tree, None, fixed=constraints.get("fixed", ())).fixed
    return {
        "schema": SCHEMA,
        "version": __version__,
        "model": type(subject.inner).__name__,
        "classes": [plain(value) for value in tree.classes.tolist()],
        "names": list(subject.class_names),
        "slots": class_slots(tree.counts[0]),
        "decision": {"class": plain(tree.classes.tolist()[label]), "index": label},
        "model_decision": _model_decision(subject, encoded),
        "always": bool((tree.label[tree.kind == LEAF] == label).all()),
        "probability": {"tree": own, "model": ours},
        "interval": _interval(subject, encoded, ours),
        "second_opinion": _second_opinion(tree, label, ours),
        "values": _values(subject, row, unseen),
        "path": collect_path(subject, row, leaves[0]["node"], near, unseen),
        "near": float(near),
        "leaves": leaves,
        "distance": _distance(subject, encoded),
        "unit": None if subject.metric is None else distance_unit(subject.metric),
        "contributions": collect_contributions(subject, encoded, label),
        "change": change,
        "locked": [clean(tree.feature_name(f)) for f in sorted(fixed)],
        "trace": _trace(subject, encoded),
        "notes": notes,
    }


def _rule(subject):
    """Return what decides: ``"tree"``, ``"cost"`` or ``"probability"``."""
    return "tree" if subject.inner is subject.tree else getattr(subject.inner, "decide", "tree")


def _model_decision(subject, encoded):
    """Return the model's own decision and the rule it follows; None if it follows the tree."""
    rule = _rule(subject)
    if rule == "tree":
        return None
    label = subject.inner.predict_encoded(encoded)[0]
    index = int(label_codes([label], subject.tree.classes)[0])
    found = {"class": plain(label), "index": index, "rule": rule}
    if rule == "cost":
        p = subject.inner.predict_proba_encoded(encoded)[0]
        found["costs"] = (p @ subject.inner.cost_matrix).tolist()
    return found


def _leaves(tree, encoded):
    """Return the leaves of a case, the largest share first."""
    weights = tree.route_shares(encoded)
    order = np.argsort(-weights.data, kind="stable")
    return [
        {
            "node": int(weights.indices[k]),
            "share": float(weights.data[k]),
            "class": int(tree.label[weights.indices[k]]),
            "cases": float(tree.weight[weights.indices[k]]),
            "counts": tree.counts[weights.indices[k]].tolist(),
        }
        for k in order.tolist()
    ]


def _interval(subject, encoded, ours):
    """Return the interval of each probability, or None if the model has none."""
    kind = getattr(subject.inner, "interval_kind", None)
    if ours is None or kind is None:
        return None
    ends = subject.inner.intervals_encoded(encoded, np.array([ours]), CONFIDENCE)[0]
    return {"kind": kind, "confidence": CONFIDENCE, "ends": ends.tolist()}


def _second_opinion(tree, label, ours):
    """Return the class that the model finds more probable than the tree's decision, or None."""
    if ours is None or not is_second_opinion(np.array([ours]), np.array([label]))[0]:
        return None
    other = int(np.argmax(ours))
    return {
        "class": plain(tree.classes.tolist()[other]),
        "index": other,
        "probability": ours[other],
    }


def _values(subject, row, unseen):
    """Return the values of the case in the columns that the model reads."""
    tree = subject.tree
    decoded = tree.decode(row[None])[0]
    return [
        {
            "attribute": clean(tree.feature_name(f)),
            "value": None if np.isnan(row[f]) else unseen.get(f, plain(decoded[f])),
        }
        for f in getattr(subject.inner, "read_columns", tree.tested).tolist()
    ]


def _distance(subject, encoded):
    """Return the distance to the nearest possible case with another decision, or None."""
    if subject.metric is None:
        return None
    steps = {} if subject.observed is None else observed_grid(subject.observed)
    cost = float(find_changes(subject, encoded, within_data=False, steps=steps).cost[0])
    return cost if np.isfinite(cost) else None


def _trace(subject, encoded):
    """Return the trace of a ConfDTree model; None for other models."""
    if not hasattr(subject.inner, "trace_encoded"):
        return None
    if len(subject.inner.estimated_rows(encoded)):
        return None  # a case that followed several paths has no single trace
    trace = subject.inner.trace_encoded(encoded)[0]
    return {"changed": bool(trace.changed), "text": str(trace)}
