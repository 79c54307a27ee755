"""The one decorator every kernel wears, and the array types of their signatures."""

from functools import partial

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

# No fastmath: a NaN must stay a NaN. No parallel=True: numba's threads abort under concurrent
# calls, so row blocks are spread over Python threads instead (keeptree.blocks).
kernel = partial(njit, cache=True, nogil=True)
inner = partial(kernel, cache=False)  # compiled into a cached kernel of the same file
inlined = partial(inner, forceinline=True)  # constant arguments make a loop of its own


def readonly(dtype, ndim, layout="A"):
    """Array type of an input: accepts read-only arrays and, with layout ``"A"``, any strides.

    Explicit signatures keep each kernel to one compilation whatever the caller's layout is.
    """
    return types.Array(dtype, ndim, layout, readonly=True)


@intrinsic
def multiply_add(typing_context, a, b, c):
    """``a * b + c`` of three floats of one type, rounded once where the processor can.

    LLVM's ``fmuladd``: one instruction instead of two. Within a machine it is always the same one.
    """

    def generate(context, builder, signature, arguments):
        number = context.get_value_type(signature.return_type)
        function = ir.FunctionType(number, [number] * 3)
        fuse = builder.module.declare_intrinsic("llvm.fmuladd", [number], function)
        return builder.call(fuse, arguments)

    return a(a, a, a), generate


@intrinsic
def prefetch(typing_context, array, index):
    """Ask for the cache line of an element of a contiguous array before it is needed."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        function = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], function)
        builder.call(fetch, [address, word(0), word(2), word(1)])  # read, second cache, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
