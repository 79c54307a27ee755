"""Kept C5.0 trees decide every row as C5.0 does; its decisions were recorded with R's C50."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import keeptree as kt
from keeptree import cli
from keeptree.importers.c50_names import read_names
from tests.importers.neighbours import assert_same_partition

FOLDER = Path(__file__).parent.parent / "fixtures" / "c50"
NAMES = sorted(path.stem for path in FOLDER.glob("*.tree"))
ONE_TREE = [name for name in NAMES if name != "boosted"]


def recorded(name):
    """Return the recorded rows, and C5.0's class and probabilities for each."""
    rows = pd.read_csv(FOLDER / f"{name}.csv", float_precision="round_trip")
    told = rows[[column for column in rows if column.startswith(".p ")]]
    told = told.rename(columns=lambda column: column.removeprefix(".p "))
    return rows.drop(columns=[c for c in rows if c.startswith(".")]), rows[".class"], told


def kept(name, ending=".tree"):
    return kt.keep(FOLDER / f"{name}{ending}", tree=0 if name == "boosted" else None)


def smoothed(tree, rows):
    """Return C5.0's probabilities, which add to each leaf one case with the root's class shares."""
    weight = tree.filled_counts.sum(axis=1)
    shares = tree.leaf_weights(rows)
    cases = (shares @ weight)[:, None]
    prior = tree.counts[0] / tree.weight[0]
    return (cases * (shares @ tree.proportions) + prior) / (cases + 1)


@pytest.mark.parametrize("name", NAMES)
def test_every_row_has_the_probabilities_and_class_of_c50(name):
    tree, (rows, label, probability) = kept(name), recorded(name)
    rows = rows[list(tree.feature_names)]
    ours = pd.DataFrame(smoothed(tree, rows), columns=tree.classes)[list(probability)]
    np.testing.assert_allclose(ours, probability, atol=1e-6, rtol=0)
    # Where shares are equal in theory, rounding in C5.0's sums decides the tie.
    shares = np.sort(tree.predict_proba(rows), axis=1)
    clear = (shares[:, -1] - shares[:, -2] > 1e-6) | ~np.isin(
        np.arange(len(rows)), tree.shared_rows(tree.encode(rows))
    )
    assert clear.mean() > 0.95
    np.testing.assert_array_equal(tree.predict(rows)[clear], label[clear])


@pytest.mark.parametrize("name", NAMES)
def test_the_json_of_the_r_script_gives_the_same_tree(name):
    assert kept(name, ".json").digest == kept(name).digest


def test_a_category_without_a_branch_is_decided_by_the_inner_node(tmp_path):
    text = (FOLDER / "unseen.tree").read_text().replace(' elts="never"', "")
    lines = text.replace('forks="3" elts', 'forks="2" elts').splitlines()
    (tmp_path / "a.tree").write_text("\n".join(lines[:-1]) + "\n")
    shutil.copy(FOLDER / "unseen.names", tmp_path / "a.names")
    tree = kt.keep(tmp_path / "a.tree")
    row = pd.DataFrame({"a b": ["never"], "x": [0.0], "o": ["m"]})
    np.testing.assert_allclose(tree.predict_proba(row), [[217 / 400, 183 / 400]])
    assert tree.predict(row).tolist() == ["bad"]


def test_names_categories_counts_and_source_are_kept():
    tree = kept("complete")
    assert tree.feature_names == ("x", "big one", "a b", "k", "o")
    assert tree.categories[4] == ("lo", "mid", "hi")
    assert tree.weight[0] == pytest.approx(400)
    assert tree.compare_dtype == "float32"
    assert set(tree.missing[tree.kind != 0]) == {-1}
    assert kept("complete", ".json").source["library"].startswith("R C50")


