"""Tasks of Alvarez et al. (2005 and 2007): one sample, its trees, and all their estimates.

Both papers use the same data sets, samples and trees, so one task serves both: a tree is grown once
and every estimate is made from it.
"""

from dataclasses import dataclass
from functools import cache
from zlib import crc32

import numpy as np

from keeptree.evaluation.metrics import squared_error
from keeptree.evaluation.protocols import make_protocol
from keeptree.evaluation.ranking import auc, partial_auc
from keeptree.evaluation.significance import hits_and_errors
from keeptree.geometry.boundary import Boundary
from keeptree.geometry.metric import Metric
from keeptree.learners.c45 import C45Classifier
from keeptree.learners.nbtree import NBTreeClassifier
from keeptree.probability.distance_kernel import DistanceKernelClassifier
from keeptree.probability.geometric_rank import GeometricRankClassifier
from keeptree.probability.smoothing import SmoothedTreeClassifier
from reproduction.data import load
from reproduction.results import round_row

BANDWIDTHS = (0.05, 0.1, 0.15)
# Other interpretations do not fit the published values, see docs/reproduction.md.
PROTOCOLS = ("paper", "plain")

# Distance kernels that at least one of the papers uses: scope, bandwidth, metric.
_STANDARD = [("global", bandwidth, "standard") for bandwidth in BANDWIDTHS]
KERNELS = {
    "reduced-error": _STANDARD,
    "normal": [
        *_STANDARD,
        ("global", 0.05, "minmax"),
        ("global", 0.1, "minmax"),
        ("separator", 0.05, "standard"),
        ("separator", 0.05, "minmax"),
    ],
    "unpruned": [],
}


@dataclass(frozen=True)
class Coding:
    """How the papers turned a data set into two classes.

    Attributes
    ----------
    data : str
        Name in :data:`reproduction.data.SETS`.
    positive : tuple of str
        Labels of the positive class.
    meaning : str
        The positive class in words.
    free : bool
        Whether the papers do not state which class was positive, so that we had to choose.
    """

    data: str
    positive: tuple
    meaning: str
    free: bool = True


CODINGS = {
    "bupa": Coding("bupa", ("1",), "selector 1", free=False),
    "glass": Coding("glass", ("5", "6", "7"), "non-window glass (classes 5, 6, 7)"),
    "iono.": Coding("ionosphere", ("b",), "bad", free=False),
    "iris": Coding("iris", ("virginica",), "virginica"),
    "letter": Coding("letter", ("A",), "letter A"),
    "thyroid": Coding("new-thyroid", ("3",), "hypo"),
    "optdigits": Coding("optdigits", ("0",), "digit 0"),
    "pendigits": Coding("pendigits", ("0",), "digit 0"),
    "pima": Coding("pima", ("tested_positive",), "tested positive", free=False),
    "sat": Coding("satimage", ("2",), "class 2 (cotton crop)"),
    "segment.": Coding("segment-210", ("BRICKFACE",), "brickface, on the 210-row training file"),
    "sonar": Coding("sonar", ("R",), "rock", free=False),
    "vehicle": Coding("vehicle", ("bus",), "bus"),
    "vowel": Coding("vowel", ("0",), "vowel 0, on the 10 numeric attributes"),
    "wdbc": Coding("wdbc", ("malignant",), "malignant", free=False),
    "wine": Coding("wine", ("3",), "cultivar 3"),
}

TREES = {
    "reduced-error": C45Classifier(pruning="reduced-error"),
    "normal": C45Classifier(),
    "unpruned": C45Classifier(pruning="none", collapse=False),
}


def list_tasks(samples, datasets, checksums, protocol):
    """Return the tasks of both papers: every sample of every data set.

    The checksum of the data is part of a task, so that results on other data are not mixed in.
    """
    return [
        {"dataset": name, "data": checksums[name], "protocol": protocol, "sample": sample}
        for sample in range(samples)
        for name in datasets
    ]


def score_sample(task, data_dir=None):
    """Grow the trees of one sample and measure every estimate on its test part.

    Parameters
    ----------
    task : dict
        ``dataset`` (one of :data:`CODINGS`), ``protocol`` and ``sample``, its number.
    data_dir : str, optional
        Folder with data files.

    Returns
    -------
    rows : list of dict
        One for each ``tree`` and ``method``.
    """
    sample = draw_sample(task["dataset"], task["sample"], task["protocol"], data_dir)
    rows = []
    for name, learner in TREES.items():
        tree = learner.fit(sample.X_train, sample.y_train).tree_
        found = [
            _measure_tree(tree, sample),
            *measure_smoothing(tree, sample, name),
            *_measure_ranking(tree, sample, name),
            *(measure_kernel(tree, sample, *options) for options in KERNELS[name]),
        ]
        rows += [{"tree": name, **row} for row in found]
    return [round_row(row) for row in (*rows, _measure_nbtree(sample))]


