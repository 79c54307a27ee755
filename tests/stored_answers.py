"""Stored models and their predictions, which every processor must reproduce exactly.

``python -m tests.stored_answers store`` fits the models and writes them again, which is needed only
if their arithmetic is meant to change. ``python -m tests.stored_answers`` prints their predictions.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import keeptree as kt
from keeptree.probability.methods import METHODS, make_method

FOLDER = Path(__file__).parent / "fixtures" / "answers"
# Every method, and other models that use compiled functions of their own.
MODELS = {
    **{name: make_method(name) for name in METHODS},
    "leaf-window": kt.DistanceKernelClassifier(scope="leaf", kernel="epanechnikov"),
    "coherent": kt.KeptTreeClassifier(coherent=True),
    "nbtree": kt.NBTreeClassifier(random_state=0),
}


def draw(n, n_classes, seed):
    """Return numbers and categories, some missing, outside the training range or on a grid."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    table["c"], table["d"] = table["c"].round(1), np.exp(3 * table["d"])
    colour = rng.choice(["red", "green", "blue"], n)
    score = table["a"] + 0.7 * table["b"] - 0.8 * table["c"] + 1.5 * (colour == "red")
    table = table.mask(rng.random(table.shape) < 0.05)
    table["colour"] = pd.Categorical(colour, categories=["red", "green", "blue"])
    noisy = score + 0.5 * rng.normal(size=n)
    return table, np.digitize(noisy, [0.5] if n_classes == 2 else [-0.5, 1.5]).astype(str)


def answer(model, rows):
    """Return the probabilities of rows, or the scores of a model that has no probabilities."""
    score = getattr(model, "predict_proba", None) or model.decision_function
    return score(rows)


def read_rows():
    """Return the rows that were scored."""
    stored = json.loads((FOLDER / "rows.json").read_text())
    colour = pd.Categorical(stored.pop("colour"), categories=["red", "green", "blue"])
    numbers = {name: [float.fromhex(x) for x in column] for name, column in stored.items()}
    return pd.DataFrame(numbers).assign(colour=colour)


def stored_answers():
    """Return the stored predictions of each model, as hexadecimal floats."""
    return json.loads((FOLDER / "answers.json").read_text())


def answers():
    """Return the current predictions of each stored model."""
    rows = read_rows()
    names = stored_answers()
    return {name: as_hex(answer(kt.load(FOLDER / f"{name}.model.json"), rows)) for name in names}


def as_hex(values):
    return [x.hex() for x in np.ravel(values).tolist()]


def store():
    """Fit every model, and write the models, the rows and the predictions."""
    rows = draw(40, 2, seed=1)[0]
    rows.iloc[:4, :4] *= 20.0  # far outside the training range
    columns = {name: as_hex(rows[name]) for name in rows.columns[:-1]}
    columns["colour"] = rows["colour"].tolist()
    (FOLDER / "rows.json").write_text(json.dumps(columns) + "\n")
    for n_classes in (2, 3):
        X, y = draw(160, n_classes, seed=0)
        for name, model in MODELS.items():
            model.fit(X, y)
            kt.save(model, FOLDER / f"{name}-{n_classes}.model.json")
    names = sorted(path.name.removesuffix(".model.json") for path in FOLDER.glob("*.model.json"))
    (FOLDER / "answers.json").write_text(json.dumps(dict.fromkeys(names)) + "\n")
    (FOLDER / "answers.json").write_text(json.dumps(answers(), indent=0) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["store"]:
        store()
    else:
        print(json.dumps(answers()))
