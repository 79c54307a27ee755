"""``keeptree keep``: convert a tree from another tool, or written by hand, to a KeepTree Tree."""

import warnings
from pathlib import Path

from keeptree.cli.command import (
    FILE_OPTIONS,
    Command,
    add_data,
    add_json,
    data_file,
    name_options,
    output_path,
    print_json,
    print_saved,
)
from keeptree.cli.summary import add_tree_out, tell_classes, tree_size, tree_summary
from keeptree.output import shown_path
from keeptree.progress import watch
from keeptree.text import plural, xml_safe

_MOST_LINES, _WIDEST = 40, 200  # lines of the tree that are printed, and their characters


def _arguments(parser):
    parser.add_argument(
        "source",
        metavar="SOURCE",
        nargs="?",
        help="tree to read: text, Weka J48 or C5.0 output, a C5.0 .tree file, LightGBM text, "
        "XGBoost JSON or UBJSON, CatBoost JSON, ONNX, PMML, a Spark ML folder, output of the R "
        "script, or a KeepTree file",
    )
    add_data(parser, positional=False)
    add_tree_out(parser)
    parser.add_argument(
        "--number", metavar="N", type=int, help="index of the tree in an ensemble, starting at 0"
    )
    parser.add_argument(
        "--missing",
        choices=["majority", "share", "error"],
        help="rule for missing values where SOURCE has none (default: error)",
    )
    parser.add_argument(
        "--r-script",
        action="store_true",
        help="print the R script that writes rpart, partykit and C5.0 trees",
    )
    add_json(parser, "a summary")


def _run(options):
    if options.r_script:
        from keeptree import importers

        print(Path(importers.__file__).with_name("keeptree.R").read_text(encoding="utf-8"), end="")
        return
    if options.source is None:
        raise ValueError("Give the tree to keep: keeptree keep SOURCE --out tree.json.")
    if (options.data is None) != (options.target is None):
        raise ValueError("Class counts need both --data and --target; only one of them was given.")
    if options.data is None:
        _check_no_data_options(options)
    out = output_path(options.out, options.source, options.data, default="tree.json")
    with watch("Reading a tree"), warnings.catch_warnings(record=True) as caught:
        try:
            tree = _keep(options)
        except ValueError as error:
            raise ValueError(name_options(str(error))) from error
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        if text not in tree.source.get("lost", ""):  # reported below
            warnings.warn(name_options(text), stacklevel=2)
    tree.save(out)
    summary = _summary(tree, out)
    if options.json:
        print_json(summary)
    else:
        _print(summary, tree)


def _keep(options):
    if options.data is None:
        from keeptree.importers import keep

        return keep(Path(options.source), tree=options.number, missing=options.missing)
    from keeptree.importers.with_data import keep_with_data

    return keep_with_data(
        Path(options.source),
        data_file(options),
        options.target,
        tree=options.number,
        missing=options.missing,
        nominal=options.nominal,
        drop=options.drop,
    )


def _check_no_data_options(options):
    """Raise a ValueError for the first option given that only applies to --data."""
    given = (name for name in ("nominal", "drop", *FILE_OPTIONS) if getattr(options, name))
    if (name := next(given, None)) is not None:
        raise ValueError(f"--{name} applies to --data; give --data too, or leave it out.")


def _summary(tree, out):
    inner = tree.kind != 0
    return {
        "source": tree.source.get("model", "a Tree"),
        **tree_summary(tree),
        "cases": float(tree.weight[0]),
        "counts": tree.source.get("counts", "the source" if tree.weight[0] else None),
        "missing_values": "refused" if (tree.missing[inner] == -2).any() else "routed",
        "lost": tree.source.get("lost"),
        "out": str(out),
    }


def _print(summary, tree):
    print(f"{tree_size(summary).capitalize()}, from {summary['source']}.")
    if summary["classes"] is not None:
        print(tell_classes(summary["classes"]))
    if summary["counts"] is None:
        print("Class counts: none; add them with --data and --target, or fit a model.")
    else:
        print(f"Class counts: {summary['cases']:g} cases, from {summary['counts']}.")
    if tree.n_leaves > 1:
        print(f"Missing values: {_missing_rule(tree)}.")
    if summary["lost"]:
        print(f"Lost: {name_options(summary['lost'])}")
    print("", *_outline(tree, summary["out"]), "", sep="\n")
    print_saved(summary["out"])


def _missing_rule(tree):
    """Return in words what the tests of a tree do with a missing value."""
    from keeptree.tree import ERROR, LEAF, SHARE

    rules = tree.missing[tree.kind != LEAF]
    if (rules == ERROR).any():
        return "some tests have no rule for them; choose one with --missing"
    if (rules == SHARE).all():
        return "shared among the branches of a test, by their numbers of cases"
    return "sent to one branch of a test; in Python, to_text(precision=None) shows which"


def _outline(tree, out):
    """Yield the first lines of the tree as text, and how to see the others."""
    lines = tree.to_text().split("\n")
    for line in lines[:_MOST_LINES]:
        yield xml_safe(line if len(line) <= _WIDEST else f"{line[:_WIDEST]} ...")
    if len(lines) > _MOST_LINES:
        more = plural(len(lines) - _MOST_LINES, "more line")
        yield f"... and {more}; in Python, kt.load({shown_path(out)!r}).to_text() returns all."


COMMAND = Command(
    "keep",
    "read a tree from another tool or from text, show what was read and save it as JSON",
    _arguments,
    _run,
)
