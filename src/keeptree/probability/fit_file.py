"""Fit a model to a data file, as ``keeptree fit`` does."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from keeptree.annotations import Filename
from keeptree.data.labels import label_names, rename_classes
from keeptree.data.source import DataFile
from keeptree.data.training import read_training
from keeptree.probability.estimator import check_learner
from keeptree.probability.methods import make_method
from keeptree.progress import step


def fit_file(
    data: Filename | DataFile,
    target: str,
    *,
    tree: Any = None,
    method: str = "kept",
    nominal: Sequence[str] = (),
    drop: Sequence[str] = (),
    labels: Mapping[Any, str] | None = None,
    costs: ArrayLike | dict[Any, Any] | None = None,
) -> Any:
    r"""Fit a classifier to a data file.

    Parameters
    ----------
    data : str, Path or DataFile
        Data file. Text columns are nominal, and empty cells are missing.
    target : str
        Column that holds the class; all others are attributes.
    tree : Tree or estimator, optional
        A :class:`~keeptree.Tree` (or a fitted tree) is kept as it is, and its columns are found by
        name; an unfitted learner grows one. Default: :class:`~keeptree.C45Classifier`.
    method : str, default="kept"
        Probability method, such as ``"kept"``, ``"soft"``, ``"margin"``, ``"kernel"``,
        ``"confdtree"`` or ``"rank"``.
    nominal : sequence of str
        Numeric columns to read as categories.
    drop : sequence of str
        Columns to ignore, such as an identifier.
    labels : dict of str to str, optional
        Class as written in the file -> display name. Decisions keep the classes of the file. Stored
        in the model as ``class_names_``.
    costs : array-like or dict, optional
        Costs of decisions, as in :class:`~keeptree.KeptTreeClassifier`; the model then decides by
        expected cost instead of by the tree.

    Returns
    -------
    model : classifier
        The fitted classifier; :func:`~keeptree.save` writes it to a file.

    Examples
    --------
    >>> from pathlib import Path
    >>> import keeptree as kt
    >>> rows = [f"{x},{x % 7},{'good' if x > 30 else 'bad'}" for x in range(60)]
    >>> _ = Path("loans.csv").write_text("\n".join(["income,age,class", *rows]))
    >>> kt.fit_file("loans.csv", "class", method="smoothed").tree_
    Tree(2 leaves, depth 1, 2 classes, 2 features, from C45Classifier)
    """
    model = make_method(method, tree, costs)
    with step("Reading the data"):
        X, y, notation = read_training(data, target, nominal, drop, tree)
    check_learner(tree, X)
    if labels:
        label_names(y.unique(), labels)  # invalid labels raise an error before a model is fitted
    rename_classes(model.fit(X, y), labels)
    model.notation_ = notation
    return model
