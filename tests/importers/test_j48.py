"""J48 text from Weka and from keeptree grow gives Weka's decisions."""

import json
import lzma
import warnings

import numpy as np
import pandas as pd
import pytest

import keeptree as kt
from keeptree.learners.j48_text import j48_text
from tests.fixtures import weka
from tests.importers.neighbours import assert_same_partition

SETTINGS = {"default": {}, "binary": {"binary_splits": True}}


def training(data):
    labels = np.asarray([str(label) for label in data.classes], dtype=object)
    return data.frame.iloc[data.train], pd.Categorical(labels[data.y[data.train]], labels)


def keep(text, *table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return kt.keep(text, *table)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", weka.data_sets())
def test_text_from_weka_gives_the_tree_of_weka(name, setting):
    data = weka.load(name)
    truth = data.trees[setting]
    X, y = training(data)
    grown = kt.C45Classifier(**SETTINGS[setting]).fit(X, y).tree_
    tree = keep(truth.text, X, y)
    assert j48_text(tree, **SETTINGS[setting]).strip().splitlines()[-3:] == [
        *truth.text.strip().splitlines()[-3:]
    ]
    assert (tree.n_leaves, tree.n_nodes) == (grown.n_leaves, grown.n_nodes)
    # Rows beside a rounded threshold may differ, as the warning says.
    near = np.zeros(len(data.X), dtype=bool)
    for node in np.flatnonzero(grown.kind == 1):
        values = data.X[:, grown.feature[node]]
        near |= np.abs(values - grown.threshold[node]) <= 1e-6
    rows = np.setdiff1d(np.flatnonzero(~near), data.train)
    complete = ~np.isnan(data.X[rows]).any(axis=1)
    rows = rows[complete]
    if len(rows):
        assert_same_partition(tree.apply(data.frame.iloc[rows]), grown.apply(data.frame.iloc[rows]))


TEXTS = json.loads(lzma.decompress((weka.FOLDER / "texts.json.xz").read_bytes()))


@pytest.mark.parametrize("answers", TEXTS, ids=lambda t: f"{t['data']} {t['options']}".strip())
def test_rows_beside_thresholds_and_with_missing_values_get_the_class_of_weka(answers):
    data = weka.load(answers["data"])
    rows = np.array(answers["rows"], dtype=np.float64)
    codes = np.nan_to_num(rows, nan=-1).clip(-1, 1e9).astype(np.int64)
    frame = pd.DataFrame(
        {
            name: rows[:, j] if labels is None else pd.Categorical.from_codes(codes[:, j], labels)
            for j, (name, labels) in enumerate(
                zip(data.feature_names, data.categories, strict=True)
            )
        }
    )
    expected = np.array([str(label) for label in data.classes])[answers["predicted"]]
    X, y = training(data)
    tree = keep(answers["text"], X, y)
    np.testing.assert_array_equal(tree.predict(frame).astype(str), expected)
    # The text alone decides complete rows, but does not define which class wins a tie.
    alone = keep(answers["text"])
    complete = frame[list(alone.feature_names)].notna().all(axis=1)
    assert 0 < complete.sum() < len(frame)
    decided = alone.predict(frame.loc[complete, list(alone.feature_names)])
    np.testing.assert_array_equal(decided.astype(str), expected[complete])


@pytest.mark.parametrize("options", [{}, {"binary_splits": True}, {"pruning": "none"}])
def test_text_printed_by_keeptree_is_read(options):
    data = weka.load("labor")
    X, y = training(data)
    grown = kt.C45Classifier(**options).fit(X, y).tree_
    text = j48_text(
        grown,
        unpruned=options.get("pruning") == "none",
        binary_splits=options.get("binary_splits", False),
    )
    tree = keep(text, X, y)
    np.testing.assert_allclose(tree.leaf_weights(X).toarray().sum(), len(X))
    assert tree.n_leaves == grown.n_leaves
    np.testing.assert_array_equal(tree.predict(X), grown.predict(X))


def test_without_data_two_classes_have_counts_and_three_do_not():
    text = (
        "J48 pruned tree\n------------------\n\n"
        "a <= 0.5: no (7.0/2.0)\na > 0.5: yes (3.0)\n\n"
        "Number of Leaves  : \t2\n\nSize of the tree : \t3\n"
    )
    with pytest.warns(UserWarning, match="prints thresholds with six decimals"):
        tree = kt.keep(text)
    assert tree.counts.tolist() == [[5, 5], [5, 2], [0, 3]]
    assert tree.predict([[None]]).tolist() == ["no"], (
        "a missing value is shared among branches by weight"
    )
    with (
        pytest.warns(UserWarning, match="but not their classes"),
        pytest.warns(UserWarning, match="missing values are shared evenly"),
        pytest.warns(UserWarning, match="six decimals"),
    ):
        kt.keep(text.replace("yes (3.0)", "maybe (3.0)\n").replace("a > 0.5: maybe (3.0)", (
            "a > 0.5\n|   a <= 1: maybe (3.0)\n|   a > 1: yes (1.0)"
        )))  # fmt: skip


def test_truncated_or_inconsistent_text_is_refused():
    text = "J48 pruned tree\n------------------\n\na <= 0.5: no (7.0/2.0)\na > 0.5: yes (3.0)\n"
    with pytest.raises(ValueError, match="ends before 'Number of Leaves'"):
        kt.keep(text)
    whole = text.replace("a >", "b >") + "\nNumber of Leaves  : \t2\n"
    with pytest.raises(ValueError, match="line 5, column 1: expected another branch of `a`"):
        kt.keep(whole)
