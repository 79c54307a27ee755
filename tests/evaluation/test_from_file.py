"""``keeptree compare``: tables, pictures and figures from a data file."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from keeptree import cli
from keeptree.evaluation.models import DEFAULT, MODELS, make_models

FEW = ["--models", "laplace,kernel", "--splits", "2", "--jobs", "1", "--metrics", "auc,brier"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a file with a nominal column and missing values."""
    bunch = load_breast_cancer(as_frame=True)
    frame = bunch.data.iloc[::3, :5].copy()
    frame["shape"] = np.where(frame.iloc[:, 0] > 14, "large", "small")
    frame.iloc[::9, 1] = np.nan
    frame["diagnosis"] = bunch.target_names[bunch.target[::3]]
    path = tmp_path_factory.mktemp("data") / "cancer.csv"
    frame.to_csv(path, index=False)
    return str(path)


def run(data, *arguments, code=0):
    assert cli.main(["compare", data, "--target", "diagnosis", *arguments]) == code


def test_tables_pictures_and_figures_are_written(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    out = tmp_path / "new" / "folder"
    run(data, *FEW, "--out", str(out), "--positive", "malignant", "--costs", "[[0,1],[5,0]]")
    text = capsys.readouterr().out
    for word in ("190 cases, 2 classes, repeated-holdout, 2 splits", "laplace", "cost ↓",
                 "Difference from laplace", f"Written: {out / 'comparison.md'}"):  # fmt: skip
        assert word in text
    pictures = {"differences.png", "roc.png", "reliability.png"}
    files = {"comparison.md", "comparison.json", "results.jsonl", *pictures}
    assert {path.name for path in out.iterdir()} == files
    markdown = (out / "comparison.md").read_text()
    assert markdown.startswith("# cancer.csv: diagnosis\n")
    assert all(f"]({name})" in markdown for name in pictures)
    figures = json.loads((out / "comparison.json").read_text())
    assert figures["classes"] == ["benign", "malignant"]
    assert f"{figures['means'][0]['mean']:.3f}" in text


def test_json_prints_only_the_figures_and_a_rerun_reuses_results(data, tmp_path, capsys):
    for _ in range(2):
        run(data, *FEW, "--out", str(tmp_path), "--json")
        figures = json.loads(capsys.readouterr().out)
        assert figures["models"] == ["laplace", "kernel"]
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 4


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("typed", ["1", "1.0"])
def test_the_positive_class_may_be_a_number(tmp_path, capsys, suffix, typed):
    cancer = load_breast_cancer(as_frame=True)
    frame = cancer.data.iloc[::5, :3].assign(sick=1 - cancer.target[::5], group=1)
    path = tmp_path / f"numbers.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    options = [*FEW, "--out", str(tmp_path / "out"), "--json"]
    for positive, labels in ((typed, [0, 1]), ("0", [1, 0])):
        command = ["compare", str(path), "--target", "sick", "--positive", positive, *options]
        assert cli.main(command) == 0
        assert json.loads(capsys.readouterr().out)["classes"] == labels


def test_learning_curves(data, tmp_path, capsys):
    run(data, *FEW, "--out", str(tmp_path), "--learning-curve", "arithmetic")
    assert (tmp_path / "learning.png").exists()
    assert "| AUC | 13 | 25 |" in (tmp_path / "comparison.md").read_text()
    assert len(json.loads((tmp_path / "comparison.json").read_text())["learning"]) == 2 * 2 * 10


def test_an_infinite_loss_is_drawn_and_written(tmp_path, capsys):
    path = tmp_path / "noise.csv"
    # Every ninth case differs in class from its neighbours, so a forest gives its class
    # probability 0.
    rows = [f"{x},{'ab'[(x >= 60) ^ (x % 9 == 4)]}" for x in range(120)]
    path.write_text("\n".join(["x,class", *rows]))
    command = ["compare", str(path), "--target", "class", "--models", "laplace,forest",
               "--metrics", "log_loss_unclipped", "--learning-curve", "arithmetic", "--splits", "2",
               "--jobs", "1", "--out", str(tmp_path / "out"), "--json"]  # fmt: skip
    assert cli.main(command) == 0
    forest = json.loads(capsys.readouterr().out)["means"][1]
    assert (forest["mean"], forest["n_infinite"]) == (None, 2)
    written = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert written["learning"][-1]["mean"] is None
    assert (tmp_path / "out" / "differences.png").exists()


def test_every_model_accepts_nominal_columns_and_missing_values(data, tmp_path, capsys):
    run(data, "--models", ",".join(MODELS), "--splits", "1", "--jobs", "1", "--metrics", "auc",
        "--out", str(tmp_path), "--json")  # fmt: skip
    figures = json.loads(capsys.readouterr().out)
    assert figures["failures"] == []
    assert all(entry["mean"] > 0.6 for entry in figures["means"])
    assert set(DEFAULT) <= set(MODELS)
    assert list(make_models()) == list(DEFAULT)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--models", "laplas"], "There is no model 'laplas'; did you mean 'laplace'?"),
        (["--metrics", "auk"], "There is no metric 'auk'; did you mean 'auc'?"),
        (["--protocol", "loo"], "There is no protocol 'loo'; choose from holdout"),
        (["--baseline", "forrest"], "There is no model 'forrest'; did you mean 'forest'?"),
        (["--positive", "sick"], "There is no class 'sick'; choose from benign, malignant."),
        (["--drop", "diagnosis"], "The target 'diagnosis' cannot be dropped"),
        (
            ["--costs", "[[0,1,1],[1,0,1],[1,1,0]]"],
            "in this order: benign, malignant",
        ),
        (["--jobs", "0"], "n_jobs is 0; give a number of processes"),
        (["--out", "{file}"], "is a file; give the name of a folder to write to."),
    ],
)
def test_invalid_input_prints_one_sentence_and_exits_with_code_2(
    data, tmp_path, capsys, arguments, says
):
    arguments = [argument.format(file=data) for argument in arguments]
    out = ["--out", str(tmp_path / "out")]
    run(data, *out, *arguments, code=2)
    error = capsys.readouterr().err
    assert says in error
    assert error.startswith("keeptree compare: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize("costs", ["5", "[[0,1]]", "[[0,1],[1]]", '[["a","b"],["c","d"]]', "{"])
def test_costs_must_be_a_square_matrix(data, costs, capsys):
    with pytest.raises(SystemExit) as end:
        run(data, "--costs", costs)
    assert end.value.code == 2
    assert "is not a square matrix of numbers as JSON" in capsys.readouterr().err


def test_an_empty_list_of_models_is_refused(data, capsys):
    with pytest.raises(SystemExit, match="2"):
        run(data, "--models", ",")
    assert "--models: give at least one name, or omit the option" in capsys.readouterr().err


def test_an_unknown_target_is_refused_with_a_suggestion(data, capsys):
    assert cli.main(["compare", data, "--target", "diagnoses"]) == 2
    assert "did you mean 'diagnosis'" in capsys.readouterr().err


def test_without_matplotlib_a_message_says_that_pictures_are_left_out(
    data, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("keeptree.evaluation.from_file.find_spec", lambda name: None)
    run(data, *FEW, "--out", str(tmp_path), "--drop", "shape", "--json")
    assert 'left out because matplotlib is not installed; run: pip install "keeptree[plot]"' in (
        capsys.readouterr().err
    )
    assert not list(tmp_path.glob("*.png"))
