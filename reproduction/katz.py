"""Tasks of Katz et al. (2012): C4.5, its three corrections and a forest on the same folds."""

import warnings
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from keeptree.evaluation.experiment import ask
from keeptree.evaluation.models import give_codes
from keeptree.evaluation.ranking import auc
from keeptree.learners.c45 import C45Classifier
from keeptree.probability.confdtree import ConfDTreeClassifier
from keeptree.probability.smoothing import SmoothedTreeClassifier
from reproduction.data import load
from reproduction.results import round_row

# The paper's three variants, and the combined one with routes weighted by n instead of sqrt(n).
VARIANTS = {
    "NORM": {"interval": "normal"},
    "TDIST": {"interval": "t"},
    "COMB": {"interval": "combined"},
    "COMB, n": {"interval": "combined", "options": {"route_weight": "linear"}},
}
LAPLACE = "C4.5, Laplace"  # Weka's option -A, off by default
SIZES = tuple(range(10, 100, 10))  # training sizes, in % of all cases
# The AUC, with two ways to count ties and two ways to average over several classes.
AREAS = {
    f"auc{suffix}{name}": {"average": average, "ties": ties}
    for (suffix, average), (name, ties) in product(
        {"": "macro", "_weighted": "weighted"}.items(), {"": 0.5, "_ties_0": 0.0}.items()
    )
}


@dataclass(frozen=True)
class Coding:
    """A data set of the paper.

    Attributes
    ----------
    data : str
        Name in :data:`reproduction.data.SETS`.
    positive : str or None
        The class that the paper compares with the rest; None for the classes as they are.
    meaning : str
        The positive class, or the classes, in words.
    """

    data: str
    positive: str | None
    meaning: str


CODINGS = {
    "cancer": Coding("wdbc", "malignant", "malignant"),
    "contraceptive": Coding("contraceptive", "2", "long-term method, by the ratio 1 : 3.423"),
    "credit": Coding("credit", "positive", "approved; the rows without missing values"),
    "diabetes": Coding("pima", "tested_positive", "tested positive"),
    "ecoli": Coding("ecoli", "positive", "class imU (ecoli3), by the ratio 1 : 8.6"),
    "ionosphere": Coding("ionosphere", "b", "bad"),
    "pima": Coding("pima", "tested_positive", "tested positive; the rows of diabetes"),
    "spam": Coding("spambase", "1", "spam"),
    "yeast": Coding("yeast", "positive", "classes 3, 7, 8, 9 against 0, 2, 5, 6, by the 1004 rows"),
    "MiniBooNE": Coding("miniboone", "signal", "signal"),
    "autos": Coding("autos", None, "six classes, the risk"),
    "glass": Coding("glass", None, "six classes"),
    "letter": Coding("letter", None, "26 classes"),
    "segment": Coding("segment", None, "seven classes"),
    "vehicle": Coding("vehicle", None, "four classes"),
    "vowel": Coding("vowel", None, "eleven classes, 10 attributes; the paper says seven"),
    "waveform": Coding("waveform", None, "three classes"),
}
SEVERAL = tuple(name for name, coding in CODINGS.items() if coding.positive is None)


def list_tasks(samples, datasets, checksums, protocol):
    """Return one task for each ten-fold cross-validation."""
    return [
        {"dataset": name, "data": checksums[name], "protocol": protocol, "sample": sample}
        for sample in range(samples)
        for name in datasets
    ]


def list_size_tasks(samples, datasets, checksums, protocol):
    """Return one task for each division at each training size (Figure 6)."""
    return [
        {"dataset": name, "data": checksums[name], "size": size, "sample": sample}
        for sample in range(samples)
        for name in datasets
        for size in SIZES
    ]


def score_task(task, data_dir=None):
    """Fit C4.5, its corrections and a forest; measure their predictions for all test cases.

    Parameters
    ----------
    task : dict
        ``dataset`` and ``sample``. With ``size``, the data are divided once with this training
        size; otherwise the task is a ten-fold cross-validation, whose test cases are ranked
        together, as in Weka.
    data_dir : str, optional
        Folder with data files.

    Returns
    -------
    rows : list of dict
        For each ``method`` the areas of :data:`AREAS`, and the share ``affected``.
    """
    X, y = read_set(task["dataset"], data_dir)
    parts, labels = _parts(task, y), np.unique(y)
    scores, affected, truth = {}, {}, []
    for number, (train, test) in enumerate(parts):
        seed = task["sample"] * len(parts) + number
        for method, model in _fit_models(X.iloc[train], y[train], seed).items():
            p = ask(model, X.iloc[test], labels)["probability"]
            # Rounded, so that ties do not depend on the order of a sum.
            scores.setdefault(method, []).append(p.round(10))
            if method in VARIANTS:
                affected.setdefault(method, []).append(model.affected(X.iloc[test]))
        truth.append(y[test])
    truth = np.concatenate(truth)
    scores = {method: np.concatenate(parts) for method, parts in scores.items()}
    scores["noise"] = _break_ties(scores["C4.5"], task["sample"])
    size = f"{task['size']} %" if "size" in task else "folds"
    rows = []
    for method, p in scores.items():
        areas = {key: auc(truth, p, labels, **how) for key, how in AREAS.items()}
        row = {"tree": size, "method": method, **areas}
        if method in affected:
            row["affected"] = 100 * float(np.concatenate(affected[method]).mean())
        rows.append(round_row(row))
    return rows


@cache
def read_set(dataset, data_dir=None):
    """Return the attributes and classes of a data set, by its name in :data:`CODINGS`."""
    coding = CODINGS[dataset]
    data = load(coding.data, data_dir)
    y = data.y if coding.positive is None else np.where(data.y == coding.positive, "yes", "no")
    if len(np.unique(y)) < 2:
        raise ValueError(f"{dataset} has no class {coding.positive!r}; this is another data set.")
    return data.X, y


def _parts(task, y):
    if "size" in task:
        splitter = StratifiedShuffleSplit(
            1, train_size=task["size"] / 100, random_state=task["sample"]
        )
    else:
        splitter = StratifiedKFold(10, shuffle=True, random_state=task["sample"])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        return list(splitter.split(y, y))


def _fit_models(X, y, seed):
    learner = C45Classifier().fit(X, y)
    laplace = SmoothedTreeClassifier(learner.tree_, "laplace").fit(X, y)
    models = {"C4.5": learner, LAPLACE: laplace}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No test of the tree can be checked")
        for name, options in VARIANTS.items():
            models[name] = ConfDTreeClassifier(learner.tree_, **options).fit(X, y)
    # Weka 3.6's defaults: ten trees that try log2(number of attributes) + 1 attributes per test.
    features = int(np.log2(X.shape[1])) + 1
    forest = RandomForestClassifier(10, max_features=features, random_state=seed)
    models["random forest"] = give_codes(forest, X).fit(X, y)
    return models


def _break_ties(p, seed):
    """Return the tree's probabilities with noise that breaks ties and changes nothing else."""
    return p + np.random.default_rng(seed).uniform(0, 1e-9, p.shape)
