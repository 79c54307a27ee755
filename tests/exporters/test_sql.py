"""SQL exports agree with Python on labels, leaves and probabilities in every installed database."""

import sqlite3
import warnings
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.exporters import sql
from keeptree.exporters.check import answers_of_python, compare
from keeptree.exporters.rows import beside, sample_rows
from keeptree.exporters.sql.decision import largest_at_most
from keeptree.exporters.sql.run import run_query
from keeptree.exporters.sql.spelling import DIALECTS, Spelling
from keeptree.exporters.subject import subject_of
from keeptree.tree import LEAF
from tests.exporters import postgres
from tests.exporters.models import (
    DATA,
    MODELS,
    PAPERS,
    WEIGHTS,
    fitted,
    mixed_table,
    relabelled,
    weighted,
)

sqlglot = pytest.importorskip("sqlglot")
pytest.importorskip("duckdb")

WITH_KERNEL = ("kept", "coherent", "all columns")
WITHOUT_KERNEL = [name for name in MODELS if name not in WITH_KERNEL]


def check(source, dialect, n=400):
    """Check that Python and the database agree on rows that cover every test."""
    subject = subject_of(source)
    rows = sample_rows(subject, n)
    theirs = sql.run(None, subject, rows, dialect=dialect)
    found = compare(answers_of_python(subject, rows.X), theirs)
    assert found.wrong == 0, str(found)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("model", [*MODELS, *(name for name in PAPERS if name != "separator")])
def test_duckdb_agrees_with_python(model, data):
    check(fitted(model, data), "duckdb", 60 if model in WITH_KERNEL else 400)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_sql_without_experts_of_weight_zero_agrees_with_python(weights, tmp_path):
    model = weighted(weights)
    check(model, "duckdb", 40)
    written = sql.write(subject_of(model), dialect="duckdb")
    assert (".landmarks.sql" in written) == (weights != "no kernel")
    assert ("soft_" in written[".sql"]) == (WEIGHTS[weights][0] > 0)


def test_a_model_without_its_kernel_can_be_written_for_sqlite():
    check(weighted("no kernel"), "sqlite", 40)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("model", [*WITHOUT_KERNEL, "confdtree", "rank", "local rank"])
def test_sqlite_agrees_with_python(model, data):
    check(fitted(model, data), "sqlite")


def test_a_coherent_model_that_decides_by_probability_agrees_with_python():
    X, y, _ = DATA["mixed"]()
    model = kt.KeptTreeClassifier(fitted("tree", "mixed"), coherent=True, decide="probability")
    check(model.fit(X, y), "duckdb", 60)


@pytest.fixture(scope="module")
def server():
    if postgres.find_binaries() is None:
        pytest.skip("Postgres (initdb, postgres and psql) is not installed")
    with postgres.serving() as server:
        yield server


@pytest.mark.parametrize(
    ("model", "data"),
    [
        ("tree", "missing"),
        ("laplace", "mixed"),
        ("soft", "numbers"),
        ("soft", "mixed"),
        ("margin", "classes"),
        ("coherent", "missing"),
        ("coherent", "mixed"),
        ("all columns", "classes"),
        ("all columns", "missing"),
        ("confdtree", "missing"),
        ("confdtree", "mixed"),
        ("distance", "numbers"),
        ("distance by leaf", "mixed"),
        ("rank", "mixed"),
        ("local rank", "missing"),
    ],
)
def test_postgres_agrees_with_python(model, data, server):
    subject = subject_of(fitted(model, data))
    rows = sample_rows(subject, 60 if model in WITH_KERNEL else 400)
    files = sql.write(subject, dialect="postgres", table="keeptree_rows", keep=["keeptree_id"])
    theirs = postgres.score(server, files, subject, rows)
    found = compare(answers_of_python(subject, rows.X), theirs)
    assert found.wrong == 0, str(found)


