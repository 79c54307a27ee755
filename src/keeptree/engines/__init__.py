"""Engines: where and on what a model is put to work; they share one scorer of blocks."""
