"""Fitted models on one held-out sample: paired figures agree with SciPy and scikit-learn."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, ttest_rel
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree import cli
from keeptree.evaluation import compare_fitted

TARGET = ["--target", "diagnosis"]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    small, large = (
        DecisionTreeClassifier(max_leaf_nodes=n, random_state=0).fit(X[::2], y[::2]) for n in (2, 8)
    )
    return {"small": small, "large": large}, X[1::2], y[1::2]


def entries(comparison, model="large"):
    return {e["metric"]: e for e in comparison.differences() if e["model"] == model}


def test_the_figures_are_those_of_scikit_learn(cancer):
    models, X, y = cancer
    found = {(e["model"], e["metric"]): e["mean"] for e in compare_fitted(*cancer).means()}
    for name, model in models.items():
        p = model.predict_proba(X)
        assert found[name, "accuracy"] == pytest.approx(model.score(X, y))
        assert found[name, "auc"] == pytest.approx(roc_auc_score(y, p[:, 1]))
        assert found[name, "brier"] == pytest.approx(brier_score_loss(y, p[:, 1]))
        assert found[name, "log_loss"] == pytest.approx(log_loss(y, p))


def test_differences_are_tested_in_pairs_of_the_same_case(cancer):
    models, X, y = cancer
    small, large = (model.predict(X) == y for model in models.values())
    found = entries(compare_fitted(*cancer))
    won, lost = int((large & ~small).sum()), int((small & ~large).sum())
    accuracy = found["accuracy"]
    assert (accuracy["only_model"], accuracy["only_baseline"]) == (won, lost)
    assert accuracy["p"] == pytest.approx(binomtest(won, won + lost).pvalue)
    error = [(model.predict_proba(X)[:, 1] - y) ** 2 for model in models.values()]
    paired = ttest_rel(error[1], error[0])
    assert found["brier"]["p"] == pytest.approx(paired.pvalue)
    ends = paired.confidence_interval(0.95)
    assert (found["brier"]["low"], found["brier"]["high"]) == pytest.approx((ends.low, ends.high))


def test_the_interval_of_the_auc_is_that_of_a_paired_bootstrap(cancer):
    models, X, y = cancer
    found = entries(compare_fitted(*cancer))["auc"]
    small, large = (model.predict_proba(X)[:, 1] for model in models.values())
    rng, n = np.random.default_rng(1), len(y)
    draws = [
        roc_auc_score(y[rows], large[rows]) - roc_auc_score(y[rows], small[rows])
        for rows in (rng.integers(n, size=n) for _ in range(1000))
    ]
    expected = np.percentile(draws, [2.5, 97.5])
    assert (found["low"], found["high"]) == pytest.approx(expected, abs=0.01)
    assert found["low"] < found["mean"] < found["high"]
    assert 0 < found["p"] <= 1


def test_a_model_compared_with_itself_does_not_differ(cancer):
    models, X, y = cancer
    same = {"first": models["large"], "second": models["large"]}
    for entry in compare_fitted(same, X, y).differences():
        assert (entry["mean"], entry["p"], entry["better"]) == (0, 1, None)


def test_the_other_baseline_gives_the_opposite_verdict(cancer):
    forward, back = compare_fitted(*cancer), compare_fitted(*cancer, baseline="large")
    for name, entry in entries(back, "small").items():
        assert entry["mean"] == pytest.approx(-entries(forward)[name]["mean"])
        verdict = entries(forward)[name]["better"]
        assert entry["better"] is (None if verdict is None else not verdict)


def test_few_cases_of_a_class_allow_no_verdict_on_probabilities(cancer):
    models, X, y = cancer
    rows = np.sort(np.append(np.flatnonzero(y == 1), np.flatnonzero(y == 0)[:3]))
    comparison = compare_fitted(models, X[rows], y[rows])
    found = entries(comparison)
    assert [found["auc"][key] for key in ("low", "high", "p", "better")] == [None] * 4
    assert found["auc"]["mean"] is not None
    assert found["log_loss"]["better"] is None
    assert "too few held-out cases of class 0 (3; at least 10" in str(comparison)
    assert json.loads(json.dumps(comparison.to_dict()))["scarce"] == {"class": 0, "cases": 3}


def test_few_cases_of_a_single_class_allow_no_verdict_on_probabilities(cancer):
    """A small and a large tree give their leaves' shares, so the differences are all the same."""
    models, X, y = cancer
    rows = np.flatnonzero(y == 1)[:5]
    comparison = compare_fitted(models, X[rows], y[rows])
    assert {entry["better"] for entry in comparison.differences()} == {None}
    assert "too few held-out cases of class 1 (5; at least 10" in str(comparison)


def test_costs_are_those_of_the_decisions(cancer):
    models, X, y = cancer
    matrix = np.array([[0.0, 5.0], [1.0, 0.0]])
    found = compare_fitted(*cancer, costs=matrix).means()
    costs = {e["model"]: e["mean"] for e in found if e["metric"] == "cost"}
    for name, model in models.items():
        assert costs[name] == pytest.approx(matrix[y, model.predict(X)].mean())