@pytest.mark.parametrize("weights", ["kernel only", "Gaussian kernel"])
def test_postgres_ignores_differences_that_are_too_small_for_a_product(weights, server):
    model = copy(weighted(weights))
    kernel, space = model.kernel_, model.kernel_.space
    nothing = np.zeros(len(space.feature))
    as_is = {"center": nothing, "factor": nothing + 1, "bends": np.empty((2, 0))}
    model.kernel_ = replace(
        kernel,
        space=replace(space, bend_start=np.zeros_like(space.bend_start), **as_is),
        landmarks=np.full_like(kernel.landmarks, 1e-45),  # the smallest float32
        sharpness=np.full_like(kernel.sharpness, 0.01),
    )
    subject = subject_of(model)
    rows = sample_rows(subject, 8)
    rows = replace(rows, X=np.zeros_like(rows.X))
    files = sql.write(subject, dialect="postgres", table="keeptree_rows", keep=["keeptree_id"])
    found = compare(
        answers_of_python(subject, rows.X), postgres.score(server, files, subject, rows)
    )
    assert found.wrong == 0, str(found)


def test_a_view_in_postgres_keeps_all_columns(server):
    text = kt.export(
        fitted("soft", "mixed"), format="sql", dialect="postgres", table="loans", view="scored"
    )
    server.run("CREATE TABLE loans (id INT, size REAL, age INT, colour TEXT, letter TEXT);" + text)
    server.run("INSERT INTO loans VALUES (7, 0.5, 40, 'red', 'a')")
    names, row = server.run("SELECT * FROM scored")
    assert names[:6] == ["id", "size", "age", "colour", "letter", "prediction"]
    assert row[0] == "7"


