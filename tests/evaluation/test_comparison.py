"""Models use the same splits; failures are recorded, and finished fits are not repeated."""

import json

import numpy as np
import pytest
from scipy.stats import wilcoxon
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    StratifiedShuffleSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.evaluation import (
    CURVES,
    METRICS,
    QualityMetric,
    compare,
    cost_metric,
    learning_curve,
    weighted_accuracy_metric,
)
from keeptree.evaluation.protocols import BootstrapSplit
from tests.evaluation.models import Counting

X, Y = load_breast_cancer(return_X_y=True)
NAMES = np.array(["malignant", "benign"])[Y]
IRIS = load_iris(return_X_y=True)
TREE = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0)
MODELS = {"tree": TREE, "Bayes": GaussianNB()}


def compare_here(models, *data, **options):
    return compare(models, *data, **{"n_jobs": 1, "progress": False, **options})


@pytest.fixture(scope="module")
def comparison():
    return compare_here(MODELS, X, Y, metrics=[*METRICS, *CURVES], n_splits=5)


def test_rows_contain_every_split_model_and_metric_once(comparison):
    keys = [(row["split"], row["model"], row["metric"]) for row in comparison.rows]
    assert len(set(keys)) == len(keys) == 5 * 2 * (len(METRICS) + len(CURVES))
    assert comparison.failures == comparison.warnings == []
    assert {row["n_train"] for row in comparison.rows} == {379}
    frame = comparison.to_frame()
    assert list(frame.columns) == ["split", "model", "metric", "value", "n_train", "n_test"]
    assert len(frame) == 5 * 2 * len(METRICS)


def test_values_agree_with_scikit_learn_on_the_same_splits(comparison):
    splitter = StratifiedShuffleSplit(5, test_size=1 / 3, random_state=0)
    expected = cross_val_score(TREE, X, Y, cv=splitter, scoring="roc_auc")
    np.testing.assert_allclose(comparison.values("tree", "auc"), expected)
    expected = -cross_val_score(GaussianNB(), X, Y, cv=splitter, scoring="neg_brier_score")
    np.testing.assert_allclose(comparison.values("Bayes", "brier"), expected)


def test_differences_are_paired_and_one_sided(comparison):
    found = {entry["metric"]: entry for entry in comparison.differences()}
    gains = comparison.values("Bayes", "auc") - comparison.values("tree", "auc")
    assert found["auc"]["mean"] == pytest.approx(gains.mean())
    assert found["auc"]["sd"] == pytest.approx(gains.std(ddof=1))
    assert found["auc"]["p_wilcoxon"] == wilcoxon(gains, alternative="greater").pvalue
    losses = comparison.values("Bayes", "brier") - comparison.values("tree", "brier")
    assert found["brier"]["p_wilcoxon"] == wilcoxon(losses, alternative="less").pvalue
    turned = {e["metric"]: e for e in comparison.differences("Bayes")}
    assert turned["auc"]["mean"] == pytest.approx(-gains.mean())
    assert turned["auc"]["p_t"] == pytest.approx(1 - found["auc"]["p_t"])
    plain = {e["metric"]: e for e in comparison.differences(corrected=False)}
    assert plain["auc"]["high"] - plain["auc"]["low"] < found["auc"]["high"] - found["auc"]["low"]


def test_better_is_true_or_false_only_if_the_interval_excludes_zero():
    sure = compare_here({"none": Counting(), "tree": TREE}, X, Y, metrics=["auc", "brier"])
    assert [entry["better"] for entry in sure.differences()] == [True, True]
    assert [entry["better"] for entry in sure.differences("tree")] == [False, False]
    same = compare_here({"tree": TREE, "again": TREE}, X, Y, metrics=["auc"], n_splits=3)
    assert [entry["better"] for entry in same.differences()] == [None]


def test_curves_add_up_over_the_splits(comparison):
    assert comparison.curve("tree", "confusion").sum() == 5 * 190
    assert comparison.curve("tree", "reliability")[:, 0].sum() == 5 * 190
    area = comparison.curve("Bayes", "partial_auc")
    assert area[-1] == pytest.approx(comparison.values("Bayes", "auc").mean())
    assert comparison.curve("Bayes", "roc").shape == (101,)
    assert 0 < comparison.ahead("Bayes") <= 1
    assert comparison.ahead("Bayes") > comparison.ahead("tree", "Bayes")


