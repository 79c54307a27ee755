"""Exported code gives the same labels, leaves and probabilities as Python."""

import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree import exporters
from keeptree.exporters.check import answers_of_python, compare
from keeptree.exporters.nested_ifs import comment_text, identifiers
from keeptree.exporters.rows import sample_rows
from keeptree.exporters.subject import subject_of
from keeptree.tree import LEAF
from tests.exporters.models import WEIGHTS, mixed_table, oblique, relabelled, weighted

PROGRAMS = {"python": None, "javascript": "node", "c": "cc"}
FORMATS = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            program is not None and shutil.which(program) is None,
            reason=f"{program} is not installed",
        ),
    )
    for name, program in PROGRAMS.items()
]
NOMINAL = {"nominal": True, "minimum": "class", "fine_to": "all", "balance": True}
MODELS = {
    "smoothed": (kt.SmoothedTreeClassifier, {"smoothing": "shrinkage"}),
    "soft": (kt.SoftTreeClassifier, {"strength": 0.2, "shrinkage": 5.0}),
    "hard": (kt.SoftTreeClassifier, {"strength": 0.0, "shrinkage": 5.0}),
    "margin": (kt.MarginTreeClassifier, {"C": 0.1}),
    "kept": (kt.KeptTreeClassifier, {"cv": 2}),
    "coherent": (kt.KeptTreeClassifier, {"cv": 2, "coherent": True}),
    "probable": (kt.SoftTreeClassifier, {"strength": 0.4, "decide": "probability"}),
    "cheap": (kt.SoftTreeClassifier, {"decide": "cost", "costs": {"0": {"1": 9}}}),
    "confdtree": (kt.ConfDTreeClassifier, {}),
    "confdtree, nominal": (kt.ConfDTreeClassifier, {"m": 2, "options": NOMINAL}),
    "distance": (kt.DistanceKernelClassifier, {}),
    "distance, no grid": (kt.DistanceKernelClassifier, {"grid": None}),
    "distance by leaf": (kt.DistanceKernelClassifier, {"scope": "leaf"}),
    "separator": (kt.DistanceKernelClassifier, {"scope": "separator"}),
    "separator, no grid": (kt.DistanceKernelClassifier, {"scope": "separator", "grid": None}),
    "rank": (kt.GeometricRankClassifier, {}),
    "rank, no grid": (kt.GeometricRankClassifier, {"grid": None, "boundary": "whole"}),
    "local rank": (kt.GeometricRankClassifier, {"scope": "local"}),
}
PAPERS = (
    *("confdtree", "confdtree, nominal", "distance", "distance by leaf", "separator"),
    *("rank", "local rank"),
)


def learner():
    return DecisionTreeClassifier(max_leaf_nodes=10, min_samples_leaf=5, random_state=0)


def table_of(name):
    """Return the columns, the classes and a learner for a table."""
    if name == "mixed":
        return *mixed_table(), kt.C45Classifier()
    load = {"two": load_breast_cancer, "three": load_wine}[name]
    return *load(return_X_y=True, as_frame=True), learner()


def made(kind, table):
    X, y, tree = table_of(table)
    model, options = MODELS[kind]
    return model(tree, **options).fit(X, y)


def compared(model, name, n=150):
    """Compare the target with Python on rows that cover every test."""
    subject = subject_of(model)
    module = exporters.import_module(f"keeptree.exporters.{exporters.FORMATS[name].module}")
    rows = sample_rows(subject, n)
    answers = module.run(module.write(subject), subject, rows)
    return compare(answers_of_python(subject, rows.X), answers)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("table", ["two", "three", "mixed"])
@pytest.mark.parametrize("kind", ["kept", "coherent"])
def test_exported_code_agrees_with_python(kind, table, name):
    assert str(compared(made(kind, table), name)) == "equal on 150 of 150 rows"


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_code_without_experts_of_weight_zero_agrees_with_python(weights, name):
    assert str(compared(weighted(weights), name)) == "equal on 150 of 150 rows"


@pytest.mark.parametrize(
    ("weights", "absent"),
    [
        ("kernel only", {"soft_", "margin_"}),
        ("no kernel", {"kernel_"}),
        ("margin and kernel", {"soft_steep", "soft_values"}),  # margins share some functions
    ],
)
def test_code_does_not_contain_experts_of_weight_zero(weights, absent):
    from keeptree.exporters import c

    every = "".join(c.write(subject_of(made("kept", "two"))).values())
    written = "".join(c.write(subject_of(weighted(weights))).values())
    assert all(name in every and name not in written for name in absent)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", [kind for kind in MODELS if kind not in ("kept", "coherent")])
