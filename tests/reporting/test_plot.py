"""Scales have round ticks, and legends show the marks of the plots."""

import pytest

from keeptree.reporting.plot import Plot, Scale, line_sample, mark_sample
from keeptree.reporting.svg import class_sample
from tests.reporting.svg_text import parse


@pytest.mark.parametrize("kind", ["points", "squares", "crosses", "dot", "ring"])
def test_marks_have_samples_hidden_from_screen_readers(kind):
    assert 'aria-hidden="true"' in mark_sample(kind)


def test_samples_of_lines_and_classes_are_hidden_from_screen_readers():
    assert 'aria-hidden="true"' in line_sample("ours")
    assert 'aria-hidden="true"' in class_sample(2)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-2.8, 0.8), (1e-9, 3e-9), (-1e6, 1e7)])
def test_ticks_are_few_and_inside_the_range(low, high):
    ticks = Scale(low, high, 0, 100).ticks(6)
    assert 2 <= len(ticks) <= 7
    span = high - low
    assert min(ticks) >= low - 1e-9 * span
    assert max(ticks) <= high + 1e-9 * span


def drawn(plot):
    """Return the path data of the drawn elements by class."""
    return {part.get("class"): part.get("d") for part in parse(plot.draw("t", "d")).iter()}


def test_the_frame_is_square_by_default_and_leaves_room_for_marks_at_its_edge():
    plot = Plot((0, 1), (0, 1), 400, pad=8)
    assert plot.right - plot.left == plot.foot - plot.top
    plot.line([0, 1], [0, 1], "line")
    plot.rule(x=0)
    assert drawn(plot)["line"] == (
        f"M{plot.left + 8} {plot.foot - 8}L{plot.right - 8} {plot.top + 8}"
    )
    assert drawn(plot)["axis"] == f"M{plot.left + 8} {plot.foot}V{plot.top}"


def test_equal_marks_are_drawn_once_and_an_empty_line_draws_nothing():
    plot = Plot((0, 1), (0, 1), 100)
    plot.marks("points", [0.5, 0.5, 1], [0.5, 0.5, 1])
    plot.line([], [], "line")
    assert drawn(plot)["points"].count("M") == 2
    assert drawn(plot)["line"] == ""


def test_a_group_beyond_the_scale_is_drawn_at_its_end_with_a_tooltip():
    plot = Plot((0, 1), (0, 1), 100)
    group = {"scored": 7.0, "observed": 0.5, "low": 0.2, "high": 0.8, "cases": 1, "happened": 1}
    plot.interval(group, "far away")
    assert drawn(plot)["whisker"].startswith(f"M{plot.right} ")
    assert "far away: observed in 1 of 1 case" in plot.draw("t", "d")
