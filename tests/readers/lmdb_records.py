"""Records as Caffe and Caffe2 write them, and the databases that hold them."""

import pathlib
from collections.abc import Sequence

import lmdb
import numpy as np

FLOAT, INT32, BYTE, STRING = 1, 2, 3, 4


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    out = []
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def text(field: int, value: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(value)) + value


def datum(
    data: bytes | None, label: int | None = None, shape: tuple | None = None, encoded: int | None = None
) -> bytes:
    """A record of Caffe. The shape is (channels, height, width)."""
    fields = [number(i + 1, extent) for i, extent in enumerate(shape or ())]
    fields += [] if data is None else [text(4, data)]
    fields += [] if label is None else [number(5, label)]
    fields += [] if encoded is None else [number(7, encoded)]
    return b"".join(fields)


def tensor(
    kind: int, *, dims: Sequence[int] = (), data: bytes = b"", values: Sequence[float] = (), packed: bool = True
) -> bytes:
    """One tensor of a record of Caffe2: floats, int32s, bytes, or one string."""
    out = b"".join(number(1, extent) for extent in dims) + number(2, kind)
    if kind in (BYTE, STRING):
        return out + text(5 if kind == BYTE else 6, data)
    if kind == FLOAT and packed:
        return out + text(3, np.array(values, "<f4").tobytes())
    if kind == FLOAT:
        return out + b"".join(varint(3 << 3 | 5) + np.array(v, "<f4").tobytes() for v in values)
    if packed:
        return out + text(4, b"".join(varint(int(v)) for v in values))
    return out + b"".join(number(4, int(v)) for v in values)


def record(*tensors: bytes) -> bytes:
    """A record of Caffe2."""
    return b"".join(text(1, tensor) for tensor in tensors)


def write(path: pathlib.Path, records: Sequence[bytes], keys: Sequence[bytes] | None = None) -> str:
    with lmdb.open(str(path), map_size=2**40) as database, database.begin(write=True) as transaction:
        for i, content in enumerate(records):
            transaction.put(keys[i] if keys else b"%08d" % i, content)
    return str(path)
