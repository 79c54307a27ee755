"""Exports of trees with oblique tests agree with Python in every format that can be run."""

import shutil
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

import keeptree as kt
from keeptree import exporters
from keeptree.exporters import sql
from keeptree.exporters.check import answers_of_python, compare
from keeptree.exporters.rows import sample_rows
from keeptree.exporters.sql.spelling import DIALECTS
from keeptree.exporters.subject import subject_of
from tests.exporters import postgres
from tests.strategies import oblique_trees, random_oblique_tree, random_rows

sqlglot = pytest.importorskip("sqlglot")
pytest.importorskip("duckdb")
pytest.importorskip("onnxruntime")

TARGETS = {
    "onnx": ("onnx", {"leaf": True}),
    "duckdb": ("sql", {"dialect": "duckdb"}),
    "sqlite": ("sql", {"dialect": "sqlite"}),
    "python": ("python", {}),
    "javascript": ("javascript", {}),
    "c": ("c", {}),
}
PROGRAMS = {"javascript": "node", "c": "cc"}
RULES = ("error", "child", "share", "mixed")
MODELS = {
    "smoothed": kt.SmoothedTreeClassifier,
    "soft": kt.SoftTreeClassifier,
    "margin": kt.MarginTreeClassifier,
    "kept": kt.KeptTreeClassifier,
    "coherent": lambda tree: kt.KeptTreeClassifier(tree, coherent=True),
    "confdtree": kt.ConfDTreeClassifier,
}


def compared(source, target, n=150):
    """Compare a target with Python on rows that cover every test."""
    if shutil.which(PROGRAMS.get(target, "sh")) is None:
        pytest.skip(f"{PROGRAMS[target]} is not installed")
    name, options = TARGETS[target]
    module = exporters.import_module(f"keeptree.exporters.{name}")
    subject = subject_of(source)
    rows = sample_rows(subject, n)
    theirs = module.run(module.write(subject, **options), subject, rows, **options)
    return compare(answers_of_python(subject, rows.X), theirs)


@cache
def made(model, dtype="float64", seed=3):
    """Return a model of a tree with all kinds of tests that shares missing values."""
    tree = random_oblique_tree(
        seed, n_leaves=10, n_classes=3, n_nominal=1, missing="share", compare_dtype=dtype
    )
    X = random_rows(tree, seed, n=200, missing=0.05)
    noise = np.random.default_rng(seed).random(200)
    y = tree.classes[np.where(noise < 0.1, 1, tree.decide(X))]
    return MODELS[model](replace(tree, feature_names=["a", "b", "c", "kind"])).fit(
        tree.decode(X), y
    )


@pytest.mark.parametrize(
    ("model", "target"),
    [
        *product(("smoothed", "margin", "confdtree"), TARGETS),
        *product(("soft", "kept"), ("onnx", "duckdb")),
        *product(("coherent",), ("onnx", "python", "javascript", "c")),
    ],
)
def test_models_of_oblique_trees_agree_with_python(model, target):
    dtype = "float32" if model in ("smoothed", "margin", "coherent") else "float64"
    assert str(compared(made(model, dtype), target)) == "equal on 150 of 150 rows"


@pytest.mark.parametrize("target", ["onnx", "duckdb", "sqlite"])
@settings(max_examples=6, deadline=None)
@given(tree=oblique_trees(missing=RULES))
def test_any_oblique_tree_agrees_with_python(tree, target):
    assert compared(tree, target, 80).wrong == 0


@pytest.mark.parametrize("target", ["python", "javascript", "c"])
@settings(max_examples=3, deadline=None)
@given(tree=oblique_trees(missing=RULES))
def test_code_for_any_oblique_tree_agrees_with_python(tree, target):
    assert compared(tree, target, 80).wrong == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_check_rows_lie_on_the_planes_and_one_ulp_to_either_side(dtype):
    """The check must notice a format that adds the terms in another order."""
    tree = random_oblique_tree(4, n_leaves=6, n_classes=2, compare_dtype=dtype)
    rows = sample_rows(subject_of(tree), 3000).X
    values, number = tree.lift(rows), np.dtype(dtype).type
    for node in np.flatnonzero(tree.kind == 3):
        at = number(tree.threshold[node])
        for wanted in (at, np.nextafter(at, number(-np.inf)), np.nextafter(at, number(np.inf))):
            assert (values[:, tree.lifted.feature[node]] == wanted).any()
    assert set(tree.route(rows)) == set(np.flatnonzero(tree.kind == 0))


