"""The story of a case: its path through the tree, and the smallest change of the decision."""
