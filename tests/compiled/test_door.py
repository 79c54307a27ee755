"""A wrong argument to a compiled function raises an error that names it, and never crashes."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest
from numpy import float64, int64

from keeptree._compiled.declare import ENTRIES, In, Out
from keeptree._compiled.door import make_door
from keeptree._compiled.native import HERE
from keeptree._compiled.signature import Entry, fields_of

FILES = ("declare", "door", "native", "signature", "jit", "cache", "progress", "__main__")


def _all_entries():
    for path in sorted(HERE.glob("*.py")):
        if path.stem not in FILES:
            __import__(f"keeptree._compiled.{path.stem}")
    return dict(ENTRIES)


def valid(kind):
    """Return a valid argument."""
    fields = fields_of(kind)
    if fields is not None:
        return kind(*(valid(inside) for inside in fields.values()))
    if isinstance(kind, In | Out):
        return np.zeros((2,) * kind.ndim, dtype=kind.dtype)
    return None if kind is None else kind(1)


def wrong_ones(kind):
    """Return invalid arguments, each wrong in one way."""
    if kind is None:
        return ["something"]
    fields = fields_of(kind)
    if fields is not None:
        good = valid(kind)
        inside = [
            (i, wrong) for i, field in enumerate(fields.values()) for wrong in plain_ones(field)
        ]
        return [tuple(good), None, *(kind(*good[:i], wrong, *good[i + 1 :]) for i, wrong in inside)]
    return plain_ones(kind)


def plain_ones(kind):
    if kind is bool:
        return []  # any object can be used as a boolean
    return arrays(kind) or [None, "text", [1]]


def arrays(kind):
    if not isinstance(kind, In | Out):
        return []
    good = valid(kind)
    other = np.int16 if kind.dtype != np.int16 else np.int8
    wrong = [good.astype(other), good[None], good.tolist(), None]
    if good.itemsize > 1:
        wrong.append(good.astype(good.dtype.newbyteorder()))
    if kind.layout == "C":
        every_other = (slice(None, None, 2),) * kind.ndim
        wrong.append(np.zeros((4,) * kind.ndim, dtype=kind.dtype)[every_other])
    if kind.writes:
        frozen = good.copy()
        frozen.flags.writeable = False
        wrong.append(frozen)
    return wrong


@pytest.mark.parametrize("name", sorted(_all_entries()))
def test_every_wrong_argument_is_refused(name):
    entry = ENTRIES[name]
    calls = []
    door = make_door(entry, lambda: lambda *arguments: calls.append(arguments))
    good = {argument: valid(kind) for argument, kind in entry.arguments.items()}
    door(**good)
    assert len(calls) == 1
    for argument, kind in entry.arguments.items():
        for wrong in wrong_ones(kind):
            with pytest.raises((TypeError, ValueError)):
                door(**{**good, argument: wrong})
    assert len(calls) == 1


class Pair(NamedTuple):
    values: In(float64, 1)
    n: int


def add_up(pair: Pair, scale: float, out: Out(float64, 1)):
    """Add."""


def _door(function, code):
    entry = Entry("test", function, function.__annotations__)
    return make_door(entry, lambda: code)


def test_the_error_names_the_argument_and_what_is_expected():
    door = _door(add_up, lambda *arguments: None)
    pair = Pair(np.zeros(3), 1)
    with pytest.raises(
        TypeError, match="add_up: out must be a contiguous writeable array of float64"
    ):
        door(pair, 1.0, np.zeros(3, dtype=int64))
    with pytest.raises(TypeError, match=r"add_up: pair\.values must be an? array of float64"):
        door(Pair(np.zeros((3, 1)), 1), 1.0, np.zeros(3))
    with pytest.raises(TypeError, match="pair must be a Pair"):
        door((np.zeros(3), 1), 1.0, np.zeros(3))


def test_numbers_are_converted_and_subclasses_of_arrays_are_accepted(tmp_path):
    seen = []
    door = _door(add_up, lambda *arguments: seen.append(arguments))
    mapped = np.memmap(tmp_path / "values", dtype=float64, mode="w+", shape=(3,))
    door(Pair(mapped, 1), np.float32(2), np.zeros(3))
    assert type(seen[0][1]) is float


def test_an_unpickled_array_passes_without_the_slow_check(monkeypatch):
    monkeypatch.setattr("keeptree._compiled.door._check_slowly", lambda *_: pytest.fail("slow"))
    seen = []
    door = _door(add_up, lambda *arguments: seen.append(arguments))
    values, out = pickle.loads(pickle.dumps((np.zeros(3), np.zeros(3))))
    assert values.dtype is not np.dtype(float64)  # otherwise there is nothing to test
    door(Pair(values, 1), 1.0, out)
    assert len(seen) == 1


def test_the_machine_code_is_loaded_once_on_first_use():
    loads = []

    def load():
        loads.append(1)
        return lambda *arguments: len(loads)

    door = make_door(Entry("test", add_up, add_up.__annotations__), load)
    assert loads == []
    arguments = Pair(np.zeros(1), 1), 1.0, np.zeros(1)
    assert [door(*arguments), door(*arguments)] == [1, 1]
