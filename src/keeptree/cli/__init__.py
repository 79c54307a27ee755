"""The command line: each command calls one public function and has its own file.

Nothing heavy is imported here; a command imports what it needs when it runs.
"""

from keeptree import __version__
from keeptree.cli import (
    audit,
    compare,
    demo,
    explain,
    export,
    fit,
    grow,
    keep,
    predict,
    report,
    sign,
    verify,
)
from keeptree.cli.command import Command
from keeptree.cli.program import Parser, run_program

__all__ = ["COMMANDS", "Command", "main"]

# In the order in which they are listed.
COMMANDS = [
    report.COMMAND,
    demo.COMMAND,
    fit.COMMAND,
    predict.COMMAND,
    explain.COMMAND,
    audit.COMMAND,
    export.COMMAND,
    grow.COMMAND,
    keep.COMMAND,
    compare.COMMAND,
    sign.COMMAND,
    verify.COMMAND,
]


def main(argv=None):
    """Run the command line; see :func:`~keeptree.cli.program.run_program`."""
    return run_program(_parser(), argv)


def _parser():
    parser = Parser(
        prog="keeptree",
        description="Keep the decision tree your experts signed off; get honest probabilities.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"keeptree {__version__}")
    parser.add_debug()
    parser.set_defaults(run=None, parser=parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        entry = commands.add_parser(
            command.name, help=command.help, description=_description(command.help)
        )
        command.arguments(entry)
        entry.set_defaults(run=command.run, parser=entry)
    return parser


def _description(text):
    end = "" if text.endswith("?") else "."
    return f"{text[0].upper()}{text[1:]}{end}"
