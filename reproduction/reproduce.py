"""Reproduce a paper: run its tasks, fill its tables, draw its figures and write a report.

Each paper is a module with a ``REPRODUCTION``; :data:`PAPERS` lists them.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

from keeptree import __version__
from keeptree.evaluation.runner import read_records, run
from keeptree.output import require_extra, write_text
from reproduction.data import UnavailableError, load
from reproduction.provenance import SEEDS, note_run, read_runs, write_provenance
from reproduction.raw import write_raw
from reproduction.results import Results
from reproduction.tables import legend
from reproduction.verdicts import is_enough

PAPERS = {
    "alvarez-2005": "reproduction.alvarez_2005",
    "alvarez-2007": "reproduction.alvarez_2007",
    "choices": "reproduction.choices",
    "katz-2012": "reproduction.katz_2012",
}


@dataclass(frozen=True)
class MeasuredFigure:
    """A figure that needs its own measurements.

    Attributes
    ----------
    draw : callable
        ``draw(folder, results)`` returns a picture, or None without results.
    list_tasks : callable
        As in :class:`Reproduction`.
    """

    draw: Callable
    list_tasks: Callable


@dataclass(frozen=True)
class Reproduction:
    """The experiments of one paper.

    Attributes
    ----------
    name : str
        Name that the user types.
    citation : str
        Reference of the paper.
    datasets : dict
        Name in the paper -> coding, in which ``data`` is the name in :data:`reproduction.data.SETS`
        and ``meaning`` describes the positive class.
    samples : int
        Number of samples of a full run.
    protocols : tuple of str
        Ways to draw samples; the first is the default.
    tables : dict
        Key -> function of :class:`~reproduction.results.Results` that returns a table.
    figures : dict
        Key -> function of a folder and ``data_dir`` that returns a picture, or a
        :class:`MeasuredFigure`.
    list_tasks : callable
        ``list_tasks(samples, datasets, sources, protocol)`` returns the tasks.
    work : callable
        ``work(task, data_dir=None)`` returns the rows of a task.
    records : str
        Name of the file of finished tasks; papers that share tasks share it.
    marks : str
        Meaning of the marks of the cells, if it differs from :func:`~reproduction.tables.legend`.
    """

    name: str
    citation: str
    datasets: dict
    samples: int
    protocols: tuple
    tables: dict
    figures: dict
    list_tasks: Callable
    work: Callable
    records: str
    marks: str = ""


def reproduce(
    name,
    *,
    tables=None,
    figures=None,
    samples=None,
    datasets=None,
    data_dir=None,
    protocol=None,
    out="build/reproduction",
    n_jobs=None,
    progress=True,
    finished=False,
    command="",
):
    """Reproduce tables and figures of a paper.

    Finished samples are kept in the folder ``out``. The same call continues an interrupted run, and
    a call with more samples adds to it.

    Parameters
    ----------
    name : str
        One of :data:`PAPERS`.
    tables, figures : list of str, optional
        Tables and figures to reproduce; by default all.
    samples : int, optional
        Number of samples; by default that of the paper.
    datasets : list of str, optional
        Data sets, by the paper's names; by default all.
    data_dir : str or Path, optional
        Folder with your own data files.
    protocol : str, optional
        How samples are drawn; by default as in the paper.
    out : str or Path
        Folder for the results, created if necessary.
    n_jobs : int, optional
        Number of processes; by default one per core.
    progress : bool
        Whether to show a progress bar on a terminal.
    finished : bool
        Whether to report finished results without measuring anything.
    command : str
        Command as the user typed it, for the report.

    Returns
    -------
    report : dict
        Content of the JSON file; ``files`` lists the paths that were written.
    """
    paper = get_reproduction(name)
    everything = tables is None and figures is None
    tables = _choose("table", paper.tables, paper, tables, everything)
    figures = _choose("figure", paper.figures, paper, figures, everything)
    protocol = _choose("protocol", paper.protocols, paper, protocol and [protocol], False)
    protocol = protocol[0] if protocol else paper.protocols[0]
    samples = paper.samples if samples is None else samples
    if samples < 1:
        raise ValueError(f"samples={samples} is too few; give at least 1.")
    datasets = _choose("data set", paper.datasets, paper, datasets, datasets is None)
    data_dir = _folder(data_dir)
    if figures:
        require_extra("matplotlib", extra="plot")
    out = _output_folder(out)

    about = {"paper": paper.name, "citation": paper.citation, "version": __version__}
    records = []
    lists = [paper.list_tasks] if tables else []
    lists += [figure.list_tasks for figure in map(paper.figures.get, figures)
              if isinstance(figure, MeasuredFigure)]  # fmt: skip
    if lists:
        found, missing = _find_data(paper, datasets, data_dir)
        checksums = {name: data.checksum for name, data in found.items()}
        tasks = [task for list_tasks in lists
                 for task in list_tasks(samples, list(found), checksums, protocol)]  # fmt: skip
        path = out / paper.records
        if finished:
            records = select_finished(tasks, path)
        else:
            with note_run(out, command, path):
                records = run(tasks, partial(paper.work, data_dir=data_dir), path,
                              n_jobs=n_jobs, progress=progress, description=paper.name)  # fmt: skip
        _check_any_done(records)
        about |= _describe(paper, records, found, missing, protocol, samples)
        about["runs"] = read_runs(out, paper.records, protocol, paper.protocols[0])
    return write_report(paper, about, records, tables, figures, out, data_dir)


def select_finished(tasks, path):
    """Return the records in a file that belong to the tasks."""
    done = {json.dumps(record["task"], sort_keys=True): record
            for record in (read_records(path)[0] if path.exists() else ())}  # fmt: skip
    keys = (json.dumps(task, sort_keys=True) for task in tasks)
    return [done[key] for key in keys if key in done]


def write_report(paper, about, records, tables, figures, out, data_dir=None):
    """Fill the tables, draw the figures, and write the report.

    Parameters
    ----------
    paper : Reproduction
        The paper.
    about : dict
        Description of the samples.
    records : list of dict
        Finished tasks.
    tables, figures : list of str
        Keys of the tables and figures to write.
    out : Path
        Folder to write to.
    data_dir : str, optional
        Folder with the user's data files.

    Returns
    -------
    report : dict
    """
    results = Results(records, about)
    sections = [paper.tables[key](results) for key in tables]
    for figure in (paper.figures[key] for key in figures):
        if isinstance(figure, MeasuredFigure):
            sections.append(figure.draw(out, results))
        else:
            sections.append(figure(out, data_dir))
    sections = [section for section in sections if section is not None]
    name = report_name(paper, about)
    report = {**about, "sections": [section.to_dict() for section in sections]}
    markdown, data = out / f"{name}.md", out / f"{name}.json"
    files = [markdown, data, *(out / part["file"] for part in report["sections"] if "file" in part)]
    parts = [write_head(about, paper), *(part.to_markdown() for part in sections)]
    write_text(markdown, "\n".join(parts))
    write_text(data, json.dumps(report, indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    if records:
        files.append(out / f"{name}.parquet")
        write_raw(files[-1], {paper.records: records}, {name: about})
    return {**report, "files": [str(path) for path in files]}


def report_name(paper, about):
    """Return the name of a report's files: the paper and, if not the default, the protocol."""
    protocol = about.get("protocol", paper.protocols[0])
    return paper.name if protocol == paper.protocols[0] else f"{paper.name}-{protocol}"


