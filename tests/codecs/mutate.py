"""Broken files made from good ones, the same for the same number."""

import random
import struct
import zlib

LIES = [0, 1, 2, 3, 7, 8, 16, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 60000, 2**24, 2**31 - 1, 2**31, 2**32 - 1]
HEADER_SIZE = 160


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


def with_png_checksums(data: bytes) -> bytes:
    """The chunks as they are, with checksums that agree, so that more than the checksum is tried."""
    out, at = bytearray(data[:8]), 8
    while at + 12 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        content = data[at + 4 : at + 8 + size]
        out += data[at : at + 4] + content + struct.pack(">I", zlib.crc32(content))
        at += 12 + size
    return bytes(out)


def mutated(seeds: list[bytes], number: int) -> bytes:
    """The broken file with this number, out of files of one format."""
    rng = random.Random(number)
    data = bytearray(rng.choice(seeds))
    if rng.random() < 0.1:
        other = rng.choice(seeds)
        place = rng.randrange(min(len(data), len(other)))
        data[place:] = other[place:]
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        if not data:
            break
        limit = min(HEADER_SIZE, len(data)) if rng.random() < 0.5 else len(data)
        rng.choice(MUTATIONS)(data, rng, rng.randrange(limit))
    if data[:4] == b"\x89PNG" and rng.random() < 0.7:
        return with_png_checksums(bytes(data))
    return bytes(data)
