"""The displays share their axes, colours and frame."""

import pytest

from keeptree.plotting import SERIES, new_axes, new_panels, plain_frame, unit_square

pytestmark = pytest.mark.usefixtures("closed_figures")


def test_panels_are_arranged_in_rows_and_unused_axes_are_hidden():
    figure, axes = new_panels(5, 3, (2, 1))
    assert len(axes) == 5
    assert [ax.get_visible() for ax in figure.axes] == [True] * 5 + [False]
    assert figure.get_size_inches().tolist() == [6.8, 2.5]


def test_the_frame_is_plain_and_the_unit_square_has_a_diagonal():
    ax = new_axes((3, 3))
    unit_square(ax, 0.02)
    assert ax.get_xlim() == ax.get_ylim() == (-0.02, 1.02)
    assert ax.lines[0].get_xydata().tolist() == [[0, 0], [1, 1]]
    plain_frame(ax, "left")
    assert [side for side in ax.spines if ax.spines[side].get_visible()] == ["bottom"]


def test_no_two_series_have_the_same_colour():
    assert len(set(SERIES)) == len(SERIES)
