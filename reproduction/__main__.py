"""Reproduce the tables and figures of a paper: ``python -m reproduction``."""

import shlex
import sys
from pathlib import Path

from keeptree.cli.command import add_json, print_json
from keeptree.cli.program import Parser, run_program
from keeptree.output import require_extra


def main(argv=None):
    """Run the program; see :func:`~keeptree.cli.program.run_program`."""
    parser = Parser(
        prog="python -m reproduction",
        description="Reproduce a paper's tables and figures, and compare them with the paper's.",
    )
    _add_arguments(parser)
    typed = shlex.join(sys.argv[1:] if argv is None else argv)
    parser.set_defaults(run=_run, parser=parser, command_line=f"{parser.prog} {typed}")
    return run_program(parser, argv)


def _add_arguments(parser):
    parser.add_argument(
        "name", metavar="NAME", help="alvarez-2005, alvarez-2007, choices or katz-2012"
    )
    parser.add_argument(
        "--table", metavar="N", action="append", help="only this table; may be repeated"
    )
    parser.add_argument(
        "--figure", metavar="N", action="append", help="only this figure; may be repeated"
    )
    parser.add_argument("--samples", metavar="N", type=int, help="default: as many as in the paper")
    parser.add_argument(
        "--dataset", metavar="NAME", action="append", help="only this data set; may be repeated"
    )
    parser.add_argument("--data-dir", metavar="DIR", help="folder with your own data files")
    parser.add_argument(
        "--protocol", metavar="NAME", help="how samples are drawn: paper (default) or plain"
    )
    parser.add_argument(
        "--out", metavar="DIR", default="build/reproduction", help="output; default: %(default)s"
    )
    parser.add_argument("--jobs", metavar="N", type=int, help="processes; default: one per core")
    parser.add_argument(
        "--finished", action="store_true", help="measure nothing; report finished results"
    )
    add_json(parser, "the results")
    parser.add_debug()


def _run(options):
    require_extra("pandas", extra="reproduction")
    from reproduction.reproduce import reproduce

    if sys.stderr.isatty():
        message = "Results are saved as they come; an interrupted run continues where it stopped."
        print(message, file=sys.stderr)
    report = reproduce(
        options.name,
        tables=options.table,
        figures=options.figure,
        samples=options.samples,
        datasets=options.dataset,
        data_dir=options.data_dir,
        protocol=options.protocol,
        out=options.out,
        n_jobs=options.jobs,
        progress=not options.json,
        finished=options.finished,
        command=options.command_line,
    )
    if options.json:
        print_json(report, indent=1)
        return
    markdown, *others = report["files"]
    print(Path(markdown).read_text(encoding="utf-8"))
    for path in (markdown, *others):
        print(f"Written: {path}")


if __name__ == "__main__":
    raise SystemExit(main())
