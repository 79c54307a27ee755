"""Thresholds between two neighbouring values: always below the upper one."""

from keeptree._compiled.declare import inner


@inner
def j48_midpoint(lower, upper):
    """Return J48's midpoint, half of the sum, which overflows for huge values as in J48."""
    middle = (lower + upper) / 2
    return lower if middle == upper else middle


@inner
def midpoint(lower, upper):
    """Return the midpoint as a sum of halves, which never overflows."""
    middle = lower / 2 + upper / 2
    return lower if middle >= upper else middle
