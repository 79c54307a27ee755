"""The kept tree: frozen arrays that importers and learners fill and everything else reads."""

import operator
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType

import numpy as np
from scipy.sparse import csr_matrix

from keeptree.data.labels import sorting_order
from keeptree.data.table import as_matrix, comparable_names
from keeptree.tree_check import check_tree
from keeptree.tree_json import dict_to_fields, fields_to_dict, read_json, write_json
from keeptree.tree_text import tree_to_text

LEAF, NUMERIC, NOMINAL = 0, 1, 2  # values of Tree.kind
SHARE, ERROR = -1, -2  # values of Tree.missing that are not a child

_MOST_FEATURES = 10_000_000  # a damaged file must not ask for all the memory
_REQUIRED = ("kind", "feature", "threshold", "child_start", "child", "missing", "counts")
_DTYPES = {
    "kind": np.int8,
    "feature": np.int32,
    "threshold": np.float64,
    "child_start": np.int32,
    "child": np.int32,
    "category_start": np.int32,
    "category_child": np.int32,
    "missing": np.int32,
    "counts": np.float64,
    "label": np.int32,
    "declared": np.int32,
    "mean": np.float64,
    "variance": np.float64,
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Tree:
    """A decision tree as flat arrays. It never changes; build one with :func:`keeptree.keep`.

    Node 0 is the root. A numeric test sends ``x <= threshold`` to its first child and the rest to
    its second; a nominal test sends each category to a child of its own choice (multiway splits
    and subsets alike). Every array is checked on construction and is read-only for good.

    Parameters
    ----------
    kind : array of shape (n_nodes,)
        0 for a leaf, 1 for a numeric test, 2 for a nominal test.
    feature : array of shape (n_nodes,)
        Column tested; -1 in a leaf.
    threshold : array of shape (n_nodes,)
        Threshold of a numeric test; NaN elsewhere.
    child_start, child : arrays of shape (n_nodes + 1,) and (n_nodes - 1,)
        Node i has the children ``child[child_start[i]:child_start[i + 1]]``.
    category_start, category_child : arrays of shape (n_nodes + 1,) and (any,)
        The nominal node i sends category code k to node ``category_child[category_start[i] + k]``.
    missing : array of shape (n_nodes,)
        Where a missing value goes: a child, -1 for "shared among the children by their weight",
        -2 for "an error".
    counts : array of shape (n_nodes, n_classes)
        Weighted class counts of the training cases in each node; for a regression tree one column,
        the weight.
    label : array of shape (n_nodes,), optional
        Index of the class each node assigns. Default: the largest count, the first of ties.
    mean, variance : arrays of shape (n_nodes,), optional
        Of a regression tree: the value each node predicts and the variance of its cases.
    classes : array of shape (n_classes,), optional
        Labels, of any type; None for a regression tree. They may come in any order: the tree keeps
        them sorted, with ``counts`` and ``label`` to match, unless they cannot be compared.
    declared : array of shape (n_classes,), optional
        Positions in ``classes`` in the order in which the classes were declared, which decides
        ties. Default: the order in which they came.
    n_features : int
        Number of columns.
    feature_names : sequence of str, optional
        Names of the columns.
    categories : sequence of length n_features, optional
        For each column None (numeric) or the labels of a nominal attribute in declared order.
    compare_dtype : {"float64", "float32"}
        Values are rounded to this before they are compared with a threshold.
    source : dict of str to str
        Where the tree came from.

    Examples
    --------
    >>> import numpy as np
    >>> from keeptree import Tree
    >>> stump = Tree(
    ...     kind=[1, 0, 0], feature=[0, -1, -1], threshold=[2.5, np.nan, np.nan],
    ...     child_start=[0, 2, 2, 2], child=[1, 2], missing=[-2, -2, -2],
    ...     counts=[[5, 4], [5, 0], [0, 4]], classes=["no", "yes"], n_features=1,
    ...     feature_names=["age"])
    >>> stump
    Tree(2 leaves, depth 1, 2 classes, 1 feature)
    >>> stump.predict([[2.5], [2.6]]).tolist()
    ['no', 'yes']
    >>> print(stump.to_text())
    age <= 2.5: no (5)
    age > 2.5: yes (4)
    """

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    child_start: np.ndarray
    child: np.ndarray
    missing: np.ndarray
    counts: np.ndarray
    n_features: int
    category_start: np.ndarray | None = None
    category_child: np.ndarray | None = None
    label: np.ndarray | None = None
    mean: np.ndarray | None = None
    variance: np.ndarray | None = None
    classes: np.ndarray | None = None
    declared: np.ndarray | None = None
    feature_names: tuple | None = None
    categories: tuple | None = None
    compare_dtype: str = "float64"
    source: dict = field(default_factory=dict)

    def __post_init__(self):
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, value in _complete(values).items():
            object.__setattr__(self, name, value)
        check_tree(self)
        for name, value in _sort_classes(self).items():
            object.__setattr__(self, name, _frozen(value))

    # A Tree never changes, so its copies (and scikit-learn's clone) are the Tree itself.
    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return _rebuild, ({**values, "source": dict(self.source)},)

    def __repr__(self):
        classes = "regression" if self.classes is None else f"{len(self.classes)} classes"
        origin = f", from {self.source['model']}" if "model" in self.source else ""
        leaves, columns = (
            _plural(self.n_leaves, "leaf", "leaves"),
            _plural(self.n_features, "feature"),
        )
        return f"Tree({leaves}, depth {self.max_depth}, {classes}, {columns}{origin})"

    @property
    def n_nodes(self):
        """Number of nodes."""
        return len(self.kind)

    @property
    def n_leaves(self):
        """Number of leaves."""
        return int(np.count_nonzero(self.kind == LEAF))

    @property
    def max_depth(self):
        """Number of tests on the longest path."""
        return int(self.depth.max())

    @cached_property
    def parent(self):
        """Parent of each node; -1 for the root."""
        parent = np.full(self.n_nodes, -1, dtype=np.int32)
        parent[self.child] = np.repeat(np.arange(self.n_nodes), np.diff(self.child_start))
        return _frozen(parent)

    @cached_property
    def levels(self):
        """Nodes of each depth, from the root down."""
        levels = [np.array([0], dtype=np.int32)]
        while len(levels[-1]):
            last = levels[-1]
            levels.append(self.child[_ranges(self.child_start[last], self.child_start[last + 1])])
        return tuple(_frozen(level) for level in levels[:-1])

    @cached_property
    def depth(self):
        """Number of tests above each node."""
        depth = np.empty(self.n_nodes, dtype=np.int32)
        for level, nodes in enumerate(self.levels):
            depth[nodes] = level
        return _frozen(depth)

    @cached_property
    def preorder(self):
        """All nodes, each before its children, children in order."""
        order, stack = [], [0]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(self.children(node)[::-1].tolist())
        return _frozen(np.array(order, dtype=np.int32))

    @cached_property
    def weight(self):
        """Training weight of each node."""
        return _frozen(self.counts.sum(axis=1))

    @property
    def has_nominal(self):
        """Whether some column is a nominal attribute."""
        return any(labels is not None for labels in self.categories)

    def children(self, node):
        """Children of a node, in order."""
        return self.child[self.child_start[node] : self.child_start[node + 1]]

    def path(self, node):
        """Nodes from the root to ``node``, both included."""
        path = [int(node)]
        while self.parent[path[-1]] >= 0:
            path.append(int(self.parent[path[-1]]))
        return path[::-1]

    def feature_name(self, feature):
        """Name of a column: the given one or ``x[3]``."""
        return self.feature_names[feature] if self.feature_names else f"x[{feature}]"

    def encode(self, X):
        """Return X as the float64 matrix the tree compares: nominal codes, NaN where missing."""
        names = comparable_names(X)
        if names is not None and self.feature_names and names != self.feature_names:
            raise ValueError(names_differ(names, self.feature_names))
        X = as_matrix(X, self.categories)
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} columns, but the tree expects {self.n_features}.")
        return X

    def decode(self, X):
        """Return an encoded matrix with the labels of nominal columns: the inverse of ``encode``.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            As ``encode`` returns it, for instance ``Boundary.nearest(X).point``.

        Returns
        -------
        rows : ndarray of shape (n, n_features)
            Of objects if there is a nominal column, None where a label is missing.
        """
        if not self.has_nominal:
            return X
        rows = X.astype(object)
        for j, labels in enumerate(self.categories):
            if labels is not None:
                rows[:, j] = [None if np.isnan(code) else labels[int(code)] for code in X[:, j]]
        return rows

    def apply(self, X):
        """Return the leaf of each row.

        Where a missing value is shared among the children, the heaviest child is followed;
        :meth:`leaf_weights` has the shares.
        """
        return self.route(self.encode(X))

    def leaf_weights(self, X):
        """Return the share of each row that ends in each leaf: sparse, of shape (n, n_nodes)."""
        return self.route_shares(self.encode(X))

    def decision_path(self, X):
        """Return the nodes each row passes: a sparse indicator matrix of shape (n, n_nodes)."""
        weights = self.leaf_weights(X)
        passed = weights @ self._paths(np.unique(weights.indices))
        passed.data[:] = 1
        return passed.astype(np.int64)

    def predict(self, X):
        """Return the class of each row (regression: the value)."""
        X = self.encode(X)
        if self.classes is None:
            return self.route_shares(X) @ self.mean
        return self.classes[self.decide(X)]

    def predict_proba(self, X):
        """Return the class proportions of the leaves: constant over each leaf, biased, tied."""
        if self.classes is None:
            raise ValueError("A regression tree has no class probabilities; use predict.")
        return self.mix_proportions(self.encode(X))

    def decide(self, X):
        """Position of its class in ``classes`` for each row of an encoded matrix."""
        shared, labels = self.shared_rows(X), self.label[self.route(X)]
        if len(shared):
            labels[shared] = self.largest_share(self.mix_proportions(X[shared]))
        return labels

    def largest_share(self, shares):
        """Position of the class of the largest share in each row, of ties the first declared.

        As in J48, a later class must be 1e-6 larger: mixed shares that are equal on paper differ in
        their last bits.
        """
        best, chosen = np.zeros(len(shares)), np.full(len(shares), self.declared[0], dtype=np.int64)
        for c in self.declared:
            larger = shares[:, c] - best > 1e-6
            best[larger], chosen[larger] = shares[larger, c], c
        return chosen

    def mix_proportions(self, X):
        """Class proportions of each row of an encoded matrix, mixed where a value is shared."""
        shared, proportions = self.shared_rows(X), self.proportions
        probability = proportions[self.route(X)]
        if len(shared):
            mixed = self.route_shares(X[shared]) @ proportions
            probability[shared] = mixed / mixed.sum(axis=1, keepdims=True)
        return probability

    @cached_property
    def proportions(self):
        """Class proportions of each node; a node without training weight answers as its parent."""
        counts = self.filled_counts
        return _frozen(counts / counts.sum(axis=1, keepdims=True))

    @cached_property
    def filled_counts(self):
        """``counts``, with those of the parent where a node has no training weight."""
        counts = self.counts.copy()
        if self.weight[0] == 0:
            counts[0] = 1
        for nodes in self.levels[1:]:
            empty = nodes[self.weight[nodes] == 0]
            counts[empty] = counts[self.parent[empty]]
        return _frozen(counts)

    @cached_property
    def shares(self):
        """Share of each node in its parent: how a missing value is divided."""
        totals = np.zeros(self.n_nodes)
        np.add.at(totals, self.parent[1:], self.weight[1:])
        siblings = np.diff(self.child_start)[self.parent]
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.where(
                totals[self.parent] > 0, self.weight / totals[self.parent], 1 / siblings
            )
        shares[0] = 1.0
        return _frozen(shares)

    @cached_property
    def missing_child(self):
        """The child a missing value follows, the heaviest (first of ties) where it is shared."""
        following = self.missing.copy()
        for node in np.flatnonzero((self.missing == SHARE) & (self.kind != LEAF)):
            children = self.children(node)
            following[node] = children[np.argmax(self.weight[children])]
        return _frozen(following)

    def _paths(self, leaves):
        """Sparse (n_nodes, n_nodes): the row of each given leaf marks the nodes on its path."""
        paths = {leaf: self.path(leaf) for leaf in leaves.tolist()}
        lengths = [len(paths.get(node, ())) for node in range(self.n_nodes)]
        nodes = np.concatenate([paths[leaf] for leaf in sorted(paths)])
        start = np.concatenate([[0], np.cumsum(lengths)])
        return csr_matrix((np.ones(len(nodes)), nodes, start), shape=(self.n_nodes, self.n_nodes))

    def route(self, X):
        """Leaf of each row of an encoded matrix: what :meth:`apply` returns."""
        from keeptree._compiled.route import route_numeric_rows

        if (self.kind == NOMINAL).any():
            return self._route_any(X)
        leaf = np.empty(len(X), dtype=np.int64)
        route_numeric_rows(X, *self._numeric_steps, self.compare_dtype == "float32", leaf)
        if len(leaf) and leaf.max() == self.n_nodes:
            return self._route_any(X)  # it says which row and test
        return leaf

    def _route_any(self, X):
        from keeptree._compiled.route import route_rows

        leaf = np.empty(len(X), dtype=np.int64)
        route_rows(
            X,
            self.kind,
            self.feature,
            self.threshold,
            self.child_start,
            self.child,
            self.category_start,
            self.category_child,
            self.missing_child,
            self.compare_dtype == "float32",
            leaf,
        )
        if len(leaf) and leaf.min() < 0:
            row = int(np.argmax(leaf < 0))
            name = self.feature_name(self.feature[-1 - leaf[row]])
            raise ValueError(
                f"Row {row} has no value for {name!r} (NaN), and the tree has no rule for missing "
                "values there; fill it in before."
            )
        return leaf

    @cached_property
    def _numeric_steps(self):
        """Feature, threshold and the nodes that follow each test, for ``route_numeric_rows``."""
        inner = np.flatnonzero(self.kind != LEAF)
        following = np.zeros((self.n_nodes + 1, 3), dtype=np.int64)
        following[inner, 0] = self.child[self.child_start[inner]]
        following[inner, 1] = self.child[self.child_start[inner] + 1]
        missing = self.missing_child[inner]
        following[inner, 2] = np.where(missing < 0, self.n_nodes, missing)
        feature = np.append(self.feature, -1).astype(np.int64)
        return _frozen(feature), self.threshold, _frozen(following)

    def shared_rows(self, X):
        """Rows of an encoded matrix that have a missing value where a test shares it."""
        tests = (self.missing == SHARE) & (self.kind != LEAF)
        if not tests.any():
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(np.isnan(X[:, np.unique(self.feature[tests])]).any(axis=1))

    def route_shares(self, X):
        """Shares of the rows of an encoded matrix in the leaves: what ``leaf_weights`` returns."""
        shared = self.shared_rows(X)
        leaf = self.route(X)
        if len(shared) == 0:
            return csr_matrix(
                (np.ones(len(X)), leaf, np.arange(len(X) + 1)), (len(X), self.n_nodes)
            )
        rows = np.delete(np.arange(len(X)), shared)
        found = [(rows, leaf[rows], np.ones(len(rows)))]
        row, node, share = shared, np.zeros(len(shared), dtype=np.int64), np.ones(len(shared))
        while len(row):
            done = self.kind[node] == LEAF
            found.append((row[done], node[done], share[done]))
            row, node, share = self.descend(X, row[~done], node[~done], share[~done])
        row, node, share = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return csr_matrix((share, (row, node)), shape=(len(X), self.n_nodes))

    def descend(self, X, row, node, share):
        """One level down for (row, node, share) triples; a shared missing value becomes several."""
        value = X[row, self.feature[node]]
        if self.compare_dtype == "float32":
            value = value.astype(np.float32).astype(np.float64)
        missing = np.isnan(value)
        right = (value > self.threshold[node]).astype(np.int64)
        following = self.child[self.child_start[node] + right].astype(np.int64)
        nominal = ~missing & (self.kind[node] == NOMINAL)
        code = value[nominal].astype(np.int64)
        following[nominal] = self.category_child[self.category_start[node[nominal]] + code]
        following[missing] = self.missing[node[missing]]
        split = missing & (following == SHARE)
        first, last = self.child_start[node[split]], self.child_start[node[split] + 1]
        branches = self.child[_ranges(first, last)].astype(np.int64)
        width = last - first
        row = np.concatenate([row[~split], np.repeat(row[split], width)])
        share = np.concatenate(
            [share[~split], np.repeat(share[split], width) * self.shares[branches]]
        )
        node = np.concatenate([following[~split], branches])
        kept = share > 0
        return row[kept], node[kept], share[kept]

    def to_text(self, precision=6):
        """Return the tree as indented text in the manner of C4.5: one line per branch.

        A leaf ends in ``class (weight)`` or ``class (weight/errors)`` of its training cases.

        Parameters
        ----------
        precision : int, default=6
            Significant digits of thresholds and weights; those before the point are never cut.
        """
        return tree_to_text(self, precision)

    def to_dict(self):
        """Return the tree as plain Python values that JSON can hold."""
        return fields_to_dict({f.name: getattr(self, f.name) for f in fields(self)})

    @classmethod
    def from_dict(cls, data):
        """Build a Tree from :meth:`to_dict`; anything damaged is a ValueError."""
        return cls(**dict_to_fields(data))

    def save(self, path):
        """Write the tree to a JSON file; the file is replaced only once it is complete."""
        write_json(self.to_dict(), path)

    @classmethod
    def load(cls, path):
        """Read a tree from a JSON file; anything damaged is a ValueError."""
        return cls.from_dict(read_json(path))


