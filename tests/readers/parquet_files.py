"""Parquet files for the tests, and what a reader makes of them."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def contents(count, seed=5):
    """Bytes of various lengths, all different."""
    rng = np.random.default_rng(seed)
    return [b"%d:" % i + rng.bytes(i * 37 % 500) for i in range(count)]


def numbered(count=100, first=0):
    """A table of rows that know their number."""
    numbers = range(first, first + count)
    return pa.table({"data": contents(first + count)[first:], "number": pa.array(numbers, pa.int64())})


def write(path, table, rows=20, **options):
    """A file with so many rows to a row group."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=rows, **options)
    return path


def plain(sample):
    """A sample as Python has it: bytes of one axis are bytes."""
    array = np.asarray(sample)
    return array.tobytes() if array.dtype == np.uint8 and array.ndim == 1 else array.tolist()


def rows_of(batch):
    """The rows of an item, with those of its dictionaries within."""
    columns = {
        name: rows_of(column) if isinstance(column, dict) else [plain(sample) for sample in column]
        for name, column in batch.items()
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def read(reader, batch_size=7, **options):
    """All rows of an epoch."""
    return [row for batch in reader.next_epoch(batch_size, **options) for row in rows_of(batch)]


def numbers(reader, batch_size=7, **options):
    return [row["number"] for row in read(reader, batch_size, **options)]
