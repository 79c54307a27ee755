"""Kinds of nodes, as in ``Tree.kind``."""

LEAF, NUMERIC, NOMINAL, OBLIQUE = 0, 1, 2, 3