def _rebuild(values):
    return Tree(**values)


def _complete(values):
    """The constructor's arguments as read-only arrays and tuples, optional ones filled in."""
    done = dict(values)
    try:
        done["n_features"] = _count_features(values["n_features"])
        n_nodes = len(values["kind"])
        for name, dtype in _DTYPES.items():
            if values[name] is not None:
                done[name] = _exact(values[name], dtype)
            elif name in _REQUIRED:
                raise ValueError(f"Not a tree: {name} is missing.")
        if done["category_start"] is None:
            done["category_start"] = np.zeros(n_nodes + 1, dtype=np.int32)
            done["category_child"] = np.empty(0, dtype=np.int32)
        if values["classes"] is None:
            done["declared"] = None
        else:
            done["classes"] = _object_safe(values["classes"])
            if done["label"] is None and done["counts"].ndim == 2 and done["counts"].size:
                done["label"] = done["counts"].argmax(axis=1).astype(np.int32)
            if done["declared"] is None:
                done["declared"] = np.arange(len(done["classes"]), dtype=np.int32)
        if values["feature_names"] is not None:
            done["feature_names"] = tuple(str(name) for name in values["feature_names"])
        done["categories"] = _categories(values["categories"], done["n_features"])
        done["source"] = MappingProxyType(dict(values["source"]))
    except (TypeError, OverflowError, AttributeError) as error:
        raise ValueError(f"Not a tree: {error}.") from error
    return {name: _frozen(v) if isinstance(v, np.ndarray) else v for name, v in done.items()}


