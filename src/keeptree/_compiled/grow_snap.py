"""The value Weka 3.6 makes of a threshold."""

import numpy as np
from numpy import float64

from keeptree._compiled.declare import In, entry

SMALL = 1e-6  # J48's tolerance


@entry
def read_upward(
    column: In(float64, 1),
    largest: float,
):
    """Read values in order; hold each that is 1e-6 above the one held and not above ``largest``."""
    held = -np.inf
    for i in range(len(column)):
        if column[i] <= largest and column[i] - held > SMALL:
            held = column[i]
    return held
