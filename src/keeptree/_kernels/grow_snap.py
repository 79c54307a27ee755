"""The value Weka 3.6 makes of a threshold."""

import numpy as np
from numba import float64

from keeptree._kernels.jit import kernel, readonly

SMALL = 1e-6  # J48's tolerance


@kernel(float64(readonly(float64, 1), float64))
def read_upward(column, largest):
    """Read values in order; hold each that is 1e-6 above the one held and not above ``largest``."""
    held = -np.inf
    for i in range(len(column)):
        if column[i] <= largest and column[i] - held > SMALL:
            held = column[i]
    return held
