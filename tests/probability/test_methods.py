"""The list of methods is correct and appears in the guide."""

from pathlib import Path

import numpy as np
import pytest

import keeptree as kt
from keeptree.probability.base import KeptTreeModel
from keeptree.probability.methods import (
    ALIASES,
    METHODS,
    find_method,
    make_method,
    methods_of,
    name_of,
)
from keeptree.reporting.collect import collect

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "probability.md"
every_method = pytest.mark.parametrize("name", METHODS)


@every_method
def test_a_method_has_the_class_and_parameters_given_in_the_list(name, iris, iris_tree):
    method, model = METHODS[name], make_method(name, kt.keep(iris_tree)).fit(*iris)
    assert type(model) is getattr(kt, method.kind)
    assert {key: getattr(model, key) for key in method.parameters} == method.parameters


@every_method
def test_the_page_can_score_changed_cases_with_all_methods_but_one(name, iris, iris_tree):
    model = make_method(name, kt.keep(iris_tree)).fit(*iris)
    if hasattr(model, "predict_proba"):
        data = collect(model, title="", about={})
        assert (data["whatif"]["model"] is None) == (name == "position-kernel")


def test_every_probability_classifier_is_a_method():
    public = {name: getattr(kt, name) for name in kt.__all__}
    classes = {name: kind for name, kind in public.items() if isinstance(kind, type)}
    classifiers = {name for name, kind in classes.items() if issubclass(kind, KeptTreeModel)}
    assert classifiers == {method.kind for method in METHODS.values()}


@every_method
def test_the_name_of_a_method_is_found_from_its_fitted_model(name, iris, iris_tree):
    assert name_of(make_method(name, kt.keep(iris_tree)).fit(*iris)) == name


def test_names_and_aliases_are_distinct_and_an_unknown_name_is_refused():
    assert not set(ALIASES) & set(METHODS)
    assert all(find_method(alias).name == name for alias, name in ALIASES.items())
    with pytest.raises(ValueError, match=r"method='forest' is not known; choose one of \['confd"):
        find_method("forest")
    assert set(methods_of("report")) < set(methods_of("demo"))


def test_a_method_equals_its_class_with_the_same_parameters(iris):
    X, y = iris
    made = make_method("shrinkage").fit(X, y).predict_proba(X)
    direct = kt.SmoothedTreeClassifier(smoothing="shrinkage").fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(made, direct)


def test_the_guide_lists_every_method():
    rows = [
        f"| `{m.name}` | `{m.kind}({_arguments(m.parameters)})` | {m.about} |"
        for m in METHODS.values()
    ]
    assert "\n".join(rows) in GUIDE.read_text()


def _arguments(parameters):
    return ", ".join(f'{name}="{value}"' for name, value in parameters.items())
