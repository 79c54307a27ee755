"""Measure alternatives: other positive classes and other interpretations of the protocol.

The 2007 paper does not state which class is positive on most data sets, and its sentence about the
samples has three possible interpretations. The choices were made after looking at results, so the
results of the alternatives are reported too.
"""

import numpy as np
from sklearn.model_selection import BaseShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import check_random_state

from reproduction.agreement import SAME, Cell, Estimate, count_agreement, estimate_difference
from reproduction.alvarez import (
    CODINGS,
    TREES,
    Coding,
    Sample,
    divide,
    kernel_name,
    measure_kernel,
    measure_smoothing,
    read_set,
)
from reproduction.alvarez_2007 import CERTAIN, TABLES_WITHOUT_NBTREE
from reproduction.reproduce import Reproduction
from reproduction.results import round_row
from reproduction.tables import Table

_OTHERS = {
    "iris": {"setosa": ("setosa",), "versicolor": ("versicolor",)},
    "thyroid": {"hyper": ("2",), "both disorders": ("2", "3"), "normal": ("1",)},
    "sat": {f"class {k}": (str(k),) for k in (1, 3, 4, 5, 7)},
    "segment.": {name.lower(): (name,)
                 for name in ("CEMENT", "FOLIAGE", "GRASS", "PATH", "SKY", "WINDOW")},
    "vehicle": {name: (name,) for name in ("opel", "saab", "van")},
    "wine": {"cultivar 1": ("1",), "cultivar 2": ("2",)},
}  # fmt: skip
_BLIND = "blind"


def list_choices():
    """Return every alternative: label -> (name in the paper, coding, protocol)."""
    choices = {}
    for name, others in _OTHERS.items():
        chosen = CODINGS[name]
        choices[f"{name}: {chosen.meaning} (chosen)"] = (name, chosen, "paper")
        for meaning, positive in others.items():
            choices[f"{name}: {meaning}"] = (name, Coding(chosen.data, positive, meaning), "paper")
    for protocol, label in (("paper", "paper (chosen)"), ("plain", "plain"), (_BLIND, _BLIND)):
        for name in CERTAIN:
            choices[f"{name}: protocol {label}"] = (name, CODINGS[name], protocol)
    return choices


CHOICES = list_choices()


class BlindBootstrapSplit(BaseShuffleSplit):
    """Stratified bootstrap samples, divided although copies then leak into the test part."""

    def _iter_indices(self, X, y, groups=None):
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            sample = np.concatenate(
                [rng.choice(np.flatnonzero(y == c), size=np.sum(y == c)) for c in np.unique(y)]
            )
            parts = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=rng)
            train, test = next(parts.split(sample, y[sample]))
            yield sample[train], sample[test]


def list_tasks(samples, datasets, checksums, protocol):
    """Return one task for each sample of each choice."""
    return [
        {"dataset": label, "data": checksums[label], "protocol": CHOICES[label][2], "sample": k}
        for k in range(samples)
        for label in datasets
    ]


def score_choice(task, data_dir=None):
    """Measure the seven columns that do not need NBTree, on one sample."""
    name, coding, protocol = CHOICES[task["dataset"]]
    X, y = read_set(coding, data_dir)
    if protocol == _BLIND:
        train, test = next(BlindBootstrapSplit(1, random_state=task["sample"]).split(X, y))
        sample = Sample(X[train], y[train], X[test], y[test])
    else:
        sample = divide(X, y, name, task["sample"], protocol)
    kernels = {
        "reduced-error": [("global", 0.1, "standard")],
        "normal": [("global", 0.1, "standard"), ("global", 0.05, "standard"),
                   ("separator", 0.05, "standard")],
        "unpruned": [],
    }  # fmt: skip
    rows = []
    for tree_name, learner in TREES.items():
        tree = learner.fit(sample.X_train, sample.y_train).tree_
        laplace = next(iter(measure_smoothing(tree, sample, "")))
        found = [laplace, *(measure_kernel(tree, sample, *how) for how in kernels[tree_name])]
        rows += [round_row({"tree": tree_name, **row}) for row in found]
    return rows


def table_codings(results):
    """Return the table of other positive classes."""
    labels = [label for label in CHOICES if ": protocol" not in label]
    return _table(results, "codings", "the outcome of other positive classes", labels)


def table_protocols(results):
    """Return the table of other readings of the protocol, on the sets whose coding is certain."""
    labels = [label for label in CHOICES if ": protocol" in label]
    title = "the outcome of other readings of the protocol, on the sets whose coding is certain"
    return _table(results, "protocols", title, labels)


def _table(results, key, title, labels):
    rows = {}
    for label in (label for label in labels if label in results.datasets):
        name = CHOICES[label][0]
        cells = [
            Cell(
                estimate_difference(
                    results.values(label, *a, measure), results.values(label, *b, measure)
                ),
                _without_p(published.get(name, {}).get(heading)),
                better=-1 if measure == "mse" else 1,
            )
            for published, heading, (a, b, measure) in TABLES_WITHOUT_NBTREE
        ]
        counts = count_agreement(cells)
        shares = [100 * (counts[key] or 0) / counts["total"] for key in (SAME, "within_error")]
        rows[label] = [*(Cell(Estimate(share), better=0) for share in shares), *cells]
    columns = (
        "agree, %",
        "within error, %",
        *(_heading(column) for column in TABLES_WITHOUT_NBTREE),
    )
    notes = (
        "The seven columns of Tables 1 to 3 that do not need NBTree. The first two columns show "
        "the share of the published ones whose sign and significance agree, and the share of means "
        "within sampling error. ± is the standard error; values are times 100.",
    )
    if key == "protocols":
        notes += (
            "“Blind” divides a bootstrap sample without regard to copies, which then leak from the "
            "training part into the test part.",
        )
    return Table(key, title, columns, rows, notes=notes, counted=False)


def _without_p(published):
    return published and Estimate(published.mean, published.error)


def _heading(column):
    _, heading, ((_, kernel), _, measure) = column
    number = 1 if kernel == kernel_name("global", 0.1) else 2 if "global" in kernel else 3
    return f"Table {number}, {heading if measure == 'auc' else 'MSE'}"


REPRODUCTION = Reproduction(
    name="choices",
    citation="Choices made for Alvarez, Bernard and Deffuant (2007) after looking at results.",
    datasets={label: coding for label, (_, coding, _) in CHOICES.items()},
    samples=30,
    protocols=("each its own",),
    tables={"codings": table_codings, "protocols": table_protocols},
    figures={},
    list_tasks=list_tasks,
    work=score_choice,
    records="choices-samples.jsonl",
)
