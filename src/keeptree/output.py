"""Write files atomically, check paths in advance, and name missing extras."""

import errno
import os
from contextlib import contextmanager, suppress
from importlib import import_module
from os import PathLike
from pathlib import Path

from keeptree.temporary import is_temporary, temporary_file, temporary_folder

Filename = str | PathLike[str]

# Errors that writing libraries raise.
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EROFS, getattr(errno, "EDQUOT", -1)}


class MissingExtraError(ImportError):
    """Raised if a library of an optional feature is not installed."""


def require_extra(*modules, extra):
    """Check that optional libraries can be imported, or name the command that installs them.

    Parameters
    ----------
    *modules : str
        Import names.
    extra : str
        Extra of KeepTree that installs them.
    """
    for name in modules:
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"This needs {name}, which is not installed; run: {install_command(extra)}"
            ) from error


def install_command(extra):
    """Return the command that installs an extra, also in a clone.

    Examples
    --------
    >>> install_command("sql")
    'pip install "keeptree[sql]" (in a clone: pip install --editable ".[sql]")'
    """
    return f'pip install "keeptree[{extra}]" (in a clone: pip install --editable ".[{extra}]")'


def user_path(path):
    """Expand ``~user`` in a path; an unknown user raises a FileNotFoundError."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        message = f"{path}: there is no such user; check the name."
        raise FileNotFoundError(message) from None


def shown_path(path):
    """Return a path for messages: relative if it lies in the current folder, else absolute.

    Examples
    --------
    >>> shown_path(Path.cwd() / "model.json"), shown_path("model.json")
    ('model.json', 'model.json')
    """
    path = user_path(path).absolute()
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def check_writable(path):
    """Return the absolute path, or raise an OSError with advice if it cannot be written.

    Parameters
    ----------
    path : str or Path
        File, which may exist, or a symbolic link to one.
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
    """Yield a temporary path that replaces ``path`` once it is complete.

    The new file is on disk before the old one is removed, with the same permissions and, if
    possible, the same owner. Symbolic links are followed. After an error the old file is unchanged
    and nothing else is left.
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
    """Yield a temporary folder that is renamed to ``path`` once it is complete.

    A folder that is not empty is never replaced. After an error nothing is left.
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
    """Return the absolute path of a new or empty folder; otherwise raise an OSError."""
    path = user_path(path).absolute()
    if path.is_dir() and any(path.iterdir()):
        raise FileExistsError(f"The folder {path} exists and is not empty; choose another one.")
    if path.exists() and not path.is_dir():
        raise FileExistsError(f"{path} is a file; choose another name for the folder.")
    check_writable(path.parent / f"{path.name}.parquet")
    return path


def write_text(path, text):
    """Write a text file, replacing an old one only when the new one is complete."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def _explaining(path):
    """Turn system errors about the temporary file into a sentence about ``path``."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM and not is_temporary(error.filename):
            raise  # the error is about another file, which is only read
        raise _cannot_write(path, error) from error


def _follow(path):
    """Resolve symbolic links."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(f"{path} is a symbolic link in a loop; choose another place.")
    return target


def _take_over(target, old, temporary):
    """Copy owner, permissions and extended attributes to the new file."""
    mode = old.st_mode & 0o777
    new = temporary.stat()
    if hasattr(os, "chown") and (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):
            os.chown(temporary, -1, old.st_gid)
        with suppress(PermissionError):
            os.chown(temporary, old.st_uid, -1)
        if temporary.stat().st_gid != old.st_gid:
            mode &= 0o707 | (mode & 0o007) << 3  # a new group gets only the permissions of others
    with suppress(OSError, AttributeError):  # access control lists and security labels, if any
        for name in os.listxattr(target):
            os.setxattr(temporary, name, os.getxattr(target, name))
    temporary.chmod(mode)


def _sync(place):
    """Flush a file or folder to disk, if the system supports it."""
    with suppress(OSError):  # not supported by some network file systems
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _cannot_write(path, error):
    """Return the error for a path that cannot be written, with the reason and advice."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    return type(error)(
        f"{path} cannot be written ({reason.lower()}); choose another place for the file."
    )
