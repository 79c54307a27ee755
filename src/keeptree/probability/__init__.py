"""Probabilities for a kept tree."""
