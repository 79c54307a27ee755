"""All post-hoc classifiers keep the tree, read X as given and raise clear errors."""

import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import keeptree as kt
from tests.tree.test_tree import mixed_tree

PROBABILITY = [
    kt.SmoothedTreeClassifier(),
    kt.SmoothedTreeClassifier(smoothing="shrinkage"),
    kt.DistanceKernelClassifier(),
    kt.DistanceKernelClassifier(scope="separator", bandwidth=0.05),
    kt.DistanceKernelClassifier(scope="leaf", kernel="triangular"),
    kt.ConfDTreeClassifier(),
    kt.ConfDTreeClassifier(
        interval="t", options={"minimum": "class", "nominal": True, "balance": True}
    ),
    kt.SoftTreeClassifier(strength=0.2, shrinkage=10.0),
    kt.MarginTreeClassifier(C=0.03),
]
ALL = [*PROBABILITY, kt.GeometricRankClassifier(), kt.GeometricRankClassifier(scope="local")]


def named(model):
    for name in ("scope", "interval", "smoothing"):
        if hasattr(model, name):
            return f"{type(model).__name__}-{getattr(model, name)}"
    return type(model).__name__


every_model = pytest.mark.parametrize("model", ALL, ids=named)
every_probability = pytest.mark.parametrize("model", PROBABILITY, ids=named)


def output(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)


def with_estimator(model, estimator, **params):
    return clone(model).set_params(estimator=estimator, **params)


@every_model
def test_the_kept_model_decides_and_its_bytes_do_not_change(model, cancer, cancer_tree):
    X, y = cancer
    before = pickle.dumps(cancer_tree)
    fitted = with_estimator(model, FrozenEstimator(cancer_tree)).fit(X, y)
    output(fitted, X)
    np.testing.assert_array_equal(fitted.predict(X), cancer_tree.predict(X))
    assert pickle.dumps(cancer_tree) == before


@every_model
def test_a_fitted_tree_a_frozen_tree_and_a_tree_object_give_the_same_output(
    model, cancer, cancer_tree
):
    X, y = cancer
    expected = None
    for kept in (FrozenEstimator(cancer_tree), kt.keep(cancer_tree)):
        fitted = with_estimator(model, kept).fit(X, y)
        result = output(fitted, X)
        expected = result if expected is None else expected
        np.testing.assert_array_equal(result, expected)
    # A fitted tree itself is not cloned by the constructor.
    direct = type(model)(
        cancer_tree, **{k: v for k, v in model.get_params(deep=False).items() if k != "estimator"}
    )
    np.testing.assert_array_equal(output(direct.fit(X, y), X), expected)
    assert direct.tree_.to_dict() == kt.keep(cancer_tree).to_dict()


def test_cross_validation_refits_a_learner_but_keeps_a_tree(cancer, cancer_tree):
    X, y = cancer
    grown = []

    class Spy(DecisionTreeClassifier):
        def fit(self, X, y, **options):
            grown.append(len(y))
            return super().fit(X, y, **options)

    cross_val_score(kt.SmoothedTreeClassifier(Spy(max_depth=2)), X, y, cv=3)
    assert len(grown) == 3
    scores = cross_val_score(kt.SmoothedTreeClassifier(kt.keep(cancer_tree)), X, y, cv=3)
    folds_of_the_kept_tree = cancer_tree.score(X, y)
    assert abs(scores.mean() - folds_of_the_kept_tree) < 0.01


@every_probability
def test_probabilities_are_valid_for_any_row(model, iris, iris_tree):
    X, y = iris
    fitted = with_estimator(model, kt.keep(iris_tree)).fit(X, y)
    thresholds = iris_tree.tree_.threshold[iris_tree.tree_.feature >= 0]
    rows = np.vstack(
        [
            X,
            np.full((1, 4), 1e300),
            np.full((1, 4), -1e300),
            np.zeros((1, 4)),
            np.full((1, 4), 1e-300),
        ]
        + [np.full((1, 4), t) for t in thresholds]
        + [X[:3] * [1, -1e10, 1e300, 1]]
    )
    p = fitted.predict_proba(rows)
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    assert (p <= 1).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)


