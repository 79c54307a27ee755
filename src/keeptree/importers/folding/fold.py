"""Fold the steps of a pipeline into the tests of its tree."""

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from keeptree.data.labels import label_kind, other_label, plain
from keeptree.importers.folding.derived import Derived, run
from keeptree.importers.folding.outcomes import Table, ask, find_runs, find_tables
from keeptree.importers.folding.rebuild import rebuild
from keeptree.importers.folding.transformers import CannotFoldError, read_step
from keeptree.text import plural
from keeptree.tree import ERROR, LEAF, Tree

_AS_MISSING = -1


class Folded(NamedTuple):
    """A tree over raw columns, and the original node of each of its nodes."""

    tree: Tree
    origin: np.ndarray


def fold(tree, steps, X=None):
    """Fold fitted transformers into the tests of the tree that follows them.

    Parameters
    ----------
    tree : Tree
        Tree at the end of a pipeline.
    steps : sequence of fitted transformers
        Steps before it, from :func:`keeptree.importers.unwrap`.
    X : array-like or data frame, optional
        Raw training rows. If a leaf occurs several times in the folded tree, they determine how
        its counts are divided; without them counts are divided evenly, with a warning.

    Returns
    -------
    folded : Folded
        Every raw row reaches the same leaf as in the pipeline. Steps that cannot be folded raise
        a :class:`CannotFoldError`.
    """
    if tree.has_oblique:
        raise CannotFoldError(
            "The tree tests weighted sums of columns, and steps before them cannot be folded into "
            "the weights without rounding."
        )
    columns, names = read_columns(steps)
    if len(columns) != tree.n_features:
        raise CannotFoldError(
            f"The steps of the pipeline give {plural(len(columns), 'column')}, but its tree was "
            f"fitted to {tree.n_features}; fit the pipeline as a whole."
        )
    columns = _with_own_labels(tree, columns)
    width = 1 + max(c.raw for c in columns) if names is None else len(names)
    return _Folding(tree, columns, names, max(width, _width(steps))).folded(X)


def read_columns(steps):
    """Return the columns after some fitted transformers, and the raw column names or None."""
    columns = [Derived(j) for j in range(_width(steps))]
    for step in steps:
        columns = read_step(type(step).__name__.lower(), step, columns)
    names = _first(steps, "feature_names_in_")
    return columns, None if names is None else tuple(names)


def _width(steps):
    width = _first(steps, "n_features_in_")
    if width is None:
        raise CannotFoldError("The pipeline does not record how many columns it was fitted to.")
    return width


def _first(steps, attribute):
    """Return an attribute of the first step that has it; a passthrough step may come first."""
    for step in steps:
        inner = [part for _, part in step.steps] if hasattr(step, "steps") else [step]
        for part in inner:
            if part is not None and not isinstance(part, str):
                return getattr(part, attribute, None)
    return None


def _with_own_labels(tree, columns):
    """Add the labels of the tree's own nominal attributes to its columns."""
    columns = list(columns)
    for f, labels in enumerate(tree.categories):
        if labels is None:
            continue
        if not columns[f].keeps_values:
            raise CannotFoldError(
                f"The tree takes {tree.feature_name(f)!r} as a category, but a step computes it; "
                "keep(pipeline, fold=False) gives the tree of the transformed columns."
            )
        columns[f] = columns[f].with_labels(labels, np.empty(0))
    return columns


