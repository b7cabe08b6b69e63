"""Masks of objects: as numbers for each pixel, polygons, or run lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from avida import _core
from avida._values.dtype import float32, uint32
from avida._values.tensor import Tensor

MasksForm = Literal["dense", "polygons", "run_lengths"]
Extents = Callable[[int], tuple[int, int]]
"""Height and width of an image."""

_DENSE, _RUNS = _core.op("scenes.dense_masks"), _core.op("scenes.run_masks")


def form_of(masks: Any) -> MasksForm:
    """What the numbers of masks are, as a Scene holds them."""
    dtype = masks.dtype
    return "polygons" if dtype == float32 else "run_lengths" if dtype == uint32 and masks.ndim == 2 else "dense"


def dense(masks: Any, extents: Any) -> Any:
    """A number for each pixel."""
    return masks if form_of(masks) == "dense" else _DENSE(masks, extents)


def run_lengths(masks: Any) -> Any:
    """Height, width and run lengths of masks with a number for each pixel."""
    return _RUNS(masks)


def is_described(sample: Any) -> bool:
    """Whether masks are given as COCO has them: polygons or run lengths of each object."""
    if isinstance(sample, np.ndarray | Tensor) or not isinstance(sample, Sequence):
        return False
    return any(isinstance(each, Mapping) or (isinstance(each, list | tuple) and _is_polygons(each)) for each in sample)


def described_rows(samples: Sequence[Sequence[Any]], extents: Extents) -> list[np.ndarray]:
    """Masks of images as COCO has them: all polygons, or all run lengths where there are any."""
    objects = [[_object(each, i) for each in sample] for i, sample in enumerate(samples)]
    polygons = [[each for each in sample if isinstance(each, list)] for sample in objects]
    if list(map(len, polygons)) == list(map(len, objects)):
        return [_padded([_joined(each) for each in sample]) for sample in polygons]
    return [_runs(sample, extents, i) for i, sample in enumerate(objects)]


def _is_polygons(given: Sequence[Any]) -> bool:
    """Corners of a polygon, or several of them: [x, y, x, y, ...], or arrays of x and y."""
    return all(
        isinstance(part, int | float | list | tuple) or (isinstance(part, np.ndarray) and part.shape[-1:] == (2,))
        for part in given
    )


def _object(given: Any, sample: int) -> list[np.ndarray] | np.ndarray:
    """Polygons as rows of x and y; or height, width and run lengths."""
    if isinstance(given, Mapping):
        return _of_coco(given, sample)
    parts = [given] if len(given) and isinstance(given[0], int | float) else given
    polygons = [np.asarray(part, np.float32) for part in parts]
    for each in polygons:
        if each.size % 2 or (each.ndim == 2 and each.shape[1] != 2) or each.ndim > 2 or not np.isfinite(each).all():
            raise ValueError(
                f'Scene: sample {sample}: expected x and y of each corner of a polygon in "masks", got an array of the '
                f"shape {each.shape}"
            )
    return [each.reshape(-1, 2) for each in polygons]


def _of_coco(given: Mapping[str, Any], sample: int) -> np.ndarray:
    try:
        height, width = (int(extent) for extent in given["size"])
        counts = given["counts"]
    except (KeyError, TypeError, ValueError):
        raise ValueError(
            f'Scene: sample {sample}: expected "size" (height and width) and "counts" of run lengths in "masks", got '
            f"{given!r:.80}"
        ) from None
    counts = _decompressed(counts, sample) if isinstance(counts, str | bytes) else np.asarray(counts, np.int64)
    if counts.ndim != 1 or (counts < 0).any() or counts.sum() != height * width:
        raise ValueError(
            f'Scene: sample {sample}: expected run lengths of {height} x {width} pixels in "masks", got '
            f"{counts.sum()} pixels"
        )
    return np.concatenate([[height, width], counts]).astype(np.uint32)


def _decompressed(text: str | bytes, sample: int) -> np.ndarray:
    """Run lengths from COCO's string: five bits in a character, the lowest first, and whether more follow."""
    codes = np.frombuffer(text.encode() if isinstance(text, str) else text, np.uint8).astype(np.int64) - 48
    ends = np.flatnonzero(codes & 32 == 0)
    starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)
    if (len(codes) and ((codes < 0) | (codes > 63)).any()) or (
        len(codes) and (not len(ends) or ends[-1] + 1 < len(codes))
    ):
        raise ValueError(f'Scene: sample {sample}: the string of run lengths in "masks" is damaged')
    sizes = ends - starts + 1
    if (sizes > 7).any():
        raise ValueError(f'Scene: sample {sample}: the string of run lengths in "masks" is damaged')
    places = np.arange(len(codes)) - np.repeat(starts, sizes)
    numbers = np.add.reduceat((codes & 31) << (5 * places), starts) if len(starts) else np.zeros(0, np.int64)
    numbers -= np.where(codes[ends] & 16, np.int64(1) << (5 * sizes), 0)
    for first in (1, 2):  # from the fourth number on, they are differences to the one two before
        numbers[first::2] = np.cumsum(numbers[first::2])
    return numbers


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    """The corners of all parts of an object, with NaN between them."""
    gap = np.full((1, 2), np.nan, np.float32)
    pieces = [piece for part in parts for piece in (gap, part)][1:]
    return np.concatenate(pieces) if pieces else np.zeros((0, 2), np.float32)


def _padded(objects: list[np.ndarray]) -> np.ndarray:
    made = np.full((len(objects), max([1, *map(len, objects)]), 2), np.nan, np.float32)
    for row, corners in zip(made, objects, strict=True):
        row[: len(corners)] = corners
    return made


def _runs(objects: list[list[np.ndarray] | np.ndarray], extents: Extents, sample: int) -> np.ndarray:
    rows = []
    for each in objects:
        if isinstance(each, list):
            drawn = _DENSE(_padded([_joined(each)]), np.array(extents(sample), np.int32))
            each = np.asarray(_RUNS(drawn))[0]
        rows.append(each)
    made = np.zeros((len(rows), max([2, *map(len, rows)])), np.uint32)
    for row, counts in zip(made, rows, strict=True):
        row[: len(counts)] = counts
    return made


def coco_dictionaries(masks: np.ndarray) -> list[dict[str, Any]]:
    """Run lengths of an image's objects as COCO's tools take them."""
    return [
        {"size": [int(row[0]), int(row[1])], "counts": _compressed(_without_padding(row).tolist())} for row in masks
    ]


def _without_padding(row: np.ndarray) -> np.ndarray:
    counts = row[2:]
    filled = np.flatnonzero(counts)
    return counts[: filled[-1] + 1 if len(filled) else 1]


def _compressed(counts: list[int]) -> bytes:
    text = bytearray()
    for i, count in enumerate(counts):
        number = count - counts[i - 2] if i > 2 else count
        more = True
        while more:
            bits = number & 31
            number >>= 5
            more = number != (-1 if bits & 16 else 0)
            text.append(bits + 48 + (32 if more else 0))
    return bytes(text)
