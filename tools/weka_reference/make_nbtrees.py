"""Store the trees that Weka 3.6.14's NBTree grows on the bootstrap samples of the 2007 paper.

    python -m tools.weka_reference.make_nbtrees --jar /usr/share/java/weka.jar

writes tests/fixtures/weka/nbtrees.json.xz: for each sample the nodes of the tree in preorder
(column, threshold in hexadecimal; -1 for a leaf), and the AUC on the test part. ``python -m
benchmarks.nbtree`` compares our trees with them.
"""

import argparse
import json
import lzma
import subprocess
import tempfile
import zlib
from pathlib import Path

import numpy as np

from keeptree.evaluation.ranking import auc
from reproduction.alvarez import draw_sample
from tests.fixtures import weka

SETS, SAMPLES = ("pima", "wdbc", "bupa", "glass"), 60


def main():
    """Grow the trees and store them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jar", type=Path, required=True, help="weka.jar of version 3.6.14")
    jar = parser.parse_args().jar
    with tempfile.TemporaryDirectory() as folder:
        java = Path(__file__).with_name("WekaReference.java")
        subprocess.run(["javac", "-nowarn", "-cp", jar, "-d", folder, java], check=True)
        stored = {name: grow_trees(name, jar, Path(folder)) for name in SETS}
    write_trees(stored)


def grow_trees(name, jar, folder):
    """Return Weka's trees on the samples of a data set."""
    samples = [draw_sample(name, number) for number in range(SAMPLES)]
    jobs = []
    for number, sample in enumerate(samples):
        files = [folder / f"{number}.{part}" for part in ("train", "test", "out")]
        write_arff(files[0], sample.X_train, sample.y_train)
        write_arff(files[1], sample.X_test, sample.y_test)
        jobs.append("\t".join(map(str, ["nbtree", *files])))
    command = ["java", "-cp", f"{jar}:{folder}", "WekaReference"]
    subprocess.run(command, input="\n".join(jobs), text=True, check=True)
    return [
        describe_tree(sample, (folder / f"{number}.out").read_text())
        for number, sample in enumerate(samples)
    ]


def describe_tree(sample, text):
    """Return the stored description of one tree."""
    lines = [line.split() for line in text.splitlines()]
    answers = [[float.fromhex(v) for v in line if "x" in v] for line in lines if line[0] == "P"]
    return {
        "sample": digest(sample),
        "tree": [[int(line[1]), line[2]] for line in lines if line[0] == "N"],
        "auc": auc(sample.y_test, np.array(answers)),
    }


def digest(sample):
    """Return a number that changes if the rows or their order change."""
    return zlib.crc32(sample.y_train.tobytes(), zlib.crc32(sample.X_train.tobytes()))


def write_arff(path, X, y):
    """Write an ARFF file of numbers with all digits and a class of 0 or 1."""
    lines = ["@relation sample", *(f"@attribute x{j} numeric" for j in range(X.shape[1]))]
    lines += ["@attribute class {0,1}", "@data"]
    lines += [",".join([*(repr(float(v)) for v in row), str(c)])
              for row, c in zip(X, y, strict=True)]  # fmt: skip
    path.write_text("\n".join(lines) + "\n")


def write_trees(stored):
    """Write the fixture."""
    text = json.dumps(stored, separators=(",", ":"))
    (weka.FOLDER / "nbtrees.json.xz").write_bytes(lzma.compress(text.encode(), preset=9))


if __name__ == "__main__":
    main()
