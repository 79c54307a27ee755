"""``keeptree audit``: check whether a saved model still fits new data."""

from argparse import ArgumentTypeError
from pathlib import Path

from keeptree.cli.command import (
    Command,
    add_json,
    add_model,
    check_distinct,
    check_order,
    data_file,
    load_model,
    print_json,
)
from keeptree.output import check_writable
from keeptree.progress import step, watch
from keeptree.terminal import wrap_lines

ALARM = 1  # exit code


def _arguments(parser):
    add_model(parser)
    parser.add_argument(
        "--target",
        metavar="COLUMN",
        help="column with the true class, if outcomes are known; cells may be empty",
    )
    parser.add_argument("--out", metavar="FILE", help="HTML file to write, such as audit.html")
    parser.add_argument(
        "--fail-on",
        metavar="ALARMS",
        action="extend",
        default=[],
        type=_alarms,
        help="exit with code 1 on these alarms, separated by commas: drift (columns or expected "
        "class shares have changed), accuracy (decisions are right less often, the probabilities "
        "no longer fit the outcomes, or the accuracy cannot be estimated)",
    )
    parser.add_argument(
        "--alpha",
        metavar="P",
        type=float,
        default=0.05,
        help="probability of a false alarm if nothing has changed (default: 0.05)",
    )
    add_json(parser, "the audit")


def _alarms(text):
    """The alarms of an option such as ``drift,accuracy``."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in ("drift", "accuracy"):
            raise ArgumentTypeError(f"invalid choice: {name!r} (choose from drift, accuracy)")
    return names


def _run(options):
    if not 0 < options.alpha < 1:
        raise ValueError(f"--alpha {options.alpha:g} is not a probability between 0 and 1.")
    options.data = data_file(options)
    check_order(options.model, options.data)
    if options.out is not None:
        options.out = _check_out(options)
    from keeptree.auditing.audit import audit_file

    with watch("Auditing a model"):
        with step("Reading the model"):
            model = load_model(options.model)
        result = audit_file(model, options.data, options.target, alpha=options.alpha)
    if options.out is not None:
        result.save(options.out)
    if options.json:
        print_json(result.to_dict())
    else:
        print(wrap_lines(str(result)))
        if options.out is not None:
            print(f"\nPage: {options.out}")
    alarms = {"drift": result.drift, "accuracy": result.inaccurate}
    return ALARM if any(alarms[name] for name in options.fail_on) else None


def _check_out(options):
    """Return the absolute path of the page, or raise an error if it cannot be written."""
    if Path(options.out).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{options.out} is not an HTML file; use the extension .html.")
    check_distinct(options.out, options.model, options.data)
    return check_writable(options.out)


COMMAND = Command(
    "audit",
    "compare new cases with the training sample: is the tree still right?",
    _arguments,
    _run,
)
