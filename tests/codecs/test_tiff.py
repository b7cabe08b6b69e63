"""TIFF: pixels of every variant, JPEG inside, colour spaces, errors."""

import io

import numpy as np
import pytest
import tifffile
from PIL import Image

import avida

from .decoding import as_input, decode, to_uint8, upright
from .files import (
    BITS,
    GRAY,
    GRAY16,
    GRAY_ALPHA,
    RGB,
    RGB16,
    RGBA,
    WIDE,
    noise,
    pillow,
    tiff,
    tiff_files,
    tiff_pages,
    waves,
)

COLORS = np.random.default_rng(8).integers(0, 65536, (3, 256), np.uint16).T
BIG = waves(40, 70)
EXPECTED = {
    "gray": GRAY[..., None],
    "rgba": RGBA,
    "gray_alpha": GRAY_ALPHA,
    "rgb16": RGB16,
    "big_endian16": RGB16,
    "gray16": GRAY16[..., None],
    "float32": noise(3, "float32"),
    "float16": noise(1, "float16").astype(np.float32),
    "float64": noise(1, "float64").astype(np.float32),
    "min_is_white": 255 - GRAY[..., None],
    "bits": BITS[..., None] * np.uint8(255),
    "bits_white": ~BITS[..., None] * np.uint8(255),
    "fax4": BITS[..., None] * np.uint8(255),
    "gray2": (GRAY >> 6)[..., None] * 85,
    "gray4": (GRAY >> 4)[..., None] * 17,
    "gray12": (GRAY16 >> 4 << 4)[..., None],
    "tiles": BIG,
    "strips": BIG,
    "five": noise(5),
    "palette": COLORS[GRAY],
    "int8": GRAY.view(np.int8)[..., None],
    "int16": RGB16.view(np.int16),
    "int32": WIDE.view(np.int32)[..., None],
    "uint32": WIDE[..., None],
    "uint32_tiles": WIDE[..., None],
    "uint32_white": ~WIDE[..., None],
} | {f"orientation{i}": upright(RGB, i) for i in range(2, 9)}
LOSSY = {"jpeg_tiles", "jpeg_420", "cmyk", "ycbcr"}


@pytest.mark.parametrize("name", sorted(set(tiff_files()) - LOSSY))
def test_pixels(name: str) -> None:
    expected = EXPECTED.get(name, RGB)
    if expected.dtype not in (np.uint8, np.uint16):
        np.testing.assert_array_equal(decode(tiff_files()[name], dtype=expected.dtype.name), expected)
        return
    if expected.dtype == np.uint16:
        np.testing.assert_array_equal(decode(tiff_files()[name], dtype="uint16"), expected)
        expected = to_uint8(expected)
    np.testing.assert_array_equal(decode(tiff_files()[name]), expected)


@pytest.mark.parametrize("name", ["jpeg_tiles", "jpeg_420"])
def test_jpeg_inside(name: str) -> None:
    data = tiff_files()[name]
    image = decode(data)
    assert np.abs(image.astype(int) - BIG).mean() < 6
    np.testing.assert_allclose(image, tifffile.imread(io.BytesIO(data)), atol=2)


def test_converted_colours() -> None:
    white = 255 - RGBA.astype(int)
    np.testing.assert_array_equal(decode(tiff_files()["cmyk"], "RGB"), white[..., :3] * white[..., 3:] // 255)
    ycbcr = np.asarray(Image.fromarray(RGB, "YCbCr").convert("RGB"))
    np.testing.assert_allclose(decode(tiff_files()["ycbcr"], "RGB"), ycbcr, atol=2)


def test_only_the_colours_of_many_channels() -> None:
    np.testing.assert_array_equal(decode(tiff_files()["five"], "RGB"), noise(5)[..., :3])


@pytest.mark.parametrize("dtype", ["int64", "uint64", "complex64"])
def test_other_numbers_are_refused(dtype: str) -> None:
    with pytest.raises(
        RuntimeError, match="expected unsigned integers of 1 to 32 bits, signed ones of 8, 16 or 32, or"
    ):
        decode(tiff(np.zeros((4, 5), dtype)))


def test_wide_and_signed_numbers_in_other_types() -> None:
    """The whole range becomes the whole range; what is negative becomes 0 in types without sign."""
    for name in ("int16", "int32", "uint32"):
        data, stored = tiff_files()[name], EXPECTED[name].astype(np.float64)
        part = stored / np.iinfo(EXPECTED[name].dtype).max
        np.testing.assert_allclose(decode(data, dtype="float32"), part, atol=1e-6)
        np.testing.assert_allclose(decode(data, dtype="uint8"), np.clip(part, 0, 1) * 255, atol=0.51)
        np.testing.assert_allclose(decode(data, dtype="int16"), part.clip(-1, 1) * 32767, atol=1.01)


def test_pages() -> None:
    for data in (tiff_files()["pages"], tiff_pages(RGB, GRAY16, GRAY, bigtiff=True)):
        assert avida.decoders.image_info(data).pages == 3
        for page, expected in enumerate((RGB, GRAY16[..., None], GRAY[..., None])):
            np.testing.assert_array_equal(decode(data, dtype=expected.dtype.name, page=page), expected)
        for page in (3, -1, 100_000):
            with pytest.raises(RuntimeError, match=f"TIFF: expected pages from 0 to 2, got {page}"):
                decode(data, page=page)
    files = avida.as_batch([as_input(tiff_files()["pages"]), as_input(tiff_files()["rgb"])])
    images = avida.decoders.image(files, page=avida.batch([2, 0]))
    np.testing.assert_array_equal(np.asarray(images.tensors[0]), GRAY[..., None].repeat(3, -1))
    with pytest.raises(RuntimeError, match="expected page 0 of a file with one page, got 1"):
        decode(pillow(RGB, "PNG"), page=1)


def test_a_directory_cut_off() -> None:
    data = tiff_files()["rgb"]
    with pytest.raises(RuntimeError, match="TIFF: "):
        decode(data[:20])
    with pytest.raises(RuntimeError, match="TIFF: "):
        decode(data[:-300])
