"""Broken JPEG files by the hundred: a GPU gives the bits of the CPU, or both refuse them; nothing crashes.

AVIDA_FUZZ_FILES says how many files.
"""

import os
import random
from collections.abc import Callable

import numpy as np
import pytest

import avida as ndd
from tests.codecs.samples import encoded, picture, with_exif

from ..fuzz.mutate import mutated

BLOCK = 50
BLOCKS = max(1, int(os.environ.get("AVIDA_FUZZ_FILES", "400")) // BLOCK)
TABLE, FRAME, CODES, INTERVAL, SCAN = 0xDB, 0xC0, 0xC4, 0xDD, 0xDA
Segments = list[tuple[int, bytes]]  # marker and body; the last one is the scan with the data after it


def jpeg(height: int, width: int, **options: object) -> bytes:
    return encoded(picture(height, width), "JPEG", **({"quality": 85} | options)).tobytes()


SEEDS = [
    jpeg(40, 57, subsampling=2),
    jpeg(33, 40, subsampling=1),
    jpeg(24, 31, subsampling=0),
    jpeg(50, 64, subsampling=2, restart_marker_blocks=2),
    jpeg(48, 33, subsampling=1, restart_marker_rows=1, optimize=True),
    jpeg(64, 64, subsampling=2, quality=100),
    jpeg(9, 130, subsampling=2, quality=10),
]


OTHER_SEEDS = [
    jpeg(40, 57, progressive=True),
    jpeg(33, 70, progressive=True, subsampling=0, quality=97),
    jpeg(37, 90, mode="L"),
    with_exif(encoded(picture(40, 57), "JPEG"), 6).tobytes(),
]


def split(file: bytes) -> Segments:
    segments, at = [], 2
    while file[at + 1] != SCAN:
        end = at + 2 + int.from_bytes(file[at + 2 : at + 4], "big")
        segments.append((file[at + 1], file[at + 4 : end]))
        at = end
    return [*segments, (SCAN, file[at + 4 :])]


def join(segments: Segments) -> bytes:
    """With the lengths that the bodies have."""
    sizes = [14 if i == len(segments) - 1 else len(body) + 4 for i, (_, body) in enumerate(segments)]
    parts = [
        bytes([0xFF, marker]) + (size - 2).to_bytes(2, "big") + body
        for size, (marker, body) in zip(sizes, segments, strict=True)
    ]
    return b"\xff\xd8" + b"".join(parts)


def rearranged(number: int) -> bytes:
    """Segments changed, moved, repeated and removed, or a restart interval that is none."""
    rng = random.Random(number)
    segments = split(rng.choice(SEEDS))
    for _ in range(rng.choice([1, 1, 2, 3])):
        place, other = rng.randrange(len(segments) - 1), rng.randrange(len(segments) - 1)
        marker, body = segments[place]
        change = rng.randrange(6)
        if change == 0:
            segments[place], segments[other] = segments[other], segments[place]
        elif change == 1:
            segments.insert(other, segments[place])
        elif change == 2 and len(segments) > 2:
            del segments[place]
        elif change == 3:
            segments.insert(len(segments) - 1, (INTERVAL, rng.choice([0, 1, 2, 3, 255, 65535]).to_bytes(2, "big")))
        elif body:
            at = rng.randrange(len(body))
            value = rng.choice([0, 1, 2, 3, 4, 0x10, 0x11, 0x12, 0x21, 0x22, 0x41, 0xF0, 0xFF, rng.randrange(256)])
            segments[place] = marker, body[:at] + bytes([value]) + body[at + 1 :]
    return join(segments)


def outcome(decode: Callable[..., ndd.Tensor], file: bytes, device: str, **options: object) -> np.ndarray | None:
    """None: it is refused."""
    try:
        return np.asarray(decode(np.frombuffer(file, np.uint8), device=device, **options).cpu())
    except RuntimeError:
        return None


def check(decode: Callable[..., ndd.Tensor], file: bytes, name: object, **options: object) -> bool:
    expected, got = (outcome(decode, file, device, **options) for device in ("cpu", "gpu"))
    assert (got is None) == (expected is None), f"{name}: the CPU {'refuses' if expected is None else 'takes'} it"
    if expected is not None:
        np.testing.assert_array_equal(got, expected, err_msg=str(name))
    return expected is not None


MAKERS = {
    "bytes": lambda number: mutated("jpeg", SEEDS, number),
    "segments": rearranged,
    "others": lambda number: mutated("jpeg", OTHER_SEEDS, number),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("block", range(BLOCKS // 2))
def test_broken_files(block, make):
    numbers = range(block * BLOCK, (block + 1) * BLOCK)
    files = [file for number in numbers if (file := make(number))]
    good = [file for i, file in enumerate(files) if check(ndd.decoders.image, file, numbers[i])]
    part = {"start": [2, 3], "shape": [5, 7], "axes": [0, 1]}
    for file in files[::5]:
        check(ndd.decoders.image_slice, file, block, **part)
    batch = ndd.batch([np.frombuffer(file, np.uint8) for file in good])
    expected, got = (ndd.decoders.image(batch, device=device).cpu() for device in ("cpu", "gpu"))
    for i, (a, b) in enumerate(zip(got, expected, strict=True)):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b), err_msg=f"the good file {i}")


def changed(marker: int, change: Callable[[bytes], bytes]) -> bytes:
    """The first seed, with the first segment of this kind changed."""
    segments = split(SEEDS[0])
    place = [kind for kind, _ in segments].index(marker)
    segments[place] = marker, change(segments[place][1])
    return join(segments)


def factors(*values: int) -> bytes:
    def change(body: bytes) -> bytes:
        components = [bytes([body[6 + 3 * c], values[c], body[8 + 3 * c]]) for c in range(3)]
        return body[:6] + b"".join(components)

    return changed(FRAME, change)


def twice(marker: int, change: Callable[[bytes], bytes]) -> bytes:
    segments = split(SEEDS[0])
    place = [kind for kind, _ in segments].index(marker)
    return join([*segments[:place], (marker, change(segments[place][1])), *segments[place:]])


LIARS = {
    "no columns": factors(0x01, 0x11, 0x11),
    "no rows": factors(0x10, 0x11, 0x11),
    "nothing": factors(0x00, 0x11, 0x11),
    "no colours": factors(0x22, 0x00, 0x00),
    "too many blocks": factors(0x22, 0x22, 0x22),
    "three columns": factors(0x31, 0x11, 0x11),
    "four columns": factors(0x42, 0x21, 0x21),
    "large colours": factors(0x11, 0x22, 0x22),
    "other colours": factors(0x22, 0x11, 0x21),
    "another frame": twice(FRAME, lambda body: body[:1] + b"\x04\x00\x04\x00" + body[5:]),
    "another sampling": twice(FRAME, lambda body: body[:7] + b"\x11" + body[8:]),
    "a long frame": changed(FRAME, lambda body: body + b"\x00"),
    "the same component": changed(FRAME, lambda body: body[:9] + body[6:7] + body[10:]),
    "a large image": changed(FRAME, lambda body: body[:1] + b"\x00\x10\xff\xff" + body[5:]),
    "a code of ones": changed(CODES, lambda body: body[:1] + b"\x02" + bytes(15) + b"\x00\x01"),
    "too many codes": changed(CODES, lambda body: body[:1] + b"\x03" + bytes(15) + b"\x00\x01\x02"),
    "a symbol that is no size": changed(CODES, lambda body: body[:-1] + b"\x1b"),
    "no codes": changed(CODES, lambda body: body[:1] + bytes(16)),
    "large factors": changed(TABLE, lambda body: body[:1] + b"\xff" * 64),
    "no factors": changed(TABLE, lambda body: body[:1] + bytes(64)),
    "a long interval": join([(INTERVAL, b"\x00\x00\x00"), *split(SEEDS[0])]),
    "filled up": SEEDS[0][:2] + b"\xff" + SEEDS[0][2:],
    "a marker of no kind": join([(0xF7, b"text"), *split(SEEDS[0])]),
    "a second start": SEEDS[0][:2] + SEEDS[0],
}


@pytest.mark.parametrize("name", LIARS)
def test_headers_that_lie(name):
    check(ndd.decoders.image, LIARS[name], name)


def test_seeds_are_good():
    for seed in SEEDS:
        assert join(split(seed)) == seed
    for number, seed in enumerate(SEEDS + OTHER_SEEDS):
        assert check(ndd.decoders.image, seed, number)
