"""The door to a compiled function: check the arguments, then call the machine code.

Machine code trusts its arguments: a wrong type would make it read memory out of bounds. The checks
of a function are generated as Python source from its signature, so that they cost only about a
tenth of a microsecond per array.
"""

from operator import index
from threading import Lock

import numpy as np

from keeptree._compiled.signature import In, Out, fields_of

# The type of a number, and the function that converts others to it; ``index`` rejects fractions.
_SCALARS = {
    int: ("int", "index"),
    float: ("float", "float"),
    bool: ("bool", "bool"),
    np.float32: ("float", "float"),
}


def make_door(entry, load):
    """Return a function with the arguments of ``entry`` that checks them and calls the code.

    Parameters
    ----------
    entry : Entry
        The compiled function to call.
    load : callable
        Returns the machine code; called on the first call of the function.
    """
    arguments = ", ".join(entry.arguments)
    names = {"ndarray": np.ndarray, "index": index, "call": _first_call(load)}
    lines = [f"def {entry.function.__name__}({arguments}):"]
    for argument, kind in entry.arguments.items():
        lines += _check(argument, f"{entry.function.__name__}: {argument}", kind, names)
    lines.append(f"    return call({arguments})")
    exec("\n".join(lines), names)
    door = names[entry.function.__name__]
    names["call"].door = names
    door.__doc__, door.__module__ = entry.function.__doc__, entry.function.__module__
    return door


def _first_call(load):
    """Return a function that replaces itself with the machine code on its first call."""
    lock = Lock()

    def call(*arguments):
        with lock:
            if call.door["call"] is call:
                call.door["call"] = load()
        return call.door["call"](*arguments)

    return call


def _check(name, label, kind, names):
    """Return source lines that check the variable ``name``; add the names they use to ``names``."""
    fields = fields_of(kind)
    if fields is not None:
        return _check_tuple(name, label, kind, fields, names)
    if isinstance(kind, In | Out):
        return _check_array(name, label, kind, names)
    if kind is None:
        return [f"    if {name} is not None: raise TypeError({label + ' must be None.'!r})"]
    wanted, convert = _SCALARS[kind]
    return [f"    if type({name}) is not {wanted}: {name} = {convert}({name})"]


def _check_tuple(name, label, kind, fields, names):
    names[kind.__name__] = kind
    message = f"{label} must be a {kind.__name__}."
    lines = [f"    if type({name}) is not {kind.__name__}: raise TypeError({message!r})"]
    parts = [f"{name}__{field}" for field in fields]
    lines.append(f"    {', '.join(parts)}, = {name}")
    for part, (field, inside) in zip(parts, fields.items(), strict=True):
        lines += _check(part, f"{label}.{field}", inside, names)
    return lines


def _check_array(name, label, kind, names):
    dtype = np.dtype(kind.dtype)
    names[f"{dtype.name}_"] = dtype
    slow = f"slow_{len(names)}"
    names[slow] = lambda value: _check_slowly(value, label, kind)
    # An unpickled array has a dtype of its own, which is only equal.
    other = f"{name}.dtype is not {dtype.name}_ and {name}.dtype != {dtype.name}_"
    wrong = f"type({name}) is not ndarray or ({other})"
    wrong += f" or {name}.ndim != {kind.ndim}"
    if kind.writes:
        wrong += f" or not {name}.flags.carray"  # contiguous, aligned and writeable
    elif kind.layout == "C":
        wrong += f" or not {name}.flags.c_contiguous"
    return [f"    if {wrong}: {slow}({name})"]


def _check_slowly(value, label, kind):
    """Raise a TypeError unless the array is valid after all: a subclass, or an equal dtype."""
    right = (
        isinstance(value, np.ndarray)
        and value.dtype == kind.dtype
        and value.ndim == kind.ndim
        and (kind.layout == "A" or value.flags.c_contiguous)
        and (not kind.writes or value.flags.carray)
    )
    if not right:
        came = type(value).__name__
        if isinstance(value, np.ndarray):
            order = "" if value.flags.c_contiguous else " not contiguous"
            order += "" if value.flags.writeable else " read-only"
            came = f"{value.dtype} of shape {value.shape}{order}"
        wanted = "a contiguous " if kind.layout == "C" else "an "
        wanted += "writeable " if kind.writes else ""
        raise TypeError(
            f"{label} must be {wanted}array of {np.dtype(kind.dtype)} with {kind.ndim} "
            f"dimension(s), not {came}."
        )
