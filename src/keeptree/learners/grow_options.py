"""Options of the compiled growing functions."""

from typing import NamedTuple

import numpy as np

from keeptree._compiled import j48

CRITERIA = {
    "gain-ratio": j48.GAIN_RATIO,
    "information-gain": j48.INFORMATION_GAIN,
    "gini": j48.GINI,
    "misclassification": j48.ERRORS,
}
NOMINAL_TESTS = {
    "multiway": j48.MULTIWAY,
    "one-against-rest": j48.ONE_AGAINST_REST,
    "subsets": j48.SUBSETS,
}


class GrowOptions(NamedTuple):
    """Growing options; their values are keys of the tables above."""

    criterion: str = "gain-ratio"
    nominal_test: str = "multiway"
    min_leaf: int = 2
    max_depth: int | None = None
    mdl: bool = True

    @property
    def deepest(self):
        """Depth at which every node must be a leaf."""
        return depth_limit(self.max_depth)

    @property
    def criterion_code(self):
        """Code of the criterion for the compiled functions."""
        return CRITERIA[self.criterion]

    @property
    def nominal_code(self):
        """Code of the kind of nominal test for the compiled functions."""
        return NOMINAL_TESTS[self.nominal_test]


def depth_limit(max_depth):
    """Return ``max_depth`` as an integer; None becomes the largest one."""
    return np.iinfo(np.int64).max if max_depth is None else max_depth


def table_of_terms(n, gini=False):
    """Return the values of x log2(x), or of x^2 for ``gini``, for x from 0 to n."""
    numbers = np.arange(n + 1.0)
    return numbers**2 if gini else numbers * np.log2(np.maximum(numbers, 1))
