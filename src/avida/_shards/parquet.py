"""Writes Parquet files, with what the package of Hugging Face wants to know of their columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

import numpy as np

from avida._shards.columns import KEY, MEDIA, Column, Sample, ending_of

_GROUP_BYTES = 16 << 20  # of a row group, about: readers shuffle by them


def write(file: BinaryIO, columns: Sequence[Column], samples: Iterable[Sample]) -> None:
    from pyarrow import parquet

    columns = [KEY, *columns]
    schema = _schema(columns)
    leaves = [leaf for column in columns for leaf in _packed_leaves(column)]
    options: Any = {"compression": dict.fromkeys(leaves, "zstd"), "write_statistics": leaves}  # media are compressed
    with parquet.ParquetWriter(file, schema, use_dictionary=False, **options) as writer:
        rows: list[list[Any]] = []
        size = 0
        for key, values in samples:
            rows.append([key, *values])
            size += sum(value.nbytes if isinstance(value, np.ndarray) else len(value) for value in values)
            if size >= _GROUP_BYTES:
                writer.write_table(_table(schema, columns, rows))
                rows, size = [], 0
        if rows:
            writer.write_table(_table(schema, columns, rows))


def _schema(columns: Sequence[Column]) -> Any:
    import pyarrow

    features = {column.name: _feature(column) for column in columns}
    about = {"huggingface": json.dumps({"info": {"features": features}})}
    return pyarrow.schema([(column.name, _type(column)) for column in columns], metadata=about)


def _packed_leaves(column: Column) -> list[str]:
    """The paths of a column's parts that are worth compressing."""
    if column.kind in MEDIA:
        return [f"{column.name}.path"]
    return [column.name + ".list.element" * column.rank]


def _type(column: Column) -> Any:
    import pyarrow

    if column.kind in MEDIA:
        return pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    if column.kind == "bytes":
        return pyarrow.binary()
    if column.kind in ("text", "json"):
        return pyarrow.string()
    made = pyarrow.from_numpy_dtype(column.dtype)
    for _ in range(column.rank):
        made = pyarrow.list_(pyarrow.field("element", made))
    return made


def _feature(column: Column) -> dict[str, Any]:
    if column.kind in MEDIA:
        return {"_type": column.kind.capitalize()}
    if column.classes and column.kind == "number":
        return {"names": list(column.classes), "_type": "ClassLabel"}
    of_kind = {"bytes": "binary", "text": "string", "json": "string"}
    feature: dict[str, Any] = {"dtype": of_kind.get(column.kind, column.dtype), "_type": "Value"}
    for _ in range(column.rank):
        feature = {"feature": feature, "length": -1, "_type": "Sequence"}
    return feature


def _table(schema: Any, columns: Sequence[Column], rows: list[list[Any]]) -> Any:
    import pyarrow

    keys = [row[0] for row in rows]
    values = zip(*rows, strict=True)
    arrays = [_array(column, each, keys) for column, each in zip(columns, values, strict=True)]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def _array(column: Column, values: Sequence[Any], keys: Sequence[str]) -> Any:
    import pyarrow

    if column.kind in MEDIA:
        names = [f"{key}.{ending_of(value) or 'bin'}" for key, value in zip(keys, values, strict=True)]
        parts = [pyarrow.array(values, pyarrow.binary()), pyarrow.array(names, pyarrow.string())]
        return pyarrow.StructArray.from_arrays(parts, ["bytes", "path"])
    if column.kind == "number":
        return pyarrow.array(np.array(values))
    if column.kind != "array":
        return pyarrow.array(values, _type(column))
    made = pyarrow.array(np.concatenate([value.reshape(-1) for value in values]))
    for axis in reversed(range(column.rank)):
        # the lists of this axis, of all samples one after another
        lengths = [np.full(int(np.prod(value.shape[:axis])), value.shape[axis]) for value in values]
        offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int32)
        field = pyarrow.field("element", made.type)
        made = pyarrow.ListArray.from_arrays(offsets, made, type=pyarrow.list_(field))
    return made
