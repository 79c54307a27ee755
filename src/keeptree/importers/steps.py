"""Pass rows through the fitted steps of a pipeline and encode them."""

from scipy.sparse import issparse


def run_steps(X, steps):
    """Apply the fitted transformers of a pipeline to X.

    Parameters
    ----------
    X : array-like or data frame
        Input of the first transformer.
    steps : sequence of fitted transformers
        From :func:`keeptree.importers.unwrap`; if empty, X is returned unchanged.
    """
    for step in steps:
        X = step.transform(X)
    return X


def read_rows(X, tree, steps=()):
    """Return X encoded for the tree, after the steps of a pipeline.

    Sparse results, such as those of OneHotEncoder, are converted to dense.
    """
    X = run_steps(X, steps)
    return tree.encode(X.toarray() if len(steps) and issparse(X) else X)
