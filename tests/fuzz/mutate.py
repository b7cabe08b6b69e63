"""Broken files made from good ones, the same for the same number.

A file is damaged anywhere, or in its structure: it is taken apart into chunks, segments, fields or pages, some of which
are removed, repeated, exchanged or damaged, and put together again with lengths and checksums that agree.
"""

import random
import re
import struct
import zlib
from collections.abc import Callable, Iterator

LIES = [0, 1, 2, 3, 7, 8, 16, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 60000, 2**24, 2**31 - 1, 2**31, 2**32 - 1]
HEADER_SIZE = 160

# --- anywhere ---


def set_bytes(data: bytearray, rng: random.Random, place: int) -> None:
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        data[min(place + rng.randrange(16), len(data) - 1)] = rng.randrange(256)


def flip_bits(data: bytearray, rng: random.Random, place: int) -> None:
    for _ in range(rng.choice([1, 1, 2, 5])):
        data[min(place + rng.randrange(16), len(data) - 1)] ^= 1 << rng.randrange(8)


def lie(data: bytearray, rng: random.Random, place: int) -> None:
    """A field of two or four bytes, in either order, with a value that is likely to be at a limit."""
    code = rng.choice(["<H", ">H", "<I", ">I"])
    size = struct.calcsize(code)
    place = max(0, min(place, len(data) - size))
    field = struct.pack(code, rng.choice(LIES) & (256**size - 1))
    data[place : place + size] = field[: len(data) - place]


def cut(data: bytearray, rng: random.Random, place: int) -> None:
    del data[max(place, 1) :]


def remove(data: bytearray, rng: random.Random, place: int) -> None:
    del data[place : place + rng.choice([1, 2, 4, 16, 100])]


def repeat(data: bytearray, rng: random.Random, place: int) -> None:
    data[place:place] = data[place : place + rng.choice([1, 2, 4, 12, 64])] * rng.choice([1, 2, 20])


def swap(data: bytearray, rng: random.Random, place: int) -> None:
    size, other = rng.choice([2, 4, 12]), rng.randrange(len(data))
    first, second = bytes(data[place : place + size]), bytes(data[other : other + size])
    data[place : place + size] = second
    data[other : other + size] = first


MUTATIONS = [set_bytes, flip_bits, flip_bits, lie, lie, lie, cut, remove, repeat, swap]


