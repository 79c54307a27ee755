"""The leaves of a tree as boxes, for cases with and without missing values.

A missing value stays missing. Where the tree sends it to one child, the test does not narrow the
box. Where the tree shares the case among the children, the case reaches several leaves at once, and
a box is a set of cases that reach the same leaves.
"""

from keeptree.geometry.boxes import Boxes, Cuts
from keeptree.tree import ERROR, LEAF, SHARE, refuse_oblique

_MOST_BOXES = 200_000  # limit, because each shared missing value multiplies the number of boxes


def find_cells(tree, missing=()):
    """Return the boxes of the leaves that a case with some missing values can reach.

    Parameters
    ----------
    tree : Tree
        A classification tree.
    missing : tuple of int
        Attributes whose value is missing.

    Returns
    -------
    boxes : Boxes
        Boxes of the cells, with their leaves and classes.
    """
    refuse_oblique(tree, "have no boxes", "search changes with kt.nearest_change")
    return Boxes.pack(_Cells(tree, frozenset(missing)).find())


class _Cells:
    """Walks down a tree with a box and visits all children where a missing value is shared.

    A state holds the (node, share) pairs still to visit, the box so far, the leaves reached and
    whether a missing value was shared. States are never modified in place.
    """

    def __init__(self, tree, missing):
        self.tree, self.missing = tree, missing
        self.cuts = Cuts(tree)

    def find(self):
        """Yield the leaf, the class and the box of each cell."""
        count, stack = 0, [(((0, 1.0),), {}, (), False)]
        while stack:
            todo, box, reached, mixed = stack.pop()
            if not todo:
                count += 1
                if count > _MOST_BOXES:
                    raise ValueError(
                        "The missing values can be shared among the leaves in more than "
                        f"{_MOST_BOXES:,} ways; fill in some of them first."
                    )
                yield (*self._decide(reached, mixed), box)
                continue
            (node, share), *rest = todo
            if self.tree.kind[node] == LEAF:
                stack.append((tuple(rest), box, (*reached, (node, share)), mixed))
                continue
            mixed |= (
                int(self.tree.feature[node]) in self.missing and self.tree.missing[node] == SHARE
            )
            for following, narrowed in reversed(self._steps(node, share, box)):
                stack.append(((*following, *rest), narrowed, reached, mixed))

    def _steps(self, node, share, box):
        """Return, for each way to continue after a test, the (node, share) pairs and the box."""
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
        sides = [(child, self.cuts.side(box, node, child)) for child in children]
        return [
            (((child, share),), {**box, f: side}) for child, side in sides if side.can_be_reached
        ]

    def _decide(self, reached, mixed):
        """Return the leaf with the largest share and the class, which mixed proportions decide."""
        tree = self.tree
        heaviest = max(reached, key=lambda entry: entry[1])[0]
        if not mixed:
            return heaviest, int(tree.label[heaviest])
        shares = sum(share * tree.proportions[leaf] for leaf, share in reached)
        return heaviest, int(tree.largest_share((shares / shares.sum())[None])[0])
