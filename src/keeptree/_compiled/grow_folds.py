"""Weka's grouping of rows by class, which scrambles the rows behind the group."""

from numpy import int64

from keeptree._compiled.declare import In, Out, entry


@entry
def group_by_class(
    label: In(int64, 1),
    order: Out(int64, 1),
):
    """Reorder ``order`` in place so that equal labels are together, by Weka's swaps."""
    i = 1
    while i < len(order):
        wanted = label[order[i - 1]]
        for j in range(i, len(order)):
            if label[order[j]] == wanted:
                order[i], order[j] = order[j], order[i]
                i += 1
        i += 1
