"""Writing files: checked before the work, complete or not at all; extras named when missing."""

import errno
import os
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from keeptree.temporary import is_temporary, temporary_file, temporary_folder

# Errors that come from writing, whichever library writes.
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EROFS, getattr(errno, "EDQUOT", -1)}


class MissingExtraError(ImportError):
    """A library that an optional part needs is not installed."""


def require_extra(*modules, extra):
    """Check that optional libraries can be imported; else name the command that installs them.

    Parameters
    ----------
    *modules : str
        Their import names.
    extra : str
        The extra of this package that has them.
    """
    for name in modules:
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f'This needs {name}, which is not installed; run: pip install "keeptree[{extra}]"'
            ) from error


def user_path(path):
    """Return a path with ``~user`` replaced; an unknown user is a FileNotFoundError."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        message = f"{path}: there is no such user; check the name."
        raise FileNotFoundError(message) from None


def check_writable(path):
    """Return the path, absolute; raise an OSError that says what to do if it cannot be written.

    Parameters
    ----------
    path : str or Path
        A file that may exist already, or a symbolic link to one.
    """
    path = user_path(path).absolute()
    target = _follow(path)
    folder = target.parent
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a regular file; choose another place for the file.")
    if not folder.is_dir():
        wrong = "is not a folder" if folder.exists() else "does not exist"
        raise FileNotFoundError(
            f"The folder {folder} {wrong}; create it or choose another place for the file."
        )
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"{path} is read-only; choose another place for the file.")
    try:
        with temporary_file(folder):
            pass
    except OSError as error:
        raise _cannot_write(path, error) from error
    return path


@contextmanager
def replacing(path):
    """Yield the path of a temporary file beside ``path`` that takes its place once it is complete.

    The new file is on the disk before the old one goes, has its permissions and, where the system
    allows it, its owner. A symbolic link stays, and what it points to is replaced. An error inside
    leaves the old file as it is, and nothing else.
    """
    path = check_writable(path)
    target = _follow(path)
    old = target.stat() if target.exists() else None
    mode = 0o666 if old is None else 0o600
    with _explaining(path), temporary_file(target.parent, mode) as (temporary, file):
        if old is not None:
            _take_over(target, old, temporary)
        yield temporary
        os.fsync(file.fileno())
        file.close()
        os.replace(temporary, target)
        _sync(target.parent)


@contextmanager
def new_folder(path):
    """Yield a temporary folder beside ``path`` that gets this name once it is complete.

    A folder with something in it is never replaced; an error inside leaves nothing behind.
    """
    path = check_new_folder(path)
    with _explaining(path), temporary_folder(path.parent) as temporary:
        yield temporary
        for file in temporary.rglob("*"):
            if file.is_file():
                _sync(file)
        os.replace(temporary, path)
        _sync(path.parent)


def check_new_folder(path):
    """Return the path of a folder to write, absolute; an OSError unless it is new or empty."""
    path = user_path(path).absolute()
    if path.is_dir() and any(path.iterdir()):
        raise FileExistsError(f"The folder {path} exists and is not empty; choose another one.")
    if path.exists() and not path.is_dir():
        raise FileExistsError(f"{path} is a file; choose another name for the folder.")
    check_writable(path.parent / f"{path.name}.parquet")
    return path


def write_text(path, text):
    """Write a file so that it is replaced only once the new one is complete."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def _explaining(path):
    """Turn what the system says of the temporary file into a sentence about ``path``."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM and not is_temporary(error.filename):
            raise  # of another file, which is read
        raise _cannot_write(path, error) from error


def _follow(path):
    """Where a file really is."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(f"{path} is a symbolic link that leads in a circle; choose another place.")
    return target


def _take_over(target, old, temporary):
    """Give the new file the owner, the permissions and the extended attributes of the old one."""
    mode = old.st_mode & 0o777
    new = temporary.stat()
    if hasattr(os, "chown") and (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):
            os.chown(temporary, -1, old.st_gid)
        with suppress(PermissionError):
            os.chown(temporary, old.st_uid, -1)
        if temporary.stat().st_gid != old.st_gid:
            mode &= 0o707 | (mode & 0o007) << 3  # another group gets what everybody has
    with suppress(OSError, AttributeError):  # access lists and labels, where there are any
        for name in os.listxattr(target):
            os.setxattr(temporary, name, os.getxattr(target, name))
    temporary.chmod(mode)


def _sync(place):
    """Wait until a file, or the names in a folder, are on the disk, where the system can tell."""
    with suppress(OSError):  # some network file systems cannot
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _cannot_write(path, error):
    reason = os.strerror(error.errno) if error.errno else str(error)
    return type(error)(
        f"{path} cannot be written ({reason.lower()}); choose another place for the file."
    )
