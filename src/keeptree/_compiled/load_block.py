"""Read blocks of rows for a tree program: centre, scale and transpose them."""

import numpy as np
from numpy import float64, int32

from keeptree._compiled.declare import inner
from keeptree._compiled.program import LARGEST_SINGLE, SAW_INF, SAW_NAN


@inner
def tile_frame(columns, frame, tile):
    """Return the centres and factors of the rows of a tile; both are 0 for unused columns.

    A finite number times 0 is 0, and anything else times 0 is NaN, so one check covers all columns.
    """
    center, factor = np.zeros_like(tile), np.zeros_like(tile)
    for j in range(len(tile)):
        for k in range(len(columns)):
            center[j, columns[k, 0]] = frame[k, 0]
            factor[j, columns[k, 0]] = frame[k, 1]
    return center.reshape(-1), factor.reshape(-1)


# The slices below keep indices plain loop counters. For any other index numba checks for negative
# values, and then the compiler does not use vector loads.


@inner
def _scale(values, center, factor, single, limit, out):
    """Centre and scale contiguous numbers, rounded to the precision of the model.

    Returns whether a number is missing or beyond ``limit``, as a number, because the compiler would
    not vectorise a boolean. Numbers are rounded to the precision of ``out`` after they are centred.
    """
    exceeds = int32(0)
    if single:
        for i in range(len(values)):
            scaled = (np.float32(values[i]) - center[i]) * factor[i]
            exceeds = int32(exceeds | int32(not (abs(scaled) <= limit)))
            out[i] = scaled
    else:
        for i in range(len(values)):
            scaled = out.dtype.type(values[i] - float64(center[i])) * factor[i]
            exceeds = int32(exceeds | int32(not (abs(scaled) <= limit)))
            out[i] = scaled
    return exceeds


@inner
def load_rows(rows, m, width, columns, center, factor, single, limit, tile, block):
    """Scale m contiguous rows and copy them into the columns of ``block``.

    A tile of rows is scaled in long loops over contiguous memory as it is read, and transposed in
    the first-level cache. Returns whether a value is missing or beyond ``limit``.
    """
    exceeds = int32(0)
    flat_tile = tile.reshape(-1)
    for first in range(0, m, len(tile)):
        here = min(len(tile), m - first)
        part = flat_tile[: here * width]
        values = rows[first * width : (first + here) * width]
        exceeds |= _scale(values, center, factor, single, limit, part)
        target = block[:, first : first + here]
        for k in range(len(columns)):
            c = columns[k, 0]
            for j in range(here):
                target[k, j] = tile[j, c]
    return exceeds != 0


@inner
def load_columns(flat, at, m, height, columns, rest, frame, single, limit, block):
    """Do the same as ``load_rows`` for a matrix stored by columns of ``height`` numbers."""
    exceeds = int32(0)
    center, factor, unused = np.zeros((3, m), dtype=block.dtype)
    for k in range(len(rest)):  # as in ``tile_frame``
        start = at + rest[k] * height
        exceeds |= _scale(flat[start : start + m], center, factor, single, limit, unused)
    for k in range(len(columns)):
        start = at + columns[k, 0] * height
        center[:], factor[:] = frame[k, 0], frame[k, 1]
        exceeds |= _scale(flat[start : start + m], center, factor, single, limit, block[k])
    return exceeds != 0


@inner
def load_carefully(flat, row_step, column_step, at, m, columns, rest, frame, single, block):
    """Read a block with missing, infinite or huge values again; return flags for them.

    A missing nominal value gets the code after the last one, a missing number stays NaN, and
    anything beyond its column's limit is clamped so that no square overflows.
    """
    seen = 0
    for k in range(len(columns)):
        start, n_codes = at + columns[k, 0] * column_step, columns[k, 1]
        center, factor, limit = frame[k, 0], frame[k, 1], frame[k, 2]
        for j in range(m):
            value = flat[start + j * row_step]
            if np.isnan(value):
                seen |= SAW_NAN
                block[k, j] = value if n_codes == 0 else float64(n_codes)
                continue
            if np.isinf(value):
                seen |= SAW_INF
            if single:
                value = float64(np.float32(min(max(value, -LARGEST_SINGLE), LARGEST_SINGLE)))
            scaled = block.dtype.type(value - center) * block.dtype.type(factor)
            block[k, j] = min(max(scaled, -limit), limit)
    for k in range(len(rest)):
        start = at + rest[k] * column_step
        for j in range(m):
            value = flat[start + j * row_step]
            if np.isnan(value):
                seen |= SAW_NAN
            elif np.isinf(value):
                seen |= SAW_INF
    return seen
