"""A CSV file in any dialect is read correctly, or the error names the option to give."""

import csv
import gzip
import io
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keeptree as kt
from keeptree.data.cells import cells_as_numbers
from keeptree.data.dialect import Dialect
from keeptree.data.files import ReadingNotice, file_columns
from keeptree.data.frame import read_frame
from keeptree.data.inference import infer_column
from keeptree.data.notation import Notation

WORDS = ["red", "dark; blue", 'a "b"', "x, y", "two\nlines", "Zürich", "côté", "a|b", "tab\tbed"]
OPTIONS = ("--sep", "--decimal", "--thousands", "--encoding", "--nominal", "--drop")


@st.composite
def tables(draw):
    """Return a table and a dialect in which to write it."""
    rows = draw(st.integers(3, 12))
    column = {
        "whole": st.integers(-10_000, 10_000),
        "number": st.floats(-1e6, 1e6).map(lambda x: round(x, 2)),
        "word": st.sampled_from(WORDS),
    }
    frame = {
        name: draw(st.lists(values, min_size=rows, max_size=rows))
        for name, values in column.items()
    }
    sep = draw(st.sampled_from(",;\t|"))
    decimal = draw(st.sampled_from([".", ","]))
    thousands = draw(st.sampled_from([None, None, " ", "'", "." if decimal == "," else ","]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))
    return pd.DataFrame(frame), {
        "sep": sep,
        "decimal": decimal,
        "thousands": thousands,
        "encoding": encoding,
        "newline": draw(st.sampled_from(["\n", "\r\n"])),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        "packed": draw(st.booleans()),
    }


def write(frame, how):
    def cell(value):
        if isinstance(value, str):
            return value
        text = f"{value:,}" if how["thousands"] else str(value)
        marks = {",": how["thousands"] or "", ".": how["decimal"]}
        return "".join(marks.get(char, char) for char in text)

    out = io.StringIO()
    writer = csv.writer(
        out, delimiter=how["sep"], quoting=how["quoting"], lineterminator=how["newline"]
    )
    writer.writerow(frame.columns)
    writer.writerows([cell(value) for value in row] for row in frame.itertuples(index=False))
    data = out.getvalue().encode(how["encoding"])
    return gzip.compress(data) if how["packed"] else data