@every_model
def test_output_does_not_depend_on_block_size_threads_or_memory_layout(model, cancer, cancer_tree):
    X = np.vstack([cancer[0] * scale for scale in np.linspace(0.5, 1.5, 40)])
    fitted = with_estimator(model, kt.keep(cancer_tree)).fit(*cancer)
    expected = output(fitted, X)
    for rows in (np.asfortranarray(X), X[::-1][::-1], np.vstack([X, X])[::2][: len(X)]):
        reference = output(fitted, np.ascontiguousarray(rows))
        np.testing.assert_array_equal(output(fitted, rows), reference)
    np.testing.assert_array_equal(output(fitted.set_params(n_jobs=3), X), expected)
    one_by_one = np.concatenate([output(fitted, X[i : i + 1]) for i in range(300)])
    np.testing.assert_array_equal(one_by_one, expected[:300])


@every_model
def test_concurrent_calls_are_safe(model, cancer, cancer_tree):
    X = np.vstack([cancer[0]] * 20)
    fitted = with_estimator(model, kt.keep(cancer_tree), n_jobs=2).fit(*cancer)
    expected = output(fitted, X)
    with ThreadPoolExecutor(6) as pool:
        for result in pool.map(lambda _: output(fitted, X), range(24)):
            np.testing.assert_array_equal(result, expected)


@every_model
def test_pandas_polars_and_float32_are_read_like_an_array(model, cancer):
    X, y = cancer
    X = X.astype(np.float32).astype(np.float64)
    names = [f"a{j}" for j in range(X.shape[1])]
    learner = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0)
    expected = output(with_estimator(model, learner).fit(X, y), X)
    labels = np.array(["benign", "malignant"])[y]
    for frame in (
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
        X.astype(np.float32),
    ):
        fitted = with_estimator(model, learner).fit(frame, labels)
        np.testing.assert_array_equal(output(fitted, frame), expected)
        assert set(fitted.predict(frame)) == {"benign", "malignant"}
    assert fitted.n_features_in_ == 30


@every_model
def test_a_pipeline_is_folded_into_its_raw_columns(model):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200), "colour": rng.choice(["red", "blue"], 200)})
    y = np.where((frame["x"] > 0) ^ (frame["colour"] == "red"), "yes", "no")
    one_hot = OneHotEncoder()  # its output is sparse by default
    columns = make_column_transformer((one_hot, ["colour"]), sparse_threshold=1)
    only_colour = make_pipeline(columns, DecisionTreeClassifier(max_depth=1)).fit(frame, y)
    sparse = with_estimator(model, FrozenEstimator(only_colour)).fit(frame, y)
    np.testing.assert_array_equal(sparse.predict(frame), only_colour.predict(frame))
    columns = make_column_transformer((one_hot, ["colour"]), (StandardScaler(), ["x"]))
    pipe = make_pipeline(columns, DecisionTreeClassifier(max_depth=3, random_state=0)).fit(frame, y)
    kept = with_estimator(model, FrozenEstimator(pipe)).fit(frame, y)
    np.testing.assert_array_equal(kept.predict(frame), pipe.predict(frame))
    folded = with_estimator(model, kt.keep(pipe)).fit(frame, y)
    np.testing.assert_array_equal(folded.predict(frame), pipe.predict(frame))
    grown = with_estimator(model, clone(pipe)).fit(frame, y, sample_weight=np.ones(200))
    np.testing.assert_array_equal(output(grown, frame), output(kept, frame))


@every_probability
def test_nominal_attributes_and_missing_values_are_scored(model):
    frame = pd.DataFrame(
        {
            "size": [0.0, 0.5, 1.5, 2.0, np.nan, 1.2, 0.7, 3.0],
            "colour": ["red", "blue", "green", None, "blue", "purple", "red", "red"],
        }
    )
    y = np.array(["bad", "bad", "good", "good", "good", "good", "bad", "bad"])
    fitted = with_estimator(model, mixed_tree()).fit(frame, y)
    p = fitted.predict_proba(frame)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.predict(frame), mixed_tree().predict(frame))


