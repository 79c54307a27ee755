"""Writing files: checked before the work, complete or not at all; extras named when missing."""

import os
import secrets
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import NamedTemporaryFile


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


def check_writable(path):
    """Return the path, absolute; raise an OSError that says what to do if it cannot be written.

    Parameters
    ----------
    path : str or Path
        A file that may exist already.
    """
    path = Path(path).expanduser().absolute()
    folder = path.parent
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a regular file; choose another place for the file.")
    if not folder.is_dir():
        wrong = "is not a folder" if folder.exists() else "does not exist"
        raise FileNotFoundError(
            f"The folder {folder} {wrong}; create it or choose another place for the file."
        )
    try:
        NamedTemporaryFile(dir=folder).close()
    except OSError as error:
        raise _cannot_write(path, error) from error
    return path


@contextmanager
def replacing(path):
    """Yield the path of a temporary file beside ``path`` that takes its place once it is complete.

    An error inside leaves the old file as it is, and nothing else.
    """
    path = check_writable(path)
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
        try:
            os.replace(temporary, path)
        except OSError as error:
            raise _cannot_write(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path, text):
    """Write a file so that it is replaced only once the new one is complete."""
    with replacing(path) as temporary:
        try:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise _cannot_write(path, error) from error


def _cannot_write(path, error):
    reason = (error.strerror or str(error)).lower()
    return type(error)(f"{path} cannot be written ({reason}); choose another place for the file.")
