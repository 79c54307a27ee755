"""Project rows of an encoded matrix on the nearest regions of other classes."""

from typing import NamedTuple

import numpy as np

from keeptree._compiled import boxes
from keeptree._compiled.boundary import run_program, run_single_program
from keeptree._compiled.program import NearestRegions
from keeptree.geometry import polytopes
from keeptree.geometry.rows import check_rows, classes_of, flat_rows, round_columns

_NO_ROWS, _NO_DISTANCES = np.empty(0, dtype=np.int64), np.empty(0)
_NOTHING = NearestRegions(*[_NO_ROWS] * 3)  # for calls that need no regions


class Found(NamedTuple):
    """Nearest regions of rows; see ``keeptree.geometry.boundary.Nearest``."""

    region: np.ndarray
    distance: np.ndarray
    separator: np.ndarray
    label: np.ndarray

    @classmethod
    def empty(cls, n):
        """Return empty fields for n rows."""
        region, separator, label = (np.empty(n, dtype=np.int64) for _ in range(3))
        return cls(region, np.empty(n), separator, label)

    def part(self, start, stop):
        """Return views of the rows from start to stop."""
        return Found(*(column[start:stop] for column in self))


def fill_signed(program, tree, X, start, stop, out):
    """Fill ``out`` with the class-algebraic distances of rows start to stop of ``X``.

    ``out`` is a C-contiguous float32 or float64 array with one column per class, or, for two
    classes, a single column with the distances of the first. Invalid rows raise an error; see
    ``check_rows``.
    """
    if isinstance(program, polytopes.PolytopeProgram):
        return polytopes.fill_signed(program, tree, X, start, stop, out)
    seen = _run(program, _rows(program, X, start, stop), out.reshape(-1))
    check_rows(tree, X, start, stop, seen)
    if program.off_grid is not None:
        rows = X[start:stop]
        beside = program.off_grid.find_rows(rows)
        if len(beside):
            with np.errstate(over="ignore"):  # a distance that overflows becomes infinite
                out[beside] = program.off_grid.signed_distances(rows[beside])


def find_nearest(program, tree, X, start, stop, found, wanted=None, fill=False):
    """Fill ``found`` with the nearest regions of rows start to stop.

    Regions have the class ``wanted`` of each row, or by default any class other than the row's own.
    With ``fill``, missing values are always replaced by values inside the region. Otherwise they
    are replaced only if the tree would not make the desired decision while they are missing.

    Returns the positions and nearest points of the rows whose points had to be computed: rows with
    missing values, and rows off the grid.
    """
    if isinstance(program, polytopes.PolytopeProgram):
        return polytopes.find_nearest(program, tree, X, start, stop, found, wanted, fill)
    rows, own, any_class = X[start:stop], np.full(stop - start, -1), wanted is None
    wanted = own.copy() if any_class else wanted
    # The program cannot tell the class of a row on a threshold or with a missing value, so the tree
    # decides it.
    missing = _rows_with_nan(rows)
    if len(missing):
        own[missing] = classes_of(tree, rows[missing])
    part = _rows(program, X, start, stop)
    seen = _find(program, part, own, wanted, any_class, found, fill)
    check_rows(tree, X, start, stop, seen)
    if own.min(initial=0) < 0:
        undecided = np.flatnonzero(own < 0)
        own[undecided] = classes_of(tree, rows[undecided])
        _find_again(program, tree, rows, undecided, own, wanted, found, fill)
    inside = found.region >= 0
    found.label[:] = np.where(inside, program.boxes.label[found.region], own)
    missing = missing[:0] if fill else missing[inside[missing]]
    points = _settle(program, tree, rows, missing, own, wanted, found)
    if program.off_grid is None:
        return missing, points
    return _find_off_grid(program.off_grid, rows, wanted, found, fill, missing, points)


