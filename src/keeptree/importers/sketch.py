"""Sketch: the nodes of a foreign tree while an importer reads it."""

from dataclasses import dataclass, field

import numpy as np

from keeptree.data.columns import AS_MISSING
from keeptree.data.labels import other_label
from keeptree.tree import ERROR, LEAF, NOMINAL, NUMERIC, OBLIQUE, SHARE, Tree

_LARGEST = np.finfo(np.float64).max


@dataclass(eq=False)
class Sketch:
    """A tree under construction, which starts with the root.

    Parameters
    ----------
    columns : int or sequence of str
        Column names, or their number.
    categories : sequence, optional
        For each column, None (numeric) or the labels of a nominal one in order.
    classes : sequence, optional
        Class labels; None if they must come from data.
    compare_dtype : {"float64", "float32"}
        Type to which values are rounded before comparison.
    source : dict of str to str
        Origin of the tree; ``counts`` is the origin of its class counts.
    lost : list of str
        One sentence for each property that the source lacks or a Tree does not support.
    open_columns : bool
        Whether the source names only the columns it tests, so that data may have others.
    unknown : dict of int to int
        Treatment of unknown labels of nominal columns, as in :class:`keeptree.Tree`; missing by
        default.
    uncounted : str, optional
        Warning if there are no rows to count.
    """

    columns: int | tuple
    categories: tuple | None = None
    classes: object = None
    compare_dtype: str = "float64"
    source: dict = field(default_factory=dict)
    lost: list = field(default_factory=list)
    open_columns: bool = False
    unknown: dict = field(default_factory=dict)
    uncounted: str | None = None

    def __post_init__(self):
        self.kind, self.feature, self.threshold, self.missing = [], [], [], []
        self.children, self.branch_of, self.counts, self.label = [], [], [], []
        self.terms = []
        self.parent = []
        self.values = {}  # node -> (weight, mean, variance) of a regression tree
        self.add()

    @property
    def n_features(self):
        """Number of columns."""
        return self.columns if isinstance(self.columns, int) else len(self.columns)

    @property
    def names(self):
        """Names of the columns; None if they have none."""
        return None if isinstance(self.columns, int) else tuple(self.columns)

    def add(self):
        """Add a leaf and return its index; :meth:`numeric` and :meth:`nominal` add tests."""
        for values, start in (
            (self.kind, LEAF),
            (self.feature, -1),
            (self.threshold, np.nan),
            (self.missing, ERROR),
            (self.children, ()),
            (self.branch_of, ()),
            (self.terms, ()),
            (self.counts, None),
            (self.label, None),
            (self.parent, None),
        ):
            values.append(start)
        return len(self.kind) - 1

    def numeric(self, node, feature, threshold, missing=ERROR):
        """Add the test ``value <= threshold`` to a node; return its two children.

        ``missing`` is the branch of a missing value (0 or 1), SHARE or ERROR. An infinite threshold
        becomes the largest number.
        """
        self.threshold[node] = float(np.clip(threshold, -_LARGEST, _LARGEST))
        return self._split(node, NUMERIC, feature, 2, missing)

    def oblique(self, node, terms, threshold, missing=ERROR):
        """Add a test of a weighted sum of (column, weight) pairs to a node, like ``numeric``."""
        self.terms[node] = tuple((int(feature), float(weight)) for feature, weight in terms)
        self.threshold[node] = float(np.clip(threshold, -_LARGEST, _LARGEST))
        return self._split(node, OBLIQUE, -1, 2, missing)

    def nominal(self, node, feature, branch_of, missing=ERROR, width=None):
        """Add a nominal test that sends category k to ``branch_of[k]``; return the children.

        ``width`` is the number of branches, if some may have no category.
        """
        self.branch_of[node] = tuple(int(branch) for branch in branch_of)
        width = max(self.branch_of[node]) + 1 if width is None else width
        return self._split(node, NOMINAL, feature, width, missing)

    def _split(self, node, kind, feature, width, missing):
        self.kind[node], self.feature[node] = kind, int(feature)
        self.children[node] = tuple(self.add() for _ in range(width))
        for child in self.children[node]:
            self.parent[child] = node
        self.missing[node] = self.children[node][missing] if missing >= 0 else missing
        return self.children[node]

    def reachable(self, node, feature):
        """Return the labels of a nominal column that can reach a node."""
        labels = set(self.categories[feature])
        while (above := self.parent[node]) is not None:
            if self.feature[above] == feature:
                branch = self.children[above].index(node)
                taken = zip(self.categories[feature], self.branch_of[above], strict=True)
                labels &= {label for label, goes in taken if goes == branch}
            node = above
        return labels

    @property
    def has_counts(self):
        """Whether every leaf has class counts."""
        leaves = (c for c, kind in zip(self.counts, self.kind, strict=True) if kind == LEAF)
        return all(counts is not None for counts in leaves)

    @property
    def has_labels(self):
        """Whether every leaf has a class."""
        leaves = (c for c, kind in zip(self.label, self.kind, strict=True) if kind == LEAF)
        return all(label is not None for label in leaves)

    def tree(self):
        """Return the Tree, without class counts if some leaf has none."""
        self._fill_branches()
        categories = self.categories or (None,) * self.n_features
        return Tree(
            kind=self.kind,
            feature=self.feature,
            threshold=self.threshold,
            child_start=np.cumsum([0, *map(len, self.children)]),
            child=np.array([c for below in self.children for c in below], dtype=np.int64),
            category_start=np.cumsum([0, *map(len, self.branch_of)]),
            category_child=self._category_children(),
            term_start=np.cumsum([0, *map(len, self.terms)]),
            term_feature=np.array([f for terms in self.terms for f, _ in terms], dtype=np.int64),
            term_weight=np.array([w for terms in self.terms for _, w in terms], dtype=np.float64),
            missing=self.missing,
            **(self._regression() if self.values else self._classification()),
            n_features=self.n_features,
            feature_names=self.names,
            categories=categories,
            unknown=[self.unknown.get(j, AS_MISSING) for j in range(self.n_features)],
            compare_dtype=self.compare_dtype,
            source={**self.source, **({"lost": " ".join(self.lost)} if self.lost else {})},
        )

    def _classification(self):
        counts = self._sum_leaves(len(self.classes))
        # Counts of 0 leave the decision to the labels of the leaves.
        label = [
            int(np.argmax(counts[node])) if given is None else int(given)
            for node, given in enumerate(self.label)
        ]
        return {"counts": counts, "label": label, "classes": _label_array(self.classes)}

    def _regression(self):
        weight, mean, variance = np.array([self.values[node] for node in range(len(self.kind))]).T
        return {"counts": weight[:, None], "mean": mean, "variance": variance}

    def _fill_branches(self):
        """Give unreachable branches a category of their own that no row has.

        A Tree cannot have branches without a category.
        """
        nominal = [node for node, kind in enumerate(self.kind) if kind == NOMINAL]
        bare = {node: self._untaken(node) for node in nominal}
        for column in {self.feature[node] for node in nominal if bare[node]}:
            labels = list(self.categories[column])
            tests = [node for node in nominal if self.feature[node] == column]
            for _ in range(max(len(bare[node]) for node in tests)):
                labels.append(other_label(labels))
                for node in tests:
                    branch = bare[node].pop() if bare[node] else self.branch_of[node][-1]
                    self.branch_of[node] = (*self.branch_of[node], branch)
            changed = list(self.categories)
            changed[column] = tuple(labels)
            self.categories = tuple(changed)

    def _untaken(self, node):
        """Return the branches of a nominal test that no category and no missing value takes."""
        if self.missing[node] == SHARE:
            return set()
        taken = {self.children[node][branch] for branch in self.branch_of[node]}
        taken.add(self.missing[node])
        return {k for k, child in enumerate(self.children[node]) if child not in taken}

    def _category_children(self):
        pairs = zip(self.children, self.branch_of, strict=True)
        return np.array([below[b] for below, taken in pairs for b in taken], dtype=np.int64)

    def _sum_leaves(self, n_classes):
        """Return the counts of all nodes as sums over their leaves; children come after parents."""
        counts = np.zeros((len(self.kind), n_classes))
        if not self.has_counts:
            return counts
        for node in reversed(range(len(self.kind))):
            below = list(self.children[node])
            counts[node] = counts[below].sum(axis=0) if below else self.counts[node]
        return counts


def _label_array(labels):
    """Return labels as an object array, because NumPy's text dtype would lose a trailing NUL."""
    if any(isinstance(label, str) and label.endswith("\0") for label in labels):
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
        return array
    return labels


def just_below(threshold, dtype=np.float64):
    """Return the largest number below a threshold, to write ``x < t`` as ``x <= just_below(t)``.

    Examples
    --------
    >>> just_below(1.0), just_below(1.0, np.float32)
    (0.9999999999999999, 0.9999999403953552)
    """
    return float(np.nextafter(dtype(threshold), dtype(-np.inf)))


def widened(threshold):
    """Return the largest float64 number that rounds to at most a float32 threshold.

    Examples
    --------
    >>> widened(1.0) > 1.0, np.float32(widened(1.0)), np.float32(np.nextafter(widened(1.0), 2)) > 1
    (True, np.float32(1.0), np.True_)
    """
    following = float(np.nextafter(np.float32(threshold), np.float32(np.inf)))
    if not np.isfinite(following):
        following = 2.0 * 2.0**127  # from this number on, float32 overflows to infinity
    middle = threshold + (following - threshold) / 2
    with np.errstate(over="ignore"):
        return middle if np.float32(middle) <= threshold else just_below(middle)
