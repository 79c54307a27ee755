"""Models work with scikit-learn's routing, configuration and tools, and with data of all types."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_validate,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import InvalidParameterError

import keeptree as kt

MODELS = [
    kt.C45Classifier(min_samples_leaf=5),
    kt.NBTreeClassifier(random_state=0),
    kt.SmoothedTreeClassifier(),
    kt.GeometricRankClassifier(),
    kt.DistanceKernelClassifier(),
    kt.SoftTreeClassifier(strength=0.2, shrinkage=10.0),
    kt.MarginTreeClassifier(C=0.1),
    kt.ConfDTreeClassifier(),
    kt.KeptTreeClassifier(cv=2),
]
EVERY_MODEL = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@cache
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:110, :4].rename(columns=lambda name: name.replace(" ", "_"))
    return X, y.iloc[:110]


@cache
def weights():
    return np.where(np.arange(110) % 3 == 0, 4.0, 0.5)


def scores(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)


# Metadata routing


@EVERY_MODEL
def test_weights_are_routed_through_a_pipeline(model):
    X, y = cancer()
    with sklearn.config_context(enable_metadata_routing=True):
        asking = sklearn.clone(model).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, asking).fit(X, y, sample_weight=weights())
    scaled = StandardScaler().fit_transform(X)
    direct = sklearn.clone(model).fit(scaled, y, sample_weight=weights())
    plain = sklearn.clone(model).fit(scaled, y)
    np.testing.assert_array_equal(scores(routed, X), scores(direct, scaled))
    assert not np.array_equal(scores(plain, scaled), scores(direct, scaled))


def test_weights_are_routed_through_cross_validation_and_searches():
    X, y = cancer()
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = kt.SmoothedTreeClassifier().set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        given = {"sample_weight": weights()}
        found = cross_validate(model, X, y, cv=folds, params=given, return_estimator=True)
        search = GridSearchCV(model, {"smoothing": ["laplace", "shrinkage"]}, cv=folds)
        search.fit(X, y, **given)
    for fitted, score, (train, test) in zip(
        found["estimator"], found["test_score"], folds.split(X, y), strict=True
    ):
        direct = kt.SmoothedTreeClassifier().fit(X.iloc[train], y.iloc[train], weights()[train])
        np.testing.assert_array_equal(fitted.predict_proba(X), direct.predict_proba(X))
        assert score == direct.score(X.iloc[test], y.iloc[test], weights()[test])
    best = search.best_estimator_
    direct = sklearn.clone(best).fit(X, y, sample_weight=weights())
    np.testing.assert_array_equal(best.predict_proba(X), direct.predict_proba(X))


def test_weights_that_were_not_requested_raise_an_error():
    X, y = cancer()
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"),
    ):
        make_pipeline(kt.SmoothedTreeClassifier()).fit(X, y, sample_weight=weights())


# scikit-learn's configuration


@pytest.mark.parametrize("kind", ["default", "pandas", "polars"])
def test_the_output_format_of_transformers_does_not_matter(kind):
    X, y = cancer()
    expected = make_pipeline(StandardScaler(), kt.SmoothedTreeClassifier()).fit(X, y)
    with sklearn.config_context(transform_output=kind):
        model = make_pipeline(StandardScaler(), kt.SmoothedTreeClassifier()).fit(X, y)
        found = model.predict_proba(X)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, expected.predict_proba(X))


@pytest.mark.parametrize(
    "wrong",
    [
        kt.C45Classifier(max_depth=2.0),
        kt.SmoothedTreeClassifier(n_jobs="many"),
        kt.ConfDTreeForestClassifier(decide="tree"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_skip_parameter_validation_is_respected(wrong):
    X, y = cancer()
    with pytest.raises(InvalidParameterError):
        wrong.fit(X, y)
    with sklearn.config_context(skip_parameter_validation=True):
        try:
            wrong.fit(X, y)
        except InvalidParameterError:
            pytest.fail("The parameters were validated.")
        except (AttributeError, KeyError, TypeError, ValueError):
            pass  # without validation, a wrong value may raise any error


def test_assume_finite_changes_no_prediction_and_infinite_values_are_still_refused():
    X, y = cancer()
    expected = kt.KeptTreeClassifier(cv=2).fit(X, y).predict_proba(X)
    infinite = X.copy()
    infinite.iloc[3] = np.inf
    with sklearn.config_context(assume_finite=True):
        model = kt.KeptTreeClassifier(cv=2).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(X), expected)
        with pytest.raises(ValueError, match=r"infinite|infinity"):
            model.predict_proba(infinite)


def test_the_display_setting_is_respected():
    model = kt.KeptTreeClassifier(kt.C45Classifier())
    with sklearn.config_context(display="diagram"):
        assert "text/html" in model._repr_mimebundle_()
        assert "C45Classifier" in model._repr_html_()
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")


def test_the_diagram_links_to_the_page_of_each_estimator():
    reference = (Path(__file__).parent.parent / "docs" / "api" / "index.rst").read_text()
    public = [getattr(kt, name) for name in kt.__all__]
    estimators = [kind for kind in public if isinstance(kind, type) and hasattr(kind, "get_params")]
    assert len(estimators) > 10
    for kind in estimators:
        model = kind(None) if kind is kt.Boundary else kind()
        assert model._get_doc_link().endswith(f"/api/generated/keeptree.{kind.__name__}.html")
        assert f"   {kind.__name__}\n" in reference


def test_array_api_dispatch_changes_nothing_for_numpy():
    code = """if True:
        import numpy as np, sklearn, keeptree as kt
        from sklearn.datasets import load_iris
        X, y = load_iris(return_X_y=True)
        expected = kt.SmoothedTreeClassifier().fit(X, y).predict_proba(X)
        with sklearn.config_context(array_api_dispatch=True):
            found = kt.SmoothedTreeClassifier().fit(X, y).predict_proba(X)
        assert type(found) is np.ndarray and (found == expected).all()
    """
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "SCIPY_ARRAY_API": "1"}
    )


# Tables


def as_table(X, kind):
    if kind == "polars":
        return pytest.importorskip("polars").from_pandas(X)
    if kind == "pyarrow":
        return pytest.importorskip("pyarrow").Table.from_pandas(X, preserve_index=False)
    return {"numpy": X.to_numpy(), "list": X.to_numpy().tolist()}[kind]


@pytest.mark.parametrize("kind", ["numpy", "list", "polars", "pyarrow"])
@EVERY_MODEL
def test_every_kind_of_table_gives_the_same_predictions(model, kind):
    X, y = cancer()
    expected = sklearn.clone(model).fit(X, y)
    fitted = sklearn.clone(model).fit(as_table(X, kind), y.to_numpy())
    np.testing.assert_array_equal(scores(fitted, as_table(X, kind)), scores(expected, X))
    if kind in ("polars", "pyarrow"):
        assert fitted.feature_names_in_.tolist() == list(X.columns)


LAZY = {
    "polars": lambda X: pytest.importorskip("polars").from_pandas(X).lazy(),
    "pyarrow": lambda X: pytest.importorskip("pyarrow.dataset").dataset(
        pytest.importorskip("pyarrow").Table.from_pandas(X)
    ),
    "duckdb": lambda X: pytest.importorskip("duckdb").from_df(X),
    "dask": lambda X: pytest.importorskip("dask.dataframe").from_pandas(X, npartitions=2),
}


@pytest.mark.parametrize("library", LAZY)
def test_a_lazy_table_is_refused(library):
    X, y = cancer()
    lazy = LAZY[library](X)
    model = kt.SmoothedTreeClassifier().fit(X, y)
    calls = [
        lambda: kt.C45Classifier().fit(lazy, y),
        lambda: kt.KeptTreeClassifier().fit(lazy, y),
        lambda: model.predict(lazy),
        lambda: kt.nearest_change(model, lazy),
        lambda: kt.unfamiliar(model, lazy),
        lambda: kt.audit(model, lazy),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=rf"A {library}\.\w+ has no rows in memory; call its"):
            call()


# scikit-learn's tools around a model

TOOLS = {
    "calibrated": lambda model: CalibratedClassifierCV(model, cv=2),
    "frozen": lambda model: CalibratedClassifierCV(FrozenEstimator(model.fit(*cancer()))),
    "voting": lambda model: VotingClassifier(
        [("a", model), ("b", kt.C45Classifier())], voting="soft"
    ),
    "stacking": lambda model: StackingClassifier([("a", model)], cv=2),
    "bagging": lambda model: BaggingClassifier(model, n_estimators=2, random_state=0),
    "threshold": lambda model: TunedThresholdClassifierCV(model, cv=2),
    "one against rest": OneVsRestClassifier,
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("tool", TOOLS)
def test_meta_estimators_around_a_model_work_without_a_warning(tool):
    X, y = cancer()
    if tool == "one against rest":  # its members receive arrays without names
        X = X.to_numpy()
    found = TOOLS[tool](kt.MarginTreeClassifier(C=0.1)).fit(X, y)
    assert found.score(X, y) > 0.85


@pytest.mark.filterwarnings("error")
def test_inspecting_a_model_works_without_a_warning():
    X, y = cancer()
    model = kt.MarginTreeClassifier(DecisionTreeClassifier(max_leaf_nodes=4), C=0.1).fit(X, y)
    importance = permutation_importance(model, X, y, n_repeats=2, random_state=0)
    tested = np.flatnonzero(importance.importances_mean)
    assert set(tested) <= set(model.tree_.feature[model.tree_.feature >= 0])
    average = partial_dependence(model, X, [tested[0]], grid_resolution=5)["average"]
    assert average.shape == (1, 5)
    assert np.ptp(average) > 0


# Classes of every type

CLASSES = {
    "bool": np.array([False, True]),
    "int8": np.array([-3, 5], dtype=np.int8),
    "uint64": np.array([1, 2**63], dtype=np.uint64),
    "float": np.array([0.0, 2.0]),
    "str": np.array(["healthy", "sick"]),
    "object": np.array(["healthy", "sick"], dtype=object),
    "StringDType": ["healthy", "sick"],
    "categorical": ["healthy", "sick"],
    "pandas bool": [False, True],
    "pandas Int64": [3, 4],
    "list of str": ["healthy", "sick"],
    "polars": ["healthy", "sick"],
}
PANDAS = {
    "StringDType": "string",
    "categorical": "category",
    "pandas bool": "boolean",
    "pandas Int64": "Int64",
}


def target(kind):
    _, y = cancer()
    values = np.asarray(CLASSES[kind])[y.to_numpy()]
    if kind in PANDAS:
        return pd.Series(values).astype(PANDAS[kind])
    if kind == "polars":
        return pytest.importorskip("polars").Series(values)
    return values.tolist() if kind == "list of str" else values


@pytest.mark.parametrize("kind", CLASSES)
def test_classes_of_every_type_are_preserved(kind, tmp_path):
    X, y = cancer()
    model = kt.MarginTreeClassifier(C=0.1).fit(X, target(kind))
    assert is_classifier(model)
    assert model.classes_.tolist() == list(np.asarray(CLASSES[kind]).tolist())
    if isinstance(CLASSES[kind], np.ndarray) and kind != "object":
        assert model.classes_.dtype.kind == CLASSES[kind].dtype.kind
    if kind == "pandas Int64":
        assert kt.C45Classifier().fit(X, target(kind)).classes_.dtype == np.int64
    agreed = np.asarray(model.predict(X)) == np.asarray(target(kind))
    assert agreed.mean() > 0.9
    plain = kt.MarginTreeClassifier(C=0.1).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    kt.save(model, tmp_path / "model.json")
    loaded = kt.load(tmp_path / "model.json")
    assert loaded.classes_.tolist() == model.classes_.tolist()
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_no_estimator_is_a_transformer_so_none_needs_set_output():
    estimators = [getattr(kt, name) for name in kt.__all__ if hasattr(getattr(kt, name), "fit")]
    assert estimators
    assert not any(hasattr(kind, "transform") for kind in estimators)
