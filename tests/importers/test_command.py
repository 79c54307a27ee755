"""``keeptree keep``, and the kinds of files that ``--tree`` accepts."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import keeptree as kt
from keeptree.cli import main
from tests.importers.test_written import LOANS, loans


@pytest.fixture
def files(tmp_path):
    X, y = loans()
    X.assign(risk=y).to_csv(tmp_path / "loans.csv", index=False)
    (tmp_path / "tree.txt").write_text(LOANS)
    return tmp_path


def test_keep_prints_a_summary_and_writes_the_tree(files, capsys):
    tree, data, out = (str(files / name) for name in ("tree.txt", "loans.csv", "tree.json"))
    assert main(["keep", tree, "--data", data, "--target", "risk", "--out", out]) == 0
    said = capsys.readouterr().out
    assert "A tree with 4 leaves, depth 3, on 3 columns, from text." in said
    assert "Classes: grant, refuse." in said
    assert "Class counts: 200 cases, from 200 rows of data." in said
    assert "some tests have no rule for them; choose one with --missing" in said
    kept = kt.Tree.load(out)
    assert f"\n\n{kept.to_text()}\n\nSaved as" in said
    assert kept.feature_names == ("income", "age", "owner"), (
        "the tested columns, in the order of the data"
    )
    assert main(["keep", tree, "--out", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] is None


def test_keep_tells_where_missing_values_go(files, capsys):
    data = ["--data", str(files / "loans.csv"), "--target", "risk", "--out", str(files / "t.json")]
    for rule, sentence in (
        (
            "share",
            "Missing values: shared among the branches of a test, by their numbers of cases.",
        ),
        ("majority", "Missing values: sent to one branch of a test; in Python, to_text(precision="),
    ):
        assert main(["keep", str(files / "tree.txt"), *data, "--missing", rule]) == 0
        assert sentence in capsys.readouterr().out


def test_keep_warns_only_about_columns_that_the_tree_tests(files, capsys):
    X, y = loans()
    X.assign(patient=range(len(X)), risk=y).to_csv(files / "loans.csv", index=False)
    data = ["--data", str(files / "loans.csv"), "--target", "risk", "--out", str(files / "t.json")]
    assert main(["keep", str(files / "tree.txt"), *data]) == 0
    assert "identifier" not in capsys.readouterr().err
    text = "0.5 * patient + 1 * age <= 50: grant\n0.5 * patient + 1 * age > 50: refuse"
    (files / "oblique.txt").write_text(text)
    assert main(["keep", str(files / "oblique.txt"), *data]) == 0
    assert "'patient' has a different whole number in each row" in capsys.readouterr().err


def test_keep_prints_the_first_lines_of_a_large_tree(tmp_path, capsys):
    many = ", ".join(f"c{k}" for k in range(100))
    steps = "".join(f"{'  ' * k}x <= {99 - k}\n" for k in range(30))
    back = "".join(f"{'  ' * k}x > {99 - k}: b\n" for k in reversed(range(30)))
    source, out = tmp_path / "tree.txt", tmp_path / "tree.json"
    source.write_text(f"{steps}{'  ' * 30}y in {{{many}}}: a\n{'  ' * 30}y = d: b\n{back}")
    assert main(["keep", str(source), "--out", str(out)]) == 0
    told = capsys.readouterr().out.split("\n\n")[1].split("\n")
    lines = kt.load(out).to_text().split("\n")
    assert len(lines) == 62
    assert told[:30] == lines[:30]
    assert told[30] == f"{lines[30][:200]} ..."
    assert told[40].startswith("... and 22 more lines; in Python, kt.load(")
    assert len(told) == 41


def test_keep_reports_lost_information_only_once(tmp_path, capsys):
    source = tmp_path / "j48.txt"
    source.write_text(
        "J48 pruned tree\n------------------\n\nage <= 4.123457: a (3.0)\nage > 4.123457: b (2.0)"
        "\n\nNumber of Leaves  : \t2\n\nSize of the tree : \t3\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["keep", str(source), "--out", str(tmp_path / "tree.json")]) == 0
    said = capsys.readouterr()
    assert "Lost: J48 prints thresholds with six decimals" in said.out
    assert said.err == ""


def test_fit_accepts_a_written_tree(files, capsys):
    tree, data, out = (str(files / name) for name in ("tree.txt", "loans.csv", "model.json"))
    done = main(
        ["fit", data, "--target", "risk", "--tree", tree, "--method", "smoothed", "--out", out]
    )
    assert done == 0
    assert "Kept a tree with 4 leaves" in capsys.readouterr().out
    assert kt.load(out).tree_.weight[0] == 200


SMOKERS = """
age <= 48
  smoker = True or missing: yes
  smoker = False: no
