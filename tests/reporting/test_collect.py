"""The dict and the summary agree with the model and with scikit-learn's metrics."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from keeptree.data.table import as_matrix
from keeptree.explanation.wording import tell_branch
from keeptree.geometry.metric import Metric
from keeptree.importers import keep
from keeptree.learners.c45 import C45Classifier
from keeptree.probability.display import DistanceKernelDisplay
from keeptree.probability.distance_kernel import DistanceKernelClassifier
from keeptree.probability.geometric_rank import GeometricRankClassifier
from keeptree.probability.kept import KeptTreeClassifier
from keeptree.probability.kernel_expert import MOST_LANDMARKS
from keeptree.probability.smoothing import SmoothedTreeClassifier
from keeptree.reporting.collect import collect
from keeptree.reporting.methods import make_methods
from keeptree.reporting.render import render
from keeptree.reporting.report import report
from keeptree.reporting.summary import tell_ranking
from keeptree.reporting.tree_data import collect_classes, collect_tree, fingerprint
from keeptree.reporting.words import rows_text, tell_neighbours
from keeptree.tree import Tree


def fitted(X, y, **options):
    return SmoothedTreeClassifier(DecisionTreeClassifier(random_state=0, **options)).fit(X, y)


def gathered(model, X=None, y=None, **options):
    return collect(model, X, y, title="t", about={}, **options)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    model = fitted(X[::2], y[::2], max_leaf_nodes=6)
    return model, X[1::2], y[1::2]


def test_the_dict_can_be_written_as_json(demo_data):
    assert json.loads(json.dumps(demo_data, allow_nan=False)) == demo_data


def test_the_cases_have_the_probabilities_and_decisions_of_the_model(cancer):
    model, X, y = cancer
    data = gathered(model, X, y)
    assert len(data["cases"]) == len(X)
    for case in data["cases"]:
        row = int(case["id"])
        assert case["p"] == model.predict_proba(X[row : row + 1])[0].tolist()
        assert case["decision"] == model.predict(X[row : row + 1])[0]
        assert case["truth"] == y[row]
        columns = [attribute["column"] for attribute in data["attributes"]]
        assert case["values"] == X[row, columns].tolist()


def test_the_accuracy_lies_in_its_interval(cancer):
    model, X, y = cancer
    decisions = gathered(model, X, y)["decisions"]
    assert decisions["accuracy"] == (model.predict(X) == y).mean()
    assert decisions["low"] < decisions["accuracy"] < decisions["high"]


def test_only_tested_attributes_are_included(cancer):
    model, X, y = cancer
    data = gathered(model, X, y)
    tested = {f for f in model.tree_.feature.tolist() if f >= 0}
    assert {attribute["column"] for attribute in data["attributes"]} == tested
    assert data["n_others"] == X.shape[1] - len(tested)


def test_without_rows_no_values_of_cases_are_included(cancer):
    model, X, y = cancer
    data = gathered(model, X, y, rows=False)
    assert all(case["values"] is None for case in data["cases"])
    assert data["selected"] is data["view"] is None


def test_the_guide_gives_the_largest_number_of_training_rows_in_a_file():
    guide = Path(__file__).parents[2] / "docs/guide/report.md"
    text = " ".join(guide.read_text(encoding="utf-8").split())
    assert f"at most {MOST_LANDMARKS}, only the attributes that the tree tests" in text


def test_without_held_out_data_nothing_is_measured(cancer):
    model, _, _ = cancer
    data = gathered(model)
    assert data["quality"] is None
    assert data["decisions"] is None
    assert data["cases"] == []
    assert "unknown" in data["facts"][0]["headline"]
    assert json.dumps(data, allow_nan=False)


def test_without_true_classes_there_are_cases_but_no_quality(cancer):
    model, X, _ = cancer
    data = gathered(model, X)
    assert len(data["cases"]) == len(X)
    assert data["quality"] is None
    assert data["cases"][0]["truth"] is None


def test_the_page_says_how_cases_are_named(cancer):
    model, X, y = cancer
    assert gathered(model, X, y)["naming"].endswith("position in X, counted from 0.")
    frame = pd.DataFrame(X).set_axis([f"p{i}" for i in range(len(X))], axis=0)
    data = gathered(model, frame.to_numpy(), y)
    assert data["cases"][0]["id"].isdigit()
    frame.columns = [f"x{i}" for i in range(X.shape[1])]
    named = SmoothedTreeClassifier(keep(model)).fit(frame, y)
    data = gathered(named, frame, y)
    assert data["naming"].endswith("index of the data frame.")
    assert data["cases"][0]["id"].startswith("p")


def test_a_large_sample_is_reduced_to_the_riskiest_and_some_other_cases():
    X, y = load_digits(return_X_y=True)
    model = fitted(X, y, max_leaf_nodes=20)
    data = gathered(model, X, y)
    assert len(data["cases"]) <= 300
    risks = [case["risk"] for case in data["cases"][:150]]
    assert risks == sorted(risks, reverse=True)
    assert [case["check"] for case in data["cases"]] == [True] * 50 + [False] * 250
    assert data["check"]["cases"] == 50


def test_a_tree_with_one_leaf_has_no_distance(cancer):
    _, X, y = cancer
    model = SmoothedTreeClassifier(DecisionTreeClassifier(max_depth=1, min_samples_leaf=200))
    model.fit(X[:50], y[:50])
    data = gathered(model, X, y)
    assert model.tree_.n_leaves == 1
    assert data["distance"] is None
    assert data["facts"][2]["headline"] == "No case stands out"
    assert "always decides" in data["summary"][0]
    assert tell_ranking(data) == ""
    assert rows_text(data) == "None: the tree tests no attribute."
    assert json.dumps(data, allow_nan=False)


def test_correct_cases_and_errors_add_up(cancer):
    model, X, y = cancer
    distance = gathered(model, X, y)["distance"]
    wrong = int((model.predict(X) != y).sum())
    assert distance["errors"]["cases"] == sum(distance["errors"]["counts"]) == wrong
    assert sum(distance["hits"]["counts"]) == len(y) - wrong


def kernel_beside(model):
    """Return the distance kernel of the same tree, fitted to the same sample."""
    X, y = load_breast_cancer(return_X_y=True)
    return {"kernel": DistanceKernelClassifier(model.tree_).fit(X[::2], y[::2])}


def test_the_curve_agrees_with_the_display_of_figure_1_of_the_paper(cancer):
    pytest.importorskip("matplotlib").use("Agg")
    model, X, y = cancer
    kernel = DistanceKernelClassifier(model.tree_).fit(X, y)
    (curve,) = gathered(kernel, X, y, positive=0)["distance"]["by_class"]
    shown = DistanceKernelDisplay.from_estimator(kernel, X, y, positive=0)
    points = curve["points"]
    inside = np.clip(-shown.distance, curve["low"], curve["high"])
    assert points["inside"] == pytest.approx(inside.tolist(), abs=1e-6)
    assert points["ours"] == pytest.approx(shown.probability.tolist(), abs=1e-6)
    assert points["leaves"] == pytest.approx(shown.laplace.tolist(), abs=1e-6)
    assert points["wrong"] == shown.error.tolist()
    unclipped = (curve["low"] < -shown.distance) & (-shown.distance < curve["high"])
    on_line = np.interp(inside, curve["line"]["inside"], curve["line"]["p"])
    assert on_line[unclipped] == pytest.approx(shown.probability[unclipped], abs=2e-3)


@pytest.mark.parametrize("positive", [0, 1])
def test_the_curve_of_either_class_comes_from_the_given_kernel(cancer, positive):
    model, X, y = cancer
    others = kernel_beside(model)
    data = gathered(model, X, y, others=others, positive=positive)
    (curve,) = data["distance"]["by_class"]
    assert curve["class"] == positive
    h = others["kernel"].boundary_.signed_distance(X)[:, positive]
    p = others["kernel"].predict_proba(X)[:, positive]
    unclipped = (curve["low"] < -h) & (-h < curve["high"])
    found = np.interp(-h, curve["line"]["inside"], curve["line"]["p"])
    assert found[unclipped] == pytest.approx(p[unclipped], abs=2e-3)
    assert sum(item["cases"] for item in curve["bins"]) == len(y)
    assert sum(item["happened"] for item in curve["bins"]) == (y == positive).sum()


def test_without_a_kernel_there_are_points_but_no_line(cancer):
    (curve,) = gathered(*cancer)["distance"]["by_class"]
    assert curve["line"] is None
    assert len(curve["points"]["ours"]) == len(cancer[1])


def test_a_kernel_with_another_metric_is_not_drawn(cancer):
    model, X, y = cancer
    other = DistanceKernelClassifier(model.tree_, metric="minmax").fit(X, y)
    data = gathered(model, X, y, others={"minmax": other})
    assert data["distance"]["by_class"][0]["line"] is None


def test_a_kernel_with_other_costs_of_categories_is_not_drawn():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"c": rng.choice(list("abc"), 300), "x": rng.normal(size=300)})
    y = ((X.c == "a") ^ (X.x > 0)).to_numpy().astype(int)
    tree = C45Classifier().fit(X, y).tree_
    model = SmoothedTreeClassifier(tree).fit(X, y)

    def line(metric):
        kernel = DistanceKernelClassifier(tree, metric=metric).fit(X, y)
        data = gathered(model, X, y, others={"kernel": kernel})
        return data["distance"]["by_class"][0]["line"]

    assert line(Metric(nominal="value-difference")) is None
    assert line(Metric()) is not None


def test_without_rows_the_curve_has_no_single_cases(cancer):
    model, X, y = cancer
    data = gathered(model, X, y, rows=False, others=kernel_beside(model))
    (curve,) = data["distance"]["by_class"]
    assert curve["points"] is None
    assert curve["line"] is not None
    assert min(item["cases"] for item in curve["bins"]) > 5


def test_each_of_several_classes_has_a_curve_and_the_points_are_limited():
    X, y = load_digits(return_X_y=True)
    model = fitted(X, y, max_leaf_nodes=20)
    kernel = DistanceKernelClassifier(model.tree_).fit(X, y)
    curves = gathered(model, X, y, others={"kernel": kernel})["distance"]["by_class"]
    decided = np.unique(model.predict(X)).tolist()
    assert [curve["class"] for curve in curves] == decided
    assert sum(len(curve["points"]["ours"]) for curve in curves) <= 1500
    for curve in curves:
        line = curve["line"]["p"]
        assert line[-1] > line[0]  # more probable inside the class than far outside


def test_methods_are_compared_with_the_leaves_and_our_estimate(cancer):
    model, X, y = cancer
    others = {**kernel_beside(model), "rank": GeometricRankClassifier(model.tree_).fit(X, y)}
    rows = gathered(model, X, y, others=others, positive=0)["methods"]
    names = [row["name"] for row in rows]
    assert names == ["leaves", "kernel", "rank", "ours (laplace)"]
    p = others["kernel"].predict_proba(X)[:, 0]
    assert rows[1]["auc"] == pytest.approx(roc_auc_score(y == 0, p))
    assert rows[1]["brier"] == pytest.approx(brier_score_loss(y == 0, p))
    assert rows[1]["log_loss"] == pytest.approx(log_loss(y == 0, p))
    score = -others["rank"].decision_function(X)
    assert rows[2]["auc"] == pytest.approx(roc_auc_score(y == 0, score))
    assert rows[2]["brier"] is rows[2]["log_loss"] is None
    assert rows[2]["distinct"] == len(np.unique(score.round(12)))


def test_methods_of_several_classes_have_the_mean_auc_and_no_curve():
    X, y = load_digits(return_X_y=True)
    model = fitted(X, y, max_leaf_nodes=20)
    kernel = DistanceKernelClassifier(model.tree_).fit(X, y)
    row = gathered(model, X, y, others={"kernel": kernel})["methods"][1]
    p = kernel.predict_proba(X)
    assert row["auc"] == pytest.approx(roc_auc_score(y, p, multi_class="ovr"))
    assert row["roc"] is None


def test_others_must_be_fitted_models_of_the_same_tree(cancer):
    model, X, y = cancer
    another = fitted(X, y, max_leaf_nodes=3)
    with pytest.raises(ValueError, match="others\\['x'\\] has a different tree from the model"):
        gathered(model, X, y, others={"x": another})
    for no_model in (DistanceKernelClassifier(), DecisionTreeClassifier().fit(X, y), None):
        with pytest.raises(ValueError, match="not a fitted KeepTree classifier"):
            gathered(model, X, y, others={"x": no_model})
    for no_mapping in ([model], [], "model", model):
        with pytest.raises(ValueError, match="must be a dict of names to fitted KeepTree"):
            gathered(model, X, y, others=no_mapping)


def test_a_method_may_have_any_name(cancer):
    model, X, y = cancer
    names = [1, None, "a\ud800", "\x00", "two\nlines", ""]
    data = gathered(model, X, y, others=dict.fromkeys(names, model))
    shown = [row["name"] for row in data["methods"][1:-1]]
    assert shown == ["1", "None", "a\ufffd", "\ufffd", "two lines", "(no name)"]
    html = render(data)
    html.encode("utf-8")
    assert "\x00" not in html


@pytest.mark.parametrize("rows", [True, False])
def test_a_distance_with_a_missing_value_is_marked_as_a_lower_bound(rows):
    X, y = load_breast_cancer(return_X_y=True)
    model = fitted(X[::2], y[::2], max_leaf_nodes=6)
    held = X[1::2].copy()
    held[3, model.tree_.feature[0]] = np.nan
    untested = next(f for f in range(X.shape[1]) if f not in model.tree_.feature)
    held[4, untested] = np.nan
    cases = gathered(model, held, y[1::2], rows=rows)["cases"]
    assert [case["id"] for case in cases if case["least"]] == ["3"]


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        ((0.01, 0.05), "better than the tree's own percentages"),
        ((0.0004, 0.05), "no clear difference"),
        ((-0.01, 0.05), "no clear difference"),
        ((-0.05, -0.01), "worse than the tree's own percentages"),
    ],
)
def test_the_summary_claims_no_more_than_the_interval_allows(demo_data, gain, words):
    auc = demo_data["quality"]["metrics"]["auc"]
    changed = {**auc, "difference": {"value": 0.0, "low": gain[0], "high": gain[1]}}
    data = {**demo_data, "quality": {"metrics": {"auc": changed}, "scarce": None}}
    assert words in tell_ranking(data)


def test_no_ranking_is_called_better_on_a_single_case_of_a_class(demo_data):
    scarce = {"class": 0, "cases": 1}
    told = tell_ranking({**demo_data, "quality": {**demo_data["quality"], "scarce": scarce}})
    label = demo_data["classes"][0]["label"]
    assert told.startswith(f"There are too few held-out cases of {label} (1; at least 10")
    assert "better" not in told


@pytest.mark.parametrize(("label", "happened"), [("died", 1), ("died", 0), ("class 1", 12)])
def test_outcomes_of_similar_cases_are_told_for_labels_of_any_kind(label, happened):
    group = {"from": 0.04, "to": 0.08, "cases": 12, "happened": happened}
    assert tell_neighbours(0.05, label, [group]) == (
        "Of 12 cases that the tree had not seen and that had an estimate of 4 to 8 in 100, the "
        f"outcome was {label} for {happened}."
    )


def test_the_summary_contains_the_measured_figures(demo_data):
    assert (
        demo_data["summary"][0] == "The tree has 9 leaves and needs at most 4 tests for a decision."
    )
    auc = demo_data["quality"]["metrics"]["auc"]["ours"]["value"]
    assert f"{auc:.3f}" in demo_data["summary"][-1]


def test_the_most_common_classes_have_colours_and_the_rest_share_grey():
    X, y = load_digits(return_X_y=True)
    tree = keep(DecisionTreeClassifier(max_leaf_nodes=12, random_state=0).fit(X, y))
    slots = sorted(item["slot"] for item in collect_classes(tree, tree.classes))
    assert slots == [0, 0, 0, 0, 0, 1, 2, 3, 4, 5]


def test_the_nodes_agree_with_the_tree():
    X, y = load_breast_cancer(return_X_y=True)
    tree = keep(DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(X, y))
    data = collect_tree(tree)
    assert [node["id"] for node in data["nodes"]] == tree.preorder.tolist()
    assert data["nodes"][0]["cases"] == len(y)
    assert data["nodes"][0]["leaves"] == 5
    leaves = [node for node in data["nodes"] if node["name"] is None]
    assert sum(node["cases"] for node in leaves) == len(y)
    assert sum(node["errors"] for node in leaves) == np.count_nonzero(tree.predict(X) != y)


def test_the_fingerprint_changes_with_the_tree():
    X, y = load_breast_cancer(return_X_y=True)
    trees = [DecisionTreeClassifier(max_leaf_nodes=n, random_state=0).fit(X, y) for n in (4, 4, 5)]
    prints = [fingerprint(keep(tree)) for tree in trees]
    assert prints[0] == prints[1] != prints[2]


def test_x_and_y_must_be_given_together_and_have_the_same_length(cancer, tmp_path):
    model, X, y = cancer
    with pytest.raises(ValueError, match="y has 5 labels, but X has 284 rows"):
        report(model, X, y[:5], tmp_path / "page.html")
    with pytest.raises(ValueError, match="y was given without X"):
        report(model, None, y, tmp_path / "page.html")
    with pytest.raises(ValueError, match="X has no rows; give at least one held-out case"):
        report(model, X[:0], y[:0], tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), SmoothedTreeClassifier()])
def test_only_a_fitted_keeptree_model_is_accepted(model, tmp_path):
    with pytest.raises(ValueError, match="fit"):
        report(model, [[1.0]], [0], tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("threshold", ["16.795", "20230115.5", "0.000012345", "-3.25"])
def test_a_threshold_is_written_alike_in_the_outline_the_story_and_the_text(threshold):
    X = np.repeat([-1e9, 1e9], 10)[:, None]
    tree = keep(DecisionTreeClassifier().fit(X, np.repeat([0, 1], 10)))
    tree = Tree.from_dict({**tree.to_dict(), "threshold": [float(threshold), None, None]})
    assert tree.to_text().startswith(f"x[0] <= {float(threshold):.9g}")
    said = tell_branch(tree.branch(1)).removeprefix("x[0] ")
    assert said.replace("−", "-").replace("e-5", "e-05") == f"≤ {float(threshold):.9g}"
    assert collect_tree(tree)["nodes"][1]["relation"] == said


def test_the_held_out_cases_are_encoded_only_once(monkeypatch, tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    learner = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0)
    model = KeptTreeClassifier(learner).fit(X[:400], y[:400])
    methods = make_methods("report", model.tree_) | {"rank": GeometricRankClassifier(model.tree_)}
    others = {name: other.fit(X[:400], y[:400]) for name, other in methods.items()}
    encoded = []

    def count(rows, *options):
        encoded.append(len(rows))
        return as_matrix(rows, *options)

    for name, module in list(sys.modules.items()):
        if name.startswith("keeptree") and getattr(module, "as_matrix", None) is as_matrix:
            monkeypatch.setattr(module, "as_matrix", count)
    report(model, X[400:], y[400:], tmp_path / "page.html", others=others)
    assert encoded == [len(X) - 400]
