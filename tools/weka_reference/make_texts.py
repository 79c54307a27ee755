"""Store the text of Weka's J48 trees and predictions near every threshold, to test the importer.

``make_texts.py --sources SRC`` writes tests/fixtures/weka/texts.json.xz, as
README.md describes; only Weka 3.9.7 is used.
"""

import argparse
import json
import lzma
import sys
import tempfile
from pathlib import Path

import numpy as np
from make_fixtures import REPOSITORY, find_wekas, parse_tree, run_weka, write_arff

sys.path.insert(0, str(REPOSITORY))

from tests.fixtures import weka
from tests.importers.neighbours import EXTREMES, beside

DATA = ["iris", "labor", "vote", "credit-g", "glass", "contact-lenses"]
OPTIONS = ["", "-U", "-B", "-B -U"]
ROWS = 120


def main():
    """Write the texts and predictions of all data sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True, help="folder SRC of README.md")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        version = find_wekas(arguments.sources, Path(folder), ["3.9.7"])["3.9.7"]
        texts = [text for name in DATA for text in ask(name, version, Path(folder))]
    content = json.dumps(texts).encode()
    (weka.FOLDER / "texts.json.xz").write_bytes(lzma.compress(content, preset=9))


def ask(name, version, folder):
    """Return Weka's text and predictions for a data set with each of the options."""
    data, train, unseen = weka.load(name), folder / "train.arff", folder / "unseen.arff"
    write_arff(train, data, data.X[data.train], data.y[data.train])
    for options in OPTIONS:
        run_weka(version, [["j48", train, train, folder / "tree", options]])
        tree = parse_tree((folder / "tree").read_text("utf-8"), len(data.classes))
        rows = rows_beside(tree, data)
        write_arff(unseen, data, rows, np.zeros(len(rows)))
        run_weka(version, [["j48", train, unseen, folder / "tree", options]])
        answers = parse_tree((folder / "tree").read_text("utf-8"), len(data.classes))
        print(f"{name:16} {options:8} {(tree['kind'] == weka.LEAF).sum():4} leaves", flush=True)
        yield {
            "data": name,
            "options": options,
            "text": answers["text"],
            "rows": [[None if v != v else v for v in row] for row in rows.tolist()],
            "predicted": answers["predicted"].tolist(),
            "proba": np.round(answers["proba"], 12).tolist(),
        }


def rows_beside(tree, data):
    """Return rows of the data with values on and beside a tree's thresholds, and missing ones."""
    rng = np.random.default_rng(0)
    rows = data.X[rng.integers(len(data.X), size=ROWS)].copy()
    for column in np.unique(tree["attribute"][tree["kind"] == weka.NUMERIC]):
        thresholds = tree["threshold"][tree["attribute"] == column]
        thresholds = np.unique(np.concatenate([thresholds, thresholds.round(6)]))
        values = [*EXTREMES, *(x for t in thresholds for x in beside(float(t)))]
        changed = rng.random(ROWS) < 0.7
        rows[changed, column] = rng.choice(values, changed.sum())
    rows[rng.random(rows.shape) < 0.05] = np.nan
    return rows


if __name__ == "__main__":
    main()
