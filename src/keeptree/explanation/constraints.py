"""Constraints on changes, checked and converted to arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real

import numpy as np

from keeptree._compiled import boxes
from keeptree.data.labels import plain
from keeptree.geometry.grid import inverse_step
from keeptree.geometry.metric import column_number


@dataclass(frozen=True)
class Constraints:
    """Constraints by column index; see :func:`keeptree.nearest_change`."""

    fixed: frozenset = frozenset()
    bounds: Mapping = field(default_factory=dict)  # column -> (low, high), or categories
    increase_only: frozenset = frozenset()
    decrease_only: frozenset = frozenset()
    costs: Mapping = field(default_factory=dict)  # column -> factor, or matrix over the categories
    steps: Mapping = field(default_factory=dict)  # column -> step, or sorted values
    max_changes: int | None = None
    within: frozenset = frozenset()  # columns limited to the observed range
    # Column -> observed step, used where ``steps`` has none.
    grid: Mapping = field(default_factory=dict)

    def loosened(self):
        """Yield (kind, column or None, the other constraints) for each single constraint."""
        for kind in ("fixed", "increase_only", "decrease_only", "within"):
            columns = getattr(self, kind)
            for f in sorted(columns):
                yield kind, f, replace(self, **{kind: columns - {f}})
        for kind in ("bounds", "steps"):
            entries = getattr(self, kind)
            for f in sorted(entries):
                rest = {key: value for key, value in entries.items() if key != f}
                yield kind, f, replace(self, **{kind: rest})
        if self.max_changes is not None:
            yield "max_changes", None, replace(self, max_changes=None)

    def rules(self, tree, observed):
        """Return the constraints as arrays for the compiled functions."""
        rules, values = np.zeros((tree.n_features, boxes.LAST + 1)), []
        for f in range(tree.n_features):
            if tree.categories[f] is not None:
                continue
            rule = rules[f]
            rule[boxes.LEAST], rule[boxes.MOST] = self.limits(f, observed)
            rule[boxes.RISE] = f not in self.fixed and f not in self.decrease_only
            rule[boxes.FALL] = f not in self.fixed and f not in self.increase_only
            step = self.step(f)
            if isinstance(step, float):
                rule[boxes.STEP], rule[boxes.INVERSE] = step, inverse_step(step)
            elif step is not None:
                rule[boxes.FIRST], rule[boxes.LAST] = len(values), len(values) + len(step)
                values.extend(step)
        return boxes.Rules(rules, np.array(values, dtype=np.float64))

    def factor(self, tree, metric):
        """Return the cost per unit of each numeric column."""
        factor = metric.factor_.copy()
        for f, cost in self.costs.items():
            if tree.categories[f] is None:
                factor[f] *= cost
        return factor

    def step(self, f):
        """Return the step or the list of values of a column; None if it is unrestricted."""
        return self.steps.get(f, self.grid.get(f))

    def limits(self, f, observed):
        """Return the smallest and largest value that a numeric column may take."""
        low, high = self.bounds.get(f, (-np.inf, np.inf))
        if f in self.within:
            low, high = max(low, observed.low[f]), min(high, observed.high[f])
        return low, high

    def permitted(self, f, tree, observed):
        """Return a mask of the categories that a nominal attribute may take."""
        mask = np.full(len(tree.categories[f]), f not in self.fixed)
        for given in (self.bounds.get(f), self.steps.get(f)):
            if given is not None:
                mask = mask & given
        if f in self.within and observed.seen[f] is not None:
            mask = mask & observed.seen[f]
        return mask

    def category_costs(self, f, metric):
        """Return the cost matrix of changes between the categories of an attribute."""
        given = self.costs.get(f, 1.0)
        return given if isinstance(given, np.ndarray) else metric.category_costs_[f] * given


def read_constraints(
    tree,
    observed,
    *,
    fixed=(),
    bounds=None,
    increase_only=(),
    decrease_only=(),
    costs=None,
    steps=None,
    max_changes=None,
):
    """Check the arguments of ``nearest_change``; invalid ones raise a ValueError.

    ``observed`` describes the sample that limits changed values; None for no limit.
    """
    columns = {
        name: frozenset(column_number(tree, key, name) for key in _listed(keys, name))
        for name, keys in (
            ("fixed", fixed),
            ("increase_only", increase_only),
            ("decrease_only", decrease_only),
        )
    }
    for name in ("increase_only", "decrease_only"):
        for f in columns[name]:
            if tree.categories[f] is not None:
                raise ValueError(
                    f"{name} contains {tree.feature_name(f)!r}, whose values are categories, "
                    "which have no order; use fixed or bounds for it."
                )
    if max_changes is not None and (not isinstance(max_changes, Integral) or max_changes < 1):
        raise ValueError(f"max_changes={max_changes!r} is not a whole number of at least 1.")
    return Constraints(
        bounds=_read_entries(tree, bounds, "bounds", _read_bounds),
        costs=_read_entries(tree, costs, "costs", _read_cost),
        steps=_read_entries(tree, steps, "steps", _read_steps),
        max_changes=max_changes,
        within=frozenset(() if observed is None else range(tree.n_features)),
        grid={} if observed is None else observed_grid(observed),
        **columns,
    )


def observed_grid(observed):
    """Return a dict of the columns that have a step in a sample, and their steps."""
    return {f: float(observed.step[f]) for f in np.flatnonzero(observed.step).tolist()}


def _listed(keys, name):
    if isinstance(keys, str) or not np.iterable(keys):
        raise ValueError(f"{name}={keys!r} is not a list; give [{keys!r}].")
    return keys


def _read_entries(tree, given, name, read):
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"{name}={given!r} is not a dict; give one from columns to {name}.")
    entries = {}
    for key, value in given.items():
        f = column_number(tree, key, name)
        entries[f] = read(tree, f, value)
    return entries


def _read_bounds(tree, f, value):
    if tree.categories[f] is not None:
        return _category_mask(tree, f, value, "bounds")
    try:
        low, high = value
        low = -np.inf if low is None else float(low)
        high = np.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise ValueError(
            f"The bounds of {tree.feature_name(f)!r} are {value!r}; give (smallest, largest), "
            f"with None for an open end."
        ) from None
    if not low <= high:
        raise ValueError(
            f"The bounds of {tree.feature_name(f)!r} are {value!r}, but the smallest is above "
            "the largest; swap them."
        )
    return low, high


def _read_cost(tree, f, value):
    name = tree.feature_name(f)
    if isinstance(value, Real) and 0 < value < np.inf:
        return float(value)
    labels = tree.categories[f]
    if labels is None or isinstance(value, Real):
        raise ValueError(f"The cost of {name!r} is {value!r}, not a positive finite number.")
    matrix = _numbers(value)
    good = matrix.shape == (len(labels), len(labels)) and (matrix >= 0).all()
    if not good or not np.isfinite(matrix).all() or np.diag(matrix).any():
        raise ValueError(
            f"The costs of {name!r} must be a number or a {len(labels)} x {len(labels)} matrix "
            "(from row to column), finite, not negative and zero on its diagonal."
        )
    return matrix


def _read_steps(tree, f, value):
    name = tree.feature_name(f)
    if tree.categories[f] is not None:
        return _category_mask(tree, f, value, "steps")
    if isinstance(value, Real):
        if not 0 < value < np.inf:
            raise ValueError(f"The step of {name!r} is {value!r}, not a positive finite number.")
        return float(value)
    values = np.unique(_numbers(value))
    if not len(values) or not np.isfinite(values).all():
        raise ValueError(
            f"The steps of {name!r} are {value!r}; give a number, or a list of finite values."
        )
    return values


def _numbers(value):
    """Return a value as an array of numbers; an empty one, which callers reject, if that fails."""
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)


def _category_mask(tree, f, labels, what):
    """Return a mask of the categories in a list of labels."""
    known = tree.categories[f]
    labels = [plain(label) for label in _listed(labels, f"{what} of {tree.feature_name(f)!r}")]
    unknown = [label for label in labels if label not in known]
    if unknown:
        raise ValueError(
            f"{what} of {tree.feature_name(f)!r} has {unknown[0]!r}, which is not one of its "
            f"categories: {list(known[:20])}."
        )
    return np.array([label in labels for label in known])
