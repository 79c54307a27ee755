"""What the growing kernels need to know."""

from typing import NamedTuple

import numpy as np

CRITERIA = {"gain-ratio": 0, "information-gain": 1, "gini": 2}
NOMINAL_TESTS = {"multiway": 0, "one-against-rest": 1, "subsets": 2}
SMALL = 1e-6  # J48's tolerance


class GrowOptions(NamedTuple):
    """How to grow; the names are keys of the tables above."""

    criterion: str = "gain-ratio"
    nominal_test: str = "multiway"
    min_leaf: int = 2
    max_depth: int | None = None
    mdl: bool = True

    @property
    def deepest(self):
        """Depth at which a node is a leaf in any case."""
        return np.iinfo(np.int64).max if self.max_depth is None else self.max_depth

    @property
    def criterion_code(self):
        """The criterion as the kernels take it."""
        return CRITERIA[self.criterion]

    @property
    def nominal_code(self):
        """The kind of nominal test as the kernels take it."""
        return NOMINAL_TESTS[self.nominal_test]


def table_of_terms(n, gini=False):
    """Return x log2(x), or x^2, of 0 to n."""
    numbers = np.arange(n + 1.0)
    return numbers**2 if gini else numbers * np.log2(np.maximum(numbers, 1))
