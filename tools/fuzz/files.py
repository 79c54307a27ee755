"""Read damaged files of trees and models; each must load or be refused in one sentence."""

import copy
import json
import warnings
from functools import cache
from pathlib import Path

import pandas as pd

import keeptree as kt
from keeptree.encoding import sealed
from tools.fuzz.check import ask, require

STORED = Path(__file__).parents[2] / "tests" / "fixtures" / "saved"
HOSTILE = [
    *(None, True, False, -1, 0, 1, 2**31, 2**63, 2**70, 1.5, -0.0, 1e-320, 1e300, -1e300),
    *("nan", "inf", "-inf", "x", "", "é\u202e", [], [[0]], {}, {"tree": 0}, {"float": "nan"}),
    *({"array": "float64", "shape": [0], "values": []}, {"tuple": []}, {"labels": 0}),
    {"part": "Pool", "fields": {}},
    {"model": "Metric", "parameters": {}, "fitted": {}},
]


@cache
def corpus():
    """Return the names and contents of the stored files."""
    folders = ("model-3", "model-4", "tree-1", "tree-2")
    paths = [path for folder in folders for path in sorted((STORED / folder).glob("*.json"))]
    return [(p.stem, p.read_bytes()) for p in paths if not p.name.endswith(".answers.json")]


@cache
def rows_for(name):
    """Return cases for a model to predict."""
    return pd.read_csv(STORED / ("numbers.csv" if name == "forest" else "cases.csv"))


def run(rng, folder):
    """Damage one file and read it; return the outcome."""
    name, content = rng.choice(corpus())
    damage = rng.choice([flip, cut, splice, hostile, hostile, nudge, nudge, swap, drop])
    path = folder / "damaged.json"
    path.write_bytes(damage(rng, content))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = kt.load(path)
        except ValueError as error:
            require("\n" not in str(error), f"an error message with several lines: {error}")
            require(str(path) in str(error), f"an error without the file's name: {error}")
            return "refused"
        try:
            ask(model, rows_for(name))
        except ValueError:  # the columns or labels may no longer match the rows
            return "no answer"
        if rng.random() < 0.05:
            kt.save(model, folder / "again.json")
            kt.load(folder / "again.json")
    return "read"


def flip(rng, content):
    """Flip some bits."""
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 10])):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(content)


def cut(rng, content):
    """Cut off the end."""
    return content[: rng.randrange(len(content))]


def splice(rng, content):
    """Remove a piece, repeat it, or replace it with one from another file."""
    start = rng.randrange(len(content))
    stop = min(len(content), start + rng.choice([1, 3, 30, 300]))
    other = rng.choice(corpus())[1]
    at = rng.randrange(len(other))
    piece = rng.choice([b"", 2 * content[start:stop], other[at : at + stop - start]])
    return content[:start] + piece + content[stop:]


def hostile(rng, content):
    """Replace a value with a hostile one and update the digest."""
    return edited(rng, content, lambda _: copy.deepcopy(rng.choice(HOSTILE)))


def nudge(rng, content):
    """Replace a number with another of its kind and update the digest."""

    def change(value):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return copy.deepcopy(rng.choice(HOSTILE))
        factor = rng.choice([-1, 0, 0.5, 2, 1e3, 1e-3, 1e9])
        changed = rng.choice([value + rng.choice([-1, 1, 2]), value * factor])
        return int(changed) if isinstance(value, int) else float(changed)

    return edited(rng, content, change)


def swap(rng, content):
    """Swap two values and update the digest."""
    document = json.loads(content)
    (one, a), (other, b) = (rng.choice(places(document)) for _ in range(2))
    one[a], other[b] = copy.deepcopy(other[b]), copy.deepcopy(one[a])
    return resealed(document)


def drop(rng, content):
    """Drop a value and update the digest."""
    document = json.loads(content)
    inside, key = rng.choice(places(document))
    del inside[key]
    return resealed(document)


def edited(rng, content, change):
    """Return the content with one to three values changed."""
    document = json.loads(content)
    for _ in range(rng.choice([1, 1, 2, 3])):
        inside, key = rng.choice(places(document))
        inside[key] = change(inside[key])
    return resealed(document)


def places(document):
    """Return all values inside a document, with only a few of each long list."""
    found, structure, stack = [], [], [document]
    while stack:
        inside = stack.pop()
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        for key in keys:
            (structure if isinstance(key, str) else found).append((inside, key))
            if isinstance(inside[key], dict | list):
                stack.append(inside[key])
    return found + structure * max(1, len(found) // max(1, len(structure)))


def resealed(document):
    """Return a document as bytes, with a matching digest."""
    document.pop("digest", None)
    try:
        return json.dumps(sealed(document)).encode()
    except ValueError:  # the document contains a number that JSON cannot represent
        return json.dumps(document).encode()
