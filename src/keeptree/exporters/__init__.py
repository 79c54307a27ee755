"""Export trees and models to formats that other programs run: one file per format.

A format is a module with ``write(subject, **options)``, which returns the files to write (file
extension -> text or bytes, the main one first), and, if a runtime exists, with
``run(files, subject, rows, **options)``, which scores :class:`~keeptree.exporters.rows.Rows` there
and returns :class:`~keeptree.exporters.check.Answers`, or the reason (text) why it could not.
A format whose arithmetic is not float64 also has ``tolerance(subject, **options)``, and one whose
options change the tree ``prepare(subject, **options)``.
"""

from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from keeptree.choice import one_of
from keeptree.output import Filename, check_writable, replacing
from keeptree.progress import step

__all__ = ["FORMATS", "Export", "Format", "export"]

SCHEMA = 1  # of Export.to_dict; rises when a field changes its meaning


@dataclass(frozen=True)
class Format:
    """An export format: its name, title, file extension, module, and further extensions."""

    name: str
    title: str
    suffix: str
    module: str
    also: tuple = ()

    @property
    def endings(self):
        """All file extensions of the format."""
        return (self.suffix, *self.also)


_ALL = (
    Format("sql", "SQL", ".sql", "sql"),
    Format("onnx", "ONNX", ".onnx", "onnx"),
    Format("pmml", "PMML", ".pmml", "pmml"),
    Format("python", "Python", ".py", "python"),
    Format("javascript", "JavaScript", ".js", "javascript", (".mjs",)),
    Format("c", "C", ".c", "c"),
    Format("mermaid", "Mermaid", ".mmd", "mermaid"),
    Format("graphviz", "Graphviz", ".dot", "graphviz"),
)
FORMATS = {made.name: made for made in _ALL}


@dataclass(frozen=True)
class Export:
    """What was exported.

    Attributes
    ----------
    format : str
        Name of the format.
    paths : tuple of Path
        Files written, the main one first.
    checked : str
        ``"equal on 1000 of 1000 rows"``, or why nothing was compared.
    fingerprint : str
        Of the tree.
    """

    format: str
    paths: tuple
    checked: str
    fingerprint: str

    def to_dict(self):
        """Return the fields as plain values."""
        return {
            "schema": SCHEMA,
            "format": self.format,
            "paths": [str(path) for path in self.paths],
            "checked": self.checked,
            "fingerprint": self.fingerprint,
        }


def export(
    model: Any,
    to: Filename | None = None,
    *,
    format: str | None = None,
    check: int = 1000,
    overwrite: bool = False,
    **options: Any,
) -> Any:
    """Write a tree or model in a format that other programs run, checked against Python.

    Before anything is written, the target scores rows that try every test of the tree: its
    threshold and the numbers next to it, missing values, unseen categories. Labels and leaves must
    match those of Python, and probabilities must agree to 1e-12; otherwise nothing is written.

    Parameters
    ----------
    model : fitted model, Tree, str or Path
        One of our classifiers; a ``Tree``, or anything that :func:`keeptree.keep` takes; or the
        file of a saved tree or model.
    to : str or Path, optional
        File to write; its extension determines the format. By default the text is returned.
    format : str, optional
        ``"sql"``, ``"mermaid"``, ``"graphviz"``, ...; required if ``to`` does not determine it.
    check : int, default=1000
        Number of rows to compare; 0 skips the check.
    overwrite : bool, default=False
        Whether files written beside ``to`` may replace existing ones that are not exports.
    **options
        Options of the format; see the guide.

    Returns
    -------
    done : Export, or str, bytes or dict
        What was written. Without ``to`` the text itself, or a dict from file extension to text if
        the format needs several files.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = kt.SmoothedTreeClassifier(kt.C45Classifier(max_depth=1)).fit(X, y)
    >>> print(kt.export(model, format="mermaid"))
    %% Exported by KeepTree ...
    flowchart TD
      n0["petal width (cm)"]
      ...
    """
    from keeptree.exporters.subject import subject_of

    chosen = _choose(to, format)
    path = None if to is None else check_writable(to)
    writer = import_module(f"keeptree.exporters.{chosen.module}")
    _check_options(writer.write, chosen, options)
    subject = subject_of(model)
    if hasattr(writer, "prepare"):
        subject = writer.prepare(subject, **options)
    with step(f"Writing {chosen.title}"):
        files = writer.write(subject, **options)
    if path is not None:
        paths = _check_paths(path, files, overwrite)
    checked = _check(writer, chosen, files, subject, check, options)
    if path is None:
        return next(iter(files.values())) if len(files) == 1 else files
    _write(paths, files)
    return Export(chosen.name, tuple(paths), checked, subject.fingerprint)


