"""scikit-learn's own checks for all our classifiers, without an expected failure of our making."""

import pytest
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import keeptree as kt

# scikit-learn lists the same two for DecisionTreeClassifier: min_samples_leaf counts rows, so a
# weight of two grows another tree than a row repeated twice. With min_samples_leaf=1 inside they
# must pass: see test_weights_are_repeated_rows below.
COUNTS_ROWS = {
    "check_sample_weight_equivalence_on_dense_data": "the inner tree's min_samples_leaf counts rows",
}


def leaf_size_one():
    return DecisionTreeClassifier(random_state=0)


MODELS = [
    kt.SmoothedTreeClassifier(),
    kt.SmoothedTreeClassifier(smoothing="raw"),
    kt.SmoothedTreeClassifier(smoothing="m-estimate", m=2.0),
    kt.SmoothedTreeClassifier(smoothing="shrinkage", strength="cv"),
    kt.SmoothedTreeClassifier(leaf_size_one(), decide="probability"),
    kt.GeometricRankClassifier(),
    kt.GeometricRankClassifier(scope="local"),
    kt.GeometricRankClassifier(leaf_size_one(), boundary="whole", metric="minmax"),
    kt.DistanceKernelClassifier(),
    kt.DistanceKernelClassifier(scope="separator"),
    kt.DistanceKernelClassifier(scope="leaf", kernel="epanechnikov"),
    kt.DistanceKernelClassifier(leaf_size_one(), bandwidth="cv", metric="minmax", n_jobs=2),
    kt.DistanceKernelClassifier(leaf_size_one(), decide="probability"),
]


def expected_failures(model):
    return COUNTS_ROWS if model.estimator is None else {}


@parametrize_with_checks(MODELS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks_pass(estimator, check):
    check(estimator)


def test_scikit_learn_lists_the_same_expected_failure_for_its_own_tree():
    from sklearn.utils import _test_common

    listed = pytest.importorskip("sklearn.utils._test_common.instance_generator")
    expected = listed.PER_ESTIMATOR_XFAIL_CHECKS[DecisionTreeClassifier]
    assert set(COUNTS_ROWS) <= set(expected), _test_common
