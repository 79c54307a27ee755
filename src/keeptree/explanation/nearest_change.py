"""The smallest change of a case that alters the tree's decision, under constraints."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from keeptree.data.labels import plain
from keeptree.explanation.change import Move, NearestChange
from keeptree.explanation.change_html import changes_html
from keeptree.explanation.constraints import read_constraints
from keeptree.explanation.oblique_search import ObliqueSearch
from keeptree.explanation.search import Search, missing_of
from keeptree.explanation.subject import read_given, resolve
from keeptree.geometry.metric import Metric
from keeptree.geometry.rows import wanted_classes


def nearest_change(
    model: Any,
    x: Any,
    target: Any = None,
    *,
    fixed: Sequence[str | int] = (),
    bounds: Mapping[Any, Any] | None = None,
    increase_only: Sequence[str | int] = (),
    decrease_only: Sequence[str | int] = (),
    costs: Mapping[Any, Any] | None = None,
    steps: Mapping[Any, Any] | None = None,
    max_changes: int | None = None,
    n: int = 1,
    within_data: bool = True,
    X: ArrayLike | None = None,
    metric: Literal["standard", "minmax"] | Metric | None = None,
    n_jobs: int | None = None,
) -> Any:
    """Find the smallest change of a case that alters the tree's decision.

    The search is exact. Leaves are boxes and each constraint concerns one attribute, so the
    cheapest point of each leaf can be found attribute by attribute; the cheapest of these points is
    returned. The tree really decides differently there. The change describes the tree, not the
    world: it may be impossible to make, and making it may not help.

    Parameters
    ----------
    model : fitted model or Tree
        A KeepTree classifier, a fitted scikit-learn tree or a :class:`~keeptree.Tree`. The
        decision is always the tree's.
    x : array-like, dict or data frame
        One case (a row, or a dict by column) or a table of cases.
    target : label or array-like of shape (n_rows,), optional
        Desired class, or one per row of a table. By default any class other than the decision.
    fixed : list
        Columns that must not change, by name or index.
    bounds : dict, optional
        Column -> (low, high) of a changed value, None for an open end; for a nominal attribute, the
        list of allowed labels.
    increase_only, decrease_only : list
        Columns that must not decrease, or must not increase.
    costs : dict, optional
        Column -> factor on the cost of changing it, or, for a nominal attribute, a matrix of costs
        from each category (row) to each category (column).
    steps : dict, optional
        Column -> step of which a changed value must be a multiple (1 for integers), or a list of
        allowed values or categories.
    max_changes : int, optional
        Maximum number of attributes that may change.
    n : int, default=1
        Number of changes to find; those after the first are in ``alternatives``. Each ends in a
        different leaf, and none makes a cheaper change on the way.
    within_data : bool, default=True
        Whether changed values stay within the range, categories and precision of the training
        sample: integers stay integers, and a column with one decimal keeps one decimal (unless
        ``steps`` names the column).
    X : array-like or data frame, optional
        Sample that defines the range and scale of the attributes. Required for a tree without a
        model; KeepTree classifiers store this information.
    metric : {"standard", "minmax"} or Metric, optional
        Metric of the costs; by default the model's own, or ``"standard"``.
    n_jobs : int, optional
        Number of threads for a table of cases.

    Returns
    -------
    change : NearestChange or NearestChanges
        For a table, a sequence of changes with their costs and points as arrays.

    Notes
    -----
    Constraints apply to changed values only: a value that does not change may lie outside its
    bounds. Missing values stay missing. The cost is Euclidean, the square root of the sum of the
    squared costs of the attributes, as in :meth:`keeptree.Boundary.distance` with
    ``grid="observed"``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import keeptree as kt
    >>> data = load_breast_cancer(as_frame=True)
    >>> X, y = data.data, data.target_names[data.target]
    >>> model = kt.SmoothedTreeClassifier(DecisionTreeClassifier(max_leaf_nodes=8, random_state=0))
    >>> change = kt.nearest_change(model.fit(X, y), X.iloc[3])
    >>> print(change)
    Becomes benign if worst texture falls from 26.50 to 25.67 (−0.83), with nothing else changed.
    >>> round(change.cost, 3), change.changes[0].name
    (0.135, 'worst texture')
    >>> print(kt.nearest_change(model, X.iloc[3], fixed=["worst texture"]).changes[0])
    mean concave points falls from 0.1052 to 0.0540 (−0.0512)
    """
    subject = resolve(model, X, metric)
    if subject.transformers:
        raise ValueError(
            "The tree inside the pipeline tests transformed columns, so changes can only be "
            "measured in those; give kt.keep(pipeline, fold=False), the transformed row and X."
        )
    rows, single = read_given(subject.tree, x, subject.tree.feature_names)
    changes = find_changes(
        subject,
        subject.encode(rows),
        target,
        n=n,
        within_data=within_data,
        n_jobs=n_jobs,
        fixed=fixed,
        bounds=bounds,
        increase_only=increase_only,
        decrease_only=decrease_only,
        costs=costs,
        steps=steps,
        max_changes=max_changes,
    )
    return changes[0] if single else changes


def find_changes(
    subject, encoded, target=None, *, n=1, within_data=True, n_jobs=None, **constraints
):
    """Find the nearest changes of encoded rows; for the arguments see :func:`nearest_change`.

    Parameters
    ----------
    subject : Subject
        The model.
    encoded : ndarray of shape (n_rows, n_features)
        Cases encoded by ``subject.encode``.

    Returns
    -------
    changes : NearestChanges
        The nearest change of each row.
    """
    if subject.metric is None:
        raise ValueError(
            "A tree alone does not define the cost of a change; give X, a sample that defines the "
            "scale of the attributes, or metric=keeptree.Metric(scales=[...])."
        )
    if within_data and subject.observed is None:
        raise ValueError(
            "The range of the data is not known; give X, a sample, or within_data=False."
        )
    if not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n={n!r} is not a whole number of at least 1.")
    observed = subject.observed if within_data else None
    search = make_search(subject, read_constraints(subject.tree, observed, **constraints))
    wanted = wanted_classes(subject.tree, target, len(encoded))
    return NearestChanges(search, encoded, wanted, int(n), n_jobs)


def make_search(subject, constraints):
    """Return the search for a tree with or without oblique tests."""
    kind = ObliqueSearch if subject.tree.has_oblique else Search
    return kind(subject, constraints)


class NearestChanges(Sequence):
    """Nearest changes of a table of cases, one for each row.

    It is a sequence of :class:`~keeptree.explanation.change.NearestChange`. All changes are found
    at once; the objects are created on access.

    Attributes
    ----------
    cost : ndarray of shape (n_rows,)
        Infinite where no allowed change alters the decision.
    n_changes : ndarray of shape (n_rows,)
        Number of attributes that change.
    point : ndarray of shape (n_rows, n_features)
        Changed cases, with labels for nominal attributes; the case itself where there is no change.
    leaf : ndarray of shape (n_rows,)
        Leaf of each changed case; -1 where there is no change.
    predicted : ndarray of shape (n_rows,)
        Decision of the tree for the changed case.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = kt.SmoothedTreeClassifier(kt.C45Classifier(max_depth=2)).fit(X, y)
    >>> changes = kt.nearest_change(model, X)
    >>> changes
    NearestChanges(150 cases, 150 with a change)
    >>> changes.cost[:3].round(2)
    array([0.66, 0.66, 0.66])
    >>> print(changes[60])
    Becomes target = 0 if petal width (cm) falls from 1.0 to 0.6 (−0.4), with nothing else changed.
    """

    def __init__(self, search, encoded, wanted, n, n_jobs):
        self._search, self._X, self._wanted, self._n = search, encoded, wanted, n
        tree = search.tree
        self._own = tree.decide(encoded).astype(np.int64)
        self._box, self.cost, self.n_changes = search.cheapest(encoded, self._own, wanted, n_jobs)

    def __len__(self):
        return len(self._X)

    def __getitem__(self, i):
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        if not -len(self) <= i < len(self):
            raise IndexError(f"There are {len(self)} cases; {i} is not one of them.")
        return self._change(int(i) % len(self))

    def __repr__(self):
        found = int(np.isfinite(self.cost).sum())
        cases = "1 case" if len(self) == 1 else f"{len(self)} cases"
        return f"NearestChanges({cases}, {found} with a change)"

    def _repr_html_(self):
        return changes_html(self)

    @cached_property
    def _points(self):
        """Encoded points of the changes; rows with missing values are moved one by one."""
        point, whole = self._X.copy(), ~np.isnan(self._X).any(axis=1)
        if whole.any():
            point[whole] = self._search.move(self._X[whole], self._box[whole])
        for i in np.flatnonzero(~whole):
            point[i] = self._search.move(self._X[i : i + 1], self._box[i : i + 1])[0]
        return point

    @cached_property
    def point(self):  # noqa: D102 - in the class docstring
        return self._search.tree.decode(self._points)

    @cached_property
    def leaf(self):  # noqa: D102
        found, _ = self._search.boxes(())
        changed, partial = self._box >= 0, np.isnan(self._X).any(axis=1)
        leaf = np.full(len(self._X), -1)
        leaf[changed & ~partial] = found.node[self._box[changed & ~partial]]
        for i in np.flatnonzero(changed & partial):
            leaf[i] = self._search.boxes(missing_of(self._X[i]))[0].node[self._box[i]]
        return leaf

    @cached_property
    def predicted(self):  # noqa: D102
        tree = self._search.tree
        return tree.classes[tree.decide(self._points)]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return each change as JSON-compatible values."""
        return [change.to_dict() for change in self]

    def _change(self, i):
        row, own, wanted = self._X[i], int(self._own[i]), int(self._wanted[i])
        if wanted == own:
            return self._describe(i, -1, 0.0)
        if self._n == 1 or self._box[i] < 0:
            return self._describe(i, int(self._box[i]), float(self.cost[i]))
        ranked = self._search.ranked(row, own, wanted, self._n)
        first, *others = (self._describe(i, box, cost) for box, cost, _ in ranked)
        return replace(first, alternatives=tuple(others))

    def _describe(self, i, box, cost):
        search, tree, row = self._search, self._search.tree, self._X[i]
        found, _ = search.boxes(missing_of(row))
        point = search.move(row[None], np.array([box]))[0]
        shown = point if box < 0 else search.round(row, point, box)
        moved = np.flatnonzero((point != row) & ~np.isnan(row)).tolist()
        before, after, rounded = tree.decode(np.vstack([row, point, shown]))
        classes = tree.classes.tolist()
        own, label = int(self._own[i]), int(tree.decide(point[None])[0])
        p = search.subject.probabilities(point[None])[0]
        wanted = int(self._wanted[i])
        return NearestChange(
            decided=plain(classes[own]),
            predicted=plain(classes[label]),
            target=None if wanted < 0 else plain(classes[wanted]),
            cost=cost,
            changes=tuple(
                Move(
                    name=tree.feature_name(f),
                    feature=f,
                    before=plain(before[f]),
                    after=plain(after[f]),
                    rounded=plain(rounded[f]),
                    cost=self._cost_of(f, row[f], point[f]),
                    nominal=tree.categories[f] is not None,
                )
                for f in moved
            ),
            leaf=int(found.node[box]) if box >= 0 else -1,
            point=after,
            rounded=rounded,
            probability={plain(c): float(v) for c, v in zip(classes, p, strict=True)},
            names=dict(zip(map(plain, classes), search.subject.class_names, strict=True)),
            why=None if np.isfinite(cost) else lambda: self._why(i),
        )

    def _cost_of(self, f, before, after):
        if self._search.tree.categories[f] is None:
            return float(abs(after - before) * self._search.factor[f])
        costs = self._search.constraints.category_costs(f, self._search.subject.metric)
        return float(costs[int(before), int(after)])

    def _why(self, i):
        """Return the reason for no change, and (kind, column, cost) of constraints to loosen."""
        search, tree = self._search, self._search.tree
        row, own, wanted = self._X[i], int(self._own[i]), int(self._wanted[i])
        found, _ = search.boxes(missing_of(row))
        if not _counts(found.label, own, wanted).any():
            known, _ = search.boxes(())
            if not _counts(known.label, own, wanted).any():
                return "tree", ()
            names = (tree.feature_name(f) for f in missing_of(row) if f in tree.tested)
            return "missing", tuple(("missing", name, np.nan, None) for name in names)
        tested = set(tree.tested.tolist()) - set(missing_of(row))
        enough = []
        for kind, f, constraints in search.constraints.loosened():
            if f is not None and f not in tested:
                continue
            ranked = make_search(search.subject, constraints).ranked(row, own, wanted, 1)
            if ranked:
                name = None if f is None else tree.feature_name(f)
                count = ranked[0][2] if kind == "max_changes" else None
                enough.append((kind, name, ranked[0][1], count))
        return "constraints", tuple(sorted(enough, key=lambda entry: entry[2]))


def _counts(label, own, wanted):
    """Return a mask of the boxes with the desired class, or with any class but the case's own."""
    return label == wanted if wanted >= 0 else label != own