@dataclass(frozen=True, eq=False)
class Sample:
    """Training and test part of one sample; ``y`` is 1 for the positive class, else 0."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def minmax(self):
        """The Min-Max metric, whose ranges come from the whole sample, as in the paper."""
        spread = np.ptp(np.vstack([self.X_train, self.X_test]), axis=0)
        return Metric("minmax", scales=np.where(spread > 0, spread, 1.0))


def draw_sample(dataset, number, protocol="paper", data_dir=None):
    """Draw and divide a sample of a data set; the same number gives the same sample.

    Parameters
    ----------
    dataset : str
        One of :data:`CODINGS`.
    number : int
        Number of the sample.
    protocol : {"paper", "plain"}
        A stratified bootstrap sample whose distinct cases are divided, or a stratified split of
        the data as they are.
    data_dir : str, optional
        Folder with data files.

    Returns
    -------
    sample : Sample
    """
    X, y = read_set(CODINGS[dataset], data_dir)
    return divide(X, y, dataset, number, protocol)


def divide(X, y, name, number, protocol):
    """Draw and divide a sample of coded data; the seed depends on the name and the number."""
    seed = (crc32(name.encode()) + number) % 2**32
    train, test = next(make_protocol(protocol, 1, seed).split(X, y))
    # Shuffled, because the folds of reduced-error pruning depend on the order of the rows.
    train = np.random.default_rng(seed).permutation(train)
    return Sample(X[train], y[train], X[test], y[test])


@cache
def read_set(coding, data_dir=None):
    """Return the attributes of a data set, and 1 for its positive class, else 0."""
    data = load(coding.data, data_dir)
    return data.X.to_numpy(dtype=float), np.isin(data.y, coding.positive).astype(int)


def _measure_tree(tree, sample):
    """Return size, accuracy, and the distances of correct and wrong decisions to the boundary."""
    hit = tree.predict(sample.X_test) == sample.y_test
    distance = Boundary(tree).fit(sample.X_train).distance(sample.X_test)
    row = {"method": "tree", "leaves": tree.n_leaves, "accuracy": float(hit.mean())}
    if np.isfinite(distance).all():  # a tree that predicts one class has no boundary
        found = hits_and_errors(distance, hit)
        if np.isfinite(found.kappa):
            row |= {"hits_and_errors": found.difference, "kappa": found.kappa}
    return row


def measure_smoothing(tree, sample, name):
    """Yield the rows of Laplace smoothing and of the m-estimate."""
    m = weight_of_prior(sample.y_train)
    for method in ("laplace", "m-estimate"):
        model = SmoothedTreeClassifier(tree, method, m=m).fit(sample.X_train, sample.y_train)
        p = model.predict_proba(sample.X_test)
        yield {"method": method, **_quality(p, sample.y_test), **_areas(p[:, 1], sample, name)}


def _measure_ranking(tree, sample, name):
    m = weight_of_prior(sample.y_train)
    rankings = {
        "global": {},
        "global minmax": {"metric": sample.minmax},
        "local laplace": {"scope": "local"},
        "local m-estimate": {"scope": "local", "smoothing": "m-estimate", "m": m},
    }
    for method, options in rankings.items():
        model = GeometricRankClassifier(tree, grid=None, **options).fit(
            sample.X_train, sample.y_train
        )
        score = model.rank_score(sample.X_test, positive=1)
        areas = _areas(score, sample, name) if method.startswith("global") else {}
        yield {"method": method, "auc": auc(sample.y_test, score), **areas}


def measure_kernel(tree, sample, scope, bandwidth, metric):
    """Return the row of a distance kernel."""
    model = DistanceKernelClassifier(
        tree,
        scope,
        bandwidth=bandwidth,
        metric=sample.minmax if metric == "minmax" else metric,
        grid=None,
    ).fit(sample.X_train, sample.y_train)
    p = model.predict_proba(sample.X_test)
    return {"method": kernel_name(scope, bandwidth, metric), **_quality(p, sample.y_test)}


def _measure_nbtree(sample):
    model = NBTreeClassifier().fit(sample.X_train, sample.y_train)
    quality = _quality(model.predict_proba(sample.X_test), sample.y_test)
    return {"tree": "nbtree", "method": "nbtree", "leaves": model.tree_.n_leaves, **quality}


def _quality(p, y):
    """Return AUC, MSE, and whether the log-loss is infinite."""
    impossible = bool((p[np.arange(len(y)), y] == 0).any())
    return {"auc": auc(y, p), "mse": squared_error(y, p), "impossible": impossible}


def _areas(score, sample, name):
    """Return partial areas under the ROC curve, which the 2005 paper uses for normal pruning."""
    if name != "normal":
        return {}
    return {"areas": partial_auc(sample.y_test, score).tolist()}


def weight_of_prior(y):
    """Return the m for which m times the prior is 10 (Zadrozny and Elkan 2001)."""
    return 10 / np.mean(y)


def kernel_name(scope, bandwidth, metric="standard"):
    """Return the name of a distance kernel as it appears in the rows."""
    return f"kernel {scope} {metric} {bandwidth:g}"
