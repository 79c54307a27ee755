"""Trees that the same learner grows on folds of the sample, to choose settings out of fold.

The kept tree has seen the labels of its training cases, so settings chosen on them alone would be
overconfident. Trees refitted on folds score cases they have not seen; the kept tree stays the same.
"""

import warnings
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, indexable

from keeptree.data.arrow import from_arrow
from keeptree.data.labels import label_codes
from keeptree.data.sample import Sample, stratified_part
from keeptree.importers import keep_with_steps
from keeptree.importers.steps import read_rows
from keeptree.probability.blas import one_blas_thread
from keeptree.probability.estimator import fit_learner, unfitted_learner
from keeptree.probability.probabilistic import ProbabilityModel
from keeptree.probability.recounted import RecountedTree
from keeptree.progress import step
from keeptree.tree import Tree

FOLDS = 5
_LEAST_WEIGHT = 0.1  # smaller mean weights raise a warning
MOST_ROWS = 20_000  # rows of all folds that the experts use; the trees are grown on all rows


@dataclass(frozen=True, eq=False)
class Fold:
    """The training and test rows of a refitted tree.

    The tree's classes are those of the kept tree, in the same order. Rows are encoded for this
    tree, because the steps of a pipeline are refitted too. ``rows`` holds the positions of the test
    rows in the whole sample. For a large sample both parts are subsets.
    """

    train: Sample
    test: Sample
    rows: np.ndarray

    @property
    def tree(self):
        """The refitted tree."""
        return self.train.tree

    @property
    def lifted(self):
        """The fold with one more column for each weighted sum that the refitted tree tests."""
        return Fold(self.train.lifted, self.test.lifted, self.rows)


def lift_folds(folds):
    """Return the folds with a column for each weighted sum; None stays None."""
    return None if folds is None else tuple(fold.lifted for fold in folds)


def folds_reading(folds, more):
    """Return the folds for estimates that may read other columns, too; None stays None."""
    if folds is None:
        return None
    return tuple(replace(f, train=f.train.reading(more), test=f.test.reading(more)) for f in folds)


def out_of_fold(estimator, sample, X, y, weighted=False, cv=None, n_jobs=None, most=MOST_ROWS):
    """Refit a kept tree's learner on the folds of its training sample.

    Parameters
    ----------
    estimator : estimator, Tree or None
        The estimator that was kept or grown; its clone is fitted.
    sample : Sample
        The training sample as the kept tree reads it. All folds share the tree's classes and their
        order. Rows of weight 0 are left out, and copies of a row stay together.
    X, y
        The same sample in the user's form, which the learner is given.
    weighted : bool, default=False
        Whether the learner is given the weights as well.
    cv : int, splitter, iterable or None
        The folds, in the form that scikit-learn's ``cross_validate`` takes. None means five
        stratified folds, or as many as the smallest class has cases.
    n_jobs : int, optional
        Number of threads for refitting.
    most : int
        Number of rows that the folds return; a larger sample is reduced to a stratified part.

    Returns
    -------
    folds : tuple of Fold, or None
        None if there is no learner (as for a :class:`~keeptree.Tree`), or, with a warning, if a
        class has a single case.
    """
    learner = unfitted_learner(estimator)
    if learner is None:
        return None
    X, y = indexable(X, y)
    labels, case = sample.y, sample.copies
    present = np.flatnonzero(sample.weight > 0)
    first = present[np.unique(case[present], return_index=True)[1]]  # row of each case
    members = np.bincount(labels[first])
    members = members[members > 0]
    if len(members) < 2:
        return None  # one class only: nothing to choose
    if cv is None and members.min() < 2:
        warnings.warn(
            f"A class has a single case, so {type(learner).__name__} cannot be refitted on "
            "folds of the sample; default strengths are used.",
            UserWarning,
            stacklevel=3,
        )
        return None
    shown = present[stratified_part(labels[present], most)]
    grown_on = X, y, sample.weight if weighted else None
    splits = _splits(cv, X, sample, present, shown, first)
    work = (
        delayed(_refit)(learner, sample, grown_on, grow, np.intersect1d(grow, shown), hold)
        for grow, hold in splits
    )
    folds = []
    with step("Refitting the tree on folds", len(splits)) as move:
        for fold in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(work):
            folds.append(fold)
            move(len(folds))
    return tuple(folds)


