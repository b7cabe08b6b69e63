"""Ray Data without a Ray that runs: which columns sources and rows have."""

import pyarrow as pa
import pytest

import avida as ndd
from avida.ray._iterate import _batches
from avida.ray._read import ReaderSource

ROWS = [{"x": i, "y": 10 * i, "source": "a text"} for i in range(4)]


def columns_of(source):
    (task,) = source.get_read_tasks(1)
    return pa.concat_tables(task()).to_pydict()


def test_columns_of_dictionaries():
    read = columns_of(ReaderSource(ndd.ExternalSource(ROWS), ["y"]))
    assert list(read) == ["y", "source"]
    assert read["y"] == [0, 10, 20, 30]
    assert [row["index"] for row in read["source"]] == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="there is no column 'z', only 'x', 'y', 'source'"):
        ReaderSource(ndd.ExternalSource(ROWS), ["y", "z"])
    with pytest.raises(ValueError, match=r"the data has a column 'source', .* leave it out by columns=\[...\]"):
        ReaderSource(ndd.ExternalSource(ROWS))


def test_rows_of_tables():
    (task,) = ReaderSource(ndd.ExternalSource(ROWS), ["y"], rows=3).get_read_tasks(1)
    assert [table.num_rows for table in task()] == [3, 1]
    with pytest.raises(ValueError, match=r"batch_size.* got 0"):
        ndd.ray.read(ndd.ExternalSource(ROWS), columns=["y"], batch_size=0)


def test_what_cannot_be_read():
    with pytest.raises(TypeError, match=r"expected a reader, got list; avida\.ExternalSource makes a reader"):
        ndd.ray.read([1, 2])
    for function in (
        lambda: ReaderSource(ndd.ExternalSource(ROWS), "y"),
        lambda: ndd.ray.iterate(None, 2, columns="y"),
    ):
        with pytest.raises(TypeError, match=r"expected a list of names of columns, such as columns=\['y'\]"):
            function()


def test_columns_of_rows():
    table = pa.table({"id": [3, 4], "x": [1.0, 2.0]})
    rows = _batches(table, None, "id", epoch=5)
    assert list(rows) == ["x"], "all but the key"
    assert [source.index for source in rows["x"].sources] == [3, 4]
    assert list(_batches(table, ("id",), "id", epoch=5)) == ["id"]
    with pytest.raises(ValueError, match="there is no column 'z', only 'id', 'x'"):
        _batches(table, ("z",), None, epoch=0)
