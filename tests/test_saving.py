"""A loaded model equals the saved one to the last bit, and damaged files are refused."""

import copy
import json
import random

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.encoding import sealed
from keeptree.probability.methods import METHODS, make_method

METRIC = kt.Metric("minmax", costs={"a": 2.0}, scales={1: 0.5})
# Every method, and at least one of every other public estimator.
MODELS = {
    **{name: make_method(name) for name in METHODS},
    "rank, whole": kt.GeometricRankClassifier(scope="local", boundary="whole"),
    "kernel, separator": kt.DistanceKernelClassifier(scope="separator", metric=METRIC),
    "kernel, window": kt.DistanceKernelClassifier(scope="leaf", kernel="epanechnikov"),
    "kept, coherent": kt.KeptTreeClassifier(coherent=True),
    "confdtree, nominal": kt.ConfDTreeClassifier(options={"minimum": "class", "nominal": True}),
    "forest": kt.ConfDTreeForestClassifier(
        RandomForestClassifier(3, max_depth=4, random_state=0),
        kt.ConfDTreeClassifier(options={"minimum": "class"}),
        decide="cost",
        costs=[[0, 5, 1], [1, 0, 1], [1, 1, 0]],
    ),
    "c45": kt.C45Classifier(laplace=True),
    "nbtree": kt.NBTreeClassifier(random_state=0),
    "regressor": kt.TreeRegressor(),
}
NUMBERS_ONLY = ("forest",)


