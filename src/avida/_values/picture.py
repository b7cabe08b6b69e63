"""Tensors as pictures: pixels that can be looked at, contact sheets, PNG files."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from avida import _core
from avida._values.dtype import float32, uint8

_PAPER = 235  # photos have white edges more often than grey ones
_MISSING = 200
_SHOWN = ("HW", "HWC", "CHW", "FHW", "FHWC", "FCHW", "ft", "tf")
_FRAMES, _FRAME_EXTENT = 8, 120  # of a video


def numbers(tensor: Any) -> np.ndarray:
    """The tensor as an array, in a type that NumPy knows."""
    if tensor.dtype.name == "bfloat16":
        tensor = _core.op("cast")(tensor, dtype=float32)
    return tensor._elements()


def pixels(tensor: Any) -> np.ndarray | None:
    """HWC uint8 with 1, 3 or 4 channels when the layout says that the tensor is an image, else None.

    Some frames of a video stand side by side, and a spectrogram has its low frequencies at the bottom. Numbers that are
    not pixel values (of normalized images, say) are stretched from black to white.
    """
    layout = tensor.layout or ""
    if not layout and tensor.ndim == 3 and tensor.dtype == uint8 and tensor.shape[2] in (1, 3, 4):
        layout = "HWC"  # it looks like an image
    if layout not in _SHOWN or 0 in tensor.shape:
        return None
    if layout in ("ft", "tf"):
        return _spectrogram(numbers(tensor), layout)
    is_video = layout[0] == "F"
    if _channels(tensor.shape, layout) not in (1, 3, 4):
        return None
    array = numbers(tensor)
    if is_video:
        count = min(len(array), _FRAMES)
        array = array[np.linspace(0, len(array) - 1, count).round().astype(int)]
    if "C" not in layout:
        array = array[..., None]
    elif layout.endswith("CHW"):
        array = np.moveaxis(array, -3, -1)
    array = _as_bytes(array)
    return _side_by_side(array) if is_video else array


def _channels(shape: tuple[int, ...], layout: str) -> int:
    return shape[layout.index("C")] if "C" in layout else 1


def _as_bytes(array: np.ndarray) -> np.ndarray:
    if array.dtype == np.bool_:
        return array.astype(np.uint8) * np.uint8(255)
    if array.dtype == np.uint8:
        return array
    values = array.astype(np.float32)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if not (low >= 0 and high <= 255 and array.dtype.kind in "iu"):
        values = (np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) * (255 / ((high - low) or 1))
    return np.clip(values, 0, 255).astype(np.uint8)


def _side_by_side(frames: np.ndarray) -> np.ndarray:
    """FHWC as a contact sheet, with fewer pixels where the frames are large."""
    step = max(1, -(-max(frames.shape[1:3]) // _FRAME_EXTENT))
    small = frames[:, ::step, ::step]
    return contact_sheet([[frame] for frame in small], min(len(small), 4), max(small.shape[1:3]), gap=2)


def _spectrogram(array: np.ndarray, layout: str) -> np.ndarray:
    """Energies in decibels, of which the loudest 80 are shown; what has negative numbers is not energies any more."""
    values = (array if layout == "ft" else array.T).astype(np.float64)[::-1, :, None]
    values = np.nan_to_num(values, posinf=0, neginf=0)
    high = float(values.max())
    if float(values.min()) >= 0 and high > 0:
        values = np.log10(np.maximum(values, high * 1e-8))
    return _as_bytes(values)


def png(image: np.ndarray) -> bytes:
    """HWC uint8 with 1, 3 or 4 channels as a PNG file."""
    height, width, channels = image.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each row begins with the number of its filter
    rows[:, 1:] = image.reshape(height, -1)
    if height > 1:
        rows[1:, 0] = 2  # the difference to the row above: photos get a third smaller
        rows[1:, 1:] -= image.reshape(height, -1)[:-1]

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 4)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def contact_sheet(
    strips: Sequence[Sequence[np.ndarray | None]], across: int, cell: int = 160, gap: int = 6
) -> np.ndarray:
    """One picture of many: strips of images, all of one length, `across` of them side by side in each row.

    Images of at most `cell` pixels each way stand in the middle of fields that are as large as the largest. A missing
    one is a grey field.
    """
    length = len(strips[0])
    shapes = [image.shape for strip in strips for image in strip if image is not None]
    high, wide = (max((shape[axis] for shape in shapes), default=cell) for axis in (0, 1))
    down = -(-len(strips) // across)
    between = 4 * gap if length > 1 else gap  # between strips that stand side by side
    width = across * (length * (wide + gap) - gap) + (across - 1) * between + 2 * gap
    sheet = np.full((down * (high + gap) + gap, width, 3), _PAPER, np.uint8)
    for i, strip in enumerate(strips):
        y = gap + i // across * (high + gap)
        x = gap + i % across * (length * (wide + gap) - gap + between)
        for j, image in enumerate(strip):
            left = x + j * (wide + gap)
            if image is None:
                sheet[y : y + high, left : left + wide] = _MISSING
                continue
            height, extent = image.shape[:2]
            top, inset = y + (high - height) // 2, left + (wide - extent) // 2
            sheet[top : top + height, inset : inset + extent] = image[:, :, :3]
    return sheet
