"""Distances to the decision boundary of a kept tree, nearest points and separators."""
