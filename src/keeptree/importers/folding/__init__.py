"""Fold a pipeline into one tree over its raw columns."""

from keeptree.importers.folding.fold import Folded, fold
from keeptree.importers.folding.transformers import CannotFoldError

__all__ = ["CannotFoldError", "Folded", "fold"]
