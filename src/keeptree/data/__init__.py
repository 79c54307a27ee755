"""Everything between the user's table or file and the numbers a tree compares.

A table in memory (NumPy, pandas, polars, Arrow, lists) is read column by column: ``arrow`` and
``columns`` say what a value means, ``table`` makes the matrix, ``labels`` and ``target`` the class
codes. A file is a ``source`` with options; ``files`` reads it block by block in one of the
``formats``, text through ``streams`` in a ``dialect``. Its ``cells`` are ``numbers``, ``dates`` or
labels: of a training table, whose types are found out (``frame``, ``training``), or as a fitted
model knows its columns (``cases``). An encoded training sample is a
``sample``, with ``observed`` and ``copies``; only these files know the ``Tree`` it is encoded for.
"""