@every_model
def test_a_weight_of_zero_removes_a_row_and_a_weight_of_two_repeats_it(model, iris, iris_tree):
    X, y = iris
    kept = kt.keep(iris_tree)
    weight = np.random.default_rng(0).integers(0, 3, size=len(y))
    weighted = with_estimator(model, kept).fit(X, y, sample_weight=weight)
    repeated = with_estimator(model, kept).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(output(weighted, X), output(repeated, X), atol=1e-5)


@every_probability
def test_decide_by_probability_takes_the_most_probable_class(model, iris, iris_tree):
    X, y = iris
    fitted = with_estimator(model, kt.keep(iris_tree), decide="probability").fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), fitted.predict_proba(X).argmax(axis=1))


@every_model
def test_trees_with_one_leaf_one_class_or_an_unpredicted_class_give_finite_answers(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    y[:3] = "rare"
    one_leaf = DecisionTreeClassifier(max_depth=1, min_samples_leaf=60).fit(X, y)
    one_class = DecisionTreeClassifier().fit(X, np.full(60, "a"))
    unpredicted = DecisionTreeClassifier(max_depth=1).fit(X, y)
    for tree, labels in ((one_leaf, y), (one_class, np.full(60, "a")), (unpredicted, y)):
        fitted = with_estimator(model, kt.keep(tree)).fit(X, labels)
        result = output(fitted, X)
        assert np.isfinite(result).all()
        if hasattr(fitted, "predict_proba"):
            np.testing.assert_allclose(result.sum(axis=1), 1)
    # The class that no leaf predicts keeps roughly its prior.
    if hasattr(fitted, "predict_proba"):
        rare = result[:, list(fitted.classes_).index("rare")]
        assert 0 < rare.mean() < 0.2


@every_model
def test_scoring_many_rows_needs_little_memory(model, cancer, cancer_tree):
    X, y = cancer
    fitted = with_estimator(model, kt.keep(cancer_tree)).fit(X, y)
    output(fitted, X)
    rows = np.tile(X, (600, 1)).astype(np.float32)  # 341,400 rows, 82 MB as float64
    tracemalloc.start()
    result = output(fitted, rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Memory beyond that of the output must not grow with the number of rows.
    assert peak < 3 * result.nbytes + 20e6


@every_model
def test_invalid_input_raises_a_clear_error(model, cancer, cancer_tree):
    X, y = cancer
    kept = kt.keep(cancer_tree)
    fitted = with_estimator(model, kept).fit(X, y)
    with pytest.raises(NotFittedError):
        output(with_estimator(model, kept), X)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 30 features"):
        output(fitted, X[:, :2])
    with pytest.raises(ValueError, match="infinity"):
        output(fitted, np.where(np.arange(30) == 27, np.inf, X[:1]))
    with pytest.raises(ValueError, match="infinity"):
        with_estimator(model, kept).fit(np.where(np.arange(30) == 3, np.inf, X), y)
    with pytest.raises(ValueError, match="0 sample"):
        output(fitted, X[:0])
    with pytest.raises(
        ValueError, match=r"does not know the labels \[7\]; its classes are \[0, 1\]"
    ):
        with_estimator(model, kept).fit(X, np.where(y == 0, 7, y))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        with_estimator(model, kept).fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match=r"[Ss]ample weights"):
        with_estimator(model, kept).fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="regression tree"):
        with_estimator(model, kt.keep(DecisionTreeRegressor(max_depth=2).fit(X, y))).fit(X, y)
    two = DecisionTreeClassifier(max_depth=2).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="2 outputs"):
        with_estimator(model, FrozenEstimator(two)).fit(X, y)
    frame = pd.DataFrame(X, columns=[f"a{j}" for j in range(30)])
    by_name = with_estimator(model, DecisionTreeClassifier(max_depth=2)).fit(frame, y)
    with pytest.raises(ValueError, match=r"X lacks the column 'a3', .* it has 'b3', 'a0'"):
        output(by_name, frame.rename(columns={"a3": "b3"}))


def test_a_missing_value_without_a_rule_is_refused(cancer, cancer_tree):
    X, y = cancer
    data = {**kt.keep(cancer_tree).to_dict(), "missing": [-2] * kt.keep(cancer_tree).n_nodes}
    strict = kt.Tree.from_dict(data)
    for model in ALL:
        fitted = with_estimator(model, strict).fit(X, y)
        with pytest.raises(ValueError, match=r"has no value for"):
            output(fitted, np.full((2, 30), np.nan))
        with pytest.raises(ValueError, match=r"NaN|has no value for"):
            with_estimator(model, strict).fit(np.full_like(X, np.nan), y)


