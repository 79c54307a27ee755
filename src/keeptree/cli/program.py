"""Run a command: parse its arguments, do the work, and report errors in one sentence."""

import argparse
import os
import sys
import warnings
from functools import partial

from keeptree.output import MissingExtraError


class Parser(argparse.ArgumentParser):
    """A parser that reports errors in one sentence."""

    def error(self, message):
        """Exit with code 2 and one sentence that points to the help."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")

    def add_debug(self):
        """Add the option that shows the traceback of an error."""
        self.add_argument(
            "--debug", action="store_true", help="show the full traceback of an error"
        )


def run_program(parser, argv=None):
    """Parse the arguments and run the command they choose.

    Parameters
    ----------
    parser : Parser
        It sets ``run`` (a function of the options; None shows the help), ``parser`` (the chosen
        command's own) and ``debug``.
    argv : list of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    code : int
        Return value of the command (0 for None), or 2 for bad input, with one sentence on standard
        error that says what to do.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # an arrow must not fail in an ASCII terminal
    options, unknown = parser.parse_known_args(argv)
    if unknown:
        # By the command's own parser, so that the message points to its help.
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}{_tell_quotes(unknown)}")
    if options.run is None:
        parser.print_help()
        return 0
    try:
        with warnings.catch_warnings():
            # The commands tell in their own words what to do about such a tree.
            warnings.filterwarnings("ignore", message="The tree has no tests, so it decides")
            warnings.showwarning = partial(_show_warning, options.parser.prog)
            code = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        code = 0
        # The reader (head, less) has closed the pipe; Python must not report that at exit.
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
    """A hint about quotes, if the shell may have expanded a pattern to several files."""
    if all(os.path.isfile(text) for text in unknown):
        return ' (only one DATA is allowed: put quotes around a pattern, as in "parts/*.parquet")'
    return ""


def _show_warning(program, message, *_, **__):
    """Print a warning as one sentence, without source code."""
    print(f"{program}: {_sentence(message)}", file=sys.stderr)


def _sentence(error):
    """The error as one line; the number of operating system errors is removed."""
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}."
    return " ".join(str(error).split())
