"""Move rows into boxes: compute the cost, the test that is crossed, and the new position.

A box is a sequence of sides (``keeptree.geometry.boxes``), one for each attribute that it bounds.
Every side and every rule concerns one attribute, so each coordinate of the cheapest point in a box
is the cheapest value allowed there, and the squared costs add up.

Without rules, the cost of a number is its distance to the closure of the side (to the threshold);
with rules, it is the distance to the nearest allowed number inside. ``rules`` has one row for each
attribute, or no rows at all. A row holds the least and the largest value allowed, whether it may
rise, whether it may fall, the step (0 for any number), the inverse of the step if that is a whole
number (else 0), and the first and last place of its list of values in ``values``.
"""

from typing import NamedTuple

import numpy as np
from numpy import float64, int64

from keeptree._compiled.declare import In, Out, entry, inlined, inner
from keeptree._compiled.program import LARGEST_SINGLE, Rows

LARGEST_MOVE = 1e150  # small enough for sums of squares to stay finite
ANY_NUMBER = np.iinfo(np.int64).max  # no limit on the number of changes

LEAST, MOST, RISE, FALL, STEP, INVERSE, FIRST, LAST = range(8)  # columns of the rules


class PricedBoxes(NamedTuple):
    """Boxes and the cost of entering them; box r has the sides ``start[r]`` to ``start[r + 1]``.

    A number is inside if it is above ``lower`` and not above ``upper``; in the precision of the
    model, these are the numbers from ``low`` to ``high``. ``factor`` is the cost of one unit. For a
    nominal side these are NaN, and ``table`` is not negative. Changing a category (code ``n_codes``
    stands for a missing value) into ``becomes[table + code]`` costs ``cost[table + code]``; a
    category that is already inside becomes itself. ``failed[table + code]`` is the test that
    requires the change.
    """

    label: In(int64, 1, "C")
    start: In(int64, 1, "C")
    feature: In(int64, 1, "C")
    lower: In(float64, 1, "C")
    upper: In(float64, 1, "C")
    low: In(float64, 1, "C")
    high: In(float64, 1, "C")
    factor: In(float64, 1, "C")
    tests: In(int64, 2, "C")  # tests of the lower bounds, and of the upper bounds
    table: In(int64, 1, "C")
    n_codes: In(int64, 1, "C")
    cost: In(float64, 1, "C")
    becomes: In(int64, 1, "C")
    failed: In(int64, 1, "C")
    single: bool  # whether the model compares in float32


class Rules(NamedTuple):
    """Rules that limit changes: a row for each attribute, and the lists of allowed values."""

    columns: In(float64, 2, "C")
    values: In(float64, 1, "C")


NO_RULES = Rules(np.empty((0, LAST + 1)), np.empty(0))


@inlined
def compared(value, single):
    """Return a number as the model compares it."""
    return float64(np.float32(value)) if single else value


@inner
def _multiple(k, rule):
    """Return the k-th multiple of a step; for a step of 1/10, 3 / 10 rather than 3 * 0.1."""
    return k / rule[INVERSE] if rule[INVERSE] > 0 else k * rule[STEP]


@inner
def _closest_value(value, low, high, rule, values, single):
    """Return the allowed value inside that is nearest to ``value``, which is outside, or NaN."""
    rising = compared(value, single) < low
    if rule[RISE if rising else FALL] == 0.0:
        return np.nan
    sign = 1.0 if rising else -1.0
    # Start at the nearer end. The limit of the rule may round to a float32 inside even if the
    # smallest float32 inside is beyond the limit.
    edge = max(low, rule[LEAST]) if rising else min(high, rule[MOST])
    chosen = np.nan
    if rule[STEP] > 0.0:
        k = np.floor(edge / rule[STEP]) - 2.0 * sign
        for _ in range(6):
            at = _multiple(k, rule)
            reached = compared(at, single) >= low if rising else compared(at, single) <= high
            if reached and rule[LEAST] <= at <= rule[MOST]:
                chosen = at
                break
            k += sign
    elif rule[LAST] > rule[FIRST]:
        for j in range(int(rule[FIRST]), int(rule[LAST])):
            at = values[j]
            allowed = low <= compared(at, single) <= high and rule[LEAST] <= at <= rule[MOST]
            if allowed and not abs(at - value) >= abs(chosen - value):
                chosen = at
    else:
        chosen = min(edge, rule[MOST]) if rising else max(edge, rule[LEAST])
        if not rule[LEAST] <= chosen <= rule[MOST]:
            return np.nan
    return chosen if low <= compared(chosen, single) <= high else np.nan


