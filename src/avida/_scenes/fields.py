"""The fields of a Scene: what becomes one, and whether they fit each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from avida import _core
from avida._values.batch import Batch, as_batch
from avida._values.dtype import DType, float32, uint8
from avida._values.tensor import Tensor, as_tensor

if TYPE_CHECKING:
    from avida._scenes.scene import Scene

PIXELS = ("mask",)
"""Fields with a value for each pixel of the image."""
ROWS = {"boxes": (4,), "rotated": (5,)}
"""Fields of float32 rows, with what follows the number of objects in their shapes."""
_FLOATS = ("boxes", "rotated", "keypoints")
_CAST, _CHECK = _core.op("cast"), _core.op("scenes.Scene")


def annotation(name: str, given: Any, image: Batch | Tensor) -> Batch | Tensor:
    """A field of a Scene in the form that it has there."""
    value = given if isinstance(given, Batch | Tensor) else _made(name, given, isinstance(image, Batch))
    if isinstance(value, Batch) != isinstance(image, Batch):
        kinds = ("a Batch", "a single sample")
        of_image, of_value = kinds if isinstance(image, Batch) else kinds[::-1]
        raise TypeError(f"Scene: the image is {of_image}, {name} is {of_value}")
    if isinstance(value, Batch) and isinstance(image, Batch) and value.batch_size != image.batch_size:
        raise ValueError(f"Scene: expected {name} for each of {image.batch_size} images, got {value.batch_size}")
    if name == "mask":
        return value
    wanted = float32 if name in _FLOATS else uint8 if name == "masks" else None
    if wanted is not None and value.dtype != wanted:
        _check_kind(name, value.dtype)
        value = _CAST(value, dtype=wanted)
    return value.cpu()


def _check_kind(name: str, dtype: DType) -> None:
    if name == "masks" and dtype.kind == DType.Kind.float:
        raise TypeError(
            f"Scene: expected masks N x H x W of 0 and 1, got {dtype}; polygons and run lengths have to be drawn first"
        )


def _made(name: str, given: Any, for_batch: bool) -> Batch | Tensor:
    if not for_batch:
        return as_tensor(_rows(name, given))
    if isinstance(given, np.ndarray) and given.dtype != object:
        return as_batch(given)
    samples = [_rows(name, sample) for sample in given]
    filled = next((sample for sample in samples if sample.size), None)
    if filled is not None:  # [] does not tell what rows it lacks
        samples = [s if s.ndim == filled.ndim else np.zeros((0, *filled.shape[1:]), filled.dtype) for s in samples]
    return as_batch(samples)


def _rows(name: str, given: Any) -> np.ndarray:
    if isinstance(given, Tensor):
        given = given.cpu()
    rows = np.asarray(given)
    if rows.dtype == object:
        raise TypeError(f"Scene: expected numbers for each object in {name}, got lists of different lengths")
    if name in _FLOATS:
        rows = rows.astype(np.float32)
    elif rows.dtype.kind == "i" and rows.dtype.itemsize == 8 and not hasattr(given, "dtype"):
        rows = rows.astype(np.int32)  # as tensor() does with Python's integers
    return rows.reshape(0, *ROWS[name]) if rows.size == 0 and name in ROWS else rows


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
