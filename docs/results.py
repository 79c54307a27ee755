"""Put the reports of ``python -m reproduction`` into docs/reproduction.md.

``make reproduction`` runs it: python -m docs.results FOLDER [PLAIN], with the output folder of
the papers and that of alvarez-2007 with --protocol plain. A section of a report replaces that of
the same heading on the page. Whatever follows **Reading.** in a section, and every other section,
is written by hand.
"""

import re
import shutil
import sys
from pathlib import Path

PAGE = Path(__file__).with_name("reproduction.md")
PAPERS = {  # heading on the page -> report
    "Alvarez, Bernard and Deffuant (2007)": "alvarez-2007",
    "Alvarez and Bernard (2005)": "alvarez-2005",
    "Katz, Shabtai, Rokach and Ofek (2012): ConfDTree": "katz-2012",
}
PLAIN = "On ordinary samples"


def main(folder, plain=None):
    """Bring the page and its pictures up to date."""
    reports = {heading: Path(folder) / f"{name}.md" for heading, name in PAPERS.items()}
    if plain is not None:
        reports[PLAIN] = Path(plain) / "alvarez-2007.md"
    there = {heading: path.read_text("utf-8") for heading, path in reports.items() if path.exists()}
    PAGE.write_text(replace_sections(PAGE.read_text("utf-8"), there), "utf-8")
    for picture in Path(folder).glob("*.svg"):
        shutil.copy(picture, PAGE.parent / "images")
    print(f"{PAGE.name} has {', '.join(there) or 'nothing new'}.")


def replace_sections(page, reports):
    """The page with the sections of the reports, each by the heading under which it belongs."""
    sections = {heading: dict(_split(text)[1]) for heading, text in reports.items()}
    start, parts = _split(page)
    here, written = {}, [start]
    for heading, body in parts:
        title = heading.lstrip("# ")
        if title in (*PAPERS, PLAIN) or heading.startswith("## "):
            here = sections.get(title, {})
        key = f"## {title}"
        if key in here:
            _, mark, by_hand = body.partition("\n**Reading.**")
            body = here[key].rstrip("\n").replace("](", "](images/") + "\n" + mark + by_hand
            body = body if mark else body + "\n"
        written.append(heading + body)
    return "".join(written).rstrip("\n") + "\n"


def _split(text):
    """What comes before the first heading, then (heading, body) of each."""
    start, *parts = re.split(r"^(#+ .*)$", text, flags=re.MULTILINE)
    return start, list(zip(parts[::2], parts[1::2], strict=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
