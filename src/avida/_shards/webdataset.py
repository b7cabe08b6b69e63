"""Writes tar archives whose members with one name are a sample, as WebDataset reads them."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

import numpy as np

from avida._shards.columns import MEDIA, Column, Sample, ending_of

_BLOCK = 512
# Columns of these names need none in the names of members: ``1.jpg``, ``1.cls``. Others have it: ``1.caption.txt``.
UNNAMED = {kind: kind for kind in (*MEDIA, "text", "json")} | {"number": "label"}


def write(file: BinaryIO, columns: Sequence[Column], samples: Iterable[Sample]) -> None:
    size = 0
    for key, values in samples:
        written = set[str]()
        for column, value in zip(columns, values, strict=True):
            extension, data = _member(column, value)
            if extension in written:
                raise ValueError(f"two columns would be the member {key}.{extension}: rename one of them in --columns")
            written.add(extension)
            header = _header(f"{key}.{extension}", len(data))
            padding = bytes(-len(data) % _BLOCK)
            file.write(header)
            file.write(data)
            file.write(padding)
            size += len(header) + len(data) + len(padding)
    file.write(bytes(2 * _BLOCK + -(size + 2 * _BLOCK) % tarfile.RECORDSIZE))


def _header(name: str, size: int) -> bytes:
    """Of a file that anyone may read, of no time and no owner: the same samples are the same bytes."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o444
    return member.tobuf(tarfile.GNU_FORMAT)


def _member(column: Column, value: Any) -> tuple[str, bytes]:
    """The extension of a member, and what is in it."""
    ending, data = _encoded(column, value)
    if column.name == UNNAMED.get(column.kind):
        return ending, data
    return f"{column.name.replace('/', '_')}.{ending}", data


def _encoded(column: Column, value: Any) -> tuple[str, bytes]:
    if column.kind in MEDIA:
        return ending_of(value) or "bin", value
    if column.kind == "bytes":
        return "bin", value
    if column.kind == "text":
        return "txt", value.encode()
    if column.kind == "json":
        return "json", value.encode()
    if column.kind == "number" and value.dtype.kind in "iu":
        return "cls", b"%d" % int(value)
    array = io.BytesIO()
    np.lib.format.write_array(array, value, allow_pickle=False)
    return "npy", array.getvalue()
