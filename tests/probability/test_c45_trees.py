"""Every post-hoc classifier works on trees with nominal attributes and missing values."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import keeptree as kt
from tests.fixtures import weka
from tests.probability.test_base import ALL, named, output, with_estimator


@pytest.mark.parametrize("model", ALL, ids=named)
@pytest.mark.parametrize("name", ["vote", "credit-g", "autos", "labor", "soybean", "pima-missing"])
def test_every_model_scores_nominal_and_missing_values(name, model):
    data = weka.load(name)
    frame, y = data.frame, np.asarray(data.classes)[data.y]
    learner = kt.C45Classifier().fit(frame.iloc[data.train], y[data.train])
    fitted = with_estimator(model, kt.keep(learner)).fit(frame.iloc[data.train], y[data.train])
    rows = frame.iloc[data.unseen]
    result = output(fitted, rows)
    assert np.isfinite(result).all()
    if hasattr(fitted, "predict_proba"):
        assert (result >= 0).all()
        np.testing.assert_allclose(result.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.predict(rows), learner.predict(rows))


@pytest.mark.parametrize("metric", ["standard", kt.Metric(nominal="value-difference")])
def test_distances_to_nominal_regions_rank_better_than_the_leaves(metric):
    data = weka.load("credit-g")
    frame, y = data.frame, data.y
    train, test = data.train, data.unseen
    learner = kt.C45Classifier().fit(frame.iloc[train], y[train])
    ranked = kt.GeometricRankClassifier(kt.keep(learner), "local", metric=metric)
    score = ranked.fit(frame.iloc[train], y[train]).decision_function(frame.iloc[test])
    leaves = learner.predict_proba(frame.iloc[test])[:, 1]
    assert roc_auc_score(y[test], score) > roc_auc_score(y[test], leaves)


def test_the_nearest_point_of_a_nominal_case_has_another_class():
    data = weka.load("credit-g")
    frame = data.frame
    tree = kt.C45Classifier().fit(frame, data.y).tree_
    near = kt.Boundary(tree).fit(frame).nearest(frame)
    moved = pd.DataFrame(
        {
            name: near.point[:, j]
            if labels is None
            else pd.Categorical.from_codes(near.point[:, j].astype(int), list(labels))
            for j, (name, labels) in enumerate(
                zip(data.feature_names, data.categories, strict=True)
            )
        }
    )
    assert (tree.predict(moved) != tree.predict(frame)).all()
    np.testing.assert_array_equal(tree.predict(moved), near.predicted)


def test_without_an_estimator_the_learner_is_c45(cancer):
    X, y = cancer
    expected = kt.C45Classifier().fit(X, y).tree_
    for model in ALL:
        assert with_estimator(model, None).fit(X, y).tree_.to_dict() == expected.to_dict()
