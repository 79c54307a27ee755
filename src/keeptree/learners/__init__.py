"""Learners that grow a Tree and prunings that make one smaller."""

from keeptree.learners.c45 import C45Classifier
from keeptree.learners.prune import prune

__all__ = ["C45Classifier", "prune"]
