"""The columns that estimates read besides those that the tree tests."""

from numbers import Integral

import numpy as np

from keeptree.probability.normal_scores import normal_scores

MOST = 32  # columns; of more, those that separate the classes best


def check_more(more, tree):
    """Return the columns as a tuple, by name where the tree has names.

    "tree" and "all" stay as they are, and a list that adds nothing to the tree's own columns is
    "tree". Anything that is not a column of the tree raises a ValueError.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> tree = kt.C45Classifier().fit(*load_iris(return_X_y=True, as_frame=True)).tree_
    >>> check_more(["sepal width (cm)", 0], tree)
    ('sepal width (cm)', 'sepal length (cm)')
    """
    if isinstance(more, str):
        return more
    more = np.asarray(more, dtype=object)
    if more.ndim != 1:
        raise ValueError(
            f'columns has {more.ndim} dimensions; give a list of columns, "tree" or "all".'
        )
    positions = [_position(column, tree) for column in more]
    for column, position in zip(more, positions, strict=True):
        if position is None:
            raise ValueError(
                f"columns={more.tolist()!r:.80} names {column!r:.50}, which is not among the "
                f'{tree.n_features} columns of the tree; give names or positions, "tree" or "all".'
            )
    if set(positions) <= set(tree.tested.tolist()):
        return "tree"
    names = tree.feature_names
    return tuple(position if names is None else names[position] for position in positions)


def more_columns(sample):
    """Return the positions of the columns that ``sample.more`` adds to those that the tree tests.

    Columns that separate no classes, such as constant ones, are left out. If there are more than 32
    of them, the ones that separate the classes best are returned, judged on this sample alone.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> from keeptree.data.sample import Sample
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = kt.C45Classifier(max_depth=1).fit(X, y).tree_
    >>> tree.tested.tolist(), more_columns(Sample(tree, X, y, more="all")).tolist()
    ([3], [0, 1, 2])
    """
    tree = sample.tree
    if isinstance(sample.more, str):
        allowed = range(tree.n_features) if sample.more == "all" else ()
    else:
        allowed = {_position(column, tree) for column in sample.more} - {None}
    others = sorted(set(allowed) - set(tree.feature.tolist()))
    gains = np.array([_separation(sample.present, f) for f in others])
    best = np.argsort(-gains, kind="stable")[:MOST]
    return np.array(others, dtype=np.int64)[np.sort(best[gains[best] > 0])]


def _position(column, tree):
    """Return the position of a column given by name or position, or None if there is none."""
    if isinstance(column, str):
        names = tree.feature_names or ()
        return names.index(column) if column in names else None
    is_position = isinstance(column, Integral) and not isinstance(column, bool)
    return int(column) if is_position and 0 <= column < tree.n_features else None


def _separation(sample, f):
    """Return the share of the variance of a column that its classes explain, between 0 and 1.

    A numeric column is measured in normal scores, a nominal one by its categories.
    """
    known = ~np.isnan(sample.X[:, f])
    y, weight = sample.y[known], sample.weight[known]
    if sample.tree.categories[f] is not None:
        return _association(sample.X[known, f].astype(np.int64), y, weight)
    scores = normal_scores(sample, f)
    if len(scores.value) < 2:
        return 0.0
    score = scores.of(sample.X[known, f])
    total = np.average((score - np.average(score, weights=weight)) ** 2, weights=weight)
    sums = np.bincount(y, weight * score), np.bincount(y, weight)
    mean = sums[0] / np.maximum(sums[1], 1e-300)
    between = np.average((mean - np.average(score, weights=weight)) ** 2, weights=sums[1])
    return float(between / total)


def _association(codes, y, weight):
    """Return Goodman and Kruskal's tau: the share of the classes' impurity that codes explain."""
    table = np.zeros((codes.max(initial=0) + 1, y.max(initial=0) + 1))
    np.add.at(table, (codes, y), weight / max(weight.sum(), 1e-300))
    prior, size = table.sum(axis=0), table.sum(axis=1)
    before = 1 - (prior**2).sum()
    after = 1 - (table**2 / np.maximum(size, 1e-300)[:, None]).sum()
    return float((before - after) / before) if before > 0 else 0.0