def _splits(cv, X, sample, present, shown, first):
    """Return for each fold the training rows, and the selected rows of the held-out part."""
    labels, case, rows = sample.y, sample.copies, np.arange(len(sample))
    if cv is None:
        fewest = min(n for n in np.bincount(labels[first]) if n)
        folds = StratifiedKFold(min(FOLDS, fewest), shuffle=True, random_state=0)
        parts = [case[first[hold]] for _, hold in folds.split(first, labels[first])]
        splits = [(~np.isin(case, part), np.isin(case, part)) for part in parts]
    else:
        splits = check_cv(cv, labels, classifier=True).split(X, labels)
    found = []
    for grow, hold in splits:
        grow, hold = np.intersect1d(rows[grow], present), np.intersect1d(rows[hold], shown)
        hold = hold[np.isin(labels[hold], labels[grow])]  # the tree cannot score other classes
        found += [(grow, hold)] if len(hold) else []
    if not found:
        raise ValueError(
            "No fold of cv holds out a row with a positive weight whose class is in its training "
            "part."
        )
    return found


def held_out_loss(p, y, weight):
    """Sum the log-losses of probabilities of shape (n, n_classes, ...), once for each setting."""
    return -np.tensordot(weight, np.log(np.maximum(p[np.arange(len(y)), y], 1e-15)), axes=1)


def _refit(learner, sample, grown_on, grow, shown, hold):
    """Return the fold of a learner grown on some rows of the user's X, y and weights."""
    part = [None if given is None else _safe_indexing(given, grow) for given in grown_on]
    model = fit_learner(clone(learner), *part)
    tree, transformers = keep_with_steps(model, part[0])
    tree = _with_classes(tree, sample.tree)

    def read(rows):
        part = sample.take(rows)
        found = None if transformers else part.read_by(tree)
        if found is not None:
            return found
        X = read_rows(_safe_indexing(grown_on[0], rows), tree, transformers)
        return Sample(tree, X, part.y, part.weight)

    return Fold(read(shown), read(hold), hold)


def _with_classes(tree, kept):
    """Return the tree with the classes of the kept tree; missing classes get counts of 0."""
    position = label_codes(tree.classes, kept.classes)
    counts = np.zeros((tree.n_nodes, len(kept.classes)))
    counts[:, position] = tree.counts
    label = position[tree.label]
    return replace(tree, counts=counts, label=label, classes=kept.classes, declared=kept.declared)


class RefittedModel(ProbabilityModel):
    """Base of the classifiers whose strengths are chosen with refitted trees.

    A subclass has ``cv`` among its parameters and supplies ``_refits()``, which returns whether it
    needs refits, and ``_learn(sample, folds)``. With folds, the latter returns None or the scored
    test rows of all folds, in their order.
    """

    _parameter_constraints = {**ProbabilityModel._parameter_constraints, "cv": ["cv_object"]}

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:  # noqa: D102 - inherited
        X, y = from_arrow(X), from_arrow(y)  # the learner is given rows of both
        sample, folds = self._prepare(X, y, sample_weight), None
        _check_scale(sample.weight)
        if self._refits():
            weighted = sample_weight is not None
            folds = out_of_fold(self.estimator, sample, X, y, weighted, self.cv, self.n_jobs)
        with one_blas_thread():
            unseen = self._learn(sample, folds)
        if folds is not None and unseen is not None:
            decided = [fold.tree.decide(fold.test.X) for fold in folds]
            unseen = unseen._replace(decision=np.concatenate(decided))
        if unseen is not None and not self._grows_trees():
            unseen = unseen._replace(refitted=False, decision=None)
        self._remember(sample, unseen)
        return self

    def _grows_trees(self):
        """Return whether the trees of the folds are new ones, which have not seen the test rows."""
        learner = self.estimator
        return not (isinstance(learner, RecountedTree) and isinstance(learner.estimator, Tree))

    @property
    def saved_parameters(self) -> dict[str, Any]:
        """Parameters of a saved model, without ``cv``, which is no longer needed."""
        cv = self.cv if isinstance(self.cv, Integral) else None
        return {**super().saved_parameters, "cv": cv}


def _check_scale(weight):
    """Warn about weights so small that the sample counts as a few cases.

    Counts are compared with fixed numbers: shrinkage adds pseudo-cases, and margins use tests of
    nodes with at least ten cases.
    """
    total, n = weight.sum(), np.count_nonzero(weight)
    if total < _LEAST_WEIGHT * n:
        warnings.warn(
            f"The sample weights of {n} rows sum to {total:.3g}. A weight of 1 means one case, "
            "so this counts as a sample of few cases. If that is not intended, rescale the weights "
            "so that their mean is about 1.",
            UserWarning,
            stacklevel=3,
        )
