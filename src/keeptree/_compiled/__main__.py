"""``python -m keeptree._compiled``: compile every function of a checkout now, on all cores."""

import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from keeptree._compiled.native import load_native


def main():
    """Compile the functions that are not in the cache yet, and print what was done."""
    if load_native() is not None:
        print("The machine code is up to date.")
        return
    from keeptree._compiled.progress import announce_all, compile_named, find_entries

    start, names = time.monotonic(), list(find_entries())
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        work = {name: pool.submit(compile_named, name) for name in names}
        with announce_all(names) as move:
            for done, future in enumerate(as_completed(work.values()), start=1):
                future.result()
                move(done, next((n for n in names if not work[n].done()), ""))
    print(f"Compiled {len(names)} functions in {time.monotonic() - start:.0f} s.")


if __name__ == "__main__":
    main()
