"""Every engine scores folders and globs of files completely or not at all."""

import shutil
import sys

import pandas as pd
import pytest

import keeptree as kt
from keeptree.cli import main
from tests.engines.tables import check_scored, fitted, new_cases

MODULES = {"local": "pyarrow", "duckdb": "duckdb", "dask": "dask.dataframe", "ray": "ray.data",
           "spark": "pyspark"}  # fmt: skip
every_engine = pytest.mark.parametrize("engine", MODULES)


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.fixture
def cases():
    return new_cases(200).drop(columns="day")  # pandas, Spark and Arrow write dates differently


@pytest.fixture
def folder(tmp_path, cases):
    """Return a folder with three Parquet files and the extra file that Spark writes."""
    data = tmp_path / "data"
    (data / "more").mkdir(parents=True)
    cases[:90].to_parquet(data / "a.parquet", index=False)
    cases[90:91].to_parquet(data / "b.parquet", index=False)
    cases[91:].to_parquet(data / "more" / "c.parquet", index=False)
    (data / "_SUCCESS").touch()
    return data


def need(engine):
    pytest.importorskip(MODULES[engine])
    if engine == "spark" and shutil.which("java") is None:
        pytest.skip("Java is not installed")


def in_order(found, engine):
    """Return the rows in the order of the input; Spark opens large files before small ones."""
    if engine != "spark":
        return found
    return found.sort_values("id", key=lambda ids: ids.str[5:].astype(int), ignore_index=True)


@every_engine
def test_a_folder_of_parquet_files_gives_a_folder_of_parquet_files(
    engine, model, folder, cases, tmp_path
):
    need(engine)
    out = tmp_path / "scored"
    summary = kt.predict_file(model, folder, out, keep=list(cases.columns), engine=engine)
    assert summary["rows"] == 200
    assert {place.suffix for place in out.iterdir()} == {".parquet"}
    found = pd.concat([pd.read_parquet(p) for p in sorted(out.iterdir())], ignore_index=True)
    check_scored(in_order(found, engine), model, cases)
    assert summary["second_opinions"] == found["second_opinion"].sum()
    assert [place.name for place in tmp_path.iterdir() if place.name[0] == "."] == []


@every_engine
def test_a_glob_of_csv_files_gives_one_csv_file(engine, model, cases, tmp_path):
    need(engine)
    cases[:150].to_csv(tmp_path / "x-1.csv", index=False)
    cases[150:].to_csv(tmp_path / "x-2.csv", index=False)
    out = tmp_path / "scored.csv"
    summary = kt.predict_file(model, tmp_path / "x-*.csv", out, keep=["id"], engine=engine)
    found = in_order(pd.read_csv(out, float_precision="round_trip"), engine)
    assert list(found.columns) == summary["columns"]
    check_scored(found, model, cases, kept=["id"])


@every_engine
def test_bad_data_give_a_clear_error_and_leave_no_files(engine, model, cases, tmp_path, capsys):
    need(engine)
    kt.save(model, tmp_path / "model.json")
    data = tmp_path / "data"
    data.mkdir()
    infinite = cases.assign(income=float("inf"))
    text = cases.assign(age="old")
    for frame, sentence in [
        (cases.drop(columns="area"), "lacks the column 'area', which the model needs"),
        (infinite, "contains infinity"),
        (text, "expects"),
    ]:
        frame.to_parquet(data / "a.parquet", index=False)
        before = sorted(tmp_path.rglob("*"))
        code = main(["predict", str(tmp_path / "model.json"), str(data), "--out",
                     str(tmp_path / "scored"), "--engine", engine])  # fmt: skip
        lines = capsys.readouterr().err.strip().splitlines()
        assert (code, sentence in lines[-1]) == (2, True), lines
        assert "Traceback" not in lines[-1]
        assert sorted(tmp_path.rglob("*")) == before


