"""Labels become codes; unknown and missing labels raise clear errors."""

import numpy as np
import pandas as pd
import pytest

import keeptree as kt
from keeptree.data.labels import label_codes, name_classes, named_label, plain, recode


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["b", "a", "b"], np.array(["a", "b"])),
        (np.array(["b", "a", "b"], dtype=object), np.array(["a", "b"])),
        (pd.Series(["b", "a", "b"], dtype="category"), np.array(["a", "b"])),
        (np.array([2.0, 1.0, 2.0]), np.array([1, 2])),
        (["x", 7, "x"], np.array([7, "x"], dtype=object)),
        (np.array([True, False, True]), [False, True]),
        (np.array(["2021", "2020", "2021"], "M8[D]"), np.array(["2020", "2021"], "M8[D]")),
    ],
)
def test_a_code_is_the_position_among_the_classes(labels, classes):
    codes = label_codes(labels, classes)
    assert codes.tolist() == [1, 0, 1]
    assert codes.dtype == np.int64


def test_recode_ignores_unknown_labels_that_do_not_occur():
    labels, classes = np.array(["unused", "b", "a"]), np.array(["a", "b", "c"])
    codes = recode(np.array([2, 1, 2]), labels, classes)
    assert codes.tolist() == [0, 1, 0]
    assert codes.dtype == np.int64
    with pytest.raises(ValueError, match=r"does not know the labels \['unused'\]"):
        recode(np.array([0, 1]), labels, classes)


@pytest.mark.parametrize(
    ("typed", "classes", "label"),
    [
        ("1", np.array([0, 1]), 1),
        ("1", np.array([0.0, 1.0]), 1.0),
        ("1.0", np.array([0, 1]), 1),
        ("01", ["01", "1"], "01"),
        ("True", np.array([False, True]), True),
        ("1", np.array([False, True]), "1"),  # the text matches neither class
        ("yes", np.array([0, 1]), "yes"),
        ("nan", [1.5, 2.5], "nan"),
    ],
)
def test_typed_text_selects_the_class_with_that_value(typed, classes, label):
    found = named_label(typed, classes)
    assert (found, type(found)) == (label, type(label))


def test_unknown_labels_are_named_with_the_known_classes():
    sentence = r"^The tree does not know the labels \[3, 4\]; its classes are \[1, 2\]\.$"
    with pytest.raises(ValueError, match=sentence):
        label_codes(np.array([1, 3, 4]), np.array([1, 2]))


@pytest.mark.parametrize(
    "labels",
    [
        ["a", None],
        ["a", np.nan],
        np.array([1.0, np.nan]),
        np.array(["a", None], dtype=object),
        pd.Series(["a", pd.NA], dtype="string"),
        pd.Series(["a", None], dtype="category"),
        np.array(["2020", "NaT"], dtype="M8[ns]"),
    ],
)
def test_missing_labels_are_reported_as_missing(labels):
    with pytest.raises(ValueError, match=r"^y has missing labels \(None or NaN\) in 1 row;"):
        label_codes(labels, np.array(["a", "b"]))


def test_no_labels_give_no_codes_and_a_table_is_refused():
    assert label_codes([], ["a"]).tolist() == []
    with pytest.raises(ValueError, match="2 dimension"):
        label_codes([["a"]], ["a"])


def test_numpy_scalars_become_python_values():
    assert [type(plain(v)) for v in (np.int8(1), np.str_("a"), np.True_, None)] == [
        int, str, bool, type(None)
    ]  # fmt: skip


@pytest.mark.parametrize("nominal", [False, True])
def test_text_among_numbers_is_reported_with_its_column_and_index(nominal):
    X = pd.DataFrame({"a": [1.0, 2, 3, 4] * 5, "b": [1.0, 5, 2, 3] * 5})
    if nominal:
        X["c"] = pd.Categorical(["u", "v"] * 10)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, [0, 1, 0, 1] * 5)
    X["b"] = X["b"].astype(object)
    X.loc[3, "b"] = "old"
    sentence = "The numeric column 'b' holds 'old' at index 3; correct"
    for predict in (model.predict, model.tree_.predict):
        with pytest.raises(ValueError, match=sentence):
            predict(X)


def test_numeric_classes_are_shown_with_the_name_of_the_target():
    assert name_classes(np.array([0, 1]), "Survived") == ("Survived = 0", "Survived = 1")
    assert name_classes(np.array([False, True]), "ill") == ("ill = False", "ill = True")
    assert name_classes(["0", "1"], "Survived") == ("Survived = 0", "Survived = 1")
    assert name_classes(["no", "yes"], "Survived") == ("no", "yes")
    assert name_classes([0, 1]) == ("0", "1")
    assert name_classes([0, 1], "Survived", {"1": "survived"}) == ("Survived = 0", "survived")


def test_explanations_and_reports_use_the_same_class_names(tmp_path):
    X = pd.DataFrame({"age": np.arange(60.0)})
    y = pd.Series(np.where(X["age"] > 30, 1, 0), name="Survived")
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    assert "The tree decides Survived = 0." in kt.explain(model, X.iloc[0]).text
    assert "Survived = 0" in kt.explain(model, X.iloc[0]).html
    assert str(kt.nearest_change(model, X.iloc[0])).startswith("Becomes Survived = 1 if age rises")
    kt.save(model, tmp_path / "model.json")
    loaded = kt.load(tmp_path / "model.json")
    assert kt.explain(loaded, X.iloc[0]).text == kt.explain(model, X.iloc[0]).text
    data = kt.report(model, X, y, tmp_path / "report.html")
    assert [item["label"] for item in data["classes"]] == ["Survived = 0", "Survived = 1"]
    assert kt.explain(model.estimator.fit(X, y), X.iloc[0]).to_dict()["names"][1] == "Survived = 1"
