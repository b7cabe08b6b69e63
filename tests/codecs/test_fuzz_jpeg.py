"""JPEG files, made and damaged: all decoders give equal bits or an equal error.

Half of them are damaged in the entropy-coded data alone, where a decoder has to notice it itself. AVIDA_FUZZ_FILES says
how many.
"""

import random

import numpy as np
import pytest

from tests.fuzz import harness
from tests.fuzz.mutate import damage, mutated

from .decoding import decode, decode_part
from .jpeg_decoders import equal_outcomes
from .samples import SUBSAMPLINGS, encoded, jpeg, picture

TYPES = ["RGB", "RGB", "GRAY", "ANY_DATA", "BGR", "YCbCr"]


def made(rng: random.Random) -> bytes:
    """A file of a small image, of any sampling, quality and restart interval."""
    height, width = (rng.choice([8, 16, 17, rng.randrange(1, 20), rng.randrange(1, 90)]) for _ in range(2))
    image = picture(height, width, seed=rng.randrange(9))
    if rng.random() < 0.2:
        image = np.random.default_rng(rng.randrange(99)).integers(0, 256, image.shape).astype(np.uint8)
    if rng.random() < 0.15:
        image = image[..., 0]
    quality, kind = rng.choice([1, 20, 50, 75, 90, 95, 100]), rng.random()
    if kind < 0.2 and image.ndim == 3:
        options = {"quality": quality, "optimize": True, "subsampling": rng.randrange(3)}
        return encoded(image, "JPEG", restart_marker_rows=rng.choice([0, 1]), **options).tobytes()
    if image.ndim == 2:
        return jpeg(np.ascontiguousarray(image), quality=quality).tobytes()
    restart = rng.choice([0, 0, 1, 2, 5, 50])
    return jpeg(image, rng.choice(SUBSAMPLINGS), quality, rng.random() < 0.1, restart).tobytes()


def damage_scan(data: bytes, rng: random.Random) -> bytes:
    """Flips bits, exchanges, removes or repeats bytes after the headers."""
    first = data.index(b"\xff\xda") + 12
    return data[:first] + damage(data[first:], rng)


def damage_tables(data: bytes, rng: random.Random) -> bytes:
    """Other factors of quantization, or other Huffman codes."""
    damaged = bytearray(data)
    at = data.index(rng.choice([b"\xff\xdb", b"\xff\xc4"])) + 5
    for _ in range(rng.choice([1, 4, 64])):
        damaged[min(at + rng.randrange(64), len(data) - 1)] = rng.choice([0, 1, 2, 128, 255, rng.randrange(256)])
    return bytes(damaged)


def file(number: int) -> tuple[bytes, random.Random]:
    rng = random.Random(number)
    data, way = made(rng), rng.random()
    if way < 0.5:
        data = damage_scan(data, rng)
    elif way < 0.65:
        data = damage_tables(data, rng)
    elif way < 0.85:
        data = mutated("jpeg", [data, made(rng)], number)
    return data, rng


def examine(kind: str, number: int) -> str:
    data, rng = file(number)
    output_type = rng.choice(TYPES)
    found, by_us = equal_outcomes(lambda: decode(data, output_type))
    if isinstance(found, str):
        harness.check_not_for_memory(RuntimeError(found))
        return "refused"
    height, width = found.shape[:2]
    y, x = rng.randrange(height), rng.randrange(width)
    part = (y, x, rng.randrange(height - y) + 1, rng.randrange(width - x) + 1)
    equal_outcomes(lambda: decode_part(data, part, output_type))
    return "ours" if by_us else "library"


@pytest.mark.parametrize("numbers", harness.blocks(), ids=lambda numbers: numbers.start)
def test_all_decoders_agree(numbers: range, record_property) -> None:
    harness.check(__name__, "jpeg_decoders", numbers, record_property)