def _sort_classes(tree):
    """What changes when the classes of a checked tree are sorted; nothing if they are."""
    if tree.classes is None:
        return {}
    order = sorting_order(tree.classes)
    if (order == np.arange(len(order))).all():
        return {}
    position = np.argsort(order).astype(np.int32)
    return {
        "classes": tree.classes[order],
        "counts": np.take(tree.counts, order, axis=1),
        "label": position[tree.label],
        "declared": position[tree.declared],
    }


def _count_features(number):
    number = int(operator.index(number))
    if not 1 <= number <= _MOST_FEATURES:
        raise ValueError(f"Not a tree: n_features is {number}, not between 1 and {_MOST_FEATURES}.")
    return number


def _exact(values, dtype):
    """A new array of ``dtype``; a number that does not fit is an error, never a wrap-around."""
    raw = np.asarray(values)
    if np.issubdtype(dtype, np.integer):
        if raw.dtype.kind not in "iu" and raw.size:
            raise ValueError(f"Not a tree: expected whole numbers, got {raw.dtype}.")
        limits = np.iinfo(dtype)
        if raw.size and (raw.min() < limits.min or raw.max() > limits.max):
            raise ValueError(f"Not a tree: a number does not fit {np.dtype(dtype)}.")
    elif raw.dtype.kind not in "iuf":  # NumPy would read numbers from text
        raise ValueError(f"Not a tree: expected numbers, got {raw.dtype}.")
    return np.array(raw, dtype=dtype)


