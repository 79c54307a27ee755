"""Types of the arguments of compiled functions, as annotations."""

from dataclasses import dataclass


@dataclass(frozen=True)
class In:
    """An array that is only read; layout ``"A"`` allows any strides."""

    dtype: type
    ndim: int
    layout: str = "A"
    writes = False


@dataclass(frozen=True)
class Out:
    """A C-contiguous array that the function fills or changes."""

    dtype: type
    ndim: int
    layout = "C"
    writes = True


@dataclass(frozen=True)
class Entry:
    """A function that Python calls, and the type of each of its arguments by name."""

    name: str
    function: object
    arguments: dict


def fields_of(kind):
    """Return the types of the fields of a NamedTuple class by name, or None for any other type."""
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return {name: kind.__annotations__[name] for name in kind._fields}
    return None
