"""ONNX exports score as Python does, in onnxruntime: the same leaves, labels and probabilities."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.explanation.subject import boundary_of
from keeptree.exporters.check import answers_of_python, compare
from keeptree.exporters.rows import sample_rows
from keeptree.exporters.subject import subject_of

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
MODELS = {
    "tree": lambda learner: learner,
    "laplace": kt.SmoothedTreeClassifier,
    "soft": kt.SoftTreeClassifier,
    "hard": lambda learner: kt.SoftTreeClassifier(learner, strength=0.0),
    "margin": kt.MarginTreeClassifier,
    "pool": kt.KeptTreeClassifier,
    "coherent": lambda learner: kt.KeptTreeClassifier(learner, coherent=True),
    "most probable": lambda learner: kt.KeptTreeClassifier(learner, decide="probability"),
    "distance": kt.DistanceKernelClassifier,
    "distance to thresholds": lambda learner: kt.DistanceKernelClassifier(learner, grid=None),
    "distance in leaves": lambda learner: kt.DistanceKernelClassifier(learner, "leaf"),
}


def differences(subject, n=600, **options):
    """How the export of a subject differs from Python."""
    options = {"leaf": True, **options}
    rows = sample_rows(subject, n)
    answers = format_.run(format_.write(subject, **options), subject, rows, **options)
    return compare(answers_of_python(subject, rows.X), answers)


def scored(subject, rows, **options):
    """Outputs of a session by name."""
    session = session_of(format_.write(subject, **options)[".onnx"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feeds(subject, rows)), strict=True))


def session_of(content):
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])


def feeds(subject, rows):
    """Rows as one input per column, missing categories as their markers."""
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
            X, y, learner = DATA[data]()
            known[data, model] = subject_of(MODELS[model](learner).fit(X, y))
        return known[data, model]

    return fit


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("data", DATA)
def test_every_model_scores_as_in_python(fitted, data, model):
    found = differences(fitted(data, model))
    assert (found.labels, found.leaves) == (0, 0)
    assert found.probability <= 1e-12


@pytest.mark.parametrize("model", ["laplace", "distance to thresholds"])
@pytest.mark.parametrize("data", DATA)
def test_the_distance_is_that_to_the_nearest_possible_case(fitted, data, model):
    subject = fitted(data, model)
    rows = sample_rows(subject, 400)
    expected = boundary_of(subject.model).distance_encoded(rows.X)
    found = scored(subject, rows, distance=True)["distance"]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)
