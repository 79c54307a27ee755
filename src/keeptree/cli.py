"""The command line: one command is one call of a public function.

Nothing heavy is imported here; a command imports what it needs when it runs.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from keeptree import __version__
from keeptree.output import MissingExtraError


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
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return 0
    try:
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


def _demo_arguments(parser):
    parser.add_argument(
        "--out",
        metavar="FILE",
        default="keeptree-demo.html",
        help="the page to write (default: %(default)s)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the figures as JSON instead of the table"
    )


def _demo(options):
    from keeptree.reporting.demo import demo

    if not options.json:
        from keeptree.output import require

        require("rich", extra="report")
        _say("Growing a tree and measuring; the first time takes a little longer ...")
    data = demo(options.out)
    if options.json:
        keys = ("schema", "title", "summary", "n_test", "n_positive", "decisions", "methods")
        figures = {key: data[key] for key in (*keys, "ranking_gain", "about", "page")}
        print(json.dumps(figures, indent=2, allow_nan=False))
        return
    from keeptree.reporting.terminal import print_report

    print_report(data)


def _grow_arguments(parser):
    parser.add_argument("data", metavar="DATA", help="a .csv, .arff or .parquet file")
    parser.add_argument("--target", metavar="COLUMN", required=True, help="column of the class")
    parser.add_argument(
        "--out", metavar="FILE", default="tree.json", help="where to save it (default: %(default)s)"
    )
    parser.add_argument(
        "--pruning",
        choices=["error-based", "reduced-error", "pessimistic", "none"],
        default="error-based",
        help="default: %(default)s; reduced-error is Weka's -R, none its -U",
    )
    parser.add_argument(
        "--criterion",
        choices=["gain-ratio", "information-gain", "gini"],
        default="gain-ratio",
        help="default: %(default)s",
    )
    parser.add_argument("--confidence-factor", type=float, default=0.25, help="Weka's -C (0.25)")
    parser.add_argument("--min-samples-leaf", type=int, default=2, help="Weka's -M (2)")
    parser.add_argument("--n-folds", type=int, default=3, help="of reduced-error pruning: -N (3)")
    parser.add_argument("--max-depth", type=int, help="largest number of tests on a path")
    parser.add_argument("--binary-splits", action="store_true", help="Weka's -B")
    parser.add_argument("--no-raising", action="store_true", help="Weka's -S")
    parser.add_argument("--no-collapse", action="store_true", help="Weka's -O")
    parser.add_argument("--json", action="store_true", help="print the tree as JSON instead")


def _grow(options):
    from keeptree.output import check_writable, require

    require("arff", "pandas", "pyarrow", extra="files")
    out = check_writable(options.out)
    from keeptree.learners.c45 import C45Classifier
    from keeptree.learners.from_file import grow_file
    from keeptree.learners.j48_text import j48_text

    learner = C45Classifier(
        options.criterion,
        pruning=options.pruning,
        confidence_factor=options.confidence_factor,
        min_samples_leaf=options.min_samples_leaf,
        n_folds=options.n_folds,
        max_depth=options.max_depth,
        binary_splits=options.binary_splits,
        subtree_raising=not options.no_raising,
        collapse=not options.no_collapse,
    )
    tree = grow_file(options.data, options.target, learner).tree_
    tree.save(out)
    if options.json:
        print(json.dumps(tree.to_dict(), allow_nan=False))
        return
    unpruned = options.pruning == "none"
    print(j48_text(tree, unpruned=unpruned, binary_splits=options.binary_splits))
    print(f"Saved as {out}.")


COMMANDS = [
    Command(
        "demo",
        "compare a tree's own probabilities with ours on data that ships with scikit-learn",
        _demo_arguments,
        _demo,
    ),
    Command(
        "grow",
        "grow a C4.5 tree from a data file, print it as Weka's J48 does and save it as JSON",
        _grow_arguments,
        _grow,
    ),
]


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
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    for command in COMMANDS:
        entry = commands.add_parser(
            command.name, help=command.help, description=_description(command.help)
        )
        command.arguments(entry)
        entry.set_defaults(command=command)
    return parser


def _description(text):
    return f"{text[0].upper()}{text[1:]}."


def _sentence(error):
    """The error as one line; the operating system's own errors lose their number."""
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}."
    return " ".join(str(error).split())


def _say(text):
    """Tell a person at a terminal what is going on; a file or program does not care."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr)
