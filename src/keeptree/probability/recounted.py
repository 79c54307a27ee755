"""A learner whose tree has the class counts of other rows than those it was grown on."""

from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags

from keeptree.importers import keep
from keeptree.probability.estimator import allows_missing, reads_any_column
from keeptree.tree import Tree


class RecountedTree(ClassifierMixin, BaseEstimator):
    """A tree with new class counts, together with the learner that grew it.

    KeepTree's classifiers keep its tree, and refit its learner on folds.

    Parameters
    ----------
    estimator : estimator or Tree
        The learner, fitted or not. A Tree is a learner that always grows this tree: in a sample
        whose classes it has not seen, folds can be scored by the tree itself.

    Attributes
    ----------
    tree_ : Tree
        The tree, set by :meth:`with_tree` or grown by ``fit``.
    """

    def __init__(self, estimator):
        self.estimator = estimator

    def with_tree(self, tree):
        """Return a fitted copy with this tree."""
        made = RecountedTree(self.estimator)
        made.tree_, made.classes_, made.n_features_in_ = tree, tree.classes, tree.n_features
        return made

    def fit(self, X, y, sample_weight=None):
        """Grow the learner's tree, whose counts are those of the rows."""
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        grown = self.estimator
        if not isinstance(grown, Tree):
            grown = clone(grown).fit(X, y, **more)
        self.tree_ = keep(grown)
        self.classes_, self.n_features_in_ = self.tree_.classes, self.tree_.n_features
        return self

    def predict(self, X):
        """Return the decisions of the tree."""
        return self.tree_.predict(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if isinstance(self.estimator, Tree):
            tags.input_tags.allow_nan = allows_missing(self.estimator)
            tags.input_tags.categorical = reads_any_column(self.estimator)
        else:
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags
