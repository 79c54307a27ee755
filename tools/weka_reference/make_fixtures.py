"""Run the original Weka on public data sets and store its results in tests/fixtures/weka.

With ``--time``, print how long J48 takes in a warm JVM instead. README.md has the commands.
"""

import argparse
import io
import json
import lzma
import os
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score
from sources import names, read_table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from tests.fixtures import weka  # noqa: E402

# Setting -> (job, argument of the job, Weka version).
SETTINGS = {
    "default": ("j48", "", "3.9.7"),
    "unpruned": ("j48", "-U", "3.9.7"),
    "unpruned_uncollapsed": ("j48", "-U -O", "3.9.7"),
    "no_raising": ("j48", "-S", "3.9.7"),
    "confidence_0.05": ("j48", "-C 0.05", "3.9.7"),
    "minimum_10": ("j48", "-M 10", "3.9.7"),
    "binary": ("j48", "-B", "3.9.7"),
    "binary_unpruned": ("j48", "-B -U", "3.9.7"),
    "laplace": ("j48", "-A", "3.9.7"),
    "reduced_error_3": ("j48", "-R -N 3", "3.6.14"),
    "reduced_error_5": ("j48", "-R -N 5", "3.6.14"),
    "reduced_error_3_exact": ("rep", "3", "3.9.7"),
    "reduced_error_5_exact": ("rep", "5", "3.9.7"),
}
# Not stored; these check that "rep" with the classes of 3.6.14 gives its -R trees bit for bit.
PROOF = {
    "reduced_error_3_proof": ("rep", "3", "3.6.14"),
    "reduced_error_5_proof": ("rep", "5", "3.6.14"),
}
KINDS = {
    "leaf": weka.LEAF,
    "numeric": weka.NUMERIC,
    "multiway": weka.MULTIWAY,
    "binary": weka.BINARY,
}
WITH_TEXT = {"default", "binary"}
MOST_ROWS = 20_000
FEWER_ROWS = {"boston-towns": 400}  # so that there are more towns than 0.3 times the training rows
MOST_UNSEEN = 300
NBTREE = ["autos", "credit-g", "crx", "diabetes", "glass"]
NBTREE += ["ionosphere", "vehicle", "vote", "vowel", "wdbc"]
TIMED = ["letter", "magic", "shuttle", "satimage", "spambase", "splice", "mushroom", "nursery"]
TIMED += ["income", "anneal-orig", "supermarket", "pima-missing"]


def main():
    """Make all fixtures, or time J48."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True, help="folder SRC of README.md")
    parser.add_argument("--time", action="store_true", help="only print the times of J48")
    parser.add_argument("names", nargs="*", help="data sets (default: all)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        versions = find_wekas(arguments.sources, Path(folder))
        if arguments.time:
            time_j48(versions, arguments.sources, arguments.names or TIMED, Path(folder))
            return
        for name in arguments.names or names():
            make_fixture(name, versions, arguments.sources, Path(folder))
        if not arguments.names:
            make_nbtree(versions["3.6.14"], Path(folder))


def make_fixture(name, versions, sources, folder):
    """Grow all trees of one data set, check them, and write its file."""
    table = read_table(name, sources)
    rng = np.random.RandomState(zlib.crc32(name.encode()))
    kept = np.sort(rng.permutation(len(table.y))[: FEWER_ROWS.get(name, MOST_ROWS)])
    X, y = table.X[kept], table.y[kept]
    order = rng.permutation(len(y))
    n_train = round(len(y) * 2 / 3)
    part = np.full(len(y), 2, dtype=np.uint8)
    part[order[:n_train]] = 0
    part[order[n_train : n_train + MOST_UNSEEN]] = 1

    for side, file in enumerate(("train.arff", "unseen.arff")):
        rows = part == side
        write_arff(folder / file, table, X[rows], y[rows])
    trees = grow_all(versions, folder, len(table.classes))
    for folds in "35":
        tree = trees[f"reduced_error_{folds}"]
        assert same(tree, trees.pop(f"reduced_error_{folds}_proof"), 0)
        tree["tolerant_snap_differs"] = not same(tree, trees[f"reduced_error_{folds}_exact"], 1e-9)
    about = {
        "source": table.source,
        "feature_names": table.feature_names,
        "categories": table.categories,
        "classes": table.classes,
        "trees": [
            {
                "setting": setting,
                "weka": SETTINGS[setting][2],
                "options": "-R -N " * (SETTINGS[setting][0] == "rep") + SETTINGS[setting][1],
                "tolerant_snap_differs": tree.get("tolerant_snap_differs", False),
                "text": tree["text"] if setting in WITH_TEXT else "",
            }
            for setting, tree in trees.items()
        ],
    }
    y = y.astype(np.uint8)
    write_fixture(name, about, y=y, part=part, **pack_cells(X), **pack_trees(trees))
    check_fixture(name, X, trees)


def check_fixture(name, X, trees):
    """Check that the file reads back as written and reproduces Weka's predictions."""
    weka.load.cache_clear()
    data = weka.load(name)
    np.testing.assert_array_equal(data.X, X)
    worst = 0.0
    for setting, tree in data.trees.items():
        for key in ("threshold", "weights", "branch_weights", "label", "attribute"):
            np.testing.assert_array_equal(getattr(tree, key), trees[setting][key])
        off = np.abs(weka.walk(tree, X[data.unseen]) - trees[setting]["proba"])
        worst = max(worst, off.max())
        assert worst < 1e-9, (name, setting, worst)
        assert np.abs(tree.proba - trees[setting]["proba"]).max() < 1e-12
    differs = [s for s, tree in data.trees.items() if tree.tolerant_snap_differs]
    size = (weka.FOLDER / f"{name}.npz.xz").stat().st_size
    nominal = sum(c is not None for c in data.categories)
    print(
        f"{name:24} rows {len(X):6} columns {X.shape[1]:4} nominal {nominal:4} "
        f"missing {np.isnan(X).sum():7} classes {len(data.classes):3} "
        f"leaves {[tree.n_leaves for tree in data.trees.values()]} "
        f"walk {worst:.1e} bytes {size:7} {' '.join(differs)}",
        flush=True,
    )


