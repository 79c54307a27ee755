"""Split rows into growing and pruning sets like Weka's reduced-error pruning."""

import numpy as np

from keeptree._compiled.j48 import group_by_class


def pruning_fold(label, n_folds):
    """Return the rows to grow on and the rows to prune with, Weka's last stratified fold.

    Weka groups the rows by class with swaps, deals them to the folds in turn, and divides the dealt
    list into ``n_folds`` parts, the first ones one row longer if necessary.

    Examples
    --------
    >>> import numpy as np
    >>> growing, pruning = pruning_fold(np.array([0, 1, 0, 1, 0, 1]), n_folds=3)
    >>> growing.tolist(), pruning.tolist()
    ([0, 3, 2, 1], [4, 5])
    """
    order = np.arange(len(label))
    group_by_class(np.ascontiguousarray(label, dtype=np.int64), order)
    dealt = np.concatenate([order[first::n_folds] for first in range(n_folds)])
    n_growing = len(label) - len(label) // n_folds
    return dealt[:n_growing], dealt[n_growing:]
