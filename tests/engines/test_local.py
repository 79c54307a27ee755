"""Models score data files as they score tables in memory, for any block size."""

import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.data import cases
from tests.data.loans import draw, fit_model, read, write_files
from tests.test_cli import SOURCE


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def model(folder):
    return fit_model(folder)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("out", ["csv", "parquet"])
def test_a_file_is_scored_as_in_memory_for_any_block_size(model, folder, kind, out, monkeypatch):
    monkeypatch.setattr(cases, "CELLS", 1)
    place = folder / f"scored_{kind}.{out}"
    summary = kt.predict_file(model, folder / f"loans.{kind}", place, keep=["id", "age"])
    X = draw()[["age", "income", "area", "owner"]]
    p = model.predict_proba(X)
    scored = read(place)
    assert scored.columns.tolist() == summary["columns"]
    assert scored["id"].tolist() == draw()["id"].tolist()
    assert scored["prediction"].tolist() == model.predict(X).tolist()
    np.testing.assert_array_equal(scored[["probability_high", "probability_low"]], p)
    second = model.classes_[p.argmax(axis=1)] != model.predict(X)
    assert scored["second_opinion"].tolist() == second.tolist()
    assert summary["rows"] == 400
    assert summary["second_opinions"] == second.sum()


def test_columns_are_found_by_name_in_any_order(model, folder, tmp_path):
    draw()[["risk", "owner", "area", "income", "age"]].to_csv(tmp_path / "other.csv", index=False)
    kt.predict_file(model, tmp_path / "other.csv", tmp_path / "a.csv")
    kt.predict_file(model, folder / "loans.csv", tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_numbers_in_a_file_match_text_categories(folder, tmp_path):
    frame = draw()
    frame["area"] = frame["area"].replace({"01": "1", "x3": "3"})
    frame.to_csv(tmp_path / "text.csv", index=False)
    model = kt.fit_file(tmp_path / "text.csv", "risk", method="smoothed", nominal=["area", "id"])
    frame.assign(area=frame["area"].astype(int)).to_parquet(tmp_path / "numbers.parquet")
    for name in ("text.csv", "numbers.parquet"):
        kt.predict_file(model, tmp_path / name, tmp_path / f"{name}.out.csv")
    texts = [(tmp_path / f"{n}.out.csv").read_text() for n in ("text.csv", "numbers.parquet")]
    assert texts[0] == texts[1]


def test_spaces_quotes_and_line_breaks_in_cells_are_read(tmp_path):
    rows = [f'{x}, "a, ""{x % 2}""\nb" ,{"yes" if x % 2 else "no"}' for x in range(40)]
    (tmp_path / "d.csv").write_text("\n".join([" x,text , y", *rows]).replace(', "a', ',"a'))
    model = kt.fit_file(tmp_path / "d.csv", "y", method="smoothed")
    assert model.tree_.categories[1] == ('a, "0"\nb', 'a, "1"\nb')
    kt.predict_file(model, tmp_path / "d.csv", tmp_path / "out.csv", keep=["text"])
    assert read(tmp_path / "out.csv")["text"].tolist() == ['a, "0"\nb', 'a, "1"\nb'] * 20


def test_rankings_regressors_and_forests_write_their_own_columns(folder, tmp_path):
    X = draw()[["age", "owner"]].astype(float)
    y = draw()["risk"]
    X.to_csv(tmp_path / "d.csv", index=False)
    rank = kt.GeometricRankClassifier(kt.C45Classifier()).fit(X, y)
    three = kt.GeometricRankClassifier(kt.C45Classifier()).fit(X, X["age"] // 30)
    regressor = kt.TreeRegressor().fit(X, X["age"] / 2)
    forest = kt.ConfDTreeForestClassifier(RandomForestClassifier(2, random_state=0)).fit(X, y)
    for model, columns in (
        (rank, ["prediction", "score", "distance"]),
        (three, ["prediction", "score_0.0", "score_1.0", "score_2.0", "distance"]),
        (regressor, ["prediction"]),
        (forest, ["prediction", "probability_high", "probability_low", "second_opinion"]),
    ):
        distance = hasattr(model, "boundary_")
        kt.predict_file(model, tmp_path / "d.csv", tmp_path / "o.csv", distance=distance)
        scored = read(tmp_path / "o.csv")
        assert scored.columns.tolist() == columns
        assert scored["prediction"].tolist() == model.predict(X).tolist()


def test_a_model_without_names_uses_the_columns_in_order(tmp_path):
    X = draw()[["age", "income"]]
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X.to_numpy(), draw()["risk"])
    X.to_csv(tmp_path / "d.csv", index=False)
    kt.predict_file(model, tmp_path / "d.csv", tmp_path / "o.csv")
    assert read(tmp_path / "o.csv")["prediction"].tolist() == model.predict(X.to_numpy()).tolist()
    draw().to_csv(tmp_path / "wide.csv", index=False)
    with pytest.raises(ValueError, match="but the model was fitted to 2 unnamed columns"):
        kt.predict_file(model, tmp_path / "wide.csv", tmp_path / "o.csv")


def test_a_scikit_learn_tree_scores_a_file_and_a_pipeline_is_refused(tmp_path):
    X, y = draw()[["age", "owner"]].astype(float), draw()["risk"]
    X.to_csv(tmp_path / "d.csv", index=False)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    summary = kt.predict_file(tree, tmp_path / "d.csv", tmp_path / "o.csv", keep=["age", "age"])
    assert summary["columns"][:2] == ["age", "prediction"]
    assert read(tmp_path / "o.csv")["prediction"].tolist() == tree.predict(X).tolist()
    pipeline = make_pipeline(PCA(), DecisionTreeClassifier(max_depth=2))
    model = kt.SmoothedTreeClassifier(pipeline, decide="probability").fit(X, y)
    with pytest.raises(ValueError, match="is the last step of a pipeline"):
        kt.predict_file(model, tmp_path / "d.csv", tmp_path / "o.csv")


BAD = {
    "a missing column": (
        lambda f: f.drop(columns=["age", "area"]),
        "lacks the columns 'age', 'area', which the model needs; it has 'id', 'risk', 'income'",
    ),
    "text in a numeric column": (
        lambda f: f.assign(age=["old" if i == 7 else str(a) for i, a in enumerate(f["age"])]),
        r"column 'age' holds 'old' in row 8, where the model expects a number",
    ),
    "an infinite number": (lambda f: f.assign(income=np.inf), "infinity"),
    "no rows": (lambda f: f[:0], "has no rows"),
}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", BAD)
def test_unsuitable_data_raise_a_clear_error_and_write_nothing(model, tmp_path, name, kind):
    change, sentence = BAD[name]
    data, out = tmp_path / f"d.{kind}", tmp_path / "out.csv"
    frame = change(draw())
    frame.to_csv(data, index=False) if kind == "csv" else frame.to_parquet(data)
    out.write_text("old")
    with pytest.raises(ValueError, match=sentence):
        kt.predict_file(model, data, out)
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"d.{kind}", "out.csv"]


