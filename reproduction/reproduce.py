"""Reproduce a paper: do its tasks, fill its tables, draw its figures, write it all down.

A paper is one module with a ``REPRODUCTION``; :data:`PAPERS` lists them.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

from keeptree import __version__
from keeptree.evaluation.runner import run
from keeptree.output import require_extra, write_text
from reproduction.data import UnavailableError, load
from reproduction.results import Results
from reproduction.tables import legend

PAPERS = {
    "alvarez-2005": "reproduction.alvarez_2005",
    "alvarez-2007": "reproduction.alvarez_2007",
    "katz-2012": "reproduction.katz_2012",
}


@dataclass(frozen=True)
class MeasuredFigure:
    """A figure that is drawn from results of its own.

    Attributes
    ----------
    draw : callable
        ``draw(folder, results)`` returns a picture.
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
        What the user types.
    citation : str
        The paper.
    datasets : dict
        For each of the paper's names a coding: ``data`` is the name in
        :data:`reproduction.data.SETS`, ``meaning`` says which class is positive.
    samples : int
        How many samples the paper took.
    protocols : tuple of str
        How samples may be drawn; the first is the default.
    tables : dict
        By key a function of :class:`~reproduction.results.Results` that returns a table.
    figures : dict
        By key a function of a folder and ``data_dir`` that returns a picture, or a
        :class:`MeasuredFigure`.
    list_tasks : callable
        ``list_tasks(samples, datasets, sources, protocol)`` returns the tasks.
    work : callable
        ``work(task, data_dir=None)`` returns the rows of a task.
    records : str
        Name of the file of finished tasks; papers that share tasks share it.
    marks : str
        What the marks of the cells mean, if not what :func:`~reproduction.tables.legend` says.
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
):
    """Reproduce tables and figures of a paper.

    Finished samples are kept in the folder ``out``: the same call again continues, a call with more
    samples adds to them.

    Parameters
    ----------
    name : str
        One of :data:`PAPERS`.
    tables, figures : list of str, optional
        Which ones; default all if neither is given.
    samples : int, optional
        Number of samples; default that of the paper.
    datasets : list of str, optional
        Data sets, by the paper's names; default all.
    data_dir : str or Path, optional
        Folder with the data files that are not on PyPI.
    protocol : str, optional
        How samples are drawn; default as the paper did.
    out : str or Path
        Folder for the results; made if it does not exist.
    n_jobs : int, optional
        Number of processes; default one for each core.
    progress : bool
        Show a progress bar on a terminal.

    Returns
    -------
    report : dict
        What was measured, as in the JSON file, with the paths written under ``files``.
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

    report = {"paper": paper.name, "citation": paper.citation, "version": __version__}
    sections = []

    def do_tasks(list_tasks):
        about, results = _do_tasks(paper, list_tasks, samples, datasets, protocol, data_dir, out,
                                   n_jobs, progress)  # fmt: skip
        about["seconds"] = round(about["seconds"] + report.get("seconds", 0), 1)
        about["failures"] = report.get("failures", []) + about["failures"]
        report.update(about)
        return results

    if tables:
        results = do_tasks(paper.list_tasks)
        sections += [paper.tables[key](results) for key in tables]
    for figure in (paper.figures[key] for key in figures):
        if isinstance(figure, MeasuredFigure):
            sections.append(figure.draw(out, do_tasks(figure.list_tasks)))
        else:
            sections.append(figure(out, data_dir))
    report["sections"] = [section.to_dict() for section in sections]
    return _write(report, sections, paper, out)


def get_reproduction(name):
    """Return the :class:`Reproduction` of a paper."""
    if name not in PAPERS:
        raise ValueError(f"There is no paper {name!r} to reproduce; there are {', '.join(PAPERS)}.")
    return import_module(PAPERS[name]).REPRODUCTION


def _choose(kind, available, paper, wanted, everything):
    """What was asked for, in the paper's order; everything if so."""
    if everything:
        return list(available)
    unknown = [key for key in wanted or () if key not in available]
    if unknown:
        known = ", ".join(available)
        raise ValueError(f"{paper.name} has no {kind} {unknown[0]!r}; it has {known}.")
    return [key for key in available if key in (wanted or ())]


def _do_tasks(paper, list_tasks, samples, datasets, protocol, data_dir, out, n_jobs, progress):
    """Do the tasks; return what the report says of them, and the results."""
    found, missing = _find_data(paper, datasets, data_dir)
    having = [name for name in datasets if name in found]
    if not having:
        reasons = " ".join(missing.values())
        raise UnavailableError(f"None of the data sets is available. {reasons}")
    records = run(
        list_tasks(
            samples, having, {name: data.checksum for name, data in found.items()}, protocol
        ),
        partial(paper.work, data_dir=data_dir),
        out / paper.records,
        n_jobs=n_jobs,
        progress=progress,
        description=paper.name,
    )
    results = Results(records)
    about = {
        "protocol": protocol,
        "samples": samples,
        "seconds": round(sum(record.get("seconds", 0) for record in records), 1),
        "datasets": {
            name: {
                "positive": paper.datasets[name].meaning,
                "rows": len(found[name].y),
                "source": found[name].source,
                "checksum": found[name].checksum,
            }
            for name in having
        },
        "unavailable": missing,
        "failures": results.failures,
    }
    return about, results


def _find_data(paper, datasets, data_dir):
    """The data sets that are available, and why the others are not."""
    found, missing = {}, {}
    for name in datasets:
        try:
            found[name] = load(paper.datasets[name].data, data_dir)
        except UnavailableError as error:
            missing[name] = str(error)
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
        raise type(error)(f"{path} cannot be made a folder; choose another place.") from error
    return path


def _write(report, sections, paper, out):
    """Write the report as Markdown and JSON and return it with the paths."""
    markdown, data = out / f"{paper.name}.md", out / f"{paper.name}.json"
    pictures = [str(out / part["file"]) for part in report["sections"] if "file" in part]
    write_text(
        markdown, "\n".join([_head(report, paper), *(part.to_markdown() for part in sections)])
    )
    write_text(data, json.dumps(report, indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    return {**report, "files": [str(markdown), str(data), *pictures]}


def _head(report, paper):
    """The beginning of the Markdown report: what was run on what."""
    lines = [f"# {report['paper']}", "", report["citation"], ""]
    if "samples" in report:
        minutes = report["seconds"] / 60
        lines += [
            f"{report['samples']} samples of each data set, protocol “{report['protocol']}”, "
            f"{minutes:.1f} minutes of one core. Each cell has our value, then the published one "
            f"in brackets, then a mark: {paper.marks or legend()}. Insignificant values of ours "
            "are italic, significantly bad ones bold.",
            "",
            "| data set | positive class | rows | source | SHA-256 |",
            "| --- | --- | --- | --- | --- |",
        ]
        for name, data in report["datasets"].items():
            about = (data[key] for key in ("positive", "rows", "source", "checksum"))
            lines += [f"| {name} | {' | '.join(map(str, about))} |"]
        lines += ["", *(f"- Unavailable: {text}" for text in report["unavailable"].values())]
        lines += [*(f"- Failed: {text}" for text in report["failures"]), ""]
    return "\n".join(lines)
