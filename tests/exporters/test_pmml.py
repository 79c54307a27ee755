"""PMML exports agree with the tree in a naive evaluator, and in JPMML if it is installed."""

import shutil
import zipfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.exporters import pmml
from keeptree.exporters.check import Answers, answers_of_python, compare
from keeptree.exporters.rows import sample_rows
from keeptree.exporters.subject import subject_of
from tests.exporters.small_trees import small_trees
from tests.exporters.tables import hostile_table
from tests.reference.pmml import NAMESPACE, Evaluator

needs_jpmml = pytest.mark.skipif(
    find_spec("jpmml_evaluator") is None or shutil.which("java") is None,
    reason="jpmml_evaluator or Java is not installed",
)


def evaluate(subject, rows, **options):
    """Return the answers of the naive evaluator; leaf -1 means that several leaves are mixed."""
    evaluator = Evaluator(pmml.write(subject, **options)[".pmml"])
    texts = [
        str(label).lower() if isinstance(label, bool) else str(label) for label in subject.classes
    ]
    scored = [
        evaluator.score(dict(zip(rows.names, row, strict=True)))
        for row in zip(*rows.columns.values(), strict=True)
    ]
    leaf = np.array([-1 if leaf is None else int(leaf) for _, _, leaf in scored])
    p = np.array([[p[text] for text in texts] for _, p, _ in scored])
    return Answers(np.array([texts.index(label) for label, _, _ in scored]), leaf, p)


def differences(subject, n=300, **options):
    """Compare the document with Python; for mixed leaves, only the probabilities count."""
    rows = sample_rows(subject, n)
    theirs, ours = evaluate(subject, rows, **options), answers_of_python(subject, rows.X)
    mixed = theirs.leaf < 0
    theirs.leaf[mixed], theirs.label[mixed] = ours.leaf[mixed], ours.label[mixed]
    return compare(ours, theirs)


def wine_tree(**options):
    X, y = load_wine(return_X_y=True, as_frame=True)
    return DecisionTreeClassifier(random_state=0, **options).fit(X, y)


MODELS = {
    "float32": wine_tree,
    "float64": lambda: kt.C45Classifier().fit(*load_breast_cancer(return_X_y=True, as_frame=True)),
    "shared": lambda: kt.C45Classifier().fit(*hostile_table()),
    "smoothed": lambda: kt.SmoothedTreeClassifier().fit(*hostile_table()),
    "most probable": lambda: kt.SmoothedTreeClassifier(decide="probability").fit(*hostile_table()),
    "cheapest": lambda: kt.SmoothedTreeClassifier(
        decide="cost", costs=[[0, 1, 1], [5, 0, 5], [3, 3, 0]]
    ).fit(*hostile_table()),
    "boolean": lambda: kt.C45Classifier().fit([[1.0], [2.0], [3.0]], [True, False, False]),
}


@pytest.mark.parametrize("model", MODELS)
def test_the_document_agrees_with_the_tree(model):
    found = differences(subject_of(MODELS[model]()))
    assert (found.labels, found.leaves) == (0, 0)
    assert found.probability <= 1e-12


@settings(max_examples=40)
@given(small_trees())
def test_the_document_of_any_small_tree_agrees_with_the_tree(tree):
    subject = subject_of(tree)
    found = differences(subject, n=60)
    assert found.wrong == 0, found


def test_class_counts_are_in_the_document():
    tree = kt.keep(wine_tree())
    text = pmml.write(subject_of(tree))[".pmml"]
    for node in Evaluator(text).model.iter(f"{NAMESPACE}Node"):
        parts = node.findall(f"{NAMESPACE}ScoreDistribution")
        counts = [float(part.get("recordCount")) for part in parts]
        assert counts == tree.counts[int(node.get("id"))].tolist()


