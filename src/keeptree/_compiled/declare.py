"""Declare compiled functions: the annotations of the arguments are the signature.

:func:`entry` declares a function that Python calls. Its arguments are annotated with ``In`` and
``Out`` arrays, with ``int``, ``float``, ``bool`` or ``numpy.float32``, with ``None``, or with a
NamedTuple class whose fields are annotated in the same way. :func:`inner` declares a function that
only compiled functions call; numba infers its types.

If machine code was built ahead of time, nothing here imports numba, and an inner function stays a
plain Python function.
"""

from contextlib import nullcontext
from functools import partial

from keeptree._compiled.door import make_door
from keeptree._compiled.native import load_native
from keeptree._compiled.signature import Entry, In, Out

__all__ = ["ENTRIES", "In", "Out", "entry", "inlined", "inner"]

ENTRIES = {}  # name -> Entry, from every file imported so far


def entry(function=None, *, name=None, **types):
    """Declare a compiled function that Python calls.

    Parameters
    ----------
    function : function
        Function whose annotated arguments are its signature. Compiled functions cannot call it.
    name : str, optional
        Name of a variant; by default the name of the function.
    **types
        Types of arguments in this variant, which replace the annotations.

    Returns
    -------
    door : function
        Function that checks its arguments and calls the machine code.
    """
    if function is None:
        return partial(entry, name=name, **types)
    code = function.__code__
    known = {**function.__annotations__, **types}
    arguments = {arg: known[arg] for arg in code.co_varnames[: code.co_argcount]}
    home = function.__module__.rpartition(".")[2]
    declared = Entry(f"{home}_{name or function.__name__}", function, arguments)
    ENTRIES[declared.name] = declared
    return make_door(declared, partial(_machine_code, declared))


def inner(function=None, **options):
    """Declare a function that compiled functions call; ``options`` are numba's."""
    if function is None:
        return partial(inner, **options)
    if load_native() is not None:
        return function
    from keeptree._compiled.jit import compile_inner

    return compile_inner(function, **options)


inlined = partial(inner, forceinline=True)  # so that loops are specialised for constant arguments


def _machine_code(declared):
    """Return the function built ahead of time, or else the one from numba or its cache."""
    native = load_native()
    if native is not None:
        return getattr(native, declared.name)
    from keeptree._compiled.jit import compile_entry, is_cached
    from keeptree._compiled.progress import announce

    with nullcontext() if is_cached(declared) else announce(declared.name):
        return compile_entry(declared)
