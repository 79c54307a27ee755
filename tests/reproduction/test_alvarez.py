"""One sample of Alvarez et al.: how it is drawn, and what is measured on it."""

import numpy as np
import pytest

from reproduction.alvarez import CODINGS, draw_sample, score_sample, weight_of_prior


def rows_of(sample):
    return {tuple(row) for row in sample.X_train}, {tuple(row) for row in sample.X_test}


def test_a_sample_drawn_as_in_the_paper_has_copies_but_no_case_in_both_parts():
    sample = draw_sample("wdbc", 0)
    train, test = rows_of(sample)
    assert not train & test
    assert len(train) < len(sample.X_train)
    assert len(sample.X_train) + len(sample.X_test) == 569
    assert len(train) / (len(train) + len(test)) == pytest.approx(2 / 3, abs=0.01)


def test_a_plain_sample_has_every_case_once():
    sample = draw_sample("wdbc", 0, "plain")
    train, test = rows_of(sample)
    assert len(train) == len(sample.X_train)
    assert len(train | test) == 569


def test_the_same_number_draws_the_same_sample():
    first, again, other = (draw_sample("wine", number) for number in (3, 3, 4))
    np.testing.assert_array_equal(first.X_train, again.X_train)
    assert first.X_train.shape != other.X_train.shape or (first.X_train != other.X_train).any()


def test_the_minmax_metric_uses_the_ranges_of_the_whole_sample():
    sample = draw_sample("wine", 0)
    whole = np.vstack([sample.X_train, sample.X_test])
    np.testing.assert_array_equal(sample.minmax.scales, np.ptp(whole, axis=0))


def test_every_coding_states_its_positive_class_and_meaning():
    for name, coding in CODINGS.items():
        assert coding.positive, name
        assert coding.meaning, name
    certain = {name for name, coding in CODINGS.items() if not coding.free}
    assert certain == {"bupa", "iono.", "pima", "sonar", "wdbc"}


@pytest.fixture(scope="module")
def rows():
    return score_sample({"dataset": "wine", "protocol": "paper", "sample": 0})


def test_every_estimate_of_every_tree_is_measured(rows):
    found = {(row["tree"], row["method"]) for row in rows}
    for tree in ("reduced-error", "normal", "unpruned"):
        assert {(tree, "tree"), (tree, "laplace"), (tree, "m-estimate"), (tree, "global"),
                (tree, "local laplace")} <= found  # fmt: skip
    assert ("nbtree", "nbtree") in found
    assert ("normal", "kernel separator standard 0.05") in found
    assert ("reduced-error", "kernel global standard 0.15") in found
    assert len(rows) == len(found)


def test_the_measures_are_consistent(rows):
    by_name = {(row["tree"], row["method"]): row for row in rows}
    for row in rows:
        if "auc" in row:
            assert 0 <= row["auc"] <= 1
        if "areas" in row:
            assert row["areas"][-1] == pytest.approx(row["auc"], abs=1e-5)
            assert (np.diff(row["areas"]) >= 0).all()
    # The kernel ranks cases like the distance as long as its curve is monotone.
    assert by_name["normal", "global"]["auc"] == pytest.approx(
        by_name["normal", "kernel global standard 0.1"]["auc"], abs=0.05
    )
    assert by_name["unpruned", "tree"]["leaves"] >= by_name["normal", "tree"]["leaves"]


def test_m_times_the_prior_is_ten():
    assert weight_of_prior([0, 0, 0, 1]) * 0.25 == 10
