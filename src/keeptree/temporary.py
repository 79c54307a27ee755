"""Temporary files and folders that do not outlive their process, however it ends.

One is removed when its block ends, also by SIGINT, SIGTERM and SIGHUP. What SIGKILL or a power
failure leaves is recognised by its name and removed by the next process that writes to the folder.
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

_mine = {}  # path -> process that made it: a forked child must leave its parent's files alone
_replaced = {}  # signal -> what handled it before
_lock = threading.RLock()


@contextmanager
def temporary_file(folder, mode=0o666):
    """Yield the path of a new file in a folder, and the file; it is gone afterwards.

    Parameters
    ----------
    folder : Path
        Where to make it. What a killed process left there is removed first.
    mode : int
        Its permissions, less those that the umask takes.

    Yields
    ------
    path : Path
        It may be renamed to keep the file.
    file : binary file
        Open for writing; the caller may close it.
    """
    path = _new_path(folder)
    # Mode x is O_EXCL: a link that somebody put in its place is never followed.
    with _watching(path), open(path, "xb", opener=partial(os.open, mode=mode)) as file:
        try:
            yield path, file
        finally:
            with suppress(OSError):  # what cannot be flushed is thrown away
                file.close()
            path.unlink(missing_ok=True)


@contextmanager
def temporary_folder(folder):
    """Yield the path of a new folder in a folder; it is gone afterwards, unless it was renamed.

    Parameters
    ----------
    folder : Path
        Where to make it. What a killed process left there is removed first.
    """
    path = _new_path(folder)
    with _watching(path):
        path.mkdir()
        try:
            yield path
        finally:
            _remove(path)


def is_temporary(name):
    """Whether a path, or None, is that of a file that :func:`temporary_file` made."""
    return name is not None and bool(_NAME.fullmatch(os.path.basename(os.fsdecode(name))))


def remove_leftovers(folder):
    """Remove the temporary files in a folder whose process has ended without removing them.

    Those of another machine or container are left alone: it is unknown here whether their
    process still runs.
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
    """Remove a file or a folder with all that is in it, as far as the system allows."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(path)


@cache
def _place():
    """Where process numbers mean the same: this machine or container."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return sha256(f"{socket.gethostname()} {namespace}".encode()).hexdigest()[:8]


def _has_ended(process):
    if os.name != "posix":
        return process != os.getpid()  # Windows refuses to remove a file that is open
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False


@contextmanager
def _watching(path):
    """Remove a file if a signal ends the process meanwhile."""
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
    """Remove the files before a signal ends the process; a program's own handlers stay."""
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
    """Remove this process's files and end as the signal would have."""
    for path, process in list(_mine.items()):
        if process == os.getpid():
            _remove(path)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
