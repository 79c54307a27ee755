"""Should a nominal test be softened? python -m benchmarks.quality.nominal, for docs/guide/soft.md.

The trees are C4.5 trees of the Weka data sets in the test fixtures. A softened test divides a
category among the children by the similarity of its class distribution to those of all categories.
Width 0 is the hard test that the library uses. The output shows the AUC and log-loss of the two
experts with soft tests, alone and pooled with the kernel, and the number of sets on which each
width beats hard tests.
"""

import sys
import warnings
from dataclasses import replace
from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedShuffleSplit

import keeptree as kt
from benchmarks.quality.measure import LEAST
from benchmarks.quality.summary import markdown
from keeptree.data.sample import Sample
from keeptree.evaluation.ranking import auc
from keeptree.probability.kernel_expert import fit_kernel
from keeptree.probability.margin_choice import choose_margin
from keeptree.probability.margin_expert import fit_margin
from keeptree.probability.pool import fit_pool, smoothed_prior
from keeptree.probability.refits import held_out_loss, out_of_fold
from keeptree.probability.soft import choose_soft, fit_soft
from keeptree.probability.soft_tests import soft_tests
from keeptree.tree import NOMINAL
from tests.fixtures import weka

WIDTHS = (0.0, 0.15, 0.5)
SPLITS, MOST, FEWEST = 2, 1500, 6  # splits; maximum cases of a set, minimum of a class
_PRIOR_CASES = 5.0  # cases added to each category


def main(names):
    warnings.simplefilter("ignore")
    rows = [{"set": name, **row} for name in names or weka.data_sets() for row in measure(name)]
    sets = pd.DataFrame(rows).groupby(["method", "width", "set"], sort=False).mean()
    table = []
    for (method, width), own in sets.groupby(level=[0, 1], sort=False):
        gain = (own - sets.loc[(method, WIDTHS[0])].to_numpy()) * [1, -1]
        counts = [f"{(gain[k] > 1e-6).sum()} : {(gain[k] < -1e-6).sum()}" for k in gain]
        table.append([method, width, *own.mean().round(4), *counts])
    columns = ["expert", "width", "AUC", "log-loss", "AUC won : lost", "log-loss won : lost"]
    print(f"{len(own)} sets, {SPLITS} splits of each\n")
    print(markdown(pd.DataFrame(table, columns=columns), index=False))


def measure(name):
    """Return the rows of one set; none if the tree has no nominal test."""
    data = weka.load(name)
    rows = np.flatnonzero((np.bincount(data.y) >= FEWEST)[data.y])
    y, n = np.unique(data.y[rows], return_inverse=True)[1], min(len(rows), MOST)
    frame = data.frame.iloc[rows]
    splits = StratifiedShuffleSplit(SPLITS, train_size=n * 2 // 3, test_size=n // 3, random_state=0)
    for train, test in splits.split(rows, y) if y.max() else ():
        learner = kt.C45Classifier().fit(frame.iloc[train], y[train])
        if (learner.tree_.kind == NOMINAL).any():
            yield from compare(learner, frame.iloc[train], y[train], frame.iloc[test], y[test])


def compare(learner, X, y, X_test, y_test):
    """Return the AUC and log-loss of the experts and their pool at every width."""
    tree, classes = learner.tree_, np.arange(y.max() + 1)
    sample, rows = Sample(tree, tree.encode(X), y), tree.encode(X_test)
    folds = out_of_fold(learner, sample, X, y)
    unseen = np.concatenate([fold.test.y for fold in folds])
    prior = smoothed_prior(y, sample.weight, len(classes))

    def opinions(fit, settings):
        """Return the probabilities out of fold, and those of the kept tree for the test rows."""
        held = [_ask(fit(f.train, *settings), f.test.X, classes) for f in folds]
        return np.concatenate(held), _ask(fit(sample, *settings), rows, classes)

    kernel = opinions(fit_kernel, [fit_kernel(sample).settings])
    for width in WIDTHS:
        soften = partial(soften_nominal, width)
        with (
            patch("keeptree.probability.soft.soft_tests", soften),
            patch("keeptree.probability.margin_tests.soft_tests", soften),
        ):
            soft = opinions(fit_soft, choose_soft(folds))
            margin = opinions(fit_margin, choose_margin(folds)[:1])
        held, answers = (np.stack(part) for part in zip(soft, margin, kernel, strict=True))
        pool = fit_pool("smk", held, unseen, np.ones(len(unseen)), prior)
        pooled = np.empty_like(answers[0])
        pool.probability(answers, pooled)
        for method, p in {"soft": soft[1], "margin": margin[1], "pool": pooled}.items():
            loss = held_out_loss(np.maximum(p, LEAST), y_test, np.ones(len(p))) / len(p)
            yield {"method": method, "width": width, "auc": auc(y_test, p, classes), "loss": loss}


def _ask(expert, X, classes):
    p = np.empty((len(X), len(classes)))
    expert.probability(X, p)
    return p


def soften_nominal(width, sample, inner=None, scale="deviation"):
    """Return soft tests that share categories among the children by exp(-difference / width)."""
    tests, tree = soft_tests(sample, inner, scale), sample.tree
    if width == 0:
        return tests
    table = tests.table.copy()
    for i in np.flatnonzero(tests.kind == NOMINAL):
        feature = tree.feature[tests.node[i]]
        part = table[tests.table_start[i] : tests.table_start[i + 1]]
        # The last entry is for a missing value.
        part = part.reshape(len(tree.categories[feature]) + 1, -1)
        alike = _similarity(sample, feature, width)
        part[:-1] = alike @ part[:-1]
    return replace(tests, table=table)


def _similarity(sample, feature, width):
    """Return how much of each category is assigned to every other, by their class shares."""
    codes, tree = sample.X[:, feature], sample.tree
    known = ~np.isnan(codes)
    counts = np.zeros((len(tree.categories[feature]), len(tree.classes)))
    np.add.at(counts, (codes[known].astype(int), sample.y[known]), sample.weight[known])
    size, prior = counts.sum(axis=1), sample.class_weight / sample.weight.sum()
    shares = (counts + _PRIOR_CASES * prior) / (size[:, None] + _PRIOR_CASES)
    distance = np.sqrt(((shares[:, None] - shares) ** 2).sum(axis=2))
    mean = size @ distance @ size / max(size.sum() ** 2, 1e-9)
    alike = np.exp(-distance / (width * mean if mean > 0 else 1.0)) * size
    seen = size > 0
    return np.where(seen[:, None], alike / np.maximum(alike.sum(axis=1, keepdims=True), 1e-12),
                    np.eye(len(size)))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
