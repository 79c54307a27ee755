"""``keeptree fit`` on folders, globs and samples: its output and the saved model."""

import pytest

import keeptree as kt
from keeptree.cli import main
from tests.data.loans import draw


@pytest.fixture
def folder(tmp_path):
    loans = draw(1200).drop(columns="id")
    (tmp_path / "data").mkdir()
    loans[:500].to_csv(tmp_path / "data" / "a.csv", index=False)
    loans[500:].to_csv(tmp_path / "data" / "b.csv", index=False)
    return tmp_path / "data"


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_fit_counts_all_rows_of_a_folder_and_learns_from_a_sample(engine, folder, tmp_path, capsys):
    if engine == "dask":
        pytest.importorskip("dask.dataframe")
    out = tmp_path / "model.json"
    command = ["fit", str(folder), "--target", "risk", "--method", "soft", "--out", str(out),
               "--sample", "300", "--seed", "5", "--engine", engine]  # fmt: skip
    assert main(command) == 0
    assert "Counted 1200 rows of data; learned from 300 rows, seed 5." in capsys.readouterr().out
    model = kt.load(out)
    assert model.tree_.weight[0] == 1200
    loans = draw(1200)
    accuracy = (model.predict(loans) == loans["risk"]).mean()
    assert accuracy > 0.7


def test_a_kept_tree_keeps_its_decisions_and_categories(folder, tmp_path):
    loans = draw(300)
    tree = kt.keep(kt.C45Classifier().fit(loans[["age", "area", "owner"]], loans["risk"]))
    tree.save(tmp_path / "tree.json")
    out = tmp_path / "model.json"
    assert main(["fit", str(folder), "--target", "risk", "--tree", str(tmp_path / "tree.json"),
                 "--method", "soft", "--out", str(out), "--sample", "300"]) == 0  # fmt: skip
    model = kt.load(out)
    columns = loans[["age", "area", "owner"]]
    assert model.predict(columns).tolist() == tree.predict(columns).tolist()
    assert model.tree_.weight[0] == 1200


def test_bad_options_give_a_clear_error_and_write_nothing(folder, tmp_path, capsys):
    command = ["fit", str(folder), "--target", "risk", "--out", str(tmp_path / "m.json")]
    assert main([*command, "--target", "rsik"]) == 2
    assert "There is no column 'rsik'; did you mean 'risk'?" in capsys.readouterr().err
    assert main([*command, "--sep", ";"]) == 2
    assert "--sep applies to files that are read as a whole" in capsys.readouterr().err
    assert main([*command, "--option", "x=1"]) == 2
    assert "The local engine has no option 'x'" in capsys.readouterr().err
    assert main([*command, "--sample", "0"]) == 2
    assert "sample=0 must be an integer of at least 10" in capsys.readouterr().err
    assert not (tmp_path / "m.json").exists()
