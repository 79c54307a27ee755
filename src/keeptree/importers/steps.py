"""Rows on their way to a tree: through the fitted steps of a pipeline, then encoded."""

from scipy.sparse import issparse


def run_steps(X, steps):
    """Return X behind the fitted transformers of a pipeline.

    Parameters
    ----------
    X : array-like or data frame
        What the first of them takes.
    steps : sequence of fitted transformers
        From :func:`keeptree.importers.unwrap`; without any X is returned as it is.
    """
    for step in steps:
        X = step.transform(X)
    return X


def read_rows(X, tree, steps=()):
    """Return the encoded matrix of X: the steps of a pipeline, then ``tree.encode``.

    What the steps make sparse, as OneHotEncoder does, is made dense.
    """
    X = run_steps(X, steps)
    return tree.encode(X.toarray() if len(steps) and issparse(X) else X)
