"""Which features the examples of a TFRecord file have, from its first records."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

import avida
from avida import tfrecord

_RECORDS = 16  # that are looked at
_TYPES = {1: tfrecord.FixedLenFeature([], tfrecord.string, ""), 2: tfrecord.VarLenFeature(tfrecord.float32, 0.0)}
_TYPES |= {3: tfrecord.VarLenFeature(tfrecord.int64, 0)}


def features_of(path: str) -> dict[str, tfrecord.Feature]:
    """The features of the first examples: strings, or any number of integers or floats."""
    features: dict[str, tfrecord.Feature] = {}
    for record in _first_records(path):
        for number, part in _fields(record):
            for _, entry in _fields(part) if number == 1 else ():
                (_, name), *values = _fields(entry)
                for kind, content in _fields(values[0][1]) if values else ():
                    if kind == 1 and len(list(_fields(content))) > 1:
                        raise RuntimeError(
                            f"{path}: feature {name.decode()!r} has several strings, and a sample here has one; name "
                            "the others by --reader 'readers.TFRecord(path=..., features=...)'"
                        )
                    features[name.decode()] = _TYPES[kind]
    if not features:
        raise RuntimeError(f"{path}: expected examples of tf.train.Example, found no features")
    return features


def _first_records(path: str) -> Iterator[bytes]:
    if not os.path.exists(path):  # in a store
        content = avida.storage.read(path)
    else:
        with open(path, "rb") as file:
            content = file.read(64 << 20)
    at = 0
    for _ in range(_RECORDS):
        if at + 12 > len(content):
            return
        (size,) = struct.unpack_from("<Q", content, at)
        if at + 16 + size > len(content):
            return
        yield content[at + 12 : at + 12 + size]
        at += 16 + size


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message that have a length: their numbers, and what is in them."""
    at = 0
    while at < len(message):
        tag, at = _number(message, at)
        if tag & 7 == 2:
            size, at = _number(message, at)
            yield tag >> 3, message[at : at + size]
            at += size
        elif tag & 7 == 0:
            _, at = _number(message, at)
        else:
            at += {1: 8, 5: 4}.get(tag & 7, len(message))


def _number(message: bytes, at: int) -> tuple[int, int]:
    """A number of any length, and what follows it."""
    value = shift = 0
    while at < len(message):
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    return value, at
