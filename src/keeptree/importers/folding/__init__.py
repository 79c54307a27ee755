"""A pipeline as one tree over its raw columns."""

from keeptree.importers.folding.fold import Folded, fold
from keeptree.importers.folding.transformers import CannotFold

__all__ = ["CannotFold", "Folded", "fold"]
