"""The one decorator every kernel wears, and the array types of their signatures."""

from functools import partial

from numba import njit, types

# No fastmath: a NaN must stay a NaN. No parallel=True: numba's threads abort under concurrent
# calls, so row blocks are spread over Python threads instead (keeptree.blocks).
kernel = partial(njit, cache=True, nogil=True)


def readonly(dtype, ndim, layout="A"):
    """Array type of an input: accepts read-only arrays and, with layout ``"A"``, any strides.

    Explicit signatures keep each kernel to one compilation whatever the caller's layout is.
    """
    return types.Array(dtype, ndim, layout, readonly=True)
