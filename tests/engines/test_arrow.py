"""pyarrow Datasets are streamed: memory does not grow with the number of rows."""

import time

import numpy as np
import pytest

from keeptree.engines.arrow import _read

pa = pytest.importorskip("pyarrow")
dataset = pytest.importorskip("pyarrow.dataset")
parquet = pytest.importorskip("pyarrow.parquet")
csv = pytest.importorskip("pyarrow.csv")


def numbers(rows):
    return pa.table({name: np.random.default_rng(0).normal(size=rows) for name in "abcd"})


def test_a_slow_consumer_does_not_fill_the_memory(tmp_path):
    table = numbers(2_000_000)
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=50_000)
    whole = table.nbytes
    del table
    before, held = pa.total_allocated_bytes(), []
    for batch in _read(dataset.dataset(tmp_path / "rows.parquet"), list("abcd")):
        time.sleep(0.01)  # long enough for pyarrow to read everything ahead, if nothing stops it
        held.append(pa.total_allocated_bytes() - before)
        del batch
    assert max(held) < whole / 2


def test_reading_does_not_change_the_options_of_a_dataset(tmp_path):
    parquet.write_table(numbers(10), tmp_path / "rows.parquet")
    reading = dataset.ParquetFileFormat(dictionary_columns=[], pre_buffer=True)
    table = dataset.dataset(tmp_path / "rows.parquet", format=reading)
    assert sum(batch.num_rows for batch in _read(table, ["a"])) == 10
    assert table.format.default_fragment_scan_options.pre_buffer


def test_other_formats_and_unions_are_read(tmp_path):
    csv.write_csv(numbers(10), tmp_path / "rows.csv")
    one = dataset.dataset(tmp_path / "rows.csv", format="csv")
    assert sum(batch.num_rows for batch in _read(one, ["a", "b"])) == 10
    assert sum(batch.num_rows for batch in _read(dataset.dataset([one, one]), ["a"])) == 20
    assert sum(batch.num_rows for batch in _read(dataset.dataset(numbers(10)), ["a"])) == 10