@inlined
def _price_box(row, r, boxes, rules, most_changes, limit):
    """Return (squared cost, number of changes) of moving a row into box r under the rules.

    The cost is infinite if the rules forbid the change, if the cost is not below ``limit``, or if
    there are more than ``most_changes``. The row has no missing value in a column that the box
    bounds.
    """
    # Unpacked once: taking an array out of the boxes for each side costs more than the work itself.
    start, feature, low, high = boxes.start, boxes.feature, boxes.low, boxes.high
    table, cost, becomes = boxes.table, boxes.cost, boxes.becomes
    factor, single = boxes.factor, boxes.single
    columns, values = rules.columns, rules.values
    total, n_changes = 0.0, 0
    for e in range(start[r], start[r + 1]):
        value, f = row[feature[e]], feature[e]
        if table[e] >= 0:
            code = table[e] + int64(value)
            if becomes[code] == int64(value):
                continue
            size = cost[code]
        else:
            if low[e] <= compared(value, single) <= high[e]:
                continue
            new = _closest_value(value, low[e], high[e], columns[f], values, single)
            size = np.inf if np.isnan(new) else abs(new - value) * factor[e]
        n_changes += 1
        total += min(size, LARGEST_MOVE) ** 2
        if size == np.inf or n_changes > most_changes or total >= limit:
            return np.inf, 0
    return total, n_changes


@entry
def find_cheapest(
    rows: In(float64, 2),
    boxes: PricedBoxes,
    rules: Rules,
    own: In(int64, 1, "C"),
    wanted: In(int64, 1, "C"),
    most_changes: int,
    box: Out(int64, 1),
    cost: Out(float64, 1),
    n_changes: Out(int64, 1),
):
    """Fill the box (-1 for none), squared cost and size of each row's cheapest allowed change.

    A box counts if its class is ``wanted[i]`` or, if that is negative, differs from ``own[i]``.
    Ties in cost go to the smaller number of changes, then to the first box.
    """
    label = boxes.label
    for i in range(len(rows)):
        box[i], cost[i], n_changes[i] = -1, np.inf, 0
        for r in range(len(label)):
            if label[r] != wanted[i] if wanted[i] >= 0 else label[r] == own[i]:
                continue
            limit = np.nextafter(cost[i], np.inf)
            total, n = _price_box(rows[i], r, boxes, rules, most_changes, limit)
            if total < cost[i] or (total == cost[i] and total < np.inf and n < n_changes[i]):
                box[i], cost[i], n_changes[i] = r, total, n


@entry
def price_boxes(
    row: In(float64, 1),
    boxes: PricedBoxes,
    rules: Rules,
    most_changes: int,
    cost: Out(float64, 1),
    n_changes: Out(int64, 1),
):
    """Fill the squared cost of moving one row into each box, and the number of changes."""
    for r in range(len(cost)):
        cost[r], n_changes[r] = _price_box(row, r, boxes, rules, most_changes, np.inf)


@inlined
def _outside(flat, at, column_step, first, n, feature, lower, upper, factor, single):
    """Return the sum of squared moves of a row into a box, the largest move, and its side.

    The sum is NaN if a coordinate is nominal or missing. The loop has no branch, because it would
    be unpredictable: different rows lie outside in different coordinates.
    """
    total, largest, chosen = 0.0, -1.0, np.uint64(first)
    for e in range(np.uint64(first), np.uint64(first + n)):
        value = flat[np.uint64(at + feature[e] * column_step)]
        if single:
            value = float64(np.float32(value))
        above, below = value - upper[e], lower[e] - value
        size = (above if above > below else below) * factor[e]
        outside = 0.0 if size < 0.0 else size
        total += outside * outside
        larger = size > largest
        largest = size if larger else largest
        chosen = e if larger else chosen
    return total, largest, chosen


@inner
def _project_side(value, e, boxes, fill):
    """Return how far a value is outside side e (negative if inside), and the test it fails.

    A missing value is filled in only if ``fill``.
    """
    table, upper, missing = boxes.table[e], boxes.upper[e], np.isnan(value)
    if missing and not fill:
        return -1.0, int64(-1)
    if table >= 0:
        code = table + (boxes.n_codes[e] if missing else int64(value))
        stays = not missing and boxes.becomes[code] == int64(value)
        return -1.0 if stays else boxes.cost[code], boxes.failed[code]
    if missing:
        return 0.0, boxes.tests[int64(upper < np.inf), e]
    if boxes.single:
        value = min(max(compared(value, True), -LARGEST_SINGLE), LARGEST_SINGLE)
    if boxes.lower[e] < value <= upper:
        return -1.0, int64(-1)
    above = value > upper
    gap = value - upper if above else boxes.lower[e] - value
    return min(gap * boxes.factor[e], LARGEST_MOVE), boxes.tests[int64(above), e]


