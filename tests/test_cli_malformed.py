"""Malformed command lines for every command: exit code 2, a one-line error, nothing written."""

import argparse
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import keeptree as kt
from keeptree import cli

LINES = 30  # number of random lines for each command
DATA = ["data.csv", "--target", "y"]
VALID = {  # a valid line for each command; each malformed line changes one thing in it
    "report": ["report", *DATA, "--out", "new.html"],
    "demo": ["demo", "--out", "new.html"],
    "fit": ["fit", *DATA, "--out", "new.json"],
    "predict": ["predict", "model.json", "data.csv", "--out", "new.csv"],
    "explain": ["explain", "model.json", "data.csv", "--row", "1"],
    "grow": ["grow", *DATA, "--out", "new.json"],
    "compare": ["compare", *DATA, "--out", "new"],
    "keep": ["keep", "tree.json", "--out", "new.json"],
    "sign": ["sign", "tree.json", "--by", "A. Person"],
    "verify": ["verify", "tree.json"],
    "export": ["export", "model.json", "--to", "new.mmd"],
    "audit": ["audit", "model.json", "data.csv"],
}
PAIRS = {  # option -> wrong values that the command refuses, though the parser accepts them
    "--bounds": ["x=", "x=3", "x=a:b", "nowhere=1:2", "x=5:1", "=1:2"],
    "--cost": ["x=", "x=-1", "x=much", "nowhere=2", "x"],
    "--step": ["x=", "x=0", "x=nan", "nowhere=2", "x"],
    "--label": ["a", "=b", "a=", "nowhere=x"],
    "--costs": ["[[0,1]]", "1", "[[0,'a'],[1,0]]", "[[0,1,2],[1,0,2],[1,2,0]]", "{"],
    "--to": ["nowhere"],
    "--positive": ["nowhere"],
    "--models": [",", "nowhere", "kept,nowhere"],
    "--metrics": [",", "nowhere"],
    "--baseline": ["nowhere"],
    "--protocol": ["nowhere"],
    "--splits": ["0", "-3"],
    "--jobs": ["0"],
    "--row": ["0", "-1", "100"],
    "--n": ["0", "-1"],
    "--max-changes": ["0", "-2"],
    "--min-samples-leaf": ["0", "-1"],
    "--confidence-factor": ["0", "2", "nan"],
    "--n-folds": ["0", "1"],
}
COLUMNS = {"--drop", "--nominal", "--fixed", "--increase-only", "--decrease-only", "--keep",
           "--lock", "--target"}  # fmt: skip
INPUTS = {"--tree", "--model"}
# Pairs of options that exclude each other, if a command has both.
EXCLUDING = [
    (["--tree", "tree.json"], ["--max-depth", "2"]),
    (["--tree", "tree.json"], ["--learner", "cart"]),
    (["--tree", "tree.json"], ["--model", "model.json"]),
    (["--model", "model.json"], ["--max-leaves", "3"]),
    (["--learner", "cart"], ["--confidence-factor", "0.2"]),
    (["--json"], ["--markdown"]),
    (["--excel-safe"], ["--out", "new.parquet"]),
    (["--json"], ["--out", "-"]),
    (["--drop", "y"], ["--target", "y"]),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("malformed")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=40), "z": rng.integers(0, 9, 40)})
    y = pd.Series(np.where(X["x"] > 0, "a", "b"), name="y")
    X.assign(y=y).to_csv(folder / "data.csv", index=False)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    kt.save(model, folder / "model.json")
    model.tree_.save(folder / "tree.json")
    (folder / "text.txt").write_text("no table")
    (folder / "a_folder").mkdir()
    return folder


def parsers():
    """Return the parser of each command by name."""
    entries = {}
    for command in cli.COMMANDS:
        entries[command.name] = parser = argparse.ArgumentParser(command.name)
        command.arguments(parser)
    return entries


PARSERS = parsers()


def options_of(name):
    """Return the options of a command: name -> argparse's action."""
    return {a.option_strings[-1]: a for a in PARSERS[name]._actions if a.option_strings}


def replaced(line, option, value):
    """Return the line with another value for an option, or with the option added at the end."""
    if option in line:
        at = line.index(option)
        return [*line[: at + 1], value, *line[at + 2 :]]
    return [*line, option, value]


def unknown_option(name, rng):
    return [*VALID[name], rng.choice(["--bogus", "--targte", "-x", "--out-", "--n=1=2", "--ROW"])]


def stray_argument(name, rng):
    return [*VALID[name], rng.choice(["stray.csv", "", "--", "1"]), "another"]