@pytest.mark.parametrize("name", ONE_TREE)
@pytest.mark.filterwarnings("ignore:C5.0 prints thresholds")
def test_the_printed_output_gives_the_same_tree_with_fewer_digits(name):
    rows, label, _ = recorded(name)
    exact = kept(name)
    rows = rows[list(exact.feature_names)]
    text = kt.keep(FOLDER / f"{name}.txt", rows, label)
    assert text.n_leaves == exact.n_leaves
    assert text.compare_dtype == "float32"
    full = rows.fillna(rows.select_dtypes("number").median()).dropna()
    away = away_from_thresholds(exact, full)
    assert len(away) > 30
    assert_same_partition(text.apply(away), exact.apply(away))
    np.testing.assert_array_equal(text.predict(away), exact.predict(away))


def away_from_thresholds(tree, rows):
    """Return the rows that are not close to a rounded threshold in C5.0's text."""
    rng = np.random.default_rng(0)
    rows, clear = rows.copy(), np.ones(len(rows), dtype=bool)
    for j, column in enumerate(tree.feature_names):
        if tree.categories[j] is None:
            size = 0.1 + rows[column].abs() / 10
            rows[column] = rows[column] + rng.normal(size=len(rows)) * size
            for threshold in tree.threshold[tree.feature == j]:
                clear &= abs(rows[column] - threshold) > 1e-4 * (1 + abs(threshold))
    return rows[clear]


def test_counts_of_two_classes_are_read_from_the_output():
    with pytest.warns(UserWarning, match="C5.0 prints thresholds with few digits"):
        tree = kt.keep(FOLDER / "deep.txt")
    assert tree.weight[0] == pytest.approx(3000)
    assert tree.n_leaves == kept("deep").n_leaves


def test_a_trial_of_a_boosted_model_must_be_chosen():
    for ending in (".tree", ".json", ".txt"):
        with pytest.raises(ValueError, match="has 3 trees; choose one with tree=0 to tree=2"):
            kt.keep(FOLDER / f"boosted{ending}")
    trials = [kt.keep(FOLDER / "boosted.tree", tree=k) for k in range(3)]
    assert trials[1].source["model"] == "trial 1 of C5.0"
    assert len({tree.digest for tree in trials}) == 3


