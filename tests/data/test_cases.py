"""Data files are read with the columns of a fitted model."""

import pytest

import keeptree as kt
from keeptree.data import cases
from tests.data.loans import draw


@pytest.fixture(scope="module")
def model():
    X = draw()[["age", "income", "area", "owner"]].astype({"area": "category"})
    return kt.SmoothedTreeClassifier().fit(X, draw()["risk"])


def test_blocks_keep_the_order_of_rows(model, tmp_path, monkeypatch):
    draw(3500).to_csv(tmp_path / "many.csv", index=False)
    monkeypatch.setattr(cases, "CELLS", 1)
    blocks = list(cases.read_blocks(tmp_path / "many.csv", model, ["id"]))
    assert [block.start for block in blocks] == [0, 1000, 2000, 3000]
    ids = [value.as_py() for block in blocks for value in block.kept["id"]]
    assert ids == draw(3500)["id"].tolist()
    assert blocks[-1].done == 1.0


def test_a_whole_file_equals_its_blocks(model, tmp_path, monkeypatch):
    draw(2500).to_csv(tmp_path / "d.csv", index=False)
    whole, y = cases.read_cases(model, tmp_path / "d.csv", "risk")
    assert list(y) == draw(2500)["risk"].tolist()
    monkeypatch.setattr(cases, "CELLS", 1)
    again, _ = cases.read_cases(model, tmp_path / "d.csv")
    assert again.equals(whole)
    row = cases.read_row(model, tmp_path / "d.csv", 2001)
    assert row.reset_index(drop=True).equals(whole.iloc[[2000]].reset_index(drop=True))
    with pytest.raises(ValueError, match="has 2500 rows, counted from 1; there is no row 2501"):
        cases.read_row(model, tmp_path / "d.csv", 2501)


def test_a_class_unknown_to_the_model_is_reported_with_its_row(model, tmp_path):
    frame = draw(30)
    for value, told in (("none", "'none'"), (None, "None")):
        frame.loc[7, "risk"] = value
        frame.to_parquet(tmp_path / "d.parquet")
        with pytest.raises(ValueError, match=f"'risk' is {told} in row 8, but the model knows"):
            cases.read_cases(model, tmp_path / "d.parquet", "risk")
