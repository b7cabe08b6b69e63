"""JPEG 2000: pixels of every variant, subsampled components, errors."""

import io

import imagecodecs
import numpy as np
import pytest
from PIL import Image

from .decoding import decode, scaled, to_uint8
from .files import GRAY, GRAY16, GRAY_ALPHA, RGB, RGB16, RGBA, jpeg2000_files, pillow, waves

EXPECTED = {
    "rgb": RGB,
    "codestream": RGB,
    "gray": GRAY[..., None],
    "rgba": RGBA,
    "gray_alpha": GRAY_ALPHA,
    "rgb16": RGB16,
    "gray16": GRAY16[..., None],
    "gray12": (GRAY16 >> 4)[..., None],  # numbers above 8 bits stay as they are
    "gray4": scaled(GRAY >> 4, 15, 255)[..., None],
    "signed": (GRAY16 ^ 0x8000)[..., None],
    "tiles": waves(40, 70),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_pixels(name: str) -> None:
    expected = EXPECTED[name]
    if expected.dtype == np.uint16:
        np.testing.assert_array_equal(decode(jpeg2000_files()[name], dtype="uint16"), expected)
        expected = to_uint8(expected)
    np.testing.assert_array_equal(decode(jpeg2000_files()[name]), expected)


@pytest.mark.parametrize("name", ["lossy", "tiles_lossy"])
def test_lossy_equals_other_decoders(name: str) -> None:
    data = jpeg2000_files()[name]
    np.testing.assert_allclose(decode(data), np.asarray(Image.open(io.BytesIO(data))), atol=1)
    np.testing.assert_allclose(decode(data), imagecodecs.jpeg2k_decode(data), atol=1)


def test_ycc() -> None:
    expected = np.asarray(Image.fromarray(RGB, "YCbCr").convert("RGB"))
    np.testing.assert_allclose(decode(jpeg2000_files()["ycc"]), expected, atol=2)


def test_components_at_half_the_resolution() -> None:
    """An image whose chroma has every second sample only: made by telling so of a smaller component."""
    data = bytearray(jpeg2000_files()["codestream"])
    height, width = RGB.shape[:2]
    for at, extent in ((8, width), (12, height), (24, width), (28, height)):  # the image, then its one tile
        data[at : at + 4] = (2 * extent).to_bytes(4, "big")
    for component in range(3):
        data[43 + 3 * component : 45 + 3 * component] = b"\2\2"
    np.testing.assert_array_equal(decode(bytes(data)), RGB)


def test_too_many_packets_are_refused() -> None:
    """A few bytes that ask for millions of packets, which took minutes and gigabytes."""
    picture = np.zeros((600, 600, 3), np.uint8)
    data = bytearray(pillow(picture, "JPEG2000", precinct_size=(64, 64), codeblock_size=(16, 16), no_jp2=True))
    assert decode(bytes(data)).max() == 0
    style = data.index(b"\xff\x52")
    size = int.from_bytes(data[style + 2 : style + 4], "big")
    first = style + 14  # the sizes of precincts, as exponents of two
    data[first : style + 2 + size] = bytes(style + 2 + size - first)
    with pytest.raises(RuntimeError, match="too short for the packets"):
        decode(bytes(data))


def test_errors() -> None:
    data = jpeg2000_files()["rgb"]
    with pytest.raises(RuntimeError, match="JPEG 2000: "):
        decode(data[:-200])
    with pytest.raises(RuntimeError, match="JPEG 2000: expected a codestream"):
        decode(data[:40])
