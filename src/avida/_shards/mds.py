"""Writes shards of MosaicML Streaming's format (MDS), and their index."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from avida._shards.columns import KEY, MEDIA, Column, Sample

_MOST_BYTES = 2**32 - 1  # of a shard, whose offsets have 32 bits
_TYPE_CODES = {"uint8": 8, "int8": 9, "uint16": 16, "int16": 17, "float16": 18, "uint32": 32, "int32": 33}
_TYPE_CODES |= {"float32": 34, "uint64": 64, "int64": 65, "float64": 66}
_ENCODINGS = {**dict.fromkeys(["bytes", *MEDIA], "bytes"), "text": "str", "json": "json", "array": "ndarray"}


def write(file: BinaryIO, columns: Sequence[Column], samples: Iterable[Sample], most: int) -> dict[str, Any]:
    """Writes at most so many samples; returns the entry of the shard in the index, without names of files.

    The table in front is written last, into room for all samples.
    """
    columns = [KEY, *columns]
    fixed = [_size_of(column) is not None for column in columns]
    config = json.dumps({"format": "mds", **_described(columns)}, sort_keys=True).encode()
    at = 4 * (most + 2) + len(config)
    file.write(bytes(at))
    offsets = [at]
    for key, values in samples:
        stored = [_encoded(column, value) for column, value in zip(columns, [key, *values], strict=True)]
        sizes = [len(value) for value, is_fixed in zip(stored, fixed, strict=True) if not is_fixed]
        row = struct.pack(f"<{len(sizes)}I", *sizes) + b"".join(stored)
        at += len(row)
        if at > _MOST_BYTES:
            raise ValueError("a shard of this format has less than 4 GiB: choose a smaller --shard-size")
        file.write(row)
        offsets.append(at)
    file.seek(0)
    file.write(struct.pack(f"<{len(offsets) + 1}I", len(offsets) - 1, *offsets) + config)
    return {"raw_bytes": at}


def pack(data: bytes, compression: str) -> bytes:
    """The bytes of a shard, compressed."""
    import pyarrow

    codec = pyarrow.Codec({"zstd": "zstd", "gz": "gzip"}[compression])
    return codec.compress(data, asbytes=True)


def index(columns: Sequence[Column], shards: Iterable[Mapping[str, Any]], compression: str | None) -> str:
    """The text of ``index.json``, of the files and what ``write`` has returned of them."""
    entries = []
    for shard in shards:
        stored = {"basename": shard["file"], "bytes": shard["bytes"], "hashes": {}}
        plain = {**stored, "basename": shard["file"].removesuffix(f".{compression}"), "bytes": shard["raw_bytes"]}
        entries.append(
            {
                **_described([KEY, *columns]),
                "compression": compression,
                "format": "mds",
                "hashes": [],
                "raw_data": plain,
                "samples": shard["samples"],
                "size_limit": None,
                "version": 2,
                "zip_data": stored if compression else None,
            }
        )
    return json.dumps({"shards": entries, "version": 2}, sort_keys=True)


def _described(columns: Sequence[Column]) -> dict[str, list[Any]]:
    return {
        "column_names": [column.name for column in columns],
        "column_encodings": [_ENCODINGS.get(column.kind) or _number_type(column) for column in columns],
        "column_sizes": [_size_of(column) for column in columns],
    }


def _number_type(column: Column) -> str:
    return "uint8" if column.dtype == "bool" else column.dtype


def _size_of(column: Column) -> int | None:
    return np.dtype(_number_type(column)).itemsize if column.kind == "number" else None


def _encoded(column: Column, value: Any) -> bytes:
    if column.kind in ("text", "json"):
        return value.encode()
    if isinstance(value, bytes):
        return value
    array = np.asarray(value, np.dtype(_number_type(column)).newbyteorder("<"))
    if column.kind == "number":
        return array.tobytes()
    width = next(i for i in range(4) if max(array.shape, default=0) < 256 ** (1 << i))
    front = bytes([_TYPE_CODES[array.dtype.name], array.ndim << 2 | width])
    return front + b"".join(extent.to_bytes(1 << width, "little") for extent in array.shape) + array.tobytes()
