"""Write a self-contained HTML report about a kept tree and its probabilities."""

import platform
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _num_samples, check_is_fitted

from keeptree import __version__
from keeptree.annotations import Filename
from keeptree.data.labels import target_name
from keeptree.output import check_writable, require_extra, write_text
from keeptree.probability.estimator import is_kept
from keeptree.probability.probabilistic import ProbabilityModel

_HOW = (
    "Training scores would be too good, so they are not shown. Hold out some cases before the tree "
    "is grown and the model is fitted, and pass them: kt.report(model, X_test, y_test)."
)


def report(
    model: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    out: Filename = "report.html",
    title: str | None = None,
    rows: bool = True,
    *,
    target: str | None = None,
    positive: Any = None,
    fixed: Sequence[str | int] = (),
    about: Mapping[str, str] | None = None,
    others: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write a report as one self-contained HTML file.

    It shows the tree and the path of a case, the cases to check first, what would change a
    decision, and how good the probabilities are on held-out cases, compared with the tree's own.
    Values can be changed on the page, which computes the new answer in the browser.

    Parameters
    ----------
    model : fitted KeepTree classifier with ``predict_proba``
        For example ``kt.KeptTreeClassifier(tree).fit(X_train, y_train)``.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Held-out cases, unused in training. Without them the page shows only the tree and explains
        how to get the rest.
    y : array-like of shape (n_samples,), optional
        True classes; without them the quality cannot be measured.
    out : str or Path, default="report.html"
        File to write; its folder must exist.
    title : str, optional
        Title of the page; by default derived from ``target``.
    rows : bool, default=True
        Whether the file may contain the values of single cases. If not, the what-if panel starts
        from a typical case, and models that need training cases show no probability there.
    target : str, optional
        Name of the target, such as "diagnosis"; by default the name of ``y``.
    positive : label, optional
        Positive class of a two-class problem; by default the rarer class.
    fixed : sequence of column names or positions
        Attributes that cannot change, such as age. They are locked on the page, and nearest changes
        do not change them.
    about : dict of str to str, optional
        Information about the data and the split, shown at the end of the page.
    others : dict of str to fitted KeepTree classifier, optional
        Other methods for the same tree, evaluated on the same cases. A
        :class:`~keeptree.DistanceKernelClassifier` among them adds its curve to the chart of
        probability against distance.

    Returns
    -------
    data : dict
        All figures and texts of the page, and ``page``, the path of the file.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import keeptree as kt
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> clf = DecisionTreeClassifier(max_leaf_nodes=9, random_state=0).fit(X_train, y_train)
    >>> model = kt.SmoothedTreeClassifier(clf).fit(X_train, y_train)
    >>> data = kt.report(model, X_test, y_test, "report.html")
    >>> data["n_test"], data["tree"]["n_leaves"]
    (143, 9)
    """
    notes = {"target": target, "positive": positive, "fixed": fixed, "about": about}
    return write_report(model, X, y, out, title, rows, others=others, **notes)


def write_report(
    model, X, y, out, title, rows, *, target, positive, fixed, about, others, grown=False
):
    """Write a report like :func:`report`; ``grown`` means that the tree was grown for it."""
    require_extra("jinja2", extra="report")
    _check_model(model)
    _check_cases(X, y)
    page = check_writable(out)
    from keeptree.reporting.collect import collect
    from keeptree.reporting.render import render

    target = target_name(y) if target is None else target
    data = collect(
        model,
        X,
        y,
        title=title or tell_title(target),
        about=_about(model, X, y, about or {}),
        positive=positive,
        fixed=fixed,
        rows=rows,
        others=others,
        grown=grown,
    )
    write_text(page, render(data))
    return Report(data, page=str(page))


class Report(dict):
    """All figures and texts of a page; a dict whose representation is short."""

    def __repr__(self):
        return f"Report({self['title']!r}, page={self['page']!r})"


def tell_title(subject=None):
    """Return the title of a page about a subject: the target, or a data set.

    Examples
    --------
    >>> tell_title("diagnosis"), tell_title()
    ('diagnosis: how far to trust this tree', 'How far to trust this tree')
    >>> tell_title("Bought again?")
    'Bought again? How far to trust this tree'
    """
    question = "how far to trust this tree"
    if subject is None:
        return question.capitalize()
    if str(subject).endswith(("?", "!", ".", ":")):
        return f"{subject} {question.capitalize()}"
    return f"{subject}: {question}"


def _check_model(model):
    if not isinstance(model, ProbabilityModel):
        raise ValueError(
            f"A report needs a fitted KeepTree classifier with probabilities, but got "
            f"{type(model).__name__}; give kt.KeptTreeClassifier(tree).fit(X_train, y_train)."
        )
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise ValueError(
            f"This {type(model).__name__} is not fitted; call fit with the training sample first."
        ) from error


def _check_cases(X, y):
    if X is None:
        if y is not None:
            raise ValueError("y was given without X; give both or neither.")
        return
    n = _num_samples(X)
    if n == 0:
        raise ValueError("X has no rows; give at least one held-out case, or no X at all.")
    if y is not None and len(y) != n:
        raise ValueError(f"y has {len(y)} labels, but X has {n} rows; give one for each.")


def _about(model, X, y, given):
    import numpy
    import sklearn

    source = dict(model.tree_.source).get("model", "A tree")
    grown = "grown on the training cases when the model was fitted, and not changed afterwards"
    notes = {
        "Tree": f"{source}, {'kept as it is' if is_kept(model.estimator) else grown}.",
        "Method": f"{type(model).__name__}. The decision is the tree's; the probability is advice.",
    }
    if X is None or y is None:
        notes["Held-out data"] = f"No cases with true classes were given. {_HOW}"
    notes["Versions"] = (
        f"KeepTree {__version__}, scikit-learn {sklearn.__version__}, NumPy {numpy.__version__}, "
        f"Python {platform.python_version()}."
    )
    return {**given, **notes, **given}  # given entries override the defaults
