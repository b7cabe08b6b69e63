"""PNG: pixels of every variant, filters, gamma, orientation, checksums, streams that are not as they should be."""

import struct
import zlib

import imagecodecs
import numpy as np
import pytest

from .decoding import decode, to_uint8, upright
from .files import (
    GRAY,
    GRAY16,
    GRAY_ALPHA,
    HEIGHT,
    INDICES,
    PALETTE,
    RGB,
    RGB16,
    RGBA,
    RGBA16,
    WIDTH,
    filtered_png,
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
    "filters": imagecodecs.png_decode(png_files()["filters"]),
    "filters_alpha": imagecodecs.png_decode(png_files()["filters_alpha"]),
    "filters_gray": imagecodecs.png_decode(png_files()["filters_gray"])[..., None],
    "filters16": imagecodecs.png_decode(png_files()["filters16"]),
    "interlaced": RGB,
    "interlaced_gray": GRAY[..., None],
    "rotated": upright(RGB, 6),
    "animated": RGB,
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


@pytest.mark.parametrize("depth", [8, 16])
@pytest.mark.parametrize("color_type", [0, 2, 4, 6])
def test_filters(depth: int, color_type: int) -> None:
    for height in range(1, 10):
        for width in (1, 2, 3, 4, 5, 17):
            for filters in (range(5), [4], [2, 4]):
                data = filtered_png(height, width, depth, color_type, filters, piece=100)
                expected = imagecodecs.png_decode(data).reshape(height, width, -1)
                np.testing.assert_array_equal(decode(data, dtype=f"uint{depth}"), expected)


@pytest.mark.parametrize("output_type", ["RGB", "BGR"])
@pytest.mark.parametrize("name", ["filters", "filters_alpha", "filters_gray", "palette4"])
def test_colors(name: str, output_type: str) -> None:
    expected = EXPECTED[name][..., :3] if EXPECTED[name].shape[2] > 2 else EXPECTED[name].repeat(3, -1)
    np.testing.assert_array_equal(
        decode(png_files()[name], output_type), expected[..., :: -1 if output_type == "BGR" else 1]
    )


def with_stream(stream: bytes, rows: int = HEIGHT) -> bytes:
    """The gray picture with other compressed bytes."""
    data = pillow(GRAY.repeat(rows // HEIGHT, axis=0), "PNG")
    return data[: data.index(b"IDAT") - 4] + png_chunk(b"IDAT", stream) + png_chunk(b"IEND", b"")


ROWS = b"".join(b"\0" + row.tobytes() for row in GRAY)


def test_more_than_the_pixels_is_ignored() -> None:
    for stream in (zlib.compress(ROWS + bytes(50)), zlib.compress(ROWS) + bytes(9)):
        np.testing.assert_array_equal(decode(with_stream(stream)), GRAY[..., None])


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (zlib.compress(ROWS[:-1]), "Not enough image data"),
        (zlib.compress(ROWS)[:-20], "Not enough image data"),
        (zlib.compress(b"\5" + ROWS[1:]), "bad adaptive filter value"),
        (b"\0" + zlib.compress(ROWS), "incorrect header check"),
        (b"", "Not enough image data"),
    ],
    ids=["short", "cut", "filter", "header", "none"],
)
def test_broken_streams_are_errors(stream: bytes, message: str) -> None:
    with pytest.raises(RuntimeError, match=f"PNG: .*{message}"):
        decode(with_stream(stream))


def test_distances_beyond_the_declared_window() -> None:
    stream = bytearray(zlib.compress(ROWS * 2, wbits=15))
    stream[0] = 0x08  # a window of 256 bytes; the second half repeats what is farther away
    stream[1] = 31 - 0x0800 % 31
    with pytest.raises(RuntimeError, match="invalid distance too far back"):
        decode(with_stream(bytes(stream), 2 * HEIGHT))


def test_chunks_between_the_pixels() -> None:
    """Text among chunks of pixels is against the standard, an empty chunk is not."""
    data = filtered_png(HEIGHT, WIDTH, 8, 2, piece=300)
    second = data.index(b"IDAT", data.index(b"IDAT") + 4) - 4
    for chunk in (png_chunk(b"tEXt", b"a\0b"), png_chunk(b"IDAT", b"")):
        between = data[:second] + chunk + data[second:]
        try:
            expected = imagecodecs.png_decode(between)
        except Exception:
            with pytest.raises(RuntimeError, match="PNG: "):
                decode(between)
        else:
            np.testing.assert_array_equal(decode(between), expected)