def draw(numbers_only=False, n=300):
    """Return numbers and text with missing values, and classes in a declared order."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    score = frame["a"] + 0.5 * frame["b"]
    if not numbers_only:
        colour = rng.choice(["red", "green", "blue"], n)
        score += 1.5 * (colour == "red")
        frame["colour"] = pd.Categorical(colour, categories=["red", "green", "blue", "grey"])
        frame = frame.mask(rng.random(frame.shape) < 0.1)
    y = np.digitize(score + rng.normal(size=n), [-0.5, 1])
    return frame, pd.Categorical.from_codes(y, ["low", "high", "top"])


def fitted(name, n=300):
    X, y = draw(name in NUMBERS_ONLY, n)
    model = clone(MODELS[name])
    target = y.codes.astype(float) if is_regressor(model) else np.asarray(y)
    return model.fit(X, target if name in NUMBERS_ONLY or is_regressor(model) else y), X


def answers(model, X):
    names = ("predict", "predict_proba", "decision_function", "apply", "affected")
    return {name: getattr(model, name)(X) for name in names if hasattr(model, name)}


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_gives_exactly_the_same_predictions(name, tmp_path):
    model, X = fitted(name)
    kt.save(model, tmp_path / "model.json")
    loaded = kt.load(tmp_path / "model.json")
    assert type(loaded) is type(model)
    found = answers(loaded, X)
    for method, expected in answers(model, X).items():
        np.testing.assert_array_equal(found[method], expected, err_msg=method, strict=True)
    kt.save(loaded, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()


def test_every_public_estimator_can_be_saved():
    public = (getattr(kt, name) for name in kt.__all__)
    estimators = {k for k in public if isinstance(k, type) and issubclass(k, BaseEstimator)}
    tested = {type(model) for model in MODELS.values()}
    assert estimators - tested == {kt.Boundary, kt.Metric}  # these classes are saved inside models
    assert all(kind.all_saved_fields() for kind in estimators)


def test_a_loaded_model_keeps_its_tree_when_it_is_refitted(tmp_path):
    model, X = fitted("kernel, separator")
    kt.save(model, tmp_path / "model.json")
    loaded = kt.load(tmp_path / "model.json")
    parameters, before = loaded.get_params(deep=False), model.get_params(deep=False)
    assert parameters.pop("estimator") is loaded.tree_
    assert parameters.pop("metric").get_params() == before.pop("metric").get_params()
    assert before.pop("estimator") is None
    assert parameters == before
    again = clone(loaded).fit(X, draw()[1])
    assert again.tree_ is loaded.tree_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_loaded_model_has_its_geometry_and_its_traces(tmp_path):
    for name in ("kernel", "confdtree"):
        model, X = fitted(name)
        kt.save(model, tmp_path / "model.json")
        loaded = kt.load(tmp_path / "model.json")
        if name == "kernel":
            near, expected = (m.boundary_.nearest(X) for m in (loaded, model))
            np.testing.assert_array_equal(near.point, expected.point)
            np.testing.assert_array_equal(near.leaf, expected.leaf)
        else:
            assert str(loaded.trace(X[:5])[3]) == str(model.trace(X[:5])[3])


def test_a_boundary_can_be_saved_on_its_own(tmp_path):
    X, y = load_iris(return_X_y=True)
    boundary = kt.Boundary(DecisionTreeClassifier(random_state=0).fit(X, y)).fit(X)
    kt.save(boundary, tmp_path / "boundary.json")
    loaded = kt.load(tmp_path / "boundary.json")
    np.testing.assert_array_equal(loaded.distance(X), boundary.distance(X))


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes", "perhaps, or not"],
        [1, 2, 3],
        [False, True, True],
        [1.0, -2.0, 3e9],
        ["<b>", "‮عربي", "💥"],
        np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="M8[D]"),
    ],
    ids=str,
)
def test_labels_of_every_type_are_restored(labels, tmp_path):
    X, y = load_iris(return_X_y=True)
    labels = np.asarray(labels)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, labels[y])
    kt.save(model, tmp_path / "model.json")
    loaded = kt.load(tmp_path / "model.json")
    assert loaded.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_model_with_only_one_class_can_be_saved(tmp_path):
    X = np.arange(10.0).reshape(-1, 1)
    tree = kt.keep(kt.C45Classifier().fit(X, np.ones(10)))
    for kind in (kt.DistanceKernelClassifier, kt.GeometricRankClassifier):
        model = kind(tree).fit(X, np.ones(10))
        kt.save(model, tmp_path / "model.json")
        loaded = kt.load(tmp_path / "model.json")
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_an_object_that_cannot_be_saved_raises_an_error_with_advice(tmp_path):
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "model.json"
    pipeline = make_pipeline(PCA(), DecisionTreeClassifier()).fit(X, y)
    with pytest.raises(ValueError, match=r"step of a pipeline.* kt\.keep\(pipeline, fold=False\)"):
        kt.save(kt.SmoothedTreeClassifier(pipeline).fit(X, y), path)
    with pytest.raises(ValueError, match="RandomState cannot be saved"):
        kt.save(kt.NBTreeClassifier(random_state=np.random.RandomState(0)).fit(X, y), path)
    with pytest.raises(ValueError, match="not fitted yet"):
        kt.save(kt.SmoothedTreeClassifier(), path)
    with pytest.raises(TypeError, match="Cannot save a DecisionTreeClassifier"):
        kt.save(DecisionTreeClassifier().fit(X, y), path)

    class Own(kt.SmoothedTreeClassifier):
        pass

    with pytest.raises(TypeError, match="Cannot save a Own"):
        kt.save(Own(kt.C45Classifier()).fit(X, y), path)
    assert not path.exists()


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.json"
    kt.save(fitted("kernel, separator")[0], path)
    return json.loads(path.read_text())


def changed(document, **entries):
    """Return the document with other entries and a matching digest, as an attacker would."""
    document = {**copy.deepcopy(document), **entries}
    document.pop("digest", None)
    return sealed(document)


DAMAGE = {
    "another digit": (lambda d: json.dumps(d).replace("0.1", "0.2", 1), "digest does not match"),
    "truncated": (lambda d: json.dumps(d)[:1000], "is not a KeepTree file"),
    "empty": (lambda d: "", "is not a KeepTree file"),
    "plain text": (lambda d: "hello", "is not a KeepTree file: it is not JSON"),
    "cut off": (lambda d: '{"format": "keep', "it ends unexpectedly; it may have been cut off"),
    "not JSON": (lambda d: "\x80\x04pickle", "is not a KeepTree file"),
    "deeply nested": (lambda d: "[" * 100_000, "is not a KeepTree file|damaged"),
    "a list": (lambda d: "[1]", "not a model that kt.save"),
    "other JSON": (lambda d: '{"format": "other"}', "not a model that kt.save"),
    "newer": (lambda d: json.dumps(changed(d, version=5)), "reads versions up to 4; upgrade"),
    "older": (
        lambda d: json.dumps(changed(d, version=2)),
        "never released; fit and save",
    ),
    "no version": (lambda d: json.dumps(changed(d, version="1")), "version is '1'"),
    "a class outside KeepTree": (
        lambda d: json.dumps(changed(d, model={"model": "os.system", "parameters": {}})),
        "not a model that this version knows",
    ),
    "a function": (
        lambda d: json.dumps(changed(d, model={**d["model"], "model": "keep"})),
        "not a model that this version knows",
    ),
    "an unknown part": (
        lambda d: json.dumps(changed(d, model={"part": "Popen", "fields": {}})),
        "part 'Popen' that this version does not know",
    ),
    "no tree": (lambda d: json.dumps(changed(d, trees=[])), "refers to tree 0, but has 0"),
    "another kind": (lambda d: json.dumps(changed(d, kind="Metric")), "content is not a 'Metric'"),
    "a number instead of a model": (
        lambda d: json.dumps(changed(d, model=7)),
        "its content is not",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_raises_a_clear_one_line_error(name, document, tmp_path):
    damage, sentence = DAMAGE[name]
    path = tmp_path / "model.json"
    path.write_text(damage(document), encoding="latin-1")
    with pytest.raises(ValueError, match=sentence) as error:
        kt.load(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("load", [kt.load, kt.Tree.load, kt.verify_file])
def test_a_missing_file_is_reported_like_missing_data(load, tmp_path):
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(FileNotFoundError, match="does not exist or is not a file; check the n"):
            load(path)


def test_trees_are_saved_and_loaded_like_models(tmp_path):
    X, y = draw()
    tree = kt.C45Classifier().fit(X, y).tree_
    tree.save(tmp_path / "tree.json")
    kt.save(tree, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "tree.json").read_text()
    for loaded in (kt.load(tmp_path / "tree.json"), kt.Tree.load(tmp_path / "tree.json")):
        assert isinstance(loaded, kt.Tree)
        assert loaded.to_dict() == tree.to_dict()
    kt.save(kt.SmoothedTreeClassifier(tree).fit(X, y), tmp_path / "model.json")
    with pytest.raises(ValueError, match="Not a tree"):
        kt.Tree.load(tmp_path / "model.json")


def test_a_damaged_tree_raises_a_clear_error(tmp_path):
    (tmp_path / "tree.json").write_text('{"format": "keeptree.Tree", "version": 1}')
    with pytest.raises(ValueError, match=r"tree\.json cannot be read: Not a tree: .* incomplete"):
        kt.load(tmp_path / "tree.json")


@pytest.mark.parametrize("name", ["bandwidth_", "another_"])
def test_missing_and_unexpected_attributes_are_named(name, document, tmp_path):
    model = copy.deepcopy(document["model"])
    if model["fitted"].pop(name, None) is None:
        model["fitted"][name] = 1
    (tmp_path / "model.json").write_text(json.dumps(changed(document, model=model)))
    with pytest.raises(ValueError, match=f"missing or unexpected fitted attributes: .*{name}"):
        kt.load(tmp_path / "model.json")


def test_a_reformatted_file_can_be_loaded(document, tmp_path):
    (tmp_path / "model.json").write_text(json.dumps(document, indent=2, sort_keys=True))
    assert isinstance(kt.load(tmp_path / "model.json"), kt.DistanceKernelClassifier)


def places(data, path=()):
    """Yield the paths of all values inside a JSON document."""
    yield path
    inside = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in inside:
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))
        else:
            yield (*path, key)


def replaced(data, path, value):
    data = copy.deepcopy(data)
    inside = data
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return data


HOSTILE = [None, True, -1, 0, 1, 2**31, 2**70, 1.5, -1e300, "nan", "x", [], [[0]], {}, {"tree": 0}]


@pytest.mark.parametrize("name", MODELS)
def test_hostile_values_in_a_file_never_crash(name, tmp_path):
    """A file with a changed value and a matching digest is refused or gives a valid model."""
    model, X = fitted(name)
    path = tmp_path / "model.json"
    kt.save(model, path)
    document = json.loads(path.read_text())
    rng = random.Random(0)
    everywhere = list(places({"model": document["model"], "trees": document["trees"]}))[1:]
    # Draw some values outside of arrays, which are few and would otherwise rarely be drawn.
    structure = [place for place in everywhere if not isinstance(place[-1], int)]
    read = refused = 0
    drawn = rng.sample(structure, min(25, len(structure))) + rng.choices(everywhere, k=200)
    for count, place in enumerate(drawn):
        if read and count >= 50:
            break
        hostile = replaced(document, place, rng.choice(HOSTILE))
        path.write_text(json.dumps(changed(hostile)))
        try:
            found = answers(kt.load(path), X[:50])
        except ValueError:  # the error is about the file or, if it can be read, about X
            refused += 1
            continue
        read += 1
        assert all(len(values) == 50 for values in found.values())
        if "predict_proba" in found:
            p = found["predict_proba"]
            assert ((p >= 0) & (p <= 1)).all()
            np.testing.assert_allclose(p.sum(axis=1), 1)
    assert min(read, refused) > 0


def with_value(document, path, value):
    """Return the model's document with another value and a matching digest."""
    return json.dumps(changed(replaced(document, path, value)))


