"""Generate docs/reproduction.md from the raw results beside it.

``python -m docs.results`` writes the same page again, byte for byte, from
docs/reproduction.parquet. ``python -m docs.results FOLDER`` first gathers the raw results in an
output folder of ``python -m reproduction``; ``make reproduction`` ends with this step.

A section of a report replaces the section with the same heading on the page. The text after
**Reading.** in a section, and every section that is in no report, is written by hand.
"""

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

from reproduction.provenance import SEEDS
from reproduction.raw import read_raw, write_raw
from reproduction.reproduce import get_reproduction, write_report

PAGE = Path(__file__).with_name("reproduction.md")
RAW = Path(__file__).with_name("reproduction.parquet")
HEADINGS = {  # heading on the page -> report
    "Alvarez, Bernard and Deffuant (2007)": "alvarez-2007",
    "What was chosen after looking": "choices",
    "On ordinary samples": "alvarez-2007-plain",
    "Alvarez and Bernard (2005)": "alvarez-2005",
    "Katz, Shabtai, Rokach and Ofek (2012): ConfDTree": "katz-2012",
}


def main(folder=None):
    """Update the raw results, the page and its pictures."""
    if folder is not None:
        write_raw(RAW, *gather(Path(folder)))
    with tempfile.TemporaryDirectory() as made:
        page = build_page(PAGE.read_text("utf-8"), RAW, Path(made))
        for picture in Path(made).glob("*.svg"):
            shutil.copy(picture, PAGE.parent / "images")
    PAGE.write_text(page, "utf-8")
    print(f"{PAGE.name} was made from {RAW.name}.")


def gather(folder):
    """Return records and reports of all Parquet files in a folder, each task only once.

    Parameters
    ----------
    folder : Path
        Output folder of ``python -m reproduction``.

    Returns
    -------
    records, reports : dict
        Arguments of :func:`reproduction.raw.write_raw`.
    """
    records, reports = {}, {}
    for name in HEADINGS.values():
        path = folder / f"{name}.parquet"
        if not path.exists():
            continue
        found, about = read_raw(path)
        reports |= about
        for file, done in found.items():
            known = records.setdefault(file, {})
            known |= {json.dumps(record["task"], sort_keys=True): record for record in done}
    return {file: list(known.values()) for file, known in records.items()}, reports


def build_page(page, raw, folder):
    """Return the page with its sections updated from the raw results.

    Parameters
    ----------
    page : str
        The current page.
    raw : Path
        File of raw results.
    folder : Path
        Folder for reports and pictures.

    Returns
    -------
    page : str
    """
    records, abouts = read_raw(raw)
    texts = {}
    for heading, name in HEADINGS.items():
        if name in abouts:
            write_one(name, abouts[name], records, folder)
            texts[heading] = (folder / f"{name}.md").read_text("utf-8")
    return replace_sections(page, texts)


def write_one(name, about, records, folder):
    """Write one report from raw results."""
    paper = get_reproduction(about["paper"])
    about = {**about, "seeds": SEEDS[paper.records.split("-")[0]]}  # the stored text may be older
    mine = [
        record
        for record in records[paper.records]
        if record["task"]["dataset"] in about["datasets"]
        and (paper.name == "choices"
             or record["task"].get("protocol", about["protocol"]) == about["protocol"])
    ]  # fmt: skip
    plain = name != paper.name  # for the other protocol, the paper's three tables are enough
    tables = ["1", "2", "3"] if plain else list(paper.tables)
    write_report(paper, about, mine, tables, [] if plain else list(paper.figures), folder)


def replace_sections(page, reports):
    """Return the page with the sections of the reports, each under its heading.

    Raises a ValueError if the page has no heading for a section.
    """
    sections = {heading: dict(_split(text)[1]) for heading, text in reports.items()}
    left = {(heading, key) for heading, parts in sections.items() for key in parts if key[1] == "#"}
    start, parts = _split(page)
    here, written = None, [start]
    for heading, body in parts:
        title = heading.lstrip("# ")
        if title in HEADINGS or heading.startswith("## "):
            here = title
        key = f"## {title}"
        if key in sections.get(here, {}):
            _, mark, by_hand = body.partition("\n**Reading.**")
            body = sections[here][key].rstrip("\n").replace("](", "](images/") + "\n"
            body += mark + by_hand if mark else "\n"
            left.discard((here, key))
        written.append(heading + body)
    if left:
        where, key = min(left)
        raise ValueError(f"The page has no heading {key.lstrip('# ')!r} under {where!r}; add it.")
    return "".join(written).rstrip("\n") + "\n"


def _split(text):
    """Return the text before the first heading, then (heading, body) of each section."""
    start, *parts = re.split(r"^(#+ .*)$", text, flags=re.MULTILINE)
    return start, list(zip(parts[::2], parts[1::2], strict=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
