"""The one decorator every kernel wears."""

from numba import njit

# No fastmath: a NaN must stay a NaN. No parallel=True: threads over row blocks are ours
# (keeptree._kernels.blocks), because numba's own abort under concurrent calls.
kernel = njit(cache=True, nogil=True)
