"""The fields of a Scene: what becomes one, and whether they fit each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from avida import _core
from avida._scenes.masks import described_rows, is_described
from avida._values.batch import Batch, as_batch
from avida._values.dtype import DType, float32, uint8, uint32
from avida._values.tensor import Tensor, as_tensor

if TYPE_CHECKING:
    from avida._scenes.scene import Scene

FIELDS = ("mask", "boxes", "rotated", "masks", "keypoints", "labels")
"""Those that a Scene knows; it may have others."""
PIXELS = ("mask",)
"""Fields with a value for each pixel of the image."""
_NO_OBJECTS = {
    "boxes": np.zeros((0, 4), np.float32),
    "rotated": np.zeros((0, 5), np.float32),
    "keypoints": np.zeros((0, 1, 3), np.float32),
    "labels": np.zeros(0, np.int32),
}
"""What [] stands for where no other image tells it."""
_FLOATS = ("boxes", "rotated", "keypoints")
_CAST, _RESHAPE, _CHECK, _EXTENTS = (_core.op(name) for name in ("cast", "reshape", "scenes.Scene", "scenes.extents"))


def annotation(name: str, given: Any, image: Batch | Tensor) -> Batch | Tensor:
    """A field of a Scene in the form that it has there."""
    value = given if isinstance(given, Batch | Tensor) else _made(name, given, image)
    if isinstance(value, Batch) != isinstance(image, Batch):
        kinds = ("a Batch", "a single sample")
        of_image, of_value = kinds if isinstance(image, Batch) else kinds[::-1]
        raise TypeError(f"Scene: the image is {of_image}, {name} is {of_value}")
    if isinstance(value, Batch) and isinstance(image, Batch):
        _check_count(name, value.batch_size, image)
    value = _with_layout(name, value)
    if name == "mask":
        return value
    wanted = float32 if name in _FLOATS else _type_of_masks(value) if name == "masks" else None
    if wanted is not None and value.dtype != wanted:
        value = _CAST(value, dtype=wanted)
    return value.cpu()


def _type_of_masks(value: Batch | Tensor) -> DType:
    """By which the forms of masks are told apart."""
    if value.ndim == 2:
        if value.dtype.kind not in (DType.Kind.signed, DType.Kind.unsigned):
            raise TypeError(
                "Scene: expected masks N x H x W, corners of polygons N x corners x 2, or integers as height, width "
                f"and run lengths of each object in masks, got two axes of {value.dtype}"
            )
        return uint32
    return float32 if value.dtype.kind == DType.Kind.float else uint8


def _with_layout(name: str, value: Batch | Tensor) -> Batch | Tensor:
    """Masks as functions return them, so that they fit beside masks of samples that no function has changed."""
    layout = {"mask": {2: "HW", 3: value.layout or "HWC"}, "masks": {3: "NHW"}}.get(name, {}).get(value.ndim)
    has_corners = name == "masks" and value.dtype.kind == DType.Kind.float
    if layout is None or value.layout == layout or has_corners:
        return value
    return _RESHAPE(value, src_dims=list(range(value.ndim)), layout=layout)


def _check_count(name: str, count: int, image: Batch) -> None:
    if count != image.batch_size:
        raise ValueError(f"Scene: expected {name} for each of {image.batch_size} images, got {count}")


def _made(name: str, given: Any, image: Batch | Tensor) -> Batch | Tensor:
    if not isinstance(image, Batch):
        return as_tensor(_samples(name, [given], [image])[0])
    if isinstance(given, np.ndarray) and given.dtype != object and (given.size or not len(given)):
        return as_batch(given)
    given = list(given)
    _check_count(name, len(given), image)
    return as_batch(_samples(name, given, [*image] if name == "masks" else [None] * len(given)))


def _samples(name: str, given: list[Any], images: Sequence[Tensor | None]) -> list[np.ndarray]:
    """An array for each image; [] does not tell what rows it lacks."""
    if name == "masks" and any(map(is_described, given)):
        return described_rows(given, lambda i: _extents_of(images[i]))
    samples = [_rows(name, sample) for sample in given]
    filled = next((sample for sample in samples if sample.size), None)
    return [
        sample if sample.shape != (0,) else _no_objects(name, sample, filled, hasattr(was, "dtype"), image)
        for sample, was, image in zip(samples, given, images, strict=True)
    ]


def _no_objects(
    name: str, sample: np.ndarray, filled: np.ndarray | None, typed: bool, image: Tensor | None
) -> np.ndarray:
    if name == "masks" and image is not None and (filled is None or filled.ndim == 3) and not _is_float(filled):
        return np.zeros((0, *_extents_of(image)), np.uint8 if filled is None else filled.dtype)
    if filled is not None:
        return np.zeros((0, *filled.shape[1:]), filled.dtype)
    return sample if name == "labels" and typed else _NO_OBJECTS.get(name, sample)


def _is_float(rows: np.ndarray | None) -> bool:
    return rows is not None and rows.dtype.kind == "f"


def _extents_of(image: Tensor | None) -> tuple[int, int]:
    height, width = np.asarray(_EXTENTS(outline_of(image)))  # pyright: ignore[reportArgumentType]
    return int(height), int(width)


def _rows(name: str, given: Any) -> np.ndarray:
    if isinstance(given, Tensor):
        given = given.cpu()
    try:
        rows = np.asarray(given)
    except ValueError:  # NumPy's, of lists of different lengths
        rows = np.empty(0, object)
    if rows.dtype == object:
        raise TypeError(
            f"Scene: expected as many numbers for each object in {name}, got lists of different lengths; images "
            "that are no Batch are one sample, see avida.as_batch"
        )
    if name in _FLOATS:
        return rows.astype(np.float32)
    if rows.dtype.itemsize == 8 and rows.dtype.kind in "if" and not hasattr(given, "dtype"):
        return rows.astype(np.int32 if rows.dtype.kind == "i" else np.float32)  # as tensor() does with Python's numbers
    return rows


def outline_of(image: Batch | Tensor) -> Any:
    """What operators get that look at the shape of the image alone: it may be on a GPU, they run on the CPU."""
    return image if image._gpu < 0 else _core.outline(image)


def checked(scene: Scene) -> dict[str, Any]:
    """The fields of the scene, which fail if they do not fit the image and each other."""
    fields = scene.fields
    if not fields:
        return {}
    rows = scene._rows()
    names = [*rows, *(name for name in fields if name not in rows)]
    values = _CHECK(
        outline_of(scene._image),
        *(fields[name] if fields[name]._gpu < 0 else _core.outline(fields[name]) for name in names),
        names=" ".join(names),
        per_image=len(names) - len(rows),
    )
    values = values if isinstance(values, tuple) else (values,)
    passed = dict(zip(names, values, strict=True))
    return {name: passed[name] if fields[name]._gpu < 0 else fields[name] for name in fields}
