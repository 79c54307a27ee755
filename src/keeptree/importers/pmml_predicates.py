"""Predicates of PMML in three-valued logic: true, false, or None where a value is missing."""

import re
from dataclasses import dataclass

import numpy as np

from keeptree.importers.pmml_fields import OTHER
from keeptree.importers.sketch import just_below, widened

PREDICATES = ("SimplePredicate", "SimpleSetPredicate", "CompoundPredicate", "True", "False")
MISSING = object()
_ARRAY = re.compile(r'"((?:\\.|[^"\\])*)"|(\S+)')
# Operator -> comparison, and whether it is negated.
_SIGNS = {
    "lessThan": ("<", False),
    "greaterOrEqual": ("<", True),
    "lessOrEqual": ("<=", False),
    "greaterThan": ("<=", True),
    "equal": ("=", False),
    "notEqual": ("=", True),
}


class UndecidedError(Exception):
    """Raised if a predicate needs a field whose value is not set yet."""

    def __init__(self, field):
        super().__init__(field)
        self.field = field


class SurrogateError(Exception):
    """Raised if a surrogate test is needed."""


class UnorderedError(Exception):
    """Raised for an unlisted label of an ordinal field."""


@dataclass(frozen=True)
class Constant:
    """A constant predicate."""

    value: bool

    def evaluate(self, values):
        """Return the constant."""
        del values
        return self.value


@dataclass(frozen=True)
class Test:
    """A test of one field.

    Attributes
    ----------
    field : Field
        Tested field.
    accepted : tuple or None
        Accepted intervals (low, high] of numbers, or labels; None accepts missing values.
    negated : bool
        Whether to accept all other values instead.
    by_order : bool
        Whether labels are compared by their order.
    """

    field: object
    accepted: tuple | None
    negated: bool
    by_order: bool = False

    def evaluate(self, values):
        """Return whether the value is accepted; None if it is missing."""
        if self.field.name not in values:
            raise UndecidedError(self.field)
        value = values[self.field.name]
        if self.accepted is None:
            return (value is MISSING) != self.negated
        if value is MISSING:
            return None
        if self.by_order and value == OTHER:
            raise UnorderedError
        if self.field.nominal:
            return (value in self.accepted) != self.negated
        return any(low < value <= high for low, high in self.accepted) != self.negated


@dataclass(frozen=True)
class Compound:
    """Predicates joined by and, or, xor or surrogate."""

    operator: str
    parts: tuple

    def evaluate(self, values):
        """Return the result in Kleene's logic; if a surrogate is needed, raise an error."""
        if self.operator == "surrogate":
            status = self.parts[0].evaluate(values)
            if status is None and len(self.parts) > 1:
                raise SurrogateError
            return status
        statuses = []
        decisive = {"and": False, "or": True}.get(self.operator)
        for part in self.parts:
            statuses.append(part.evaluate(values))
            if decisive is not None and statuses[-1] is decisive:
                return decisive
        if None in statuses:
            return None
        return sum(statuses) % 2 == 1 if decisive is None else not decisive


def tested_fields(element):
    """Return the names of the fields that a predicate tests."""
    if element.tag == "CompoundPredicate":
        return {name for part in element.all(*PREDICATES) for name in tested_fields(part)}
    return {element.get("field")} if "Simple" in element.tag else set()


def read_predicate(element, fields, double):
    """Return the predicate of an element.

    Parameters
    ----------
    element : Element
        Element with one of the names in ``PREDICATES``.
    fields : Fields
        Available fields.
    double : bool
        Whether numbers are compared in float64, so that thresholds of float fields must account
        for float32 rounding.
    """
    if element.tag in ("True", "False"):
        return Constant(element.tag == "True")
    if element.tag == "CompoundPredicate":
        operator = element.get("booleanOperator")
        parts = tuple(read_predicate(p, fields, double) for p in element.all(*PREDICATES))
        if operator not in ("and", "or", "xor", "surrogate") or not parts:
            raise ValueError(f"booleanOperator={operator!r:.50} is not known, or has no operands.")
        return Compound(operator, parts)
    field = fields.find(element.get("field"))
    if element.tag == "SimpleSetPredicate":
        operator = element.get("booleanOperator")
        if operator not in ("isIn", "isNotIn"):
            raise ValueError(f"booleanOperator={operator!r:.50} is not known.")
        texts = _array(element)
        return _equality(field, [field.read(text) for text in texts], operator == "isNotIn", double)
    operator = element.get("operator")
    if operator in ("isMissing", "isNotMissing"):
        return Test(field, None, operator == "isNotMissing")
    if operator not in _SIGNS:
        raise ValueError(f"The operator {operator!r:.50} is not in the PMML standard.")
    sign, negated = _SIGNS[operator]
    value = field.read(element.get("value"))
    if sign == "=":
        return _equality(field, [value], negated, double)
    if field.nominal:
        return Test(field, _ordered(field, sign, value), negated, by_order=True)
    limit = _limit(field, value, sign == "<", double)
    return Test(field, ((-np.inf, limit),), negated)


def _equality(field, values, negated, double):
    if field.nominal:
        return Test(field, tuple(values), negated)
    bounds = ((_limit(field, v, True, double), _limit(field, v, False, double)) for v in values)
    return Test(field, tuple(bounds), negated)


def _ordered(field, sign, value):
    """Return the labels of an ordinal field below a value, including it for ``<=``."""
    if not field.ordinal or value not in field.values:
        raise ValueError(
            f"{field.name!r:.80} holds categories, but is compared by order with {value!r:.50}."
        )
    return field.values[: field.values.index(value) + (sign == "<=")]


def _limit(field, value, strictly, double):
    """Return the largest number that is at most (or less than) a value in the compared type."""
    if not field.single:
        return just_below(value) if strictly else float(value)
    with np.errstate(over="ignore"):
        single = np.float32(value)
    limit = just_below(single, np.float32) if strictly else float(single)
    return widened(limit) if double else limit


def _array(element):
    array = element.first("Array")
    if array is None:
        raise ValueError(f"A set of values of {element.get('field')!r:.80} has no Array.")
    found = _ARRAY.findall(array.text)
    return [bare or re.sub(r"\\(.)", r"\1", quoted) for quoted, bare in found]


def cuts_of(predicates, name):
    """Return the sorted limits of a numeric field at which some predicate may change."""
    found = set()
    for test in tests_of(predicates):
        if test.field.name == name:
            found.update(limit for pair in test.accepted or () for limit in pair)
    return sorted(limit for limit in found if np.isfinite(limit))


def tests_of(predicates):
    """Return all tests inside predicates; of surrogates, only the first."""
    for predicate in predicates:
        if isinstance(predicate, Test):
            yield predicate
        elif isinstance(predicate, Compound):
            surrogate = predicate.operator == "surrogate"
            yield from tests_of(predicate.parts[:1] if surrogate else predicate.parts)


def known_labels(field, predicates):
    """Return the labels of a nominal field: listed ones, then those in predicates."""
    labels = dict.fromkeys(field.values)
    for test in tests_of(predicates):
        if test.field.name == field.name and not field.values:
            labels.update(dict.fromkeys(test.accepted or ()))
    labels.pop(OTHER, None)
    return tuple(labels)
