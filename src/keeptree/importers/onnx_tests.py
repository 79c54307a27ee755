"""Convert the tests of an ONNX tree to a Sketch, for all node modes and both operators."""

from dataclasses import dataclass

import numpy as np

from keeptree.importers.sketch import just_below, widened

MOST_NODES = 2_000_000
_MODES = (
    "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ",
    "BRANCH_MEMBER",
)  # fmt: skip
LEQ, LT, GTE, GT, EQ, NEQ, MEMBER = range(7)
LEAF = 7
_OTHER = "(other)"


@dataclass(frozen=True)
class Nodes:
    """Nodes of all trees as arrays.

    Attributes
    ----------
    roots : list of int
        Index of each tree's root; ``-1 - leaf`` for a tree of one leaf.
    tree_ids : list of int
        Identifier of each tree in the file.
    feature, mode, value : ndarray
        Test of each node.
    true, false : ndarray
        Indices of the children; ``-1 - leaf`` for a leaf.
    missing_true : ndarray of bool
        Whether a missing value passes the test.
    members : dict
        Set of each membership test.
    """

    roots: list
    tree_ids: list
    feature: np.ndarray
    mode: np.ndarray
    value: np.ndarray
    true: np.ndarray
    false: np.ndarray
    missing_true: np.ndarray
    members: dict


def read_nodes(values):
    """Return the Nodes of a TreeEnsembleClassifier; leaves are identified by node number."""
    names = ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")
    trees, ids, feature, true, false = (values[f"nodes_{name}"] for name in names)
    modes = [*_MODES[:MEMBER], "LEAF"]
    mode = np.array([modes.index(mode) for mode in values["nodes_modes"]])
    mode[mode == MEMBER] = LEAF
    value = values.get("nodes_values_as_tensor", values.get("nodes_values"))
    missing = _flags(values, len(ids))
    _check_lengths(trees, ids, feature, true, false, mode, value, missing)
    place = {}
    for i, key in enumerate(zip(trees.tolist(), ids.tolist(), strict=True)):
        if place.setdefault(key, i) != i:
            raise ValueError(f"Tree {key[0]} has two nodes with the number {key[1]}.")
    inner = np.flatnonzero(mode != LEAF)
    # Replace leaves by their numbers and inner nodes by their indices.
    address = np.where(mode == LEAF, -1 - ids, np.arange(len(ids)))
    following = [np.zeros(len(ids), dtype=np.int64) for _ in range(2)]
    for i in inner.tolist():
        for side, ids_below in zip(following, (true, false), strict=True):
            side[i] = address[place[int(trees[i]), int(ids_below[i])]]
    first = {}
    for i, tree in enumerate(trees.tolist()):
        first.setdefault(tree, i)
    roots = [int(address[i]) for i in first.values()]
    return Nodes(roots, list(first), feature, mode, value, *following, missing, {})


def read_ensemble(values):
    """Return the Nodes of a TreeEnsemble; leaves are identified by their index."""
    feature, mode = values["nodes_featureids"], values["nodes_modes"].astype(np.int64)
    if len(mode) and mode.max() > MEMBER:
        raise ValueError(f"A node has the mode {mode.max()}, which does not exist.")
    below = [
        np.where(values[f"nodes_{side}leafs"] != 0, -1 - ids, ids)
        for side in ("true", "false")
        for ids in [values[f"nodes_{side}nodeids"]]
    ]
    missing, value = _flags(values, len(feature)), values["nodes_splits"]
    _check_lengths(feature, mode, value, missing, *below)
    n_leaves = len(values["leaf_weights"])
    for side in below:
        if len(side) and (side.max() >= len(feature) or side.min() < -n_leaves):
            raise ValueError("A node has a child that does not exist.")
    roots = values["tree_roots"].tolist()
    members = _sets(values.get("membership_values", np.empty(0)), np.flatnonzero(mode == MEMBER))
    trees = list(range(len(roots)))
    return Nodes(roots, trees, feature, mode, value, *below, missing, members)


def _flags(values, n):
    flags = values.get("nodes_missing_value_tracks_true", ())
    return np.asarray(flags) != 0 if len(flags) else np.zeros(n, dtype=bool)


def _check_lengths(*columns):
    if len({len(column) for column in columns}) != 1:
        raise ValueError("The nodes have lists of different lengths.")
    if len(columns[0]) > MOST_NODES:
        raise ValueError(f"The model has {len(columns[0]):,} nodes, too many for a tree.")


def _sets(values, tests):
    ends = np.flatnonzero(np.isnan(values))
    if len(ends) == len(tests) - 1:  # the NaN after the last set may be omitted
        ends = np.append(ends, len(values))
    if len(ends) != len(tests):
        raise ValueError(f"There are {len(ends)} sets of values for {len(tests)} tests.")
    starts = [0, *(ends + 1).tolist()]
    return {
        test: sorted({float(x) for x in values[start:end]})
        for test, start, end in zip(tests.tolist(), starts, ends.tolist(), strict=False)
    }


def write_tests(sketch, nodes, number, inputs):
    """Fill a Sketch with the tests of a tree; return ``{node: leaf number}``."""
    return _Writer(sketch, nodes, inputs).write(nodes.roots[number])