age > 48: yes
"""


@pytest.mark.parametrize("spelt", [str, lambda value: str(value).lower()])
@pytest.mark.parametrize("missing", [False, True])
def test_a_written_tree_can_test_a_boolean_column(tmp_path, spelt, missing):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 200), "smoker": rng.random(200) < 0.4})
    y = np.where((X.age > 50) | X.smoker, "yes", "no")
    cells = X.smoker.map(spelt)
    if missing:
        X["smoker"] = X.smoker.astype("boolean").mask(X.age == 30)
        cells = cells.mask(X.age == 30)
    data, source, out = (tmp_path / name for name in ("d.csv", "tree.txt", "tree.json"))
    X.assign(smoker=cells, claim=y).to_csv(data, index=False)
    source.write_text(SMOKERS)
    told = ["--target", "claim", "--out"]
    keep = ["keep", str(source), "--data", str(data)]
    assert main([*keep, *told, str(out)]) == 0
    model = tmp_path / "model.json"
    assert main(["fit", str(data), "--tree", str(out), *told, str(model)]) == 0
    from_file = kt.load(model)
    in_memory = kt.KeptTreeClassifier(kt.keep(SMOKERS)).fit(X, y)
    np.testing.assert_array_equal(from_file.predict_proba(X), in_memory.predict_proba(X))
    kt.save(in_memory, model)
    assert main(["predict", str(model), str(data), "--out", str(tmp_path / "p.csv")]) == 0
    scored = pd.read_csv(tmp_path / "p.csv")
    np.testing.assert_allclose(scored.probability_no, in_memory.predict_proba(X)[:, 0], rtol=1e-12)
    row = dict(X.iloc[0])
    assert kt.explain(in_memory, row).text == kt.explain(in_memory, X[:1]).text


def test_explain_accepts_a_written_tree(files, capsys):
    tree, data = (str(files / name) for name in ("tree.txt", "loans.csv"))
    for line in (
        ["explain", data, "--tree", tree, "--target", "risk", "--row", "3"],
        ["explain", "--tree", tree, "--row", "3", "--target", "risk", data],
    ):
        assert main([*line, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        X, y = loans()
        kept = kt.KeptTreeClassifier(kt.keep(LOANS, X[["income", "age", "owner"]], y))
        story = kt.explain(kept.fit(X[["income", "age", "owner"]], y), X[2:3])
        assert told["decision"]["class"] == story.to_dict()["decision"]["class"]
        assert told["path"] == story.to_dict()["path"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (["loans.csv", "--tree", "tree.txt"], "--tree needs --target, the column of DATA"),
        (["m.json", "loans.csv", "--tree", "tree.txt"], "Give either a model or --tree, not both"),
        (["m.json", "loans.csv", "--target", "risk"], "--target requires --tree; a model already"),
        (["m.json", "loans.csv", "--drop", "age"], "--drop requires --tree; a model already"),
    ],
)
def test_explain_accepts_either_a_model_or_a_tree(files, monkeypatch, capsys, line, sentence):
    monkeypatch.chdir(files)
    assert main(["explain", *line, "--row", "1"]) == 2
    assert sentence in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["explain", "loans.csv", "--row", "1"])
    assert "required: DATA" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("incom <= 1: a\nincom > 1: b", "line 1, column 1: `incom` is not a column; did you mean"),
        ("", "is empty"),
        ("{", "ends unexpectedly"),
        ("[" * 100_000, "nested too deeply|more values"),
        ("\x80\x04", "is a pickle, which can run any code"),
        ("\xff\xfe", "neither text nor a format"),
    ],
)
def test_bad_input_gives_a_one_line_error_and_writes_nothing(files, capsys, text, sentence):
    source, out = files / "bad.txt", files / "out.json"
    source.write_text(text, encoding="latin-1")
    data = ["--data", str(files / "loans.csv"), "--target", "risk"]
    assert main(["keep", str(source), *data, "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert re.search(sentence, said), said
    assert said.count("\n") == 1
    assert not out.exists()


def test_models_of_other_tools_are_recognised_by_their_content(files, capsys):
    """CatBoost writes its keys in no fixed order."""
    source = files / "model.json"
    source.write_text('{"ctr_data": {}, "features_info": {"float_features": []}, "trees": []}')
    line = ["fit", str(files / "loans.csv"), "--target", "risk", "--tree", str(source)]
    assert main([*line, "--out", str(files / "out.json")]) == 2
    said = capsys.readouterr().err
    assert "kt.save" not in said, "the file must not be mistaken for a damaged KeepTree file"
    assert "model.json" in said


def test_the_r_script_is_printed(capsys):
    assert main(["keep", "--r-script"]) == 0
    assert "keeptree_write <- function(model, path)" in capsys.readouterr().out
    assert main(["keep"]) == 2
    assert "Give the tree to keep" in capsys.readouterr().err