def test_a_ranking_without_probabilities_has_no_brier_score():
    models = {
        "kernel": kt.DistanceKernelClassifier(TREE),
        "rank": kt.GeometricRankClassifier(TREE),
        "machine": LinearSVC(),
    }
    found = compare_here(models, X, Y, metrics=["auc", "brier", "accuracy"], n_splits=2)
    assert found.failures == []
    assert np.isnan(found.values("rank", "brier")).all()
    assert (found.values("rank", "auc") > 0.9).all()
    np.testing.assert_array_equal(
        found.values("kernel", "accuracy"), found.values("rank", "accuracy")
    )
    assert [e["n"] for e in found.differences() if e["metric"] == "brier"] == [0, 0]
    assert "rank" in str(found)


def test_the_positive_class_can_be_chosen():
    options = {"metrics": ["recall", "auc", "brier"], "n_splits": 2}
    benign = compare_here([TREE], X, NAMES, positive="benign", **options)
    malignant = compare_here([TREE], X, NAMES, positive="malignant", **options)
    assert benign.labels == ["malignant", "benign"]
    name = "DecisionTreeClassifier"
    assert (benign.values(name, "recall") != malignant.values(name, "recall")).all()
    for metric in ("auc", "brier"):  # the same for either positive class
        np.testing.assert_allclose(benign.values(name, metric), malignant.values(name, metric))
    with pytest.raises(ValueError, match="no class 'bening'; did you mean 'benign'"):
        compare_here([TREE], X, NAMES, positive="bening")


def test_an_infinite_loss_gives_an_infinite_mean_and_is_reported():
    leaves = DecisionTreeClassifier(random_state=0)
    models = {"leaves": leaves, "one": Counting(), "again": leaves}
    found = compare_here(models, X, Y, metrics=["log_loss_unclipped", "log_loss"], n_splits=3)
    by_model = {e["model"]: e for e in found.means() if e["metric"] == "log_loss_unclipped"}
    assert (by_model["leaves"]["mean"], by_model["leaves"]["n_infinite"]) == (np.inf, 3)
    assert by_model["leaves"]["sd"] is by_model["leaves"]["low"] is None
    assert by_model["one"]["n_infinite"] == 0
    assert np.isfinite(by_model["one"]["mean"])
    assert all(np.isfinite(e["mean"]) for e in found.means() if e["metric"] == "log_loss")
    one, again = (e for e in found.differences() if e["metric"] == "log_loss_unclipped")
    assert (one["n"], one["n_infinite"], one["mean"]) == (3, 3, -np.inf)
    assert one["low"] is one["p_t"] is one["better"] is None
    assert (again["n"], again["mean"]) == (0, None)  # both are infinite, so there is no difference
    says = "leaves: log-loss, unclipped is infinite on 3 of 3 splits, and so is its mean."
    for text in (str(found), found.to_markdown()):
        assert says in text
        assert "∞" in text
    assert "∞*" not in str(found)
    figures = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (figures["means"][0]["mean"], figures["means"][0]["n_infinite"]) == (None, 3)


@pytest.mark.parametrize(
    "freeze",
    [
        FrozenEstimator,
        kt.keep,
        lambda fitted: kt.SmoothedTreeClassifier(kt.keep(fitted)),
        lambda fitted: make_pipeline(kt.SmoothedTreeClassifier(FrozenEstimator(fitted))),
    ],
)
def test_a_frozen_tree_that_may_have_seen_the_test_cases_gives_a_warning(freeze):
    model = freeze(DecisionTreeClassifier(random_state=0).fit(*IRIS))
    with pytest.warns(UserWarning, match="'old' keeps a frozen tree.*its figures are too good"):
        found = compare_here({"old": model}, *IRIS, n_splits=2, metrics=["accuracy"])
    assert found.values("old", "accuracy").tolist() == [1.0, 1.0]  # too good, as the warning says


def test_one_warning_names_all_frozen_trees():
    tree = kt.keep(DecisionTreeClassifier(random_state=0).fit(*IRIS))
    models = {"a": tree, "b": kt.SmoothedTreeClassifier(tree), "c": DecisionTreeClassifier()}
    with pytest.warns(UserWarning, match="frozen") as caught:
        compare_here(models, *IRIS, n_splits=2, metrics=["accuracy"])
    told = [str(warning.message) for warning in caught if "frozen" in str(warning.message)]
    assert len(told) == 1
    assert told[0].startswith("The models 'a', 'b' keep a frozen tree")


