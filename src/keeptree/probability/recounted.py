"""A learner whose tree has the class counts of other rows than those it was grown on."""

from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags

from keeptree.importers import keep


class RecountedTree(ClassifierMixin, BaseEstimator):
    """A tree with new class counts, together with the learner that grew it.

    KeepTree's classifiers keep its tree, and refit its learner on folds.

    Parameters
    ----------
    estimator : estimator
        The learner, fitted or not.

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
        self.tree_ = keep(clone(self.estimator).fit(X, y, **more))
        self.classes_, self.n_features_in_ = self.tree_.classes, self.tree_.n_features
        return self

    def predict(self, X):
        """Return the decisions of the tree."""
        return self.tree_.predict(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