REFUSED = {
    "rules": ('entries="1"\nrules="2" default="a"', "a set of rules; grow a tree"),
    "costs": ('costs="1"\nentries="1"\ntype="0" class="bad"', "grown with misclassification costs"),
    "fuzzy": (
        'entries="1"\ntype="2" class="bad" freq="1,1" att="x" forks="3" cut="1" low="0" mid="1" '
        'high="2"\n' + 'type="0" class="bad"\n' * 3,
        "fuzzy thresholds",
    ),
    "not applicable": (
        'entries="1"\ntype="2" class="bad" freq="1,1" att="x" forks="3" cut="1"\n'
        + 'type="0" class="bad" freq="1,0"\n' * 3,
        "an attribute did not apply",
    ),
    "classes": ('entries="1"\ntype="0" class="bad" freq="1,2,3"', "3 counts, but .* 2 classes"),
    "cut off": ('entries="1"\ntype="2" class="bad" freq="1,', "cut off or not from C5.0"),
    "too short": ('entries="2"\ntype="0" class="bad" freq="1,2"', "ends unexpectedly"),
    "no entries": ('type="0" class="bad" freq="1,2"', "damaged"),
    "branches": (
        'entries="1"\ntype="2" class="bad" freq="1,1" att="x" forks="2" cut="1"\n'
        + 'type="0" class="bad"\n' * 2,
        "has too few branches",
    ),
    "hostile": (
        'entries="1"\ntype="1" class="bad" freq="1,1" att="x" forks="99999999999"',
        "99,999,999,999 branches",
    ),
    "column": (
        'entries="1"\ntype="2" class="bad" freq="1,1" att="y" forks="3" cut="1"\n'
        + 'type="0" class="bad"\n' * 3,
        "not in tuple",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_unsupported_model_raises_a_one_line_error_and_writes_nothing(what, tmp_path, capsys):
    text, sentence = REFUSED[what]
    (tmp_path / "a.tree").write_text(f'id="See5/C5.0 2.07 GPL Edition"\n{text}\n')
    (tmp_path / "a.names").write_text("bad, good.\nx: continuous.\n")
    with pytest.raises(ValueError, match=sentence) as error:
        kt.keep(tmp_path / "a.tree")
    assert "\n" not in str(error.value)
    assert cli.main(["keep", str(tmp_path / "a.tree"), "--out", str(tmp_path / "t.json")]) == 2
    assert not (tmp_path / "t.json").exists()
    assert capsys.readouterr().err.count("\n") == 1


def test_the_names_file_is_required(tmp_path):
    shutil.copy(FOLDER / "two.tree", tmp_path)
    with pytest.raises(ValueError, match=r"put the \.names file as two\.names"):
        kt.keep(tmp_path / "two.tree")


def test_names_files_are_parsed():
    names = read_names(
        "| a comment: x, y.\n"
        "high\\, or so, low 1.5 , mid.   | classes\n\n"
        "a \\| b:\tcontinuous.\n"
        "v1.2: [ordered] x,\n y.z, w.\n"
        "key: label.  skip: ignore.  case weight: continuous."
    )
    assert names.classes == ["high, or so", "low 1.5", "mid"]
    assert names.columns == {"a | b": None, "v1.2": ["x", "y.z", "w"]}
    for text, sentence in (
        ("", "is empty"),
        ("a, b.\nx := y + 1.", "computed from other columns"),
        ("a, b.\nx: discrete 5.", "does not list the categories of 'x'"),
        ("a, b.\nx: date.", "dates or times"),
        ("x: 10, 20.\nx: continuous.", "a numeric class by thresholds"),
        ("x.\nx: continuous.", "as the class, but does not list its classes"),
        ("a, b.\nx", "no values for 'x'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            read_names(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Rules:\n\nRule 1: (3)\n", "a set of rules"),
        ("nothing\n", "no tree"),
        ("Decision tree:\n\nx <= 1: a (2)\nx > 1: b (2)\n", "before 'Evaluation on'"),
        (
            "Decision tree:\n\nx <= 1 (0.5): a (2)\n\nEvaluation on training data",
            "fuzzy thresholds",
        ),
        (
            "Decision tree:\n\no in [lo-hi]: a (2)\n\nEvaluation on training data",
            "names only its ends",
        ),
        (
            "Decision tree:\n\nx <= 1: [S1]\nx > 1: b (2)\n\nEvaluation on training data",
            r"no SubTree \[S1\]",
        ),
        (
            "Decision tree:\n\nx <= one: a (2)\n\nEvaluation on training data",
            "`one` is not a threshold",
        ),
        (
            "Decision tree:\n\nx <= 1: a\n\nEvaluation on training data",
            "expected a class and its cases",
        ),
        ("Decision tree:\n\nnonsense: a (2)\n\nEvaluation on training data", "expected a test"),
    ],
)
def test_output_without_a_valid_tree_raises_a_one_line_error(text, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        kt.keep(f"C5.0 [Release 2.07]\n\n{text}")
    assert "\n" not in str(error.value)


def test_a_damaged_document_raises_a_one_line_error(tmp_path):
    document = json.loads((FOLDER / "two.json").read_text())
    path = tmp_path / "tree.json"
    for change in ({"tree": 3}, {"names": None}, {"tree": ""}, {"names": "a."}):
        path.write_text(json.dumps({**document, **change}))
        with pytest.raises(ValueError, match=r"tree\.json") as error:
            kt.keep(path)
        assert "\n" not in str(error.value)


def test_the_command_keeps_c50_output_with_data(tmp_path, capsys):
    rows, label, _ = recorded("complete")
    data = tmp_path / "data.csv"
    rows.assign(outcome=label).to_csv(data, index=False)
    source, out = str(FOLDER / "complete.txt"), str(tmp_path / "tree.json")
    arguments = ["keep", source, "--data", str(data), "--target", "outcome", "--out", out]
    assert cli.main(arguments) == 0
    assert "from C5.0 output" in capsys.readouterr().out
    assert kt.Tree.load(out).n_leaves == kept("complete").n_leaves
