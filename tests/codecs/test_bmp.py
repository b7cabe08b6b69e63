"""BMP: pixels of every variant, run lengths, errors."""

import io

import numpy as np
import pytest
from PIL import Image

from .decoding import decode
from .files import BITS, BMP_PALETTE, GRAY, INDICES, PALETTE, RGB, RGBA, WIDTH, bmp, bmp_files

WORDS = RGB[..., 0].astype(np.uint16) * 257
EXPECTED = {
    "rgb": RGB,
    "gray": GRAY[..., None],
    "bits": BITS[..., None] * np.uint8(255),
    "palette8": np.asarray(Image.fromarray(RGB).quantize(200).convert("RGB")),
    "palette4": PALETTE[INDICES],
    "top_down": RGB,
    "555": np.stack([WORDS >> 7 & 0xF8, WORDS >> 2 & 0xF8, WORDS << 3 & 0xF8], -1),
    "565": np.stack([WORDS >> 8 & 0xF8, WORDS >> 3 & 0xFC, WORDS << 3 & 0xF8], -1),
    "32": RGBA[..., 2::-1],
    "alpha": RGBA,
    "rle8": PALETTE[INDICES],
    "rle8_literal": PALETTE[INDICES],
    "rle4_literal": PALETTE[INDICES],
    "core": RGB,
}


@pytest.mark.parametrize("name", bmp_files())
def test_pixels(name: str) -> None:
    np.testing.assert_array_equal(decode(bmp_files()[name]), EXPECTED[name])


@pytest.mark.parametrize("name", ["rgb", "gray", "bits", "palette8", "palette4", "top_down", "rle8", "core"])
def test_pillow_agrees(name: str) -> None:
    data = bmp_files()[name]
    np.testing.assert_array_equal(decode(data, "RGB"), np.asarray(Image.open(io.BytesIO(data)).convert("RGB")))


def test_runs_of_four_bits_and_steps() -> None:
    # A run of 5 pixels that alternate 1 and 2, a step of 3 right and 1 up, a run of 2 of colour 3.
    data = bmp(4, bytes([5, 0x12, 0, 2, 3, 1, 2, 0x33, 0, 1]), BMP_PALETTE, compression=2)
    indices = np.zeros((13, WIDTH), int)
    indices[12, :5] = [1, 2, 1, 2, 1]
    indices[11, 8:10] = 3
    np.testing.assert_array_equal(decode(data), PALETTE[indices])


def test_runs_beyond_the_row_are_cut() -> None:
    data = bmp(8, bytes([255, 1, 0, 0, 255, 2, 0, 1]), BMP_PALETTE, compression=1)
    image = decode(data)
    assert (image[12] == PALETTE[1]).all()
    assert (image[11] == PALETTE[2]).all()
    assert (image[:11] == PALETTE[0]).all()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (bmp(24, b"\0" * 100), "the file ends at byte"),
        (bmp(8, b"\5", BMP_PALETTE, compression=1), "the file ends at byte"),
        (bmp(24, b"\0" * 1000, compression=4), "compression 4 is not supported"),
        (bmp(24, b"\0" * 1000, compression=1), "cannot be combined with 24 bits"),
        (bmp(5, b"\0" * 1000), "expected 1, 2, 4, 8, 16, 24 or 32 bits, got 5"),
    ],
)
def test_errors_say_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        decode(data)
