"""ONNX exports give the same leaves, labels and probabilities in onnxruntime as in Python."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.explanation.subject import boundary_of
from keeptree.exporters.check import answers_of_python, compare
from keeptree.exporters.rows import sample_rows
from keeptree.exporters.subject import subject_of
from tests.exporters.models import WEIGHTS, costs_of, relabelled, weighted
from tests.exporters.small_trees import small_trees
from tests.exporters.tables import hostile_table

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
from keeptree.exporters import onnx as format_  # noqa: E402
from keeptree.exporters.onnx.inputs import missing_marker  # noqa: E402

DATA = {
    "two classes": lambda: (
        *load_breast_cancer(return_X_y=True, as_frame=True),
        kt.C45Classifier(),
    ),
    "float32": lambda: (*load_wine(return_X_y=True), DecisionTreeClassifier(random_state=0)),
    "mixed": lambda: (*hostile_table(), kt.C45Classifier()),
}
OTHER_OPTIONS = {"minimum": "class", "nominal": True, "fine_to": "all", "balance": True}
MODELS = {
    "tree": None,
    "laplace": kt.SmoothedTreeClassifier,
    "soft": kt.SoftTreeClassifier,
    "hard": lambda tree: kt.SoftTreeClassifier(tree, strength=0.0),
    "margin": kt.MarginTreeClassifier,
    "pool": kt.KeptTreeClassifier,
    "coherent": lambda tree: kt.KeptTreeClassifier(tree, coherent=True),
    "most probable": lambda tree: kt.KeptTreeClassifier(tree, decide="probability"),
    "cheapest": lambda tree: kt.SmoothedTreeClassifier(tree, decide="cost", costs=costs_of(tree)),
    "ranking": kt.GeometricRankClassifier,
    "ranking in leaves": lambda tree: kt.GeometricRankClassifier(tree, "local", boundary="whole"),
    "confdtree": kt.ConfDTreeClassifier,
    "confdtree, t": lambda tree: kt.ConfDTreeClassifier(tree, "t", m=2, options=OTHER_OPTIONS),
    "distance": kt.DistanceKernelClassifier,
    "distance to thresholds": lambda tree: kt.DistanceKernelClassifier(tree, grid=None),
    "distance in leaves": lambda tree: kt.DistanceKernelClassifier(tree, "leaf"),
    "separators": lambda tree: kt.DistanceKernelClassifier(tree, "separator"),
    "separators at thresholds": lambda tree: kt.DistanceKernelClassifier(
        tree, "separator", grid=None
    ),
}


def differences(subject, n=600, **options):
    """Compare the export of a subject with Python."""
    options = {"leaf": True, **options}
    rows = sample_rows(subject, n)
    answers = format_.run(format_.write(subject, **options), subject, rows, **options)
    return compare(answers_of_python(subject, rows.X), answers)


def scored(subject, rows, **options):
    """Return the outputs of a session by name."""
    session = session_of(format_.write(subject, **options)[".onnx"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feeds(subject, rows)), strict=True))


def session_of(content):
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])


def feeds(subject, rows):
    """Return rows as one input per column, with markers for missing categories."""
    made = {}
    for f, name in enumerate(rows.names):
        values, labels = rows.column(f), rows.categories[f]
        if labels is not None:
            values = [missing_marker(labels) if value is None else value for value in values]
        made[name] = np.array(values, dtype=float if labels is None else object)[:, None]
    return made


@pytest.fixture(scope="module")
def fitted():
    known = {}

    def fit(data, model):
        if (data, model) not in known:
            X, y, learner = known.setdefault(data, DATA[data]())
            tree = kt.keep(learner.fit(X, y))  # it has no learner, so nothing is refitted
            known[data, model] = subject_of(
                tree if model == "tree" else MODELS[model](tree).fit(X, y)
            )
        return known[data, model]

    return fit


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_graph_without_experts_of_weight_zero_agrees_with_python(weights):
    found = differences(subject_of(weighted(weights)), n=100)
    assert (found.labels, found.leaves) == (0, 0)
    assert found.probability <= 1e-12


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("data", DATA)
def test_every_model_agrees_with_python(fitted, data, model):
    found = differences(fitted(data, model))
    assert (found.labels, found.leaves) == (0, 0)
    assert found.probability <= 1e-12


def test_a_ranking_has_scores_instead_of_probabilities(fitted):
    subject = fitted("mixed", "ranking")
    rows = sample_rows(subject, 50)
    found = scored(subject, rows)
    assert list(found) == ["label_", "scores"]  # because a column is called label
    np.testing.assert_allclose(found["scores"], subject.model.scores_encoded(rows.X), rtol=1e-12)


def test_a_distance_kernel_without_a_boundary_is_exported():
    X, y = load_wine(return_X_y=True)
    tree = kt.C45Classifier().fit(X, y).tree_
    tree = replace(tree, label=np.zeros_like(tree.label))
    assert differences(subject_of(kt.DistanceKernelClassifier(tree).fit(X, y)), 100).wrong == 0


@pytest.mark.parametrize("model", ["laplace", "distance to thresholds"])
@pytest.mark.parametrize("data", DATA)
def test_the_distance_agrees_with_the_boundary(fitted, data, model):
    subject = fitted(data, model)
    rows = sample_rows(subject, 400)
    expected = boundary_of(subject.model).distance_encoded(rows.X)
    found = scored(subject, rows, distance=True)["distance"]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)


@settings(max_examples=40)
@given(small_trees())
def test_any_small_tree_agrees_with_python(tree):
    found = differences(subject_of(tree), n=60)
    assert (found.labels, found.leaves, found.wrong) == (0, 0, 0)


def test_the_leaf_decides_a_row_unless_its_path_reads_the_missing_value():
    assert differences(subject_of(relabelled())).wrong == 0


@pytest.mark.parametrize("inputs", ["columns", "used", "matrix"])
def test_inputs_are_columns_or_a_matrix(fitted, inputs):
    subject = fitted("two classes", "pool")
    assert differences(subject, n=200, inputs=inputs).wrong == 0
    session = session_of(format_.write(subject, inputs=inputs)[".onnx"])
    n_inputs = {"columns": 30, "used": len(set(subject.tree.feature) - {-1}), "matrix": 1}
    assert len(session.get_inputs()) == n_inputs[inputs]


def test_a_missing_value_without_a_rule_has_no_answer(fitted):
    tree = fitted("float32", "tree").tree
    subject = subject_of(replace(tree, missing=np.full(tree.n_nodes, -2)))
    rows = np.full((2, 13), np.nan)
    rows[1] = load_wine().data[0]
    session = session_of(format_.write(subject, inputs="matrix", leaf=True)[".onnx"])
    label, p, leaf = session.run(None, {"X": rows})
    assert (label[0], leaf[0]) == (np.iinfo(np.int64).min, -1)
    assert np.isnan(p[0]).all()
    assert label[1] == 0


def test_a_refused_category_has_no_answer():
    X, y = hostile_table()
    tree = kt.C45Classifier().fit(X, y).tree_
    tree = replace(tree, unknown=np.full(4, -2))
    session = session_of(format_.write(subject_of(tree), inputs="used", leaf=True)[".onnx"])
    values = {"tensor(string)": np.array([["never"]], object), "tensor(double)": np.array([[0.5]])}
    row = {given.name: values[given.type] for given in session.get_inputs()}
    label, p, leaf = session.run(None, row)
    assert (label[0], leaf[0]) == ("", -1)
    assert np.isnan(p).all()


def test_a_batch_may_have_no_rows_or_one_row(fitted):
    subject = fitted("two classes", "coherent")
    session = session_of(format_.write(subject, inputs="matrix")[".onnx"])
    X = load_breast_cancer().data
    every = session.run(None, {"X": X})[1]
    assert session.run(None, {"X": X[:0]})[1].shape == (0, 2)
    np.testing.assert_array_equal(session.run(None, {"X": X[:1]})[1], every[:1])


def test_an_output_never_has_the_name_of_a_column(fitted):
    subject = fitted("mixed", "laplace")
    names = [value.name for value in session_of(format_.write(subject)[".onnx"]).get_outputs()]
    assert names == ["label_", "probabilities"]


def test_the_metadata_describe_the_model(fitted):
    subject = fitted("mixed", "laplace")
    model = onnx.load_from_string(format_.write(subject)[".onnx"])
    told = {item.key: item.value for item in model.metadata_props}
    assert told["keeptree_fingerprint"] == subject.tree.digest
    assert told["keeptree_version"] == model.producer_version == kt.__version__
    assert json.loads(told["keeptree_classes"]) == list(subject.classes)
    columns = json.loads(told["keeptree_columns"])
    assert [column["name"] for column in columns] == list(subject.names)
    assert [column.get("missing") for column in columns] == [None, "?", None, ""]
    assert model.ir_version <= 8
    assert {item.domain: item.version for item in model.opset_import} == {"": 13, "ai.onnx.ml": 2}


@pytest.mark.parametrize("data", DATA)
def test_the_same_tree_can_be_read_back_from_the_export(fitted, data, tmp_path):
    subject = fitted(data, "laplace")
    kt.export(subject.model, tmp_path / "model.onnx", check=0)
    assert kt.keep(tmp_path / "model.onnx").digest == subject.tree.digest


def test_a_changed_tree_in_the_metadata_is_detected(fitted, tmp_path):
    model = onnx.load_from_string(format_.write(fitted("mixed", "laplace"))[".onnx"])
    stored = next(item for item in model.metadata_props if item.key == "keeptree_tree")
    stored.value = stored.value.replace("red", "rot")
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(ValueError, match="was changed after it was saved"):
        kt.keep(tmp_path / "model.onnx")


def test_the_check_on_export_runs_onnxruntime(fitted, tmp_path):
    done = kt.export(fitted("mixed", "pool").model, tmp_path / "model.onnx", check=200)
    assert done.checked == "equal on 200 of 200 rows"


def positions():
    model = kt.DistanceKernelClassifier(kt.C45Classifier(), features="distance+separator")
    return model.fit(*load_wine(return_X_y=True))


def window():
    model = kt.DistanceKernelClassifier(kt.C45Classifier(), kernel="uniform")
    return model.fit(*load_wine(return_X_y=True))


def named(*names):
    X, y = load_wine(return_X_y=True)
    tree = kt.C45Classifier(max_depth=1).fit(X[:, : len(names)], y).tree_
    return replace(tree, feature_names=names)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (positions, {}, 'export one with features="distance"'),
        (window, {}, "kernel='uniform'; export one with kernel=\"gaussian\""),
        (lambda: named("a", "a"), {}, "Two columns are called 'a'"),
        (lambda: named("a", ""), {}, "Column 1 has an empty name"),
        (lambda: named("a", "b"), {"inputs": "colums"}, "did you mean 'columns'"),
        (lambda: named("a", "b"), {"distance": True}, "does not store the scale of its columns"),
        (lambda: kt.C45Classifier().fit(*hostile_table()), {"inputs": "matrix"}, "has categories"),
    ],
)
def test_a_model_that_onnx_cannot_express_raises_a_clear_error(model, options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        kt.export(model(), tmp_path / "model.onnx", **options)
    assert list(tmp_path.iterdir()) == []


def test_columns_of_the_same_name_can_be_exported_as_a_matrix():
    assert differences(subject_of(named("a", "a")), n=100, inputs="matrix").wrong == 0