@pytest.mark.parametrize(
    ("model", "data", "form"),
    [
        ("tree", "numbers", "expression"),
        ("laplace", "numbers", "select"),
        ("soft", "classes", "view"),
        ("margin", "classes", "select"),
        ("kept", "classes", "view"),
        ("confdtree", "classes", "view"),
        ("distance", "classes", "select"),
        ("local rank", "classes", "select"),
    ],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_sql_of_every_dialect_can_be_parsed(model, data, form, dialect):
    if model == "distance" and not DIALECTS[dialect].single:
        pytest.skip("refused, which another test checks")
    if model == "kept" and not DIALECTS[dialect].fold:
        pytest.skip("refused, which another test checks")
    files = sql.write(subject_of(fitted(model, data)), dialect=dialect, form=form)
    for suffix, text in files.items():
        is_fragment = form == "expression" and suffix == ".sql"
        text = f"SELECT {text} FROM data" if is_fragment else text
        parsed = sqlglot.parse(text, dialect=dialect)
        assert not any(isinstance(part, sqlglot.exp.Command) for part in parsed)


def hostile_table():
    X, y = mixed_table()
    names = {
        "size": "select\"; DROP TABLE x; -- '`]",
        "age": "größe\nzwei\\",
        "colour": "order",
        "letter": "KT_1",
    }
    X = X.rename(columns=names)
    X["order"] = X["order"].cat.rename_categories(
        {"red": "it's", "green": "a\\'b\"\n--", "blue": "; é ] `x` $$"}
    )
    return X, np.array(["'; --", 'a"b\n', "\\ü"])[y.astype(int)]


@pytest.mark.parametrize("model", ["laplace", "soft"])
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_hostile_names_and_labels_are_exported_correctly(model, dialect):
    X, y = hostile_table()
    check(MODELS[model](kt.keep(kt.C45Classifier().fit(X, y))).fit(X, y), dialect)


@pytest.mark.parametrize("model", ["laplace", "soft"])
def test_hostile_names_and_labels_are_exported_correctly_to_postgres(model, server):
    X, y = hostile_table()
    subject = subject_of(MODELS[model](kt.keep(kt.C45Classifier().fit(X, y))).fit(X, y))
    rows = sample_rows(subject, 200)
    files = sql.write(subject, dialect="postgres", table="keeptree_rows", keep=["keeptree_id"])
    theirs = postgres.score(server, files, subject, rows)
    assert compare(answers_of_python(subject, rows.X), theirs).wrong == 0


@pytest.mark.parametrize("dialect", ["postgres", "spark", "snowflake", "tsql"])
def test_hostile_names_and_labels_are_read_back_by_sqlglot(dialect):
    X, y = hostile_table()
    tree = kt.keep(kt.C45Classifier().fit(X, y))
    (parsed,) = sqlglot.parse(kt.export(tree, format="sql", dialect=dialect), dialect=dialect)
    names = {node.this for node in parsed.find_all(sqlglot.exp.Identifier)}
    texts = {node.this for node in parsed.find_all(sqlglot.exp.Literal, sqlglot.exp.National)}
    tested = {tree.feature_names[f] for f in tree.feature if f >= 0}
    assert tested <= names
    assert set(tree.classes) <= texts
    assert set(X["order"].cat.categories) <= texts


@pytest.mark.parametrize("labels", [(10, 20, 30), (1.5, 2.5, -1e-300), (True, False)], ids=str)
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_labels_need_not_be_text(labels, dialect):
    X, y = mixed_table()
    X["colour"] = X["colour"].cat.codes.map(lambda code: labels[code % len(labels)])
    tree = kt.keep(kt.C45Classifier(categorical_features=["colour"]).fit(X, y.astype(int)))
    check(tree, dialect)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_one_category_may_stand_for_all_unseen_ones(dialect):
    tree = fitted("tree", "mixed")
    unknown = [-1 if labels is None else len(labels) - 1 for labels in tree.categories]
    check(replace(tree, unknown=unknown), dialect)


def ask(text, **columns):
    """Return the rows of a DuckDB query that reads ``data``, as dicts."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        declared = ", ".join(f"{name} {kind}" for name, (kind, _) in columns.items())
        connection.execute(f"CREATE TABLE data ({declared})")
        values = zip(*(column for _, column in columns.values()), strict=True)
        places = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO data VALUES ({places})", list(values))
        cursor = connection.execute(text)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


TREE = """
age <= 40: no
age > 40: yes
"""


def test_a_row_that_the_tree_refuses_has_no_answer():
    tree = kt.keep(TREE)
    nan = float("nan")
    rows = ask(kt.export(tree, format="sql"), age=("DOUBLE", [40.0, 41.0, None, nan]))
    assert [row["prediction"] for row in rows] == ["no", "yes", None, None]
    assert [row["leaf"] for row in rows] == [1, 2, None, None]


def test_a_row_that_the_tree_of_a_soft_model_refuses_has_no_answer():
    X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array(["no", "no", "yes", "yes"])
    tree = kt.keep("age <= 2: no\nage > 2: yes", X=_frame(X), y=y)
    text = kt.export(kt.SoftTreeClassifier(tree).fit(_frame(X), y), format="sql")
    known, unknown = ask(text, age=("DOUBLE", [2.0, None]))
    assert known["prediction"] == "no"
    assert {unknown["prediction"], unknown["leaf"], unknown["probability_no"]} == {None}


def _frame(X):
    import pandas as pd

    return pd.DataFrame(X, columns=["age"])


def test_all_input_columns_come_before_the_answers():
    for model in ("tree", "soft"):
        text = kt.export(fitted(model, "classes"), format="sql")
        names = fitted(model, "classes")
        names = getattr(names, "tree_", names).feature_names
        columns = {"id": ("INTEGER", [5]), **{f'"{name}"': ("REAL", [1.0]) for name in names}}
        (row,) = ask(text, **columns)
        assert [*row][: 1 + len(names)] == ["id", *names]
        assert [*row][1 + len(names) :] == [
            "prediction",
            "leaf",
            *(f"probability_{c}" for c in range(3)),
        ]


def test_an_expression_can_be_part_of_any_query():
    text = kt.export(kt.keep(TREE), format="sql", form="expression", prefix="tree_")
    (row,) = ask(f"SELECT age + 1 AS next, {text} FROM data", age=("INTEGER", [50]))
    assert row["next"] == 51
    assert row["tree_prediction"] == "yes"


def test_integers_and_decimals_are_compared_as_numbers():
    text = kt.export(kt.keep("age <= 40.5: no\nage > 40.5: yes"), format="sql")
    for kind in ("INTEGER", "DECIMAL(6, 2)", "REAL", "BIGINT"):
        assert ask(text, age=(kind, [41]))[0]["prediction"] == "yes"


def test_sqlite_reads_every_threshold_exactly():
    rng = np.random.default_rng(0)
    spell, connection = Spelling("sqlite"), sqlite3.connect(":memory:")
    numbers = rng.normal(size=2000) * 10.0 ** rng.integers(-300, 300, 2000)
    for number in [*numbers.tolist(), 0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1, 3.0]:
        assert connection.execute(f"SELECT {spell.exact(number)}").fetchone() == (number,)


def test_float32_rounding_in_sqlite_agrees_with_numpy():
    from keeptree.exporters.sql.inputs import Inputs
    from keeptree.exporters.sql.steps import Steps

    rng = np.random.default_rng(1)
    numbers = (rng.normal(size=300) * 10.0 ** rng.integers(-46, 38, 300)).tolist()
    numbers = [x for number in numbers for x in beside(number) if abs(x) < 3.4028234e38]
    steps = Steps(Spelling("sqlite"))
    column, tree = {"name": "x", "categories": None}, {"float32": True}
    data = {"columns": [column], "sums": [], "tree": tree, "model": {"kind": "leaves"}}
    rounded = Inputs(data, steps).single(0)
    query = steps.select({"r": rounded}, "data", ["x"], ["x"])
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (x REAL)")
    connection.executemany("INSERT INTO data VALUES (?)", [(x,) for x in numbers])
    for x, r in connection.execute(query):
        assert r == float(np.float32(x)), x


def test_an_adjusted_threshold_replaces_the_cast_to_float32():
    rng = np.random.default_rng(2)
    for t in [*(rng.normal(size=200) * 10.0 ** rng.integers(-44, 45, 200)).tolist(), 3.5e38, -1e39]:
        moved = largest_at_most(t)
        for x in [*beside(t), *beside(moved), 0.0, 1e300, -1e300]:
            with np.errstate(over="ignore"):
                assert (float(np.float32(x)) <= t) == (x <= moved), (t, x)


def test_a_warning_names_the_columns_that_sqlite_returns_if_they_are_not_all():
    model = fitted("soft", "mixed")
    expected = r"only the columns that the model reads \(.*\); list all .* in keep \(--keep\)"
    with pytest.warns(UserWarning, match=expected):
        kt.export(model, format="sql", dialect="sqlite", check=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kt.export(model, format="sql", dialect="sqlite", keep=["id"], check=0)
        kt.export(kt.keep(TREE), format="sql", dialect="sqlite", check=0)


def test_a_missing_column_is_an_error_in_sqlite_and_not_a_string():
    text = kt.export(kt.keep(TREE), format="sql", dialect="sqlite")
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (years REAL)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        connection.execute(text)


def score_text(text, source, dialect, n=200):
    """Compare Python with a query that reads ``keeptree_rows`` and keeps ``keeptree_id``."""
    subject = subject_of(source)
    rows = sample_rows(subject, n)
    theirs = run_query({".sql": text}, subject, rows, dialect)
    return compare(answers_of_python(subject, rows.X), theirs)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    ("model", "data"), [("tree", "missing"), ("laplace", "classes"), ("soft", "classes")]
)
def test_expressions_agree_with_python(model, data, dialect):
    source = fitted(model, data)
    text = kt.export(source, format="sql", dialect=dialect, form="expression", check=0)
    text = f"SELECT keeptree_id, {text.split(chr(10), 2)[2]} FROM keeptree_rows"
    assert score_text(text, source, dialect).wrong == 0


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("model", ["tree", "soft", "margin"])
def test_a_query_that_keeps_all_columns_agrees_with_python(model, dialect):
    source = fitted(model, "classes")
    text = kt.export(source, format="sql", dialect=dialect, table="keeptree_rows", check=0)
    assert score_text(text, source, dialect).wrong == 0


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("model", ["tree", "laplace", "soft", "margin"])
def test_a_tree_may_be_a_single_leaf(model, dialect):
    X, y, _ = DATA["classes"]()
    tree = kt.keep(kt.C45Classifier(max_depth=0).fit(X, y))
    made = MODELS[model](tree)
    check(tree if made is None else made.fit(X, y), dialect, 10)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_deep_tree_stays_within_the_limits_of_parsers(dialect):
    X = np.arange(121.0)[:, None]
    learner = DecisionTreeClassifier(random_state=0)
    tree = kt.keep(learner.fit(X, np.arange(121) % 2, sample_weight=1.03 ** -X[:, 0]))
    assert tree.max_depth > 100
    check(tree, dialect, 500)
    check(kt.SoftTreeClassifier(tree).fit(X, np.arange(121) % 2), dialect, 200)


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("loans", "loans"),
        ("shop.Loans", "shop.Loans"),
        ("order", '"order"'),
        ('shop."my loans"', 'shop."my loans"'),
        ("my-project.shop.loans", '"my-project".shop.loans'),
        ("a; DROP TABLE b --", '"a; DROP TABLE b --"'),
        ('a"b', '"a""b"'),
    ],
)
def test_table_names_are_quoted_if_necessary(name, spelled):
    assert Spelling("duckdb").table(name) == spelled


def test_two_classes_that_differ_only_in_case_have_two_columns():
    X, y = np.array([[1.0], [2.0], [3.0]]), ["a", "A", "a"]
    tree = kt.keep(kt.C45Classifier(min_samples_leaf=1).fit(X, y))
    (row,) = ask(kt.export(tree, format="sql"), **{'"x[0]"': ("DOUBLE", [1.0])})
    assert len([name for name in row if name.startswith("probability_")]) == 2


@pytest.mark.parametrize("dialect", ["sqlite", "bigquery", "snowflake", "tsql"])
def test_a_kernel_is_refused_with_advice_in_dialects_without_32_bit_sums(dialect):
    with pytest.raises(ValueError, match="export a MarginTreeClassifier or SoftTreeClassifier"):
        kt.export(fitted("kept", "numbers"), format="sql", dialect=dialect)


@pytest.mark.parametrize("dialect", ["sqlite", "bigquery", "snowflake"])
def test_distances_are_refused_with_advice_in_dialects_without_32_bit_numbers(dialect):
    with pytest.raises(ValueError, match=r"export a MarginTreeClassifier .* \(duckdb, postgres"):
        kt.export(fitted("distance", "numbers"), format="sql", dialect=dialect)


NOMINAL = {"nominal": True, "minimum": "class", "fine_to": "all", "balance": True}


@pytest.mark.parametrize("rule", ["error", "majority", "share"])
def test_confdtree_agrees_with_python_for_every_rule_for_missing_values(rule):
    X, y = mixed_table()
    tree = kt.keep(kt.C45Classifier().fit(X, y))
    rules = {"error": -2, "majority": tree.missing_child, "share": -1}
    tree = replace(tree, missing=np.where(tree.kind != LEAF, rules[rule], -2))
    known = X.dropna().index
    model = kt.ConfDTreeClassifier(tree, m=2, options=NOMINAL).fit(X.loc[known], y[known])
    rows = sample_rows(subject_of(model), 200).X
    assert abs(model.predict_proba_encoded(rows) - tree.mix_proportions(rows)).max() > 0.1
    check(model, "sqlite")


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_the_leaf_decides_a_row_unless_its_path_reads_the_missing_value(dialect):
    check(relabelled(), dialect)


@pytest.mark.parametrize("grid", [None, {"size": 0.25, "age": 1 / 3}])
def test_distances_on_any_grid_agree_with_python(grid):
    X, y = mixed_table()
    check(kt.DistanceKernelClassifier(fitted("tree", "mixed"), grid=grid).fit(X, y), "duckdb")


def test_a_model_that_is_too_large_for_a_query_is_refused_with_advice():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 3)), rng.integers(0, 2, 4000)
    tree = DecisionTreeClassifier(max_leaf_nodes=1100, random_state=0).fit(X, y)
    for model in (kt.ConfDTreeClassifier(tree), kt.DistanceKernelClassifier(tree)):
        with pytest.raises(ValueError, match=r"a query may have .* Python, JavaScript or C"):
            kt.export(model.fit(X, y), format="sql")


def test_curves_are_written_to_a_second_file(tmp_path):
    done = kt.export(fitted("distance", "numbers"), tmp_path / "kernel.sql", check=20, curves="a.b")
    assert [path.name for path in done.paths] == ["kernel.sql", "kernel.curves.sql"]
    assert "CREATE TABLE a.b (" in done.paths[1].read_text()


def test_landmarks_are_written_to_a_second_file(tmp_path):
    done = kt.export(fitted("kept", "numbers"), tmp_path / "kept.sql", check=20)
    assert [path.name for path in done.paths] == ["kept.sql", "kept.landmarks.sql"]
    assert done.checked == "equal on 20 of 20 rows"
    assert fitted("kept", "numbers").tree_.digest in done.paths[1].read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"dialect": "postgresql"},
            "There is no SQL dialect 'postgresql'; choose from duckdb, sqlite, postgres",
        ),
        ({"form": "table"}, "There is no form of SQL 'table'"),
        ({"colour": 1}, "SQL has no option 'colour'; its options are dialect, table"),
    ],
)
def test_an_invalid_option_raises_a_clear_error(options, message):
    with pytest.raises(ValueError, match=message):
        kt.export(fitted("tree", "numbers"), format="sql", **options)


@pytest.mark.parametrize(
    ("dialect", "names", "message"),
    [
        ("bigquery", ["a (b)"], r"BigQuery does not allow '\(' in a column name"),
        ("postgres", ["ä" * 40], "Postgres allows column names of 1 to 63 bytes"),
        ("duckdb", ["a\0"], "does not allow"),
        ("sqlite", ["Age", "age"], "SQLite ignores case and cannot distinguish"),
    ],
)
def test_a_column_name_that_a_dialect_forbids_raises_a_clear_error(dialect, names, message):
    X = np.random.default_rng(0).normal(size=(80, len(names)))
    tree = kt.keep(kt.C45Classifier().fit(X, X.sum(axis=1) > 0))
    with pytest.raises(ValueError, match=message):
        kt.export(replace(tree, feature_names=names), format="sql", dialect=dialect)


def test_an_answer_with_the_name_of_a_column_needs_a_prefix():
    tree = kt.keep("Leaf <= 40: no\nLeaf > 40: yes")
    with pytest.raises(ValueError, match="'leaf' clashes with the column 'Leaf'"):
        kt.export(tree, format="sql")
    (row,) = ask(kt.export(tree, format="sql", prefix="tree_"), Leaf=("INTEGER", [50]))
    assert row == {
        "Leaf": 50,
        "tree_prediction": "yes",
        "tree_leaf": 2,
        "tree_probability_no": 0.5,
        "tree_probability_yes": 0.5,
    }


def test_without_sqlglot_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sqlglot", None)
    with pytest.raises(ImportError, match=r'pip install "keeptree\[sql\]"'):
        kt.export(fitted("tree", "numbers"), format="sql")


def test_a_model_without_a_formula_is_refused_with_advice():
    X, y, _ = DATA["classes"]()
    model = kt.DistanceKernelClassifier(fitted("tree", "classes"), kernel="uniform").fit(X, y)
    with pytest.raises(ValueError, match='kernel="gaussian", or export the tree alone'):
        kt.export(model, format="sql")


def test_separators_are_refused_with_advice():
    with pytest.raises(ValueError, match="export this model to ONNX, Python, JavaScript or C"):
        kt.export(fitted("separator", "classes"), format="sql")


def test_a_ranking_has_scores_instead_of_probabilities():
    X, _, _ = DATA["classes"]()
    model = fitted("rank", "classes")
    columns = {f'"{name}"': ("DOUBLE", X[name].tolist()[:3]) for name in X}
    rows = ask(kt.export(model, format="sql", check=0), **columns)
    found = [[row[f"score_{c}"] for c in range(3)] for row in rows]
    np.testing.assert_allclose(found, model.decision_function(X[:3]), rtol=1e-12)


def test_an_expression_that_is_too_long_is_refused_with_advice():
    with pytest.raises(ValueError, match="form='select'"):
        kt.export(fitted("kept", "mixed"), format="sql", form="expression")


def test_a_dialect_without_a_local_database_is_checked_in_duckdb(tmp_path):
    done = kt.export(fitted("soft", "mixed"), tmp_path / "a.sql", dialect="tsql", check=100)
    assert done.checked == "equal on 100 of 100 rows in DuckDB, which stands in for T-SQL"
