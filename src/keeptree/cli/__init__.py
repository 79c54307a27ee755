"""The command line: one command is one call of a public function, and has one file.

Nothing heavy is imported here; a command imports what it needs when it runs.
"""

import argparse
import os
import sys
import warnings
from functools import partial

from keeptree import __version__
from keeptree.cli import (
    compare,
    demo,
    explain,
    fit,
    grow,
    predict,
    report,
    reproduce,
)
from keeptree.cli.command import Command
from keeptree.output import MissingExtraError

__all__ = ["COMMANDS", "Command", "main"]

# In the order in which they are listed.
COMMANDS = [
    report.COMMAND,
    demo.COMMAND,
    fit.COMMAND,
    predict.COMMAND,
    explain.COMMAND,
    grow.COMMAND,
    compare.COMMAND,
    reproduce.COMMAND,
]


def main(argv=None):
    """Run the command line.

    Parameters
    ----------
    argv : list of str, optional
        Arguments; default those of the process.

    Returns
    -------
    code : int
        0, or 2 for bad input: one sentence on the standard error says what to do.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # an arrow must not fail in an ASCII terminal
    parser = _parser()
    options, unknown = parser.parse_known_args(argv)
    if unknown:
        # By the command's own parser, so that its own help is pointed at.
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.command is None:
        parser.print_help()
        return 0
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, options.command.name)
            options.command.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has seen enough; Python must not complain when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError, MissingExtraError) as error:
        if options.debug:
            raise
        print(f"keeptree {options.command.name}: {_sentence(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser that complains in one sentence."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser():
    parser = _Parser(
        prog="keeptree",
        description="Keep the decision tree your experts signed off; get honest probabilities.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"keeptree {__version__}")
    parser.add_argument(
        "--debug", action="store_true", help="show where an error arose instead of one sentence"
    )
    parser.set_defaults(command=None, parser=parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    for command in COMMANDS:
        entry = commands.add_parser(
            command.name, help=command.help, description=_description(command.help)
        )
        command.arguments(entry)
        entry.set_defaults(command=command, parser=entry)
    return parser


def _description(text):
    return f"{text[0].upper()}{text[1:]}."


def _show_warning(command, message, *_, **__):
    """One sentence instead of a line of source."""
    print(f"keeptree {command}: {_sentence(message)}", file=sys.stderr)


def _sentence(error):
    """The error as one line; the operating system's own errors lose their number."""
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}."
    return " ".join(str(error).split())
