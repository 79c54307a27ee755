"""The everyday commands: fit, predict, explain and report, with good and bad input."""

import json
import os
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.cli import main
from keeptree.data.cases import read_row
from keeptree.reporting.from_data import report_file
from tests.data.loans import draw
from tests.test_cli import keeptree


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    draw().to_csv(folder / "loans.csv", index=False)
    draw().drop(columns="id").to_csv(folder / "train.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def saved(folder):
    out = folder / "model.json"
    call = ["fit", str(folder / "train.csv"), "--target", "risk", "--nominal", "area"]
    assert main([*call, "--method", "smoothed", "--out", str(out)]) == 0
    return out


@pytest.fixture(autouse=True)
def _inside(folder, monkeypatch):
    monkeypatch.chdir(folder)


FIT = ["fit", "train.csv", "--target", "risk", "--nominal", "area", "--method", "smoothed"]


def test_fit_prints_a_summary_and_saves_a_model(capsys, folder):
    assert main([*FIT, "--max-depth", "2", "--out", "small.json"]) == 0
    printed = capsys.readouterr().out
    assert "and fitted SmoothedTreeClassifier to it." in printed
    assert "Saved as small.json." in printed  # relative to the current folder
    assert kt.load("small.json").tree_.max_depth == 2
    assert main([*FIT, "--out", "small.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["classes"] == ["high", "low"]


def test_fit_calibrates_on_held_out_cases(capsys, saved):
    draw(120, seed=7).to_csv("held_out.csv", index=False)
    kt.load(saved).tree_.save("kept.json")
    call = [*FIT, "--tree", "kept.json", "--calibrate", "held_out.csv", "--out", "sets.json"]
    assert main(call) == 0
    assert (
        "Class sets and intervals are calibrated on 120 held-out cases." in capsys.readouterr().out
    )
    model = kt.load("sets.json")
    assert model.calibration_.source == "held out"
    assert main(["predict", "sets.json", "loans.csv", "--set", "--out", "sets.csv"]) == 0
    sets = pd.read_csv("sets.csv")["set"].fillna("")
    loans = pd.read_csv("loans.csv", dtype={"area": str})
    expected = model.predict_set(loans[list(model.feature_names_in_)])
    for at, label in enumerate(model.classes_):
        np.testing.assert_array_equal(sets.str.contains(label), expected[:, at])


def test_predict_says_which_kind_of_interval_it_writes(capsys, saved):
    draw(120, seed=7).to_csv("held_out.csv", index=False)
    kt.load(saved).tree_.save("kept.json")
    fit = [*FIT[:-1], "kept", "--tree", "kept.json", "--calibrate", "held_out.csv"]
    assert main([*fit, "--out", "calibrated.json"]) == 0
    assert main([*FIT[:-1], "kept", "--out", "grown.json"]) == 0
    capsys.readouterr()
    for model, kind in (("calibrated.json", "calibration"), ("grown.json", "case")):
        call = ["predict", model, "loans.csv", "--out", "ends.csv"]
        assert main([*call, "--interval"]) == 0
        assert f"(kind: {kind})" in capsys.readouterr().out
        assert main([*call, "--interval", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["interval"] == kind
        assert main([*call, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["interval"] is None


def test_grow_limits_the_number_of_leaves(capsys):
    call = ["grow", "train.csv", "--target", "risk", "--nominal", "area", "--pruning", "none"]
    assert main([*call, "--max-leaves", "3", "--out", "three.json"]) == 0
    assert "Saved as three.json." in capsys.readouterr().out
    assert 1 < kt.load("three.json").n_leaves <= 3


def test_fit_keeps_a_tree(capsys, saved):
    kt.load(saved).tree_.save("tree.json")
    assert main([*FIT[:-1], "kernel", "--tree", "tree.json", "--out", "kept.json"]) == 0
    assert "Kept a tree with" in capsys.readouterr().out
    assert kt.load("kept.json").tree_.to_dict() == kt.load(saved).tree_.to_dict()


def test_fit_grows_a_cart_tree_on_numbers(capsys):
    draw()[["age", "owner", "risk"]].to_csv("numbers.csv", index=False)
    call = ["fit", "numbers.csv", "--target", "risk", "--method", "smoothed", "--learner", "cart"]
    assert main([*call, "--max-leaves", "5", "--out", "cart.json"]) == 0
    assert "a tree with 5 leaves" in capsys.readouterr().out


def test_predict_writes_a_file(capsys, saved):
    call = ["predict", str(saved), "loans.csv", "--keep", "id"]
    assert main([*call, "--out", "scored.parquet"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("400 rows scored.\n")
    assert main([*call, "--out", "scored.csv", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["rows"] == 400
    assert summary["second_opinions"] == 0
    assert "Our estimate agrees with the tree on every row.\n" in told
    frame = pd.read_csv("scored.csv", float_precision="round_trip")
    pd.testing.assert_frame_equal(frame, pd.read_parquet("scored.parquet"), check_exact=True)


def test_predict_counts_the_rows_on_which_the_estimate_disagrees(capsys):
    assert main([*FIT[:-1], "kernel", "--max-depth", "2", "--out", "kernel.json"]) == 0
    assert main(["predict", "kernel.json", "loans.csv", "--out", "scored.csv"]) == 0
    n = int(pd.read_csv("scored.csv")["second_opinion"].sum())
    assert n > 1
    told = f"Our estimate disagrees with the tree on {n} rows; please check.\n"
    assert told in capsys.readouterr().out


def test_costs_decide_instead_of_the_tree(capsys):
    costs = '{"high": {"low": 50}}'
    assert main([*FIT[:-1], "kernel", "--costs", costs, "--out", "costs.json"]) == 0
    assert (
        "The model decides by the given costs instead of following the tree.\n"
        in capsys.readouterr().out
    )
    assert main(["predict", "costs.json", "loans.csv", "--out", "scored.csv"]) == 0
    scored = pd.read_csv("scored.csv")
    dear = scored["probability_high"] * 50 >= scored["probability_low"]
    assert (scored["prediction"] == np.where(dear, "high", "low")).all()
    model = kt.load("costs.json")
    tree, p = model.tree_, scored[["probability_high", "probability_low"]].to_numpy()
    own = tree.decide(model.encode(draw()))
    assert (scored["second_opinion"] == (p.argmax(axis=1) != own)).all()


@pytest.mark.parametrize(
    ("costs", "says"),
    [
        ("[[0, 1]]", "is not a square matrix of numbers as JSON"),
        ("[[0,1,1],[1,0,1],[1,1,0]]", "for each of 2 classes, in this order: high, low"),
        ('{"hgih": {"low": 5}}', "did you mean 'high'?"),
    ],
)
def test_invalid_costs_give_a_clear_error_and_exit_code_2(capsys, costs, says):
    with pytest.raises(SystemExit) as stop:
        raise SystemExit(main([*FIT, "--costs", costs, "--out", "none.json"]))
    assert stop.value.code == 2
    assert says in capsys.readouterr().err
    assert not Path("none.json").exists()


def test_predict_prints_nothing_but_csv_on_standard_output(saved, folder):
    done = keeptree("predict", str(saved), "loans.csv", "--out", "-", cwd=folder)
    assert len(done.stdout.splitlines()) == 401
    assert done.stdout.startswith('"prediction","probability_high"')
    assert done.stderr.startswith("Nothing new: ")
    assert done.stderr.count("\n") == 1


def write(name, text, encoding="utf-8"):
    with open(name, "w", encoding=encoding) as file:
        file.write(text)
    return name


def fit_text(name, text):
    """Return a function that writes a file with this text and returns the call that fits it."""
    return lambda model: ["fit", write(name, text), "--target", "y"]


def newer(model):
    document = json.loads(model.read_text())
    return write("newer.json", json.dumps({**document, "version": 99}))


def many_values():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=5000), "y": [f"n{i}" for i in range(5000)]})
    frame.to_csv("many.csv", index=False)
    return "many.csv"


def odd_cells(name, cell):
    """Write a Parquet file with a column in which every cell is ``cell``."""
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4], "odd": [cell] * 4, "y": list("abab")})
    frame.to_parquet(name)
    return name


BAD = {
    "a table instead of a tree": (
        lambda m: ["keep", "train.csv", "--out", "o.json"],
        "train.csv is a table of cases, not a tree; grow a tree from it with keeptree grow",
    ),
    "calibration on the training cases": (
        lambda m: [*FIT, "--calibrate", "train.csv", "--out", "o.json"],
        "--calibrate train.csv is the file that the model is fitted to",
    ),
    "calibration of a ranking": (
        lambda m: [*FIT[:-1], "rank", "--calibrate", "loans.csv", "--out", "o.json"],
        "the method 'rank' only ranks",
    ),
    "sets without calibration": (
        lambda m: ["predict", str(m), "loans.csv", "--set", "--out", "o.csv"],
        "--set needs a calibrated model",
    ),
    "a column of lists": (
        lambda m: ["fit", odd_cells("lists.parquet", [1, 2]), "--target", "y"],
        "The column 'odd' holds lists instead of single values",
    ),
    "a column of infinite numbers": (
        lambda m: ["fit", odd_cells("inf.parquet", np.inf), "--target", "y"],
        "The column 'odd' holds infinite numbers",
    ),
    "a truncated model": (
        lambda m: ["predict", write("cut.json", m.read_text()[:500]), "loans.csv", "--out", "-"],
        "cut.json is not a KeepTree file: it ends unexpectedly",
    ),
    "an empty model": (
        lambda m: ["predict", write("none.json", ""), "loans.csv", "--out", "o.csv"],
        "none.json is not a KeepTree file: it is empty.",
    ),
    "a text instead of a model": (
        lambda m: ["predict", write("hello.json", "hello"), "loans.csv", "--out", "o.csv"],
        "hello.json is not a KeepTree file: it is not JSON.",
    ),
    "a model that does not exist": (
        lambda m: ["predict", "nix.json", "loans.csv", "--out", "o.csv"],
        "nix.json does not exist or is not a file; check the name.",
    ),
    "an unknown encoding": (
        lambda m: ["fit", write("ru.csv", "x,y\nМосква,a\nТула,b\n", "cp1251"), "--target", "y"],
        "it is not in UTF-8; name its encoding with --encoding, for instance",
    ),
    "the home folder of an unknown user": (
        lambda m: ["fit", "~nobody-at-all/x.csv", "--target", "y"],
        "~nobody-at-all/x.csv: there is no such user; check the name.",
    ),
    "NUL bytes": (
        fit_text("nul.csv", "x,y\n1,a\n2\0,b\n"),
        "it contains NUL bytes, so it is damaged",
    ),
    "NUL bytes between other bytes": (
        lambda m: ["fit", write("n.csv", "x,y\n1,\x81\0\x8d\n", "latin-1"), "--target", "y"],
        "it contains NUL bytes, so it is damaged",
    ),
    "dates": (
        fit_text("dates.csv", "x,y\n2015-01-03,a\n2015-01-04,b\n"),
        "'x' holds dates such as '2015-01-03'; read them as days since 1970-01-01 with --dates",
    ),
    "dates with days and months in an unknown order": (
        lambda m: [*fit_text("d2.csv", "x,y\n1/2/2015,a\n2/3/2015,b\n")(m), "--dates", "days"],
        "none of them shows whether the day or the month comes first; give --dates dmy",
    ),
    "an ambiguous comma": (
        lambda m: [*fit_text("comma.csv", "x;y\n1,169;a\n2,300;b\n")(m), "--sep", ";"],
        "shows whether the comma marks decimals or thousands; give --decimal , or --thousands ,",
    ),
    "an option of another format": (
        lambda m: ["fit", "train.csv", "--target", "risk", "--sheet", "1"],
        "--sheet does not apply there; leave it out",
    ),
    "an encoding that does not exist": (
        lambda m: ["fit", "train.csv", "--target", "risk", "--encoding", "utf-9"],
        "--encoding 'utf-9' is not an encoding that Python knows",
    ),
    "a missing target": (
        lambda m: ["fit", "train.csv", "--target", "rsik"],
        "There is no column 'rsik'; did you mean 'risk'?",
    ),
    "a target with 5000 values": (
        lambda m: ["fit", many_values(), "--target", "y"],
        "has 5000 distinct values, which look like an identifier or a measurement",
    ),
    "a target with nearly one value per row": (
        fit_text("id.csv", "x,y\n" + "".join(f"{k % 7},{k % 25}\n" for k in range(40))),
        "The target 'y' has 25 distinct values in 40 rows, so it looks like an identifier or a",
    ),
    "a target of fractions": (
        fit_text("f.csv", "x,y\n1,0.5\n2,1.5\n"),
        "holds fractions such as 0.5, which look like a measurement, not like classes",
    ),
    "a target with one value": (
        fit_text("one.csv", "x,y\n1,a\n2,a\n"),
        "has only one value",
    ),
    "a target with one value in a report": (
        lambda m: ["report", write("one.csv", "x,y\n1,a\n2,a\n"), "--target", "y"],
        "has only one value",
    ),
    "a target with one value for grow": (
        lambda m: ["grow", write("one.csv", "x,y\n1,a\n2,a\n"), "--target", "y", "--out", "g.json"],
        "has only one value",
    ),
    "two outputs on standard output": (
        lambda m: ["predict", str(m), "loans.csv", "--out", "-", "--json"],
        "--json and --out - both write to standard output",
    ),
    "missing labels": (
        fit_text("gap.csv", "x,y\n1,a\n2,\n3,b\n"),
        "The target 'y' is missing in 1 row; remove those rows",
    ),
    "an empty file": (
        fit_text("empty.csv", ""),
        "empty.csv cannot be read as CSV: it is empty; give a line with column names",
    ),
    "a header without rows": (
        fit_text("head.csv", "x,y\n"),
        "head.csv has no rows",
    ),
    "mixed types": (
        fit_text("mix.csv", "x,y\n1,a\n2,b\n3,b\nold,a\n"),
        "The column 'x' mixes numbers and text such as 'old'",
    ),
    "two columns with the same name": (
        fit_text("twice.csv", "x,x,y\n1,2,a\n"),
        "two columns are called 'x'",
    ),
    "text for a learner that needs numbers": (
        lambda m: [*FIT, "--learner", "cart"],
        "nominal",
    ),
    "an option of another learner": (
        lambda m: [*FIT, "--learner", "cart", "--confidence-factor", "0.1"],
        "The learner cart has no option --confidence-factor; leave it out",
    ),
    "options of a learner with a kept tree": (
        lambda m: [*FIT, "--tree", "tree.json", "--max-depth", "3"],
        "--tree keeps a tree as it is",
    ),
    "a model instead of a tree": (
        lambda m: [*FIT, "--tree", str(m)],
        "is a model, not a tree; keeptree report takes it as --model",
    ),
    "an option out of range": (lambda m: [*FIT, "--min-samples-leaf", "0"], "min_samples_leaf"),
    "a missing model": (
        lambda m: ["predict", "nowhere.json", "loans.csv", "--out", "o.csv"],
        "nowhere.json",
    ),
    "a model of a newer version": (
        lambda m: ["predict", newer(m), "loans.csv", "--out", "o.csv"],
        "this KeepTree reads versions up to",
    ),
    "model and data in the wrong order": (
        lambda m: ["predict", "loans.csv", m.name, "--out", "o.csv"],
        "The model comes first, then the data: model.json loans.csv.",
    ),
    "two separators": (
        fit_text("two.csv", "x;u,y\n1;2,a\n2;3,b\n"),
        "its columns may be separated by comma or semicolon; choose one with --sep",
    ),
    "a target that was dropped": (
        lambda m: ["fit", "train.csv", "--target", "risk", "--drop", "risk"],
        "The target 'risk' cannot be dropped",
    ),
    "data instead of a model": (
        lambda m: ["predict", "loans.csv", "loans.csv", "--out", "o.csv"],
        "loans.csv is not a KeepTree file",
    ),
    "other columns than the model's": (
        lambda m: ["predict", str(m), write("o.csv", "age,x\n1,2\n"), "--out", "p.csv"],
        "lacks the columns 'income', 'area', 'owner', which the model needs; it has 'x', 'age'",
    ),
    "a missing folder": (
        lambda m: ["predict", str(m), "loans.csv", "--out", "nowhere/o.csv"],
        "nowhere does not exist; create it",
    ),
    "the data as output": (
        lambda m: ["predict", str(m), "loans.csv", "--out", "./loans.csv"],
        "loans.csv is read by this command; choose another file for --out",
    ),
    "the model as output": (
        lambda m: ["predict", str(m), "loans.csv", "--out", str(m)],
        "is read by this command",
    ),
    "a row that does not exist": (
        lambda m: ["explain", str(m), "loans.csv", "--row", "401"],
        "loans.csv has 400 rows, counted from 1; there is no row 401",
    ),
    "the data as output of fit": (
        lambda m: [*FIT, "--out", "train.csv"],
        "train.csv is read by this command",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gives_a_one_line_error_and_writes_nothing(
    name, saved, folder, capsys, monkeypatch
):
    call, sentence = BAD[name]
    arguments = call(saved)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    if arguments[0] == "fit" and "--out" not in arguments:
        arguments = [*arguments, "--out", "new.json"]
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_columns_with_numbers_as_names_are_found(capsys, folder):
    frame = draw()[["age", "risk"]].set_axis([0, 1], axis=1)
    frame.to_parquet("numbered.parquet")
    call = ["fit", "numbered.parquet", "--target", "1", "--method", "smoothed", "--out", "n.json"]
    assert main(call) == 0
    assert main(["predict", "n.json", "numbered.parquet", "--out", "o.csv", "--json"]) == 0
    assert '"rows": 400' in capsys.readouterr().out


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_reported(saved, folder, capsys):
    (folder / "locked").mkdir(mode=0o555)
    assert main(["predict", str(saved), "loans.csv", "--out", "locked/o.csv"]) == 2
    assert "cannot be written (permission denied)" in capsys.readouterr().err


def test_a_report_without_a_tree_grows_one(capsys, folder):
    call = ["report", "train.csv", "--target", "risk", "--nominal", "area"]
    assert main([*call, "--out", "page.html", "--no-rows", "--title", "Loans <now>"]) == 0
    printed = capsys.readouterr().out
    assert f"Page: {folder / 'page.html'}" in printed
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "Loans &lt;now&gt;" in page
    assert "Loans <now>" not in page


def test_a_report_and_explain_use_the_same_row_numbers(saved, folder):
    frame = draw(60, seed=2).drop(columns="id")
    frame.to_csv("pat.csv", index=False)
    page = folder / "pat.html"
    for model in (None, kt.load(saved)):
        data = report_file("pat.csv", "risk", model=model, nominal=["area"], out=page)
        assert data["title"].startswith("risk: ")
        assert data["about"]["Data"] == "pat.csv, target risk, 60 rows."
        assert ("kept as it is" in data["about"]["Tree"]) == (model is not None)
        assert "named by its row of pat.csv; the first after the header is 1" in page.read_text()
        age = [attribute["name"] for attribute in data["attributes"]].index("age")
        for case in data["cases"]:
            told = case["values"][age]
            assert told == pytest.approx(frame["age"].iloc[int(case["id"]) - 1], nan_ok=True)
    story = kt.explain(model, read_row(model, "pat.csv", int(data["cases"][0]["id"]))).to_dict()
    assert story["decision"]["index"] == data["cases"][0]["decision"]


def test_a_report_measures_a_saved_model_on_unseen_cases(capsys, saved):
    draw(300, seed=1).to_csv("unseen.csv", index=False)
    call = ["report", "unseen.csv", "--target", "risk", "--model", str(saved)]
    assert main([*call, "--out", "model.html", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["n_test"] == 300
    assert figures["model"] == "SmoothedTreeClassifier"


def test_a_report_on_unknown_classes_is_refused(capsys, saved, folder):
    draw(30).assign(risk="odd").to_csv("odd.csv", index=False)
    call = ["report", "odd.csv", "--target", "risk", "--model", str(saved), "--out", "no.html"]
    assert main(call) == 2
    assert "'risk' is 'odd' in row 1, but the model knows high, low" in capsys.readouterr().err
    assert not (folder / "no.html").exists()


def test_explain_prints_the_story_of_one_row(capsys, saved):
    call = ["explain", str(saved), "loans.csv", "--row", "3"]
    decided = kt.load(saved).predict(draw()[["age", "income", "area", "owner"]])[2]
    assert main(call) == 0
    assert f"The tree decides {decided}." in capsys.readouterr().out
    assert main([*call, "--markdown"]) == 0
    assert "**" in capsys.readouterr().out
    assert main([*call, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["decision"]["class"] == decided


def test_a_report_on_a_kept_tree_finds_its_columns_by_name(capsys):
    frame = draw()
    tree = DecisionTreeClassifier(max_depth=2).fit(frame[["owner", "age"]], frame["risk"])
    kt.keep(tree).save("signed.json")
    call = ["report", "loans.csv", "--target", "risk", "--nominal", "area"]
    call += ["--tree", "signed.json"]
    assert main([*call, "--out", "signed.html", "--json"]) == 0
    assert "AUC" in capsys.readouterr().out
    frame.drop(columns="age").to_csv("no_age.csv", index=False)
    call[1] = "no_age.csv"
    assert main(call) == 2
    assert "no_age.csv lacks 'age', which the tree uses" in capsys.readouterr().err


def test_only_arff_files_need_the_arff_library(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "arff", None)
    assert main([*FIT, "--out", "without.json"]) == 0
    assert main(["grow", "x.arff", "--target", "y", "--out", "x.json"]) == 2
    assert "This needs arff" in capsys.readouterr().err


@pytest.mark.parametrize(("command", "name"), [("grow", "tree.json"), ("fit", "model.json")])
def test_an_existing_file_is_not_replaced_by_default(command, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("signed")
    draw()[["age", "risk"]].to_csv("d.csv", index=False)
    call = [command, "d.csv", "--target", "risk"]
    assert main(call) == 2
    sentence = f"keeptree {command}: {name} already exists; choose another file with --out.\n"
    assert capsys.readouterr().err == sentence
    assert (tmp_path / name).read_text() == "signed"
    if command == "grow":
        assert main([*call, "--out", name]) == 0
        assert kt.Tree.load(name).n_leaves > 1


def test_codes_with_leading_zeros_are_categories_and_identifiers_raise_a_warning(capsys):
    rows = [f"P{i:03d},{'01234' if i % 3 else '1234'},{'a' if i % 3 else 'b'}" for i in range(60)]
    write("codes.csv", "\n".join(["patient,zip,y", *rows]))
    call = ["fit", "codes.csv", "--target", "y", "--method", "smoothed", "--out", "codes.json"]
    assert main(call) == 0
    err = capsys.readouterr().err
    assert err.startswith("keeptree fit: The column 'patient' has nearly one category per case")
    assert err.count("\n") == 1
    assert main([*call, "--drop", "patient"]) == 0
    assert capsys.readouterr().err == ""
    assert kt.load("codes.json").tree_.categories == (("01234", "1234"),)
    assert "P001" not in Path("codes.json").read_text()
    assert main(["predict", "codes.json", "codes.csv", "--out", "codes_scored.csv"]) == 0
    assert pd.read_csv("codes_scored.csv")["prediction"].tolist() == [r[-1] for r in rows]


def test_grow_drops_columns_and_reads_numbers_as_categories():
    call = ["grow", "loans.csv", "--target", "risk", "--out", "dropped.json"]
    assert main([*call, "--drop", "id", "--nominal", "area"]) == 0
    tree = kt.Tree.load("dropped.json")
    assert "id" not in tree.feature_names
    assert tree.categories[tree.feature_names.index("area")] is not None


def test_a_target_that_looks_like_a_measurement_raises_a_warning(capsys):
    write("days.csv", "\n".join(["x,y", *(f"{i},{i % 25}" for i in range(100))]))
    call = ["fit", "days.csv", "--target", "y", "--method", "smoothed", "--out", "days.json"]
    assert main(call) == 0
    assert "The target has 25 classes, all of them numbers" in capsys.readouterr().err


def test_a_class_with_a_single_case_raises_a_warning_in_a_report(capsys):
    frame = draw()[["age", "owner", "risk"]]
    frame.loc[:9, "risk"] = [f"rare {i}" for i in range(10)]
    frame.to_csv("rare.csv", index=False)
    call = ["report", "rare.csv", "--target", "risk", "--json", "--out", "rare.html"]
    assert main(call) == 0
    err = capsys.readouterr().err
    assert "keeptree report: A class has a single case" in err
    assert "warnings.warn" not in err


def survivors(name="titanic.csv"):
    """Write a table with the classes 0 and 1, and return its name."""
    frame = draw().assign(Survived=lambda f: (f["risk"] == "low").astype(int))
    frame[["age", "income", "area", "owner", "Survived"]].to_csv(name, index=False)
    return name


@pytest.fixture
def numbered():
    call = ["fit", survivors(), "--target", "Survived", "--nominal", "area", "--method", "laplace"]
    assert main([*call, "--label", "1=survived", "--out", "titanic.json"]) == 0
    return "titanic.json"


def test_every_command_uses_the_class_names(capsys, numbered):
    assert "Classes: Survived = 0, survived." in capsys.readouterr().out
    explain = ["explain", numbered, "titanic.csv", "--row", "1"]
    main(explain)
    assert " survived" in capsys.readouterr().out
    main([*explain, "--label", "1=lived", "--label", "0=died", "--json"])
    story = json.loads(capsys.readouterr().out)
    assert story["names"] == ["died", "lived"]
    assert story["classes"] == [0, 1]
    data = ["titanic.csv", "--target", "Survived", "--nominal", "area", "--label", "1=lived"]
    main(["grow", *data, "--out", "named.json"])
    assert ": lived (" in capsys.readouterr().out
    assert kt.load("named.json").classes.tolist() == [0, 1]
    main(["report", *data, "--positive", "1", "--lock", "age", "--max-depth", "2", "--json"])
    figures = json.loads(capsys.readouterr().out)
    page = Path(figures["page"]).read_text(encoding="utf-8")
    assert "lived" in page
    main(["predict", numbered, "titanic.csv", "--label", "1=lived", "--out", "named.csv"])
    frame = pd.read_csv("named.csv")
    assert set(frame["prediction"]) == {"lived", "0"}
    assert "probability_lived" in frame.columns


def test_a_model_stores_class_names_but_predicts_the_classes_of_the_file(numbered):
    assert kt.load(numbered).class_names_ == ("Survived = 0", "survived")
    main(["predict", numbered, "titanic.csv", "--out", "plain.csv"])
    assert set(pd.read_csv("plain.csv")["prediction"]) == {0, 1}


def test_explain_respects_constraints_and_the_requested_number_of_changes(capsys, saved):
    call = ["explain", str(saved), "loans.csv", "--row", "3"]
    row = read_row(kt.load(saved), "loans.csv", 3)
    assert main([*call, "--n", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["change"]
    assert len(told["alternatives"]) == 1
    both = kt.nearest_change(kt.load(saved), row, n=2)[0]
    assert str(both).splitlines() == [
        told["sentence"],
        "Or it b" + told["alternatives"][0]["sentence"][1:],
    ]
    first = told["changes"][0]["name"]
    constraints = ["--lock", first, "--max-changes", "1", "--increase-only", "income"]
    assert main([*call, *constraints, "--bounds", "area=2,01", "--json"]) == 0
    story = json.loads(capsys.readouterr().out)
    wanted = kt.explain(
        kt.load(saved), row, fixed=[first], max_changes=1, increase_only=["income"],
        bounds={"area": ["2", "01"]},
    )  # fmt: skip
    assert story["change"] == json.loads(json.dumps(wanted.to_dict()["change"]))
    assert first not in [move["name"] for move in story["change"]["changes"]]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--lock", "Age"], "--lock names 'Age', which is not a column of the tree; did you mean"),
        (["--lock", "age,income"], "--lock age,income names several columns; repeat --lock for"),
        (["--cost", "Age=2"], "--cost names 'Age', which is not a column of the tree"),
        (["--increase-only", "Age"], "--increase-only names 'Age', which is not a column"),
    ],
)
def test_explain_names_the_option_that_has_an_unknown_column(capsys, saved, options, sentence):
    assert main(["explain", str(saved), "loans.csv", "--row", "3", *options]) == 2
    assert sentence in capsys.readouterr().err


def test_a_column_of_the_file_that_the_model_does_not_use_may_be_locked(capsys, saved):
    frame = pd.read_csv("loans.csv", dtype=str)
    frame.assign(number=range(len(frame))).to_csv("numbered_loans.csv", index=False)
    call = ["explain", str(saved), "numbered_loans.csv", "--row", "3"]
    stories = []
    for options in (["--lock", "age"], ["--lock", "number", "--lock", "age"]):
        assert main([*call, *options]) == 0
        stories.append(capsys.readouterr().out)
    assert stories[0] == stories[1]


def test_predict_reports_unfamiliar_values_and_strict_refuses_them(capsys, saved, folder):
    frame = draw(50, seed=3)
    frame.loc[:4, "area"] = "moon"
    frame.loc[5, "age"] = 140
    frame.to_csv("odd_loans.csv", index=False)
    call = ["predict", str(saved), "odd_loans.csv"]
    assert main([*call, "--out", "odd_scored.csv"]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("New since fitting: area has an unseen category (moon) in 5 rows, which")
    assert "age lies outside 18 to 89 in 1 row" in line
    assert main([*call, "--out", "odd_scored.csv", "--json"]) == 0
    new = json.loads(capsys.readouterr().out)["unfamiliar"]
    columns = frame[["age", "income", "area", "owner"]]
    assert new == json.loads(json.dumps(kt.unfamiliar(kt.load(saved), columns).to_dict()))
    before = (folder / "odd_scored.csv").read_bytes()
    for out in ("odd_scored.csv", "never.csv", "-"):
        assert main([*call, "--out", out, "--strict"]) == 2
        printed = capsys.readouterr()
        assert "odd_loans.csv was rejected, and nothing was written. New since" in printed.err
        assert printed.out == ""
    assert (folder / "odd_scored.csv").read_bytes() == before
    assert not (folder / "never.csv").exists()
    assert main(["predict", str(saved), "train.csv", "--strict", "--out", "good.csv"]) == 0


def test_a_misspelt_column_is_recognised(capsys, saved):
    draw(20, seed=6).rename(columns={"income": "Incom"}).to_csv("misspelt.csv", index=False)
    assert main(["predict", str(saved), "misspelt.csv", "--out", "never.csv"]) == 2
    error = capsys.readouterr().err
    assert "lacks the column 'income', which the model needs; did you mean 'Incom'?" in error
    assert error.count("\n") == 1


def test_intervals_of_a_model_that_is_not_calibrated_tell_the_command(capsys, saved):
    for option in ("--interval", "--set"):
        call = ["predict", str(saved), "train.csv", "--out", "never.csv", option]
        assert main(call) == 2
        error = capsys.readouterr().err
        assert f"{option} needs a calibrated model, and {saved} is not calibrated" in error
        assert "keeptree fit DATA --target COLUMN --calibrate FILE" in error
        assert "calibrate(X, y)" not in error


def test_strict_accepts_what_chance_explains(capsys, saved):
    """One value just outside the range is no reason to refuse the file of a nightly job."""
    frame = draw(200, seed=5)
    frame.loc[0, "age"] = 90
    frame.to_csv("one_outside.csv", index=False)
    call = ["predict", str(saved), "one_outside.csv", "--strict", "--out", "one_scored.csv"]
    assert main(call) == 0
    assert "age lies outside 18 to 89 in 1 row" in capsys.readouterr().out
    frame.loc[:30, "age"] = 90
    frame.to_csv("one_outside.csv", index=False)
    assert main(call) == 2
    assert "in 31 rows (15.5%, more than chance explains)" in capsys.readouterr().err


def test_predict_strict_prints_all_rows_on_standard_output(saved, folder):
    call = ["predict", str(saved), "train.csv", "--out", "-"]
    assert keeptree(*call, "--strict", cwd=folder).stdout == keeptree(*call, cwd=folder).stdout


def test_excel_safe_escapes_formulas_in_text(saved, folder):
    frame = draw(6, seed=4)
    frame["id"] = ["=1+1", "-5", "+cmd|x", "@SUM(A1)", "Anna", " =2"]
    frame.to_csv("formulas.csv", index=False)
    call = ["predict", str(saved), "formulas.csv", "--keep", "id", "--out", "safe.csv"]
    assert main(call) == 0
    assert pd.read_csv("safe.csv")["id"].iloc[0] == "=1+1"
    assert main([*call, "--excel-safe"]) == 0
    kept = pd.read_csv("safe.csv", dtype=str)["id"].tolist()
    assert kept == ["'=1+1", "-5", "'+cmd|x", "'@SUM(A1)", "Anna", "'=2"]


def test_a_comparison_that_cannot_run_leaves_no_folder(tmp_path, capsys):
    out = tmp_path / "deep" / "folder"
    call = ["compare", "train.csv", "--target", "risk", "--nominal", "area", "--out", str(out)]
    assert main([*call, "--splits", "0"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [[], ["--strict"]])
def test_predictions_are_printed_if_standard_output_accepts_only_text(saved, options):
    call = ["predict", str(saved), "train.csv", "--out", "-", *options]
    with redirect_stdout(StringIO()) as text:  # as in a notebook
        assert main(call) == 0
    assert main(["predict", str(saved), "train.csv", "--out", "answers.csv"]) == 0
    assert text.getvalue() == Path("answers.csv").read_text()


@pytest.mark.parametrize(
    ("option", "form"),
    [
        ("--bounds", "COLUMN=LOW:HIGH, or COLUMN=A,B,... for categories."),
        ("--cost", "COLUMN=NUMBER."),
        ("--step", "COLUMN=NUMBER."),
    ],
)
def test_an_option_without_a_value_is_refused_with_the_form_to_give(capsys, saved, option, form):
    assert main(["explain", str(saved), "loans.csv", "--row", "3", option, "age"]) == 2
    assert capsys.readouterr().err.endswith(f"{option} age is not valid; give {form}\n")


def test_explain_finds_the_only_row_with_a_value(capsys, saved):
    loans = pd.read_csv("loans.csv", dtype=str)
    loans.assign(customer=range(len(loans))).to_csv("named.csv", index=False)
    call = ["explain", str(saved), "named.csv"]
    assert main([*call, "--row", "18"]) == 0
    expected = capsys.readouterr().out
    for where in ("customer=17", "customer=17.0", f"id={loans['id'][17]}"):
        assert main([*call, "--where", where]) == 0
        assert capsys.readouterr().out == expected
    for where, message in (
        ("customer=nobody", "named.csv has no row with customer=nobody."),
        (f"risk={loans['risk'][0]}", "choose one of the rows 1, "),
        (f"risk={loans['risk'][0]}", " and others.\n"),
        ("nowhere=1", "There is no column 'nowhere'"),
        ("customer", "--where customer is not valid; give COLUMN=VALUE."),
    ):
        assert main([*call, "--where", where]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "test"),
    [([], "owner 0 ≤ 0, on the threshold"), (["--nominal", "owner"], "owner is False")],
)
def test_a_boolean_column_is_a_number_unless_it_is_declared_nominal(capsys, options, test):
    owner = np.arange(200) % 2 == 1
    risk = np.where(owner, "low", "high")
    pd.DataFrame({"owner": owner, "risk": risk}).to_csv("owners.csv", index=False)
    fit = ["fit", "owners.csv", "--target", "risk", "--method", "laplace", *options]
    assert main([*fit, "--out", "owners.json"]) == 0
    assert main(["explain", "owners.json", "owners.csv", "--row", "1"]) == 0
    assert f"1. {test}" in capsys.readouterr().out


def test_a_tree_without_tests_raises_a_warning_and_agreement_is_no_news(capsys):
    noise = np.random.default_rng(0).normal(size=(300, 2)).round(2)
    rows = [f"{a},{b},{'bad' if k % 50 == 0 else 'good'}" for k, (a, b) in enumerate(noise)]
    write("rare.csv", "\n".join(["a,b,y", *rows]))
    assert main(["fit", "rare.csv", "--target", "y", "--out", "leaf.json"]) == 0
    assert capsys.readouterr().err == (
        "keeptree fit: The tree has no tests, because C4.5 found none that is clearly better than "
        "always deciding good, so every case gets the same decision and probability. You can use "
        "the model as it is. To tell cases apart, grow a larger tree with keeptree grow "
        "--criterion gini --pruning none --no-collapse --max-leaves 20 and give it as --tree, or "
        "let the probabilities use all columns (--method kept-all).\n"
    )
    assert main(["predict", "leaf.json", "rare.csv", "--out", "leaf.csv"]) == 0
    told = capsys.readouterr().out
    assert "The tree has no tests, so it decides every row alike." in told
    assert "agrees" not in told


def test_a_report_on_a_tree_without_tests_advises_as_fit_does(capsys):
    noise = np.random.default_rng(0).normal(size=(300, 2)).round(2)
    rows = [f"{a},{b},{'bad' if k % 50 == 0 else 'good'}" for k, (a, b) in enumerate(noise)]
    write("rare.csv", "\n".join(["a,b,y", *rows]))
    assert main(["report", "rare.csv", "--target", "y"]) == 0
    assert capsys.readouterr().err == (
        "keeptree report: The tree has no tests, because C4.5 found none that is clearly better "
        "than always deciding good, so every case gets the same decision and probability. To tell "
        "cases apart, grow a larger tree on other cases with keeptree grow --criterion gini "
        "--pruning none --no-collapse --max-leaves 20 and give it as --tree.\n"
    )


def test_the_advice_of_a_report_has_been_tried_on_the_cases_that_grow_its_tree(capsys):
    """Weaker pruning grows a tree with tests on all cases here, but not on two thirds of them."""
    rng = np.random.default_rng(15)
    X, rare = rng.normal(size=(300, 3)).round(2), rng.random(300) < 0.06
    X[rare, 0] += 1
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=np.where(rare, "bad", "good"))
    frame.to_csv("part.csv", index=False)
    larger = kt.C45Classifier(confidence_factor=1).fit(frame[list("abc")], frame["y"])
    assert larger.tree_.n_leaves > 1
    report = ["report", "part.csv", "--target", "y"]
    assert main([*report, "--confidence-factor", "1"]) == 0
    assert "The tree has no tests" in capsys.readouterr().err
    assert main(report) == 0
    assert "--confidence-factor" not in capsys.readouterr().err


def test_how_a_file_was_read_is_told_once_if_larger_trees_are_tried(capsys):
    rows = [f"{k % 7};{k % 5},5;{'bad' if k % 50 == 0 else 'good'}" for k in range(300)]
    write("rare.csv", "\n".join(["a;b;y", *rows]))
    for command in (["fit", "--out", "leaf.json"], ["report"]):
        assert main([command[0], "rare.csv", "--target", "y", *command[1:]]) == 0
        told = capsys.readouterr().err
        assert "The tree has no tests" in told
        assert told.count("with decimal commas") == 1


@pytest.mark.parametrize(
    ("n", "share", "shift"), [(500, 0.02, 0.5), (2000, 0.02, 1.0), (5000, 0.01, 0.7)]
)
def test_the_advice_for_a_rare_class_grows_a_larger_tree(capsys, n, share, shift):
    rng = np.random.default_rng(0)
    X, rare = rng.normal(size=(n, 4)).round(2), rng.random(n) < share
    X[rare, 0] += shift
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=np.where(rare, "bad", "good"))
    frame.to_csv("rare.csv", index=False)
    fit = ["fit", "rare.csv", "--target", "y", "--method", "laplace"]
    assert main([*fit, "--out", "leaf.json"]) == 0
    told = capsys.readouterr().err
    assert "--confidence-factor" not in told  # it was tried, and does not help
    advice = told.split("keeptree grow ")[1].split(" and give it as --tree")[0].split()
    assert main(["grow", "rare.csv", "--target", "y", *advice, "--out", "larger.json"]) == 0
    assert main([*fit, "--tree", "larger.json", "--out", "larger_model.json"]) == 0
    assert "no tests" not in capsys.readouterr().err
    assert kt.load("larger.json").n_leaves > 1


def test_a_given_confidence_factor_that_prunes_too_much_is_advised_against(capsys):
    rows = [f"{k % 2},{'bad' if k % 7 < 3 + k % 2 else 'good'}" for k in range(100)]
    write("pruned.csv", "\n".join(["a,y", *rows]))
    fit = ["fit", "pruned.csv", "--target", "y", "--out", "leaf.json"]
    assert main([*fit, "--confidence-factor", "0.001"]) == 0
    told = capsys.readouterr().err
    assert "because C4.5 found none" not in told  # the option is the reason
    assert "To tell cases apart, prune less (--confidence-factor 1), or" in told


def test_the_reason_for_no_tests_names_the_class_without_control_characters(capsys):
    rows = [f"{k % 7},{'bad' if k % 50 == 0 else chr(27) + 'good'}" for k in range(300)]
    write("escape.csv", "\n".join(["a,y", *rows]))
    assert main(["fit", "escape.csv", "--target", "y", "--out", "leaf.json"]) == 0
    told = capsys.readouterr().err
    assert "clearly better than always deciding \ufffdgood, so" in told
    assert chr(27) not in told


def test_no_larger_tree_is_advised_if_none_can_be_grown(capsys):
    rows = [f"1,{'bad' if k % 50 == 0 else 'good'}" for k in range(300)]
    write("same.csv", "\n".join(["a,y", *rows]))
    fit = ["fit", "same.csv", "--target", "y", "--out", "leaf.json"]
    assert main(fit) == 0
    told = capsys.readouterr().err
    assert "Even an unpruned tree has no tests; give more cases or other columns." in told
    assert "keeptree grow" not in told


def test_no_option_is_advised_for_rows_that_cannot_be_read_again(capsys):
    rows = [f"{k % 7},{'bad' if k % 50 == 0 else 'good'}" for k in range(300)]
    write("rare.csv", "\n".join(["a,y", *rows]))
    fit = ["fit", "rare.csv", "--target", "y", "--out", "leaf.json", "--method", "laplace"]
    assert main([*fit, "--sample", "100"]) == 0
    assert capsys.readouterr().err.endswith(
        "To tell cases apart, give more cases or keep another tree.\n"
    )