@every_model
def test_x_must_have_the_columns_of_the_kept_model(model):
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    for kept in (FrozenEstimator(clf), kt.keep(clf)):
        with pytest.raises(ValueError, match="in another order; give them as"):
            with_estimator(model, kept).fit(X[X.columns[::-1]], y)
        with pytest.raises(ValueError, match=r"lacks the column .* it has 'petals'"):
            with_estimator(model, kept).fit(X.rename(columns={X.columns[3]: "petals"}), y)


@every_model
@pytest.mark.parametrize("labels", [["sick", "healthy"], ["c", "a", "b"]])
def test_scorers_work_with_classes_in_declared_order(model, labels, iris, cancer):
    X, y = cancer if len(labels) == 2 else iris
    named_y = pd.Categorical(np.array(labels)[y], categories=labels)
    learner = kt.C45Classifier(min_samples_leaf=10).fit(X, named_y)
    tree = learner.tree_
    assert tree.classes[tree.declared].tolist() == labels
    fitted = with_estimator(model, kt.keep(learner)).fit(X, named_y)
    assert fitted.classes_.tolist() == sorted(labels) == learner.classes_.tolist()
    assert fitted.score(X, np.asarray(named_y)) > 0.8
    scorer = get_scorer("roc_auc" if len(labels) == 2 else "neg_log_loss")
    if len(labels) == 2 or hasattr(fitted, "predict_proba"):
        assert scorer(fitted, X, np.asarray(named_y)) > (0.9 if len(labels) == 2 else -1)
    assert get_scorer("neg_log_loss")(learner, X, np.asarray(named_y)) > -1


@every_model
def test_steps_that_cannot_be_folded_still_transform_the_rows(model, iris):
    X, y = iris
    pipe = make_pipeline(PCA(), DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, y)
    kept = with_estimator(model, FrozenEstimator(pipe)).fit(X, y)
    np.testing.assert_array_equal(kept.predict(X), pipe.predict(X))
    axes = pipe[:-1].transform(X)
    if not hasattr(kept, "cv"):  # cross-validation refits the steps too
        inside = with_estimator(model, kt.keep(pipe, fold=False)).fit(axes, y)
        np.testing.assert_array_equal(output(kept, X), output(inside, axes))


@every_model
def test_columns_that_a_pipeline_drops_may_be_given_or_left_out(model):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"no {k}" for k in range(200)], "x": rng.normal(size=200)})
    y = np.where(frame["x"] > 0, "yes", "no")
    columns = make_column_transformer((StandardScaler(), ["x"]))
    pipe = make_pipeline(columns, DecisionTreeClassifier(max_depth=1)).fit(frame, y)
    for estimator in (FrozenEstimator(pipe), kt.keep(pipe)):
        kept = with_estimator(model, estimator).fit(frame, y)
        np.testing.assert_array_equal(kept.predict(frame), y)
        np.testing.assert_array_equal(kept.predict(frame[["x"]]), y)
        assert kept.n_features_in_ == 1


@every_model
def test_an_estimator_around_a_pipeline_keeps_its_steps(model, iris):
    X, y = iris
    pipe = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3, random_state=0))
    inner = kt.SmoothedTreeClassifier(pipe).fit(X, y)
    fitted = with_estimator(model, FrozenEstimator(inner)).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), inner.predict(X))


@every_model
def test_refitting_a_kept_pipeline_does_not_change_the_model(model, iris):
    X, y = iris
    pipe = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3, random_state=0))
    pipe.fit(X, y)
    fitted = with_estimator(model, FrozenEstimator(pipe)).fit(X, y)
    before = output(fitted, X)
    pipe.fit(X * 7 + 3, y)
    np.testing.assert_array_equal(output(fitted, X), before)


@every_model
def test_lists_of_mixed_values_are_read_like_frames(model):
    rows = [[0.0, "red"], [0.5, "blue"], [1.5, "green"], [2.0, "red"]]
    fitted = with_estimator(model, mixed_tree()).fit(rows, ["bad", "bad", "good", "bad"])
    frame = pd.DataFrame(rows, columns=["size", "colour"])
    np.testing.assert_array_equal(fitted.predict(rows), mixed_tree().predict(frame))