@pytest.mark.parametrize("model", MODELS)
def test_the_same_tree_can_be_read_back_from_the_document(model, tmp_path):
    subject = subject_of(MODELS[model]())
    (tmp_path / "tree.pmml").write_text(pmml.write(subject)[".pmml"], encoding="utf-8")
    kept, tree = kt.keep(tmp_path / "tree.pmml"), subject.tree
    rows = sample_rows(subject, 300).X
    assert kept.categories == tree.categories
    np.testing.assert_array_equal(kept.counts[kept.preorder], tree.counts[tree.preorder])
    place, expected = np.argsort(kept.preorder), np.argsort(tree.preorder)
    np.testing.assert_array_equal(place[kept.route(rows)], expected[tree.route(rows)])
    np.testing.assert_array_equal(kept.decide(rows), tree.decide(rows))


def test_missing_values_may_follow_the_heaviest_child():
    tree = kt.C45Classifier().fit(*hostile_table()).tree_
    text = kt.export(tree, format="pmml", missing="majority", check=0)
    assert 'missingValueStrategy="defaultChild"' in text
    majority = replace(tree, missing=tree.missing_child)
    assert text == kt.export(majority, format="pmml", check=0)
    assert majority.digest in text


def test_the_tree_and_the_version_are_named():
    tree = kt.keep(wine_tree())
    text = kt.export(tree, format="pmml", check=0)
    assert tree.digest in text
    assert kt.__version__ in text


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda X, y: kt.KeptTreeClassifier().fit(X, y), "not a KeptTreeClassifier; export"),
        (lambda X, y: _mixed_rules(kt.C45Classifier().fit(X, y).tree_), "different rules"),
        (lambda X, y: _renamed(X, y, "a\x00b"), "XML, which cannot hold 'a.x00b'"),
        (lambda X, y: replace(_renamed(X, y, "a"), feature_names=("a",) * 4), "Two columns"),
        (lambda X, y: _same_text(kt.C45Classifier().fit(X, y).tree_), "two labels read '1'"),
    ],
)
def test_a_model_that_pmml_cannot_express_raises_a_clear_error(model, message, tmp_path):
    X, y = hostile_table()
    with pytest.raises(ValueError, match=message):
        kt.export(model(X, y), tmp_path / "tree.pmml")
    assert list(tmp_path.iterdir()) == []


def _mixed_rules(tree):
    missing = tree.missing.copy()
    missing[0] = tree.children(0)[0]
    return replace(tree, missing=missing)


def _renamed(X, y, name):
    return kt.C45Classifier().fit(X.set_axis([name, *X.columns[1:]], axis=1), y).tree_


def _same_text(tree):
    return replace(tree, classes=[1, "1", "x"], declared=None)


@pytest.fixture(scope="module")
def schema():
    """Return the XML Schema of PMML 4.4 that JPMML ships."""
    etree = pytest.importorskip("lxml.etree")
    found = find_spec("jpmml_evaluator")
    if found is None:
        pytest.skip("jpmml_evaluator, which contains the PMML schema, is not installed")
    for jar in sorted(Path(found.origin).parent.rglob("*.jar")):
        with zipfile.ZipFile(jar) as archive:
            if "pmml.xsd" in archive.namelist():
                with archive.open("pmml.xsd") as file:
                    return etree.XMLSchema(etree.parse(file))
    pytest.skip("jpmml_evaluator has no schema")


@pytest.mark.parametrize("model", MODELS)
def test_the_document_is_valid(schema, model):
    from lxml import etree

    text = pmml.write(subject_of(MODELS[model]()))[".pmml"]
    schema.assertValid(etree.fromstring(text.encode()))


@needs_jpmml
@pytest.mark.parametrize("model", ["float32", "shared"])
def test_jpmml_agrees_with_python(model, tmp_path):
    done = kt.export(MODELS[model](), tmp_path / "tree.pmml", missing="majority")
    assert done.checked == "equal on 1000 of 1000 rows"


@needs_jpmml
def test_shared_missing_values_are_not_checked_with_jpmml(tmp_path):
    done = kt.export(MODELS["shared"](), tmp_path / "tree.pmml")
    assert done.checked.startswith("not checked: JPMML does not share")
