"""Distribution of the training columns, with which audits compare later data."""

from dataclasses import dataclass

import numpy as np

from keeptree.savable import expect, expect_array, saved_part

_MOST_POINTS = 100
_ROWS_PER_POINT = 10  # minimum number of rows per quantile, so that none reveals a single row
# Maximum number of columns; of a wider table only the columns that the tree tests are described.
_MOST_COLUMNS = 1000


@saved_part
@dataclass(frozen=True, eq=False)
class Reference:
    """Quantiles and category counts of the training columns, without any rows.

    Parameters
    ----------
    rows : int
        Number of rows with a positive weight.
    columns : ndarray of shape (n_described,)
        Positions of the columns described.
    points : tuple of ndarray
        Quantiles of the known values of each column; empty for nominal columns.
    below : tuple of ndarray
        Number of known values up to each quantile; for nominal columns the number of rows in each
        category.
    known : ndarray of shape (n_described,)
        Number of rows with a value.
    """

    rows: int
    columns: np.ndarray
    points: tuple
    below: tuple
    known: np.ndarray

    def check(self, tree):
        """Raise a ValueError if the content of a file does not fit the tree."""
        expect(isinstance(self.rows, int) and self.rows > 0, "its reference has no rows")
        expect_array(self.columns, "columns", np.int64, (None,))
        n = len(self.columns)
        expect_array(self.known, "known", np.int64, (n,))
        inside = (self.columns >= 0) & (self.columns < tree.n_features)
        expect(
            inside.all() and len(np.unique(self.columns)) == n, "a column of its reference is wrong"
        )
        counted = (self.known >= 0) & (self.known <= self.rows)
        expect(counted.all(), "more values are known than there are rows")
        for values in (self.points, self.below):
            expect(isinstance(values, tuple) and len(values) == n, "its reference lacks a column")
        for f, points, below, known in zip(
            self.columns.tolist(), self.points, self.below, self.known, strict=True
        ):
            labels = tree.categories[f]
            size = len(points) if labels is None else len(labels)
            expect_array(points, "points", np.float64, (None,) if labels is None else (0,))
            expect_array(below, "below", np.int64, (size,))
            ends = below[-1:] if labels is None else below.sum(keepdims=True)
            expect(
                (below >= 0).all() and (ends <= known).all(),
                "the counts of its reference exceed its rows",
            )
            if labels is None:
                rising = (np.diff(points) > 0).all() and (np.diff(below) >= 0).all()
                expect(rising, "the quantiles of its reference do not increase")


def describe_columns(sample):
    """Return the :class:`Reference` of a :class:`~keeptree.data.sample.Sample`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> from keeptree.data.sample import Sample
    >>> X, y = load_iris(return_X_y=True)
    >>> reference = describe_columns(Sample(kt.C45Classifier().fit(X, y).tree_, X, y))
    >>> reference.rows, reference.points[2][:3], reference.below[2][:3]
    (150, array([1.3, 1.4, 1.5]), array([11, 24, 37]))
    """
    tree, sample = sample.tree, sample.present
    columns = np.arange(tree.n_features)
    if len(columns) > _MOST_COLUMNS:
        columns = tree.tested
    described = [_describe(sample.X[:, f], tree.categories[f]) for f in columns.tolist()]
    points, below, known = zip(*described, strict=True) if described else ((), (), ())
    known = np.array(known, dtype=np.int64)
    return Reference(len(sample), columns.astype(np.int64), points, below, known)


def _describe(values, labels):
    """Return the quantiles, counts and number of known values of one column."""
    values = values[~np.isnan(values)]
    if labels is not None:
        counts = np.bincount(values.astype(np.int64), minlength=len(labels))
        return np.empty(0), counts.astype(np.int64), len(values)
    n_parts = min(_MOST_POINTS, len(values) // _ROWS_PER_POINT)
    if n_parts < 1:
        return np.empty(0), np.empty(0, dtype=np.int64), len(values)
    values = np.sort(values)
    places = np.arange(1, n_parts + 1) * len(values) // n_parts - 1
    points = np.unique(values[places])
    return points, np.searchsorted(values, points, side="right").astype(np.int64), len(values)