def get_reproduction(name):
    """Return the :class:`Reproduction` of a paper."""
    if name not in PAPERS:
        raise ValueError(f"There is no paper {name!r} to reproduce; there are {', '.join(PAPERS)}.")
    return import_module(PAPERS[name]).REPRODUCTION


def _choose(kind, available, paper, wanted, everything):
    """Return the requested tables or figures in the paper's order; all with ``everything``."""
    if everything:
        return list(available)
    unknown = [key for key in wanted or () if key not in available]
    if unknown:
        known = ", ".join(available)
        raise ValueError(f"{paper.name} has no {kind} {unknown[0]!r}; it has {known}.")
    return [key for key in available if key in (wanted or ())]


def _describe(paper, records, found, missing, protocol, samples):
    """Return a description of the samples: their number, their data, and whether they suffice."""
    results = Results(records)
    taken = Counter(record["task"]["dataset"] for record in records
                    if "rows" in record and "size" not in record["task"])  # fmt: skip
    having = [name for name in found if name in results.datasets]
    enough = is_enough(
        min((taken[name] for name in having), default=0),
        paper.samples,
        len(having),
        len(paper.datasets),
    )
    return {
        "protocol": protocol,
        "samples": samples,
        "full": paper.samples,
        "enough": enough,
        "seconds": round(sum(record.get("seconds", 0) for record in records), 1),
        "seeds": SEEDS[paper.records.split("-")[0]],
        "datasets": {name: _describe_set(paper, name, found[name], taken[name]) for name in having},
        "unavailable": missing,
        "failures": results.failures,
    }


