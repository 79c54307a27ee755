"""Kinds of nodes, as in ``Tree.kind``."""

LEAF, NUMERIC, NOMINAL = 0, 1, 2
