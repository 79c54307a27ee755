"""Compile functions with numba, in a checkout or to build the machine code ahead of time.

No fastmath and no fused multiply-add: a NaN must stay a NaN, and a saved model must give the same
bits on every processor. LLVM reorders a sum, or fuses it with a product, only when told to. No
``parallel=True``: numba's threads abort under concurrent calls, so blocks of rows are distributed
over Python threads instead (``keeptree.blocks``).
"""

import numpy as np

from keeptree._compiled.signature import In, Out, fields_of
from keeptree.output import MissingExtraError, install_command

try:
    from llvmlite import ir
    from numba import from_dtype, njit, types
    from numba.core.registry import cpu_target
    from numba.extending import intrinsic
except ModuleNotFoundError as error:
    raise MissingExtraError(
        "This installation of KeepTree has no machine code for this processor and Python version, "
        f"and numba, which would compile it, is not installed; run: {install_command('jit')}"
    ) from error

from keeptree._compiled.cache import FileCache

_SCALARS = {int: types.int64, float: types.float64, bool: types.boolean, np.float32: types.float32}
_DISPATCHERS = {}  # name -> dispatcher, which keeps its machine code alive


def numba_type(kind):
    """Return numba's type for an annotation of an argument."""
    fields = fields_of(kind)
    if fields is not None:
        return types.NamedTuple([numba_type(inside) for inside in fields.values()], kind)
    if isinstance(kind, In | Out):
        dtype = from_dtype(np.dtype(kind.dtype))
        return types.Array(dtype, kind.ndim, kind.layout, readonly=not kind.writes)
    return types.none if kind is None else _SCALARS[kind]


def compile_inner(function, **options):
    """Return a function that compiled functions can call."""
    return njit(nogil=True, no_cfunc_wrapper=True, **options)(function)


def compile_entry(entry):
    """Return the machine code of an entry, from the cache or compiled now."""
    dispatcher = _DISPATCHERS[entry.name] = njit(nogil=True)(entry.function)
    dispatcher._cache = FileCache(entry)  # numba has no public interface for another cache
    signature = signature_of(entry)
    dispatcher.compile(signature)
    return dispatcher.overloads[signature].entry_point


def is_cached(entry):
    """Return whether the machine code of an entry is in the cache."""
    return FileCache(entry).is_filled(signature_of(entry), cpu_target.target_context)


def signature_of(entry):
    """Return numba's types of the arguments of an entry."""
    return tuple(numba_type(kind) for kind in entry.arguments.values())


@intrinsic
def prefetch(typing_context, array, index):
    """Prefetch the cache line of an element of a contiguous array."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        function = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], function)
        builder.call(fetch, [address, word(0), word(2), word(1)])  # read data into the second cache
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
