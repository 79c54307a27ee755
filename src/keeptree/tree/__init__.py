"""The kept tree: frozen arrays that importers and learners create and everything else reads."""

from keeptree.tree.branch import Branch
from keeptree.tree.html import ShowsTree
from keeptree.tree.kinds import ERROR, LEAF, NOMINAL, NUMERIC, OBLIQUE, SHARE
from keeptree.tree.oblique import combination_text, refuse_oblique, weighted_sums
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
    "combination_text",
    "names_differ",
    "refuse_oblique",
    "weighted_sums",
]
