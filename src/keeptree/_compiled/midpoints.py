"""Thresholds between two neighbouring values: always below the upper one."""

from keeptree._compiled.declare import inner


@inner
def j48_midpoint(lower, upper):
    """Return half of the sum as J48 does, although it overflows for huge values."""
    middle = (lower + upper) / 2
    return lower if middle == upper else middle


@inner
def midpoint(lower, upper):
    """Return the midpoint as a sum of halves, which never overflows."""
    middle = lower / 2 + upper / 2
    return lower if middle >= upper else middle