def test_dates_in_a_numeric_column_are_refused(model, tmp_path):
    frame = draw().assign(age=pd.Timestamp("2020-01-01"))
    frame.to_parquet(tmp_path / "d.parquet")
    with pytest.raises(ValueError, match="'age' holds dates or times; convert them"):
        kt.predict_file(model, tmp_path / "d.parquet", tmp_path / "out.csv")


def test_a_missing_value_is_reported_with_its_row_in_the_file(tmp_path, monkeypatch):
    tree = kt.Tree(
        kind=[1, 0, 0], feature=[0, -1, -1], threshold=[50, np.nan, np.nan],
        child_start=[0, 2, 2, 2], child=[1, 2], missing=[-2, -2, -2],
        counts=[[9, 9], [9, 0], [0, 9]], classes=["a", "b"], n_features=1, feature_names=["x"],
    )  # fmt: skip
    X = pd.DataFrame({"x": np.arange(2500.0)})
    model = kt.SmoothedTreeClassifier(tree).fit(X, np.where(X["x"] > 50, "b", "a"))
    monkeypatch.setattr(cases, "CELLS", 1)
    X.loc[1007] = np.nan
    X.to_csv(tmp_path / "d.csv", index=False)
    with pytest.raises(ValueError, match=r"row 1008 has .* 'x' \(the first row is row 1\)"):
        kt.predict_file(model, tmp_path / "d.csv", tmp_path / "out.csv")


