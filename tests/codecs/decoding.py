"""Decoding of one file in a test's terms."""

from typing import Any

import numpy as np

import avida


def as_input(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


def decode(data: bytes, output_type: str = "ANY_DATA", dtype: str = "uint8", **options: Any) -> np.ndarray:
    """The whole image."""
    chosen = {"output_type": avida.types.DALIImageType[output_type], "dtype": getattr(avida, dtype)}
    return np.asarray(avida.decoders.image(as_input(data), **chosen, **options))


def decode_part(
    data: bytes, part: tuple[int, int, int, int], output_type: str = "ANY_DATA", dtype: str = "uint8"
) -> np.ndarray:
    """The rectangle y, x, height, width."""
    chosen = {"output_type": avida.types.DALIImageType[output_type], "dtype": getattr(avida, dtype)}
    place = {"start": part[:2], "shape": part[2:], "axes": [0, 1]}
    return np.asarray(avida.decoders.image_slice(as_input(data), **place, **chosen))


def upright(image: np.ndarray, orientation: int) -> np.ndarray:
    """What EXIF's orientation means."""
    turned = image.swapaxes(0, 1) if orientation >= 5 else image
    if orientation in (3, 4, 7, 8):
        turned = turned[::-1]
    return turned[:, ::-1] if orientation in (2, 3, 6, 7) else turned


def to_uint8(image: np.ndarray) -> np.ndarray:
    """Rounded from the whole range of 16 bits."""
    return ((image.astype(np.uint32) + 128) // 257).astype(np.uint8)


def scaled(samples: np.ndarray, top: int, to: int) -> np.ndarray:
    """From 0..top to 0..to, rounded."""
    return ((samples.astype(np.uint32) * to * 2 + top) // (2 * top)).astype(np.uint8 if to == 255 else np.uint16)
