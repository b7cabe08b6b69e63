"""Progressive JPEG files are decoded without libjpeg-turbo, on every instruction set, with its bits and its errors."""

import numpy as np
import pytest

from .decoding import decode, decode_part
from .jpeg_decoders import equal_outcomes, ours, theirs
from .samples import encoded, jpeg, picture

SIZES = [(1, 5), (8, 8), (16, 16), (17, 33), (31, 129), (50, 67), (240, 321)]
SCAN, END = b"\xff\xda", b"\xff\xd9"


def progressive(image: np.ndarray, subsampling: str = "420", quality: int = 90, restart: int = 0) -> bytes:
    return jpeg(image, subsampling, quality, progressive=True, restart=restart).tobytes()


@pytest.mark.parametrize("quality", [5, 50, 90, 97])
@pytest.mark.parametrize("subsampling", ["444", "422", "420"])
def test_samplings_sizes_and_qualities(subsampling, quality):
    rng = np.random.default_rng(quality)
    for height, width in SIZES:
        grain = rng.integers(0, 24, (height, width, 3)).astype(np.uint8)  # of more, Pillow cannot make a file
        for image in (picture(height, width), grain):
            assert ours(progressive(image, subsampling, quality)).shape == (height, width, 3)


@pytest.mark.parametrize("output_type", ["RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"])
def test_colours(output_type):
    for image in (picture(41, 75), picture(41, 75)[..., 0], np.full((90, 120, 3), 77, np.uint8)):
        ours(progressive(image), output_type)


@pytest.mark.parametrize("subsampling", ["444", "422", "420"])
def test_windows(subsampling):
    data = progressive(picture(75, 200), subsampling)
    rng = np.random.default_rng(5)
    whole = decode(data)
    for _ in range(40):
        y, x = rng.integers(75), rng.integers(200)
        part = (int(y), int(x), int(rng.integers(75 - y)) + 1, int(rng.integers(200 - x)) + 1)
        found, by_us = equal_outcomes(lambda part=part: decode_part(data, part))
        assert by_us
        np.testing.assert_array_equal(found, whole[y : y + part[2], x : x + part[3]])


def test_unusual_files_are_left_to_the_library():
    theirs(progressive(picture(60, 80), restart=3))
    theirs(progressive(picture(60, 4)))
    theirs(encoded(picture(60, 80), "JPEG", "CMYK", progressive=True).tobytes())
    theirs(progressive(picture(60, 80)), use_fast_idct=True)
    data = progressive(picture(60, 80))
    first, second = (data.index(SCAN, start) for start in (0, data.index(SCAN) + 2))
    tables = data.rindex(b"\xff\xc4", 0, second)
    theirs(data[:tables] + data[first:])  # the first scan twice


def test_files_that_lack_detail_are_left_to_the_library():
    data = progressive(picture(60, 80))
    at, scans = 0, 0
    while (at := data.find(SCAN, at + 2)) >= 0:
        scans += 1
        if scans > 1:
            theirs(data[:at] + END)
    assert scans > 5


def test_damaged_files_are_refused_alike():
    data = progressive(picture(97, 131))
    for end in (200, len(data) // 2, len(data) - 20):
        assert isinstance(theirs(data[:end]), str)
    theirs(data[:-2])
    rng = np.random.default_rng(3)
    for _ in range(100):
        broken = bytearray(data)
        broken[rng.integers(600, len(data))] ^= 1 << rng.integers(8)
        equal_outcomes(lambda broken=bytes(broken): decode(broken))
