"""The kept tree: frozen arrays that importers and learners create and everything else reads."""

from keeptree.tree.branch import Branch
from keeptree.tree.html import ShowsTree
from keeptree.tree.kinds import ERROR, LEAF, NOMINAL, NUMERIC, OBLIQUE, SHARE
from keeptree.tree.oblique import refuse_oblique
from keeptree.tree.tree import Tree, names_differ

__all__ = [
    "ERROR",
    "LEAF",
    "NOMINAL",
    "NUMERIC",
    "OBLIQUE",
    "SHARE",
    "Branch",
    "ShowsTree",
    "Tree",
    "names_differ",
    "refuse_oblique",
]
