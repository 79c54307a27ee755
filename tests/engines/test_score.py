"""``kt.score`` adds exactly the model's predictions to tables of any kind."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.engines.table import Request, TableScorer
from tests.engines.tables import ATTRIBUTES, LOCAL, check_scored, fitted, new_cases

every_kind = pytest.mark.parametrize("kind", LOCAL)


@pytest.fixture(scope="module")
def model():
    return fitted()


def there_and_back(kind, model, cases, **options):
    to_table, to_frame = LOCAL[kind]
    return to_frame(kt.score(model, to_table(cases), **options))


@every_kind
def test_every_kind_of_table_gets_exactly_the_predictions_of_the_model(kind, model):
    cases = new_cases()
    check_scored(there_and_back(kind, model, cases), model, cases)


@every_kind
def test_only_kept_columns_are_returned_and_a_distance_can_be_added(kind, model):
    cases = new_cases(60)
    found = there_and_back(kind, model, cases, keep=["id"], distance=True)
    check_scored(found, model, cases, kept=["id"])
    assert np.isfinite(found["distance"]).all()
    local = there_and_back("pandas", model, cases, distance=True)
    assert found["distance"].tolist() == local["distance"].tolist()


@every_kind
def test_the_scored_table_is_of_the_same_kind(kind, model):
    table = LOCAL[kind][0](new_cases(20))
    scored = kt.score(model, table)
    if kind == "arrow dataset":  # pyarrow has no lazily computed Dataset
        assert type(scored).__name__ == "RecordBatchReader"
    else:
        assert type(scored) is type(table)


@pytest.mark.parametrize("kind", [k for k in LOCAL if k != "arrow batch"])
def test_an_empty_table_gets_the_same_columns(kind, model):
    full = there_and_back(kind, model, new_cases(20))
    empty = there_and_back(kind, model, new_cases(20).iloc[:0])
    assert len(empty) == 0
    assert list(empty.columns) == list(full.columns)


@every_kind
@pytest.mark.parametrize(
    "labels", [np.array([0, 1]), np.array([True, False]), np.array([1.0, 2.0])]
)
def test_predictions_have_the_type_of_the_classes(kind, labels):
    cases = new_cases(40)
    y = labels[(cases["age"] > 50).astype(int)]
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(cases[["age", "owner"]], y)
    found = there_and_back(kind, model, cases)["prediction"]
    assert found.tolist() == model.predict(cases).tolist()
    assert found.dtype.kind == labels.dtype.kind


@every_kind
def test_a_missing_column_raises_a_clear_error(kind, model):
    table = LOCAL[kind][0](new_cases(20).drop(columns="area"))
    with pytest.raises(ValueError, match=r"^The table lacks the column 'area', which the model "):
        kt.score(model, table)


@every_kind
def test_text_in_a_numeric_column_raises_a_clear_error(kind, model):
    cases = new_cases(20)
    cases["age"] = cases["age"].astype("string" if kind in ("pandas", "dask") else str)
    with pytest.raises(ValueError, match="'age' holds text, where the model expects numbers"):
        kt.score(model, LOCAL[kind][0](cases))


@every_kind
def test_a_column_with_the_name_of_an_output_column_is_refused(kind, model):
    cases = new_cases(20).rename(columns={"day": "prediction"})
    table = LOCAL[kind][0](cases)
    with pytest.raises(ValueError, match="already has a column 'prediction', which scoring adds"):
        kt.score(model, table)
    kept = LOCAL[kind][1](kt.score(model, LOCAL[kind][0](cases), keep=["id"]))
    assert kept["prediction"].tolist() == model.predict(cases).tolist()


@every_kind
def test_classes_can_be_renamed(kind, model):
    found = there_and_back(kind, model, new_cases(30), labels={"high": "refuse"})
    assert "probability_refuse" in found.columns
    assert set(found["prediction"]) <= {"refuse", "low"}


@pytest.mark.parametrize("kind", ["polars lazy", "duckdb", "dask", "arrow reader"])
def test_a_lazy_table_is_not_read_before_its_predictions_are_used(kind, model, monkeypatch):
    called = []
    method = "score_frame" if kind == "dask" else "answer_batch"
    inner = getattr(TableScorer, method)

    def counted(self, block):
        called.append(len(block) if hasattr(block, "__len__") else block.num_rows)
        return inner(self, block)

    monkeypatch.setattr(TableScorer, method, counted)
    scored = kt.score(model, LOCAL[kind][0](new_cases(300)))
    assert sum(called) == 0
    LOCAL[kind][1](scored)
    assert sum(called) == 300


def test_a_relation_of_another_connection_requires_that_connection(model):
    duckdb = pytest.importorskip("duckdb")
    connection, cases = duckdb.connect(), new_cases(50)
    relation = connection.from_df(cases)
    with pytest.raises(ValueError, match="does not belong to the default connection; pass its own"):
        kt.score(model, relation)
    check_scored(kt.score(model, relation, connection=connection).df(), model, cases)


def test_hostile_column_names_are_quoted(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    cases = new_cases(50).rename(columns={"age": 'a"g)e; --', "owner": "o'w`n"})
    names = ['a"g)e; --', "o'w`n"]
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(cases[names], cases["id"] > "case 3")
    found = kt.score(model, duckdb.from_df(cases)).df()
    assert found["prediction"].tolist() == model.predict(cases[names]).tolist()


def test_a_model_without_names_uses_the_columns_in_order():
    cases = new_cases(60)[["age", "owner"]].astype(float)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(cases.to_numpy(), cases["age"] > 40)
    for kind in ("pandas", "polars lazy", "arrow table", "duckdb", "dask"):
        found = there_and_back(kind, model, cases)
        assert found["prediction"].tolist() == model.predict(cases.to_numpy()).tolist()
    with pytest.raises(ValueError, match="but the model was fitted to 2 unnamed columns"):
        kt.score(model, cases.assign(third=1))


def test_a_scikit_learn_tree_scores_local_tables_but_cannot_be_sent_to_workers():
    pytest.importorskip("dask.dataframe")
    cases = new_cases(60)
    tree = DecisionTreeClassifier(max_depth=2).fit(cases[["age", "owner"]], cases["age"] > 40)
    for kind in ("pandas", "polars", "arrow table", "duckdb"):
        found = there_and_back(kind, tree, cases)
        expected = tree.predict_proba(cases[["age", "owner"]])
        assert (
            found[["probability_False", "probability_True"]].to_numpy().tolist()
            == expected.tolist()
        )
    with pytest.raises(TypeError, match=r"is sent to the workers as JSON. Cannot save"):
        kt.score(tree, LOCAL["dask"][0](cases))


def test_workers_receive_the_model_in_the_format_of_save(model, tmp_path):
    kt.save(model, tmp_path / "model.json")
    packed = Request(model).packed()
    assert json.loads(packed.model) == json.loads((tmp_path / "model.json").read_text())
    assert packed.scorer(ATTRIBUTES) is packed.scorer(ATTRIBUTES)  # loaded once per process


def test_bad_arguments_raise_clear_errors(model):
    with pytest.raises(TypeError, match=r"load it first: kt.load\('model.json'\)"):
        kt.score("model.json", new_cases(20))
    with pytest.raises(TypeError, match="A ndarray is not a table that KeepTree can score; give"):
        kt.score(model, np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"keep='id' is not a list of columns; give \['id'\]"):
        kt.score(model, new_cases(20), keep="id")
    with pytest.raises(ValueError, match="There is no column 'idd'; did you mean 'id'"):
        kt.score(model, new_cases(20), keep=["idd"])


def test_rankings_and_regressors_add_their_own_columns():
    cases = new_cases(80)
    rank = kt.GeometricRankClassifier(kt.C45Classifier()).fit(
        cases[["age", "owner"]], cases["age"] > 40
    )
    assert list(kt.score(rank, cases, keep=[]).columns) == ["prediction", "score"]
    value = kt.TreeRegressor().fit(cases[["age", "owner"]], cases["age"] / 2)
    found = there_and_back("polars lazy", value, cases, keep=["id"])
    assert found["prediction"].tolist() == value.predict(cases[["age", "owner"]]).tolist()


def test_the_index_of_a_data_frame_is_preserved(model):
    cases = new_cases(30).set_index("id", drop=False).rename_axis(None)
    scored = kt.score(model, cases)
    assert scored.index.equals(cases.index)
    assert isinstance(scored, pd.DataFrame)
