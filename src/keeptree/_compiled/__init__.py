"""Compiled functions: loops over arrays, written in Python and run as machine code.

A wheel contains the machine code, built ahead of time from these files; a checkout without it
compiles each function on its first call. Either way, a function declared with
:func:`~keeptree._compiled.declare.entry` is called through a wrapper, its door, that checks its
arguments.
"""
