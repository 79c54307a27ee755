"""Tree learners and pruning."""

from keeptree.learners.c45 import C45Classifier
from keeptree.learners.nbtree import NBTreeClassifier
from keeptree.learners.prune import prune
from keeptree.learners.regressor import TreeRegressor

__all__ = ["C45Classifier", "NBTreeClassifier", "TreeRegressor", "prune"]
