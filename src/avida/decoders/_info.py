"""image_info: what image files say of themselves."""

from __future__ import annotations

import dataclasses
from typing import overload

import numpy as np

from avida import _core
from avida._values.batch import Batch
from avida._values.tensor import Tensor
from avida._values.typing import SupportsArray, SupportsBuffer


@dataclasses.dataclass(frozen=True, kw_only=True)
class ImageInfo:
    """What an image file says of itself, without its pixels.

    Attributes:
        format: The name of the format, as `avida info` lists it.
        height: The number of rows once decoded, with the orientation applied.
        width: The number of columns once decoded.
        channels: The number of channels with ``output_type=ANY_DATA``.
        bits: The bits of a channel as stored; of an index, where there is a palette.
        frames: The number of pictures that `decoders.image` gives with ``frames=True``: 1 but for animations.
        pages: The number of pages, of which `decoders.image` decodes the one that ``page`` names: 1 but for TIFF.
        orientation: The orientation in EXIF's numbers, 1 to 8; 1 is upright.
        color_profile: What the embedded colour profile (ICC) calls itself; "" without one.

    """

    format: str
    height: int
    width: int
    channels: int
    bits: int
    frames: int
    pages: int
    orientation: int
    color_profile: str


@overload
def image_info(files: Batch, /) -> list[ImageInfo]: ...  # pyright: ignore[reportOverlappingOverload] # Batches are arrays, too
@overload
def image_info(files: Tensor | SupportsArray | SupportsBuffer, /) -> ImageInfo: ...


def image_info(files: Batch | Tensor | SupportsArray | SupportsBuffer, /) -> ImageInfo | list[ImageInfo]:
    """Returns what image files say of themselves, without decoding them.

    It waits for the bytes.

    `peek_image_shape` returns shapes alone, as a Batch, and does not wait.

    Args:
        files: The bytes of an image file, or a Batch of files.

    Raises:
        RuntimeError: A file is in no known format, or its header is damaged.

    Example:
        >>> info = avida.decoders.image_info(b"P5 2 1 255 ab")
        >>> info.format, info.height, info.width, info.channels, info.bits
        ('PNM', 1, 2, 1, 8)

    """
    if isinstance(files, Batch):
        return [_info(file, f"sample {i}: ") for i, file in enumerate(files.tensors)]
    return _info(files, "")


def _info(file: Tensor | SupportsArray | SupportsBuffer, place: str) -> ImageInfo:
    encoded = np.frombuffer(file, np.uint8) if isinstance(file, (bytes, bytearray, memoryview)) else np.asarray(file)
    if encoded.dtype != np.uint8 or encoded.ndim != 1:
        raise TypeError(
            f"decoders.image_info: {place}expected the bytes of an image file (uint8, one axis), got "
            f"{encoded.dtype} with {encoded.ndim} axes"
        )
    try:
        values = _core.image_info(np.ascontiguousarray(encoded))
    except RuntimeError as error:
        raise RuntimeError(f"decoders.image_info: {place}{error}") from None
    name, height, width, channels, bits, frames, pages, orientation, profile = values
    return ImageInfo(
        format=name,
        height=height,
        width=width,
        channels=channels,
        bits=bits,
        frames=frames,
        pages=pages,
        orientation=orientation,
        color_profile=profile,
    )
