"""A kept PMML tree decides as JPMML does.

``python -m tools.pmml_reference.make_fixtures`` stored JPMML's decisions in tests/fixtures/pmml.
"""

import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import keeptree as kt
from keeptree.cli import main
from tests.importers.pmml_rows import compare_row, keep_quietly

FOLDER = Path(__file__).parent.parent / "fixtures" / "pmml"
NAMES = sorted(path.stem for path in FOLDER.glob("*.pmml"))
# The error for files that leave some values undecided, which a Tree cannot represent.
REFUSED = "The file gives no answer"


def recorded(name, tree):
    """Yield rows of a file as dicts, and JPMML's node and class."""
    table = pd.read_csv(FOLDER / f"{name}.csv", dtype=str, keep_default_na=False)
    number = {
        c for c, labels in zip(tree.feature_names, tree.categories, strict=True) if not labels
    }
    for _, row in table.iterrows():
        given = {
            column: float(cell) if column in number else cell
            for column, cell in row.items()
            if cell and not column.startswith(".")
        }
        yield given, (row[".node"], row[".class"])


@pytest.mark.parametrize("name", NAMES)
def test_every_row_gets_the_decision_of_jpmml(name):
    try:
        tree = keep_quietly(FOLDER / f"{name}.pmml")
    except ValueError as error:
        if REFUSED not in str(error):
            raise
        pytest.skip("the file leaves some values undecided and is refused")
    nodes = {}
    found = Counter(compare_row(tree, *case, nodes) for case in recorded(name, tree))
    documented = {"documented answer", "documented refusal"}
    assert set(found) <= {"same", "both refuse", "label refused"} | documented, found
    assert found["same"] > 0


def test_few_files_are_refused():
    refused = []
    for name in NAMES:
        try:
            keep_quietly(FOLDER / f"{name}.pmml")
        except ValueError:
            refused.append(name)
    assert len(refused) <= 0.15 * len(NAMES), refused


def test_counts_come_from_the_file():
    with pytest.warns(UserWarning, match="R's pmml prints thresholds with 7 digits"):
        tree = kt.keep(FOLDER / "hand_r_style.pmml")
    assert tree.counts[0].tolist() == [5, 9]
    assert tree.source["counts"] == "the file"
    assert tree.predict([[None, "rain"], [20.0, None]]).tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match="'fog'"):
        tree.predict([[20.0, "fog"]])


@pytest.mark.parametrize("name", ["sklearn2pmml_compact", "sklearn2pmml_binary", "nyoka"])
def test_shares_are_not_mistaken_for_counts(name):
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = ["sepal length", "sepal width", "petal length", "petal width"]
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    tree = keep_quietly(FOLDER / f"{name}.pmml")
    assert tree.weight[0] in (0, 150)
    if tree.weight[0] == 0:
        assert "the share of each class in a leaf" in tree.source["lost"]
    counted = keep_quietly(FOLDER / f"{name}.pmml", X, labels)
    assert counted.weight[0] == 150
    np.testing.assert_array_equal(counted.predict(X), tree.predict(X))
    assert (counted.predict(X) == labels).mean() > 0.95


HEAD = """<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4"><Header/>
<DataDictionary>
<DataField name="x" optype="continuous" dataType="double"/>
<DataField name="z" optype="continuous" dataType="double"/>
<DataField name="y" optype="categorical" dataType="string"/>
</DataDictionary>
"""
SCHEMA = """<MiningSchema><MiningField name="x"/><MiningField name="z"/>
<MiningField name="y" usageType="target"/></MiningSchema>
"""


def leaf(score, predicate, cases=4):
    return (
        f'<Node id="{score}" score="{score}" recordCount="{cases}">{predicate}'
        f'<ScoreDistribution value="{score}" recordCount="{cases}"/></Node>'
    )


def at_most(value, field="x"):
    return f'<SimplePredicate field="{field}" operator="lessOrEqual" value="{value}"/>'


def above(value, field="x"):
    return f'<SimplePredicate field="{field}" operator="greaterThan" value="{value}"/>'


