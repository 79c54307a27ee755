"""Every protocol divides the cases as documented and works as a scikit-learn splitter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_validate
from sklearn.tree import DecisionTreeClassifier

from keeptree.evaluation.protocols import (
    PROTOCOLS,
    BootstrapSplit,
    DividedBootstrapSplit,
    make_protocol,
)

X, Y = load_iris(return_X_y=True)
NUMBER = {"holdout": 1, "leave-one-out": 150, "repeated-k-fold": 100, "plain": 100, "paper": 100,
          "bootstrap": 100, "bootstrap-632": 100, "bootstrap-632+": 100}  # fmt: skip


@pytest.mark.parametrize("name", PROTOCOLS)
def test_training_and_test_parts_are_disjoint_and_reproducible(name):
    first, again = (list(make_protocol(name).split(X, Y)) for _ in range(2))
    assert len(first) == NUMBER.get(name, 10) == make_protocol(name).get_n_splits(X, Y)
    for (train, test), (train_again, test_again) in zip(first, again, strict=True):
        assert len(test)
        assert not set(train) & set(test)
        np.testing.assert_array_equal(train, train_again)
        np.testing.assert_array_equal(test, test_again)


@pytest.mark.parametrize("name", ["k-fold", "bootstrap", "paper", "repeated-holdout"])
def test_a_protocol_works_in_cross_validate(name):
    scores = cross_validate(DecisionTreeClassifier(), X, Y, cv=make_protocol(name, 3))["test_score"]
    assert scores.shape == (3,)
    assert (scores > 0.8).all()


def test_the_bootstrap_tests_on_the_cases_that_were_not_drawn():
    for train, test in BootstrapSplit(20, random_state=1).split(X):
        assert len(train) == 150
        assert set(train) | set(test) == set(range(150))
        assert 35 < len(test) < 75  # 36.8% of the cases on average


def test_a_bootstrap_sample_that_contains_every_case_is_drawn_again():
    assert all(len(test) for _, test in BootstrapSplit(200, random_state=0).split(np.zeros((3, 1))))
    with pytest.raises(ValueError, match="There is 1 case"):
        next(BootstrapSplit().split(np.zeros((1, 1))))


@given(
    sizes=st.lists(st.integers(2, 30), min_size=1, max_size=4),
    seed=st.integers(0, 10**6),
    share=st.floats(0.1, 0.9),
)
@settings(max_examples=60, deadline=None)
def test_the_protocol_of_the_paper_keeps_class_sizes_and_all_copies_on_one_side(sizes, seed, share):
    y = np.repeat(np.arange(len(sizes)), sizes)
    train, test = next(DividedBootstrapSplit(1, test_size=share, random_state=seed).split(y, y))
    assert not set(train) & set(test)
    # Each class is drawn as often as it has cases, counting both parts together.
    np.testing.assert_array_equal(np.bincount(y[np.concatenate([train, test])]), sizes)
    for code in range(len(sizes)):
        in_train, in_test = (len(set(part[y[part] == code])) for part in (train, test))
        distinct = in_train + in_test
        assert in_train >= 1
        if distinct > 1:
            assert in_test >= 1
            assert abs(in_test - share * distinct) <= 1


def test_the_protocol_of_the_paper_draws_with_replacement():
    train, _ = next(DividedBootstrapSplit(1, random_state=0).split(X, Y))
    assert len(set(train)) < len(train)


def test_a_class_with_one_member_is_refused():
    with pytest.raises(ValueError, match=r"The class 'b' has 1 member.*merge the class"):
        next(DividedBootstrapSplit().split(np.zeros((4, 1)), ["a", "a", "a", "b"]))


def test_an_unknown_protocol_is_refused_with_a_suggestion():
    with pytest.raises(ValueError, match="no protocol 'kfold'; did you mean 'k-fold'"):
        make_protocol("kfold")
    with pytest.raises(ValueError, match="no protocol 'x'; choose from holdout, repeated"):
        make_protocol("x")


def test_an_invalid_number_of_splits_is_refused():
    with pytest.raises(ValueError, match="'leave-one-out' has no number of splits"):
        make_protocol("leave-one-out", 3)
    with pytest.raises(ValueError, match="n_splits is 0; give 1 or more"):
        make_protocol("bootstrap", 0)
