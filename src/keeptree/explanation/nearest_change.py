"""The smallest change of a case that alters the kept tree's decision, under constraints."""

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
from keeptree.explanation.search import Search, missing_of
from keeptree.explanation.subject import read_given, resolve
from keeptree.explanation.wording import round_outwards
from keeptree.geometry.metric import Metric
from keeptree.geometry.rows import wanted_classes
from keeptree.tree import LEAF


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
    """Return the smallest change of a case with which the kept tree decides otherwise.

    It is exact: the leaves of the tree are boxes, every constraint concerns one attribute, so the
    cheapest point of each leaf is known coordinate by coordinate, and the cheapest of all leaves
    is the answer. The point is a real one: the model itself decides differently there. It
    describes the tree, not the person: nothing says that the change can be made or would help.

    Parameters
    ----------
    model : fitted model or Tree
        A classifier of this package, a fitted scikit-learn tree or a :class:`~keeptree.Tree`. The
        decision is always the tree's.
    x : array-like, dict or data frame
        One case (a row, a dict by column), or a table of them.
    target : label or array-like of shape (n_rows,), optional
        The class wanted, one per row if x is a table. None: any other than the tree decides now.
    fixed : list
        Columns, by name or position, that keep their value.
    bounds : dict, optional
        Column -> (least, largest) a changed value may be, None for an open end; of a nominal
        attribute the list of labels it may become.
    increase_only, decrease_only : list
        Columns that may not fall, or not rise.
    costs : dict, optional
        Column -> factor on what a change of it counts (2: twice as dear), or for a nominal
        attribute the matrix of costs from each category (row) to each (column).
    steps : dict, optional
        Column -> step, whose multiples a changed value must be (1: whole numbers), or a list of
        the values or categories it may have.
    max_changes : int, optional
        Largest number of attributes that may change.
    n : int, default=1
        Number of alternatives looked for; those after the first are in ``alternatives``. Each ends
        in another leaf, and none goes past another.
    within_data : bool, default=True
        Whether a changed value stays inside the range of the training sample (a category: is one
        that occurs there), and on its grid unless ``steps`` names the column: whole numbers stay
        whole, a column with one decimal keeps one decimal.
    X : array-like or data frame, optional
        A sample that tells the range and scale of the attributes. Needed if the model is a tree
        alone; a fitted classifier of this package remembers its own.
    metric : {"standard", "minmax"} or Metric, optional
        How costs are measured. Default: the model's own, or the ``"standard"`` one.
    n_jobs : int, optional
        Threads for a table of cases.

    Returns
    -------
    change : NearestChange or NearestChanges
        For a table of cases a sequence of them, with their costs and points as arrays.

    Notes
    -----
    Constraints limit what changes: a value that may stay as it is may also lie outside its bounds.
    A missing value stays missing. The cost is Euclidean: the square root of the sum of the squared
    costs of the attributes, those that :meth:`keeptree.Boundary.distance` with
    ``grid="observed"`` adds up.

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
    Becomes benign if worst texture falls from 26.50 to 25.67 (−0.83), nothing else changed.
    >>> round(change.cost, 3), change.changes[0].name
    (0.135, 'worst texture')
    >>> print(kt.nearest_change(model, X.iloc[3], fixed=["worst texture"]).changes[0])
    mean concave points falls from 0.1052 to 0.0540 (−0.0512)
    """
    subject = resolve(model, X, metric)
    if subject.transformers:
        raise ValueError(
            "The tree inside the pipeline tests transformed columns, in which changes are "
            "measured; give kt.keep(pipeline, fold=False), the transformed row and X."
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
    """Nearest changes of encoded rows; the arguments are those of :func:`nearest_change`.

    Parameters
    ----------
    subject : Subject
        The model.
    encoded : ndarray of shape (n_rows, n_features)
        Cases as ``subject.encode`` returns them.

    Returns
    -------
    changes : NearestChanges
    """
    if subject.metric is None:
        raise ValueError(
            "A tree alone does not know how large a change is; give X, a sample that tells the "
            "scale of the attributes, or metric=keeptree.Metric(scales=[...])."
        )
    if within_data and subject.observed is None:
        raise ValueError(
            "The range of the data is not known; give X, a sample, or within_data=False."
        )
    if not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n={n!r} is not a whole number of at least 1.")
    observed = subject.observed if within_data else None
    search = Search(subject, read_constraints(subject.tree, observed, **constraints))
    wanted = wanted_classes(subject.tree, target, len(encoded))
    return NearestChanges(search, encoded, wanted, int(n), n_jobs)


class NearestChanges(Sequence):
    """The nearest changes of a table of cases: a sequence of :class:`NearestChange`.

    They are found all at once; the objects are made when they are looked at.

    Attributes
    ----------
    cost : ndarray of shape (n_rows,)
        Infinite where no allowed change alters the decision.
    n_changes : ndarray of shape (n_rows,)
        Number of attributes that change.
    point : ndarray of shape (n_rows, n_features)
        The changed cases, with the labels of nominal attributes; the case itself where none is.
    leaf : ndarray of shape (n_rows,)
        The leaf each ends in; -1 where there is no change.
    predicted : ndarray of shape (n_rows,)
        What the tree decides there.
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
        return f"NearestChanges({len(self)} cases, {found} with a change)"

    def _repr_html_(self):
        return changes_html(self)

    @cached_property
    def _points(self):
        """Encoded points, those of rows with missing values one by one."""
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
        """Return a list of what :meth:`NearestChange.to_dict` returns."""
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
        shown = self._round(row, point, found, box)
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

    def _round(self, row, point, found, box):
        """The point with as few decimals as keep it in its box and the constraints."""
        search, given, shown = self._search, self._search.constraints, point.copy()
        if box < 0:
            return shown
        for k in range(found.start[box], found.start[box + 1]):
            f = int(found.feature[k])
            if found.table[k] < 0 and point[f] != row[f] and given.step(f) is None:
                least, most = given.limits(f, search.subject.observed)
                low, high = max(found.low[k], least), min(found.high[k], most)
                shown[f] = round_outwards(float(row[f]), float(point[f]), low, high)
        return shown

    def _why(self, i):
        """Why there is no change: (reason, [(kind, column name, cost) that alone would do])."""
        search, tree = self._search, self._search.tree
        row, own, wanted = self._X[i], int(self._own[i]), int(self._wanted[i])
        found, _ = search.boxes(missing_of(row))
        if not _counts(found.label, own, wanted).any():
            known, _ = search.boxes(())
            if not _counts(known.label, own, wanted).any():
                return "tree", ()
            tests = tree.feature[tree.kind != LEAF]
            names = (tree.feature_name(f) for f in missing_of(row) if f in tests)
            return "missing", tuple(("missing", name, np.nan, None) for name in names)
        tested = set(tree.feature[tree.kind != LEAF].tolist()) - set(missing_of(row))
        enough = []
        for kind, f, constraints in search.constraints.loosened():
            if f is not None and f not in tested:
                continue
            ranked = Search(search.subject, constraints).ranked(row, own, wanted, 1)
            if ranked:
                name = None if f is None else tree.feature_name(f)
                count = ranked[0][2] if kind == "max_changes" else None
                enough.append((kind, name, ranked[0][1], count))
        return "constraints", tuple(sorted(enough, key=lambda entry: entry[2]))


def _counts(label, own, wanted):
    """Which boxes have the class wanted, or another than the case's own if any will do."""
    return label == wanted if wanted >= 0 else label != own