def test_a_cost_matrix_is_in_the_order_of_the_labels():
    metrics = {"cost": cost_metric([[0, 1], [10, 0]]), "confusion": CURVES["confusion"]}
    found = compare_here([TREE], X, NAMES, positive="malignant", metrics=metrics, n_splits=3)
    (_, false_alarms), (missed, _) = found.curve("DecisionTreeClassifier", "confusion")
    cost = found.values("DecisionTreeClassifier", "cost").sum() * 190
    assert cost == pytest.approx(false_alarms + 10 * missed)


def test_leave_one_out_measures_rankings_on_all_cases_together():
    cases = np.arange(0, 569, 8)
    data = X[cases], Y[cases]
    found = compare_here(MODELS, *data, protocol="leave-one-out", metrics=["auc", "brier", "ece"])
    p = cross_val_predict(GaussianNB(), *data, cv=LeaveOneOut(), method="predict_proba")[:, 1]
    assert found.values("Bayes", "auc") == pytest.approx([roc_auc_score(data[1], p)])
    assert found.values("Bayes", "brier").shape == (len(cases),)
    assert found.values("Bayes", "brier").mean() == pytest.approx(brier_score_loss(data[1], p))
    by_metric = {entry["metric"]: entry for entry in found.differences()}
    assert by_metric["brier"]["n"] == len(cases)
    assert by_metric["auc"]["p_t"] is None


def test_leave_one_out_works_with_several_classes_and_a_chosen_positive_class():
    data = IRIS[0][::5], IRIS[1][::5]
    found = compare_here(
        [GaussianNB()], *data, protocol=LeaveOneOut(), metrics=["auc", "confusion"]
    )
    assert found.curve("GaussianNB", "confusion").sum() == 30
    assert found.values("GaussianNB", "auc") > 0.95
    two = data[0][:20], np.array(["a", "b"])[data[1][:20]]
    first = compare_here([GaussianNB()], *two, protocol="leave-one-out", positive="a")
    assert first.values("GaussianNB", "auc") == 1


@pytest.mark.parametrize("protocol", ["k-fold", "bootstrap", "paper", 3, KFold(3)])
def test_a_protocol_can_be_a_name_a_number_of_folds_or_a_scikit_learn_splitter(protocol):
    n_splits = 3 if isinstance(protocol, str) else None
    found = compare_here([GaussianNB()], *IRIS, protocol=protocol, n_splits=n_splits)
    assert found.n_splits == 3
    assert found.failures == []
    assert str(protocol)[:5] in str(found)


def test_a_single_holdout_gives_an_interval_for_the_accuracy_and_no_paired_tests():
    found = compare_here(MODELS, X, Y, protocol="holdout", metrics=["accuracy", "auc"])
    accuracy, auc = (e for e in found.means() if e["model"] == "tree")
    assert accuracy["low"] < accuracy["mean"] < accuracy["high"]
    assert auc["low"] is None
    assert "no paired tests" in str(found)


def test_a_failed_fit_is_recorded_and_the_other_fits_continue(tmp_path):
    results = tmp_path / "results.jsonl"
    data = np.arange(60.0)[:, None], np.arange(60) % 2
    models = {"picky": Counting(fail_if_rows=7.0), "easy": Counting()}
    found = compare_here(models, *data, protocol="k-fold", n_splits=3, results=results)
    assert {f["split"] for f in found.failures} < {0, 1, 2}
    assert len(found.failures) == 2
    assert found.failures[0]["error"] == "RuntimeError: cannot fit this training part"
    assert np.isnan(found.values("picky", "brier")).sum() == 2
    assert not np.isnan(found.values("easy", "brier")).any()
    assert found.differences()[0]["n"] == 1
    for text in (str(found), found.to_markdown()):
        assert "2 fits failed and left no value; the first was picky on split" in text
    never = {"bad": QualityMetric(None, "decision")}
    with pytest.raises(
        ValueError, match="Every model failed on every split; the first error was: Type"
    ):
        compare_here({"easy": Counting()}, *data, metrics=never)


def test_a_rerun_computes_only_new_results(tmp_path):
    results, calls = tmp_path / "results.jsonl", tmp_path / "calls"
    calls.mkdir()
    models = {"model": Counting(folder=calls)}
    options = {"results": results, "metrics": ["brier"]}
    first = compare_here(models, *IRIS, n_splits=3, **options)
    assert len(list(calls.iterdir())) == 3
    again = compare_here(models, *IRIS, n_splits=5, **options)
    assert len(list(calls.iterdir())) == 5
    assert again.rows[:3] == first.rows
    # Results for other data or metrics are computed anew.
    compare_here(models, IRIS[0] + 1, IRIS[1], n_splits=3, **options)
    compare_here(models, *IRIS, n_splits=3, results=results, metrics=["mse"])
    assert len(list(calls.iterdir())) == 11
    costs = [{"cost": cost_metric([[0, c, c], [1, 0, 1], [1, 1, 0]])} for c in (1, 2)]
    a, b = (compare_here(models, *IRIS, n_splits=3, results=results, metrics=c) for c in costs)
    assert a.values("model", "cost").tolist() != b.values("model", "cost").tolist()


