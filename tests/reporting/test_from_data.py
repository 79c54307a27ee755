"""A report from a table or a file: the split, the grown tree, and the labels."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.reporting.from_data import hold_out, report_data, report_file


def sizes(n=120):
    """Return data with classes whose declared order is not alphabetical."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n).round(2)
    labels = np.array(["small", "medium", "large"])[np.digitize(x, [-0.5, 0.5])]
    return pd.DataFrame({"x": x, "z": rng.normal(size=n)}), labels


ARFF = "@relation sizes\n@attribute x numeric\n@attribute z numeric\n"
ARFF += "@attribute size {small,medium,large}\n@data\n"


def test_the_declared_order_of_the_classes_reaches_the_tree(monkeypatch, tmp_path):
    X, y = sizes()
    rows = "\n".join(f"{a},{b},{label}" for (a, b), label in zip(X.to_numpy(), y, strict=True))
    (tmp_path / "sizes.arff").write_text(ARFF + rows + "\n")
    seen = []
    fit = kt.C45Classifier.fit
    monkeypatch.setattr(
        kt.C45Classifier, "fit", lambda self, X, y, *rest: seen.append(y) or fit(self, X, y, *rest)
    )
    report_file(tmp_path / "sizes.arff", "size", out=tmp_path / "page.html")
    assert seen
    assert all(list(y.cat.categories) == ["small", "medium", "large"] for y in seen)


@pytest.mark.parametrize("kind", [list, np.asarray, pd.Series, pd.Categorical])
def test_splitting_keeps_the_type_of_the_labels(kind):
    X, y = sizes()
    (_, _, train, test), stratified = hold_out(X, kind(y), 1 / 3, 0)
    assert stratified
    assert sorted([*train, *test]) == sorted(y)
    if kind is not list:
        assert type(train) is type(kind(y))


def test_the_report_records_whether_the_tree_was_grown_or_given(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    learner = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0)
    grown = report_data(X, y, tree=learner, out=tmp_path / "grown.html")
    given = report_data(X, y, tree=learner.fit(X, y), out=tmp_path / "given.html")
    assert grown["tree"]["grown"]
    assert not given["tree"]["grown"]


def test_the_title_names_the_target(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = kt.SmoothedTreeClassifier().fit(X[::2], y[::2])

    def title(*cases, **options):
        return kt.report(model, *cases, out=tmp_path / "page.html", **options)["title"]

    assert title(X[1::2], y[1::2]) == "target: how far to trust this tree"
    assert title(X[1::2], y[1::2], target="species") == "species: how far to trust this tree"
    assert title(X[1::2], y[1::2].to_numpy()) == "How far to trust this tree"
    assert title(title="Mine") == "Mine"


def test_fixed_attributes_are_locked_and_never_part_of_a_change(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = kt.SmoothedTreeClassifier().fit(X[::2], y[::2])
    fixed = ["petal width (cm)"]
    data = kt.report(model, X[1::2], y[1::2], tmp_path / "page.html", fixed=fixed)
    assert [data["attributes"][at]["name"] for at in data["locked"]] == fixed
    assert f"{fixed[0]} rises" not in (told := data["view"]["change"])
    assert f"{fixed[0]} falls" not in told
    free = kt.report(model, X[1::2], y[1::2], tmp_path / "page.html")
    assert fixed[0] in free["view"]["change"]


def test_a_column_of_the_file_that_the_tree_does_not_use_may_be_fixed(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    file, page = tmp_path / "iris.csv", tmp_path / "page.html"
    X.assign(number=range(len(X)), kind=np.take(list("abc"), y)).to_csv(file, index=False)
    tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, np.take(list("abc"), y))
    model = kt.SmoothedTreeClassifier(tree).fit(X, np.take(list("abc"), y))
    lock = {"fixed": ["petal width (cm)", "number"], "out": page}
    for options in ({"tree": kt.keep(tree)}, {"model": model}, {"drop": ["number"]}):
        data = report_file(file, "kind", **lock, **options)
        assert [data["attributes"][at]["name"] for at in data["locked"]] == lock["fixed"][:1]
        with pytest.raises(ValueError, match="no column 'numbr'; did you mean 'number'"):
            report_file(file, "kind", fixed=["numbr"], out=page, **options)


@pytest.mark.parametrize("fixed", ["age", ["petal widht (cm)"]])
def test_fixed_must_be_a_list_of_columns(fixed, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = kt.SmoothedTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"fixed.*(not a list|petal width)"):
        kt.report(model, X, y, tmp_path / "page.html", fixed=fixed)
