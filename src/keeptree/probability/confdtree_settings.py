"""Options of ConfDTree beyond the paper's own parameters, with their defaults."""

from dataclasses import dataclass
from numbers import Integral, Real

from sklearn.utils._param_validation import (
    Interval,
    Options,
    StrOptions,
    validate_parameter_constraints,
)

from keeptree.probability.confdtree_statistics import MINIMUM, ROUTE_WEIGHT, T_SCALE

OPTIONS = {
    "minimum": [StrOptions(set(MINIMUM))],
    "t_for": [StrOptions(set(T_SCALE))],
    "tails": [Options(Integral, {1, 2})],
    "normal_by": [StrOptions({"node", "class"})],
    "significance": [Interval(Real, 0, 1, closed="both")],
    "fine_to": [StrOptions({"others", "all"})],
    "route_weight": [StrOptions(set(ROUTE_WEIGHT))],
    "smoothing": [StrOptions({"leaves", "laplace", "shrinkage"})],
    "strength": [Interval(Real, 0, None, closed="left")],
    "nominal": ["boolean"],
    "missing": [StrOptions({"shares", "others"})],
    "balance": ["boolean"],
}


@dataclass(frozen=True)
class Settings:
    """Parameters of :class:`~keeptree.ConfDTreeClassifier`, with all options set."""

    interval: str
    z_assigned: float
    z_other: float
    level_assigned: float
    level_other: float
    m: float
    fine: float
    minimum: str = "every"
    t_for: str = "mean"
    tails: int = 2
    normal_by: str = "node"
    significance: float = 0.05
    fine_to: str = "others"
    route_weight: str = "sqrt"
    smoothing: str = "leaves"
    strength: float = 10.0
    nominal: bool = False
    missing: str = "shares"
    balance: bool = False


PAPER = tuple(name for name in Settings.__dataclass_fields__ if name not in OPTIONS)


def read_settings(model):
    """Return the settings of a ConfDTreeClassifier; raise a ValueError for an invalid option."""
    options = model.options or {}
    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise ValueError(
            f"ConfDTreeClassifier has no option {unknown[0]!r}; choose from {', '.join(OPTIONS)}."
        )
    validate_parameter_constraints(OPTIONS, options, "ConfDTreeClassifier's options")
    return Settings(**{name: getattr(model, name) for name in PAPER}, **options)
