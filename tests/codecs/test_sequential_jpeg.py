"""Ordinary JPEG files are decoded without libjpeg-turbo, on every instruction set, with its bits and its errors."""

import struct

import numpy as np
import pytest

from .decoding import decode, decode_part
from .jpeg_decoders import OURS, equal_outcomes, ours, theirs
from .samples import encoded, jpeg, picture

SUBSAMPLINGS = ["444", "422", "420", "440"]
SIZES = [(1, 5), (8, 8), (16, 16), (17, 33), (31, 129), (50, 67), (240, 321)]


def noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(height).integers(0, 256, (height, width, 3)).astype(np.uint8)


def test_there_are_several_instruction_sets():
    assert len(OURS) >= 1


@pytest.mark.parametrize("quality", [5, 50, 90, 100])
@pytest.mark.parametrize("subsampling", SUBSAMPLINGS)
def test_samplings_sizes_and_qualities(subsampling, quality):
    for height, width in SIZES:
        for image in (picture(height, width), noise(height, width)):
            assert ours(jpeg(image, subsampling, quality).tobytes()).shape == (height, width, 3)


@pytest.mark.parametrize("output_type", ["RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"])
def test_colours(output_type):
    for data in (jpeg(picture(41, 75), "420"), jpeg(picture(41, 75)[..., 0]), jpeg(picture(41, 75), "444")):
        ours(data.tobytes(), output_type)


@pytest.mark.parametrize("restart", [1, 3, 7, 100])
@pytest.mark.parametrize("subsampling", ["444", "422", "420"])
def test_restart_markers(subsampling, restart):
    ours(jpeg(picture(100, 131), subsampling, restart=restart).tobytes())


def flat_file(height: int, width: int, columns: int, rows: int) -> bytes:
    """A gray image of 4:4:4 whose MCUs have so many blocks of each component, which no encoder writes."""

    def segment(marker: int, content: bytes) -> bytes:
        return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content

    factors = columns << 4 | rows
    frame = struct.pack(">BHHB", 8, height, width, 3) + bytes([1, factors, 0, 2, factors, 0, 3, factors, 0])
    one_code = bytes([1, *[0] * 15, 0])  # a zero bit: no difference, or no more coefficients
    blocks = 3 * columns * rows * -(-width // (8 * columns)) * -(-height // (8 * rows))
    bits = "0" * 2 * blocks + "1" * (-2 * blocks % 8)
    return b"".join(
        [
            b"\xff\xd8",
            segment(0xDB, bytes([0, *[16] * 64])),
            segment(0xC0, frame),
            segment(0xC4, b"\x00" + one_code),
            segment(0xC4, b"\x10" + one_code),
            segment(0xDA, bytes([3, 1, 0, 2, 0, 3, 0, 0, 63, 0])),
            int(bits, 2).to_bytes(len(bits) // 8, "big"),
            b"\xff\xd9",
        ]
    )


@pytest.mark.parametrize("width", [24, 32, 64, 65, 1024])
def test_three_blocks_of_each_component(width):
    expected = np.full((8, width, 3), 128, np.uint8)
    np.testing.assert_array_equal(ours(flat_file(8, width, 1, 1)), expected)
    for factors in ((3, 1), (1, 3)):
        np.testing.assert_array_equal(theirs(flat_file(8, width, *factors)), expected)


def test_optimized_codes_and_flat_images():
    for image in (picture(90, 120), np.full((90, 120, 3), 77, np.uint8)):
        for quality in (1, 30, 100):
            ours(encoded(image, "JPEG", quality=quality, optimize=True).tobytes())


@pytest.mark.parametrize("subsampling", SUBSAMPLINGS)
def test_windows(subsampling):
    data = jpeg(picture(75, 200), subsampling).tobytes()
    rng = np.random.default_rng(5)
    whole = decode(data)
    for _ in range(60):
        y, x = rng.integers(75), rng.integers(200)
        part = (int(y), int(x), int(rng.integers(75 - y)) + 1, int(rng.integers(200 - x)) + 1)
        found, by_us = equal_outcomes(lambda part=part: decode_part(data, part))
        assert by_us
        np.testing.assert_array_equal(found, whole[y : y + part[2], x : x + part[3]])


def test_a_window_does_not_need_the_rest_of_the_file():
    data = jpeg(picture(400, 300)).tobytes()
    top, by_us = equal_outcomes(lambda: decode_part(data[: len(data) * 3 // 4], (0, 20, 100, 60)))
    assert by_us
    np.testing.assert_array_equal(top, decode(data)[:100, 20:80])


def test_two_bytes_per_factor_and_extended_files():
    data = jpeg(picture(40, 56)).tobytes()
    at = data.index(b"\xff\xdb")
    (size,) = struct.unpack_from(">H", data, at + 2)
    assert size == 67
    wide = b"\xff\xdb" + struct.pack(">HB64H", 131, 0x10, *data[at + 5 : at + 69])
    expected = ours(data)
    np.testing.assert_array_equal(ours(data[:at] + wide + data[at + 69 :]), expected)
    np.testing.assert_array_equal(ours(data.replace(b"\xff\xc0", b"\xff\xc1", 1)), expected)


def test_coefficients_that_overflow():
    """Factors of 255 and more take samples out of their range: 16 bits wrap and saturate as in libjpeg-turbo."""
    data = bytearray(jpeg(noise(48, 64), quality=100).tobytes())
    at = data.index(b"\xff\xdb")
    for factor in (3, 20, 60, 255):
        data[at + 5 : at + 69] = bytes([factor]) * 64
        equal_outcomes(lambda: decode(bytes(data)))


def test_unusual_files_are_left_to_the_library():
    theirs(jpeg(picture(60, 80), "411").tobytes())
    theirs(encoded(picture(60, 80), "JPEG", "CMYK").tobytes())
    theirs(jpeg(picture(60, 4), "420").tobytes())
    theirs(jpeg(picture(60, 80)).tobytes(), use_fast_idct=True)
    theirs(jpeg(picture(60, 80)).tobytes(), reduce_to=[30])


@pytest.mark.parametrize("restart", [0, 2])
def test_damaged_files_are_refused_alike(restart):
    data = jpeg(picture(97, 131), restart=restart).tobytes()
    for end in (200, len(data) // 2, len(data) - 20):
        assert isinstance(theirs(data[:end]), str)
    assert isinstance(theirs(data[:-40] + data[-20:]), str)
    theirs(data[:-2] + b"\0" * 40 + data[-2:])
    theirs(data[:-2])
