"""Temporary files and folders that are removed however the process ends.

They are removed at the end of the block and on SIGINT, SIGTERM and SIGHUP. Files left by SIGKILL
or a power failure are recognised by name and removed by the next process that writes to the folder.
"""

import os
import re
import secrets
import shutil
import signal
import socket
import threading
from contextlib import contextmanager, suppress
from functools import cache, partial
from hashlib import sha256

_NAME = re.compile(r"\.keeptree-([0-9a-f]{8})-(\d+)-[0-9a-f]{16}\.tmp")
_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

# Path -> id of the process that created it; a forked child must not remove its parent's files.
_mine = {}
_replaced = {}  # signal -> previous handler
_lock = threading.RLock()


@contextmanager
def temporary_file(folder, mode=0o666):
    """Yield the path of a new temporary file and the file itself.

    Parameters
    ----------
    folder : Path
        Parent folder. Files left there by killed processes are removed first.
    mode : int
        Permissions, reduced by the umask.

    Yields
    ------
    path : Path
        Path; rename it to keep the file.
    file : binary file
        Open for writing; the caller may close it.
    """
    path = _new_path(folder)
    # Mode "x" (O_EXCL) never follows links.
    with _watching(path), open(path, "xb", opener=partial(os.open, mode=mode)) as file:
        try:
            yield path, file
        finally:
            with suppress(OSError):  # after an error, data that cannot be flushed are discarded
                file.close()
            path.unlink(missing_ok=True)


@contextmanager
def temporary_folder(folder):
    """Yield the path of a new temporary folder; rename it to keep it.

    Parameters
    ----------
    folder : Path
        Parent folder. Files left there by killed processes are removed first.
    """
    path = _new_path(folder)
    with _watching(path):
        path.mkdir()
        try:
            yield path
        finally:
            _remove(path)


def is_temporary(name):
    """Return whether a path was created by :func:`temporary_file`."""
    return name is not None and bool(_NAME.fullmatch(os.path.basename(os.fsdecode(name))))


def remove_leftovers(folder):
    """Remove temporary files that processes left in a folder when they were killed.

    Files of other machines or containers are left alone, because their processes may still run.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _NAME.fullmatch(entry.name)
            if found and found[1] == _place() and _has_ended(int(found[2])):
                _remove(entry.path)


def _new_path(folder):
    remove_leftovers(folder)
    return folder / f".keeptree-{_place()}-{os.getpid()}-{secrets.token_hex(8)}.tmp"


def _remove(path):
    """Remove a file or folder with its content, as far as possible."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(path)


@cache
def _place():
    """Return an identifier of this machine or container, in which process ids are unique."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return sha256(f"{socket.gethostname()} {namespace}".encode()).hexdigest()[:8]


def _has_ended(process):
    if os.name != "posix":
        return process != os.getpid()  # on Windows, an open file cannot be removed anyway
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False


@contextmanager
def _watching(path):
    """Remove a file if a signal ends the process during the block."""
    with _lock:
        _mine[path] = os.getpid()
        _catch_signals()
    try:
        yield
    finally:
        with _lock:
            _mine.pop(path, None)
            if not _mine:
                _release_signals()


def _catch_signals():
    """Install handlers that remove files before a signal ends the process."""
    if _replaced or threading.current_thread() is not threading.main_thread():
        return
    for number in _SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            _replaced[number] = signal.signal(number, _end)


def _release_signals():
    if threading.current_thread() is not threading.main_thread():
        return
    for number, handler in _replaced.items():
        if signal.getsignal(number) is _end:
            signal.signal(number, handler)
    _replaced.clear()


def _end(number, _):
    """Remove the files of this process, then end it with the same signal."""
    for path, process in list(_mine.items()):
        if process == os.getpid():
            _remove(path)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