def test_an_output_folder_that_is_not_empty_is_never_replaced(model, folder, tmp_path):
    (tmp_path / "scored").mkdir()
    (tmp_path / "scored" / "old").write_text("precious")
    with pytest.raises(FileExistsError, match="scored exists and is not empty; choose another"):
        kt.predict_file(model, folder, tmp_path / "scored")
    assert (tmp_path / "scored" / "old").read_text() == "precious"


def test_a_folder_without_data_or_with_several_formats_is_refused(model, folder, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No file matches .*\*\.csv; check the name"):
        kt.predict_file(model, tmp_path / "*.csv", tmp_path / "scored")
    (folder / "d.csv").write_text("age\n3\n")
    with pytest.raises(
        ValueError, match=r"several formats \(3 .parquet and 1 .csv\); choose one with"
    ):
        kt.predict_file(model, folder, tmp_path / "scored")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="empty holds no data file; check the name"):
        kt.predict_file(model, tmp_path / "empty", tmp_path / "scored")


def test_an_empty_file_among_others_is_skipped(model, folder, cases, tmp_path):
    cases[:0].to_parquet(folder / "aa.parquet", index=False)
    assert kt.predict_file(model, folder, tmp_path / "scored.csv")["rows"] == 200


def test_one_output_file_has_the_types_of_the_first_input_file(model, folder, cases, tmp_path):
    """Integers in one file and fractions in another become one column of the output."""
    cases.assign(id=1.0).to_parquet(folder / "a.parquet", index=False)
    cases.assign(id=2).to_parquet(folder / "b.parquet", index=False)
    shutil.rmtree(folder / "more")
    kt.predict_file(model, folder, tmp_path / "scored.parquet", keep=["id"])
    assert pd.read_parquet(tmp_path / "scored.parquet")["id"].tolist() == [1.0] * 200 + [2.0] * 200
    cases.assign(id="x").to_parquet(folder / "b.parquet", index=False)
    with pytest.raises(ValueError, match=r"'id' holds double in the first rows and .*string later"):
        kt.predict_file(model, folder, tmp_path / "other.parquet", keep=["id"])
    assert not (tmp_path / "other.parquet").exists()


def test_an_engine_that_is_not_installed_is_reported_with_its_extra(
    model, folder, tmp_path, monkeypatch, capsys
):
    kt.save(model, tmp_path / "model.json")
    for engine, module in [("duckdb", "duckdb"), ("ray", "ray.data"), ("spark", "pyspark")]:
        monkeypatch.setitem(sys.modules, module, None)
        code = main(["predict", str(tmp_path / "model.json"), str(folder), "--out",
                     str(tmp_path / "scored"), "--engine", engine])  # fmt: skip
        assert code == 2
        assert f'pip install "keeptree[{engine}]"' in capsys.readouterr().err


def test_spark_without_java_raises_a_clear_error(model, folder, tmp_path, monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(ValueError, match="Spark needs Java, which was not found; install Java 17"):
        kt.predict_file(model, folder, tmp_path / "scored", engine="spark")


def test_options_are_passed_to_the_engine_and_must_be_key_value_pairs(
    model, cases, tmp_path, capsys
):
    pytest.importorskip("duckdb")
    kt.save(model, tmp_path / "model.json")
    cases.to_csv(tmp_path / "new.csv", sep="|", index=False)
    command = ["predict", str(tmp_path / "model.json"), str(tmp_path / "new.csv"), "--out",
               str(tmp_path / "scored.csv"), "--engine", "duckdb"]  # fmt: skip
    assert main([*command, "--option", "sep=|", "--option", "header=true"]) == 0
    assert len(pd.read_csv(tmp_path / "scored.csv")) == 200
    assert main([*command, "--option", "sep"]) == 2
    assert "--option 'sep' is not of the form KEY=VALUE" in capsys.readouterr().err
    assert main([*command, "--sep", "|"]) == 2
    assert "--sep requires --engine local; pass options of other" in capsys.readouterr().err
    assert main([*command, "--strict"]) == 2
    assert "--strict needs --engine local" in capsys.readouterr().err
