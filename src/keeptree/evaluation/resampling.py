"""Bootstrap resamples of cases, as weights."""

import numpy as np

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