def make_nbtree(version, folder):
    """Return the quality of NBTree on three splits of each data set in ``NBTREE``."""
    about, parts = [], {}
    for name in NBTREE:
        data = weka.load(name)
        for split in range(3):
            rng = np.random.RandomState(zlib.crc32(name.encode()) + split + 1)
            order = rng.permutation(len(data.y))
            part = np.ones(len(data.y), dtype=np.uint8)
            part[order[: round(len(data.y) * 2 / 3)]] = 0
            for side, file in enumerate(("train.arff", "unseen.arff")):
                rows = part == side
                write_arff(folder / file, data, data.X[rows], data.y[rows])
            out = folder / "nbtree"
            job = ["nbtree", folder / "train.arff", folder / "unseen.arff", out]
            run_weka(version, [job])
            answers = [line.split() for line in out.read_text().splitlines()]
            proba = np.array([[float.fromhex(v) for v in a[2:]] for a in answers if a[0] == "P"])
            y = data.y[part == 1]
            parts[f"part_{len(about)}"] = part
            result = {
                "name": name,
                "split": split,
                "accuracy": float(np.mean(proba.argmax(axis=1) == y)),
                "auc": weighted_auc(y, proba),
                "n_leaves": int(answers[0][1]),
            }
            about.append(result)
            print("NBTree", *result.values(), flush=True)
    write_fixture("nbtree", about, **parts)


def weighted_auc(y, proba):
    """Return the one-against-rest AUC, averaged by the shares of the classes that occur in y."""
    present, counts = np.unique(y, return_counts=True)
    return float(np.average([roc_auc_score(y == c, proba[:, c]) for c in present], weights=counts))


def time_j48(versions, sources, chosen, folder):
    """Print the median time of 5 builds after 3 warm-ups, with all rows already in memory."""
    for name in chosen:
        table = read_table(name, sources)
        write_arff(folder / "train.arff", table, table.X, table.y)
        for version in versions:
            job = ["time", folder / "train.arff", "3", "5", ""]
            seconds = float(run_weka(versions[version], [job]).split()[-1])
            print(f"{name:16} {table.X.shape!s:14} Weka {version:7} {seconds:.4f} s", flush=True)


