"""The formats of shards, behind one interface."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO

from avida._shards import mds, parquet, webdataset
from avida._shards.columns import Column, Sample

FORMATS = ("webdataset", "mds", "parquet")
COMPRESSIONS = ("zstd", "gz")  # of MDS
_FILES = {"webdataset": "shard-{:06}.tar", "mds": "shard.{:05}.mds", "parquet": "shard-{:06}.parquet"}
BYTES_BESIDE = {"webdataset": 768, "mds": 8, "parquet": 8}  # each value, about


def missing_package(kind: str, compression: str | None) -> str | None:
    """What has to be installed to write a format, if anything."""
    if (kind == "parquet" or compression) and importlib.util.find_spec("pyarrow") is None:
        return f"{compression or kind} is written by pyarrow, which is not installed: pip install 'avida[tables]'"
    return None


def file_name(kind: str, compression: str | None, number: int) -> str:
    return _FILES[kind].format(number) + (f".{compression}" if compression else "")


def write_shard(
    kind: str, compression: str | None, file: BinaryIO, columns: Sequence[Column], samples: Iterable[Sample], most: int
) -> dict[str, Any]:
    """Writes at most so many samples; returns what the index of the format has to know of the shard."""
    if kind == "webdataset":
        webdataset.write(file, columns, samples)
    elif kind == "parquet":
        parquet.write(file, columns, samples)
    elif compression:
        plain = io.BytesIO()
        about = mds.write(plain, columns, samples, most)
        file.write(mds.pack(plain.getvalue(), compression))
        return about
    else:
        return mds.write(file, columns, samples, most)
    return {}


def index_of(
    kind: str, compression: str | None, columns: Sequence[Column], shards: Iterable[Mapping[str, Any]]
) -> dict[str, str]:
    """The files that a format wants beside its shards: names and texts."""
    return {"index.json": mds.index(columns, shards, compression)} if kind == "mds" else {}
