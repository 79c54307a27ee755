"""Score files with an engine, as ``keeptree predict --engine`` does."""

import re
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from keeptree.choice import one_of
from keeptree.data.parts import find_parts
from keeptree.data.source import as_data_file
from keeptree.engines import ENGINES, score
from keeptree.engines.scorer import Scorer
from keeptree.engines.writing import check_kept, check_out, is_folder, open_output, part_name
from keeptree.output import MissingExtraError, check_writable, new_folder
from keeptree.progress import step
from keeptree.temporary import temporary_folder

SCHEMA = 1  # version of the summary, as in the local engine
_READ = (".csv", ".parquet")  # formats that every engine reads
# How an engine reports the error of a worker.
_OURS = re.compile(r"(?:ValueError|TypeError): ([^\n]+)")


@dataclass(frozen=True)
class Data:
    """Data for an engine to open.

    Parameters
    ----------
    path : str
        Path as given by the user.
    files : list of str
        Files that it matches; only the path itself if the engine has to resolve it.
    kind : str
        ``".csv"``, ``".parquet"``, or another format that only the engine reads.
    text : list of str
        Columns that are text even if they look like numbers in a CSV file.
    """

    path: str
    files: list
    kind: str
    text: list


def run_job(
    model, data, out, engine, *, options, keep, distance, labels, strict, excel_safe
):  # fmt: skip
    """Score data with an engine; parameters and summary as for :func:`~keeptree.predict_file`."""
    one_of(ENGINES, engine, "engine")
    file = as_data_file(data)
    _refuse_what_only_local_has(file, out, strict)
    scorer = Scorer(model, distance, labels, counting=False)
    check_kept(keep, scorer.names)
    table = find_data(file, engine, [*_text_columns(scorer.reader), *keep])
    check_out(out, [], excel_safe)
    module = import_module(f"keeptree.engines.{engine}")
    asked = {"keep": keep, "distance": distance, "labels": labels}
    with _folder_for(out) as folder, step(f"Scoring with {engine}"):
        with one_sentence(engine), module.open_data(table, options) as (found, more):
            module.write(score(model, found, **asked, **more), folder)
        rows, second_opinions = _tidy(folder)
        if not is_folder(out):
            _join(folder, out, excel_safe)
    return {
        "schema": SCHEMA,
        "rows": rows,
        "second_opinions": second_opinions if scorer.has_second_opinion else None,
        "columns": [*keep, *scorer.names],
        "interval": scorer.interval_kind,
        "unfamiliar": None,
        "out": str(out),
    }


def find_data(file, engine, text):
    """Return the :class:`Data` of a file, folder or glob, or of a path that the engine resolves."""
    path = str(file.path)
    if "://" in path:
        kind = Path(path.rstrip("*/")).suffix.lower()
        return Data(path, [path], kind if kind in _READ else ".parquet", text)
    try:
        parts = find_parts(file)
    except (FileNotFoundError, ValueError):
        if engine == "spark" and Path(path).is_dir():  # in a format such as Delta
            return Data(path, [path], ".parquet", text)
        raise
    if parts[0].ending not in _READ:
        raise ValueError(
            f"{parts[0]} is neither CSV nor Parquet; use --engine local, which reads it."
        )
    files = [str(Path(part.path).absolute()) for part in parts]
    return Data(path, files, parts[0].ending, text)


@contextmanager
def one_sentence(engine):
    """Reduce an engine's error report, with the stack traces of its workers, to one sentence."""
    try:
        yield
    except (MissingExtraError, FileNotFoundError):
        raise
    except Exception as error:
        reason = _reason(error)
        if reason is None:
            text = next(iter(str(error).strip().splitlines()), "").strip()
            reason = f"{engine} failed: {text or type(error).__name__}"
        raise ValueError(reason if reason.endswith((".", "?")) else f"{reason}.") from error


def _reason(error):
    """The message of a KeepTree error in an error or its causes; None if there is none."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        module = type(error).__module__
        if isinstance(error, ValueError | TypeError) and module == "builtins":
            return " ".join(str(error).split())
        found = _OURS.findall(str(error))
        if found:
            return found[-1].strip()
        error = getattr(error, "cause", None) or error.__cause__
    return None


def _refuse_what_only_local_has(file, out, strict):
    if strict:
        raise ValueError("--strict needs --engine local.")
    if str(out) == "-" or file.is_stdin:
        raise ValueError(
            "Only --engine local reads standard input or writes standard output; name files."
        )
    if "://" in str(out):
        raise ValueError(
            f"{out} is not on this machine; use kt.score in Python to write elsewhere."
        )
    given = [name for name in file.given() if name != "dates"]
    if given:
        raise ValueError(
            f"--{given[0]} requires --engine local; pass options of other engines with --option."
        )


def _text_columns(model):
    """The nominal columns of a model whose categories are all text."""
    categories = getattr(getattr(model, "tree_", None), "categories", None) or ()
    names = getattr(model, "feature_names_in_", ())
    return [
        name
        for name, labels in zip(names, categories, strict=False)
        if labels is not None and all(isinstance(label, str) for label in labels)
    ]


@contextmanager
def _folder_for(out):
    """Folder for the engine to write to: the output folder, or one whose files are joined later."""
    if is_folder(out):
        with new_folder(out) as folder:
            yield folder
    else:
        with temporary_folder(check_writable(out).parent) as folder:
            yield folder


def _tidy(folder):
    """Number the files of a folder in order and remove all others; return their content."""
    from pyarrow.parquet import ParquetFile

    rows = second_opinions = number = 0
    for place in sorted(folder.rglob("*")):
        if not place.is_file():
            continue
        if place.suffix != ".parquet" or place.name.startswith((".", "_")):
            place.unlink()
            continue
        with ParquetFile(place) as part:
            rows += part.metadata.num_rows
            if "second_opinion" in part.schema_arrow.names:
                for batch in part.iter_batches(columns=["second_opinion"]):
                    second_opinions += batch.column(0).true_count
        place.rename(folder / f".{part_name(number)}")
        number += 1
    for place in list(folder.glob(".part-*")):
        place.rename(folder / place.name[1:])
    return rows, second_opinions


def _join(folder, out, excel_safe):
    """Write the files of a folder to one file, batch by batch."""
    from pyarrow.parquet import ParquetFile

    with open_output(out, excel_safe=excel_safe) as write:
        for place in sorted(folder.glob("*.parquet")):
            with ParquetFile(place) as part:
                for batch in part.iter_batches():
                    write(dict(zip(batch.schema.names, batch.columns, strict=True)), 0)
