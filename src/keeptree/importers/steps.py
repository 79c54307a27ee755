"""Pass rows through the fitted steps of a pipeline and encode them."""

from scipy.sparse import issparse

from keeptree.data.table import take_named
from keeptree.tree import Tree


def take_columns(X, model):
    """Return the columns of a data frame that a model reads, by name and in its order.

    Parameters
    ----------
    X : array-like or data frame
        Input of the model. Without names, or if a column is absent, it is returned unchanged.
    model : fitted model or Tree
        Model that names its columns.
    """
    is_tree = isinstance(model, Tree)
    names = model.feature_names if is_tree else getattr(model, "feature_names_in_", None)
    return take_named(X, names)


def run_steps(X, steps):
    """Apply the fitted transformers of a pipeline to X, and make a sparse result dense.

    Parameters
    ----------
    X : array-like or data frame
        Input of the first transformer.
    steps : sequence of fitted transformers
        From :func:`keeptree.importers.unwrap`; if empty, X is returned unchanged.
    """
    for step in steps:
        X = step.transform(X)
    return X.toarray() if len(steps) and issparse(X) else X


def read_rows(X, tree, steps=()):
    """Return X encoded for the tree, after the steps of a pipeline."""
    return tree.encode(run_steps(X, steps))
