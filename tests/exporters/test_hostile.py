"""Exports of odd data, such as unusual names and labels, dates, and a single class.

`kt.export` scores rows with the target and raises an error if an answer differs.
"""

import shutil
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree import exporters
from tests.exporters.models import mixed_table

NEEDS = {"onnx": "onnxruntime", "pmml": "jpmml_evaluator", "sql": "duckdb"}
PROGRAMS = {"javascript": "node", "c": "cc", "pmml": "java"}
CHECKED = [name for name in exporters.FORMATS if name not in ("mermaid", "graphviz")]
PROBABILISTIC = [name for name in CHECKED if name != "pmml"]
NAMES = [
    "a'b\"c`d",
    "line\nbreak\r\n\ttab",
    "*/ evil(); /*",
    "]]> <!-- --> &amp;",
    "</script><script>throw 1</script>",
    "größe 数 🎉",
    "select",
    "constructor",
    "x" * 300,
    " ",
    "%s {0} ${x} {{x}}",
    "'; DROP TABLE data; --",
]
OPTIONS = {"pmml": {"missing": "majority"}}


def export(model, name, **options):
    """Export and check 200 rows; skip the test if the target is not installed."""
    module, program = NEEDS.get(name), PROGRAMS.get(name)
    if module is not None and find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    if program is not None and shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    return kt.export(model, format=name, check=200, **OPTIONS.get(name, {}), **options)


