"""Kept trees of rpart and partykit send every complete row to the leaf recorded from R."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import keeptree as kt
from tests.importers.neighbours import assert_same_partition

FOLDER = Path(__file__).parent.parent / "fixtures" / "r"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def recorded(name):
    """Return the recorded rows, and R's leaf and class for each."""
    rows = pd.read_csv(
        FOLDER / f"{name}.csv",
        keep_default_na=False,
        na_values=["NA"],
        float_precision="round_trip",
    )
    return rows.drop(columns=[".leaf", ".class"]), rows[".leaf"], rows[".class"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_row_reaches_the_leaf_and_class_of_r(name):
    tree = kt.keep(FOLDER / f"{name}.json")
    rows, leaf, label = recorded(name)
    rows = rows[list(tree.feature_names)]
    lost = tree.source.get("lost", "")
    told = re.findall(r"never saw (.*?) in training, which R treats as missing", lost)
    unseen = {label for labels in told for label in re.findall(r"'(.*?)'", labels)}
    # R decides rows with these categories by surrogates, as the warning says.
    kept = ~rows.isin(unseen).any(axis=1)
    assert kept.mean() > 0.5
    rows, leaf, label = rows[kept], leaf[kept], label[kept]
    assert_same_partition(tree.apply(rows), leaf)
    np.testing.assert_array_equal(tree.predict(rows).astype(str), label.astype(str))
    assert tree.weight[0] > 0


def test_without_surrogates_missing_and_unseen_categories_go_to_the_larger_child():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = kt.keep(FOLDER / "rpart_majority.json")
    rows, leaf, _ = recorded("rpart_majority")
    assert rows.isna().any(axis=None)
    document = json.loads((FOLDER / "rpart_majority.json").read_text())
    assert any(2 in node.get("sides", ()) for node in document["nodes"])
    assert_same_partition(tree.apply(rows[list(tree.feature_names)]), leaf)


def test_labels_follow_priors_and_losses_rather_than_the_largest_count():
    with pytest.warns(UserWarning, match="surrogate splits"):
        tree = kt.keep(FOLDER / "rpart_loss.json")
    leaves = np.flatnonzero(tree.kind == 0)
    assert (tree.label[leaves] != tree.counts[leaves].argmax(axis=1)).any()


def test_missing_values_are_refused_unless_the_majority_is_chosen():
    with pytest.warns(UserWarning, match=r"a Tree supports neither.*missing='majority'"):
        tree = kt.keep(FOLDER / "rpart_kyphosis.json")
    row = [[np.nan] * tree.n_features]
    with pytest.raises(ValueError, match=r"no rule for missing values.*missing='majority'"):
        tree.predict(row)
    chosen = kt.keep(tree, missing="majority")
    assert chosen.predict(row).tolist() == ["absent"]
    assert chosen.source["lost"].startswith("R decides rows with missing values")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_damaged_document_raises_a_one_line_error(tmp_path):
    document = json.loads((FOLDER / "rpart_iris.json").read_text())
    path = tmp_path / "tree.json"
    for change in (
        {"nodes": document["nodes"][:-1]},
        {"columns": document["columns"][:1]},
        {"classes": ["a"]},
        {"kind": "forest"},
        {"nodes": document["nodes"] * 2},
    ):
        path.write_text(json.dumps({**document, **change}))
        with pytest.raises(ValueError, match=r"tree\.json") as error:
            kt.keep(path)
        assert "\n" not in str(error.value)
