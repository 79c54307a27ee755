"""Which of the few colours and markers each class has, in a story and on a page alike."""

import numpy as np

_COLOURS = 6  # class colours and markers; with more classes the commonest keep them


def class_slots(counts):
    """Slot of each class by its training cases.

    The slots 1 to 6 go by frequency; with more than six classes the five commonest keep theirs
    and the rest share slot 0.

    Examples
    --------
    >>> class_slots([30.0, 50.0])
    [2, 1]
    """
    order = np.argsort(-np.asarray(counts), kind="stable").tolist()
    coloured = _COLOURS if len(order) <= _COLOURS else _COLOURS - 1
    return [order.index(k) + 1 if order.index(k) < coloured else 0 for k in range(len(order))]
