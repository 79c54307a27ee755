"""Limit BLAS to one thread during a fit, so that results do not depend on the number of cores."""

from contextlib import contextmanager
from functools import cache
from threading import Lock

import scipy.linalg  # noqa: F401 - loads SciPy's own BLAS, so that it is found
from threadpoolctl import ThreadpoolController

_lock = Lock()
_running = []  # number of fits in progress in all threads of this process
_limits = []


@contextmanager
def one_blas_thread():
    """Keep BLAS to one thread until the last of several concurrent fits is done.

    The number of threads changes the order of a sum and thus its last bits. The setting applies to
    the whole process, so only the last fit to end restores it.
    """
    with _lock:
        if not _running:
            _limits.append(_controller().limit(limits=1, user_api="blas"))
        _running.append(None)
    try:
        yield
    finally:
        with _lock:
            _running.pop()
            if not _running:
                _limits.pop().restore_original_limits()


@cache
def _controller():
    # Cached, because finding the libraries takes longer than a small fit.
    return ThreadpoolController()
