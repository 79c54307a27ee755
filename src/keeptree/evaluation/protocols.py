"""Protocols, which divide cases into training and test sets.

Every protocol is a splitter with scikit-learn's interface, and most are scikit-learn's own, so they
also work in ``cross_validate``.
"""

from typing import Any

import numpy as np
from sklearn.model_selection import (
    BaseShuffleSplit,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from keeptree.annotations import RandomState
from keeptree.choice import one_of
from keeptree.data.labels import plain

# Protocols that also test on the training cases.
RESUBSTITUTED = ("bootstrap-632", "bootstrap-632+")


def make_protocol(name: str, n_splits: int | None = None, random_state: RandomState = 0) -> Any:
    """Return the splitter of a protocol.

    Parameters
    ----------
    name : str
        All except the bootstraps and ``"leave-one-out"`` are stratified.

        - ``"holdout"``: 2/3 to train, 1/3 to test, once.
        - ``"repeated-holdout"``: the same 10 times.
        - ``"k-fold"``: 10 parts, each of which is the test part once.
        - ``"repeated-k-fold"``: ``n_splits`` repetitions (10) of 10 folds.
        - ``"leave-one-out"``: as many splits as cases.
        - ``"bootstrap"``: see :class:`BootstrapSplit`; 100 samples.
        - ``"bootstrap-632"``: the same samples. Each figure is 0.632 times that of the left-out
          cases plus 0.368 times that of a model fitted and tested on all cases.
        - ``"bootstrap-632+"``: the same, but the more a model overfits, the more the left-out
          cases count. Metrics whose value for independent predictions is unknown are left out.
        - ``"paper"``: see :class:`DividedBootstrapSplit`; 100 samples.
        - ``"plain"``: another reading of the same papers, the holdout 100 times.
    n_splits : int, optional
        Number of repetitions, samples or folds; by default as above.
    random_state : int, RandomState or None
        Seed of the random numbers.

    Returns
    -------
    splitter : object
        Object with ``split(X, y)`` and ``get_n_splits``.

    Examples
    --------
    >>> make_protocol("k-fold", 5)
    StratifiedKFold(n_splits=5, random_state=0, shuffle=True)
    """
    make, default = PROTOCOLS[one_of(PROTOCOLS, name, "protocol")]
    if n_splits is not None and (default is None or n_splits < 1):
        raise ValueError(
            f"The protocol {name!r} has no number of splits; leave n_splits out."
            if default is None
            else f"n_splits is {n_splits}; give 1 or more."
        )
    return make(default if n_splits is None else n_splits, random_state)


class BootstrapSplit(BaseShuffleSplit):
    """Train on a sample drawn with replacement, test on the cases that were not drawn.

    A sample has the size of the data and contains about 63.2% of the cases; a sample that contains
    all of them is drawn again.

    Parameters
    ----------
    n_splits : int
        Number of samples.
    random_state : int, RandomState or None
        Seed of the random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> for train, test in BootstrapSplit(2, random_state=0).split(np.zeros((6, 1))):
    ...     print(train, test)
    [4 5 0 3 3 3] [1 2]
    [0 4 2 1 0 1] [3 5]
    """

    def __init__(self, n_splits: int = 100, *, random_state: RandomState = None) -> None:
        super().__init__(n_splits=n_splits, random_state=random_state)

    def _iter_indices(self, X, y=None, groups=None):
        rng = check_random_state(self.random_state)
        cases = np.arange(_num_samples(X))
        if len(cases) < 2:
            raise ValueError(
                "There is 1 case; give at least 2, so that a bootstrap sample can leave one out."
            )
        for _ in range(self.n_splits):
            test = ()
            while len(test) == 0:
                train = rng.choice(cases, size=len(cases))
                test = np.setdiff1d(cases, train)
            yield train, test


class DividedBootstrapSplit(BaseShuffleSplit):
    """Draw a stratified bootstrap sample and divide its distinct cases (Alvarez 2005, 2007).

    "We divided 100 bootstrap samples into separate training and test sets in the proportion 2/3
    1/3, respecting the prior of the classes." From each class, as many cases as it has are drawn
    with replacement. The distinct cases are then divided, and all copies of a case stay together.
    Because of the copies, learners prune less than on an ordinary sample; for your own data, use
    ``"repeated-holdout"``.

    Parameters
    ----------
    n_splits : int
        Number of samples.
    test_size : float
        Share of the distinct cases of each class that go to the test part; at least one stays on
        either side. A class with a single distinct case goes to the training part.
    random_state : int, RandomState or None
        Seed of the random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0] * 6 + [1] * 6)
    >>> train, test = next(DividedBootstrapSplit(random_state=0).split(y, y))
    >>> print(train, test)
    [ 3  3  3  4  5  6  6  8 10 10] [ 0 11]
    """

    def __init__(
        self, n_splits: int = 100, *, test_size: float = 1 / 3, random_state: RandomState = None
    ) -> None:
        super().__init__(n_splits=n_splits, test_size=test_size, random_state=random_state)

    def _iter_indices(self, X, y, groups=None):
        rng = check_random_state(self.random_state)
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        members = [np.flatnonzero(codes == code) for code in range(len(classes))]
        for label, cases in zip(classes, members, strict=True):
            if len(cases) < 2:
                raise ValueError(
                    f"The class {plain(label)!r} has 1 member, which cannot be in both the "
                    f"training and the test part; merge the class with another or remove it."
                )
        for _ in range(self.n_splits):
            parts = [self._divide(rng.choice(cases, size=len(cases)), rng) for cases in members]
            yield tuple(np.sort(np.concatenate(part)) for part in zip(*parts, strict=True))

    def _divide(self, sample, rng):
        distinct = rng.permutation(np.unique(sample))
        n_test = max(1, round(self.test_size * len(distinct))) if len(distinct) > 1 else 0
        in_test = np.isin(sample, distinct[: min(n_test, len(distinct) - 1)])
        return sample[~in_test], sample[in_test]


def _bootstrap(n_splits, random_state):
    return BootstrapSplit(n_splits, random_state=random_state)


def _holdout(n_splits, random_state):
    return StratifiedShuffleSplit(n_splits, test_size=1 / 3, random_state=random_state)


def _k_fold(n_splits, random_state):
    return StratifiedKFold(n_splits, shuffle=True, random_state=random_state)


def _repeated_k_fold(n_splits, random_state):
    return RepeatedStratifiedKFold(n_splits=10, n_repeats=n_splits, random_state=random_state)


# Name -> (function of the number of splits and the seed, default number or None if it is fixed).
PROTOCOLS = {
    "holdout": (lambda n_splits, random_state: _holdout(1, random_state), None),
    "repeated-holdout": (_holdout, 10),
    "k-fold": (_k_fold, 10),
    "repeated-k-fold": (_repeated_k_fold, 10),
    "leave-one-out": (lambda n_splits, random_state: LeaveOneOut(), None),
    "bootstrap": (_bootstrap, 100),
    **dict.fromkeys(RESUBSTITUTED, (_bootstrap, 100)),
    "paper": (lambda n, random_state: DividedBootstrapSplit(n, random_state=random_state), 100),
    "plain": (_holdout, 100),
}