@pytest.fixture(scope="module")
def server():
    if postgres.find_binaries() is None:
        pytest.skip("Postgres (initdb, postgres and psql) is not installed")
    with postgres.serving() as server:
        yield server


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_in_postgres_agree_with_python(dtype, server):
    for model in ("smoothed", "margin"):
        subject = subject_of(made(model, dtype))
        rows = sample_rows(subject, 400)
        files = sql.write(subject, dialect="postgres", table="keeptree_rows", keep=["keeptree_id"])
        theirs = postgres.score(server, files, subject, rows)
        assert compare(answers_of_python(subject, rows.X), theirs).wrong == 0


def test_no_number_is_too_large_or_too_small_for_postgres(server):
    """Postgres aborts a query in which a product overflows or underflows."""
    tree = kt.keep("0.25 * a + 3 * b <= 0: no\n0.25 * a + 3 * b > 0: yes")
    text = kt.export(tree, format="sql", dialect="postgres", table="sums", keep=["a"])
    server.run("CREATE TABLE sums (a DOUBLE PRECISION, b DOUBLE PRECISION);")
    for a, b in ((5e-324, 0.0), (1e-323, 0.0), (1.5e308, 1.5e308), (-1.5e308, 0.0)):
        server.run(f"DELETE FROM sums; INSERT INTO sums VALUES ('{a!r}', '{b!r}');")
        _, row = server.run(text)
        assert row[1] == tree.predict([[a, b]])[0]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_sql_of_every_dialect_can_be_parsed(dialect):
    for model in ("smoothed", "margin"):
        text = sql.write(subject_of(made(model, "float32")), dialect=dialect)[".sql"]
        parsed = sqlglot.parse(text, dialect=dialect)
        assert not any(isinstance(part, sqlglot.exp.Command) for part in parsed)


def test_the_sum_is_readable_in_exported_code():
    tree = kt.keep("1 * age - 1.2 * income <= 2: grant\n1 * age - 1.2 * income > 2: refuse")
    text = kt.export(tree, format="python")
    assert "age_1_2_income = x[2]  # age − 1.2 × income" in text
    module = {}
    exec(text, module)
    assert module["predict"]({"age": 40, "income": 31.7}) == "grant"
    with pytest.raises(ValueError, match=r"no value for 'age − 1\.2 × income'"):
        module["predict"]({"age": 40, "income": None})
    assert '"age" AS DOUBLE' in kt.export(tree, format="sql")


def test_the_oblique_tree_can_be_read_back_from_an_onnx_file(tmp_path):
    model = made("smoothed")
    done = kt.export(model, tmp_path / "model.onnx", check=50)
    assert done.checked == "equal on 50 of 50 rows"
    assert kt.keep(tmp_path / "model.onnx").digest == model.tree_.digest


def distance_kernel():
    tree = made("smoothed").tree_
    X = random_rows(tree, 0, n=100)
    return kt.DistanceKernelClassifier(tree).fit(tree.decode(X), tree.predict(tree.decode(X)))


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (lambda: made("smoothed"), {"format": "pmml"}, "the PMML export cannot express"),
        (lambda: made("smoothed"), {"format": "onnx", "distance": True}, "leave out the distance"),
        (distance_kernel, {"format": "c"}, "no exported file measures distances to; export a Kept"),
        (distance_kernel, {"format": "onnx"}, "no exported file measures distances to"),
    ],
)
def test_an_unsupported_export_raises_a_clear_error(source, options, message):
    with pytest.raises(ValueError, match=message):
        kt.export(source(), **options)
