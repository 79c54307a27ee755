"""What a tree program is made of: rows, steps, and the nearest regions it finds."""

from typing import NamedTuple

from numpy import float32, float64, int64

from keeptree._compiled.declare import In, Out

# Codes of a step: some bound replaces an older one, which children are regions, a nominal test.
BOUNDED, LEFT_REGION, RIGHT_REGION, NOMINAL = 1, 2, 4, 8

SAW_NAN, SAW_INF = 1, 2  # bits of what a program returns

LARGEST_SINGLE = 3.4028234663852886e38


class Rows(NamedTuple):
    """Some rows of a matrix: element (i, c) is ``flat[i * row_step + c * column_step]``."""

    flat: In(float64, 1, "C")
    row_step: int
    column_step: int
    start: int
    stop: int


class DoubleProgram(NamedTuple):
    """A program in float64: the rows stay as they are, so that close numbers keep their digits.

    ``columns`` has for each used column its number in the tree and its number of categories, 0 for
    a numeric one; ``rest`` are the others. ``frame`` has the centre, factor and limit of each used
    column; ``limit`` is the least of those. ``steps`` has for each the code, the used column, the
    parent's slot, the slot or class of the left and the right child, the numbers of their regions
    plus 1, and where the table of a nominal one begins in ``growth`` (it has one child). ``bounds``
    has for each step the threshold, how far the upper and (negative) the lower bound move in, and
    the scale. ``links`` has the steps of the children of each (of a nominal one: of its child and
    the next of the same test), -1 for none; ``classes`` are those that have a region.
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
    """The same in float32: the rows are scaled and centred once, and a step has no scale."""

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
    """For each row its own class (found where negative), the class wanted, the nearest region."""

    own: Out(int64, 1)
    wanted: In(int64, 1, "C")
    region: Out(int64, 1)