def value_left_out(name, rng):
    valued = [o for o, a in options_of(name).items() if a.nargs is None and o != "--help"]
    return [*VALID[name], rng.choice(valued)] if valued else unknown_option(name, rng)


def wrong_type(name, rng):
    numbers = [o for o, a in options_of(name).items() if a.type in (int, float)]
    if not numbers:
        return unknown_option(name, rng)
    return replaced(VALID[name], rng.choice(numbers), rng.choice(["much", "", "1e", "0x1g"]))


def wrong_choice(name, rng):
    chosen = [o for o, a in options_of(name).items() if a.choices]
    if not chosen:
        return unknown_option(name, rng)
    return replaced(VALID[name], rng.choice(chosen), rng.choice(["nowhere", "", "C45 "]))


def required_left_out(name, rng):
    required = [a for a in PARSERS[name]._actions if a.required]
    if not required:
        return unknown_option(name, rng)
    out = rng.choice(required)
    line = VALID[name]
    if out.option_strings:
        at = line.index(out.option_strings[-1])
        return line[:at] + line[at + 2 :]
    return [line[0], *line[2:]]


def wrong_input(name, rng):
    positions = [k for k, word in enumerate(VALID[name]) if word.endswith((".csv", ".json"))]
    positions = [k for k in positions if not VALID[name][k].startswith("new")]
    line = list(VALID[name])
    wrong = rng.choice(["nowhere.csv", "text.txt", "a_folder", "", "nowhere.parquet", "x\x00.csv"])
    given = sorted(INPUTS & set(options_of(name)))
    if given and rng.random() < 0.3:
        return [*line, rng.choice(given), wrong]
    if not positions:
        return unknown_option(name, rng)
    line[rng.choice(positions)] = wrong
    return line


def wrong_column(name, rng):
    named = sorted(COLUMNS & set(options_of(name)))
    if not named:
        return unknown_option(name, rng)
    return replaced(VALID[name], rng.choice(named), rng.choice(["nowhere", "X", " ", "y2"]))


def wrong_value(name, rng):
    known = sorted(set(PAIRS) & set(options_of(name)))
    if not known:
        return unknown_option(name, rng)
    option = rng.choice(known)
    return replaced(VALID[name], option, rng.choice(PAIRS[option]))


def wrong_output(name, rng):
    if "--out" not in options_of(name):
        return unknown_option(name, rng)
    places = ["nowhere/new.html", "data.csv", "model.json/new.csv"]
    if name == "compare":
        places = ["data.csv", "data.csv/new"]
    elif name == "predict":
        places += ["new.txt", "new", "a_folder"]
    elif name in ("demo", "sign"):
        places.remove("data.csv")
    return replaced(VALID[name], "--out", rng.choice(places))


def excluding_options(name, rng):
    known = set(options_of(name))
    fitting = [(a, b) for a, b in EXCLUDING if a[0] in known and b[0] in known]
    fitting = [(a, b) for a, b in fitting if "-" not in b or name == "predict"]
    if not fitting:
        return stray_argument(name, rng)
    first, second = rng.choice(fitting)
    line = replaced(VALID[name], *second) if second[0] in VALID[name] else [*VALID[name], *second]
    return [*line, *first]


WAYS = [unknown_option, stray_argument, value_left_out, wrong_type, wrong_choice,
        required_left_out, wrong_input, wrong_column, wrong_value, wrong_output,
        excluding_options]  # fmt: skip


def malformed(name):
    """Return lines with one thing wrong, several of each kind."""
    rng = random.Random(name)
    lines = [WAYS[k % len(WAYS)](name, rng) for k in range(LINES)]
    return [*lines, *(replaced(VALID[name], o, value) for o in sorted(set(PAIRS) & set(
        options_of(name))) for value in PAIRS[o])]  # fmt: skip


def everything(folder):
    files = Path(folder).rglob("*")
    return {str(path): path.read_bytes() if path.is_file() else None for path in files}


@pytest.mark.parametrize("name", [command.name for command in cli.COMMANDS])
def test_a_malformed_line_gives_a_one_line_error_and_writes_nothing(
    name, folder, monkeypatch, capsys
):
    monkeypatch.chdir(folder)
    before = everything(folder)
    for line in malformed(name):
        try:
            code = cli.main(line)
        except SystemExit as end:
            code = end.code
        printed = capsys.readouterr()
        assert code == 2, line
        assert printed.out == "", line
        assert printed.err.startswith("keeptree"), line
        assert printed.err.count("\n") == 1, (line, printed.err)
        assert everything(folder) == before, line
