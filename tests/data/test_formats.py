"""Every data file format yields the same table."""

import bz2
import gzip
import io
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather

import keeptree as kt
from keeptree.data.files import ReadingNotice, file_columns, read_batches
from keeptree.data.frame import read_frame

RNG = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, 90).astype(float),
        "income": RNG.normal(30, 9, 90).round(2),
        "colour": RNG.choice(["red", "dark blue"], 90),
        "risk": RNG.choice(["high", "low"], 90),
    }
)
FRAME.loc[[3, 40], "age"] = np.nan
FRAME.loc[7, "colour"] = None
CSV = FRAME.to_csv(index=False)


def jsonl(frame):
    return frame.to_json(orient="records", lines=True)


def zstd(data):
    return pa.compress(data, codec="zstd", asbytes=True)


WRITERS = {
    "d.csv": lambda path: path.write_text(CSV),
    "d.txt": lambda path: path.write_text(CSV),
    "d.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "d.csv.gz": lambda path: path.write_bytes(gzip.compress(CSV.encode())),
    "d.csv.bz2": lambda path: path.write_bytes(bz2.compress(CSV.encode())),
    "d.csv.zst": lambda path: path.write_bytes(zstd(CSV.encode())),
    "d.jsonl": lambda path: path.write_text(jsonl(FRAME)),
    "d.jsonl.gz": lambda path: path.write_bytes(gzip.compress(jsonl(FRAME).encode())),
    "d.xlsx": lambda path: FRAME.to_excel(path, index=False),
    "d.parquet": lambda path: FRAME.to_parquet(path),
    "d.feather": lambda path: feather.write_feather(FRAME, str(path)),
}


def fitted():
    X = FRAME.drop(columns="risk")
    return kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, FRAME["risk"])


@pytest.fixture(params=WRITERS)
def file(request, tmp_path):
    path = tmp_path / request.param
    WRITERS[request.param](path)
    return path


def expect_same(frame):
    assert list(frame.columns) == list(FRAME.columns)
    for name in ("age", "income"):
        np.testing.assert_array_equal(frame[name].to_numpy(float), FRAME[name])
    for name in ("colour", "risk"):
        expected = FRAME[name].astype(object).where(FRAME[name].notna(), None)
        found = frame[name].astype(object)
        assert found.where(found.notna(), None).tolist() == expected.tolist()


def test_every_format_gives_the_same_table(file):
    assert file_columns(file) == list(FRAME.columns)
    expect_same(read_frame(file)[0])


def test_every_format_is_read_in_blocks(file):
    batches = [batch for batch, _ in read_batches(file, ["age", "colour"], 7)]
    assert max(batch.num_rows for batch in batches) <= 7
    assert sum(batch.num_rows for batch in batches) == 90


def test_every_format_can_be_read_from_a_pipe(file, monkeypatch):
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

        def seek(self, *_):
            raise OSError

    source = type("Stdin", (), {"buffer": Pipe(file.read_bytes())})()
    monkeypatch.setattr(sys, "stdin", source)
    data = kt.DataFile("-", sep="tab" if file.suffix == ".tsv" else None)
    expect_same(read_frame(data)[0])


def test_a_model_gives_the_same_probabilities_for_every_format(file, tmp_path):
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(
        FRAME.drop(columns="risk"), FRAME.risk
    )
    kt.predict_file(model, file, tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")["probability_high"]
    expected = model.predict_proba(FRAME.drop(columns="risk"))[:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_arff_may_be_compressed_and_encoded_in_latin_1(tmp_path):
    text = (
        "@relation r\n@attribute stadt {Köln,Bonn}\n@attribute x numeric\n@data\nKöln,1\nBonn,2\n"
    )
    (tmp_path / "d.arff.gz").write_bytes(gzip.compress(text.encode("latin-1")))
    with pytest.warns(ReadingNotice, match="as Latin-1"):
        frame, _ = read_frame(tmp_path / "d.arff.gz")
    assert frame["stadt"].tolist() == ["Köln", "Bonn"]


def test_a_sheet_of_a_workbook_can_be_chosen(tmp_path):
    path = tmp_path / "d.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"a": [1, 2]}).to_excel(book, sheet_name="first", index=False)
        pd.DataFrame(
            {"b": [3.5, 4.5], "on": pd.to_datetime(["2015-01-03", "2015-01-04"])}
        ).to_excel(book, sheet_name="second", index=False, startrow=2)
    with pytest.warns(ReadingNotice, match="from the first of its 2 sheets, 'first'"):
        assert file_columns(path) == ["a"]
    for sheet in ("second", 2, "2"):
        frame, notation = read_frame(kt.DataFile(path, sheet=sheet, dates="days"))
        assert frame["b"].tolist() == [3.5, 4.5]
        assert frame["on"].tolist() == [16438.0, 16439.0]
        assert notation["on"].date == "ISO"
    with pytest.raises(ValueError, match="no sheet 'third'; its sheets are 'first', 'second'"):
        file_columns(kt.DataFile(path, sheet="third"))


def test_errors_in_json_lines_are_described(tmp_path):
    path = tmp_path / "d.jsonl"
    for text, message in (
        ('{"a": 1}\n[1]\n', "line 2 is not an object"),
        ('{"a": 1}\n{"a"\n', "line 2 is not JSON"),
        ('{"a": [1]}\n', "a cell holds a list or an object"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_frame(path)


def test_an_empty_column_raises_a_warning_that_names_it(tmp_path):
    frame = pd.DataFrame({"x": [None] * 30, "z": range(15, 45), "y": ["a", "b"] * 15})
    for name, write in (("d.parquet", frame.to_parquet), ("d.csv", frame.to_csv)):
        write(tmp_path / name, index=False)
        with pytest.warns(UserWarning, match="The column 'x' is empty"):
            kt.fit_file(tmp_path / name, "y", method="smoothed")


def test_a_column_of_row_numbers_raises_a_warning_about_identifiers(tmp_path):
    frame = pd.DataFrame(
        {"PassengerId": range(1, 41), "x": RNG.integers(0, 9, 40), "y": [0, 1] * 20}
    )
    frame.to_csv(tmp_path / "d.csv", index=False)
    with pytest.warns(UserWarning, match="'PassengerId' has a different whole number in each row"):
        kt.fit_file(tmp_path / "d.csv", "y", method="smoothed")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_identifiers_stay_integers_in_the_output(kind, tmp_path):
    ids = pd.array([9007199254740993, None, 3] * 30, dtype="Int64")
    data = FRAME.assign(id=ids)
    data.to_parquet(tmp_path / "d.parquet")
    data.to_csv(tmp_path / "d.csv", index=False)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(
        FRAME.drop(columns="risk"), FRAME.risk
    )
    kt.predict_file(model, tmp_path / f"d.{kind}", tmp_path / "out.csv", keep=["id"])
    rows = (tmp_path / "out.csv").read_text().splitlines()[1:4]
    assert [row.split(",")[0].strip('"') for row in rows] == ["9007199254740993", "", "3"]
