"""A file read in blocks equals the file read as a whole, cell by cell."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from keeptree.data.files import file_columns, read_batches, unused_columns

ARFF = """@relation r
@attribute colour {red, green, 'dark blue'}
@attribute x numeric
@attribute note string
@data
"""


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "dark blue", "?"], 250)
    x = np.where(rng.random(250) < 0.1, "?", rng.integers(0, 99, 250).astype(str))
    rows = [f"'{c}',{v},n{i}" for i, (c, v) in enumerate(zip(colour, x, strict=True))]
    (tmp_path / "d.arff").write_text(ARFF + "\n".join(rows).replace("'?'", "?"))
    csv = [row.replace("'", "") for row in rows]
    (tmp_path / "d.csv").write_text("\n".join([" colour , x,note", *csv]))
    frame = pd.DataFrame({"colour": pd.Categorical(colour, ["red", "green", "dark blue"])})
    frame = frame.assign(x=pd.to_numeric(x, errors="coerce"), note=[f"n{i}" for i in range(250)])
    frame.to_parquet(tmp_path / "d.parquet", row_group_size=60)
    return tmp_path


@pytest.mark.parametrize("kind", ["arff", "csv", "parquet"])
def test_blocks_of_any_size_add_up_to_the_whole_file(folder, kind):
    path = folder / f"d.{kind}"
    names = file_columns(path)
    assert names == ["colour", "x", "note"]
    whole = pa.Table.from_batches([batch for batch, _ in read_batches(path, names)]).to_pandas()
    assert len(whole) == 250
    for rows in (1, 7, 249):
        batches = list(read_batches(path, names, rows))
        assert max(batch.num_rows for batch, _ in batches) <= rows
        assert batches[-1][1] == 1.0
        parts = pa.Table.from_batches([batch for batch, _ in batches]).to_pandas()
        pd.testing.assert_frame_equal(parts, whole)


@pytest.mark.parametrize("kind", ["arff", "csv", "parquet"])
def test_only_the_requested_columns_are_read(folder, kind):
    batch, _ = next(read_batches(folder / f"d.{kind}", ["x"]))
    assert batch.schema.names == ["x"]


@pytest.mark.parametrize("kind", ["arff", "parquet"])
def test_every_block_has_the_declared_categories(folder, kind):
    for batch, _ in read_batches(folder / f"d.{kind}", ["colour"], 10):
        assert batch.column("colour").dictionary.to_pylist() == ["red", "green", "dark blue"]


def test_sparse_rows_of_an_arff_file_are_read(tmp_path):
    (tmp_path / "s.arff").write_text(ARFF + "{1 2.5, 2 a}\n{0 green, 2 b}\n")
    batch, _ = next(read_batches(tmp_path / "s.arff", ["colour", "x"]))
    assert batch.to_pydict() == {"colour": ["red", "green"], "x": [2.5, 0.0]}


def test_unused_columns_are_those_of_the_header_without_a_second_notice(tmp_path, recwarn):
    (tmp_path / "d.csv").write_text("a;b;c\n1;2;3\n4;5;6\n")
    assert unused_columns(tmp_path / "d.csv", ["b"]) == ["a", "c"]
    assert not recwarn.list
    assert unused_columns("-", ["b"]) == []
