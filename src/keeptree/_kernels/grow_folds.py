"""Weka's grouping of rows by class, which scrambles the rows behind the group."""

from numba import int64, void

from keeptree._kernels.jit import kernel, readonly


@kernel(void(readonly(int64, 1), int64[::1]))
def group_by_class(label, order):
    """Reorder ``order`` in place so that equal labels are together, by Weka's swaps."""
    i = 1
    while i < len(order):
        wanted = label[order[i - 1]]
        for j in range(i, len(order)):
            if label[order[j]] == wanted:
                order[i], order[j] = order[j], order[i]
                i += 1
        i += 1
