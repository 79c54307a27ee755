"""Bootstrap resamples of cases, as weights."""

import numpy as np

from keeptree.text import class_text, clean

_ENOUGH = 10  # cases of a class; with fewer, resamples hide how much depends on which they are
_MOST, _FEWEST = 2000, 200
_WORK = 40_000_000  # cases x classes x resamples; larger data get fewer resamples
_BLOCK = 2_000_000  # weights in memory at a time


def count_resamples(work):
    """Return how many resamples to draw if each one takes ``work``: cases times classes.

    Examples
    --------
    >>> count_resamples(1000), count_resamples(100_000), count_resamples(10**9)
    (2000, 400, 200)
    """
    return int(np.clip(_WORK // work, _FEWEST, _MOST))


def find_scarce(truth, n_classes):
    """Return the rarest class with too few cases to compare models, with its number of cases.

    Parameters
    ----------
    truth : ndarray of shape (n,)
        Codes of the true classes.
    n_classes : int
        Number of classes; those that do not occur do not count.

    Returns
    -------
    scarce : dict or None
        ``class`` and ``cases``, or None if every class that occurs has enough cases.

    Examples
    --------
    >>> import numpy as np
    >>> find_scarce(np.repeat([0, 1], [93, 1]), 2)
    {'class': 1, 'cases': 1}
    """
    cases = np.bincount(truth, minlength=n_classes)
    found = np.flatnonzero((cases > 0) & (cases < _ENOUGH))
    if not len(found):
        return None
    rarest = found[cases[found].argmin()]
    return {"class": int(rarest), "cases": int(cases[rarest])}


def tell_scarce(label, cases):
    """Return the sentence on a class that has too few cases to compare models.

    Examples
    --------
    >>> tell_scarce("died", 1)
    'There are too few held-out cases of died (1; at least 10 are needed) to compare the estimates.'
    """
    name = class_text(clean(label))
    return (
        f"There are too few held-out cases of {name} ({cases}; at least {_ENOUGH} are needed) to "
        "compare the estimates."
    )


def draw_weights(n, resamples, random_state=0):
    """Yield blocks of bootstrap resamples: how often each of n cases is drawn, a row per resample.

    Examples
    --------
    >>> [block] = draw_weights(4, 2)
    >>> block.shape, block.sum(axis=1)
    ((2, 4), array([4., 4.]))
    """
    rng = np.random.default_rng(random_state)
    block = max(1, _BLOCK // n)
    for start in range(0, resamples, block):
        drawn = [rng.integers(n, size=n) for _ in range(min(block, resamples - start))]
        yield np.array([np.bincount(rows, minlength=n) for rows in drawn], dtype=float)