def test_code_for_every_kind_of_model_agrees_with_python(kind, name):
    assert compared(made(kind, "mixed"), name).wrong == 0


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("table", ["two", "three"])
@pytest.mark.parametrize("kind", PAPERS)
def test_code_for_the_methods_of_the_papers_agrees_with_python(kind, table, name):
    assert compared(made(kind, table), name).wrong == 0


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", [kt.ConfDTreeClassifier, kt.DistanceKernelClassifier])
@pytest.mark.parametrize("rule", ["error", "majority"])
def test_code_for_the_methods_of_the_papers_follows_the_rules_for_missing_values(rule, kind, name):
    X, y = mixed_table()
    tree = kt.keep(kt.C45Classifier().fit(X, y))
    rules = {"error": -2, "majority": tree.missing_child}
    tree = replace(tree, missing=np.where(tree.kind != LEAF, rules[rule], -2))
    known = X.dropna().index
    assert compared(kind(tree).fit(X.loc[known], y[known]), name).wrong == 0


@pytest.mark.parametrize("name", FORMATS)
def test_a_distance_kernel_without_a_boundary_agrees_with_python(name):
    X, y = mixed_table()
    tree = kt.keep(kt.C45Classifier().fit(X, y))
    tree = replace(tree, label=np.zeros_like(tree.label))
    assert compared(kt.DistanceKernelClassifier(tree).fit(X, y), name).wrong == 0


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("rule", ["error", "majority", "share"])
def test_a_tree_without_a_model_agrees_with_python(rule, name):
    tree = kt.keep(kt.C45Classifier().fit(*mixed_table()))
    rules = {"error": -2, "majority": tree.missing_child, "share": -1}
    tree = replace(tree, missing=np.where(tree.kind != LEAF, rules[rule], -2))
    assert compared(tree, name, 600).wrong == 0


@pytest.mark.parametrize("name", FORMATS)
def test_the_leaf_decides_a_row_unless_its_path_reads_the_missing_value(name):
    assert compared(relabelled(), name, 600).labels == 0
    assert compared(replace(oblique()[2], feature_names=list("abcd")), name, 300).labels == 0


@pytest.mark.parametrize("name", FORMATS)
def test_a_tree_without_tests_agrees_with_python(name):
    X, y = mixed_table()
    model = kt.KeptTreeClassifier(kt.C45Classifier(max_depth=0), cv=2).fit(X, y)
    assert model.tree_.n_nodes == 1
    assert compared(model, name, 3).wrong == 0


@pytest.mark.parametrize("name", FORMATS)
def test_a_chain_of_tests_is_split_into_functions(name):
    """Python allows a hundred nested ifs, other compilers a few hundred."""
    n = 300
    X = np.arange(n + 1.0)[:, None]
    tree = DecisionTreeClassifier(max_leaf_nodes=n, random_state=0).fit(X, np.arange(n + 1) % 2)
    kept = kt.keep(tree)
    assert kept.max_depth > 20
    assert compared(kept, name, 600).wrong == 0


HOSTILE = [
    '"); import os; os.abort() #',
    "*/ int main(void) { return 1; } /*",
    "</script><script>throw 1</script>",
    "two\nlines\r\u2028and more",
    "\\\" ' ${1} `x` ??/ %s {name}",
    "\u202egnihton",
    "__proto__",
    "class",
    "",
]


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_names_and_labels_stay_text(name):
    import pandas as pd

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, len(HOSTILE))), columns=HOSTILE)
    X[HOSTILE[0]] = pd.Categorical.from_codes(rng.integers(0, len(HOSTILE), 120), HOSTILE)
    y = np.array(HOSTILE[:3])[
        (X[HOSTILE[1]] > 0).astype(int) + (X[HOSTILE[0]].cat.codes > 4).astype(int)
    ]
    tree = kt.keep(kt.C45Classifier().fit(X, y))
    assert tree.n_leaves > 2
    assert compared(tree, name).wrong == 0


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=8, deadline=None)
@given(names=st.lists(TEXT, min_size=2, max_size=4, unique=True))
def test_any_text_may_be_a_name_or_a_category(names, name):
    import pandas as pd

    rng = np.random.default_rng(1)
    X = pd.DataFrame({text: rng.normal(size=60) for text in names})
    labels = pd.Categorical.from_codes(rng.integers(0, len(names), 60), names)
    X[names[-1]] = labels
    y = (X[names[0]] + (labels.codes == 0) > 0.3).map({True: names[0], False: names[1]})
    assert compared(kt.keep(kt.C45Classifier().fit(X, y)), name, 40).wrong == 0