class _Writer:
    """Writes the nodes of a tree into a Sketch, from the root down."""

    def __init__(self, sketch, nodes, inputs):
        self.sketch, self.nodes, self.inputs = sketch, nodes, inputs
        self.stack, self.leaves = [], {}

    def write(self, root):
        """Write the tree; return ``{node: leaf number}``."""
        places = self._reached(root)
        self._find_nominal(places)
        self.stack.append((0, root))
        while self.stack:
            node, place = self.stack.pop()
            if place < 0:
                self.leaves[node] = -1 - place
            elif self.nodes.true[place] == self.nodes.false[place]:
                self.stack.append((node, int(self.nodes.true[place])))
            elif self.nodes.mode[place] in (EQ, NEQ, MEMBER):
                self._equality(node, place)
            else:
                self._comparison(node, place)
            if len(self.sketch.kind) > MOST_NODES:
                raise ValueError("Tests for single numbers make this tree too large.")
        return self.leaves

    def _reached(self, root):
        """Return the indices of the inner nodes of a tree, each of which must be reached once."""
        places, stack = set(), [root]
        while stack:
            place = stack.pop()
            if place < 0:
                continue
            if place in places or place >= len(self.nodes.feature):
                raise ValueError("The nodes of the tree form a cycle, or two have the same child.")
            places.add(place)
            below = {int(self.nodes.true[place]), int(self.nodes.false[place])}
            stack += below
        return sorted(places)

    def _column(self, place):
        feature, column_of = int(self.nodes.feature[place]), self.inputs.column_of
        if feature < 0 or (column_of and feature >= len(column_of)):
            raise ValueError(f"A test uses the column {feature}, which does not exist.")
        return column_of[feature] if column_of else feature

    def _values(self, place):
        """Return the numbers of an equality test."""
        if self.nodes.mode[place] == MEMBER:
            return self.nodes.members[place]
        return [float(self.nodes.value[place])]

    def _find_nominal(self, places):
        """Return the columns that are tested only for equality with integers, hence nominal."""
        found, numeric = {}, set()
        for place in places:
            column = self._column(place)
            values = self._values(place) if self.nodes.mode[place] in (EQ, NEQ, MEMBER) else [0.5]
            if all(value.is_integer() and abs(value) < 2**24 for value in values):
                found.setdefault(column, set()).update(map(int, values))
            else:
                numeric.add(column)
        nominal = {j: (*sorted(found[j]), _OTHER) for j in found if j not in numeric}
        if nominal:
            columns = range(self.sketch.n_features)
            self.sketch.categories = tuple(nominal.get(j) for j in columns)
            # Numbers outside all sets fail every test.
            self.sketch.unknown = {j: len(labels) - 1 for j, labels in nominal.items()}

    def _comparison(self, node, place):
        mode, true, false = (int(x[place]) for x in self._test)
        value, passes = self.nodes.value[place], bool(self.nodes.missing_true[place])
        if not np.isfinite(value):
            self._boundless(node, place)
            return
        column = self._column(place)
        threshold = self._threshold(column, value, mode in (LT, GTE))
        first, second = (true, false) if mode in (LEQ, LT) else (false, true)
        missing = 0 if (first == true) == passes else 1
        children = self.sketch.numeric(node, column, threshold, missing)
        self.stack += zip(children, (first, second), strict=True)

    def _boundless(self, node, place):
        """Write a test with an infinite or NaN threshold, which either all values pass or none."""
        mode, true, false = (int(x[place]) for x in self._test)
        value, passes = self.nodes.value[place], bool(self.nodes.missing_true[place])
        all_pass = (value == np.inf and mode == LEQ) or (value == -np.inf and mode == GTE)
        none_passes = np.isnan(value) or (value == np.inf and mode == GT)
        none_passes = none_passes or (value == -np.inf and mode == LT)
        if (all_pass and passes) or (none_passes and not passes):
            self.stack.append((node, true if all_pass else false))
            return
        raise ValueError(
            f"A test of column {self._column(place)} has the threshold {value}, which a Tree "
            "cannot represent."
        )

    def _equality(self, node, place):
        mode, true, false = (int(x[place]) for x in self._test)
        column, values = self._column(place), self._values(place)
        equal, other = (false, true) if mode == NEQ else (true, false)
        # NaN is not equal to any number.
        missing = true if mode == NEQ or self.nodes.missing_true[place] else false
        if self.sketch.categories and self.sketch.categories[column] is not None:
            labels = self.sketch.categories[column]
            branch_of = [int(label not in values) for label in labels]
            children = self.sketch.nominal(node, column, branch_of, int(missing != equal), width=2)
            self.stack += zip(children, (equal, other), strict=True)
            return
        for value in values:
            if not np.isfinite(value):
                raise ValueError(
                    f"A test of column {column} compares with {value}, which a Tree cannot "
                    "represent."
                )
            # Divide into three ranges: below, equal and above.
            below = self._threshold(column, value, True)
            first, node = self.sketch.numeric(node, column, below, int(missing == equal))
            self.stack.append((first, other))
            exact = self._threshold(column, value, False)
            first, node = self.sketch.numeric(node, column, exact, int(missing != equal))
            self.stack.append((first, equal))
        self.stack.append((node, other))

    @property
    def _test(self):
        return self.nodes.mode, self.nodes.true, self.nodes.false

    def _threshold(self, column, value, strictly):
        """Return the largest number that is at most (or less than) a value in the compared type."""
        single = self.sketch.compare_dtype == "float32"
        rounded = bool(self.inputs.rounded) and self.inputs.rounded[column]
        value = float(value)
        if single or rounded:
            nearest = np.float32(value)
            lowered = float(nearest) > value or (strictly and float(nearest) == value)
            value = just_below(nearest, np.float32) if lowered else float(nearest)
            return widened(value) if rounded else value
        return just_below(value) if strictly else value
