"""Audit a model on new data: whether the input has changed and the tree is still right."""