@every_model
def test_errors_give_the_row_number_in_x_and_not_in_a_block(model, cancer, cancer_tree):
    X, y = cancer
    tree = kt.keep(cancer_tree)
    strict = kt.Tree.from_dict({**tree.to_dict(), "missing": [-2] * tree.n_nodes})
    fitted = with_estimator(model, strict).fit(X, y)
    rows = np.tile(X, (40, 1))
    rows[20_000] = np.nan
    with pytest.raises(ValueError, match="Row 20000 has no value"):
        output(fitted, rows)
    rows[20_000] = np.inf
    with pytest.raises(ValueError, match="infinity: row 20000"):
        output(fitted, rows)


def test_the_score_of_a_class_reached_only_by_missing_values_has_the_sign_of_the_decision():
    X = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan], [np.nan]])
    clf = DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 1, 1])
    rank = kt.GeometricRankClassifier(clf).fit(X, [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(rank.decision_function(X) > 0, clf.predict(X) == 1)


@every_model
def test_less_common_mistakes_raise_a_clear_error_too(model, cancer, cancer_tree):
    X, y = cancer
    kept = kt.keep(cancer_tree)
    fitted = with_estimator(model, kept, n_jobs=np.int64(2)).fit(X, y)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        output(fitted, scipy.sparse.coo_matrix(X))
    with pytest.raises(ValueError, match="no label in row 0"):
        with_estimator(model, kept).fit(X, np.where(np.arange(len(y)) == 0, None, y))
    with pytest.raises(ValueError, match="positive, finite sum"):
        with_estimator(model, kept).fit(X, y, sample_weight=np.full(len(y), 1e307))
    search = GridSearchCV(
        make_pipeline(StandardScaler(), DecisionTreeClassifier()),
        {"decisiontreeclassifier__max_depth": [2]},
        cv=2,
    )
    weighted = with_estimator(model, search).fit(X, y, sample_weight=np.ones(len(y)))
    assert weighted.score(X, y) > 0.8


def test_many_threads_can_share_a_tree_without_cached_arrays(cancer, cancer_tree):
    X, y = cancer
    fitted = kt.DistanceKernelClassifier(kt.keep(cancer_tree), "separator").fit(X, y)
    expected = fitted.predict_proba(X)
    for _ in range(5):
        cold = pickle.loads(pickle.dumps(fitted))
        with ThreadPoolExecutor(8) as pool:
            for result in pool.map(lambda _, m=cold: m.predict_proba(X), range(8)):
                np.testing.assert_array_equal(result, expected)


def test_a_model_whose_leaves_contain_naive_bayes_is_refused(iris):
    X, y = iris
    for learner in (kt.NBTreeClassifier(), kt.NBTreeClassifier().fit(X, y)):
        with pytest.raises(ValueError, match=r"naive Bayes inside its leaves.*kt\.keep\(model\)"):
            kt.SmoothedTreeClassifier(learner).fit(X, y)
    kept = kt.SmoothedTreeClassifier(kt.keep(learner)).fit(X, y)
    assert (kept.predict(X) == kt.keep(learner).predict(X)).all()


@every_model
def test_encoded_rows_get_the_same_answers_as_their_table(model):
    X = pd.DataFrame({"x": [1.0, 2.0, np.nan, 4.0, 9.0] * 8, "c": ["a", "b", "b", "a", "c"] * 8})
    y = np.array(["no", "yes", "yes", "no", "yes"] * 8)
    fitted = with_estimator(model, kt.C45Classifier()).fit(X, y)
    rows = fitted.encode(X)
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(fitted.predict_encoded(rows), fitted.predict(X))
    if hasattr(fitted, "predict_proba"):
        np.testing.assert_array_equal(fitted.predict_proba_encoded(rows), fitted.predict_proba(X))
        decided = fitted.set_params(decide="probability")
        np.testing.assert_array_equal(decided.predict_encoded(rows), decided.predict(X))
    else:
        scores = fitted.scores_encoded(rows)
        np.testing.assert_array_equal(scores[:, 1], fitted.decision_function(X))
