"""Learn from a table larger than memory: count all rows, learn from a sample."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

from sklearn.base import clone

from keeptree.data.cases import CaseReader
from keeptree.data.files import find_column
from keeptree.engines import engine_of
from keeptree.engines.tally import Survey, as_model, class_codes
from keeptree.importers import keep
from keeptree.output import require_extra
from keeptree.probability.estimator import is_kept, unfitted_learner
from keeptree.probability.recounted import RecountedTree
from keeptree.progress import step
from keeptree.saving import to_json
from keeptree.tree import SHARE, Tree
from keeptree.tree.signature import recounted

# Ratios of the size of the sample to that of the sample the kept tree was grown on.
_LARGEST = 2  # up to which the learner is refitted on folds
_MOSTLY_NEW = 10  # from which the kept tree itself scores the folds


def fit_table(
    model: Any,
    table: Any,
    target: str,
    *,
    sample: int = 1_000_000,
    key: str | None = None,
    nominal: Sequence[str] = (),
    drop: Sequence[str] = (),
    random_state: int = 0,
) -> Any:
    """Fit a classifier to a table of any library and any size.

    The tree's class counts come from *all* rows. Everything else is learned from a stratified
    sample that is drawn in the same pass over the table.

    Parameters
    ----------
    model : classifier
        Unfitted KeepTree classifier. If its ``estimator`` is a fitted tree or a
        :class:`~keeptree.Tree`, one pass over the table is enough; an unfitted learner grows its
        tree on the sample, and a second pass counts.
    table : table
        Table for :func:`~keeptree.score`. Dask and Spark tables are processed on their cluster,
        other tables in blocks.
    target : str
        Column of the class. All others are attributes, unless the tree names its columns.
    sample : int, default=1_000_000
        Size of the stratified sample, with at least ten rows of each class that has them.
    key : str, optional
        Column with a unique value in each row, such as an identifier. It makes the sample
        independent of the order and partitions of the table. Without it rows are identified by
        position: the same partitions give the same sample.
    nominal, drop : sequence of str
        For a tree that is grown: numeric columns to read as categories, and columns to ignore.
    random_state : int, default=0
        Seed of the sample.

    Returns
    -------
    model : classifier
        Fitted copy. ``tree_.source`` records the number of rows, the size of the sample and the
        seed.

    See Also
    --------
    score : Score a table.

    Notes
    -----
    Strengths and weights are chosen with trees that the learner grows on folds of the sample. If
    the sample is more than twice as large as the one the kept tree was grown on, those trees would
    be better than the kept tree, and their settings would not suit it. Defaults are then used, as
    for a Tree. If the sample is at least ten times as large, the kept tree has seen few of its
    rows, and the folds are scored with the kept tree itself; class sets are not calibrated on them.

    Rows with missing values are divided among children by the original counts of the tree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import keeptree as kt
    >>> table = load_iris(as_frame=True).frame
    >>> X, y = table.drop(columns="target")[:100], table["target"][:100]
    >>> clf = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> model = kt.fit_table(kt.SoftTreeClassifier(clf), table[:100], "target", sample=40)
    >>> model.tree_.counts[0].tolist()
    [50.0, 50.0]
    >>> model.tree_.source["counts"], model.tree_.source["sample"]
    ('100 rows of data', '40 rows, seed 0')
    """
    require_extra("pandas", "pyarrow", extra="files")
    _check(model, sample, random_state)
    engine, estimator = engine_of(table), model.estimator
    names = [str(name) for name in engine.names_of(table)]
    for name in (target, *([] if key is None else [key]), *nominal, *drop):
        find_column(name, names)
    others = [name for name in names if name not in (target, key, *drop)]
    tree = keep(estimator) if is_kept(estimator) else None
    drawn = None
    if tree is None:
        survey = Survey(None, tuple(others), target, sample, key, random_state)
        with step("Drawing a sample"):
            drawn = _survey(engine, table, survey).sample(survey)
        with step("Growing the tree"):
            frame = drawn.to_pandas()
            frame = frame.astype(dict.fromkeys(nominal, "category"))
            estimator = unfitted_learner(estimator).fit(frame[others], frame[target])
        tree = keep(estimator)
    _check_shares(tree)
    columns = tree.feature_names or tuple(others)
    survey = Survey(to_json(tree), tuple(columns), target, sample, key, random_state)
    with step("Counting all rows"):
        tally = _survey(engine, table, survey)
    drawn = tally.sample(survey) if drawn is None else drawn
    counted = _counted(tree, tally, len(drawn), random_state)
    X, y = _as_sample(drawn, tree, columns, target)
    return clone(model).set_params(estimator=_given(estimator, tree, counted, len(drawn))).fit(X, y)


def _given(estimator, tree, counted, n):
    """Return the counted tree, with the learner whose trees on the folds choose the settings."""
    if n >= _MOSTLY_NEW * tree.weight[0]:
        return RecountedTree(counted).with_tree(counted)
    if isinstance(estimator, Tree) or n > _LARGEST * tree.weight[0]:
        return counted
    return RecountedTree(estimator).with_tree(counted)


def _check(model, sample, seed):
    if not hasattr(model, "estimator") or not hasattr(model, "saved_parameters"):
        raise TypeError(f"fit_table needs a KeepTree classifier, got {type(model).__name__}.")
    if not isinstance(sample, Integral) or sample < 10:
        raise ValueError(f"sample={sample!r} must be an integer of at least 10.")
    if not isinstance(seed, Integral) or seed < 0:
        raise ValueError(f"random_state={seed!r} must be a non-negative integer.")


def _survey(engine, table, survey):
    tally = engine.tally(table, survey)
    if tally is None:
        raise ValueError("The table has no rows to learn from.")
    if len(tally.classes) < 2 or None in tally.classes:
        what = "is missing in some rows" if None in tally.classes else "has only one value"
        raise ValueError(f"The target {survey.target!r} {what}; at least two classes are needed.")
    return tally


def _check_shares(tree):
    if tree.weight[0] == 0 and (tree.missing == SHARE).any():
        raise ValueError(
            "The tree divides missing values by class counts, but has none; add them with "
            "kt.keep(source, X, y)."
        )


def _counted(tree, tally, drawn, seed):
    source = {
        **tree.source,
        "counts": f"{tally.rows} rows of data",
        "sample": f"{drawn} rows, seed {seed}",
    }
    return recounted(replace(tree, counts=tally.counts, source=source), tree)


def _as_sample(drawn, tree, columns, target):
    """The sample in the format of the tree's learner."""
    batch = drawn.combine_chunks().to_batches()[0]
    X = CaseReader(as_model(tree, columns), batch.schema.names).frame(batch)
    import pandas as pd

    y = tree.classes[class_codes(batch.column(target), tree, target)]
    return X, pd.Series(y, name=target)
