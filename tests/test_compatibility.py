"""Files of every released version can be read and give the same predictions."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import keeptree as kt
from tests.test_saving import answers

FOLDER = Path(__file__).parent / "fixtures" / "saved"
RELEASED = ["model-3", "model-4", "tree-1", "tree-2", "tree-3"]
STORED = [
    path
    for folder in RELEASED
    for path in sorted((FOLDER / folder).glob("*.json"))
    if not path.name.endswith(".answers.json")
]


def cases(name):
    """Return the rows for which the predictions of a model were stored."""
    return pd.read_csv(FOLDER / ("numbers.csv" if name == "forest" else "cases.csv"))


def ask(model, rows):
    """Return the predictions of a model or a tree; a tree's probabilities are not guaranteed."""
    if isinstance(model, kt.Tree):
        return {"predict": model.predict(rows), "apply": model.apply(rows)}
    return answers(model, rows)


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_stored_file_gives_the_predictions_stored_with_it(path):
    model = kt.load(path)
    expected = json.loads(path.with_suffix(".answers.json").read_text())
    found = ask(model, cases(path.stem))
    assert found
    for name, values in found.items():
        if np.asarray(expected[name]).dtype.kind == "f":
            # Changes to the arithmetic of a method may affect the last digits, but no more.
            np.testing.assert_allclose(values, expected[name], rtol=0, atol=1e-6, err_msg=name)
        else:
            assert np.asarray(values).tolist() == expected[name], name


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_stored_file_can_be_saved_in_the_current_format(path, tmp_path):
    model = kt.load(path)
    kt.save(model, tmp_path / "new.json")
    new = kt.load(tmp_path / "new.json")
    rows = cases(path.stem)
    for name, values in ask(model, rows).items():
        np.testing.assert_array_equal(values, ask(new, rows)[name])


def test_there_are_stored_files_of_every_version_and_class():
    assert {path.parent.name for path in STORED} == set(RELEASED)
    kinds = {type(kt.load(path)).__name__ for path in STORED}
    public = {name for name in kt.__all__ if hasattr(getattr(kt, name), "saved_fields")}
    assert kinds - {"Tree"} == public - {"Boundary", "Metric"}  # these are stored inside models


@pytest.mark.parametrize("folder", ["model-1", "model-2"])
def test_a_file_from_before_the_first_release_is_refused_with_advice(folder):
    with pytest.raises(ValueError, match="never released; fit and save the model again"):
        kt.load(FOLDER / folder / "margin.json")


def test_the_signature_of_a_stored_tree_still_matches():
    """The digest of a tree is the same in every version."""
    tree = kt.load(FOLDER / "tree-2" / "c45.json")
    assert [signature.digest for signature in tree.signatures] == [tree.digest]
    assert kt.load(FOLDER / "tree-1" / "c45.json").digest == tree.digest
