"""``--open``: show the written page in the user's browser."""

import sys
import webbrowser
from pathlib import Path


def add_open(parser):
    """Add the option that opens the page."""
    parser.add_argument("--open", action="store_true", help="open the page in a browser")


def open_page(path):
    """Open a page in the user's browser; report on the standard error if there is none."""
    page = Path(path).absolute()
    try:
        opened = webbrowser.open(page.as_uri())
    except webbrowser.Error:
        opened = False
    if not opened:
        print(f"No browser was found; open {page} manually.", file=sys.stderr)
