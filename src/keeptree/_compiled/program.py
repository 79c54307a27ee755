"""The parts of a tree program: rows, steps, and the nearest regions that it finds."""

from typing import NamedTuple

from numpy import float32, float64, int64

from keeptree._compiled.declare import In, Out

# Bits of a step's code: a bound replaces a previous one; a child is a region; a nominal test.
BOUNDED, LEFT_REGION, RIGHT_REGION, NOMINAL = 1, 2, 4, 8

SAW_NAN, SAW_INF = 1, 2  # flags that a program returns

LARGEST_SINGLE = 3.4028234663852886e38


class Rows(NamedTuple):
    """Some rows of a matrix: element (i, c) is ``flat[i * row_step + c * column_step]``."""

    flat: In(float64, 1, "C")
    row_step: int
    column_step: int
    start: int
    stop: int


class DoubleProgram(NamedTuple):
    """A program in float64: rows are not scaled, so that close numbers keep their digits.

    ``columns`` holds, for each used column, its number in the tree and its number of categories (0
    if numeric); ``rest`` lists the other columns. ``frame`` holds the centre, factor and limit of
    each used column, and ``limit`` is the smallest limit. Each row of ``steps`` holds the code, the
    used column, the parent's slot, the slot or class of the left and the right child, the numbers
    of their regions plus 1, and where the table of a nominal step (with one child) starts in
    ``growth``. ``bounds`` holds, for each step, the threshold, how far the upper and (negative) the
    lower bound move inward, and the scale. ``links`` holds the steps of the children (for a nominal
    step: of its child, and the next step of the same test), -1 for none. ``classes`` are the
    classes that have a region.
    """

    columns: In(int64, 2, "C")
    rest: In(int64, 1, "C")
    compare_single: bool  # whether the model compares in float32
    frame: In(float64, 2, "C")
    limit: float
    steps: In(int64, 2, "C")
    bounds: In(float64, 2, "C")
    growth: In(float64, 1, "C")
    links: In(int64, 2, "C")
    classes: In(int64, 1, "C")
    n_slots: int
    n_classes: int


class SingleProgram(NamedTuple):
    """A program in float32: rows are scaled and centred once, and steps have no scale."""

    columns: In(int64, 2, "C")
    rest: In(int64, 1, "C")
    compare_single: bool
    frame: In(float64, 2, "C")
    limit: float32
    steps: In(int64, 2, "C")
    bounds: In(float32, 2, "C")
    growth: In(float32, 1, "C")
    links: In(int64, 2, "C")
    classes: In(int64, 1, "C")
    n_slots: int
    n_classes: int


class NearestRegions(NamedTuple):
    """Own class (determined if negative), wanted class and nearest region of each row."""

    own: Out(int64, 1)
    wanted: In(int64, 1, "C")
    region: Out(int64, 1)