@pytest.mark.parametrize("name", FORMATS)
def test_classes_and_categories_may_be_numbers_and_booleans(name):
    import pandas as pd

    rng = np.random.default_rng(2)
    X = pd.DataFrame({"n": pd.Categorical(rng.integers(5, 9, 200))})
    X["b"] = pd.Categorical(rng.random(200) < 0.5)
    y = (X["n"].cat.codes > 1).to_numpy() & (X["b"].cat.codes == 1).to_numpy()
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    assert compared(model, name).wrong == 0


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (
            kt.DistanceKernelClassifier,
            {"features": "distance+separator"},
            'export one with features="distance"',
        ),
        (kt.DistanceKernelClassifier, {"kernel": "uniform"}, 'export one with kernel="gaussian"'),
    ],
)
def test_a_model_that_code_cannot_express_is_refused_with_advice(kind, options, message):
    model = kind(kt.C45Classifier(), **options).fit(*mixed_table())
    with pytest.raises(ValueError, match=message):
        kt.export(model, format="c")


@pytest.mark.parametrize("name", FORMATS)
def test_a_ranking_of_a_tree_without_a_boundary_agrees_with_python(name):
    X, y = mixed_table()
    tree = kt.keep(kt.C45Classifier().fit(X, y))
    tree = replace(tree, label=np.zeros_like(tree.label))
    assert compared(kt.GeometricRankClassifier(tree).fit(X, y), name, 20).wrong == 0


def test_a_ranking_has_scores_instead_of_probabilities():
    X, _ = mixed_table()
    model = made("rank", "mixed")
    module = {}
    exec(kt.export(model, format="python", check=0), module)
    found = module["score"](X.iloc[0].to_dict())
    np.testing.assert_allclose(found, model.decision_function(X[:1])[0], rtol=1e-12)
    assert "probability" not in module
    assert "int tree_score(const double *row" in kt.export(model, format="c", check=0)
    assert "as score }" in kt.export(model, format="javascript", check=0)


def test_columns_of_the_same_name_are_refused():
    tree = kt.Tree(
        kind=[1, 0, 1, 0, 0],
        feature=[0, -1, 1, -1, -1],
        threshold=[0.5, np.nan, 0.5, np.nan, np.nan],
        child_start=[0, 2, 2, 4, 4, 4],
        child=[1, 2, 3, 4],
        missing=[-2] * 5,
        counts=[[5, 4], [5, 0], [0, 4], [0, 2], [0, 2]],
        classes=[0, 1],
        n_features=2,
        feature_names=["a", "a"],
    )
    with pytest.raises(ValueError, match="Two columns that the tree tests are called 'a'"):
        kt.export(tree, format="python")


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """Export a model as a module and import it."""
    from importlib.util import module_from_spec, spec_from_file_location

    path = tmp_path_factory.mktemp("code") / "exported.py"
    kt.export(made("smoothed", "mixed"), path, check=10)
    spec = spec_from_file_location("exported", path)
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_a_row_may_be_a_dict_or_a_list(module):
    row = {"letter": "a", "colour": "red", "size": 0.5, "age": 40, "more": 1}
    assert module.predict(row) == module.predict([0.5, 40, "red", "a"])
    assert module.probability(row) == module.probability([0.5, 40, "red", "a"])
    assert sum(module.probability(row)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"size": "big"}, "'size' must be a number, not 'big'"),
        ({"size": float("inf")}, "'size' is infinite"),
        ({"colour": 3}, "'colour' must be a label such as 'blue', not 3"),
    ],
)
def test_an_invalid_value_is_refused_with_a_clear_error(changed, message, module):
    with pytest.raises(ValueError, match=message):
        module.predict({"letter": "a", "colour": "red", "size": 0.5, "age": 40, **changed})


