"""Dates as numbers: days since 1970-01-01, with the time of day as a fraction.

Formats are those of strptime. Whether 03/04/2015 is in March or April is decided by the other
dates of the column, or else by the user.
"""

from datetime import UTC, date

import numpy as np

from keeptree.data.labels import is_missing

CHOICES = ("days", "dmy", "mdy", "drop")  # choices of the option --dates
ISO = "ISO"
_TIME = r"(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AP]M| ?Z| ?[+-]\d{2}:?\d{2})?)?"
_ISO = rf"^\d{{4}}-\d{{1,2}}-\d{{1,2}}{_TIME}$"
# Patterns of dates other than ISO, each with the formats that it may have.
_FORMS = [
    (r"^\d{4}/\d{1,2}/\d{1,2}", ["%Y/%m/%d"]),
    (r"^\d{4}\.\d{1,2}\.\d{1,2}", ["%Y.%m.%d"]),
    *(
        (rf"^\d{{1,2}}{mark}\d{{1,2}}{mark}\d{{{digits}}}", [f"%d{s}%m{s}{y}", f"%m{s}%d{s}{y}"])
        for digits, y in ((4, "%Y"), (2, "%y"))
        for mark, s in (("/", "/"), ("-", "-"))
    ),
    (r"^\d{1,2}\.\d{1,2}\.\d{4}", ["%d.%m.%Y"]),  # in dates with dots the day always comes first
    (r"^\d{1,2}\.\d{1,2}\.\d{2}", ["%d.%m.%y"]),
    *(
        (rf"^\d{{1,2}}{mark}[A-Za-z]{{3,9}}{mark}\d{{{digits}}}", [f"%d{mark}%b{mark}{y}"])
        for digits, y in ((4, "%Y"), (2, "%y"))
        for mark in "- /"
    ),
    (r"^[A-Za-z]{3,9}\.? \d{1,2}, \d{4}", ["%b %d, %Y"]),
]
_CLOCKS = ["", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p"]


def find_format(column, order=None):
    """Find the format shared by all dates of a text column.

    Parameters
    ----------
    column : pyarrow.Array
        Text, null where missing.
    order : {"dmy", "mdy"}, optional
        Whether the day or the month comes first where both are possible.

    Returns
    -------
    formats : list of str
        ``"ISO"`` or a strptime format. Empty if the column does not hold dates, two if the order
        of day and month is ambiguous.

    Examples
    --------
    >>> import pyarrow as pa
    >>> find_format(pa.array(["2015-01-03", None])), find_format(pa.array(["31/12/2015"]))
    (['ISO'], ['%d/%m/%Y'])
    >>> find_format(pa.array(["03/04/2015"])), find_format(pa.array(["03/04/2015"]), "mdy")
    (['%d/%m/%Y', '%m/%d/%Y'], ['%m/%d/%Y'])
    """
    import pyarrow.compute as pc

    known = column.drop_null()
    if not len(known):
        return []
    if pc.all(pc.match_substring_regex(known, _ISO)).as_py():
        return [ISO] if read_dates(known, ISO) is not None else []
    for pattern, formats in _FORMS:
        if not pc.all(pc.match_substring_regex(known, pattern + _TIME + "$")).as_py():
            continue
        found = [
            form + clock
            for form in formats
            for clock in _CLOCKS
            if read_dates(known, form + clock) is not None
        ]
        if len(found) > 1 and order:
            found = [form for form in found if form.startswith(f"%{order[0]}")]
        return found
    return []


def read_dates(column, form):
    """Convert dates to days since 1970-01-01; None if a cell has another format.

    Parameters
    ----------
    column : pyarrow.Array
        Text, dates or timestamps.
    form : str
        ``"ISO"`` or a strptime format; used for text only.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_dates(pa.array(["02.01.1970", None]), "%d.%m.%Y")
    array([ 1., nan])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_date_type(column.type):
        return _stamps_as_days(pc.cast(column, pa.timestamp("us"), safe=False))
    if form == ISO:
        text = pc.replace_substring_regex(column, r"-(\d)(-|$)", r"-0\1\2")
        text = pc.replace_substring_regex(text, r"-(\d)( |T|$)", r"-0\1\2")
        zoned = pc.any(pc.match_substring_regex(text, r":\d{2}.*(Z|[+-]\d{2}:?\d{2})$")).as_py()
        kind = pa.timestamp("us", "UTC" if zoned else None)
        try:
            return _stamps_as_days(pc.cast(text, kind))
        except pa.ArrowInvalid:
            return None
    made = pc.strptime(column, format=form, unit="s", error_is_null=True)
    return None if made.null_count > column.null_count else _stamps_as_days(made)


def is_date_type(kind):
    """Return whether an Arrow type is a date or timestamp."""
    import pyarrow as pa

    return pa.types.is_date(kind) or pa.types.is_timestamp(kind)


def tell_format(form):
    """Describe a format for people.

    Examples
    --------
    >>> tell_format("ISO"), tell_format("%d/%m/%Y %H:%M")
    ('YYYY-MM-DD', 'DD/MM/YYYY hh:mm')
    """
    words = {"%d": "DD", "%m": "MM", "%Y": "YYYY", "%y": "YY", "%b": "Mon", "%p": "AM"}
    words |= {"%H": "hh", "%I": "hh", "%M": "mm", "%S": "ss"}
    text = "YYYY-MM-DD" if form == ISO else form
    for code, word in words.items():
        text = text.replace(code, word)
    return text


def days_of(values):
    """Convert dates in memory to days since 1970-01-01; return values that are not dates unchanged.

    Examples
    --------
    >>> days_of(np.array(["1970-01-03T12:00", "NaT"], dtype="datetime64[ns]"))
    array([2.5, nan])
    >>> days_of([date(1970, 1, 3), 7, None])
    array([2.0, 7, None], dtype=object)
    """
    values = np.asarray(values)
    if values.dtype.kind == "M":
        return _days(values)
    if values.dtype.kind == "O":
        return np.array([day_of(value) for value in values], dtype=object)
    return values


def day_of(value):
    """Convert one date to days since 1970-01-01; return any other value unchanged."""
    if is_missing(value) or not isinstance(value, date | np.datetime64):  # NaT is a date, too
        return value
    if getattr(value, "tzinfo", None) is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return float(_days(np.array([value], dtype="datetime64[us]"))[0])


def _stamps_as_days(stamps):
    return _days(stamps.to_numpy(zero_copy_only=False))


def _days(values):
    values = values.astype("datetime64[us]")
    days = values.astype(np.int64) / 86_400_000_000
    return np.where(np.isnat(values), np.nan, days)
