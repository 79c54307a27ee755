"""Store a file of every kind in the current format: python -m tools.stored_files.

Run this once when a new version of the format is released; tests/test_compatibility.py reads the
files from then on. Existing files are not changed.
"""

import json
from pathlib import Path

import numpy as np

import keeptree as kt
from keeptree.saving import VERSION
from keeptree.tree.document import VERSION as TREE_VERSION
from tests import test_compatibility, test_saving

# Other smoothing methods and kernels are saved by the same code.
OBLIQUE = """\
0.8 * a - 1.2 * b <= 0.1 or missing
  colour = red or missing: no (12/3)
  colour in {green, blue}: yes (5)
0.8 * a - 1.2 * b > 0.1: yes (7/1)
"""
LEFT_OUT = {"separator-kernel", "laplace", "m-estimate", "local-rank"}


def main():
    """Write the folders of the current versions that do not exist yet."""
    models, trees = (
        test_compatibility.FOLDER / name for name in (f"model-{VERSION}", f"tree-{TREE_VERSION}")
    )
    for name in (name for name in test_saving.MODELS if name not in LEFT_OUT):
        model = test_saving.fitted(name, n=80)[0]
        stem = name.replace(", ", "-")
        cases = test_compatibility.cases(stem)
        if not (models / f"{stem}.json").exists():
            store(model, test_compatibility.ask(model, cases), models / f"{stem}.json")
    if not (trees / "oblique.json").exists():  # trees without oblique tests still have version 2
        cases = test_compatibility.cases("oblique")
        tree = kt.keep(OBLIQUE).sign("Ada Lovelace", "Approved for use.")
        store(tree, test_compatibility.ask(tree, cases), trees / "oblique.json")


def store(model, answers, path):
    """Save a model or a tree, and its results in a second file."""
    path.parent.mkdir(exist_ok=True)
    kt.save(model, path)
    plain = {name: np.asarray(values).tolist() for name, values in answers.items()}
    Path(path).with_suffix(".answers.json").write_text(json.dumps(plain))


if __name__ == "__main__":
    main()
