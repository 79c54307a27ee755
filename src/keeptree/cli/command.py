"""What an entry of the command line is made of."""

import sys
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One entry of the command line.

    Parameters
    ----------
    name : str
        What the user types.
    help : str
        One line for ``keeptree --help``.
    arguments : callable
        Adds the options to a parser.
    run : callable
        Takes the parsed options and does the work; an error it raises is shown as one sentence.
    """

    name: str
    help: str
    arguments: Callable
    run: Callable


def say(text):
    """Tell a person at a terminal what is going on; a file or program does not care."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr)
