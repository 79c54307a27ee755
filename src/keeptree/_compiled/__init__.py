"""The compiled functions: loops over arrays, written in Python, run as machine code.

A wheel carries the machine code, built ahead of time from these files; a checkout without it
compiles each function when it is first called. Either way a function declared with
:func:`~keeptree._compiled.declare.entry` is called through a door that checks its arguments.
"""
