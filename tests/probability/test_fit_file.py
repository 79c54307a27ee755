"""Fitting a model to a file equals fitting it to the table in the file."""

import pytest
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from tests.data.loans import draw, fit_model, write_files


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def model(folder):
    return fit_model(folder)


def test_codes_stay_categories_and_booleans_become_numbers(model):
    assert model.tree_.categories[2] == ("01", "2", "x3")
    assert model.tree_.categories[3] is None  # booleans become 1 and 0


def test_a_given_tree_is_kept_and_its_columns_are_found_by_name(folder):
    tree = fit_model(folder).tree_
    again = kt.fit_file(folder / "loans.csv", "risk", tree=tree, method="kernel", nominal=["area"])
    assert again.tree_ is tree
    draw()[["age", "risk"]].to_csv(folder / "narrow.csv", index=False)
    with pytest.raises(ValueError, match="lacks 'income', 'area', 'owner', which the tree uses"):
        kt.fit_file(folder / "narrow.csv", "risk", tree=tree)


def test_a_fitted_learner_is_kept_and_not_refitted(folder):
    frame = draw(60, seed=1)
    learner = DecisionTreeClassifier(max_depth=2, random_state=0)
    learner.fit(frame[["owner", "age"]], frame["risk"])
    model = kt.fit_file(
        folder / "train.csv", "risk", tree=learner, method="smoothed", nominal=["area"]
    )
    assert model.tree_.to_dict() == kt.keep(learner).to_dict()
    assert model.feature_names_in_.tolist() == ["owner", "age"]