@inner
def _project_carefully(row, r, boxes, fill):
    """Return (squared distance, separator) of any row, also with nominal or missing values."""
    total, largest, separator = 0.0, -1.0, int64(-1)
    for e in range(boxes.start[r], boxes.start[r + 1]):
        size, test = _project_side(row[boxes.feature[e]], e, boxes, fill)
        if size >= 0.0:
            total += size * size
            if size > largest:
                largest, separator = size, test
    return total, separator


@entry
def project_rows(
    rows: Rows,
    boxes: PricedBoxes,
    fill: bool,
    own: In(int64, 1, "C"),
    wanted: In(int64, 1, "C"),
    box: In(int64, 1, "C"),
    distance: Out(float64, 1),
    separator: Out(int64, 1),
):
    """Fill the distances of rows to their boxes, and the separators.

    A row without a box has distance 0 if the wanted class is its own, otherwise infinity. Missing
    values are filled in only if ``fill``.
    """
    flat, row_step, column_step, first, last = rows
    # Unpacked once: taking an array out of the boxes for each row costs more than the work itself.
    start, feature, lower, upper = boxes.start, boxes.feature, boxes.lower, boxes.upper
    factor, tests, single = boxes.factor, boxes.tests, boxes.single
    for i in range(last - first):
        at = (first + i) * row_step
        if box[i] < 0:
            separator[i] = -1
            stays = wanted[i] >= 0 and wanted[i] == own[i]
            distance[i] = 0.0 if stays else np.inf
            continue
        entry, n = start[box[i]], start[box[i] + 1] - start[box[i]]
        total, largest, e = _outside(
            flat, at, column_step, entry, n, feature, lower, upper, factor, single
        )
        if total <= LARGEST_MOVE**2 and largest > 0.0:
            value = flat[at + feature[e] * column_step]
            if single:
                value = float64(np.float32(value))
            # Indexed, because a branch would be unpredictable.
            separator[i] = tests[int64(value > lower[e]), e]
        else:  # nominal, missing or huge values, or the row touches the box
            total, separator[i] = _project_carefully(flat[at::column_step], box[i], boxes, fill)
        distance[i] = np.sqrt(total)


@inlined
def _place(value, low, high, single):
    """Return where a number moves to, without a branch; it stays if it or the side is NaN."""
    at = compared(value, single)
    place = high if at > high else value
    return low if at < low else place


@entry
def move_rows(
    rows: In(float64, 2, "C"),
    box: In(int64, 1, "C"),
    boxes: PricedBoxes,
    rules: Rules,
    fill: bool,
    out: Out(float64, 2),
):
    """Copy rows and move them into their boxes; rows with box -1 stay.

    Missing values are filled in only if ``fill``. Numbers move to the nearest number that the model
    counts as inside: the largest not above an upper bound, or the smallest above a lower bound. The
    rows are not changed in place: that would need conditional stores, and which coordinates move is
    unpredictable.
    """
    start, feature, low, high = boxes.start, boxes.feature, boxes.low, boxes.high
    table, n_codes, becomes, single = boxes.table, boxes.n_codes, boxes.becomes, boxes.single
    ruled, columns, values = len(rules.columns) > 0, rules.columns, rules.values
    careful = fill or ruled or len(becomes) > 0
    for i in range(len(rows)):
        for f in range(rows.shape[1]):
            out[i, f] = rows[i, f]
        if box[i] < 0:
            continue
        first, last = np.uint64(start[box[i]]), np.uint64(start[box[i] + 1])
        for e in range(first, last):
            f = np.uint64(feature[e])
            out[i, f] = _place(rows[i, f], low[e], high[e], single)
        for e in range(first, last if careful else first):
            f = np.uint64(feature[e])
            value = rows[i, f]
            missing = np.isnan(value)
            if missing and not fill:
                continue
            if table[e] >= 0:
                out[i, f] = becomes[table[e] + (n_codes[e] if missing else int64(value))]
            elif missing:
                out[i, f] = high[e] if high[e] < np.inf else low[e]
            elif ruled and out[i, f] != value:
                out[i, f] = _closest_value(value, low[e], high[e], columns[f], values, single)