def move_rows(program, tree, rows, region, out, fill=False):
    """Fill ``out`` with rows moved into their regions; rows with region -1 stay."""
    if isinstance(program, polytopes.PolytopeProgram):
        return polytopes.move_rows(program, tree, rows, region, out)
    rows = np.ascontiguousarray(rows)
    boxes.move_rows(rows, region, program.priced, boxes.NO_RULES, fill, out)


def _rows(program, X, start, stop):
    """Return the rows start to stop in the form that the program reads."""
    if not len(program.rounded):
        return flat_rows(X, start, stop)
    return flat_rows(round_columns(X[start:stop], program.rounded), 0, stop - start)


def _rows_with_nan(rows):
    """Return the positions of rows with a missing value."""
    missing = np.isnan(rows)
    return np.flatnonzero(missing.any(axis=1)) if missing.any() else _NO_ROWS


def _find(program, rows, own, wanted, any_class, found, fill):
    """Fill ``found``, and ``own`` where it is negative; return the flags of ``_run``."""
    nearest = NearestRegions(own, wanted, found.region)
    seen = _run(program, rows, _NO_DISTANCES, nearest, any_class)
    boxes.project_rows(rows, program.compared, fill, *nearest, found.distance, found.separator)
    return seen


def _run(program, rows, out, nearest=_NOTHING, foreign=False):
    """Run the program on rows: fill ``out`` with distances or, if it is empty, ``nearest``.

    ``foreign`` tells whether all rows ask for the region of any other class. Returns flags that
    tell whether missing or infinite values were seen.
    """
    single = out.dtype == np.float32
    steps = program.steps(single, foreign)
    if single:
        return run_single_program(rows, steps, None, None, foreign, out, None)
    bits = 0 if len(out) else program.region_bits
    return run_program(rows, steps, True, -1 << bits, foreign, out, nearest)


def _find_again(program, tree, rows, chosen, own, wanted, found, fill):
    """Find the nearest regions of the rows ``chosen`` again, now that their own class is known."""
    again, own_again = Found.empty(len(chosen)), own[chosen]
    part = _rows(program, rows[chosen], 0, len(chosen))
    asked = wanted[chosen]
    _find(program, part, own_again, asked, bool((asked < 0).all()), again, fill)
    for whole, new in zip((own, *found[:3]), (own_again, *again[:3]), strict=True):
        whole[chosen] = new


def _find_off_grid(off_grid, rows, wanted, found, fill, known, points):
    """Find the nearest regions of rows off the grid; add them to the known rows and points."""
    beside = off_grid.find_rows(rows)
    if not len(beside):
        return known, points
    nearest = off_grid.nearest(rows[beside], wanted[beside], fill)
    found.distance[beside], found.separator[beside] = nearest.distance, nearest.separator
    found.label[beside], found.region[beside] = nearest.label, -1
    others = ~np.isin(known, beside)
    return np.append(known[others], beside), np.concatenate([points[others], nearest.point])


def _settle(program, tree, rows, missing, own, wanted, found):
    """Return the points of rows with missing values, filling these in if the decision needs it.

    Where the tree would not make the desired decision with the values missing, they are filled in
    and the separator is chosen again.
    """
    point = np.empty((len(missing), rows.shape[1]))
    if len(missing) == 0:
        return point
    region, label = found.region[missing], found.label[missing]
    move_rows(program, tree, rows[missing], region, point)
    lost = np.flatnonzero(classes_of(tree, point) != label)
    if len(lost):
        again = missing[lost]
        _find_again(program, tree, rows, again, own, wanted, found, True)
        filled = np.empty((len(lost), rows.shape[1]))
        move_rows(program, tree, rows[again], region[lost], filled, fill=True)
        lost_again = classes_of(tree, filled) != label[lost]
        # Columns that are still missing do not affect the region, but a test inside it may need
        # them.
        filled[lost_again] = np.nan_to_num(filled[lost_again])
        point[lost] = filled
    return point