def test_trees_ranks_and_several_classes_can_be_compared():
    X, y = load_iris(return_X_y=True)
    learner = kt.C45Classifier().fit(X[::2], y[::2])
    models = {
        "tree": learner.tree_,
        "learner": learner,
        "rank": kt.GeometricRankClassifier(learner).fit(X[::2], y[::2]),
    }
    comparison = compare_fitted(models, X[1::2], y[1::2])
    mean = {(e["model"], e["metric"]): e["mean"] for e in comparison.means()}
    p = learner.predict_proba(X[1::2])
    assert mean["tree", "auc"] == pytest.approx(roc_auc_score(y[1::2], p, multi_class="ovr"))
    assert mean["tree", "log_loss"] == pytest.approx(log_loss(y[1::2], p))
    assert mean["rank", "auc"] is not None
    assert mean["rank", "brier"] is None
    assert entries(comparison, "rank")["brier"]["p"] is None
    assert "rank" in str(comparison)


def test_a_written_tree_without_counts_is_compared_by_its_decisions_only():
    tree = kt.keep("x <= 1: no\nelse: yes\n")
    other = kt.keep("x <= 2: no\nelse: yes\n")
    X, y = np.array([[0.0], [1.5], [3.0]]), ["no", "no", "yes"]
    comparison = compare_fitted({"a": tree, "b": other}, X, y)
    mean = {(e["model"], e["metric"]): e["mean"] for e in comparison.means()}
    assert (mean["a", "accuracy"], mean["b", "accuracy"]) == (pytest.approx(2 / 3), 1)
    assert mean["a", "auc"] is mean["a", "brier"] is None


def test_models_that_cannot_be_compared_are_refused(cancer):
    models, X, y = cancer
    with pytest.raises(ValueError, match="give two or more"):
        compare_fitted({"small": models["small"]}, X, y)
    with pytest.raises(ValueError, match="no model 'smal'; did you mean 'small'"):
        compare_fitted(models, X, y, baseline="smal")
    other = DecisionTreeClassifier(max_depth=1).fit(X, np.where(y, "a", "b"))
    with pytest.raises(ValueError, match="other decides between the classes 'a', 'b', but small"):
        compare_fitted({**models, "other": other}, X, y)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a folder with a training and a test file, a saved model and a saved tree."""
    folder = tmp_path_factory.mktemp("saved")
    bunch = load_breast_cancer(as_frame=True)
    frame = bunch.data.iloc[:, :6].copy()
    frame["size"] = np.where(frame.iloc[:, 0] > 14, "large", "small")
    frame["diagnosis"] = bunch.target_names[bunch.target]
    frame[1::2].to_csv(folder / "test.csv", index=False)
    train = str(folder / "train.csv")
    frame[::2].to_csv(train, index=False)
    fit = ["fit", train, *TARGET, "--method", "laplace", "--drop", "size"]
    assert cli.main([*fit, "--out", str(folder / "model.json")]) == 0
    grow = ["grow", train, *TARGET, "--max-leaves", "2"]
    assert cli.main([*grow, "--out", str(folder / "tree.json")]) == 0
    return folder


def test_the_command_compares_saved_models_and_trees_of_other_columns(files, capsys, monkeypatch):
    monkeypatch.chdir(files)
    call = ["compare", "test.csv", *TARGET, "--model", "tree.json", "--model", "model.json"]
    assert cli.main([*call, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["models"] == ["tree.json", "model.json"]
    frame = pd.read_csv("test.csv")
    model = kt.load("model.json")
    right = model.predict(frame[list(model.feature_names_in_)]) == frame["diagnosis"]
    means = {(e["model"], e["metric"]): e["mean"] for e in figures["means"]}
    assert means["model.json", "accuracy"] == pytest.approx(right.mean())
    assert cli.main([*call, "--costs", '{"malignant": {"benign": 20}}']) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("284 cases, 2 classes\n")
    assert "Difference from tree.json" in printed
    assert "cost ↓" in printed
    assert not (files / "keeptree-compare").exists()


def test_the_command_refuses_what_does_not_fit_saved_models(files, capsys, monkeypatch):
    monkeypatch.chdir(files)
    frame = pd.read_csv("test.csv")
    frame.drop(columns="mean area").to_csv("narrow.csv", index=False)
    models = ["--model", "tree.json", "--model", "model.json"]
    for call, message in (
        (["test.csv", "--model", "tree.json"], "give two or more"),
        (["test.csv", *models, "--splits", "3"], "--splits does not apply to --model"),
        (["test.csv", *models[:2], *models[:2]], "The same file is given twice"),
        (["narrow.csv", *models], "lacks the column 'mean area'"),
        (["test.csv", "--models", "tree.json,model.json"], "give each one as --model FILE"),
    ):
        assert cli.main(["compare", *call, *TARGET]) == 2
        assert message in capsys.readouterr().err
