"""Arrays that are extended when they are full."""

import numpy as np

from keeptree._compiled.declare import inner


@inner
def lengthen(array, used, size):
    """Return a copy with ``size`` numbers or rows, of which the first ``used`` are filled."""
    longer = np.empty((size, *array.shape[1:]), dtype=array.dtype)
    longer[:used] = array[:used]
    return longer
