"""Fit every estimator to random tables and trees; expect probabilities or a documented error."""

import warnings

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.probability.methods import METHODS, make_method
from tools.fuzz.check import ask, require

# Methods that choose on folds grow many trees, so they are drawn less often.
SLOW = {"kept", "soft", "margin", "shrinkage-cv", "kernel", "separator-kernel"}


def run(rng, folder):
    """Fit one estimator to one table; return the outcome."""
    random = np.random.default_rng(rng.getrandbits(64))
    frame, y, weight = draw_frame(rng, random), None, None
    y = draw_classes(rng, random, len(frame))
    weight = draw_weights(rng, random, len(frame))
    model, tree = draw_estimator(rng, frame, y)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if tree is not None:
                model.set_params(estimator=tree())
            model.fit(frame, y, sample_weight=weight)
        except ValueError as error:
            require(str(error), "an error without a message")
            return "refused"
        answers = ask(model, frame)
        if hasattr(model, "tree_") and getattr(model, "decide", "tree") == "tree":
            leaf = model.tree_.apply(frame)
            require((np.asarray(answers.get("apply", leaf)) == leaf).all(), "a leaf differs")
        if rng.random() < 0.1:
            kt.save(model, folder / "model.json")
            again = ask(kt.load(folder / "model.json"), frame)
            same = all(np.array_equal(again[name], answers[name]) for name in answers)
            require(same, "a loaded model gives different results")
    return "fitted"


def draw_frame(rng, random):
    """Return a small table with columns of many kinds."""
    n = rng.choice([1, 2, 3, 5, 10, 20, 40, 80])
    columns = {}
    for j in range(rng.choice([1, 1, 2, 3, 5])):
        kind = rng.choice(list(COLUMNS))
        column = pd.Series(COLUMNS[kind](random, n))
        if rng.random() < 0.2:
            column = column.mask(random.random(n) < rng.choice([0.1, 0.5, 1.0]))
        columns[rng.choice([f"x{j}", f"x {j}", f"é{j}", f"<b>{j}"])] = column
    return pd.DataFrame(columns)


COLUMNS = {
    "normal": lambda random, n: random.normal(size=n),
    "whole": lambda random, n: random.integers(-3, 4, n),
    "constant": lambda random, n: np.full(n, 7.0),
    "ties": lambda random, n: np.round(random.normal(size=n), 1),
    "huge": lambda random, n: random.normal(size=n) * 1e300,
    "tiny": lambda random, n: random.normal(size=n) * 1e-300,
    "skewed": lambda random, n: np.exp(random.normal(size=n) * 20),
    "neighbours": lambda random, n: np.nextafter(1.0, random.integers(0, 2, n).astype(float)),
    "infinite": lambda random, n: np.where(random.random(n) < 0.1, np.inf, random.normal(size=n)),
    "boolean": lambda random, n: random.random(n) < 0.5,
    "text": lambda random, n: random.choice(["a", "b", "c", "é", ""], n),
    "category": lambda random, n: pd.Categorical(
        random.choice(["u", "v"], n), categories=["u", "v", "w"]
    ),
    "float32": lambda random, n: random.normal(size=n).astype(np.float32),
}


def draw_classes(rng, random, n):
    """Return labels of many kinds, sometimes with one class or with one class per row."""
    codes = random.integers(0, rng.choice([1, 2, 2, 2, 3, 5, 50]), n)
    labels = rng.choice(
        [
            np.arange(50),
            np.array([f"class {i}" for i in range(50)]),
            np.arange(50) / 2,
            np.array([f"<b>{i}" for i in range(50)], dtype=object),
        ]
    )
    return labels[codes]


def draw_weights(rng, random, n):
    """Return None in most cases, otherwise weights of any size, some of them 0."""
    kind = rng.choice([None, None, None, "random", "zeros", "small", "large", "mixed"])
    return {
        None: lambda: None,
        "random": lambda: random.exponential(size=n),
        "zeros": lambda: random.integers(0, 2, n).astype(float),
        "small": lambda: np.full(n, 1e-10),
        "large": lambda: np.full(n, 1e250),
        "mixed": lambda: 10.0 ** random.integers(-200, 200, n),
    }[kind]()


def draw_estimator(rng, frame, y):
    """Return a public estimator, and a function that creates its tree to keep, or None."""
    kind = rng.choice(["method"] * 6 + ["c45", "nbtree", "confdtree"])
    if kind == "c45":
        pruning = rng.choice(["error-based", "reduced-error", "pessimistic", "none"])
        return kt.C45Classifier(pruning=pruning, min_samples_leaf=rng.choice([1, 2, 5])), None
    if kind == "nbtree":
        return kt.NBTreeClassifier(random_state=0), None
    if kind == "confdtree":
        options = {"minimum": rng.choice(["every", "class", "node"]), "nominal": True}
        return kt.ConfDTreeClassifier(options=options, m=2), None
    names = [name for name in METHODS if name not in SLOW or rng.random() < 0.25]
    model = make_method(rng.choice(names))
    numeric = all(dtype.kind in "iufb" for dtype in frame.dtypes if hasattr(dtype, "kind"))
    numeric = numeric and not any(str(dtype) in ("category", "object") for dtype in frame.dtypes)
    trees = [
        None,
        lambda: kt.C45Classifier(min_samples_leaf=1, pruning="none"),
        lambda: kt.keep(kt.C45Classifier(min_samples_leaf=1).fit(frame, y)),
    ]
    if numeric:
        trees.append(lambda: DecisionTreeClassifier(max_depth=4, random_state=0))
    return model, rng.choice(trees)
