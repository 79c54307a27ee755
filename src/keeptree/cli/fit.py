"""``keeptree fit``: fit a model to a data file and save it as JSON."""

from pathlib import Path

from keeptree.cli.command import (
    Command,
    add_data,
    add_engine,
    add_json,
    data_file,
    output_path,
    print_json,
    print_saved,
    read_options,
)
from keeptree.cli.costs import add_costs
from keeptree.cli.growing import add_growing, choose_tree, warn_without_tests
from keeptree.cli.naming import add_labels, read_labels
from keeptree.cli.summary import tell_classes, tree_size, tree_summary
from keeptree.probability.methods import ALIASES, METHODS
from keeptree.progress import step, watch
from keeptree.text import plural


def _arguments(parser):
    add_data(parser)
    parser.add_argument(
        "--out", metavar="FILE", help="model file to write (default: model.json, unless it exists)"
    )
    parser.add_argument("--tree", metavar="FILE", help="tree to keep (default: grow one)")
    parser.add_argument(
        "--method",
        metavar="NAME",
        type=lambda name: ALIASES.get(name, name),
        choices=METHODS,
        default="kept",
        help=f"probability method: {', '.join(METHODS)} (default: %(default)s, recommended)",
    )
    parser.add_argument(
        "--calibrate",
        metavar="FILE",
        help="held-out cases in the format of DATA, to calibrate class sets and intervals",
    )
    add_labels(parser)
    add_costs(parser, "decide by the lowest expected cost instead of following the tree")
    add_engine(parser, ("local", "dask", "spark"))
    parser.add_argument(
        "--sample",
        metavar="N",
        type=int,
        help="count the classes of the tree on all rows, and fit the probabilities on a sample "
        "of N rows (default: 1000000 for a folder, a pattern or another engine; else all rows)",
    )
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="seed of the sample (default: %(default)s)"
    )
    add_json(parser, "a summary")
    add_growing(parser)


def _run(options):
    options.data = data_file(options, several=True)
    if options.calibrate:
        _check_calibration(options)
    out = output_path(options.out, options.data, options.tree, default="model.json")
    with watch("Fitting a model"):
        tree = choose_tree(options)
        from keeptree.saving import save

        model = _fit(options, tree)
        if options.calibrate:
            _calibrate(model, options)
        with step("Saving the model"):
            save(model, out)
    _warn_without_tests(model, options)
    summary = _summary(model, options, out)
    if options.json:
        print_json(summary)
        return
    kept = "Kept" if options.tree else "Grew"
    print(f"{kept} {tree_size(summary)}, and fitted {summary['kind']} to it.")
    print(tell_classes(summary["class_names"]))
    if summary["sample"]:
        print(f"Counted {summary['counts']}; learned from {summary['sample']}.")
    if options.calibrate:
        cases = plural(sum(model.calibration_.cases.tolist()), "held-out case")
        print(f"Class sets and intervals are calibrated on {cases}.")
    if summary["costs"]:
        print("The model decides by the given costs instead of following the tree.")
    print_saved(out)


def _warn_without_tests(model, options):
    """Warn if the tree is a single leaf, which decides every case alike."""
    tree = model.tree_
    if tree.n_leaves > 1:
        return
    from keeptree.data.labels import class_names

    more = "let the probabilities use all columns (--method kept-all)"
    warn_without_tests(
        class_names(model, tree.classes)[tree.label[0]],
        options,
        same="decision" if len(model.read_columns) else "decision and probability",
        use="You can use the model as it is. ",
        others=[more] if options.method == "kept" else [],
    )


def _fit(options, tree):
    from keeptree.data.parts import is_table_of_files
    from keeptree.engines.fit_data import fit_data
    from keeptree.probability.fit_file import fit_file

    shared = {
        "tree": tree,
        "method": options.method,
        "nominal": options.nominal,
        "drop": options.drop,
        "labels": read_labels(options),
        "costs": options.costs,
    }
    sampled = options.sample is not None
    if options.engine == "local" and not sampled and not is_table_of_files(options.data):
        return fit_file(options.data, options.target, **shared)
    return fit_data(
        options.data,
        options.target,
        engine=options.engine,
        options=read_options(options),
        sample=options.sample if sampled else 1_000_000,
        random_state=options.seed,
        **shared,
    )


def _check_calibration(options):
    """Raise an error before fitting if the file or method cannot be used for calibration."""
    from keeptree.data.files import check_data_file
    from keeptree.probability.methods import make_method

    options.calibrate = data_file(options, option="calibrate")
    held_out = check_data_file(options.calibrate).path
    if Path(options.data).exists() and held_out.samefile(options.data):
        raise ValueError(
            f"--calibrate {held_out} is the file that the model is fitted to; give other cases."
        )
    if not hasattr(make_method(options.method), "calibrate"):
        raise ValueError(
            f"--calibrate needs probabilities, and the method {options.method!r} only ranks; "
            "choose another, such as kept."
        )


def _calibrate(model, options):
    from keeptree.data.cases import read_cases

    with step(f"Calibrating on {options.calibrate.name}"):
        model.calibrate(*read_cases(model, options.calibrate, options.target))


def _summary(model, options, out):
    from keeptree.data.labels import class_names

    return {
        "method": options.method,
        "kind": type(model).__name__,
        **tree_summary(model.tree_),
        "class_names": list(class_names(model, model.classes_)),
        "costs": None if options.costs is None else model.cost_matrix.tolist(),
        "calibration": _calibration_source(model),
        "counts": model.tree_.source.get("counts"),
        "sample": model.tree_.source.get("sample"),
        "out": str(out),
    }


def _calibration_source(model):
    calibration = getattr(model, "calibration_", None)
    return None if calibration is None else calibration.source


COMMAND = Command("fit", "fit a model to a data file and save it as JSON", _arguments, _run)
