"""kt.export and keeptree export choose a format, check the export, and write all files or none."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

import keeptree as kt
from keeptree import exporters
from keeptree.cli import main
from keeptree.exporters.check import Answers, answers_of_python, compare
from keeptree.exporters.rows import sample_rows
from keeptree.exporters.subject import subject_of


@pytest.fixture(scope="module")
def model():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)


def test_the_file_extension_determines_the_format(model, tmp_path):
    done = kt.export(model, tmp_path / "tree.mmd")
    assert done.format == "mermaid"
    assert done.paths == (tmp_path / "tree.mmd",)
    assert (tmp_path / "tree.mmd").read_text() == kt.export(model, format="mermaid")


def test_every_export_names_the_tree_and_the_version(model):
    text = kt.export(model, format="mermaid")
    assert model.tree_.digest in text
    assert kt.__version__ in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"to": "tree.doc"}, "is not that of an export format"),
        ({"to": None}, "Give a file to write, or a format"),
        ({"to": None, "format": "mermeid"}, "did you mean 'mermaid'"),
        ({"to": None, "format": "mermaid", "dialect": "duckdb"}, "no option 'dialect'"),
    ],
)
def test_an_unknown_format_or_option_raises_a_clear_error(model, arguments, message):
    with pytest.raises(ValueError, match=message):
        kt.export(model, **arguments)


def test_a_regression_tree_is_refused():
    X, y = load_iris(return_X_y=True)
    tree = kt.TreeRegressor(max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match="Regression trees cannot be exported"):
        kt.export(tree, format="mermaid")


class Wrong:
    """A format whose target gives different answers from Python."""

    def __init__(self, change):
        self.change = change

    def write(self, subject):
        return {".mmd": "main", ".more": "beside"}

    def run(self, files, subject, rows):
        answers = answers_of_python(subject, rows.X)
        return self.change(answers)


@pytest.fixture
def replaced(monkeypatch):
    def replace(change):
        monkeypatch.setattr(exporters, "import_module", lambda name: Wrong(change))

    return replace


@pytest.mark.parametrize(
    "change",
    [
        lambda a: Answers((a.label + 1) % 3, a.leaf, a.probability),
        lambda a: Answers(a.label, a.leaf + 1, a.probability),
        lambda a: Answers(a.label, a.leaf, a.probability + 2e-12),
        lambda a: Answers(a.label, a.leaf, np.full_like(a.probability, np.nan)),
    ],
    ids=["label", "leaf", "probability", "NaN"],
)
def test_an_export_that_differs_from_python_is_not_written(model, replaced, tmp_path, change):
    replaced(change)
    with pytest.raises(ValueError, match="different on 1000 of 1000 rows"):
        kt.export(model, tmp_path / "tree.mmd")
    assert list(tmp_path.iterdir()) == []


def test_an_export_that_agrees_with_python_is_reported_as_equal(model, replaced, tmp_path):
    replaced(lambda answers: answers)
    done = kt.export(model, tmp_path / "tree.mmd", check=200)
    assert done.checked == "equal on 200 of 200 rows"
    assert [path.name for path in done.paths] == ["tree.mmd", "tree.more"]


def test_a_target_that_is_not_installed_is_named(model, replaced, tmp_path):
    replaced(lambda answers: "duckdb is not installed")
    assert kt.export(model, tmp_path / "t.mmd").checked == "not checked: duckdb is not installed"


def test_a_second_file_that_already_exists_is_replaced_only_with_overwrite(
    model, replaced, tmp_path
):
    replaced(lambda answers: answers)
    (tmp_path / "tree.more").write_text("mine")
    with pytest.raises(ValueError, match=r"tree\.more already exists"):
        kt.export(model, tmp_path / "tree.mmd")
    assert not (tmp_path / "tree.mmd").exists()
    kt.export(model, tmp_path / "tree.mmd", overwrite=True)
    assert (tmp_path / "tree.more").read_text() == "beside"


def test_the_check_covers_both_sides_of_every_test(model):
    subject = subject_of(model)
    rows = sample_rows(subject, 1000)
    reached = model.tree_.decision_path(rows.X).sum(axis=0)
    assert (np.asarray(reached) > 0).all()
    for f, at in zip(model.tree_.feature, model.tree_.threshold, strict=True):
        if f >= 0:
            for value in (at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf), np.float32(at)):
                assert (rows.X[:, f] == value).any()
    assert np.isnan(rows.X).any()


def test_differences_are_counted_per_row():
    ours = Answers(np.array([0, 1]), np.array([1, 2]), np.eye(2))
    theirs = Answers(np.array([0, 0]), np.array([1, 2]), np.array([[1, 1e-13], [0, 1]]))
    found = compare(ours, theirs)
    assert (found.labels, found.leaves, found.wrong) == (1, 0, 1)
    assert found.probability == pytest.approx(1e-13, rel=1e-3)


@pytest.fixture
def saved(model, tmp_path):
    kt.save(model, tmp_path / "model.json")
    return tmp_path / "model.json"


def test_the_command_writes_the_file_and_reports_it(saved, tmp_path, capsys):
    assert main(["export", str(saved), "--to", str(tmp_path / "a.mmd")]) == 0
    assert "Saved as" in capsys.readouterr().out
    assert main(["export", str(saved), "--to", str(tmp_path / "a.mmd"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == exporters.SCHEMA
    assert told["paths"] == [str(tmp_path / "a.mmd")]


def test_the_command_prints_the_text_if_no_file_is_given(saved, capsys):
    assert main(["export", str(saved), "--format", "mermaid"]) == 0
    assert "flowchart TD" in capsys.readouterr().out


def test_the_command_exports_the_tree_of_a_model(saved, model, tmp_path, capsys):
    assert (
        main(["export", str(saved), "--tree", "--to", str(tmp_path / "a.py"), "--check", "9"]) == 0
    )
    assert "Equal on 9 of 9 rows" in capsys.readouterr().out
    assert (tmp_path / "a.py").read_text() == kt.export(model.tree_, format="python")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--to", "a.doc"],
        ["--to", "missing/a.mmd"],
        [],
        ["--json"],
        ["--format", "mermaid", "--check", "-1"],
        ["--to", "."],
        ["--to", "a.sql", "--dialect", "mysql"],
        ["--to", "a.sql", "--table", ""],
        ["--to", "a.sql", "--view", "v", "--form", "select"],
        ["--to", "a.py", "--dialect", "duckdb"],
        ["--to", "a.c", "--prefix", "1 bad"],
        ["--to", "nowhere/a.onnx"],
    ],
)
def test_invalid_input_prints_one_sentence(saved, tmp_path, arguments, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(saved), *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json"]


def test_the_model_itself_is_not_overwritten(saved, capsys):
    assert main(["export", str(saved), "--to", str(saved), "--format", "mermaid"]) == 2
    assert "is read by this command" in capsys.readouterr().err