@pytest.mark.parametrize("ending", [".py", ".mjs", ".c"])
def test_the_header_gives_the_positions_of_the_columns_in_an_array(ending, tmp_path):
    X = pd.DataFrame({"a": [0, 1, 2, 3], "b": [1, 1, 0, 0], "c": [0, 1, 0, 1]})
    tree = kt.keep("c <= 0\n  b <= 0: x\n  b > 0: y\nc > 0: x", X, ["y", "x", "x", "x"])
    kt.export(tree, tmp_path / f"exported{ending}", check=0)
    lines = (tmp_path / f"exported{ending}").read_text().splitlines()
    listed = [line.strip("/#* ") for line in lines if line.endswith(": number")]
    # A row of a C function has only the columns that the tree tests.
    assert listed == (
        ["0  c: number", "1  b: number"] if ending == ".c" else ["2  c: number", "1  b: number"]
    )


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_javascript_errors_show_values_as_javascript_writes_them(tmp_path):
    text = "age <= 48\n  smoker = True: yes\n  smoker = False: no\nage > 48: yes"
    X = pd.DataFrame({"age": [40, 40, 50], "smoker": [True, False, True]})
    path = tmp_path / "exported.mjs"  # the ending that Node.js wants
    kt.export(kt.keep(text, X, ["yes", "no", "yes"]), path, check=10)
    assert "smoker: one of true, false" in path.read_text()
    rows = '{age: 40, smoker: "False"}, {age: "75", smoker: true}, {age: 40, smoker: false}'
    (tmp_path / "run.mjs").write_text(
        'import { predict } from "./exported.mjs";\n'
        f"for (const row of [{rows}]) {{\n"
        "  try { console.log(predict(row)); } catch (error) { console.log(error.message); }\n}\n"
    )
    done = subprocess.run(
        ["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        'smoker must be one of true, false, not "False".',
        'age must be a number, not "75".',
        "no",
    ]


def test_an_absent_column_is_refused(module):
    with pytest.raises(ValueError, match="no 'age'; give None if its value is missing"):
        module.predict({"letter": "a", "colour": "red", "size": 0.5})


def test_a_python_export_is_valid_python_38():
    import ast

    text = kt.export(made("coherent", "mixed"), format="python", check=0)
    ast.parse(text, feature_version=(3, 8))


def test_an_exported_module_needs_no_packages(tmp_path):
    kt.export(made("smoothed", "two"), tmp_path / "exported.py", check=10)
    code = "import sys; sys.path.insert(0, '.'); import exported; print(exported.CLASSES)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[0, 1]\n"


@pytest.mark.skipif(shutil.which("cc") is None, reason="cc is not installed")
def test_c_code_prevents_the_compiler_from_fusing_products(tmp_path):
    """GCC fuses products by default, which would change the last digits."""
    path = tmp_path / "exported.c"
    kt.export(made("kept", "two"), path, check=0)
    fused = ["cc", "-O3", "-march=native", "-S", "-o", "-", str(path)]
    done = subprocess.run(fused, capture_output=True, text=True, check=True)
    assert "fmadd" not in done.stdout


@pytest.mark.skipif(shutil.which("cc") is None, reason="cc is not installed")
@pytest.mark.parametrize("kind", MODELS)
def test_c_compiles_without_a_warning(kind, tmp_path):
    path = tmp_path / "exported.c"
    kt.export(made(kind, "mixed"), path, check=0)
    strict = ["cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    subprocess.run([*strict, "-Wno-unknown-pragmas", str(path)], check=True)


def test_c_functions_have_the_requested_prefix():
    model = made("smoothed", "two")
    assert "int churn_predict(const double *row)" in kt.export(model, format="c", prefix="churn")
    with pytest.raises(ValueError, match="prefix='2x' is not a valid prefix of C functions"):
        kt.export(model, format="c", prefix="2x")


def test_c_refuses_text_that_it_cannot_represent():
    X, y = mixed_table()
    X["letter"] = X["letter"].cat.rename_categories({"a": "a\0"})
    with pytest.raises(ValueError, match="has a NUL character"):
        kt.export(kt.keep(kt.C45Classifier().fit(X, y)), format="c")


@pytest.mark.parametrize("text", HOSTILE)
def test_text_in_a_comment_stays_on_one_line_and_cannot_close_the_comment(text):
    shown = comment_text(text)
    assert shown.isprintable()
    assert "*/" not in shown


@given(st.lists(st.text(max_size=50)))
def test_identifiers_are_valid_and_distinct(texts):
    made = identifiers(texts, frozenset({"x", "if", "for"}))
    assert len(set(made)) == len(texts)
    assert all(name.isidentifier() and name.isascii() for name in made)
    assert not {"x", "if", "for"} & set(made)