class _Folding:
    """Collects the parts of a folded tree."""

    def __init__(self, tree, columns, names, width):
        self.tree, self.columns, self.names = tree, columns, names
        tests = np.flatnonzero(tree.kind != LEAF)
        self.raw_of = {int(node): columns[tree.feature[node]].raw for node in tests}
        used = sorted({column.raw for column in columns})
        # Data frames are read by name, so they may lack columns that the pipeline drops.
        self.kept = used if names is not None and used else list(range(width))
        self.labels = self._find_labels()
        self.unknown = dict.fromkeys(self.kept, _AS_MISSING)
        self.outcomes = self._find_outcomes(tests)

    def folded(self, X):
        """Return the Folded tree."""
        n_codes = {
            raw: len(labels) + (self.unknown[raw] >= 0) for raw, labels in self.labels.items()
        }
        nodes = rebuild(self.raw_of, self.outcomes, n_codes)
        origin = np.array(nodes.origin)
        share, copied = _shares(nodes, origin)
        tree = self._tree(nodes, origin, share)
        if not copied:
            return Folded(tree, origin)
        if X is None:
            warnings.warn(
                f"{plural(copied, 'leaf', 'leaves')} of the pipeline's tree appear several times "
                f"in the folded tree, because a test needs several thresholds on its raw column; "
                f"their counts are divided evenly. Give keep the training rows as X to divide the "
                f"counts by the rows.",
                UserWarning,
                stacklevel=4,
            )
            return Folded(tree, origin)
        weight = np.bincount(tree.route(tree.encode(X), strict=False), minlength=tree.n_nodes)
        return Folded(self._tree(nodes, origin, _observed_shares(origin, weight, share)), origin)

    def _find_labels(self):
        """Return the labels of each nominal raw column."""
        tested = {self.tree.feature[node] for node in self.raw_of}
        found = {}
        for raw in self.kept:
            own = [f for f, column in enumerate(self.columns) if column.raw == raw]
            labels = [label for f in own for label in self.columns[f].labels or ()]
            labels += [mark for f in own for mark in self.columns[f].marks] if labels else []
            numbers = [f for f in own if f in tested and _is_numeric(self.columns[f])]
            if not labels:
                continue
            if not numbers:
                found[raw] = self._accepted(own, tuple(dict.fromkeys(labels)))
            elif not all(label_kind(label) == "numbers" for label in labels):
                raise CannotFoldError(
                    f"The pipeline takes the column {self._name(raw)!r} both as numbers and as "
                    "categories; keep(pipeline, fold=False) gives the tree of the transformed "
                    "columns."
                )
        return found

    def _name(self, raw):
        return raw if self.names is None else self.names[raw]

    def _accepted(self, own, labels):
        """Return the labels of a column that every encoder accepts."""
        refused = np.zeros(len(labels) + 2, dtype=bool)
        for column in _distinct_ways([self.columns[f] for f in own]):
            refused |= ask(column, labels)[1]
        return tuple(v for v, no in zip(labels, refused, strict=False) if not no)

    def _find_outcomes(self, tests):
        nominal = np.array([self.raw_of[int(node)] in self.labels for node in tests], dtype=bool)
        runs = find_runs(self.tree, self.columns, tests[~nominal]) if (~nominal).any() else {}
        tables = find_tables(self.tree, self.columns, tests[nominal], self.labels)
        refuses_missing = set()
        for raw in self.kept:
            own = _distinct_ways([column for column in self.columns if column.raw == raw])
            unknown, missing = self._refusals(raw, own)
            if missing:
                refuses_missing.add(raw)
            if raw in self.labels:
                at = [tables[node] for node, its in self.raw_of.items() if its == raw]
                self.unknown[raw] = self._rule_for_unknown(raw, at, unknown, missing)
        for node, raw in self.raw_of.items():
            table = (tables if raw in self.labels else runs)[node]
            if raw in refuses_missing:
                table = replace(table, missing=ERROR)
            if isinstance(table, Table) and self.unknown[raw] >= 0:
                table = replace(table, target=np.append(table.target, table.unknown))
            runs[node] = table
        return runs

    def _refusals(self, raw, own):
        """Return whether a step rejects unknown and missing values of a raw column."""
        if raw in self.labels:
            refused = [ask(column, self.labels[raw])[1][-2:] for column in own]
            return np.any(refused, axis=0)
        missing = run(own, np.arange(len(own)), np.full(len(own), np.nan))[1]
        return False, missing.any()

    def _rule_for_unknown(self, raw, tables, refuses_unknown, refuses_missing):
        """Return the rule for unknown labels: their own code, missing, or an error."""
        if refuses_unknown:
            return ERROR
        missing = [ERROR if refuses_missing else table.missing for table in tables]
        alike = all(table.unknown == goes for table, goes in zip(tables, missing, strict=True))
        return _AS_MISSING if alike else len(self.labels[raw])

    def _tree(self, nodes, origin, share):
        tree, place = self.tree, {raw: f for f, raw in enumerate(self.kept)}
        width = [len(children) for children in nodes.children]
        codes = [
            np.array(children, dtype=np.int64)[list(chosen)]
            for children, chosen in zip(nodes.children, nodes.codes, strict=True)
        ]
        counts = tree.counts[origin] * share[:, None]
        for node in range(len(origin))[::-1]:
            if width[node]:
                counts[node] = counts[nodes.children[node]].sum(axis=0)
        of_node = ("label", "mean", "variance")
        values = {name: getattr(tree, name) for name in of_node}
        return Tree(
            kind=np.array(nodes.kind),
            feature=np.array([place.get(raw, -1) for raw in nodes.raw]),
            threshold=np.array(nodes.threshold),
            child_start=np.concatenate([[0], np.cumsum(width)]),
            child=np.array([child for children in nodes.children for child in children], dtype=int),
            category_start=np.concatenate([[0], np.cumsum([len(chosen) for chosen in codes])]),
            category_child=np.concatenate(codes).astype(np.int64),
            missing=np.array(
                [
                    goes if goes < 0 else children[goes]
                    for goes, children in zip(nodes.missing, nodes.children, strict=True)
                ]
            ),
            counts=counts,
            **{name: None if value is None else value[origin] for name, value in values.items()},
            classes=tree.classes,
            declared=tree.declared,
            n_features=len(self.kept),
            feature_names=None if self.names is None else [self.names[raw] for raw in self.kept],
            categories=[self._categories(raw) for raw in self.kept],
            unknown=[self.unknown[raw] for raw in self.kept],
            source=dict(tree.source),
        )

    def _categories(self, raw):
        labels = self.labels.get(raw)
        if labels is None:
            return None
        labels = tuple(map(plain, labels))
        if self.unknown[raw] < 0:
            return labels
        return (*labels, other_label(labels))


def _is_numeric(column):
    """Return whether a column is computed from raw numbers instead of categories."""
    return column.labels is None and not column.only_missing


def _distinct_ways(columns):
    """Return the columns whose steps differ, apart from the output of the last step."""
    ways = {}
    for column in columns:
        way = tuple((id(link.step), link.column_in) for link in column.links)
        ways.setdefault(way, column)
    return list(ways.values())


def _shares(nodes, origin):
    """Return each node's share of the counts of its origin, and the number of copied leaves.

    Copies that training data hardly ever reach get no share, unless all copies are like that.
    """
    share = np.ones(len(origin))
    leaves = np.flatnonzero(np.array(nodes.kind) == LEAF)
    vacant = np.array(nodes.vacant)
    copied = 0
    for leaf in np.unique(origin[leaves]):
        places = leaves[origin[leaves] == leaf]
        lived = places[~vacant[places]]
        lived = lived if len(lived) else places
        share[places] = 0.0
        share[lived] = 1 / len(lived)
        copied += len(lived) > 1
    return share, copied


def _observed_shares(origin, weight, share):
    """Return the shares by the rows, or the given shares where there are no rows."""
    totals = np.bincount(origin, weight)[origin]
    with np.errstate(invalid="ignore"):
        return np.where(totals > 0, weight / totals, share)