def stump(more="", below=None, before=""):
    below = leaf("a", at_most(1)) + leaf("b", above(1), 12) if below is None else below
    return (
        f'{HEAD}<TreeModel functionName="classification" {more}>{SCHEMA}{before}'
        f'<Node score="b" recordCount="16"><True/>{below}</Node></TreeModel></PMML>'
    )


def test_weighted_confidence_divides_missing_values_among_branches():
    tree = kt.keep(stump('missingValueStrategy="weightedConfidence"'))
    assert tree.predict_proba([[np.nan, 0]]).tolist() == [[0.25, 0.75]]
    tree = kt.keep(stump('missingValueStrategy="aggregateNodes"'))
    assert tree.predict_proba([[np.nan, 0]]).tolist() == [[0.25, 0.75]]


def test_the_strategy_aggregate_nodes_above_other_tests_raises_a_warning():
    inner = (
        f'<Node score="a" recordCount="4">{at_most(1)}{leaf("a", at_most(0, "z"), 1)}'
        f"{leaf('b', above(0, 'z'), 3)}</Node>"
    )
    text = stump('missingValueStrategy="aggregateNodes"', inner + leaf("b", above(1), 12))
    with pytest.warns(UserWarning, match="combines the cases of several leaves"):
        tree = kt.keep(text)
    with pytest.raises(ValueError, match="no rule for missing values"):
        tree.predict([[np.nan, 0.0]])


def test_surrogates_raise_a_warning_and_rows_that_need_them_are_refused():
    surrogate = '<CompoundPredicate booleanOperator="surrogate">{}{}</CompoundPredicate>'
    below = leaf("a", surrogate.format(at_most(1), at_most(5, "z")))
    below += leaf("b", surrogate.format(above(1), above(5, "z")), 12)
    with pytest.warns(UserWarning, match="by surrogate tests, which a Tree cannot represent"):
        tree = kt.keep(stump("", below))
    assert tree.predict([[1, 9], [2, 0]]).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="no rule for missing values"):
        tree.predict([[np.nan, 0.0]])
    chosen = keep_quietly(stump("", below), missing="majority")
    assert chosen.predict([[np.nan, 0.0]]).tolist() == ["b"]


def test_one_of_several_segments_must_be_chosen():
    inner = stump().split("</DataDictionary>\n")[1].removesuffix("</PMML>")
    other = inner.replace('value="1"', 'value="7"')
    text = (
        f'{HEAD}<MiningModel functionName="classification">{SCHEMA}'
        f'<Segmentation multipleModelMethod="average"><Segment id="1"><True/>{inner}</Segment>'
        f'<Segment id="2"><True/>{other}</Segment></Segmentation></MiningModel></PMML>'
    )
    with pytest.raises(ValueError, match="has 2 trees; choose one with tree=0 to tree=1"):
        kt.keep(text)
    assert kt.keep(text, tree=1).threshold[0] == 7
    assert kt.keep(text.encode("utf-16"), tree=0).threshold[0] == 1


def test_derived_fields_that_only_rename_or_round_are_read():
    derived = (
        '<LocalTransformations><DerivedField name="w" optype="continuous" dataType="{}">'
        "{}</DerivedField></LocalTransformations>"
    )
    below = leaf("a", at_most(0.1, "w")) + leaf("b", above(0.1, "w"))
    rounded = derived.format("float", '<FieldRef field="x"/>')
    tree = kt.keep(stump("", below, rounded))
    assert tree.compare_dtype == "float32"
    assert tree.predict([[0.1, 0], [np.nextafter(0.1, 1), 0], [0.11, 0]]).tolist() == list("aab")
    tree = kt.keep(stump("", below, derived.format("double", '<FieldRef field="x"/>')))
    assert tree.predict([[0.1, 0], [np.nextafter(0.1, 1), 0]]).tolist() == ["a", "b"]
    scaled = '<NormContinuous field="x"/>'
    with pytest.raises(ValueError, match=r"derived field 'w' \(NormContinuous\)"):
        kt.keep(stump("", below, derived.format("double", scaled)))


