"""Cells of a table: when two values agree, and how a published table is read."""

import numpy as np
import pytest

from reproduction.agreement import (
    OPEN,
    OPPOSITE,
    OTHER,
    SAME,
    WEAKER,
    Cell,
    Estimate,
    count_agreement,
    estimate_difference,
    read_published,
)
from reproduction.published_2007 import TABLE_1, TABLE_2, TABLE_3
from reproduction.tables import Table, number


@pytest.mark.parametrize(
    ("ours", "published", "mark"),
    [
        ((3, 1), (2, 0.5), SAME),
        ((-3, 1), (-2, 0.5), SAME),
        ((0.1, 1), (-0.1, 1), SAME),  # significant in neither
        ((3, 1), (0.2, 0.5), WEAKER),
        ((0.3, 1), (2, 0.5), WEAKER),
        ((-0.3, 1), (2, 0.5), OTHER),
        ((-3, 1), (2, 0.5), OPPOSITE),
        ((3, None), (2, 0.5), OPEN),  # a single sample has no standard error
    ],
)
def test_agreement_depends_on_sign_and_significance(ours, published, mark):
    assert Cell(Estimate(*ours), Estimate(*published)).agreement == mark


def test_a_missing_result_is_open_and_a_missing_published_value_has_no_mark():
    assert Cell(None, Estimate(1, 0.1)).agreement == OPEN
    assert Cell(Estimate(1, 0.1)).agreement is None


def test_means_are_within_error_if_their_difference_is_not_significant():
    assert Cell(Estimate(1.0, 0.3), Estimate(1.9, 0.4)).within_error is True  # 0.9 < 1.98 x 0.5
    assert Cell(Estimate(1.0, 0.3), Estimate(2.1, 0.4)).within_error is False
    assert Cell(Estimate(1.0), Estimate(2.1, 0.4)).within_error is None


def test_counts_leave_out_cells_without_a_published_value():
    cells = [
        Cell(Estimate(3, 1), Estimate(2, 0.5)),
        Cell(Estimate(-3, 1), Estimate(2, 0.5)),
        Cell(Estimate(3, 1)),
    ]
    counts = count_agreement(cells)
    assert counts["total"] == 2
    assert (counts[SAME], counts[OPPOSITE], counts["within_error"]) == (1, 1, 1)


def test_a_difference_has_a_standard_error_and_a_one_sided_p_value():
    estimate = estimate_difference([0.5, 0.6, 0.7, 0.8], [0.6, 0.8, 0.85, 0.88], test=True)
    assert estimate.mean == pytest.approx(-13.25)
    assert estimate.error == pytest.approx(np.std([10, 20, 15, 8], ddof=1) / 2)
    assert estimate.p == pytest.approx(0.5**4)  # all four differences have the same sign
    assert estimate_difference([0.5], [0.4]).error is None
    assert estimate_difference([0.5, 0.5], [0.5, 0.5], test=True).p == 1


def test_a_published_table_is_read_from_text():
    table = read_published("a 1.5±0.5 0.01 -\nb -2 0.5 3±1", ["x", "p", "y"])
    assert table["a"] == {"x": Estimate(1.5, 0.5, 0.01), "y": None}
    assert table["b"] == {"x": Estimate(-2.0, None, 0.5), "y": Estimate(3.0, 1.0)}
    with pytest.raises(ValueError, match="c has 1 fields instead of 2"):
        read_published("c 1", ["x", "y"])
    with pytest.raises(ValueError, match="'1,5' is not a number"):
        read_published("c 1,5", ["x"])


def test_the_published_tables_are_complete():
    assert len(TABLE_1) == len(TABLE_2) == 14
    assert TABLE_1.keys() - TABLE_3.keys() == {"segment."}
    assert TABLE_1["wdbc"]["both normal"] == Estimate(2.24, 0.23)
    assert TABLE_2["bupa"]["kernel vs Laplace"] == Estimate(-7.29, 0.59, 3.9e-16)
    assert TABLE_3["wine"]["MSE, both normal"] == Estimate(-1.63, 0.45, 5e-06)


def test_a_table_marks_its_cells_and_counts_them():
    cell = Cell(Estimate(-3, 1), Estimate(2, 0.5))
    text = Table("1", "AUC", ("both",), {"wine": [cell]}, certain=("wine",)).to_markdown()
    assert "| wine     | **−3.00±1.00** (2.00±0.50) ✗ |" in text
    assert "agree in 0 of 1 cells (✗ 1)" in text
    assert "1 cell(s) are significant in both with opposite signs" in text
    good = Table("1", "AUC", ("both",), {"wine": [Cell(Estimate(2, 1), Estimate(2, 0.5))]})
    assert "No cell is significant in both with opposite signs." in good.to_markdown()


def test_numbers_have_a_minus_sign_and_no_negative_zero():
    assert [number(-0.001), number(-1.5), number(2)] == ["0.00", "−1.50", "2.00"]