def _object_safe(labels):
    """Labels as a 1-D array; a mixture of types stays a mixture (NumPy would make it text)."""
    if isinstance(labels, np.ndarray):
        return labels.copy()
    labels = list(labels)
    if len({type(label) for label in labels}) > 1:
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
        return array
    return np.array(labels)


def _categories(categories, n_features):
    if categories is None:
        return (None,) * n_features
    return tuple(None if labels is None else tuple(labels) for labels in categories)


def _frozen(array):
    """A copy that nobody can make writeable again: its memory is not an array's own."""
    if array.dtype.hasobject:
        kept = array.copy()
        kept.flags.writeable = False
        return kept.view()
    return np.ndarray(array.shape, array.dtype, buffer=array.tobytes())


def _ranges(first, last):
    """Concatenate the ranges ``first[i]:last[i]``."""
    width = last - first
    ends = np.cumsum(width)
    return np.arange(width.sum()) + np.repeat(first - (ends - width), width)


def _plural(number, one, many=None):
    return f"{number} {one if number == 1 else many or one + 's'}"


def names_differ(names, expected):
    """One sentence on how the column names of X are not those of the tree."""
    missing = [name for name in expected if name not in names]
    unseen = [name for name in names if name not in expected]
    if missing or unseen:
        return (
            "The feature names should match those of the tree. "
            f"Missing: {missing[:5]}; not expected: {unseen[:5]}."
        )
    return "The feature names should match those of the tree, in the same order."