def _describe_set(paper, name, data, samples):
    sizes = sorted(Counter(label_classes(paper.datasets[name], data.y)).values())
    return {
        "positive": paper.datasets[name].meaning,
        "rows": len(data.y),
        "imbalance": round(sizes[-1] / sizes[0], 2),
        "samples": samples,
        "source": data.source,
        "checksum": data.checksum,
    }


def label_classes(coding, y):
    """Return the classes as in the paper: some labels against the rest, or as they are."""
    if coding.positive is None:
        return list(y)
    positive = coding.positive if isinstance(coding.positive, tuple) else (coding.positive,)
    return [label in positive for label in y]


def _check_any_done(records):
    """Raise a ValueError if there is nothing to report."""
    failures = Results(records).failures
    if failures and len(failures) == len(records):
        raise ValueError(f"Every task failed; the first was {failures[0]}")
    if not records:
        raise ValueError("No task of these is finished; run the command without --finished.")


def _find_data(paper, datasets, data_dir):
    """Return the data sets that are available, and why the others are not."""
    found, missing = {}, {}
    for name in datasets:
        try:
            found[name] = load(paper.datasets[name].data, data_dir)
        except UnavailableError as error:
            missing[name] = str(error)
    if not found:
        reasons = " ".join(missing.values())
        raise UnavailableError(f"None of the data sets is available. {reasons}")
    return found, missing


def _folder(path):
    if path is None:
        return None
    path = Path(path).expanduser()
    if not path.is_dir():
        raise FileNotFoundError(f"The data folder {path} does not exist; check the name.")
    return str(path)


def _output_folder(path):
    path = Path(path).expanduser().absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise type(error)(f"{path} cannot be created as a folder; choose another one.") from error
    return path


def write_head(about, paper):
    """Return the beginning of the Markdown report: the command, the data and the software."""
    lines = [f"# {about['paper']}", "", about["citation"], ""]
    if "samples" not in about:
        return "\n".join(lines)
    lines += ["## What was measured", ""]
    counts = sorted({data["samples"] for data in about["datasets"].values()})
    number = f"{counts[0]}" if counts[:-1] == [] else f"{counts[0]} to {counts[-1]}"
    whole = counts[0] >= about["full"]
    lines += [
        f"{number} samples of each data set, protocol “{about['protocol']}”"
        + ("." if whole else f"; a full run takes {about['full']}.")
        + (
            ""
            if about["enough"]
            else " This is a quick look: too few samples or sets for verdicts."
        )
        + f" Each cell shows our value, the published one in brackets, and a mark: "
        f"{paper.marks or legend()}. Our insignificant values are italic, our significantly bad "
        "ones bold.",
        "",
        *write_provenance(about),
        "| data set | positive class | rows | samples | source | SHA-256 |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, data in about["datasets"].items():
        keys = ("positive", "rows", "samples", "source", "checksum")
        lines += [f"| {name} | {' | '.join(str(data[key]) for key in keys)} |"]
    left = [name for name in paper.datasets if name not in about["datasets"]]
    left = [name for name in left if name not in about["unavailable"]]
    lines += ["", *([f"- Not measured in this run: {', '.join(left)}"] if left else [])]
    lines += [f"- {text[0].upper()}{text[1:]}" for text in about["unavailable"].values()]
    lines += [*(f"- Failed: {text}" for text in about["failures"]), ""]
    return "\n".join(lines)