def test_an_unreadable_results_file_is_set_aside(tmp_path):
    results = tmp_path / "results.jsonl"
    results.write_bytes(b"\x00\x01 not ours")
    with pytest.warns(UserWarning, match=r"kept as results\.jsonl\.damaged-1"):
        compare_here([GaussianNB()], *IRIS, n_splits=2, results=results)
    assert (tmp_path / "results.jsonl.damaged-1").read_bytes() == b"\x00\x01 not ours"


def test_results_of_a_lambda_metric_are_never_reused(tmp_path):
    results = tmp_path / "results.jsonl"
    for constant in (1.0, 2.0):
        metric = {"own": QualityMetric(lambda y, p, labels, c=constant: c, "decision")}
        found = compare_here([GaussianNB()], *IRIS, n_splits=2, results=results, metrics=metric)
        assert found.values("GaussianNB", "own").tolist() == [constant] * 2


def test_a_repeated_warning_is_shown_once_with_its_count():
    found = compare_here({"shy": Counting(warn=True)}, *IRIS, n_splits=4)
    assert found.warnings == [{"model": "shy", "message": "did not converge", "fits": 4}]
    assert "shy warned on 4 fits: did not converge" in str(found)


def test_a_class_with_one_member_is_refused_unless_the_protocol_uses_folds():
    y = np.array(["a"] * 30 + ["b"] * 29 + ["rare"])
    data = np.random.default_rng(0).random((60, 3)), y
    for protocol in ("repeated-holdout", "holdout", "paper"):
        with pytest.raises(ValueError, match=r"The class 'rare' has 1 member.*merge"):
            compare_here([GaussianNB()], *data, protocol=protocol)
    # With folds, the single case is tested once, by a model that has not seen its class.
    models = [KNeighborsClassifier(3), TREE]
    with pytest.warns(UserWarning, match="least populated class"):
        found = compare_here(models, *data, protocol="k-fold", n_splits=3)
    assert found.failures == []
    assert np.isfinite(found.values("KNeighborsClassifier", "log_loss")).all()


def test_results_do_not_depend_on_the_number_of_processes(tmp_path):
    options = {"metrics": ["auc", "roc"], "n_splits": 2, "results": tmp_path / "r.jsonl"}
    parallel = compare_here(MODELS, *IRIS, **options, n_jobs=2)
    assert parallel.rows == compare_here(MODELS, *IRIS, metrics=["auc", "roc"], n_splits=2).rows


def test_json_and_markdown_contain_all_results(comparison):
    figures = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert figures["classes"] == [0, 1]
    assert len(figures["rows"]) == len(comparison.rows)
    assert len(figures["differences"]) == len(METRICS)
    text = comparison.to_markdown()
    assert "| Model | AUC ↑ |" in text
    assert text.count("\n| ") == 2 + 2 + 2 + len(METRICS)


def test_special_characters_in_names_do_not_break_a_table():
    found = compare_here({"a|b": TREE, "<i>": GaussianNB()}, *IRIS, n_splits=2, metrics=["auc"])
    text = found.to_markdown()
    assert "a\\|b" in text
    assert "<i>" not in text


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"models": {}}, "no model to compare"),
        ({"models": [TREE, TREE]}, "Several models are of the class DecisionTreeClassifier"),
        ({"baseline": "Bays"}, "no model 'Bays'; did you mean 'Bayes'"),
        ({"metrics": ["acuracy"]}, "no metric 'acuracy'; did you mean 'accuracy'"),
        ({"protocol": "bootstap"}, "no protocol 'bootstap'; did you mean 'bootstrap'"),
        ({"protocol": KFold(3), "n_splits": 3}, "set it in the splitter"),
        ({"positive": 1}, "There are 3 classes; positive applies only"),
        ({"y": np.zeros(150)}, r"All cases belong to the class 0.0; give cases of two or more"),
    ],
)
def test_invalid_input_raises_a_clear_error(wrong, says):
    with pytest.raises(ValueError, match=says):
        compare_here(**{"models": MODELS, "X": IRIS[0], "y": IRIS[1], **wrong})


