"""The claims of section 5.2 of the 2007 paper, checked numerically."""

import numpy as np
import pytest

from reproduction.two_subsets import draw_example, true_probability


@pytest.fixture(scope="module", params=[0, 1, 2])
def example(request):
    return draw_example(random_state=request.param)


def test_the_tree_has_three_leaves_and_the_boundary_two_pieces(example):
    assert example.tree.n_leaves == 3
    assert example.left == pytest.approx(-0.25, abs=0.06)
    assert example.right == pytest.approx(0.25, abs=0.02)
    # A case belongs to the nearer separator, on either side of it.
    nearer = np.abs(example.X[:, [0]] - [example.left, example.right]).argmin(axis=1)
    np.testing.assert_array_equal(example.subset, nearer)


def test_the_separator_partition_follows_the_true_probability(example):
    found = example.findings()
    assert found["separator"] < 0.035
    assert found["separator"] < 0.7 * found["leaf"]
    # "very close to the one that would be obtained with a kernel estimation on the x axis"
    assert found["separator_to_along_x"] < 0.005 < 0.04 < found["leaf_to_along_x"]


def test_the_leaf_partition_shows_the_side_effect(example):
    found = example.findings()
    assert found["side_effect"] > 0.1
    assert abs(found["side_effect_separator"]) < 0.03


def test_the_leaf_partition_shows_a_false_symmetry(example):
    found = example.findings()
    assert found["asymmetry_truth"] > 0.2
    assert found["asymmetry"] < 0.01
    assert found["asymmetry_separator"] > 0.15


def test_the_true_probability_is_that_of_the_paper():
    rise, fall = true_probability(np.array([-0.5, -0.25, -1e-9])), true_probability(
        np.array([0.0, 0.25, 0.5])
    )  # fmt: skip
    np.testing.assert_allclose(rise, [0.1, 0.5, 0.9], atol=0.01)
    np.testing.assert_allclose(fall, [1, 0.5, 0], atol=0.001)
