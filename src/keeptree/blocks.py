"""Process blocks of rows in threads; compiled functions release the GIL."""

from concurrent.futures import ThreadPoolExecutor

from joblib import effective_n_jobs

# Large enough to make the overhead of a call negligible, small enough for small temporaries.
ROWS = 16384


def map_rows(function, n_rows, n_jobs=None, block=ROWS):
    """Call ``function(start, stop)`` on consecutive blocks of rows and return the results in order.

    Parameters
    ----------
    function : callable
        Reads and writes only the rows ``start`` to ``stop``, so that block size and number of
        threads do not affect the result.
    n_rows : int
        Number of rows.
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None is 1, -1 is all cores.
    block : int
        Number of rows per call.

    Examples
    --------
    >>> map_rows(lambda start, stop: stop - start, 5, block=2)
    [2, 2, 1]
    """
    starts = range(0, n_rows, block)
    threads = min(effective_n_jobs(n_jobs), len(starts)) if len(starts) > 1 else 1
    if threads <= 1:
        return [function(start, min(start + block, n_rows)) for start in starts]
    results, errors, waiting = {}, {}, iter(starts)

    def work():
        # One task per thread, because a task costs as much as hundreds of rows.
        for start in waiting:
            try:
                results[start] = function(start, min(start + block, n_rows))
            except BaseException as error:  # after an interrupt, the other threads stop too
                errors[start] = error
            if errors:
                return

    with ThreadPoolExecutor(threads - 1) as pool:
        for _ in range(threads - 1):
            pool.submit(work)
        work()
    if errors:
        raise errors[min(errors)]  # results in the order of the blocks, whichever thread was faster
    return [results[start] for start in starts]
