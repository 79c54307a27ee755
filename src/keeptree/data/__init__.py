"""Everything between the user's table or file and the numbers a tree compares.

A table in memory (NumPy, pandas, polars, lists) is read column by column: ``columns`` says what a
value means, ``table`` makes the matrix, ``labels`` and ``target`` the class codes. A file is read
block by block (``files``), cell by cell (``cells``): as a training table whose types are found out
(``training``), or as a fitted model knows its columns (``cases``). An encoded training sample is a
``sample``, with ``observed`` and ``copies``; only these files know the ``Tree`` it is encoded for.
"""
