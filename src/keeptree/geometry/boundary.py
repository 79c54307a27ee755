"""Distances of cases to the decision boundary of a kept tree, and the nearest other decisions."""

from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from keeptree.annotations import Floats
from keeptree.blocks import map_rows
from keeptree.data.labels import label_codes
from keeptree.data.sample import Sample
from keeptree.geometry.grid import check_steps, read_grid
from keeptree.geometry.metric import Metric, read_metric
from keeptree.geometry.program import Program, compile_program
from keeptree.geometry.projection import Found, fill_signed, find_nearest, move_rows
from keeptree.geometry.rows import check_finite, wanted_classes
from keeptree.savable import Savable, expect
from keeptree.tree import LEAF, Tree


@dataclass(frozen=True, eq=False)
class Nearest:
    """Projection of each row on the nearest region with another (or the wanted) class.

    Points and leaves are computed on first access, because copying the rows can take as long as the
    search. Until then the object refers to the caller's rows, so do not change them in place.

    Attributes
    ----------
    point : ndarray of shape (n, n_features)
        Nearest point, encoded as by ``tree.encode``: a category is its position among the
        categories of its attribute. The kept tree really decides differently there. Values that
        need not change stay the same. A value that must not exceed a threshold becomes the largest
        number that the model does not place above it. A value that must exceed a threshold becomes
        the next larger number. On a grid, both become the nearest multiple of the column's step.
        NaN if there is no such region. In a tree with oblique tests, NaN also if no point was
        found, because a region is narrower than the rounding errors of its weighted sums.
    distance : ndarray of shape (n,)
        Distance to the closure of the region, or, on a grid, to the point; infinite if there is no
        such region.
    leaf : ndarray of shape (n,)
        Leaf of the tree that contains the point; -1 if there is no such region or point.
    separator : ndarray of shape (n,)
        Node of the separator, the test whose threshold is crossed. If several are, it belongs to
        the attribute that moves most. -1 if nothing has to move or there is no such region.
    predicted : ndarray of shape (n,)
        Class that the tree assigns to the point, or to the region if no point was found; the row's
        own class if there is no region.
    """

    distance: np.ndarray
    separator: np.ndarray
    predicted: np.ndarray
    _sources: "_Sources" = field(repr=False)

    @cached_property
    def point(self):
        """The nearest points, one row per case."""
        X, region, missing, missing_point, program, tree, n_jobs = self._sources
        point = np.empty(X.shape)

        def fill(start, stop):
            rows = slice(start, stop)
            move_rows(program, tree, X[rows], region[rows], point[rows])

        map_rows(fill, len(X), n_jobs)
        point[missing] = missing_point
        point[np.isinf(self.distance)] = np.nan
        return point

    @cached_property
    def leaf(self):
        """The leaves that contain the nearest points, -1 where there is none."""
        region, tree = self._sources.region, self._sources.tree
        node = self._sources.program.boxes.node[region]
        leaf = np.where((region >= 0) & (tree.kind[node] == LEAF), node, -1)
        leaf[self._sources.missing] = -1
        lost = self._lost_rows() if tree.has_oblique else np.zeros(len(leaf), dtype=bool)
        leaf[lost] = -1
        unknown = np.flatnonzero((leaf < 0) & np.isfinite(self.distance) & ~lost)
        if len(unknown):
            leaf[unknown] = tree.route(self.point[unknown], strict=False)
        return leaf

    def _lost_rows(self):
        """Return the mask of rows with a region but without a point in it."""
        return (np.isnan(self.point) & ~np.isnan(self._sources.X)).any(axis=1)


class _Sources(NamedTuple):
    """What the nearest points are computed from: the rows, their regions and known points."""

    X: np.ndarray
    region: np.ndarray
    missing: np.ndarray
    missing_point: np.ndarray
    program: Program
    tree: Tree
    n_jobs: int | None


