"""Machine code that numba compiled in a checkout, kept in files for the next process.

numba's own cache notices changes of a function's own file only, keeps an index that two processes
can damage (numba issue 10434), and fails where nothing can be written. Here each compiled function
is one file, whose name contains a fingerprint of every source file the function is built from, and
which holds a digest of its content: a file that is truncated or was damaged counts as absent.
"""

import os
import pickle
import sys
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path

import numba
from numba.core.caching import CompileResultCacheImpl, NullCache
from numba.core.serialize import dumps

from keeptree._compiled.native import HERE, source_digest

_SUFFIX = f".{sys.implementation.cache_tag}.machinecode"


class FileCache(NullCache):
    """The cache of one entry, in numba's interface; ``attach`` gives it to a dispatcher."""

    def __init__(self, entry):
        self.name = entry.name
        self.sources = source_digest(entry.function.__module__.rpartition(".")[2])

    def load_overload(self, sig, target_context):
        """Return the compiled function, or None if there is no sound file of it."""
        target_context.refresh()
        try:
            data = self._path(sig, target_context).read_bytes()
            if sha256(data[32:]).digest() == data[:32]:
                return CompileResultCacheImpl.rebuild(None, target_context, pickle.loads(data[32:]))
        except Exception:  # whatever is wrong with a cached file, the function can be compiled
            pass
        return None

    def save_overload(self, sig, data):
        """Write a compiled function; where that is impossible the next process compiles again."""
        payload = dumps(CompileResultCacheImpl.reduce(None, data))
        try:
            path = self._path(sig, data.target_context)
            _remove_older(path, self.name)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                file.write(sha256(payload).digest() + payload)
            os.replace(file.name, path)
        except OSError:
            pass

    def is_filled(self, sig, target_context):
        """Whether there is a file of the function, sound or not."""
        return self._path(sig, target_context).exists()

    def _path(self, sig, target_context):
        fits = (
            source_digest(),
            numba.__version__,
            str(sig),
            target_context.codegen().magic_tuple(),
        )
        key = sha256(repr(fits).encode()).hexdigest()[:24]
        return cache_folder() / f"{self.name}.{key}{_SUFFIX}"


@cache
def cache_folder():
    """Return the first folder that can be written: beside the sources, the user's, a temporary one.

    A folder that other users can write is never used: reading a cached file runs what is in it.
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folders = (
        HERE / "__pycache__",
        Path(home) / "keeptree",
        Path(tempfile.gettempdir()) / f"keeptree-{user}",
    )
    for folder in folders:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_private(folder):
                tempfile.TemporaryFile(dir=folder).close()
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="keeptree-"))


def count_cached():
    """Return how many functions have a file."""
    return len({path.name.partition(".")[0] for path in cache_folder().glob(f"*{_SUFFIX}")})


def _is_private(folder):
    """Whether no other user can write a folder."""
    if not hasattr(os, "getuid"):
        return True
    status = folder.stat()
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & 0o022


def _remove_older(path, name):
    """Remove files of the same function from former sources."""
    if path.parent.parent == HERE:
        for old in path.parent.glob(f"{name}.*{_SUFFIX}"):
            if old != path:
                old.unlink(missing_ok=True)