def expect_read(data, frame):
    """Return whether the file was read correctly; if not, check that the error names an option."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, _ = read_frame(data)
    except ValueError as error:
        if not any(option in str(error) for option in OPTIONS):
            raise
        return False
    assert list(found.columns) == list(frame.columns)
    for name in ("whole", "number"):
        np.testing.assert_array_equal(found[name].to_numpy(float), frame[name])
    assert found["word"].tolist() == frame["word"].tolist()
    return True


@settings(
    max_examples=75, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(tables())
def test_any_dialect_is_read_or_the_error_names_an_option(tmp_path, table):
    frame, how = table
    path = tmp_path / ("d.csv.gz" if how["packed"] else "d.csv")
    path.write_bytes(write(frame, how))
    expect_read(path, frame)
    named = {name: how[name] for name in ("sep", "decimal", "thousands", "encoding")}
    assert expect_read(kt.DataFile(path, **named), frame)


NOTICES = {
    "semicolons": ("a;b\n1,5;x\n2,5;y\n", "utf-8", "as semicolon-separated with decimal commas"),
    "tab": ("a\tb\n1.5\tx\n", "utf-8", "as tab-separated"),
    "pipe": ("a|b\n1.5|x\n", "utf-8", "as pipe-separated"),
    "byte order mark": ("a,b\n1,x\n", "utf-8-sig", "as UTF-8 with a byte order mark"),
    "UTF-16": ("a,b\n1,x\n", "utf-16", "as UTF-16"),
    "UTF-16 without a byte order mark": ("a,b\n1,x\n", "utf-16-le", "as UTF-16"),
    "Latin-1": ("a;b\n1,5;Köln\n", "latin-1", "with decimal commas, Latin-1"),
    "Windows": ("a,b\n1,5 € off\n", "cp1252", "as Windows-1252"),
}


@pytest.mark.parametrize("name", NOTICES)
def test_the_recognised_dialect_is_reported_in_one_line(name, tmp_path):
    text, encoding, notice = NOTICES[name]
    (tmp_path / "d.csv").write_bytes(text.encode(encoding))
    with pytest.warns(ReadingNotice, match=f"read d.csv .*{notice}$") as told:
        read_frame(tmp_path / "d.csv")
    assert len(told) == 1


@pytest.mark.parametrize("text", ["a,b\n1,x\n", "a,b\n1.5,Köln\n", "a\n1\n", 'a,b\n"1;2",x\n'])
def test_a_plain_file_is_read_without_a_notice(text, tmp_path):
    (tmp_path / "d.csv").write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_frame(tmp_path / "d.csv")


def test_an_encoding_is_recognised_by_a_character_late_in_the_file(tmp_path):
    rows = ["a,b", *("1,plain" for _ in range(300_000)), "2,Köln", "3,Bonn"]
    (tmp_path / "d.csv").write_bytes("\n".join(rows).encode("latin-1"))
    with pytest.warns(ReadingNotice, match="as Latin-1"):
        frame, _ = read_frame(tmp_path / "d.csv")
    assert frame["b"].iloc[-2] == "Köln"


def test_columns_without_a_name_are_numbered_and_excel_may_name_the_separator(tmp_path):
    (tmp_path / "d.csv").write_text("sep=;\n;a;b;\n1;2;x;\n2;3;y;\n")
    assert file_columns(tmp_path / "d.csv") == ["unnamed_1", "a", "b", "unnamed_4"]
    assert read_frame(tmp_path / "d.csv")[0]["a"].tolist() == [2, 3]


@pytest.mark.parametrize("text", ["7.4,0.7,0\n1,2,3\n", "5,1,1,a\n5,1,1,b\n"])
def test_a_file_without_column_names_is_refused(text, tmp_path):
    (tmp_path / "d.csv").write_text(text)
    with pytest.raises(ValueError, match=r"looks like data .*add a line with the names"):
        read_frame(tmp_path / "d.csv")


@pytest.mark.parametrize("names", ["2019,2020,kind", "0,1,2"])
def test_increasing_numbers_may_be_column_names(names, tmp_path):
    (tmp_path / "d.csv").write_text(f"{names}\n1,2,3\n")
    assert ",".join(read_frame(tmp_path / "d.csv")[0].columns) == names


FORMATTED = {
    "1,169|12": ([1169, 12], ""),
    "EUR 1,169|EUR 3.50": ([1169, 3.5], "EUR"),
    "$1,200.50|-$3": ([1200.5, -3], "$"),
    "35%|7.5 %": ([35, 7.5], "%"),
    "12 kg|1kg": ([12, 1], "kg"),
    "36 months|60 months": ([36, 60], "months"),
}


@pytest.mark.parametrize("cells", FORMATTED)
def test_formatted_numbers_are_read_in_fit_and_in_predict(cells):
    numbers, unit = FORMATTED[cells]
    column = pa.array(cells.split("|"))
    read = infer_column(column)
    assert read.values.tolist() == numbers
    assert read.notation == (Notation(unit=unit) if unit else None)
    again = cells_as_numbers(column, notation=read.notation)
    assert again.tolist() == numbers


def test_another_unit_in_predict_raises_an_error_that_names_the_row():
    with pytest.raises(ValueError, match=r"'USD 3' in row 12, .* a number in EUR"):
        cells_as_numbers(pa.array(["EUR 1", "USD 3"]), "pay", 10, notation=Notation(unit="EUR"))
    with pytest.raises(ValueError, match=r"'0.35' in row 1, where .* a number in %"):
        cells_as_numbers(pa.array(["0.35"]), "rate", notation=Notation(unit="%"))
    with pytest.raises(ValueError, match=r"'1,5' in row 2, .*with --decimal or --thousands"):
        cells_as_numbers(pa.array(["1", "1,5"]), "x")


@pytest.mark.parametrize("cells", [["12,34,567"], ["3 rooms", "1 room"], ["01234", "5"], ["A 1"]])
def test_cells_that_are_not_clearly_numbers_stay_text(cells):
    assert infer_column(pa.array(cells)).values.tolist() == cells


def test_a_model_stores_the_notation_of_dates_and_units(tmp_path):
    days = pd.date_range("2015-01-01", periods=60).strftime("%d.%m.%Y")
    rate = [f"{k % 50}%" for k in range(60)]
    label = np.where(np.arange(60) > 30, "late", "early")
    pd.DataFrame({"day": days, "rate": rate, "y": label}).to_csv(tmp_path / "d.csv", index=False)
    data = kt.DataFile(tmp_path / "d.csv", dates="days")
    with pytest.warns(ReadingNotice, match=r"read as numbers: 'day' .*'rate' \('.*%' is"):
        model = kt.fit_file(data, "y", method="smoothed")
    kt.save(model, tmp_path / "m.json")
    model = kt.load(tmp_path / "m.json")
    assert model.notation_ == (Notation(date="%d.%m.%Y"), Notation(unit="%"))
    kt.predict_file(model, tmp_path / "d.csv", tmp_path / "out.csv")
    assert (pd.read_csv(tmp_path / "out.csv")["prediction"] == label).mean() > 0.95
    frame = pd.DataFrame({"day": ["2015-01-02"], "rate": ["5%"]})
    frame.to_csv(tmp_path / "iso.csv", index=False)
    kt.predict_file(model, tmp_path / "iso.csv", tmp_path / "out.csv")
    frame.assign(day="01/02/2015").to_csv(tmp_path / "us.csv", index=False)
    with pytest.raises(ValueError, match=r"expects a date such as DD\.MM\.YYYY"):
        kt.predict_file(model, tmp_path / "us.csv", tmp_path / "out.csv")


@pytest.mark.parametrize("kind", ["ns", "s", "UTC", "object", "polars"])
def test_a_model_fitted_to_dates_of_a_file_reads_dates_in_memory(tmp_path, kind):
    days = pd.date_range("2015-01-01 06:00", periods=60)
    frame = pd.DataFrame({"day": days, "rate": np.arange(60) % 7, "y": np.arange(60) > 30})
    frame.to_csv(tmp_path / "d.csv", index=False)
    with pytest.warns((ReadingNotice, UserWarning)):
        model = kt.fit_file(kt.DataFile(tmp_path / "d.csv", dates="days"), "y", method="smoothed")
    numbers = frame.assign(day=16436.25 + np.arange(60))
    if kind == "polars":
        given = pytest.importorskip("polars").from_pandas(frame)
    elif kind == "UTC":
        given = frame.assign(day=days.tz_localize("UTC").tz_convert("Asia/Tokyo"))
    else:
        dtype = "O" if kind == "object" else f"datetime64[{kind}]"
        given = frame.assign(day=pd.Series(days).astype(dtype))
    expected = model.predict_proba(numbers)
    assert (model.predict_proba(given) == expected).all()
    if kind != "polars":
        row = given[["day", "rate"]].iloc[40]
        assert (model.scorer()(row).probability == expected[40]).all()
        assert kt.explain(model, row).text == kt.explain(model, numbers.iloc[[40], :2]).text


def test_dates_are_left_out_on_request(tmp_path):
    (tmp_path / "d.csv").write_text("on,x\n2015-01-03,1\n2015-01-04,2\n")
    with pytest.warns(ReadingNotice, match="left out 'on', which holds dates"):
        frame, _ = read_frame(kt.DataFile(tmp_path / "d.csv", dates="drop"))
    assert list(frame.columns) == ["x"]


def test_an_ambiguous_decimal_mark_is_an_error_only_where_it_matters():
    dialect = Dialect(";", None)
    assert infer_column(pa.array(["1", "2"]), dialect).values.tolist() == [1, 2]
    with pytest.raises(ValueError, match="give --decimal , or --thousands ,"):
        infer_column(pa.array(["1,169", "2"]), dialect, "x")
