"""Type aliases for the annotations of public functions."""

import numpy as np
from numpy.typing import NDArray

from keeptree.output import Filename

__all__ = ["Filename", "Floats", "RandomState"]

Floats = NDArray[np.float64]
RandomState = int | np.random.RandomState | None