def test_unknown_model_and_metric_names_are_refused(comparison):
    with pytest.raises(ValueError, match="no model 'trees'; did you mean 'tree'"):
        comparison.values("trees", "auc")
    with pytest.raises(ValueError, match="no metric 'lift'; choose from auc"):
        comparison.values("tree", "lift")


def test_every_public_name_exists():
    for name in kt.evaluation.__all__:
        assert getattr(kt.evaluation, name) is not None
    assert dir(kt.evaluation) == kt.evaluation.__all__
    with pytest.raises(AttributeError, match="no attribute 'comparison_'"):
        kt.evaluation.comparison_  # noqa: B018


def test_the_632_bootstrap_combines_out_of_bag_and_training_accuracy():
    mixed, plain = (
        compare_here(MODELS, X, Y, protocol=name, n_splits=3, metrics=["accuracy", "brier", "roc"])
        for name in ("bootstrap-632", "bootstrap")
    )
    assert mixed.n_splits == 3
    assert mixed.test_share == plain.test_share
    for name, model in MODELS.items():
        seen = model.fit(X, Y).score(X, Y)
        expected = 0.632 * plain.values(name, "accuracy") + 0.368 * seen
        np.testing.assert_allclose(mixed.values(name, "accuracy"), expected)
        np.testing.assert_array_equal(mixed.values(name, "roc"), plain.values(name, "roc"))
    left_out = [
        TREE.fit(X[train], Y[train]).score(X[test], Y[test])
        for train, test in BootstrapSplit(3, random_state=0).split(X)
    ]
    np.testing.assert_allclose(plain.values("tree", "accuracy"), left_out)


NOISE = np.random.default_rng(0).normal(size=(60, 3)), np.random.default_rng(1).integers(0, 2, 60)


@pytest.mark.parametrize(("learner", "data"), [(KNeighborsClassifier(1), NOISE), (TREE, (X, Y))])
def test_the_632_plus_bootstrap_agrees_with_efron_and_tibshirani(learner, data):
    cases, classes = data
    found = compare_here({"model": learner}, *data, protocol="bootstrap-632+", n_splits=5,
                         metrics=["accuracy", "log_loss", "f1", "auc"])  # fmt: skip
    whole = clone(learner).fit(*data)
    seen = 1 - whole.score(*data)
    left_out = np.mean([
        1 - clone(learner).fit(cases[train], classes[train]).score(cases[test], classes[test])
        for train, test in BootstrapSplit(5, random_state=0).split(cases)
    ])  # fmt: skip
    # Every prediction is compared with every true class.
    chance = np.mean(whole.predict(cases)[:, None] != classes)
    rate = (min(left_out, chance) - seen) / (chance - seen)
    weight = 0.632 / (1 - 0.368 * rate)
    expected = (1 - weight) * seen + weight * min(left_out, chance)
    assert 1 - found.values("model", "accuracy").mean() == pytest.approx(expected)
    assert list(found.metrics) == ["accuracy", "log_loss", "f1", "auc"]
    assert np.isfinite(found.values("model", "log_loss")).all()
    # The no-information rate is not defined for F1.
    assert np.isnan(found.values("model", "f1")).all()


def test_the_632_plus_bootstrap_is_not_fooled_by_memorised_noise():
    error = {
        protocol: 1 - compare_here({"model": KNeighborsClassifier(1)}, *NOISE, protocol=protocol,
                                   n_splits=20, metrics=["accuracy"]).values(
            "model", "accuracy").mean()
        for protocol in ("bootstrap-632", "bootstrap-632+")
    }  # fmt: skip
    assert error["bootstrap-632"] < 0.35  # 36.8% of it is a training error of 0
    assert error["bootstrap-632+"] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("protocol", ["bootstrap-632", "bootstrap-632+"])
def test_learning_curves_refuse_the_632_bootstraps(protocol):
    with pytest.raises(ValueError, match="choose another protocol, such as 'bootstrap'"):
        learning_curve([TREE], X, Y, protocol=protocol)


def test_weighted_accuracy_agrees_with_the_confusion_matrix():
    weights = [[1, 2], [3, 4]]
    metrics = {"weighted": weighted_accuracy_metric(weights), "confusion": CURVES["confusion"]}
    found = compare_here({"tree": TREE}, X, Y, protocol="holdout", metrics=metrics)
    table = found.curve("tree", "confusion")
    expected = (table * np.diag([1, 4])).sum() / (table * weights).sum()
    assert found.values("tree", "weighted")[0] == pytest.approx(expected)
