"""Names for the types that annotations of the public functions use again and again."""

from os import PathLike

import numpy as np
from numpy.typing import NDArray

Filename = str | PathLike[str]
Floats = NDArray[np.float64]
RandomState = int | np.random.RandomState | None
