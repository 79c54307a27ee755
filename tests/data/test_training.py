"""Training data keep their declared categories, and bad files raise clear errors."""

import json

import numpy as np
import pandas as pd
import pytest

import keeptree as kt
from keeptree.cli import main
from keeptree.data.frame import read_frame
from keeptree.data.training import read_training, split_target
from tests.fixtures import weka

ARFF = """% a comment
@relation weather
@attribute outlook {sunny, overcast, rainy}
@attribute 'wind speed' numeric
@attribute play {yes, no}
@data
sunny, 3.5, no
rainy, ?, yes
?, 2, yes
"""


def write(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


def test_arff_keeps_the_order_of_categories_and_reads_question_marks_as_missing(tmp_path):
    frame, _ = read_frame(write(tmp_path, "w.arff", ARFF))
    assert frame["outlook"].cat.categories.tolist() == ["sunny", "overcast", "rainy"]
    assert frame["outlook"].isna().tolist() == [False, False, True]
    assert frame["wind speed"].tolist()[0] == 3.5
    assert np.isnan(frame["wind speed"][1])
    assert frame["play"].cat.categories.tolist() == ["yes", "no"]


def test_arff_with_quotes_and_string_attributes_is_read(tmp_path):
    text = ARFF.replace("{sunny, overcast, rainy}", "{sunny, 'dark clouds', rainy}")
    text = text.replace("sunny, 3.5", "'dark clouds', 3.5").replace(
        "'wind speed' numeric", "w string"
    )
    frame, _ = read_frame(write(tmp_path, "q.arff", text))
    assert frame["outlook"].tolist()[0] == "dark clouds"
    assert frame["w"].cat.categories.tolist() == ["2", "3.5"]


def test_csv_columns_of_text_are_nominal_and_others_numeric(tmp_path):
    path = write(tmp_path, "d.csv", "a,b,y\n1.5,red,0\n?,blue,1\n2,?,1\n")
    frame, _ = read_frame(path)
    assert frame["b"].cat.categories.tolist() == ["blue", "red"]
    np.testing.assert_array_equal(frame["a"], [1.5, np.nan, 2])
    assert frame["y"].tolist() == [0, 1, 1]


def test_parquet_keeps_declared_categories(tmp_path):
    colour = pd.Categorical(["red", "blue", None], categories=["red", "green", "blue"])
    pd.DataFrame({"colour": colour, "x": [1.0, 2.0, 3.0]}).to_parquet(tmp_path / "d.parquet")
    frame, _ = read_frame(tmp_path / "d.parquet")
    assert frame["colour"].cat.categories.tolist() == ["red", "green", "blue"]


BROKEN = {
    "undeclared.arff": (ARFF.replace("rainy, ?", "stormy, ?"), "stormy"),
    "cut.arff": (ARFF[:60], "cannot be read as ARFF"),
    "renamed.arff": ("just some text", "cannot be read as ARFF"),
    "empty.csv": ("", "cannot be read as CSV: it is empty"),
    "header.csv": ("a,b\n", "has no rows"),
    "rows.csv": ("a,b\n1,2\n1,2,3,4\n", "cannot be read as CSV"),
    "no.parquet": ("not parquet", "cannot be read as PARQUET"),
    "data.xls": ("", "is in the old Excel format; save it as .xlsx"),
    "data.doc": (
        "",
        r"is not a data file; give one of \.arff, .*, or - for the standard",
    ),
    "data.xlsx": ("", "cannot be read as Excel"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_read_raises_a_clear_error(tmp_path, name):
    text, message = BROKEN[name]
    with pytest.raises(ValueError, match=message):
        read_frame(write(tmp_path, name, text))


def test_unsuitable_targets_are_refused(tmp_path):
    frame, _ = read_frame(write(tmp_path, "w.arff", ARFF))
    with pytest.raises(ValueError, match=r"no column 'plays'; did you mean 'play'\?"):
        split_target(frame, "plays")
    with pytest.raises(ValueError, match="'outlook' is missing in 1 row;"):
        split_target(frame, "outlook")
    with pytest.raises(ValueError, match="no column besides"):
        split_target(frame[["play"]], "play")
    numbers = pd.DataFrame({"x": range(2000), "y": range(2000)})
    numbers.to_csv(tmp_path / "n.csv", index=False)
    with pytest.raises(ValueError, match="2000 distinct values, which look like an identifier"):
        read_training(tmp_path / "n.csv", "y")


def test_a_file_without_the_columns_of_the_tree_is_refused_with_its_own(tmp_path):
    tree = kt.keep(
        "temp <= 37: no\ntemp > 37: yes", pd.DataFrame({"temp": [36, 38]}), ["no", "yes"]
    )
    path = write(tmp_path, "d.csv", "age,size,y\n1,2,no\n2,3,yes\n")
    with pytest.raises(ValueError, match=r"lacks 'temp', which .* its columns are 'age', 'size'"):
        read_training(path, "y", tree=tree)


def test_constant_columns_raise_one_warning(tmp_path, recwarn):
    rows = [f"7,same,{k % 9},{'' if k % 2 else 5},{'no' if k % 3 else 'yes'}" for k in range(30)]
    read_training(write(tmp_path, "d.csv", "\n".join(["a,b,c,d,y", *rows])), "y")
    assert [str(warning.message) for warning in recwarn] == [
        "The columns 'a', 'b' have the same value in every row, so nothing can be learned from "
        "them."
    ]


@pytest.mark.parametrize("name", ["labor", "vote", "weather-numeric", "soybean"])
def test_grow_prints_the_same_text_as_weka_and_saves_the_tree(tmp_path, capsys, name):
    data = weka.load(name)
    frame = data.frame
    frame["the class"] = pd.Categorical.from_codes(data.y, list(data.classes))
    frame.iloc[data.train].to_parquet(tmp_path / "d.parquet")
    out = tmp_path / "tree.json"
    assert (
        main(["grow", str(tmp_path / "d.parquet"), "--target", "the class", "--out", str(out)]) == 0
    )
    printed = capsys.readouterr().out
    assert printed.startswith(data.trees["default"].text.strip())
    tree = kt.Tree.load(out)
    assert tree.n_leaves == data.trees["default"].n_leaves
    assert tree.categories == tuple(None if c is None else tuple(c) for c in data.categories)


def test_grow_accepts_the_options_of_the_learner(tmp_path, capsys):
    data = weka.load("labor")
    frame = data.frame.assign(y=pd.Categorical.from_codes(data.y, list(data.classes)))
    frame.iloc[data.train].to_parquet(tmp_path / "d.parquet")
    call = ["grow", str(tmp_path / "d.parquet"), "--target", "y", "--out", str(tmp_path / "t.json")]
    assert main([*call, "--binary-splits"]) == 0
    assert capsys.readouterr().out.startswith(data.trees["binary"].text.strip())
    assert main([*call, "--pruning", "none", "--no-collapse", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    expected = data.trees["unpruned_uncollapsed"]
    assert kt.Tree.from_dict(document["tree"]).n_leaves == expected.n_leaves


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.csv", "--target", "y"], "does not exist"),
        (["d.csv", "--target", "z"], "no column 'z'"),
        (["d.csv", "--target", "y", "--confidence-factor", "7"], "confidence_factor"),
        (["d.csv", "--target", "y", "--out", "nowhere/t.json"], "does not exist"),
    ],
)
def test_bad_input_gives_a_one_line_error_and_exit_code_2(
    tmp_path, monkeypatch, capsys, arguments, message
):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "d.csv", "a,y\n1,no\n2,yes\n")
    assert main(["grow", *arguments]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert not (tmp_path / "tree.json").exists()


def test_a_nominal_column_of_another_type_is_refused_rather_than_treated_as_missing():
    X = pd.DataFrame({"area": ["1", "2"] * 20, "x": np.arange(40.0)})
    model = kt.C45Classifier().fit(X, X["area"] == "1")
    for numbers in (X["area"].astype(int), X["area"].astype(int).astype("category")):
        with pytest.raises(ValueError, match="'area' holds numbers such as 1, but the tree knows"):
            model.predict(X.assign(area=numbers))
    unknown = model.predict(X.assign(area="3"))  # unseen text is treated as missing
    assert unknown.shape == (40,)


def test_booleans_in_a_csv_file_stay_booleans(tmp_path):
    (tmp_path / "d.csv").write_text("a,b,class\nTrue,true,True\nFalse,,False\n")
    X, y, _ = read_training(tmp_path / "d.csv", "class")
    assert y.dtype == bool
    assert X["a"].tolist() == [True, False]
    np.testing.assert_array_equal(X["b"], [1.0, np.nan])


def test_a_column_name_may_have_a_line_break(tmp_path):
    (tmp_path / "d.csv").write_text('"a\n(mm)",b\n1,2\n3,4\n')
    assert read_frame(tmp_path / "d.csv")[0].to_dict("list") == {"a\n(mm)": [1, 3], "b": [2, 4]}
