"""Tree: a decision tree as flat arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keeptree.annotations import Filename, Floats
from keeptree.choice import tell_absent
from keeptree.data.arrow import from_arrow
from keeptree.data.table import as_matrix, comparable_names, take_named
from keeptree.encoding import digest_of, read_json, sealed, write_json
from keeptree.text import plural
from keeptree.tree import oblique, routing
from keeptree.tree.arrays import complete, frozen, sort_classes
from keeptree.tree.branch import Branch, find_branch
from keeptree.tree.check import check_tree
from keeptree.tree.document import dict_to_fields, fields_to_dict, identity, unsealed
from keeptree.tree.html import tree_html
from keeptree.tree.signature import sign_digest
from keeptree.tree.structure import Structure
from keeptree.tree.text import tree_to_text


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Tree(Structure):
    """An immutable decision tree in flat arrays; build one with :func:`keeptree.keep`.

    Node 0 is the root. A numeric test sends ``x <= threshold`` to its first child and the rest to
    its second. A nominal test assigns a child to each category, which covers both multiway splits
    and subsets. An oblique test compares a weighted sum of columns with its threshold, as a numeric
    test compares one column. Every array is checked on construction and is read-only.

    Parameters
    ----------
    kind : array of shape (n_nodes,)
        0 for a leaf, 1 for a numeric test, 2 for a nominal test, 3 for an oblique test.
    feature : array of shape (n_nodes,)
        Column tested; -1 in a leaf and for an oblique test.
    threshold : array of shape (n_nodes,)
        Threshold of a numeric or an oblique test; NaN elsewhere.
    child_start, child : arrays of shape (n_nodes + 1,) and (n_nodes - 1,)
        Node i has the children ``child[child_start[i]:child_start[i + 1]]``.
    category_start, category_child : arrays of shape (n_nodes + 1,) and (any,)
        Nominal node i sends category code k to node ``category_child[category_start[i] + k]``.
    term_start, term_feature, term_weight : arrays of shape (n_nodes + 1,) and (any,), optional
        Oblique node i sums ``term_weight[k]`` times the column ``term_feature[k]`` for k from
        ``term_start[i]`` to ``term_start[i + 1] - 1``, in this order.
    missing : array of shape (n_nodes,)
        Where a missing value goes: the number of a child, -1 to share the case among the children
        by their weight, or -2 to raise an error. In an oblique test, a sum with a missing term is
        missing.
    counts : array of shape (n_nodes, n_classes)
        Weighted class counts of the training cases in each node; for a regression tree, one column
        with their weight.
    label : array of shape (n_nodes,), optional
        Index of the class that each node assigns. Default: the class with the largest count, the
        first of ties.
    mean, variance : arrays of shape (n_nodes,), optional
        For a regression tree: the value that each node predicts and the variance of its cases.
    classes : array of shape (n_classes,), optional
        Labels of any type, in any order; None for a regression tree. The tree sorts them, and
        reorders ``counts`` and ``label`` to match, unless the labels cannot be compared.
    declared : array of shape (n_classes,), optional
        Positions in ``classes`` in the order in which the classes were declared; the first of them
        wins ties. Default: the given order.
    n_features : int
        Number of columns.
    feature_names : sequence of str, optional
        Names of the columns.
    categories : sequence of length n_features, optional
        For each column, None if it is numeric, or the labels of a nominal attribute in declared
        order.
    unknown : array of shape (n_features,), optional
        How to treat a label that is not among the categories of its column: the code of the
        category that stands for all others, -1 to treat it as missing (the default), or -2 to raise
        an error.
    compare_dtype : {"float64", "float32"}
        Type to which values are rounded before they are compared with a threshold, and in which
        weighted sums are computed.
    source : dict of str to str
        Where the tree came from.
    signatures : sequence of Signature, optional
        Records of who approved the tree; add one with :meth:`sign`.

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
    term_start: np.ndarray | None = None
    term_feature: np.ndarray | None = None
    term_weight: np.ndarray | None = None
    label: np.ndarray | None = None
    mean: np.ndarray | None = None
    variance: np.ndarray | None = None
    classes: np.ndarray | None = None
    declared: np.ndarray | None = None
    feature_names: tuple | None = None
    categories: tuple | None = None
    unknown: np.ndarray | None = None
    compare_dtype: str = "float64"
    source: dict = field(default_factory=dict)
    signatures: tuple = ()

    def __post_init__(self):
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, value in complete(values).items():
            object.__setattr__(self, name, value)
        check_tree(self)
        for name, value in sort_classes(self).items():
            object.__setattr__(self, name, frozen(value))

    # A Tree is immutable, so its copies (and scikit-learn's clones) are the Tree itself.
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
        leaves = plural(self.n_leaves, "leaf", "leaves")
        columns = plural(self.n_features, "feature")
        return f"Tree({leaves}, depth {self.max_depth}, {classes}, {columns}{origin})"

    def _repr_html_(self):
        return tree_html(self)

    @cached_property
    def lifted(self) -> "Tree":
        """The tree with an extra column for each weighted sum and numeric tests on these columns.

        A tree without oblique tests is returned as it is. :meth:`lift` extends rows to match.
        """
        return oblique.lift_tree(self) if self.has_oblique else self

    def lift(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return rows of an encoded matrix with the weighted sums appended, for :attr:`lifted`."""
        return oblique.lift_rows(self, X) if self.has_oblique else X

    def branch(self, node: int) -> Branch:
        """Return the branch that leads to a node from its parent.

        Parameters
        ----------
        node : int
            A node other than the root.

        Returns
        -------
        branch : :class:`~keeptree.tree.branch.Branch`
            Column, sign and threshold (or categories) of the test. ``branch.text()`` returns the
            condition as :meth:`to_text` writes it.
        """
        return find_branch(self, node)

    def feature_name(self, feature: int) -> str:
        """Return the name of a column; ``x[3]`` if the columns have no names.

        Parameters
        ----------
        feature : int
            Position of the column.

        Returns
        -------
        name : str
            Name of the column.
        """
        return self.feature_names[feature] if self.feature_names else f"x[{feature}]"

    def select(self, X: ArrayLike) -> Any:
        """Return the tree's columns of a data frame that has more; return any other X as it is.

        Parameters
        ----------
        X : array-like or data frame of shape (n, any)
            Cases.

        Returns
        -------
        X : array-like or data frame
            The columns that :meth:`encode` reads.
        """
        names = comparable_names(X)
        if names is None or not self.feature_names or len(names) <= self.n_features:
            return X
        return take_named(X, self.feature_names)

    def encode(self, X: ArrayLike) -> Floats:
        """Return X as the float64 matrix that the tree compares, with codes for categories.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Cases. If a data frame has more columns than the tree, they are matched by name.

        Returns
        -------
        matrix : ndarray of shape (n, n_features)
            Missing values are NaN; a category is its position in ``categories``.
        """
        X = self.select(from_arrow(X))
        names = comparable_names(X)
        if names is not None and self.feature_names and names != self.feature_names:
            raise ValueError(names_differ(names, self.feature_names))
        matrix = as_matrix(X, self.categories, self.unknown)
        if matrix.shape[1] != self.n_features:
            raise ValueError(
                f"X has {matrix.shape[1]} columns, but the tree expects {self.n_features}."
            )
        return matrix

    def decode(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return an encoded matrix with labels in its nominal columns: the inverse of ``encode``.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            Encoded matrix, for instance ``Boundary.nearest(X).point``.

        Returns
        -------
        rows : ndarray of shape (n, n_features)
            Decoded cases. With nominal columns, the array has type object and None for missing
            labels.
        """
        if not self.has_nominal:
            return X
        rows = X.astype(object)
        for j, labels in enumerate(self.categories):
            if labels is not None:
                rows[:, j] = [None if np.isnan(code) else labels[int(code)] for code in X[:, j]]
        return rows

    def apply(self, X: ArrayLike) -> NDArray[Any]:
        """Return the leaf of each row.

        Where a missing value is shared among the children, the row follows the child with the
        largest weight; :meth:`leaf_weights` returns all shares.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Cases.

        Returns
        -------
        leaf : ndarray of shape (n,)
            Node numbers of the leaves.
        """
        return self.route(self.encode(X))

    def leaf_weights(self, X: ArrayLike) -> Any:
        """Return the share of each row that reaches each leaf.

        A row without shared missing values reaches one leaf, with share 1.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Cases.

        Returns
        -------
        share : sparse matrix of shape (n, n_nodes)
            Shares, which sum to 1 in each row.
        """
        return self.route_shares(self.encode(X))

    def decision_path(self, X: ArrayLike) -> Any:
        """Return the nodes that each row passes.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Cases.

        Returns
        -------
        indicator : sparse matrix of shape (n, n_nodes)
            1 for each node that the row passes.
        """
        weights = self.leaf_weights(X)
        passed = weights @ self._paths(np.unique(weights.indices))
        passed.data[:] = 1
        return passed.astype(np.int64)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the predicted class of each row; for a regression tree, the predicted value.

        This is the class of the row's leaf. Only if a test on its way shares a missing value among
        several children do the mixed class proportions decide.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Cases.

        Returns
        -------
        y : ndarray of shape (n,)
            Classes or values.
        """
        X = self.encode(X)
        if self.classes is None:
            return self.route_shares(X) @ self.mean
        return self.classes[self.decide(X)]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the class proportions of each row's leaf.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Cases.

        Returns
        -------
        probability : ndarray of shape (n, n_classes)
            Columns in the order of ``classes``.

        Raises
        ------
        ValueError
            If this is a regression tree or has no class counts.
        """
        if self.classes is None:
            raise ValueError("A regression tree has no class probabilities; use predict.")
        if self.weight[0] == 0:
            raise ValueError("This tree has no class counts; add them with kt.keep(tree, X, y).")
        return self.mix_proportions(self.encode(X))

    def decide(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the position in ``classes`` of the class of each row of an encoded matrix."""
        shared, labels = self.shared_rows(X), self.label[self.route(X)]
        if len(shared):
            labels[shared] = self.decide_shared(X[shared])
        return labels

    def decide_shared(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the result of ``decide`` for encoded rows whose missing value is shared."""
        return self.largest_share(routing.mix(self, X, self.proportions))

    def largest_share(self, shares: NDArray[Any]) -> NDArray[Any]:
        """Return the position of the class with the largest share in each row.

        Ties go to the class declared first. As in J48, a later class must be larger by 1e-6,
        because mixed shares that are equal in theory may differ in their last bits.
        """
        best, chosen = np.zeros(len(shares)), np.full(len(shares), self.declared[0], dtype=np.int64)
        for c in self.declared:
            larger = shares[:, c] - best > 1e-6
            best[larger], chosen[larger] = shares[larger, c], c
        return chosen

    def mix_proportions(self, X: NDArray[Any]) -> Floats:
        """Return the class proportions of encoded rows, mixed if a missing value is shared."""
        return self.leaf_average(X, self.proportions)

    def leaf_average(self, X: NDArray[Any], values: Floats, normalise: bool = True) -> Floats:
        """Return the values of the leaves of encoded rows, mixed if a missing value is shared.

        ``values`` has a row for each node; with ``normalise``, mixed values are divided by their
        sum.
        """
        return routing.leaf_average(self, X, values, normalise)

    def route(self, X: NDArray[Any], strict: bool = True) -> NDArray[Any]:
        """Return the leaf of each row of an encoded matrix, as :meth:`apply` does.

        A missing value that the tree has no rule for is an error; with ``strict=False`` it goes to
        the first child.
        """
        return routing.route(self, X, strict)

    def route_shares(self, X: NDArray[Any]) -> Any:
        """Return the share of each encoded row that reaches each leaf; see :meth:`leaf_weights`."""
        return routing.route_shares(self, X)

    def shared_rows(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the encoded rows that meet a test which shares their missing value."""
        return routing.shared_rows(self, X)

    def descend(
        self, X: NDArray[Any], row: NDArray[Any], node: NDArray[Any], share: NDArray[Any]
    ) -> Any:
        """Move (row, node, share) triples down one level; a shared missing value gives several."""
        return routing.descend(self.lifted, self.lift(X), row, node, share)

    @cached_property
    def node_list(self) -> Any:
        """The nodes as plain Python values, to walk single rows."""
        return routing.node_list(self)

    @cached_property
    def numeric_steps(self) -> Any:
        """Arguments of the compiled routing function for trees without nominal tests."""
        return tuple(frozen(array) for array in routing.numeric_steps(self))

    def to_text(self, precision: int | None = 6) -> str:
        """Return the tree as indented text, one line per branch; :func:`~keeptree.keep` reads it.

        A leaf ends in ``class (weight)`` or ``class (weight/errors)``, counted on its training
        cases. With three or more classes, errors are listed by class: ``(54/5 of virginica)``.

        Parameters
        ----------
        precision : int or None, default=6
            Significant digits of thresholds and weights; digits before the decimal point are never
            dropped. None writes all digits and all rules for missing values and unseen categories,
            so that a tree read from the text sends every row to the same leaf.

        Returns
        -------
        text : str
            The tree, without a final line break.
        """
        return tree_to_text(self, precision)

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits that change whenever anything in the tree changes.

        It does not depend on ``source`` and ``signatures``: a tree kept by another version of a
        library, or signed again, has the same digest.
        """
        return digest_of(identity(self.to_dict()))

    def sign(self, by: str, note: str = "", at: datetime | None = None) -> Self:
        """Return the tree with one more signature: a record of who approved it, not cryptography.

        Parameters
        ----------
        by : str
            Name of the person who signs.
        note : str
            One line of free text.
        at : datetime, optional
            Time of the signature, with a time zone; now by default.

        Returns
        -------
        tree : Tree
            The signed tree.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> import keeptree as kt
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = kt.keep(kt.C45Classifier().fit(X, y)).sign("Ada Lovelace", "Approved for use.")
        >>> [(signature.by, signature.digest == tree.digest) for signature in tree.signatures]
        [('Ada Lovelace', True)]
        """
        return replace(self, signatures=(*self.signatures, sign_digest(self.digest, by, note, at)))

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain Python values that JSON can hold.

        Returns
        -------
        data : dict
            Fields of the tree, with a format and its version.
        """
        return fields_to_dict({f.name: getattr(self, f.name) for f in fields(self)})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build a Tree from the result of :meth:`to_dict`.

        Parameters
        ----------
        data : dict
            Result of :meth:`to_dict`; damaged data raise a ValueError.

        Returns
        -------
        tree : Tree
            The tree.
        """
        return cls(**dict_to_fields(data, fields(cls)))

    def save(self, path: Filename) -> None:
        """Write the tree to a JSON file.

        Parameters
        ----------
        path : str or path-like
            Name of the file. An existing file is replaced only when the new one is complete.
        """
        write_json(sealed(self.to_dict()), path)

    @classmethod
    def load(cls, path: Filename) -> Self:
        """Read a tree from a JSON file.

        Parameters
        ----------
        path : str or path-like
            Name of a file written by :meth:`save`; a damaged file raises a ValueError.

        Returns
        -------
        tree : Tree
            The tree.
        """
        document = read_json(path)
        try:
            return cls.from_dict(unsealed(document))
        except ValueError as error:
            raise ValueError(f"{path} cannot be read: {error}") from error


def _rebuild(values):
    return Tree(**values)


def names_differ(names, expected):
    """Return a sentence that tells how the column names of X differ from those of the model.

    Examples
    --------
    >>> names_differ(("age", "Income"), ("age", "income"))
    "X lacks the column 'income', which the model needs; did you mean 'Income'? If so, rename it."
    >>> names_differ(("age", "income", "id"), ("age", "income"))
    "X has the column 'id', which the model does not know; leave it out."
    >>> names_differ(("income", "age"), ("age", "income"))
    "X has the columns of the model in another order; give them as 'age', 'income'."
    """
    absent = [name for name in expected if name not in names]
    if absent:
        return f"X lacks {tell_absent(absent, names, expected)}"
    unseen = [name for name in names if name not in expected]
    if unseen:
        shown = ", ".join(map(repr, unseen[:5])) + (" and others" if len(unseen) > 5 else "")
        s, them = ("", "it") if len(unseen) == 1 else ("s", "them")
        return f"X has the column{s} {shown}, which the model does not know; leave {them} out."
    order = ", ".join(map(repr, expected[:10])) + (", ..." if len(expected) > 10 else "")
    return f"X has the columns of the model in another order; give them as {order}."
