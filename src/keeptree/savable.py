"""Base class and checks for saving and loading models.

Classes declare the fields to save. A compiled function could crash on a wrong index, so everything
read from a file is checked before it is used.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import get_config

_PARTS = {}  # name -> class


class Savable:
    """Base of the estimators that :func:`keeptree.save` writes.

    A class lists in ``saved_fields`` its fitted attributes that cannot be derived from others;
    those of its base classes are saved as well.
    """

    saved_fields: tuple[str, ...] = ()
    get_params: Callable[..., dict[str, Any]]  # inherited from scikit-learn's BaseEstimator
    _validate_params: Callable[[], None]

    # The question mark in scikit-learn's diagram of the estimator links to the API reference.
    _doc_link_module = "keeptree"
    _doc_link_template = (
        "https://keeptree.github.io/keeptree/api/generated/keeptree.{estimator_name}.html"
    )

    @classmethod
    def all_saved_fields(cls) -> list[str]:
        """Return the fitted attributes of the class and of its bases."""
        return [name for base in cls.__mro__ for name in vars(base).get("saved_fields", ())]

    @property
    def saved_parameters(self) -> dict[str, Any]:
        """Return the constructor's parameters as written to the file."""
        return self.get_params(deep=False)

    def check_parameters(self) -> None:
        """Raise a ValueError for an invalid parameter in a file."""
        if hasattr(self, "_parameter_constraints"):
            self._validate_params()

    def validate_parameters(self) -> None:
        """Raise an error for an invalid parameter, unless scikit-learn skips validation."""
        if not get_config()["skip_parameter_validation"]:
            self._validate_params()

    @classmethod
    def upgrade(
        cls, parameters: dict[str, Any], fitted: dict[str, Any], version: int
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Convert the content of an older file to the current names.

        Parameters
        ----------
        parameters, fitted : dict
            Parameters of the constructor and fitted attributes, by name.
        version : int
            Version of the file.

        Returns
        -------
        parameters, fitted : dict
            The same with the current names.
        """
        return parameters, fitted

    def check_loaded(self) -> None:
        """Check the loaded attributes and derive the others."""


def saved_part(kind):
    """Register a frozen dataclass or named tuple as a savable part of a model."""
    _PARTS[kind.__name__] = kind
    return kind


def find_part(name):
    """Return the class of a savable part by its name, or None."""
    return _PARTS.get(name)


def all_parts():
    """Return all registered parts by name."""
    return dict(_PARTS)


def expect(condition, sentence, of="KeepTree model"):
    """Raise a ValueError about the content of a file unless the condition holds."""
    if not condition:
        raise ValueError(f"Not a {of}: {sentence}.")


def expect_array(value, name, dtype, shape, finite=True):
    """Check the type and shape of an array.

    Parameters
    ----------
    value : object
        Value to check.
    name : str
        Name for the message.
    dtype : type
        Required NumPy type.
    shape : tuple of (int or None)
        Required shape; None allows any length.
    finite : bool, default=True
        Whether infinite numbers and NaN are refused.

    Examples
    --------
    >>> expect_array(np.zeros((2, 3)), "weights", np.float64, (2, None))
    >>> expect_array([1.0], "weights", np.float64, (1,))
    Traceback (most recent call last):
    ...
    ValueError: Not a KeepTree model: weights must be an array of float64 of shape (1,).
    """
    fits = (
        isinstance(value, np.ndarray)
        and value.dtype == dtype
        and value.ndim == len(shape)
        and all(want in (None, have) for want, have in zip(shape, value.shape, strict=True))
    )
    wanted = f"({', '.join('any' if n is None else str(n) for n in shape)}"
    wanted += ",)" if len(shape) == 1 else ")"
    expect(fits, f"{name} must be an array of {np.dtype(dtype)} of shape {wanted}")
    if finite and value.dtype.kind == "f":
        expect(np.isfinite(value).all(), f"{name} must be finite")


def expect_probabilities(value, name, shape):
    """Check that the rows of a matrix are probabilities that sum to 1."""
    expect_array(value, name, np.float64, shape)
    sums = np.abs(value.sum(axis=1) - 1) < 1e-6
    expect(((value >= 0) & (value <= 1)).all() and sums.all(), f"{name} must be probabilities")


def expect_starts(value, name, end):
    """Check that integers increase from 0 to ``end``, as offsets into a flat array do."""
    expect_array(value, name, np.int64, (None,))
    rises = len(value) > 0 and value[0] == 0 and value[-1] == end and (np.diff(value) >= 0).all()
    expect(rises, f"{name} must increase from 0 to {end}")


def expect_codes(value, name, shape, end):
    """Check that integers lie between 0 and ``end`` - 1."""
    expect_array(value, name, np.int64, shape)
    inside = value.size == 0 or (value.min() >= 0 and value.max() < end)
    expect(inside, f"{name} must lie between 0 and {end - 1}")


def expect_number(value, name):
    """Check that a value is a finite, nonnegative number."""
    number = isinstance(value, float | int) and not isinstance(value, bool)
    expect(number and 0 <= value < np.inf, f"{name} must be a number that is not negative")


def expect_class_names(model):
    """Check the display names of a model's classes; files of older versions have none."""
    names = getattr(model, "class_names_", None)
    if names is not None:
        fits = isinstance(names, tuple) and len(names) == len(model.classes_)
        expect(fits and all(isinstance(name, str) for name in names), "class_names_ is damaged")


def expect_names(model):
    """Check the column names of a model, if it has any."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        expect_array(names, "feature_names_in_", object, (model.n_features_in_,))
        expect(all(isinstance(name, str) for name in names), "a column name is not text")
