"""``keeptree predict``: score data of any size with a saved model."""

import sys

from keeptree.cli.command import (
    Command,
    add_engine,
    add_json,
    add_model,
    check_distinct,
    check_order,
    data_file,
    load_model,
    print_json,
    print_saved,
    read_options,
)
from keeptree.cli.naming import add_labels, read_labels
from keeptree.engines import ENGINES
from keeptree.progress import step, watch
from keeptree.text import plural

_INTERVALS = {
    "case": "The intervals are for each single case (kind: case).",
    "calibration": "The intervals are for all cases with a similar probability (kind: "
    "calibration); only a model of the method kept that grew its own tree has intervals for single "
    "cases.",
}


def _arguments(parser):
    add_model(parser)
    parser.add_argument(
        "--out",
        metavar="FILE",
        required=True,
        help="output: a .csv or .parquet file, a name without extension for a folder of Parquet "
        "files, or - for CSV on standard output",
    )
    parser.add_argument(
        "--keep",
        metavar="COLUMN",
        action="append",
        default=[],
        help="column to copy to the output, such as an identifier; repeatable",
    )
    parser.add_argument(
        "--distance", action="store_true", help="add the distance to the decision boundary"
    )
    parser.add_argument(
        "--interval",
        action="store_true",
        help="add a confidence interval of each probability: the columns low_CLASS and high_CLASS",
    )
    parser.add_argument(
        "--set",
        action="store_true",
        help="add the column set: the classes that cannot be ruled out, by conformal prediction",
    )
    parser.add_argument(
        "--confidence",
        metavar="SHARE",
        type=float,
        help="confidence of --interval and coverage of --set (default: 0.9)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="write nothing and exit with code 2 if the data contain unseen categories, or more "
        "missing values or values outside the training range than chance explains",
    )
    parser.add_argument(
        "--excel-safe",
        action="store_true",
        help="put an apostrophe before text that a spreadsheet would run as a formula",
    )
    add_engine(parser, ENGINES)
    add_labels(parser)
    add_json(parser, "a summary")


def _run(options):
    if options.json and options.out == "-":
        raise ValueError("--json and --out - both write to standard output; use only one of them.")
    level = _level(options)
    options.data = data_file(options, several=True)
    check_order(options.model, options.data)
    check_distinct(options.out, options.data, options.model)
    with watch("Scoring"):
        from keeptree.engines.local import predict_file

        with step("Reading the model"):
            model = load_model(options.model)
        _check_calibrated(model, options)
        summary = predict_file(
            model,
            options.data,
            options.out,
            keep=options.keep,
            distance=options.distance,
            interval=level if options.interval else None,
            sets=level if options.set else None,
            labels=read_labels(options) or None,
            strict=options.strict,
            excel_safe=options.excel_safe,
            engine=options.engine,
            options=read_options(options),
        )
    if options.json:
        print_json(summary)
        return
    # Standard output holds only the results.
    stream = sys.stderr if options.out == "-" else sys.stdout
    without_tests = hasattr(model, "tree_") and model.tree_.n_leaves == 1
    _tell(summary, stream, options.engine, without_tests)


def _check_calibrated(model, options):
    """Raise a ValueError with the command to run if the model has no intervals or class sets."""
    if not hasattr(model, "sets_of") or getattr(model, "calibration_", None) is not None:
        return
    needs = "--set" if options.set else "--interval"
    if options.set or (options.interval and model.interval_kind is None):
        raise ValueError(
            f"{needs} needs a calibrated model, and {options.model} is not calibrated. Fit it "
            "again on the same data with keeptree fit DATA --target COLUMN --calibrate FILE, where "
            "FILE has cases that the tree has not seen."
        )


def _level(options):
    """The requested confidence and coverage."""
    if options.confidence is None:
        return 0.9
    if not (options.interval or options.set):
        raise ValueError("--confidence requires --interval or --set.")
    if not 0 < options.confidence < 1:
        raise ValueError(f"--confidence {options.confidence:g} is not a share between 0 and 1.")
    return options.confidence


def _tell(summary, stream, engine, without_tests):
    if stream is sys.stdout:
        print(f"{summary['rows']:,} rows scored.")
        if summary["second_opinions"] is not None:
            print(_tell_disagreement(summary["second_opinions"], without_tests))
        if summary["interval"] is not None:
            print(_INTERVALS[summary["interval"]])
        print_saved(summary["out"])
    if engine != "local":
        print(
            "Values not seen in training were not counted: only --engine local counts them.",
            file=stream,
        )
        return
    new = summary["unfamiliar"]
    unknown = "Values not seen in training cannot be counted: the model does not record them."
    print(unknown if new is None else new["sentence"], file=stream)


def _tell_disagreement(rows, without_tests):
    if rows == 0 and without_tests:
        return "The tree has no tests, so it decides every row alike."
    if rows == 0:
        return "Our estimate agrees with the tree on every row."
    return f"Our estimate disagrees with the tree on {plural(rows, 'row')}; please check."


COMMAND = Command(
    "predict",
    "score a data file of any size with a saved model: decisions, probabilities and more",
    _arguments,
    _run,
)