def test_the_output_never_overwrites_the_data(model, folder):
    before = (folder / "loans.csv").read_bytes()
    with pytest.raises(ValueError, match="is the data file; write the answers to another file"):
        kt.predict_file(model, folder / "loans.csv", folder / "loans.csv")
    with pytest.raises(ValueError, match=r"give it the extension \.csv or \.parquet"):
        kt.predict_file(model, folder / "loans.csv", folder / "out.xlsx")
    with pytest.raises(ValueError, match=r"give \['id'\]"):
        kt.predict_file(model, folder / "loans.csv", folder / "o.csv", keep="id")
    with pytest.raises(ValueError, match="'prediction' cannot be kept"):
        kt.predict_file(model, folder / "loans.csv", folder / "o.csv", keep=["prediction"])
    assert (folder / "loans.csv").read_bytes() == before


def test_a_killed_process_leaves_no_file_under_the_final_name(model, tmp_path):
    table = pa.Table.from_pandas(draw(), preserve_index=False)
    with pq.ParquetWriter(tmp_path / "big.parquet", table.schema) as file:
        for _ in range(500):
            file.write_table(table)
    kt.save(model, tmp_path / "model.json")
    code = (
        "import keeptree as kt, time\n"
        "model = kt.load('model.json')\n"
        "slow = lambda done, rows: (print(rows, flush=True), time.sleep(60))\n"
        "kt.predict_file(model, 'big.parquet', 'out.csv', progress=slow)\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": SOURCE},
        stdout=subprocess.PIPE,
    )
    assert int(run.stdout.readline()) > 0  # some rows are written
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    assert not (tmp_path / "out.csv").exists()


def test_progress_reports_how_much_was_read(model, folder, tmp_path):
    seen = []
    kt.predict_file(
        model, folder / "loans.csv", tmp_path / "o.csv", progress=lambda *told: seen.append(told)
    )
    assert seen == [(1.0, 400)]


def test_intervals_and_sets_are_written_as_columns(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    model = kt.KeptTreeClassifier().fit(X, y)
    X.to_csv(tmp_path / "new.csv", index=False)
    summary = kt.predict_file(
        model, tmp_path / "new.csv", tmp_path / "out.csv", interval=0.8, sets=0.95
    )
    found = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert summary["columns"] == found.columns.tolist()
    ends, sets = model.predict_interval(X, 0.8), model.predict_set(X, 0.95)
    for c, name in enumerate(model.classes_):
        np.testing.assert_allclose(found[[f"low_{name}", f"high_{name}"]], ends[:, c])
    wanted = [" | ".join(model.classes_[held]) for held in sets]
    assert found["set"].tolist() == wanted
    assert "versicolor | virginica" in wanted


def test_written_calibration_intervals_contain_the_estimate(tmp_path):
    """Also if it is poorly calibrated: here, the calibration cases have random classes."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    model.calibrate(X, np.random.default_rng(0).permutation(y))
    X.to_csv(tmp_path / "new.csv", index=False)
    kt.predict_file(model, tmp_path / "new.csv", tmp_path / "out.csv", interval=0.9)
    found = pd.read_csv(tmp_path / "out.csv")
    p = found[[f"probability_{c}" for c in model.classes_]].to_numpy()
    low, high = (
        found[[f"{end}_{c}" for c in model.classes_]].to_numpy() for end in ("low", "high")
    )
    assert ((low <= p) & (p <= high)).all()
    assert ((low == p) | (high == p)).mean() > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interval": 1.5}, "interval=1.5 is not a share"),
        ({"sets": 0}, "sets=0 is not a share"),
        ({"sets": 0.9}, r"call calibrate\(X, y\)"),
        ({"interval": 0.9}, r"call calibrate\(X, y\)"),
        ({"interval": 0.9, "engine": "duckdb"}, "need engine='local'"),
    ],
)
def test_unavailable_intervals_and_sets_are_refused_before_scoring(options, message, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.to_csv(tmp_path / "new.csv", index=False)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    with pytest.raises(ValueError, match=message):
        kt.predict_file(model, tmp_path / "new.csv", tmp_path / "out.csv", **options)
    assert not (tmp_path / "out.csv").exists()
