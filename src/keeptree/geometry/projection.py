"""Project rows of an encoded matrix on the nearest regions: run a program, then move the rows."""

from typing import NamedTuple

import numpy as np

from keeptree._kernels.boundary import SAW_NAN
from keeptree.geometry.rows import check_rows, classes_of, flat_rows

# Steps from which on it is faster to search a program for each row than to run all of it: where
# the regions of all of many classes are asked for, and where those of one are (by measurement).
_MANY = {"float32": (50_000, 4_000), "float64": (10_000, 1_800)}

_NONE = np.empty(0, dtype=np.int64)  # no regions are asked for

_ID_BITS = 16  # of a squared distance's mantissa that hold a region's number; more if needed


class Found(NamedTuple):
    """Nearest regions of rows: see ``keeptree.geometry.boundary.Nearest``."""

    region: np.ndarray
    distance: np.ndarray
    separator: np.ndarray
    label: np.ndarray

    @classmethod
    def empty(cls, n):
        """Room for n rows."""
        region, separator, label = (np.empty(n, dtype=np.int64) for _ in range(3))
        return cls(region, np.empty(n), separator, label)

    def part(self, start, stop):
        """The rows start to stop."""
        return Found(*(column[start:stop] for column in self))


def fill_signed(program, tree, X, start, stop, out):
    """Fill ``out`` with the class-algebraic distances of the rows start to stop of ``X``.

    ``out`` is C-contiguous, float32 or float64, with a column per class, or one column (of the
    first class) if there are two. The rows are checked on the way: see ``check_rows``.
    """
    seen = _run(program, tree, flat_rows(X, start, stop), out.reshape(-1))
    check_rows(tree, X, start, stop, seen)


def find_nearest(program, tree, X, start, stop, found, wanted=None, fill=False):
    """Fill ``found`` for the rows start to stop: the region of the class ``wanted``, or any other.

    If ``fill`` missing values are given a place inside in any case, else only if the row would not
    be decided as it should be without one. Returns which rows have missing values and a region, and
    their points: without them it is not known whether the values must be given a place.
    """
    rows, n = X[start:stop], stop - start
    own, wanted = np.full(n, -1), np.full(n, -1) if wanted is None else wanted
    seen = _find(program, tree, flat_rows(X, start, stop), own, wanted, found, fill)
    check_rows(tree, X, start, stop, seen)
    missing = np.empty(0, dtype=np.int64)
    if seen & SAW_NAN:
        missing = np.flatnonzero(np.isnan(rows).any(axis=1))
        own[missing] = -1
    # On a threshold, or where a value is missing, several classes touch: the tree itself decides.
    undecided = np.flatnonzero(own < 0)
    if len(undecided):
        own[undecided] = classes_of(tree, rows[undecided])
        _find_again(program, tree, rows, undecided, own, wanted, found, fill)
    inside = found.region >= 0
    found.label[:] = np.where(inside, program.boxes.label[found.region], own)
    missing = missing[:0] if fill else missing[inside[missing]]
    return missing, _settle(program, tree, rows, missing, own, wanted, found)


def move_rows(program, rows, region, out, fill=False):
    """Fill ``out`` with rows moved into their regions; those with a negative one stay."""
    from keeptree._kernels import boxes

    rules = tuple(boxes.NO_RULES)
    boxes.move_rows(np.ascontiguousarray(rows), region, tuple(program.priced), rules, fill, out)


def _find(program, tree, rows, own, wanted, found, fill):
    """Fill regions, distances, separators, and ``own`` where it is negative; see ``_run``."""
    from keeptree._kernels.boxes import project_rows

    seen = _run(program, tree, rows, np.empty(0), (own, wanted, found.region))
    where = (own, wanted, found.region)
    project_rows(*rows, tuple(program.priced), fill, *where, found.distance, found.separator)
    return seen


def _run(program, tree, rows, out, nearest=(_NONE, _NONE, _NONE)):
    """Run the program on rows: algebraic distances into ``out``, or regions if that is empty.

    Returns the flags of what was seen.
    """
    from keeptree._kernels.boundary import run_program  # numba loads when it is first needed

    single = out.dtype == np.float32
    numbers, n_regions = program.single if single else program.double, len(program.boxes.node)
    layout = (program.columns, numbers.frame, program.rest, tree.compare_dtype == "float32")
    steps = (numbers.limit, program.steps, numbers.bounds, numbers.growth)
    foreign = not len(out) and bool((nearest[1] < 0).all())
    many = _MANY["float32" if single else "float64"][foreign or program.n_classes == 2]
    links = program.links if len(program.steps) > many else program.links[:0]
    steps += (links, program.classes, foreign)
    size = (program.n_slots, program.n_classes)
    if single:
        return run_program(True)(*rows, *layout, *steps, None, *size, None, out, None)
    bits = 0 if len(out) else max(_ID_BITS, (n_regions + 1).bit_length())
    return run_program(False)(*rows, *layout, *steps, True, *size, -1 << bits, out, nearest)


def _find_again(program, tree, rows, chosen, own, wanted, found, fill):
    """Nearest regions of some rows once more, now that their own class is known."""
    again, own_again = Found.empty(len(chosen)), own[chosen]
    part = flat_rows(rows[chosen], 0, len(chosen))
    _find(program, tree, part, own_again, wanted[chosen], again, fill)
    for whole, new in zip((own, *found[:3]), (own_again, *again[:3]), strict=True):
        whole[chosen] = new


def _settle(program, tree, rows, missing, own, wanted, found):
    """Points of rows with missing values, which may send the projection elsewhere.

    Then they are given a place inside too, and the separator is chosen accordingly.
    """
    point = np.empty((len(missing), rows.shape[1]))
    if len(missing) == 0:
        return point
    region, label = found.region[missing], found.label[missing]
    move_rows(program, rows[missing], region, point)
    lost = np.flatnonzero(classes_of(tree, point) != label)
    if len(lost):
        again = missing[lost]
        _find_again(program, tree, rows, again, own, wanted, found, True)
        filled = np.empty((len(lost), rows.shape[1]))
        move_rows(program, rows[again], region[lost], filled, fill=True)
        lost_again = classes_of(tree, filled) != label[lost]
        # The region does not care about what is still missing, but a test inside it does.
        filled[lost_again] = np.nan_to_num(filled[lost_again])
        point[lost] = filled
    return point
