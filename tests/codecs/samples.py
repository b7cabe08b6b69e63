"""JPEG files and others of any size, made by Pillow and imagecodecs."""

import io
import struct
from typing import Any

import numpy as np
import pytest
from PIL import Image

PILLOW_SUBSAMPLINGS = {"444": "4:4:4", "422": "4:2:2", "420": "4:2:0"}
SUBSAMPLINGS = [*PILLOW_SUBSAMPLINGS, "440", "411"]


def picture(height: int, width: int, channels: int = 3, seed: int = 0) -> np.ndarray:
    """Smooth areas, edges and noise: whatever a codec may treat in its own way."""
    rng = np.random.default_rng([seed, height, width])
    y, x = np.mgrid[:height, :width]
    planes = [
        128
        + 100 * np.sin(x / (7 + 3 * c) + y / (11 - c))
        + 40 * ((x // 13 + y // 9 + c) % 2)
        + rng.normal(0, 6, y.shape)
        for c in range(channels)
    ]
    return np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8)


def as_bytes(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


def jpeg(
    image: np.ndarray, subsampling: str = "420", quality: int = 90, progressive: bool = False, restart: int = 0
) -> np.ndarray:
    """A JPEG file of an RGB or gray (HW) image; `restart` counts blocks between markers."""
    if subsampling in PILLOW_SUBSAMPLINGS:
        chosen = {"subsampling": PILLOW_SUBSAMPLINGS[subsampling], "restart_marker_blocks": restart}
        return encoded(image, "JPEG", quality=quality, progressive=progressive, **chosen)
    imagecodecs = pytest.importorskip("imagecodecs")  # which machines with a GPU need not have
    return as_bytes(imagecodecs.jpeg8_encode(image, quality, subsampling=subsampling))


def encoded(image: np.ndarray, format: str, mode: str | None = None, **options: Any) -> np.ndarray:
    """A file by Pillow; `mode` converts first, as to "CMYK"."""
    file = io.BytesIO()
    made = Image.fromarray(image)
    (made.convert(mode) if mode else made).save(file, format, **options)
    return as_bytes(file.getvalue())


def exif(orientation: int) -> bytes:
    """An APP1 segment with nothing but an orientation."""
    tiff = b"MM\0*\0\0\0\x08" + struct.pack(">HHHIHHI", 1, 0x112, 3, 1, orientation, 0, 0)
    body = b"Exif\0\0" + tiff
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def with_exif(file: np.ndarray, orientation: int) -> np.ndarray:
    return as_bytes(bytes(file[:2]) + exif(orientation) + bytes(file[2:]))


def turned(image: np.ndarray, orientation: int) -> np.ndarray:
    """The upright image that a stored one stands for."""
    turns = {
        1: lambda a: a,
        2: lambda a: a[:, ::-1],
        3: lambda a: a[::-1, ::-1],
        4: lambda a: a[::-1],
        5: lambda a: a.swapaxes(0, 1),
        6: lambda a: a[::-1].swapaxes(0, 1),
        7: lambda a: a[::-1, ::-1].swapaxes(0, 1),
        8: lambda a: a[:, ::-1].swapaxes(0, 1),
    }
    return turns[orientation](image)


def scan_start(file: np.ndarray) -> int:
    """Where the first scan's data begins, some bytes in."""
    return bytes(file).index(b"\xff\xda") + 20
