"""Store the machine code that numba compiles in a checkout in files, for the next process.

numba's own cache notices only changes of a function's own file, keeps an index that two processes
can damage (numba issue 10434), and fails where nothing can be written. Here, each compiled function
is one file. Its name contains a fingerprint of all source files that the function is built from,
and the file starts with a digest of its content: a truncated or damaged file counts as absent.
"""

import os
import pickle
import stat
import sys
import tempfile
import time
from functools import cache
from hashlib import sha256
from pathlib import Path

import numba
from numba.core.caching import CompileResultCacheImpl, NullCache
from numba.core.serialize import dumps

from keeptree._compiled.native import HERE, source_digest

_SUFFIX = f".{sys.implementation.cache_tag}.machinecode"
_KEPT = 30 * 24 * 3600  # seconds before an old file may be removed


class FileCache(NullCache):
    """The cache of one entry, with numba's interface."""

    def __init__(self, entry):
        self.name = entry.name
        self.sources = source_digest(entry.function.__module__.rpartition(".")[2])

    def load_overload(self, sig, target_context):
        """Return the compiled function, or None if it has no intact file."""
        target_context.refresh()
        for path in self._paths(sig, target_context):
            try:
                data = path.read_bytes()
                if sha256(data[32:]).digest() == data[:32]:
                    payload = pickle.loads(data[32:])
                    return CompileResultCacheImpl.rebuild(None, target_context, payload)
            except Exception:  # whatever is wrong with the file, the function can be compiled again
                continue
        return None

    def save_overload(self, sig, data):
        """Write a compiled function; if that is impossible, the next process compiles it again."""
        if data.library.has_dynamic_globals or data.lifted:
            return  # it refers to objects of this process
        payload = dumps(CompileResultCacheImpl.reduce(None, data))
        for path in self._paths(sig, data.target_context):
            try:
                _write(path, sha256(payload).digest() + payload)
                _remove_old(path.parent)
            except OSError:
                continue
            return

    def is_filled(self, sig, target_context):
        """Return whether the function has a file, intact or not."""
        return any(path.exists() for path in self._paths(sig, target_context))

    def _paths(self, sig, target_context):
        """Return the paths at which the function may be stored, in order of preference."""
        machine = target_context.codegen().magic_tuple()
        fits = repr((self.sources, numba.__version__, str(sig), machine))
        name = f"{self.name}.{sha256(fits.encode()).hexdigest()[:24]}{_SUFFIX}"
        return [folder / name for folder in cache_folders() if _is_trusted(folder)]


@cache
def cache_folders():
    """Return the cache folders: beside the sources, in the user's cache, and a temporary one.

    Files are read from all of them and written to the first that is writeable, if any.
    """
    folders = [HERE / "__pycache__"]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(home):
        folders.append(Path(home) / "keeptree")
    try:
        user = os.getuid() if hasattr(os, "getuid") else "user"
        folders.append(Path(tempfile.gettempdir()) / f"keeptree-{user}")
    except OSError:
        pass  # there is no temporary folder
    return folders


def _is_trusted(folder):
    """Return whether only this user can add files to a folder: reading a file runs its content.

    The folder beside the sources is as trustworthy as the sources. Any other folder that does not
    exist yet is created for this user alone.
    """
    if folder.parent == HERE or not hasattr(os, "getuid"):
        return True
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    return (
        stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
    )


def _write(path, data):
    """Write a file completely or not at all."""
    path.parent.mkdir(exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def _remove_old(folder):
    """Remove files older than a month; a function that is still needed is compiled again."""
    oldest = time.time() - _KEPT
    for path in folder.glob(f"*{_SUFFIX}"):
        if path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)
