"""Explanations of single cases: the path through the tree and the nearest change."""