def find_wekas(sources, folder, wanted=("3.9.7", "3.6.14")):
    """Return the class path of each Weka in the sources, with our Java file compiled for it."""
    versions = {}
    for jar in sorted(sources.resolve().rglob("weka*.jar")):
        with zipfile.ZipFile(jar) as archive:
            if "weka/core/version.txt" not in archive.namelist():
                continue
            version = archive.read("weka/core/version.txt").decode().strip().replace("-", ".")
        classes = folder / version
        java = Path(__file__).with_name("WekaReference.java")
        subprocess.run(
            ["javac", "-nowarn", "-Xlint:none", "-cp", jar, "-d", classes, java],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        versions[version] = f"{classes}{os.pathsep}{jar}"
    missing = set(wanted) - set(versions)
    if missing:
        raise SystemExit(f"the sources contain no weka.jar {' and '.join(missing)}; see README.md")
    return versions


def run_weka(class_path, jobs):
    """Run the jobs in one JVM and return its output."""
    lines = ["\t".join(str(field) for field in job) + "\n" for job in jobs]
    # Weka 3.9 defines classes at run time, which Java 17 allows only with these options.
    options = ["-Xss256m", "-Xmx4g", "--add-opens", "java.base/java.lang=ALL-UNNAMED"]
    done = subprocess.run(
        ["java", *options, "-cp", class_path, "WekaReference"],
        input="".join(lines),
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    return done.stdout


def grow_all(versions, folder, n_classes):
    """Return all trees of the data set in the folder, by setting."""
    wanted = SETTINGS | PROOF
    for version, class_path in versions.items():
        jobs = [
            [job, folder / "train.arff", folder / "unseen.arff", folder / setting, argument]
            for setting, (job, argument, of) in wanted.items()
            if of == version
        ]
        run_weka(class_path, jobs)
    return {s: parse_tree((folder / s).read_text("utf-8"), n_classes) for s in wanted}


def parse_tree(output, n_classes):
    """Return arrays from the lines that WekaReference.java writes."""
    lines, _, text = output.partition("TEXT\n")
    fields = [line.split() for line in lines.splitlines()]
    nodes = [f[1:] for f in fields if f[0] == "N"]
    answers = [f[1:] for f in fields if f[0] == "P"]
    weights = np.array([[float.fromhex(v) for v in n[6:]] for n in nodes])
    return {
        "kind": np.array([KINDS[n[0]] for n in nodes], dtype=np.uint8),
        "attribute": np.array([int(n[1]) for n in nodes], dtype=np.int16),
        "threshold": np.array([float.fromhex(n[2]) for n in nodes]),
        "empty": np.array([n[3] == "1" for n in nodes]),
        "label": np.array([int(n[4]) for n in nodes], dtype=np.int16),
        "n_children": np.array([int(n[5]) for n in nodes], dtype=np.int16),
        "weights": weights[:, :n_classes],
        "branch_weights": weights[:, n_classes:],
        "predicted": np.array([int(a[0]) for a in answers], dtype=np.uint8),
        "proba": np.array([[float.fromhex(v) for v in a[1:]] for a in answers]),
        "text": text,
    }


def same(one, other, tolerance):
    """Return whether structures and thresholds are equal, and weights and results close."""
    exact = ("kind", "attribute", "threshold", "empty", "label", "n_children", "predicted")
    if not all(np.array_equal(one[key], other[key], equal_nan=key == "threshold") for key in exact):
        return False
    close = ("weights", "branch_weights", "proba")
    return all(np.allclose(one[key], other[key], rtol=0, atol=tolerance) for key in close)


def pack_trees(trees):
    """Return all trees as concatenated arrays; results are indices of distinct rows."""
    trees = list(trees.values())
    packed = {
        key: np.concatenate([tree[key] for tree in trees])
        for key in trees[0]
        if key not in ("predicted", "proba", "text", "tolerant_snap_differs")
    }
    packed["first_node"] = np.cumsum([0] + [len(tree["kind"]) for tree in trees])
    packed["predicted"] = np.array([tree["predicted"] for tree in trees])
    answers = np.round(np.concatenate([tree["proba"] for tree in trees]), 12)
    packed["proba_rows"], index = np.unique(answers, axis=0, return_inverse=True)
    packed["proba_index"] = index.reshape(len(trees), -1).astype(np.int32)
    return packed


def pack_cells(X):
    """Return columns as integers over a power of ten where that is exact, otherwise unchanged."""
    columns, missing = X.T, np.isnan(X.T)
    integers, floats, decimals = [], [], []
    for column in np.where(missing, 0.0, columns):
        for digits in range(10):
            scaled = np.rint(column * 10.0**digits)
            if np.abs(scaled).max() < 2**31 and np.array_equal(scaled / 10.0**digits, column):
                integers.append(scaled.astype(np.int32))
                decimals.append(digits)
                break
        else:
            floats.append(column)
            decimals.append(-1)
    integers = np.array(integers, dtype=np.int32).reshape(-1, len(X))
    for dtype in (np.int16, np.int8):
        if np.array_equal(integers.astype(dtype), integers):
            integers = integers.astype(dtype)
    return {
        "integers": integers,
        "floats": np.array(floats, dtype=float).reshape(-1, len(X)),
        "decimals": np.array(decimals, dtype=np.int8),
        "missing": np.packbits(missing),
    }


def write_fixture(name, about, **arrays):
    """Write one npz file with uncompressed members, compressed as a whole."""
    about = np.frombuffer(json.dumps(about, separators=(",", ":")).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, about=about, **arrays)
    packed = lzma.compress(buffer.getvalue(), preset=9 | lzma.PRESET_EXTREME)
    (weka.FOLDER / f"{name}.npz.xz").write_bytes(packed)


def write_arff(path, table, X, y):
    """Write a table as ARFF; numbers are written as repr, which preserves every bit."""
    columns = [*zip(table.feature_names, table.categories, strict=True), ("class", table.classes)]
    lines = ["@relation data"]
    for name, categories in columns:
        kind = (
            "numeric" if categories is None else "{" + ",".join(quote(c) for c in categories) + "}"
        )
        lines.append(f"@attribute {quote(name)} {kind}")
    lines.append("@data")
    quoted = [None if c is None else [quote(v) for v in c] for _, c in columns]
    for row in np.column_stack([X, y]).tolist():
        cells = (
            "?" if v != v else repr(v) if labels is None else labels[int(v)]
            for v, labels in zip(row, quoted, strict=True)
        )
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def quote(text):
    """Return a name or label in ARFF notation."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


if __name__ == "__main__":
    main()