def _choose(to, name):
    """Return the format with a name, or with the extension of a file."""
    if name is not None:
        return FORMATS[one_of(FORMATS, name, "export format")]
    if to is None:
        raise ValueError(f"Give a file to write, or a format: {', '.join(FORMATS)}.")
    suffix = Path(to).suffix.lower()
    for found in FORMATS.values():
        if suffix in found.endings:
            return found
    known = ", ".join(f"{' or '.join(f.endings)} ({f.title})" for f in FORMATS.values())
    raise ValueError(
        f"The extension of {Path(to).name or to} is not that of an export format; use {known}, or "
        "name the format."
    )


def _check_options(write, chosen, options):
    """Raise a ValueError for the first option that a format does not have."""
    known = list(signature(write).parameters)[1:]
    for name in options:
        if name not in known:
            has = f"its options are {', '.join(known)}" if known else "it has no options"
            raise ValueError(f"{chosen.title} has no option {name!r}; {has}.")


def _check_paths(path, files, overwrite):
    """Return the paths to write; refuse to replace a file that the user did not name."""
    others = list(files)[1:]
    paths = [path, *(path.with_name(f"{path.stem}{suffix}") for suffix in others)]
    for beside in paths[1:]:
        check_writable(beside)
        if beside.exists() and not overwrite and not _is_ours(beside):
            raise ValueError(
                f"{beside} already exists and would be overwritten; move it, or use overwrite=True "
                "(--force)."
            )
    return paths


def _is_ours(path):
    """Return whether a file is an earlier export."""
    with open(path, "rb") as file:
        return b"Exported by KeepTree" in file.read(200)


def _check(writer, chosen, files, subject, n, options):
    """Compare the target with Python on ``n`` rows: one sentence, or a ValueError."""
    if not hasattr(writer, "run"):
        return f"not checked: {chosen.title} draws the tree and scores nothing"
    if n == 0:
        return "not checked: no rows were asked for"
    from keeptree.exporters.check import TOLERANCE, answers_of_python, compare
    from keeptree.exporters.rows import sample_rows

    rows = sample_rows(subject, n)
    with step("Comparing the export with Python"):
        theirs = _run(writer, chosen, files, subject, rows, options)
        if not hasattr(theirs, "label"):
            return f"not checked: {theirs or 'nothing here can run it'}"
        allowed = getattr(writer, "tolerance", lambda subject, **options: TOLERANCE)
        found = compare(answers_of_python(subject, rows.X), theirs, allowed(subject, **options))
    if found.wrong:
        raise ValueError(
            f"The {chosen.title} export is {found}, and nothing was written; please report this "
            "as a bug in KeepTree."
        )
    return f"{found} {theirs.note}".strip()


def _run(writer, chosen, files, subject, rows, options):
    """Score rows with the target; its errors become one sentence."""
    try:
        return writer.run(files, subject, rows, **options)
    except (ValueError, MemoryError):
        raise
    except Exception as error:  # of a database or a runtime, which have classes of their own
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ValueError(
            f"The {chosen.title} export does not run, so nothing was written: {reason:.300}"
        ) from error


def _write(paths, files):
    """Write all files, or none."""
    with ExitStack() as stack:
        for path, content in zip(paths, files.values(), strict=True):
            temporary = stack.enter_context(replacing(path))
            if isinstance(content, bytes):
                temporary.write_bytes(content)
            else:
                temporary.write_text(content, encoding="utf-8", newline="\n")
