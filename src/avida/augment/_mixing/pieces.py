"""Parts of several images in one: the four of a mosaic, and rectangles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from avida import _core, _ops
from avida._values.batch import Batch, as_batch
from avida._values.tensor import as_tensor

_CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])  # H, W: which side of the centre each image is on


class Piece:
    """One of the four parts of every mosaic: which image, what of it, and where."""

    def __init__(
        self, images: Batch, corner: int, sources: list[int], centre: np.ndarray, size: np.ndarray, longer: np.ndarray
    ) -> None:
        side = _CORNERS[corner]
        self.sources = sources
        self.extents = np.array([images.shape[i][:2] for i in self.sources], np.float64)
        if self.extents.min() < 1:
            empty = self.sources[int(self.extents.min(axis=1).argmin())]
            raise ValueError(f"mosaic: expected images with pixels, sample {empty} has the shape {images.shape[empty]}")
        self.scale = longer[:, None] / self.extents.max(axis=1, keepdims=True)
        resized = np.maximum(np.round(self.extents * self.scale), 1)
        self.factors = resized / self.extents
        self.anchor = centre - resized * (1 - side)  # of the whole image, perhaps outside
        self.start = np.clip(self.anchor, 0, size)
        self.end = np.clip(self.anchor + resized, 0, size)

    @property
    def region(self) -> tuple[np.ndarray, np.ndarray]:
        """The part of the image that is seen, in its own pixels."""
        return (self.start - self.anchor) / self.factors, (self.end - self.anchor) / self.factors

    @property
    def window(self) -> dict[str, Any]:
        """The arguments of `resize` that show it, also where nothing is seen."""
        start, end = self.region
        return {
            "roi_start": _rows(start),
            "roi_end": _rows(np.maximum(end, start + 1e-3)),
            "size": _rows(np.maximum(self.end - self.start, 1)),
        }


def layout_of_mosaic(images: Batch) -> str:
    """The layout of images, if mosaics can be made of them."""
    layout = images.layout or "HWC"
    if layout not in ("HWC", "CHW") or images.ndim != 3:
        raise ValueError(f"mosaic: expected images (HWC or CHW), got {images.layout or f'{images.ndim} axes'}")
    return layout


def channels_last(images: Batch, layout: str) -> Batch:
    """Images of a layout as HWC."""
    return images if layout == "HWC" else _ops.transpose(images, perm=[1, 2, 0], output_layout="HWC")


def channels_as(layout: str, images: Batch) -> Batch:
    """Images HWC in a layout."""
    return images if layout == "HWC" else _ops.transpose(images, perm=[2, 0, 1], output_layout="CHW")


def with_sizes(drawn: Batch, image_size: int | Batch) -> tuple[Batch, int | None]:
    """What mosaics have drawn, with the sizes of their images behind it; or the one size of all."""
    if not isinstance(image_size, Batch):
        return drawn, image_size
    sizes = _ops.reshape(_ops.cast(image_size.cpu(), dtype=drawn.dtype), shape=[1])
    return _ops.cat(drawn, sizes), None


def sizes_of(rows: np.ndarray, column: int, size: int | None) -> np.ndarray:
    """The sizes of the images of each mosaic."""
    if size is not None:
        return np.full(len(rows), size)
    for i, found in enumerate(rows[:, column]):
        if not (found >= 1 and math.isfinite(found)):
            raise ValueError(f"mosaic: expected image_size of at least 1, got {found:g} for sample {i}")
    return rows[:, column].astype(np.float64)


def painted(parts: list[Batch], pieces: list[Piece], size: np.ndarray, fill_value: float) -> Batch:
    """Canvases with the parts of images in their places."""
    layers, places, shapes = [], [], []
    dtype, count = parts[0].dtype, parts[0].batch_size
    covered = sum(np.prod(piece.end - piece.start, axis=1) for piece in pieces)
    if np.any(covered < size.prod()):
        canvas = np.broadcast_to(np.float32(fill_value), (*size.tolist(), parts[0].shape[0][2]))
        canvas = _ops.cast(as_tensor(np.ascontiguousarray(canvas), layout="HWC"), dtype=dtype)
        layers.append(Batch.broadcast(canvas, count))
        places.append(np.zeros_like(pieces[0].start))
        shapes.append(np.broadcast_to(size, pieces[0].start.shape))
    for part, piece in zip(parts, pieces, strict=True):
        layers.append(part)
        places.append(piece.start)
        shapes.append(piece.end - piece.start)
    anchors, regions = (as_batch(np.stack(each, axis=1).astype(np.int32)) for each in (places, shapes))
    return _ops.multi_paste(*layers, output_size=size.tolist(), out_anchors=anchors, shapes=regions, dtype=dtype)


def _rows(numbers: np.ndarray) -> Batch:
    return as_batch(numbers.astype(np.float32))


def pasted(images: Batch, others: Batch, layout: str, start: np.ndarray, end: np.ndarray) -> Batch:
    """The images, with the rectangle from ``start`` to before ``end`` taken from others.

    What is before H and W counts as frames and what is behind them as channels, wherever the channels are.
    """
    if images.batch_size == 0:
        return _core.relabel(images, layout)
    shape, height = images.shape[0], layout.index("H")
    size = shape[height : height + 2]
    frames, channels = math.prod(shape[:height]), math.prod(shape[height + 2 :])
    below, above = (_ops.reshape(each, shape=[frames, *size, channels], layout="FHWC") for each in (images, others))
    places = as_batch(np.stack([np.zeros_like(start), start], axis=1))
    sizes = as_batch(np.stack([np.broadcast_to([size], start.shape), end - start], axis=1).astype(np.int32))
    made = _ops.multi_paste(below, above, in_anchors=places, out_anchors=places, shapes=sizes, dtype=images.dtype)
    return _ops.reshape(made, shape=list(shape), layout=layout)


def one_size(name: str, images: Batch) -> tuple[int, ...]:
    shapes = images.shape
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ValueError(
                f"{name}: expected images of one size, got {shapes[0]} for sample 0 and {shape} for sample {i}; "
                "resize or crop them first"
            )
    return shapes[0]
