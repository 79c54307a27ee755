"""The leaves of a tree as boxes: for cases whose values are all known, and for those with gaps.

A missing value stays missing. Where the tree sends it to one child, the tests of that attribute
vanish; where it shares the case among the children, the case is in several leaves at once, and a
box is a set of values over which all of them stay the same.
"""

from dataclasses import dataclass

import numpy as np

from keeptree.tree import ERROR, LEAF, NUMERIC, SHARE

_MOST_BOXES = 200_000  # shared missing values multiply them


@dataclass(frozen=True)
class Boxes:
    """Boxes in preorder, each of one class.

    Coordinates ``start[r]`` to ``start[r + 1]`` of box r have a ``feature`` and the least and the
    largest value inside (``low``, ``high``), as the model compares, or, if nominal, ``allowed``:
    whether each category lies inside, None for a numeric one.
    """

    leaf: np.ndarray  # the leaf (the heaviest of several)
    label: np.ndarray
    start: np.ndarray
    feature: np.ndarray
    low: np.ndarray
    high: np.ndarray
    allowed: tuple


def find_boxes(tree, missing=()):
    """Boxes of the leaves a case can reach.

    Parameters
    ----------
    tree : Tree
        A classification tree.
    missing : tuple of int
        Attributes the case has no value for.

    Returns
    -------
    boxes : Boxes
    """
    found = _Cells(tree, frozenset(missing)).find()
    label, leaf, start, sides = [], [], [0], []
    for cell_leaf, cell_label, box in found:
        leaf.append(cell_leaf)
        label.append(cell_label)
        sides.extend((f, *box[f]) for f in sorted(box))
        start.append(len(sides))
    feature, lower, upper, allowed = zip(*sides, strict=True) if sides else ((), (), (), ())
    return Boxes(
        leaf=np.array(leaf, dtype=np.int64),
        label=np.array(label, dtype=np.int64),
        start=np.array(start, dtype=np.int64),
        feature=np.array(feature, dtype=np.int64),
        low=np.array(lower, dtype=np.float64),
        high=np.array(upper, dtype=np.float64),
        allowed=tuple(allowed),
    )


class _Cells:
    """Walks the tree with a box; where a missing value is shared, down all children in turn.

    A state is what is left to visit, each (node, share), the box so far (feature -> least value,
    largest value, categories) and the leaves reached. States are never changed, only replaced.
    """

    def __init__(self, tree, missing):
        self.tree, self.missing = tree, missing
        dtype = np.dtype(tree.compare_dtype).type
        with np.errstate(over="ignore"):
            rounded = tree.threshold.astype(dtype)
            above = np.nextafter(rounded, dtype(np.inf)).astype(np.float64)
            below = np.nextafter(rounded, dtype(-np.inf)).astype(np.float64)
        rounded = rounded.astype(np.float64)
        # The largest number the model does not put above the threshold, and the next one.
        self.at_most = np.where(rounded <= tree.threshold, rounded, below).tolist()
        self.above = np.where(rounded > tree.threshold, rounded, above).tolist()
        self.largest = float(np.finfo(dtype).max)
        tests = (tree.missing == SHARE) & (tree.kind != LEAF)
        # As Tree.predict: such a row is decided by the mixture, even if it ends in one leaf.
        self.mixed = bool(self.missing & set(tree.feature[tests].tolist()))

    def find(self):
        """Yield the leaf, the class and the box of each cell."""
        count, stack = 0, [(((0, 1.0),), {}, ())]
        while stack:
            todo, box, reached = stack.pop()
            if not todo:
                count += 1
                if count > _MOST_BOXES:
                    raise ValueError(
                        "The missing values can be shared among the leaves in more than "
                        f"{_MOST_BOXES:,} ways; fill in some of them before."
                    )
                yield (*self._decide(reached), box)
                continue
            (node, share), *rest = todo
            if self.tree.kind[node] == LEAF:
                stack.append((tuple(rest), box, (*reached, (node, share))))
                continue
            for following, narrowed in reversed(self._steps(node, share, box)):
                stack.append(((*following, *rest), narrowed, reached))

    def _steps(self, node, share, box):
        """(Nodes with shares, box) of each way on from a test."""
        tree, f = self.tree, int(self.tree.feature[node])
        children = [int(child) for child in tree.children(node)]
        if f in self.missing:
            goes = int(tree.missing[node])
            if goes == ERROR:
                return []
            if goes != SHARE:
                return [(((goes, share),), box)]
            parts = tuple((c, share * tree.shares[c]) for c in children if tree.shares[c] > 0)
            return [(parts, box)]
        if tree.kind[node] != NUMERIC:
            return self._nominal_steps(node, share, box, f, children)
        low, high, _ = box.get(f, (-np.inf, np.inf, None))
        steps = []
        for child, least, most in (
            (children[0], low, min(high, self.at_most[node])),
            (children[1], max(low, self.above[node]), high),
        ):
            if least <= most and least <= self.largest and most >= -self.largest:
                steps.append((((child, share),), {**box, f: (least, most, None)}))
        return steps

    def _nominal_steps(self, node, share, box, f, children):
        tree, steps = self.tree, []
        goes = tree.category_children(node)
        for child in children:
            inside = goes == child
            if f in box:
                inside = inside & box[f][2]
            if inside.any():
                steps.append((((child, share),), {**box, f: (np.nan, np.nan, inside)}))
        return steps

    def _decide(self, reached):
        """The heaviest leaf, and the class."""
        tree = self.tree
        heaviest = max(reached, key=lambda entry: entry[1])[0]
        if not self.mixed:
            return heaviest, int(tree.label[heaviest])
        mixed = sum(share * tree.proportions[leaf] for leaf, share in reached)
        return heaviest, int(tree.largest_share((mixed / mixed.sum())[None])[0])
