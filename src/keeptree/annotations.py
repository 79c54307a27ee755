"""Type aliases for the annotations of public functions."""

from os import PathLike

import numpy as np
from numpy.typing import NDArray

Filename = str | PathLike[str]
Floats = NDArray[np.float64]
RandomState = int | np.random.RandomState | None
