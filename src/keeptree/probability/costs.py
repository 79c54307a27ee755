"""Decisions by cost: the class with the lowest expected cost."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from keeptree.annotations import Floats
from keeptree.data.labels import find_class, plain
from keeptree.savable import Savable


class DecidesByCost(Savable):
    """Mixin for classifiers with probabilities and the parameters ``decide`` and ``costs``."""

    classes_: np.ndarray
    decide: str
    costs: Any

    @property
    def cost_matrix(self) -> Floats | None:
        """Costs by true class (row) and decided class (column); None unless ``decide="cost"``."""
        self._check_costs()
        return None if self.costs is None else read_costs(self.costs, self.classes_)

    @property
    def saved_parameters(self) -> dict[str, Any]:
        """Return the parameters to save, with costs always as a matrix."""
        given = super().saved_parameters
        if self.costs is not None:
            given["costs"] = read_costs(self.costs, self.classes_).tolist()
        return given

    def check_loaded(self) -> None:  # noqa: D102 - inherited
        super().check_loaded()
        _ = self.cost_matrix

    def _check_costs(self):
        """Raise a ValueError if costs are given without ``decide="cost"``, or vice versa."""
        if self.costs is not None and self.decide != "cost":
            raise ValueError(
                f'costs is given, but decide={self.decide!r} does not use it; set decide="cost".'
            )
        if self.costs is None and self.decide == "cost":
            raise ValueError(
                'decide="cost" needs costs: a matrix by true (row) and decided class (column), or '
                "a dict such as {'sick': {'well': 20}}."
            )


def read_costs(costs, classes):
    """Return a cost matrix, by true class (row) and decided class (column).

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_classes) or dict
        The matrix in the order of the classes, or ``{true class: {decided class: cost}}``; in a
        dict, errors that are not named cost 1, and correct decisions 0.
    classes : sequence
        Labels.

    Returns
    -------
    matrix : ndarray of shape (n_classes, n_classes)
        Checked costs.

    Examples
    --------
    >>> read_costs({"sick": {"well": 20}}, ["sick", "well"])
    array([[ 0., 20.],
           [ 1.,  0.]])
    """
    matrix = _from_dict(costs, classes) if isinstance(costs, Mapping) else _from_array(costs)
    n = len(classes)
    if matrix.shape != (n, n):
        names = ", ".join(str(label) for label in classes[:10])
        raise ValueError(
            f"costs has shape {matrix.shape}; give one row (true class) and one column (decided "
            f"class) for each of {n} classes, in this order: {names}."
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs has values that are infinite or missing; give finite numbers.")
    for c in range(n):
        if (matrix[c, c] > matrix[c]).any():
            other = int(matrix[c].argmin())
            raise ValueError(
                f"costs makes the correct decision for the class {plain(classes[c])!r} more "
                f"expensive ({matrix[c, c]:g}) than deciding {plain(classes[other])!r} "
                f"({matrix[c, other]:g})"
                "; rows are true classes and columns are decided classes."
            )
    return matrix


def cheapest(p, matrix):
    """Return the class with the lowest expected cost for each row of probabilities.

    Ties go to the first class. Costs are summed class by class, so that every processor computes
    the same sums.

    Examples
    --------
    >>> cheapest(np.array([[0.1, 0.9], [0.01, 0.99]]), np.array([[0.0, 20.0], [1.0, 0.0]]))
    array([0, 1])
    """
    expected = np.zeros(p.shape)
    for c, row in enumerate(matrix):
        expected += p[:, c, None] * row
    return expected.argmin(axis=1)


def _from_array(costs):
    try:
        return np.array(costs, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"costs={costs!r:.80} is not a matrix of numbers; give one row for each true class, or "
            "a dict such as {'sick': {'well': 20}}."
        ) from None


def _from_dict(costs, classes):
    labels = [plain(label) for label in classes]
    matrix = 1.0 - np.eye(len(labels))
    for true, row in costs.items():
        if not isinstance(row, Mapping):
            raise ValueError(
                f"costs[{true!r}] is {row!r:.50}; give a dict from decided classes to costs."
            )
        for decided, cost in row.items():
            at = _position(true, labels), _position(decided, labels)
            matrix[at] = _number(cost, true, decided)
    return matrix


def _position(label, labels):
    label = plain(label)
    return labels.index(label if label in labels else find_class(str(label), labels))


def _number(cost, true, decided):
    try:
        return float(cost)
    except (TypeError, ValueError):
        raise ValueError(
            f"costs[{true!r}][{decided!r}] is {cost!r:.50}, not a number; give a finite cost."
        ) from None
