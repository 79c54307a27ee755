"""Compare NBTreeClassifier with Weka 3.6.14's NBTree on bootstrap samples.

Weka's trees and AUCs were stored by tools/weka_reference/make_nbtrees.py.
"""

import numpy as np

import keeptree as kt
from benchmarks.timing import print_table
from keeptree.evaluation.ranking import auc
from reproduction.alvarez import draw_sample
from tests.fixtures import weka


def main():
    rows = [compare(name, stored) for name, stored in weka.nbtrees().items()]
    columns = ("set", "samples", "AUC, Weka", "AUC, ours", "difference ± s.e.", "leaves, Weka",
               "leaves, ours", "same trees")  # fmt: skip
    print_table("NBTree on the bootstrap samples of the 2007 paper", columns, rows)


def compare(name, stored):
    """Return one line of the table."""
    areas, leaves, same = [], [], 0
    for number, theirs in enumerate(stored):
        model, area = grow(name, number)
        areas.append((theirs.auc, area))
        leaves.append((theirs.n_leaves, model.get_n_leaves()))
        same += list_nodes(model.tree_) == theirs.nodes
    areas = np.array(areas)
    gap = areas[:, 1] - areas[:, 0]
    error = gap.std(ddof=1) / np.sqrt(len(gap))
    shown = [f"{value:.4f}" for value in areas.mean(axis=0)]
    sizes = [f"{value:.2f}" for value in np.mean(leaves, axis=0)]
    return name, str(len(gap)), *shown, f"{gap.mean():+.5f} ± {error:.5f}", *sizes, str(same)


def grow(name, number):
    """Return our tree on a sample, and its AUC on the test part."""
    sample = draw_sample(name, number)
    model = kt.NBTreeClassifier().fit(sample.X_train, sample.y_train)
    return model, auc(sample.y_test, model.predict_proba(sample.X_test))


def list_nodes(tree, node=0):
    """Return (column, threshold) of the tests in preorder, (-1, None) for a leaf."""
    if tree.kind[node] == 0:
        return [(-1, None)]
    nodes = [(int(tree.feature[node]), float(tree.threshold[node]))]
    for child in tree.children(node):
        nodes += list_nodes(tree, child)
    return nodes


if __name__ == "__main__":
    main()
