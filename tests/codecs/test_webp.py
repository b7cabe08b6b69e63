"""WebP: lossless, lossy and animated files, parts of images, errors."""

import io

import numpy as np
import pytest
from PIL import Image

from .decoding import decode, decode_part, upright
from .files import GRAY, RGB, RGBA, pillow, waves, webp_files


@pytest.mark.parametrize(
    ("name", "expected"), [("lossless", RGB), ("lossless_alpha", RGBA), ("rotated", upright(RGB, 6))]
)
def test_lossless(name: str, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(decode(webp_files()[name]), expected)


@pytest.mark.parametrize("name", ["lossy", "lossy_alpha"])
def test_lossy_equals_pillow(name: str) -> None:
    data = webp_files()[name]
    np.testing.assert_array_equal(decode(data), np.asarray(Image.open(io.BytesIO(data))))
    np.testing.assert_array_equal(decode(data, "RGB"), np.asarray(Image.open(io.BytesIO(data)))[..., :3])


def test_first_frame() -> None:
    np.testing.assert_array_equal(decode(webp_files()["animated"], "RGB"), RGB)


def test_a_frame_smaller_than_its_canvas() -> None:
    frame = pillow(RGBA, "WEBP", lossless=True, exact=True)[12:]
    height, width = RGBA.shape[:2]

    def three(number: int) -> bytes:
        return number.to_bytes(3, "little")

    def chunk(kind: bytes, content: bytes) -> bytes:
        return kind + len(content).to_bytes(4, "little") + content + b"\0" * (len(content) % 2)

    canvas = chunk(b"VP8X", b"\x12\0\0\0" + three(39) + three(29))
    place = three(6 // 2) + three(4 // 2) + three(width - 1) + three(height - 1) + three(100) + b"\0"
    body = b"WEBP" + canvas + chunk(b"ANIM", bytes(6)) + chunk(b"ANMF", place + frame)
    data = b"RIFF" + len(body).to_bytes(4, "little") + body
    expected = np.zeros((30, 40, 4), np.uint8)
    expected[4 : 4 + height, 6 : 6 + width] = RGBA
    np.testing.assert_array_equal(decode(data), expected)
    for part in [(0, 0, 3, 3), (2, 3, 9, 11), (10, 20, 20, 20), (5, 7, 3, 3)]:
        y, x, h, w = part
        np.testing.assert_array_equal(decode_part(data, part), expected[y : y + h, x : x + w])


@pytest.mark.parametrize("quality", [1, 30, 95])
@pytest.mark.parametrize("method", [0, 6])
def test_parts_of_lossy_images(quality: int, method: int) -> None:
    picture = waves(75, 90) // 2 + np.random.default_rng(3).integers(0, 90, (75, 90, 3), np.uint8)
    data = pillow(picture, "WEBP", quality=quality, method=method)
    whole = decode(data)
    parts = [(1, 1, 5, 7), (33, 17, 31, 40), (16, 16, 16, 16), (70, 83, 5, 7), (0, 89, 75, 1), (31, 0, 2, 90)]
    for y, x, height, width in parts:
        part = decode_part(data, (y, x, height, width))
        np.testing.assert_array_equal(part, whole[y : y + height, x : x + width])


def test_errors() -> None:
    data = bytearray(webp_files()["lossless"])
    data[30:60] = bytes(30)
    with pytest.raises(RuntimeError, match="WebP: "):
        decode(bytes(data))
    with pytest.raises(RuntimeError, match="WebP: "):
        decode(pillow(np.dstack([waves(), GRAY]), "WEBP")[:100])
