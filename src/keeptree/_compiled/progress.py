"""Show what is being compiled in a checkout, and how far it is."""

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from keeptree._compiled import declare
from keeptree._compiled.jit import compile_entry, is_cached
from keeptree._compiled.native import HERE
from keeptree.terminal import progress_bar

_TEXT = "{task.completed}/{task.total} {task.fields[name]}"


def find_entries():
    """Return all entries by name, those of the longest files first."""
    files = sorted(HERE.glob("*.py"), key=lambda path: -path.stat().st_size)
    for path in files:
        if not path.stem.startswith("__"):
            import_module(f"keeptree._compiled.{path.stem}")
    order = {path.stem: place for place, path in enumerate(files)}
    home = {name: entry.function.__module__ for name, entry in declare.ENTRIES.items()}
    names = sorted(home, key=lambda name: order[home[name].rpartition(".")[2]])
    return {name: declare.ENTRIES[name] for name in names}


def announce(name):
    """Show a bar on a terminal while the function ``name`` is compiled; elsewhere one line."""
    if not sys.stderr.isatty() or find_spec("rich") is None:
        _announce_once()
    entries = find_entries().values()
    ready = sum(map(is_cached, entries))
    return progress_bar(
        "Compiling on first use", len(entries), _TEXT, done=ready, transient=True, name=name
    )


@cache
def _announce_once():
    print("KeepTree compiles its functions on first use; please wait ...", file=sys.stderr)


def announce_all(names):
    """Show a bar on a terminal while many functions are compiled; yields how to move it."""
    return progress_bar("Compiling", len(names), _TEXT, name=next(iter(names)))


def compile_named(name):
    """Compile the entry ``name``, in a process that has imported nothing yet."""
    compile_entry(find_entries()[name])
