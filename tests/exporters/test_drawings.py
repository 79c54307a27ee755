"""Mermaid and Graphviz draw every node and branch, and all text from data is escaped."""

import re
import shutil
import subprocess

import pytest

import keeptree as kt
from tests.exporters.models import fitted, mixed_table

HOSTILE = 'a"b\\ <i>&amp;</i> `x` |{[%% end; #35; \n--> n1'


@pytest.mark.parametrize("data", ["numbers", "classes", "mixed"])
@pytest.mark.parametrize(("name", "arrow"), [("mermaid", "-->"), ("graphviz", "->")])
def test_every_node_and_branch_is_drawn(name, arrow, data):
    tree = fitted("tree", data)
    text = kt.export(tree, format=name)
    nodes = set(re.findall(r"^  n(\d+)[\[( ]", text, flags=re.MULTILINE))
    assert nodes == {str(node) for node in range(tree.n_nodes)}
    edges = set(re.findall(rf"^  n(\d+) {arrow}.*?n(\d+)", text, flags=re.MULTILINE))
    assert edges == {(str(tree.parent[k]), str(k)) for k in range(1, tree.n_nodes)}


def test_a_leaf_shows_its_cases_and_the_share_that_is_correct():
    tree = fitted("tree", "classes")
    leaf = int(tree.levels[-1][0])
    weight, right = tree.weight[leaf], tree.counts[leaf].max() / tree.weight[leaf]
    for name in ("mermaid", "graphviz"):
        (line,) = [
            line
            for line in kt.export(tree, format=name).splitlines()
            if re.match(rf"  n{leaf}[\[( ]", line)
        ]
        assert f"{weight:.0f} of 178 cases" in line
        assert f"{100 * right:.0f} " in line


def test_a_tree_without_counts_shows_only_its_classes():
    text = kt.export(kt.keep("age <= 40: no\nage > 40: yes"), format="graphviz")
    assert 'n1 [label="no"' in text


def test_the_branch_of_missing_values_is_marked():
    tree = kt.keep("age <= 40 or missing: no\nage > 40: yes")
    assert '"≤ 40 or missing"' in kt.export(tree, format="mermaid")


def hostile_model():
    X, y = mixed_table()
    X = X.rename(columns={"size": HOSTILE})
    X["colour"] = X["colour"].cat.rename_categories({"red": HOSTILE + "red"})
    return kt.keep(kt.C45Classifier(max_depth=3).fit(X, [HOSTILE + label for label in y]))


def test_text_from_the_data_cannot_close_a_mermaid_label():
    text = kt.export(hostile_model(), format="mermaid")
    inside = r'"(?:[^"#&<>`\\|;{}%]|#\d+;|</?b>|<br>)*"'
    for line in text.splitlines()[2:]:
        if "classDef" not in line:
            assert re.fullmatch(
                rf"  n\d+(\[{inside}\]|\(\[{inside}\]\):::class\d| -->\|{inside}\| n\d+)", line
            ), line


def test_text_from_the_data_cannot_close_a_graphviz_label():
    text = kt.export(hostile_model(), format="graphviz")
    inside = r'"(?:[^"\\]|\\.)*"'
    for line in text.splitlines()[2:-1]:
        assert re.fullmatch(rf"  (\w+|n\d+ -> n\d+) \[(\w+=({inside}|[\w.]+)(, )?)+\];", line), line


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz (dot) is not installed")
def test_graphviz_reads_the_labels_back():
    text = kt.export(hostile_model(), format="graphviz")
    done = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True)
    assert "a&quot;b\\ &lt;i&gt;&amp;amp;" in done.stdout
    assert done.stderr == ""
