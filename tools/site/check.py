"""Check a built site: python -m tools.site.check build/site.

Every internal link, anchor and picture must exist, and nothing may be loaded from the network.
"""

import argparse
import sys
from html.parser import HTMLParser
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {
    ("img", "src"),
    ("script", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("link", "href"),
}


class _Page(HTMLParser):
    """Anchors of a page and the targets of its links."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links = {"", "top"}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append((tag, name, value))


def find_problems(site):
    """Return a sentence for each broken link and each resource loaded from the network."""
    site = Path(site).resolve()
    found = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in found}
    problems = []
    for path, page in pages.items():
        for tag, name, link in page.links:
            fault = _fault(path, tag, name, link, pages)
            if fault:
                problems.append(f"{path.relative_to(site)}: {link} {fault}")
    return problems, len(pages), sum(len(page.links) for page in pages.values())


def _fault(path, tag, name, link, pages):
    parts = urlsplit(link)
    if parts.netloc:
        return "is loaded from the network" if (tag, name) in _LOADED else None
    if parts.scheme:  # links such as mailto, data and javascript
        return None
    target = Path(normpath(path.parent / unquote(parts.path))) if parts.path else path
    if target not in pages and not target.is_file():
        return "leads nowhere"
    if target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "has no such anchor"
    return None


def main():
    """Print all problems; exit with code 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    site = parser.parse_args().site
    if not (site / "index.html").exists():
        sys.exit(f"{site} contains no built site; run make docs first.")
    problems, pages, links = find_problems(site)
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{pages} pages, {links} links, {len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
