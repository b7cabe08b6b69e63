"""PNM, P1 to P7: pixels of every variant, comments, errors."""

import numpy as np
import pytest

from .decoding import decode, scaled, to_uint8
from .files import BITS, GRAY, GRAY16, RGB, RGB16, RGBA, pnm_files

BLACK_AND_WHITE = BITS[..., None] * np.uint8(255)
EXPECTED = {
    "p1": BLACK_AND_WHITE,
    "p1_tight": BLACK_AND_WHITE,
    "p2": GRAY[..., None],
    "p3": RGB,
    "p4": BLACK_AND_WHITE,
    "p5": GRAY[..., None],
    "p6": RGB,
    "p2_16": GRAY16[..., None],
    "p5_16": GRAY16[..., None],
    "p6_16": RGB16,
    "p5_100": scaled(GRAY % 101, 100, 255)[..., None],
    "p5_1000": scaled(GRAY16 % 1001, 1000, 65535)[..., None],
    "p7": RGBA,
}


@pytest.mark.parametrize("name", pnm_files())
def test_pixels(name: str) -> None:
    expected = EXPECTED[name]
    if expected.dtype == np.uint16:
        np.testing.assert_array_equal(decode(pnm_files()[name], dtype="uint16"), expected)
        expected = to_uint8(expected)
    np.testing.assert_array_equal(decode(pnm_files()[name]), expected)


def test_comments_anywhere_in_the_header() -> None:
    data = b"P2 # kind\n# size\n2 # width\n 1\n#top\n9\n# pixels\n0 9"
    np.testing.assert_array_equal(decode(data), [[[0], [255]]])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"P5 4 4 255\n123", "the file ends at byte"),
        (b"P2 2 1 9\n0 10", "at most 9"),
        (b"P2 2 1 9\n0 x1", 'got "x1"'),
        (b"P1 2 1\n02", "expected 0 or 1"),
        (b"P5 2 1 0\n00", "above 0"),
        (b"P5 2 1 70000\n00", "at most 65535"),
        (b"P7\nWIDTH 2\nHEIGHT 1\n", "no end"),
        (b"P6 0 4 255\n", "4 x 0"),
    ],
)
def test_errors_say_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        decode(data)
