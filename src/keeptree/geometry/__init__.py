"""Distances to a kept tree's decision boundary, nearest points and separators."""
