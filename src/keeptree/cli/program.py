"""Running a program of the command line: parse, do the work, fail in one sentence."""

import argparse
import os
import sys
import warnings
from functools import partial

from keeptree.output import MissingExtraError


class Parser(argparse.ArgumentParser):
    """A parser that complains in one sentence."""

    def error(self, message):
        """Exit with code 2 and one sentence that points at the help."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")

    def add_debug(self):
        """Add the option that shows where an error arose."""
        self.add_argument(
            "--debug", action="store_true", help="show where an error arose instead of one sentence"
        )


def run_program(parser, argv=None):
    """Parse the arguments and run the command they choose.

    Parameters
    ----------
    parser : Parser
        It sets ``run`` (a function of the options; None shows the help), ``parser`` (the chosen
        command's own) and ``debug``.
    argv : list of str, optional
        Arguments; default those of the process.

    Returns
    -------
    code : int
        What the command returns, 0 if that is None; or 2 for bad input: one sentence on the
        standard error says what to do.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # an arrow must not fail in an ASCII terminal
    options, unknown = parser.parse_known_args(argv)
    if unknown:
        # By the command's own parser, so that its own help is pointed at.
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}{_tell_quotes(unknown)}")
    if options.run is None:
        parser.print_help()
        return 0
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, options.parser.prog)
            code = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        code = 0
        # The reader (head, less) has seen enough; Python must not complain when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError, MissingExtraError) as error:
        if options.debug:
            raise
        print(f"{options.parser.prog}: {_sentence(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return code or 0


def _tell_quotes(unknown):
    """A word about quotes, if a shell may have made several files of one pattern."""
    if all(os.path.isfile(text) for text in unknown):
        return ' (one DATA is read: put quotes around a pattern, as in "parts/*.parquet")'
    return ""


def _show_warning(program, message, *_, **__):
    """One sentence instead of a line of source."""
    print(f"{program}: {_sentence(message)}", file=sys.stderr)


def _sentence(error):
    """The error as one line; the operating system's own errors lose their number."""
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}."
    return " ".join(str(error).split())
