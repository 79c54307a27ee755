"""The local engine: score data files of any size in blocks."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from keeptree.annotations import Filename
from keeptree.data.cases import read_blocks
from keeptree.data.parts import find_parts
from keeptree.data.source import DataFile, as_data_file
from keeptree.engines.scorer import Scorer
from keeptree.engines.writing import check_kept, check_out, open_output
from keeptree.output import require_extra
from keeptree.progress import step

SCHEMA = 1  # version of the summary, raised by incompatible changes


def predict_file(
    model: Any,
    data: Filename | DataFile,
    out: Filename,
    *,
    keep: Sequence[str] = (),
    distance: bool = False,
    interval: float | None = None,
    sets: float | None = None,
    labels: Mapping[Any, str] | None = None,
    strict: bool = False,
    excel_safe: bool = False,
    progress: Callable[..., object] | None = None,
    engine: str = "local",
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Score data files and write the predictions to a file.

    Memory use does not grow with the number of rows. The output appears only when it is complete.

    Parameters
    ----------
    model : fitted model
        For example one returned by :func:`~keeptree.load`.
    data : str, Path or DataFile
        A data file, or a folder or pattern of data files of one format, read in the order of their
        names; for other engines anything they can open. Columns are matched by name; others are
        ignored.
    out : str or Path
        A ``.csv`` or ``.parquet`` file; a name without such an extension for a folder of Parquet
        files; or ``"-"`` for CSV on the standard output. The columns are those of ``keep``;
        ``prediction``; ``probability_...`` of each class (``score`` for a ranking); and
        ``second_opinion``, whether the probabilities favour a class other than the tree's.
    keep : sequence of str
        Columns to copy to the output, such as an identifier.
    distance : bool, default=False
        Whether to add ``distance``, the distance to the tree's decision boundary.
    interval : float, optional
        Confidence level, such as 0.9. Adds ``low_...`` and ``high_...`` of each class, the ends of
        ``predict_interval``.
    sets : float, optional
        Coverage, such as 0.9. Adds ``set``, the classes of ``predict_set`` separated by ``" | "``.
    labels : dict, optional
        Class -> display name in the predictions and column names.
    strict : bool, default=False
        Whether to raise a ValueError, and write nothing, if the data contain unseen categories, or
        more missing values or values outside the training range than chance explains (see
        ``unexpected`` in :func:`~keeptree.unfamiliar`).
    excel_safe : bool, default=False
        Whether text in a CSV file that a spreadsheet would run as a formula (it starts with ``=``,
        ``+``, ``-`` or ``@`` and is not a number) is preceded by an apostrophe.
    progress : callable, optional
        Called with the share of the data read and the number of rows.
    engine : {"local", "duckdb", "dask", "ray", "spark"}, default="local"
        Engine that reads, scores and writes the rows. Only ``"local"``, which needs no extra,
        reports what is new.
    options : dict, optional
        Options of the engine's reader, and the address of its cluster (``scheduler`` for Dask,
        ``address`` for Ray, ``master`` and ``spark...`` for Spark).

    Returns
    -------
    summary : dict
        ``rows``, ``second_opinions`` (None for a model without probabilities), ``columns``,
        ``interval`` (the kind of the intervals, ``"case"`` or ``"calibration"`` as in
        ``predict_interval``, or None), ``out``, and ``unfamiliar``: what
        :meth:`~keeptree.explanation.unfamiliar.Unfamiliar.to_dict` returns, or None for other
        models and engines other than ``"local"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    >>> X.to_csv("new.csv", index=False)
    >>> summary = kt.predict_file(model, "new.csv", "scored.csv")
    >>> summary["rows"], summary["columns"][:2]
    (150, ['prediction', 'probability_0'])
    >>> summary["unfamiliar"]["sentence"]
    'Nothing new: categories, ranges and missing values are as in the training sample.'
    """
    require_extra("pandas", "pyarrow", extra="files")
    keep = _check_keep(keep)
    if engine != "local":
        if interval is not None or sets is not None:
            raise ValueError(f"Intervals and class sets need engine='local', not {engine!r}.")
        from keeptree.engines.jobs import run_job

        return run_job(
            model, data, out, engine,
            options={} if options is None else options, keep=keep, distance=distance,
            labels=labels, strict=strict, excel_safe=excel_safe,
        )  # fmt: skip
    if options:
        raise ValueError(f"The local engine has no option {next(iter(options))!r}.")
    parts = find_parts(data)
    check_out(out, parts, excel_safe)
    scorer = Scorer(model, distance, labels, interval=interval, sets=sets)
    check_kept(keep, scorer.names)
    rows = second_opinions = 0
    with (
        open_output(out, hold=strict, excel_safe=excel_safe) as write,
        step(f"Scoring {as_data_file(data).name}", 1.0) as move,
    ):
        for number, part in enumerate(parts):
            for block in read_blocks(part, scorer.reader, keep, len(parts) > 1):
                columns = _score(scorer, block, part)
                write({**block.kept, **columns}, number)
                rows += len(block.frame)
                second_opinions += int(np.count_nonzero(columns.get("second_opinion", 0)))
                done = (number + block.done) / len(parts)
                move(done, f"{100 * done:.0f}% of the data, {rows:,} rows")
                if progress is not None:
                    progress(done, rows)
        if rows == 0:
            raise ValueError(
                f"{data} has no rows; give a table with a header and at least one row."
            )
        new = scorer.unfamiliar()
        if strict:
            _refuse_new(new, model, data)
    return {
        "schema": SCHEMA,
        "rows": rows,
        "second_opinions": second_opinions if scorer.has_second_opinion else None,
        "columns": [*keep, *scorer.names],
        "interval": scorer.interval_kind,
        "unfamiliar": None if new is None else new.to_dict(),
        "out": str(out),
    }


def _check_keep(keep):
    if isinstance(keep, str):
        raise ValueError(f"keep={keep!r} is not a list of columns; give [{keep!r}].")
    return list(dict.fromkeys(keep))


def _refuse_new(new, model, data):
    """Raise a ValueError if something is new, or if this cannot be determined."""
    if new is None:
        raise ValueError(
            f"A {type(model).__name__} stores no statistics of its training sample, so new values "
            f"cannot be detected; leave out strict, or fit a KeepTree classifier."
        )
    if new.unexpected:
        raise ValueError(
            f"{data} was rejected, and nothing was written. {new.tell(only_unexpected=True)}"
        )


def _score(scorer, block, data):
    """Score a block; error messages give the row number in the file."""
    try:
        return scorer.score(block.frame, block.unseen)
    except ValueError as error:
        found = re.fullmatch(r"Row (\d+) (.*)", str(error))
        if found:
            reason = found[2].replace("NaN; the first row is row 0", "the first row is row 1")
            error = f"row {block.start + int(found[1]) + 1} {reason}"
        raise ValueError(f"{data}: {error}") from None
