"""Meaning of the numbers in a Tree's arrays."""

from keeptree._compiled.kinds import LEAF, NOMINAL, NUMERIC, OBLIQUE  # values of Tree.kind

__all__ = ["ERROR", "LEAF", "NOMINAL", "NUMERIC", "OBLIQUE", "SHARE"]

SHARE, ERROR = -1, -2  # values of Tree.missing that are not a child
