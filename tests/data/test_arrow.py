"""Arrow tables and pandas' other dtype backends give the same results as NumPy columns."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import keeptree as kt
from keeptree.data.arrow import from_arrow
from keeptree.evaluation import compare

RNG = np.random.default_rng(0)
PLAIN = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, 120),
        "income": RNG.normal(30, 9, 120),
        "colour": RNG.choice(["red", "blue"], 120),
        "member": RNG.random(120) < 0.5,
    }
)
PLAIN.loc[3, "income"], PLAIN.loc[5, "colour"] = np.nan, None
Y = pd.Series(np.where(PLAIN["age"] > 40, "yes", "no"), name="risk")
FORMS = {
    "arrow-backed": lambda X: X.convert_dtypes(dtype_backend="pyarrow"),
    "nullable": lambda X: X.convert_dtypes(),
    "table": pa.Table.from_pandas,
    "record batch": pa.RecordBatch.from_pandas,
}
MODELS = {
    "smoothed": lambda: kt.SmoothedTreeClassifier(kt.C45Classifier()),
    "soft": lambda: kt.SoftTreeClassifier(kt.C45Classifier(), strength=0.2, shrinkage=10),
    "margin": lambda: kt.MarginTreeClassifier(kt.C45Classifier()),
    "kernel": lambda: kt.DistanceKernelClassifier(kt.C45Classifier()),
    "rank": lambda: kt.GeometricRankClassifier(kt.C45Classifier()),
    "confdtree": lambda: kt.ConfDTreeClassifier(kt.C45Classifier()),
    "c45": kt.C45Classifier,
    "nbtree": kt.NBTreeClassifier,
}


def answers(model, X):
    asked = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    return getattr(model, asked)(X)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_every_model_gives_the_same_predictions_for_every_form_of_table(name, form):
    table = FORMS[form](PLAIN)
    expected = answers(MODELS[name]().fit(PLAIN, Y), PLAIN)
    model = MODELS[name]().fit(table, FORMS[form](Y.to_frame())["risk"])
    np.testing.assert_allclose(answers(model, table), expected, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(table), model.predict(PLAIN))


@pytest.mark.parametrize("form", FORMS)
def test_tables_with_only_numbers_are_read(form):
    X = PLAIN[["age", "income"]].fillna(0)
    model = kt.ConfDTreeForestClassifier().fit(FORMS[form](X), Y)
    np.testing.assert_array_equal(model.predict(FORMS[form](X)), model.predict(X))
    tree = kt.TreeRegressor(max_depth=2).fit(FORMS[form](X), X["age"])
    np.testing.assert_array_equal(tree.predict(FORMS[form](X)), tree.predict(X))


@pytest.mark.parametrize("form", FORMS)
def test_explanations_reports_and_comparisons_accept_every_form_of_table(form, tmp_path):
    table = FORMS[form](PLAIN)
    model = MODELS["smoothed"]().fit(PLAIN, Y)
    row = table.slice(0, 1) if hasattr(table, "slice") else table.iloc[[0]]
    assert kt.explain(model, row).text == kt.explain(model, PLAIN.iloc[[0]]).text
    assert kt.nearest_change(model, table).cost.tolist() == pytest.approx(
        kt.nearest_change(model, PLAIN).cost.tolist()
    )
    distance = kt.Boundary(model.tree_).fit(table).distance(table)
    np.testing.assert_array_equal(distance, kt.Boundary(model.tree_).fit(PLAIN).distance(PLAIN))
    told = kt.unfamiliar(model, table).to_dict()
    assert told == kt.unfamiliar(model, PLAIN).to_dict()
    assert kt.report(model, table, Y, tmp_path / "r.html")["n_test"] == 120
    models = {"a": MODELS["smoothed"]()}
    found = compare(models, table, Y, protocol="holdout").to_dict()
    assert found == compare(models, PLAIN, Y, protocol="holdout").to_dict()


def test_input_that_is_not_arrow_is_returned_unchanged():
    for X in (PLAIN, PLAIN.to_numpy(), [[1]], Y, None):
        assert from_arrow(X) is X