CURVES = ("model", "fitted", "curves_", "fields")
METRIC_PATH = ("model", "fitted", "boundary_", "fitted", "metric_", "parameters")
FORBIDDEN = {
    "a negative prior": ((*CURVES, "prior", "values", 0), -0.5, "prior must be probabilities"),
    "a prior above 1": ((*CURVES, "prior", "values", 0), 2.0, "prior must be probabilities"),
    "NaN in a table": ((*CURVES, "tables", "fields", "axis", "values", 0), "nan", "must be finite"),
    "an infinite coefficient": (
        (*CURVES, "tables", "fields", "coefficient", "values", 0),
        "inf",
        "must be finite",
    ),
    "an unknown metric": (
        (*METRIC_PATH, "kind"),
        "manhattan",
        "'manhattan' of its metric is unknown",
    ),
    "an unknown cost": ((*METRIC_PATH, "nominal"), "free", "nominal is not known"),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_hostile_value_with_a_matching_digest_is_refused(name, document, tmp_path):
    place, value, sentence = FORBIDDEN[name]
    (tmp_path / "model.json").write_text(with_value(document, place, value))
    with pytest.raises(ValueError, match=sentence):
        kt.load(tmp_path / "model.json")


def test_an_error_about_an_array_is_one_line(document, tmp_path):
    array = {"array": "float64", "shape": [20, 3], "values": [0.5] * 60}
    hostile = with_value(document, ("model", "parameters", "scope"), array)
    (tmp_path / "model.json").write_text(hostile)
    with pytest.raises(ValueError, match="scope") as error:
        kt.load(tmp_path / "model.json")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_not_valid_json_are_refused(text, document, tmp_path):
    (tmp_path / "model.json").write_text(json.dumps(document).replace("[0.", f"[{text}, 0.", 1))
    with pytest.raises(ValueError, match="is not a KeepTree file"):
        kt.load(tmp_path / "model.json")
