"""Writes TFRecord and RecordIO files byte by byte, damage included."""

import functools
import itertools
import struct

MAGIC = 0xCED7230A


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


@functools.lru_cache(maxsize=4)  # takes a second for a few MB
def masked_crc(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def tfrecord(data):
    length = struct.pack("<Q", len(data))
    return length + masked_crc(length) + data + masked_crc(data)


def varint(number):
    number &= 2**64 - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, data):
    """A string, a message or packed numbers in a message."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def strings(*values):
    return field(1, b"".join(field(1, value) for value in values))


def floats(*values):
    return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))


def ints(*values):
    return field(3, field(1, b"".join(map(varint, values))))


def example(**features):
    return field(1, b"".join(field(1, field(1, name.encode()) + field(2, value)) for name, value in features.items()))


def recordio(*parts):
    """One record, in several parts if there are."""
    out = b""
    for i, part in enumerate(parts):
        position = 0 if len(parts) == 1 else 1 if i == 0 else 3 if i == len(parts) - 1 else 2
        out += struct.pack("<II", MAGIC, position << 29 | len(part)) + part + bytes(-len(part) % 4)
    return out


def image(data, label=0.0, labels=(), count=None):
    """What MXNet packs into a record."""
    count = len(labels) if count is None else count
    return struct.pack("<IfQQ", count, label, 7, 0) + struct.pack(f"<{len(labels)}f", *labels) + data


def write(path, records, index=None):
    """Writes records one after another, and the line that index(i, offset, size) makes of each to PATH.idx."""
    path.write_bytes(b"".join(records))
    offsets = list(itertools.accumulate(map(len, records), initial=0))
    if index:
        lines = (index(i, offsets[i], len(record)) for i, record in enumerate(records))
        path.with_name(path.name + ".idx").write_text("".join(lines))
    return str(path)


def write_tfrecords(path, messages):
    return write(path, [tfrecord(message) for message in messages], lambda i, offset, size: f"{offset} {size}\n")


def write_recordio(path, records):
    return write(path, records, lambda i, offset, size: f"{i}\t{offset}\n")