def damage(data: bytes, rng: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        if not damaged:
            break
        limit = min(HEADER_SIZE, len(damaged)) if rng.random() < 0.5 else len(damaged)
        rng.choice(MUTATIONS)(damaged, rng, rng.randrange(limit))
    return bytes(damaged)


# --- structure: how to take files of a format apart, and how to make the parts agree again ---


def chunks(data: bytes, first: int, order: str) -> Iterator[bytes]:
    """Four letters and a length before each content, as in RIFF and AIFF."""
    yield data[:first]
    while first < len(data):
        size = 8 + struct.unpack_from(order + "I", data.ljust(first + 8, b"\0"), first + 4)[0]
        size += size % 2
        yield data[first : first + size]
        first += size


def joined_chunks(parts: list[bytes], order: str) -> bytes:
    body = b"".join(
        part[:4] + struct.pack(order + "I", max(0, len(part) - 8)) + part[8:] + b"\0" * (len(part) % 2)
        for part in parts[1:]
    )
    return parts[0][:4] + struct.pack(order + "I", (len(parts[0]) - 8 + len(body)) & 0xFFFFFFFF) + parts[0][8:] + body


def png_chunks(data: bytes) -> Iterator[bytes]:
    """With pixels that are not compressed, so that they can be damaged."""
    yield data[:8]
    at = 8
    while at + 12 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        yield kind + (zlib.decompress(body) if kind == b"IDAT" else body)
        at += 12 + size


def joined_png(parts: list[bytes]) -> bytes:
    out = parts[0]
    for part in parts[1:]:
        kind, body = part[:4], zlib.compress(part[4:]) if part[:4] == b"IDAT" else part[4:]
        out += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return out


def segments(data: bytes) -> Iterator[bytes]:
    """Of a JPEG file: each marker with what follows on it, up to the next one."""
    starts = [found.start() for found in re.finditer(rb"\xff[\xc0-\xcf\xd9-\xfe]", data)]
    yield data[:2]
    for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
        yield data[start:end]


def joined_segments(parts: list[bytes]) -> bytes:
    """Lengths agree, but for scans, whose data have none."""
    return b"".join(
        part[:2] + struct.pack(">H", max(2, len(part) - 2) & 0xFFFF) + part[4:]
        if len(part) >= 4 and part[:2] != b"\xff\xda"
        else part
        for part in parts
    )


def boxes(data: bytes) -> Iterator[bytes]:
    """Of a JPEG 2000 file, and the markers of its codestream."""
    at = 0
    while at + 8 <= len(data) and data[:4] != b"\xff\x4f\xff\x51":
        size = int.from_bytes(data[at : at + 4], "big")
        if data[at + 4 : at + 8] == b"jp2c" or size < 8:
            break
        yield data[at : at + size]
        at += size
    starts = [at, *(found.start() for found in re.finditer(rb"\xff[\x51-\x64\x90\x93\xd9]", data[at:]))]
    starts = sorted({at, *(at + start for start in starts[1:])})
    for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
        yield data[start:end]


def entries(data: bytes) -> Iterator[bytes]:
    """Of a TIFF file: what stands before its first directory, the entries of that, and the rest. Offsets stay."""
    order, big = "<" if data[:2] == b"II" else ">", data[2:4] in (b"+\0", b"\0+")
    start, code, size = (8, order + "Q", 20) if big else (4, order + "I", 12)
    first = struct.unpack_from(code, data, start)[0]
    count = struct.unpack_from(order + ("Q" if big else "H"), data, first)[0]
    first += 8 if big else 2
    yield data[:first]
    for k in range(count):
        yield data[first + k * size : first + (k + 1) * size]
    yield data[first + count * size :]


def words(data: bytes) -> Iterator[bytes]:
    """Of a PNM file: those of its header, and the rest."""
    found = re.match(rb"(?:\S+\s+){3,12}?(?=\S*\Z|[^\s\w]|\d+\s\d+\s\d+\s\d)", data)
    end = found.end() if found else min(len(data), 20)
    yield from re.findall(rb"\S+\s*|\s+", data[:end])
    yield data[end:]


def bmp_fields(data: bytes) -> Iterator[bytes]:
    ends = (10, 14, 18, 22, 26, 28, 30, 34, 46, 50, 54)
    for start, end in zip((0, *ends), (*ends, len(data)), strict=True):
        yield data[start:end]


def flac_blocks(data: bytes) -> Iterator[bytes]:
    """Of metadata, and then frames."""
    yield data[:4]
    at, last = 4, False
    while not last and at + 4 <= len(data):
        last, size = bool(data[at] & 128), 4 + int.from_bytes(data[at + 1 : at + 4], "big")
        yield data[at : at + size]
        at += size
    yield from re.split(rb"(?=\xff\xf8)", data[at:])


def ogg_pages(data: bytes) -> Iterator[bytes]:
    yield from re.split(rb"(?=OggS)", data)[1:]


OGG_TABLE = [0] * 256
for _byte in range(256):
    _value = _byte << 24
    for _ in range(8):
        _value = (_value << 1 ^ (0x04C11DB7 if _value >> 31 else 0)) & 0xFFFFFFFF
    OGG_TABLE[_byte] = _value


def joined_pages(parts: list[bytes]) -> bytes:
    out = b""
    for part in parts:
        page, checksum = part[:22] + bytes(4) + part[26:], 0
        for byte in page:
            checksum = (checksum << 8 ^ OGG_TABLE[checksum >> 24 ^ byte]) & 0xFFFFFFFF
        out += page[:22] + struct.pack("<I", checksum) + page[26:]
    return out


def mp3_frames(data: bytes) -> Iterator[bytes]:
    yield from re.split(rb"(?=\xff[\xe0-\xff])", data)


Take = Callable[[bytes], Iterator[bytes]]
Join = Callable[[list[bytes]], bytes]
STRUCTURES: dict[str, tuple[Take, Join]] = {
    "png": (png_chunks, joined_png),
    "jpeg": (segments, joined_segments),
    "jpeg2000": (boxes, b"".join),
    "tiff": (entries, b"".join),
    "pnm": (words, b"".join),
    "bmp": (bmp_fields, b"".join),
    "webp": (lambda data: chunks(data, 12, "<"), lambda parts: joined_chunks(parts, "<")),
    "wav": (lambda data: chunks(data, 12, "<"), lambda parts: joined_chunks(parts, "<")),
    "aiff": (lambda data: chunks(data, 12, ">"), lambda parts: joined_chunks(parts, ">")),
    "flac": (flac_blocks, b"".join),
    "ogg": (ogg_pages, joined_pages),
    "mp3": (mp3_frames, b"".join),
}


def damage_parts(parts: list[bytes], others: list[bytes], rng: random.Random) -> None:
    """Removes, repeats, moves, borrows or damages a part, or lies in one of its fields."""
    first = int(len(parts) > 1 and rng.random() < 0.95)  # without its beginning, nobody knows a file
    at, act = rng.randrange(first, len(parts)), rng.random()
    if act < 0.1:
        del parts[at]
    elif act < 0.2:
        parts[at:at] = [parts[at]] * rng.choice([1, 1, 2, 30])
    elif act < 0.3:
        parts.insert(rng.randrange(len(parts)), parts.pop(at))
    elif act < 0.4:
        parts[at] = rng.choice(others)
    elif act < 0.6 and parts[at].strip().isdigit():
        parts[at] = str(rng.choice([*LIES, -1, 10**12])).encode() + b" "
    elif parts[at]:
        damaged = bytearray(parts[at])
        rng.choice([lie, lie, flip_bits, set_bytes] if len(damaged) < 64 else MUTATIONS)(
            damaged, rng, rng.randrange(len(damaged))
        )
        parts[at] = bytes(damaged)


def damage_structure(format_name: str, data: bytes, other: bytes, rng: random.Random) -> bytes:
    take, join = STRUCTURES[format_name]
    parts, others = list(take(data)), list(take(other))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if parts:
            damage_parts(parts, others, rng)
    return join(parts) if parts else b""


def damage_one(seeds: list[bytes], rng: random.Random) -> bytes:
    """A damaged file, or one that continues as another."""
    data, other = rng.choice(seeds), rng.choice(seeds)
    if rng.random() < 0.2:
        place = rng.randrange(min(len(data), len(other)))
        data = data[:place] + other[place:]
    return damage(data, rng)


def mutated(format_name: str, seeds: list[bytes], number: int) -> bytes:
    """The broken file with this number, out of files of one format."""
    rng = random.Random(number)
    way = rng.random()
    if way > 0.5 or format_name not in STRUCTURES:
        return damage_one(seeds, rng)
    data = damage_structure(format_name, rng.choice(seeds), rng.choice(seeds), rng)
    return data if way < 0.4 else damage(data, rng)
