"""Registry of the probability methods; adding an entry here adds a method everywhere.

The command line, ``compare``, the report, the tests and the guide read this list. It imports no
estimator, so that ``keeptree --help`` stays fast.
"""

from dataclasses import dataclass, field
from importlib import import_module

__all__ = ["ALIASES", "METHODS", "Method", "find_method", "make_method", "methods_of", "name_of"]


@dataclass(frozen=True)
class Method:
    """A classifier around a kept tree, with the parameters that make it this method.

    Parameters
    ----------
    name : str
        The name that users type and that tables, pages and files show.
    about : str
        Short description of where the probabilities come from, for the guide's table of methods.
    kind : str
        Public class, a name in ``keeptree``.
    parameters : dict
        Parameters that differ from the defaults of the class.
    default_in : frozenset of str
        Where the method is measured by default: ``"compare"``, ``"report"``, ``"demo"``.
    """

    name: str
    about: str
    kind: str
    parameters: dict = field(default_factory=dict)
    default_in: frozenset = frozenset()


_SMOOTHED, _KERNEL, _RANK = (
    "SmoothedTreeClassifier",
    "DistanceKernelClassifier",
    "GeometricRankClassifier",
)
_COMPARE, _DEMO = frozenset({"compare"}), frozenset({"demo"})
_REPORT = frozenset({"report", "demo"})

METHODS = {
    method.name: method
    for method in (
        Method(
            "leaves",
            "class proportions of the leaf, the tree's own probabilities",
            _SMOOTHED,
            {"smoothing": "leaves"},
            _COMPARE,
        ),
        Method(
            "laplace",
            "class proportions with one case of each class added",
            _SMOOTHED,
            {"smoothing": "laplace"},
            _COMPARE | _REPORT,
        ),
        Method(
            "m-estimate",
            "class proportions with pseudo-cases added in proportion to the prior",
            _SMOOTHED,
            {"smoothing": "m-estimate"},
        ),
        Method(
            "shrinkage",
            "leaves shrunk towards the nodes above them",
            _SMOOTHED,
            {"smoothing": "shrinkage"},
            _COMPARE,
        ),
        Method(
            "shrinkage-cv",
            "shrinkage whose strength is chosen by cross-validation",
            _SMOOTHED,
            {"smoothing": "shrinkage", "strength": "cv"},
            _DEMO,
        ),
        Method(
            "rank",
            "a ranking by the distance to the decision boundary",
            _RANK,
        ),
        Method(
            "local-rank",
            "a ranking by the leaf, and inside it by the distance to the decision boundary",
            _RANK,
            {"scope": "local"},
            _DEMO,
        ),
        Method(
            "separator-kernel",
            "training cases at about the same distance from the same piece of the boundary",
            _KERNEL,
            {"scope": "separator"},
            _DEMO,
        ),
        Method(
            "kernel",
            "training cases at about the same distance from the decision boundary",
            _KERNEL,
            default_in=_COMPARE | _REPORT,
        ),
        Method(
            "position-kernel",
            "training cases at about the same distance from about the same part of the boundary",
            _KERNEL,
            {"features": "distance+separator"},
        ),
        Method(
            "confdtree",
            "leaves corrected where a case is an outlier of its class",
            "ConfDTreeClassifier",
            default_in=_COMPARE,
        ),
        Method(
            "soft",
            "near a threshold a case belongs to both sides",
            "SoftTreeClassifier",
            default_in=_COMPARE | _DEMO,
        ),
        Method(
            "margin",
            "a logistic model of how clearly a case passes each test",
            "MarginTreeClassifier",
            default_in=_COMPARE | _DEMO,
        ),
        Method(
            "kept",
            "the recommended method: three experts combined into one probability",
            "KeptTreeClassifier",
            default_in=_COMPARE,
        ),
        Method(
            "kept-all",
            "kept, with all columns, whether the tree tests them or not",
            "KeptTreeClassifier",
            {"columns": "all"},
        ),
    )
}
ALIASES = {"raw": "leaves", "smoothed": "laplace"}  # names in earlier versions


def find_method(name):
    """Return the method with a name; an unknown name raises a ValueError that lists the known ones.

    Examples
    --------
    >>> find_method("kernel").kind
    'DistanceKernelClassifier'
    >>> find_method("smoothed").name
    'laplace'
    """
    known = ALIASES.get(name, name)
    if known not in METHODS:
        raise ValueError(f"method={name!r} is not known; choose one of {sorted(METHODS)}.")
    return METHODS[known]


def make_method(name, estimator=None, costs=None):
    """Return the unfitted classifier of a method, around a tree or a learner.

    With ``costs``, the classifier decides by expected cost; a method that only ranks raises a
    ValueError.

    Examples
    --------
    >>> make_method("shrinkage")
    SmoothedTreeClassifier(smoothing='shrinkage')
    """
    method = find_method(name)
    kind = getattr(import_module("keeptree"), method.kind)
    if costs is None:
        return kind(estimator, **method.parameters)
    if not hasattr(kind, "predict_proba"):
        raise ValueError(
            f"Costs need probabilities, and the method {method.name!r} only ranks; choose another, "
            "such as 'kept'."
        )
    return kind(estimator, **method.parameters, decide="cost", costs=costs)


def name_of(model):
    """Return the method name of a classifier, or its class name if no method has its settings.

    Examples
    --------
    >>> import keeptree as kt
    >>> name_of(kt.SmoothedTreeClassifier(smoothing="shrinkage"))
    'shrinkage'
    >>> name_of(kt.DistanceKernelClassifier(scope="leaf"))
    'DistanceKernelClassifier'
    """
    for method in METHODS.values():
        if type(model).__name__ == method.kind:
            made = make_method(method.name).get_params(deep=False)
            if all(getattr(model, key) == made[key] for key in _settings(method.kind)):
                return method.name
    return type(model).__name__


def _settings(kind):
    """Return the parameters that distinguish the methods of one class."""
    return {key for method in METHODS.values() if method.kind == kind for key in method.parameters}


def methods_of(where):
    """Return the names of the methods that are measured by default; see :class:`Method`.

    Examples
    --------
    >>> methods_of("report")
    ('laplace', 'kernel')
    """
    return tuple(method.name for method in METHODS.values() if where in method.default_in)