class Boundary(Savable, BaseEstimator):
    """Geometry of the decision boundary of a kept tree.

    The boundary separates regions of different classes; there is none between two leaves of the
    same class. Regions are half-open, and the distance to a region is the distance to its closure,
    measured on the values that the model compares (rounded to float32 for a scikit-learn tree).

    This is the papers' definition: a case on a threshold has distance 0, even if the next possible
    value is a whole year away. With a ``grid``, the distance is measured to the nearest possible
    case with another decision, as in :func:`~keeptree.nearest_change`: a column with a step takes
    only multiples of that step.

    Parameters
    ----------
    tree : Tree or model
        Anything that :func:`keeptree.keep` accepts, except a pipeline with steps that cannot be
        folded into the tree: pass ``keep(pipeline, fold=False)`` and transformed rows instead. It
        is never changed.
    metric : {"standard", "minmax"} or Metric, default="standard"
        How distances between cases are measured.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. It does not affect the result.
    grid : None, "observed" or dict, default=None
        Which numbers are possible: all of them; multiples of the steps found in the training sample
        (whole numbers stay whole, one decimal stays one decimal); or multiples of the steps in a
        dict, keyed by column name or position.

    Attributes
    ----------
    tree_ : Tree
        The kept tree.
    metric_ : Metric
        The fitted metric.
    grid_ : ndarray of shape (n_features,) or None
        Step of each column, 0 for any number.
    region_classes_ : ndarray
        Positions in ``tree_.classes`` of the classes that have at least one region.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from keeptree import Boundary, Tree
    >>> stump = Tree(
    ...     kind=[1, 0, 0], feature=[0, -1, -1], threshold=[2.5, np.nan, np.nan],
    ...     child_start=[0, 2, 2, 2], child=[1, 2], missing=[-2, -2, -2],
    ...     counts=[[5, 4], [5, 0], [0, 4]], classes=["no", "yes"], n_features=1)
    >>> X = np.array([[1.0], [2.0], [3.0], [5.0]])
    >>> boundary = Boundary(stump, metric="minmax").fit(X)
    >>> boundary.distance(X)
    array([0.375, 0.125, 0.125, 0.625])
    >>> boundary.signed_distance(X[:2])
    array([[-0.375,  0.375],
           [-0.125,  0.125]])
    >>> boundary.nearest(X[3:]).point
    array([[2.5]])

    In whole numbers the nearest case on the other side of 2.5 is 3 or 2:

    >>> whole = Boundary(stump, metric="minmax", grid="observed").fit(X)
    >>> whole.distance(X)
    array([0.5 , 0.25, 0.25, 0.75])
    >>> whole.nearest(X[3:]).point
    array([[2.]])
    """

    saved_fields = ("tree_", "metric_", "grid_")
    grid_ = None  # absent from boundaries saved by older versions

    def __init__(
        self,
        tree: Any,
        metric: Literal["standard", "minmax"] | Metric = "standard",
        n_jobs: int | None = None,
        grid: Literal["observed"] | dict[Any, float] | None = None,
    ) -> None:
        self.tree = tree
        self.metric = metric
        self.n_jobs = n_jobs
        self.grid = grid

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Measure the scale of the attributes on a training sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Training sample.
        y : array-like of shape (n,), optional
            Classes; needed only by a value-difference metric.
        sample_weight : array-like of shape (n,), optional
            Weight of each row.

        Returns
        -------
        self : Boundary
            The fitted boundary.
        """
        from keeptree.importers import keep_with_steps

        tree, steps = keep_with_steps(self.tree, X)
        if steps:
            raise ValueError(
                "The tree inside the pipeline tests transformed columns, so distances can only be "
                "measured in those; give kt.keep(pipeline, fold=False) and the transformed rows."
            )
        if tree.classes is None:
            raise ValueError(
                "A regression tree has no classes and hence no decision boundary; give a "
                "classification tree."
            )
        rows = tree.encode(X)
        check_finite(rows, tree)
        if y is not None and len(y) != len(rows):
            raise ValueError(f"y has {len(y)} labels, but X has {len(rows)} rows.")
        weight = _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
        codes = None if y is None else label_codes(y, tree.classes)
        return self.fit_sample(Sample(tree, rows, codes, weight))

    def fit_sample(self, sample: Sample) -> Self:
        """Fit the boundary to a :class:`~keeptree.data.sample.Sample`, as ``fit`` does."""
        metric = clone(read_metric(self.metric))
        self.tree_ = sample.tree
        columns = sample.observed.columns
        self.metric_ = metric.fit_spread(columns, sample.tree, sample.X, sample.y, sample.weight)
        self.grid_ = read_grid(self.grid, sample.tree, sample.observed)
        self._compile()
        return self

    @classmethod
    def of_metric(cls, tree: Tree, metric: Metric, observed: Any = None) -> Self:
        """Return the boundary of a tree under a fitted metric; ``observed`` supplies the grid."""
        boundary = cls(tree, metric, grid=None if observed is None else "observed")
        boundary.tree_, boundary.metric_ = tree, metric
        boundary.grid_ = read_grid(boundary.grid, tree, observed)
        boundary._compile()
        return boundary

    def _compile(self):
        self.program_ = compile_program(self.tree_, self.metric_, self.grid_)
        self.region_classes_ = self.program_.classes
        self.n_features_in_ = self.tree_.n_features

    @property
    def saved_parameters(self) -> dict[str, Any]:
        """Return the parameters to save; the tree replaces the model that it was read from."""
        return {**self.get_params(deep=False), "tree": getattr(self, "tree_", self.tree)}

    def check_loaded(self) -> None:
        """Check the content of a file and compute what it leaves out."""
        expect(isinstance(self.tree_, Tree) and self.tree_.classes is not None, "it has no tree")
        expect(isinstance(self.metric_, Metric), "it has no metric")
        expect(self.n_jobs is None or type(self.n_jobs) is int, "n_jobs is not a whole number")
        self.metric_.check_tree(self.tree_)
        if self.grid_ is not None:
            check_steps(self.grid_, self.tree_)
        self._compile()

    def check_tree(self, tree: Tree) -> None:
        """Raise a ValueError if the boundary read from a file belongs to another tree."""
        expect(
            isinstance(self, Boundary) and self.tree_ is tree,
            "its boundary belongs to another tree",
        )

    def distance(self, X: ArrayLike) -> Floats:
        """Return the distance of each row to the decision boundary, infinite for a single class.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Cases.

        Returns
        -------
        distance : ndarray of shape (n,)
            Distance of each row.
        """
        return self.distance_encoded(self._encode(X))

    def distance_encoded(self, X: NDArray[Any]) -> Floats:
        """Return the result of ``distance`` for rows encoded by ``Tree.encode``."""
        distance = np.empty(len(X))

        def fill(start, stop):
            signed = np.empty((stop - start, self._width))
            fill_signed(self.program_, self.tree_, X, start, stop, signed)
            if self._width == 1:
                np.abs(signed[:, 0], out=distance[start:stop])
            else:
                # Column by column, because NumPy's minimum is slow along short rows.
                np.subtract(0.0, reduce(np.minimum, signed.T), out=distance[start:stop])

        map_rows(fill, len(X), self.n_jobs)
        return distance

    def signed_distance(self, X: ArrayLike) -> Floats:
        """Return the class-algebraic distances of each row (Alvarez et al. 2007, definition 2).

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Cases.

        Returns
        -------
        h : ndarray of shape (n, n_classes)
            For a row outside the region of a class, the distance to that region; for a row inside
            it, minus the distance to the other classes. ``inf`` for a class without a region, and
            ``-inf`` if only one class has a region.
        """
        return self.class_distances(self._encode(X))

    def class_distances(self, X: NDArray[Any]) -> Floats:
        """Return the result of ``signed_distance`` for an encoded matrix."""
        h = self.algebraic_distance(X, np.float64)
        return np.column_stack([h, 0.0 - h]) if len(self.tree_.classes) == 2 else h

    def nearest(self, X: ArrayLike, target: Any = None) -> Nearest:
        """Project each row on the nearest region of another class.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Cases.
        target : label or array-like of shape (n,), optional
            Desired class, for all rows or for each row. By default, any class other than the
            decision for the row. A row that already has the desired class is its own nearest point.

        Returns
        -------
        nearest : Nearest
            The nearest regions. If several are equally near, the first in preorder is taken;
            squared distances that agree to a relative 2**-36 count as equal.
        """
        return self.nearest_encoded(self._encode(X), target)

    def nearest_encoded(self, X: NDArray[Any], target: Any = None) -> Nearest:
        """Return the result of ``nearest`` for rows encoded by ``Tree.encode``."""
        n = len(X)
        found = Found.empty(n)
        wanted = None if target is None else wanted_classes(self.tree_, target, n)

        def fill(start, stop):
            part, asked = found.part(start, stop), None if wanted is None else wanted[start:stop]
            missing, point = find_nearest(self.program_, self.tree_, X, start, stop, part, asked)
            return start + missing, point

        settled = map_rows(fill, n, self.n_jobs) or [(np.empty(0, dtype=np.int64), X)]
        missing, point = settled[0]
        if len(settled) > 1:
            missing, point = (np.concatenate(parts) for parts in zip(*settled, strict=True))
        sources = _Sources(X, found.region, missing, point, self.program_, self.tree_, self.n_jobs)
        predicted = self.tree_.classes[found.label]
        return Nearest(found.distance, found.separator, predicted, sources)

    @property
    def _width(self):
        """Number of columns of algebraic distances: one for two classes, else one per class."""
        return 1 if len(self.tree_.classes) == 2 else len(self.tree_.classes)

    def _encode(self, X):
        check_is_fitted(self)
        return self.tree_.encode(X)

    def algebraic_distance(self, X: NDArray[Any], dtype: Any = np.float32) -> NDArray[Any]:
        """Return the class-algebraic distances of an encoded matrix.

        The shape is (n, n_classes), or (n, 1) with two classes: the distances of the first class,
        as those of the second are their negatives.

        Raises a ValueError for infinite values, and for missing values that the tree has no rule
        for.
        """
        h = np.empty((len(X), self._width), dtype=dtype)

        def fill(start, stop):
            fill_signed(self.program_, self.tree_, X, start, stop, h[start:stop])

        map_rows(fill, len(X), self.n_jobs)
        return h

    def nearest_separators(self, X: NDArray[Any]) -> Any:
        """Return the distance of encoded rows to the boundary, and the separator that they cross.

        If there is no other class, the distance is infinite and the separator -1.
        """
        found = Found.empty(len(X))

        def fill(start, stop):
            part = found.part(start, stop)
            find_nearest(self.program_, self.tree_, X, start, stop, part, fill=True)

        map_rows(fill, len(X), self.n_jobs)
        return found.distance, found.separator
