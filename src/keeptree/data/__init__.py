"""Convert the user's tables and files to the numbers that a tree compares.

A table in memory (NumPy, pandas, polars, Arrow, lists) is converted column by column: ``arrow`` and
``columns`` interpret the values, ``table`` builds the matrix, ``labels`` and ``target`` the class
codes. A data file is a ``source`` with options. ``files`` reads it in blocks in one of the
``formats``; text goes through ``streams`` and has a ``dialect``. Its ``cells`` are ``numbers``,
``dates`` or labels. The types of a training table are inferred (``frame``, ``training``); later
files must match the columns of the fitted model (``cases``). The encoded training sample is a
``sample``, with ``observed`` and ``copies``; only these files depend on the ``Tree``.
"""