def test_float_and_double_fields_can_be_mixed():
    inner = leaf("b", at_most(0.1, "z")) + leaf("c", above(0.1, "z"))
    below = leaf("a", at_most(0.1)) + f'<Node score="b">{above(0.1)}{inner}</Node>'
    text = stump("", below).replace('name="z" optype="continuous" dataType="double"',
                                    'name="z" optype="continuous" dataType="float"')  # fmt: skip
    tree = kt.keep(text)
    just, single = np.nextafter(0.1, 1), float(np.float32(0.1))
    beyond = float(np.nextafter(np.float32(0.1), np.float32(1)))
    rows = [[0.1, 0], [just, just], [just, single], [just, beyond]]
    assert tree.predict(rows).tolist() == ["a", "b", "b", "c"]


BAD = {
    "cut": (stump()[:-200], "ends unexpectedly|not well-formed"),
    "DTD": ('<!DOCTYPE PMML SYSTEM "http://example.org/x.dtd">' + stump(), "document type"),
    "entity": (
        '<!DOCTYPE PMML [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + stump(),
        "document type",
    ),
    "bomb": (
        '<!DOCTYPE PMML [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
        "<PMML>&b;</PMML>",
        "document type",
    ),
    "undefined entity": ("<PMML>&b;</PMML>", "not well-formed XML"),
    "other XML": ("<html><body/></html>", "another kind"),
    "regression tree": (stump().replace("classification", "regression"), "predicts numbers"),
    "other model": (f"{HEAD}<RegressionModel/></PMML>", "a RegressionModel, which is not a tree"),
    "no model": (f"{HEAD}</PMML>", "has no model"),
    "no dictionary": ("<PMML><TreeModel functionName='classification'/></PMML>", "DataDictionary"),
    "no node": (stump().split("<Node")[0] + "</TreeModel></PMML>", "has no Node"),
    "operator": (stump().replace("lessOrEqual", "near"), "operator 'near' is not in the PMML"),
    "number": (stump().replace('value="1"', 'value="one"'), "'one' is not a number"),
    "infinite": (stump().replace('value="1"', 'value="1e999"'), "not finite"),
    "field": (stump().replace('field="x"', 'field="q"'), "'q', which is not an active field"),
    "strategy": (stump('missingValueStrategy="guess"'), "'guess' is not in the PMML standard"),
    "gap": (stump("", leaf("a", at_most(1)) + leaf("b", above(2))), REFUSED),
    "no predicate": (stump("", leaf("a", "")), "has 0 predicates"),
    "inner model": (stump("", leaf("a", "<True/><Regression/>")), "a model inside"),
    "date": (stump().replace('name="x" optype="continuous" dataType="double"',
             'name="x" optype="continuous" dataType="dateDaysSince[1970]"'), "type dateDays"),
    "outliers": (stump().replace('<MiningField name="x"/>',
                 '<MiningField name="x" outliers="asExtremeValues"/>'), "changes outliers"),
    "count": (stump().replace('recordCount="12"/>', 'recordCount="-1"/>'), "not a number of cases"),
    "deep": ("<PMML>" + "<Node>" * 5000, "nested more than"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gives_a_one_line_error_and_writes_nothing(name, tmp_path, capsys):
    text, sentence = BAD[name]
    source, out = tmp_path / "bad.pmml", tmp_path / "tree.json"
    source.write_text(text)
    with pytest.raises(ValueError, match=sentence) as error:
        keep_quietly(source)
    assert "\n" not in str(error.value)
    assert main(["keep", str(source), "--out", str(out)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize("part", [b"<a/>", b"<a>", b"x"])
def test_a_hostile_file_of_50_megabytes_is_refused_quickly(part, tmp_path):
    path = tmp_path / "bad.pmml"
    path.write_bytes(b"<PMML>" + part * (50_000_000 // len(part)))
    start = time.process_time()
    with pytest.raises(ValueError, match=r"bad\.pmml: .*(more than|ends unexpectedly|no Data)"):
        kt.keep(path)
    assert time.process_time() - start < 20


def test_the_command_reads_a_file_and_prints_a_summary(tmp_path, capsys):
    source, out = FOLDER / "hand_knime_style.pmml", tmp_path / "tree.json"
    assert main(["keep", str(source), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "from PMML." in said
    assert "Classes: high, low." in said
    assert kt.Tree.load(out).feature_names == ("age", "job")
