"""Thresholds between two neighbouring values: always below the upper one."""

from keeptree._compiled.declare import inner


@inner
def j48_midpoint(lower, upper):
    """J48's: half of the sum, which overflows for huge values as it does there."""
    middle = (lower + upper) / 2
    return lower if middle == upper else middle


@inner
def midpoint(lower, upper):
    """Sum of the halves, which never overflows."""
    middle = lower / 2 + upper / 2
    return lower if middle >= upper else middle
