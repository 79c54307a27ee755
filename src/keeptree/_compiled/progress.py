"""Show the progress of compilation in a checkout."""

import sys
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from keeptree._compiled import declare
from keeptree._compiled.jit import compile_entry, is_cached
from keeptree._compiled.native import HERE
from keeptree.progress import LOGGER, step, watch


def find_entries():
    """Return all entries by name, starting with those of the longest files."""
    files = sorted(HERE.glob("*.py"), key=lambda path: -path.stat().st_size)
    for path in files:
        if not path.stem.startswith("__"):
            import_module(f"keeptree._compiled.{path.stem}")
    order = {path.stem: place for place, path in enumerate(files)}
    home = {name: entry.function.__module__ for name, entry in declare.ENTRIES.items()}
    names = sorted(home, key=lambda name: order[home[name].rpartition(".")[2]])
    return {name: declare.ENTRIES[name] for name in names}


@contextmanager
def announce(name):
    """Show that the function ``name`` is being compiled; on a terminal, with a progress bar."""
    if not sys.stderr.isatty() or find_spec("rich") is None:
        _announce_once()
    entries = find_entries().values()
    ready = sum(map(is_cached, entries))
    with watch(), step("Compiling on first use", len(entries), done=ready, detail=name):
        yield


@cache
def _announce_once():
    LOGGER.warning("KeepTree compiles its functions on first use; please wait ...")


@contextmanager
def announce_all(names):
    """Show how many functions have been compiled; yield a function that reports progress."""
    with watch(), step("Compiling", len(names), detail=names[0]) as move:
        yield move


def compile_named(name):
    """Compile the entry ``name``; runs in a worker process."""
    compile_entry(find_entries()[name])
