"""Store raw results in one Parquet file: one row per method and sample, with provenance."""

import json

import numpy as np

from reproduction.results import DIGITS, round_row

_SCALE = 10 ** DIGITS["areas"]
_TASK = ("file", "dataset", "data", "protocol", "sample", "size", "seconds")
_WHOLE = ("sample", "size", "leaves")


def write_raw(path, records, reports):
    """Write finished tasks to a Parquet file.

    Parameters
    ----------
    path : Path
        File to write.
    records : dict
        By file name, the records that :func:`keeptree.evaluation.runner.run` returns.
    reports : dict
        Description of the samples of each report, as JSON values.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        {"file": file, **record["task"], "seconds": record["seconds"], **row}
        for file, done in records.items()
        for record in done
        for row in record.get("rows", ())
    ]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: _to_column(name, [row.get(name) for row in rows], pa) for name in names}
    table = pa.table(columns).replace_schema_metadata(
        {"reports": json.dumps(reports, ensure_ascii=False)}
    )
    pq.write_table(table, path, compression="zstd", compression_level=19, row_group_size=1 << 20)


def read_raw(path):
    """Read a file written by :func:`write_raw`.

    Parameters
    ----------
    path : Path
        File to read.

    Returns
    -------
    records : dict
        File name -> records.
    reports : dict
        Description of the samples of each report.
    """
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    reports = json.loads(table.schema.metadata[b"reports"])
    found = {}
    for line in table.to_pylist():
        line = {name: value for name, value in line.items() if value is not None}
        about = {name: line.pop(name) for name in _TASK if name in line}
        file, seconds = about.pop("file"), about.pop("seconds")
        if "areas" in line:
            line["areas"] = _unfold(line["areas"])
        key = json.dumps(about, sort_keys=True)
        tasks = found.setdefault(file, {})
        record = tasks.setdefault(key, {"task": about, "rows": [], "seconds": round(seconds, 3)})
        record["rows"].append(round_row(line))
    return {file: list(tasks.values()) for file, tasks in found.items()}, reports


def _to_column(name, values, pa):
    if name == "areas":
        folded = [None if curve is None else _fold(curve) for curve in values]
        return pa.array(folded, pa.list_(pa.int32()))
    if name in _WHOLE:
        return pa.array(values, pa.int32())
    if any(isinstance(value, float) for value in values):
        return pa.array(values, pa.float32())
    return pa.array(values)


def _fold(curve):
    """Return second differences of a curve as whole numbers, which compress well."""
    whole = np.array([round(area * _SCALE) for area in curve])
    return np.diff(whole, n=2, prepend=(0, 0)).tolist()


def _unfold(differences):
    return [int(area) / _SCALE for area in np.cumsum(np.cumsum(differences))]
