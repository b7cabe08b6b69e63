"""PNG: pixels of every variant, gamma, orientation, checksums."""

import struct

import numpy as np
import pytest

from .decoding import decode, to_uint8, upright
from .files import (
    GRAY,
    GRAY16,
    GRAY_ALPHA,
    INDICES,
    PALETTE,
    RGB,
    RGB16,
    RGBA,
    RGBA16,
    pillow,
    png,
    png_chunk,
    png_files,
)

EXPECTED = {
    "rgb": RGB,
    "rgba": RGBA,
    "gray": GRAY[..., None],
    "gray_alpha": GRAY_ALPHA,
    "rgb16": RGB16,
    "rgba16": RGBA16,
    "gray16": GRAY16[..., None],
    "gray_alpha16": RGBA16[..., :2],
    "gray1": (GRAY >> 7)[..., None] * 255,
    "gray2": (GRAY >> 6)[..., None] * 85,
    "gray4": (GRAY >> 4)[..., None] * 17,
    "palette4": PALETTE[INDICES],
    "palette8": PALETTE[INDICES],
    "palette_transparent": PALETTE[INDICES],
    "gray_transparent": GRAY[..., None],
    "gamma": RGB,
    "interlaced": RGB,
    "interlaced_gray": GRAY[..., None],
    "rotated": upright(RGB, 6),
}


@pytest.mark.parametrize("name", png_files())
def test_pixels(name: str) -> None:
    expected = EXPECTED[name]
    if expected.dtype == np.uint16:
        np.testing.assert_array_equal(decode(png_files()[name], dtype="uint16"), expected)
        expected = to_uint8(expected)
    np.testing.assert_array_equal(decode(png_files()[name]), expected)


def test_gray_is_weighed_and_cut() -> None:
    weighed = (RGB.astype(int) @ [9797, 19234, 3737]) >> 15
    np.testing.assert_array_equal(decode(png_files()["rgb"], "GRAY")[..., 0], weighed)


def test_gamma_counts_for_gray_only() -> None:
    plain, gamma = png_files()["rgb"], png_files()["gamma"]
    np.testing.assert_array_equal(decode(plain, "RGB"), decode(gamma, "RGB"))
    assert (decode(plain, "GRAY") != decode(gamma, "GRAY")).any()


def test_orientation_can_be_ignored() -> None:
    np.testing.assert_array_equal(decode(png_files()["rotated"], adjust_orientation=False), RGB)


def test_orientation_after_the_pixels() -> None:
    data = png_files()["rgb"]
    exif = b"MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\3\0\0\0\0\0\0"
    end = png_chunk(b"IEND", b"")
    turned = data.removesuffix(end) + png_chunk(b"eXIf", exif) + end
    np.testing.assert_array_equal(decode(turned), upright(RGB, 3))


@pytest.mark.parametrize("chunk", [b"IHDR", b"IDAT", b"IEND"])
def test_wrong_checksums_are_errors(chunk: bytes) -> None:
    data = bytearray(pillow(RGB, "PNG"))
    at = data.index(chunk) + 4 + struct.unpack(">I", data[data.index(chunk) - 4 : data.index(chunk)])[0]
    data[at] ^= 1
    with pytest.raises(RuntimeError, match=r"PNG: .*CRC"):
        decode(bytes(data))


def test_index_beyond_the_palette() -> None:
    data = png(INDICES, 8, 3, png_chunk(b"PLTE", PALETTE[:4].tobytes()))
    image = decode(data)
    inside = INDICES < 4
    np.testing.assert_array_equal(image[inside], PALETTE[INDICES[inside]])