def numbers(names, seed=0):
    """Return one numeric column per name, all of them relevant, and three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, len(names))).round(2)
    total = X.sum(axis=1)
    return pd.DataFrame(X, columns=names), np.digitize(total, np.quantile(total, [0.3, 0.7]))


@pytest.mark.parametrize("some", [slice(0, 6), slice(6, 12)], ids=str)
@pytest.mark.parametrize("name", exporters.FORMATS)
def test_any_column_name_can_be_exported(name, some):
    X, y = numbers(NAMES[some])
    tree = kt.keep(kt.C45Classifier().fit(X, y))
    assert len(tree.tested) == 6
    assert export(tree, name)


@pytest.mark.parametrize("name", exporters.FORMATS)
def test_any_class_label_can_be_exported(name):
    X, _ = numbers(["a", "b"])
    y = np.array(NAMES)[np.digitize(X["a"], np.quantile(X["a"], np.arange(1, 12) / 12))]
    tree = kt.keep(kt.C45Classifier().fit(X, y))
    assert set(tree.label[tree.feature < 0]) == set(range(12))
    assert export(tree, name)


@pytest.mark.parametrize("name", exporters.FORMATS)
def test_placeholders_of_our_templates_are_plain_text_in_the_data(name):
    words = ["prefix_leaf", "PREFIX_API", "ANSWER", "PREDICT", "ENCODED", "NAMED", "kt_1"]
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, len(words))).round(2), columns=words)
    X[words[0]] = pd.Categorical.from_codes(rng.integers(0, len(words), 300), words)
    total = X[words[1]] + 2.0 * (X[words[0]] == words[0])
    y = np.array(words)[np.digitize(total, np.quantile(total, np.arange(1, 7) / 7))]
    assert export(kt.keep(kt.C45Classifier().fit(X, y)), name)


@pytest.mark.parametrize("name", CHECKED)
def test_a_branch_of_several_odd_categories_can_be_exported(name):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": pd.Categorical.from_codes(rng.integers(0, 12, 400), NAMES)})
    y = (X["a"].cat.codes < 6).to_numpy() ^ (rng.random(400) < 0.05)
    tree = kt.keep(kt.C45Classifier(subset_splits=True, max_depth=1).fit(X, y))
    assert tree.n_leaves == 2
    assert export(tree, name)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_ranking_of_many_regions_can_be_exported(dialect):
    X = pd.DataFrame({"a": np.arange(300.0)})
    tree = kt.keep(DecisionTreeClassifier(random_state=0).fit(X, np.arange(300) % 2))
    assert tree.n_leaves == 300  # 150 per class, but SQLite functions take 100 values
    assert export(
        kt.GeometricRankClassifier(tree).fit(X, np.arange(300) % 2), "sql", dialect=dialect
    )


@pytest.mark.parametrize("where", ["name", "label"])
def test_text_with_the_characters_that_mark_columns_in_sql_is_refused(where):
    odd = "\ue000kt\ue001"
    X, y = numbers([odd if where == "name" else "a", "b"])
    y = np.where(y > 0, odd, "other") if where == "label" else y
    with pytest.raises(ValueError, match="does not allow" if where == "name" else "cannot hold"):
        kt.export(kt.C45Classifier(max_depth=3).fit(X, y), format="sql")


@pytest.mark.parametrize("unit", ["D", "ns"])
@pytest.mark.parametrize("name", exporters.FORMATS)
def test_class_labels_that_are_dates_become_text(name, unit):
    X, y = numbers(["a", "b"])
    days = np.array(["2024-02-29", "2025-01-01", "2026-12-31"], dtype=f"datetime64[{unit}]")
    found = export(kt.C45Classifier(max_depth=3).fit(X, days[y]), name)
    assert b"2024-02-29" in (found if isinstance(found, bytes) else found.encode())


@pytest.mark.parametrize("labels", [(2**31, -(2**40), 7), (2.0, 3e15, -1.0), (True, False, True)])
@pytest.mark.parametrize("name", CHECKED)
def test_class_labels_may_be_any_numbers(name, labels):
    X, y = numbers(["a", "b"])
    assert export(kt.C45Classifier(max_depth=3).fit(X, np.array(labels)[y]), name)


@pytest.mark.parametrize(
    "kind",
    [
        kt.SmoothedTreeClassifier,
        kt.SoftTreeClassifier,
        kt.MarginTreeClassifier,
        lambda tree: kt.KeptTreeClassifier(tree, coherent=True),
        kt.ConfDTreeClassifier,
        kt.DistanceKernelClassifier,
        kt.GeometricRankClassifier,
        lambda tree: kt.GeometricRankClassifier(tree, "local", boundary="whole"),
    ],
)
@pytest.mark.parametrize("name", PROBABILISTIC)
@pytest.mark.filterwarnings("ignore")
def test_a_model_with_one_class_can_be_exported(name, kind):
    X, _ = mixed_table(60)
    model = kind(kt.C45Classifier()).fit(X, np.full(60, "only"))
    assert export(model, name)


@pytest.mark.parametrize("scope", ["global", "leaf"])
@pytest.mark.parametrize("name", PROBABILISTIC)
def test_distances_on_the_edge_of_a_piece_of_the_curve_agree_with_python(name, scope):
    # Costs of categories are whole numbers, so distances fall on the edges between two pieces of
    # the curve. There, float32 coefficients make the curve jump by 1e-8.
    rng = np.random.default_rng(3)
    labels = np.array(list("abcdefg"))
    X = pd.DataFrame({k: rng.choice(labels, 400) for k in ("p", "q")})
    X["r"] = rng.normal(size=400).round(3)
    total = 2.0 * (X["p"] == "a") + 2.0 * (X["q"] == "a") + X["r"] + 0.3 * rng.normal(size=400)
    y = np.digitize(total, np.quantile(total, [1 / 3, 2 / 3]))
    model = kt.DistanceKernelClassifier(kt.C45Classifier(max_depth=5), scope).fit(X, y)
    assert export(model, name)


@pytest.mark.parametrize("name", exporters.FORMATS)
def test_every_format_names_the_tree_and_the_version(name):
    X, y = numbers(["a", "b"])
    model = kt.SmoothedTreeClassifier(kt.C45Classifier(max_depth=3)).fit(X, y)
    found = kt.export(model, format=name, check=0)
    text = found if isinstance(found, bytes) else found.encode()
    assert model.tree_.digest.encode() in text
    assert kt.__version__.encode() in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": ""}, "The name of a table or view is empty"),
        ({"view": ""}, "The name of a table or view is empty"),
        ({"view": "v", "form": "select"}, "names a view, but form='select' creates none"),
        ({"keep": ["id"], "form": "expression"}, "selects columns of a query"),
    ],
)
def test_an_option_without_effect_raises_a_clear_error(options, message):
    tree = kt.keep("age <= 40: no\nage > 40: yes")
    with pytest.raises(ValueError, match=message):
        kt.export(tree, format="sql", **options)


def test_a_graph_that_is_too_large_to_load_raises_a_clear_error(monkeypatch):
    pytest.importorskip("onnx")
    monkeypatch.setattr("keeptree.exporters.onnx.model._MOST_NODES", 100)
    X, y = numbers(["a", "b"])
    model = kt.ConfDTreeClassifier(kt.C45Classifier()).fit(X, y)
    with pytest.raises(ValueError, match="nodes, and onnxruntime takes minutes to load more"):
        kt.export(model, format="onnx")


def test_pmml_refuses_an_empty_name():
    X, y = numbers(["a", ""])
    with pytest.raises(ValueError, match="A column has an empty name"):
        kt.export(kt.C45Classifier(max_depth=2).fit(X, y), format="pmml", missing="majority")


def test_an_error_of_the_target_is_reported_in_one_sentence(monkeypatch, tmp_path):
    class Broken:
        @staticmethod
        def write(subject):
            return {".mmd": "text"}

        @staticmethod
        def run(files, subject, rows):
            raise RuntimeError("Binder Error: no such function\nLINE 3")

    monkeypatch.setattr(exporters, "import_module", lambda name: Broken)
    with pytest.raises(ValueError, match="does not run, so nothing was written: Binder Error") as e:
        kt.export(kt.keep("a <= 1: no\na > 1: yes"), tmp_path / "tree.mmd")
    assert "\n" not in str(e.value)
    assert list(tmp_path.iterdir()) == []
