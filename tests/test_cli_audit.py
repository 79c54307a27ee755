"""``keeptree audit`` on the command line."""

import json

import pytest

import keeptree as kt
from keeptree.cli import main
from tests.auditing.test_audit import draw


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    for name, n, seed, income in (("train", 1500, 0, 0), ("same", 800, 1, 0), ("moved", 800, 2, 1)):
        X, y = draw(n, seed, income=income)
        X.assign(outcome=y).to_csv(folder / f"{name}.csv", index=False)
    model = kt.fit_file(folder / "train.csv", "outcome", tree=kt.C45Classifier(min_samples_leaf=40))
    kt.save(model, folder / "model.json")
    return folder


def run(folder, *options):
    return main(["audit", str(folder / "model.json"), *map(str, options)])


def test_the_exit_code_is_1_if_a_chosen_alarm_is_raised(folder, capsys):
    assert run(folder, folder / "same.csv", "--fail-on", "drift", "--fail-on", "accuracy") == 0
    assert "No alarm" in capsys.readouterr().out
    assert run(folder, folder / "moved.csv") == 0
    assert run(folder, folder / "moved.csv", "--fail-on", "drift") == 1
    assert run(folder, folder / "moved.csv", "--fail-on", "accuracy,drift") == 1
    assert "the data have changed in income" in capsys.readouterr().out


def test_an_accuracy_that_cannot_be_estimated_fails_the_accuracy_alarm(folder, capsys, tmp_path):
    X, _ = draw(500, 3)
    X.assign(income=X["income"] / 1000).to_csv(tmp_path / "units.csv", index=False)
    assert run(folder, tmp_path / "units.csv", "--fail-on", "accuracy") == 1
    assert "cannot be estimated" in capsys.readouterr().out


def test_the_help_tells_what_the_alarms_mean(capsys):
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "the probabilities no longer fit the outcomes" in told


def test_a_column_of_outcomes_is_recognised_if_no_target_is_given(folder, capsys, tmp_path):
    assert run(folder, folder / "same.csv") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "does not know them: outcome. outcome contains classes of the tree" in told
    assert "give them with --target outcome" in told
    assert run(folder, folder / "same.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["likely_target"] == "outcome"
    X, y = draw(50, 4)
    X.assign(shop="repaid?", outcome=y).to_csv(tmp_path / "more.csv", index=False)
    model = kt.load(folder / "model.json")
    assert kt.audit_file(model, tmp_path / "more.csv").likely_target == "outcome"
    assert kt.audit(model, X.assign(shop="x", outcome=y)).likely_target == "outcome"
    assert kt.audit(model, X.assign(shop="x", outcome=y), y).likely_target is None
    both = X.assign(first=y, second=y)  # which of them is not known
    assert kt.audit(model, both).likely_target is None


def test_json_and_page_have_the_same_verdict(folder, capsys, tmp_path):
    page = tmp_path / "audit.html"
    code = run(folder, folder / "moved.csv", "--target", "outcome", "--json", "--out", page)
    found = json.loads(capsys.readouterr().out)
    assert code == 0
    assert found["schema"] == 1
    assert found["alarms"]["drift"]
    assert found["verdict"].split(";")[0] in page.read_text()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["missing.csv"], "missing.csv"),
        (["same.csv", "--target", "nothing"], "nothing"),
        (["same.csv", "--target", "nope"], "There is no column 'nope'; choose from age, income"),
        (["same.csv", "--out", "page.txt"], "use the extension .html"),
        (["missing.csv", "--alpha", "2"], "audit: --alpha 2 is not a probability"),
        (["same.csv", "--fail-on", "weather"], "invalid choice"),
        (["same.csv", "--fail-on", "drift,weather"], "invalid choice: 'weather' (choose from d"),
    ],
)
def test_bad_input_gives_a_one_line_error_and_exit_code_2(
    folder, capsys, monkeypatch, options, sentence
):
    monkeypatch.chdir(folder)
    try:
        code = run(folder, *options)
    except SystemExit as exit:
        code = exit.code
    assert code == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
