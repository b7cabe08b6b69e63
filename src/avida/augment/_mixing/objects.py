"""Objects of images that are covered in part, and rows of objects from several images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from avida import _core
from avida._scenes.masks import run_lengths
from avida._scenes.scene import Kept, Scene
from avida._values.batch import Batch, as_batch

Rows = dict[str, np.ndarray]
"""Fields of one image with a row for each of its objects."""

_DENSE = _core.op("scenes.dense_masks")


def of_batch(name: str, x: Any) -> Scene:
    """The Scene, if it is one of several images."""
    if not isinstance(x, Scene) or not isinstance(x.image, Batch):
        found = "a Scene of one image" if isinstance(x, Scene) else type(x).__name__
        raise TypeError(f"{name}: expected a Scene of a batch of images, got {found}")
    return x


def run_on(
    name: str,
    scene: Scene,
    kept: Kept,
    function: Callable[[Scene, np.ndarray], tuple[Any, Mapping[str, Any]]],
    drawn: Batch,
    constants: tuple[Any, ...],
    others: Sequence[str] = (),
    *,
    bends: bool = False,
) -> Scene:
    """The Scene with the image and the fields that ``function`` makes of it and of a row of numbers for each sample.

    It runs in the background. ``others`` are fields that it adds; ``bends`` tells that positions do not go by a matrix.
    """
    given = scene.fields
    names = [*given, *(each for each in others if each not in given)]

    def run(values: list[Any]) -> list[Any]:
        image, *fields, numbers = values
        samples = Scene.__new__(Scene)._set(image, dict(zip(given, fields, strict=True)), scene._kept)
        if not image.batch_size:
            return [image, *fields, *(as_batch([]) for _ in names[len(given) :])]
        rows = np.stack([np.asarray(row) for row in _core.read_only(numbers.cpu())])
        made, changed = function(samples, rows)
        return [made, *(changed.get(each, samples.fields.get(each)) for each in names)]

    key = (name, *constants, *given, str(scene._kept))
    made = _core.python_call(
        run, name, [scene.image, *given.values(), drawn], [], 1 + len(names), scene.batch_size, True, key
    )
    fields = {n: v if n in given and given[n]._gpu >= 0 else v.cpu() for n, v in zip(names, made[1:], strict=True)}
    result = Scene.__new__(Scene)._set(made[0], fields, kept, scene._steps)
    return result._bent(made[0], fields) if bends else result


def picked(scene: Scene, samples: list[int]) -> Scene:
    """Some samples of a Scene that is computed."""
    fields = {name: value._select(samples) for name, value in scene.fields.items()}
    return Scene.__new__(Scene)._set(scene.image._select(samples), fields, scene._kept)  # pyright: ignore


def rows_of(scene: Scene) -> list[Rows]:
    """The rows of each image."""
    names = scene._rows()
    columns = {name: [np.asarray(each) for each in _core.read_only(scene._field(name))] for name in names}
    return [{name: columns[name][i] for name in names} for i in range(scene.batch_size)]


def count_of(rows: Rows) -> int:
    return len(next(iter(rows.values()))) if rows else 0


def selected(rows: Rows, which: np.ndarray) -> Rows:
    return {name: values[which] for name, values in rows.items()}


def joined(name: str, images: Sequence[Sequence[Rows]]) -> dict[str, Batch]:
    """A Batch of each field: of each image, the rows of all that is given for it."""
    fields = images[0][0] if images else {}
    return {
        each: as_batch([_joined(name, each, [rows[each] for rows in parts]) for parts in images]) for each in fields
    }


def _joined(name: str, field: str, parts: list[np.ndarray]) -> np.ndarray:
    if field == "masks" and parts[0].dtype != np.uint8:  # corners of polygons, or run lengths, of which rows have many
        length = max(part.shape[1] for part in parts)
        filling = np.nan if parts[0].dtype == np.float32 else 0
        rest = [(0, 0)] * (parts[0].ndim - 2)
        parts = [np.pad(part, [(0, 0), (0, length - part.shape[1]), *rest], constant_values=filling) for part in parts]
    filled = [part for part in parts if len(part)] or parts[:1]
    shapes = {part.shape[1:] for part in filled}
    if len(shapes) > 1:
        raise ValueError(f'{name}: expected rows of one shape in "{field}" of all images, got {sorted(shapes)}')
    return np.concatenate(filled)


def with_pixels(scene: Scene) -> Scene:
    """The same with masks of objects, if there are any, that have a number for each pixel."""
    if scene._kept.masks in (None, "dense"):
        return scene
    fields = {**scene.fields, "masks": scene.masks_as("dense")}
    return Scene.__new__(Scene)._set(scene.image, fields, scene._kept._replace(masks="dense"))


def with_form(fields: dict[str, Any], kept: Kept) -> dict[str, Any]:
    """Fields with masks in the form of a Scene."""
    return {**fields, "masks": run_lengths(fields["masks"])} if kept.masks == "run_lengths" else fields


def without_polygons(kept: Kept) -> Kept:
    """Polygons that are covered in part are none any more: they become run lengths."""
    return kept._replace(masks="run_lengths") if kept.masks == "polygons" else kept


def covered(rows: Rows, cover: np.ndarray, min_visible: float) -> Rows:
    """What is left of objects where pixels of the image are covered.

    Those of which nothing is left, or less than ``min_visible``, go.
    """
    if not count_of(rows):
        return rows
    made, visible = dict(rows), np.ones(count_of(rows))
    free = ~cover
    for field, function in (("keypoints", _points), ("rotated", _rotated), ("boxes", _boxes), ("masks", _masks)):
        if field in rows:  # the last ones know best
            made[field], visible = function(rows[field], free)
    if "masks" in rows and "boxes" in rows:
        made["boxes"] = _boxes_of(made["masks"], visible < 1, rows["boxes"])
    return selected(made, (visible > 0) & (visible >= min_visible))


def _masks(masks: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    visible = np.ones(len(masks))
    hidden = _around(~free)
    if hidden is None:
        return masks, visible
    left, top, right, bottom = hidden.astype(int)
    cover, made = ~free[top:bottom, left:right], masks
    for i, mask in enumerate(masks):
        covered = (mask[top:bottom, left:right] != 0) & cover
        if lost := np.count_nonzero(covered):
            visible[i] = 1 - lost / np.count_nonzero(mask != 0)
            made = masks.copy() if made is masks else made
            made[i, top:bottom, left:right][covered] = 0
    return made, visible


def _boxes_of(masks: np.ndarray, changed: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Where something of a mask is covered, the box is around what is left."""
    boxes = boxes.copy()
    for box, mask, is_new in zip(boxes, masks, changed, strict=True):
        if is_new and (around := _around(mask)) is not None:
            box[:] = around
    return boxes


def _around(mask: np.ndarray) -> np.ndarray | None:
    mask = mask.view(np.uint8)
    rows, columns = (np.flatnonzero(np.maximum.reduce(mask, axis=axis, initial=0)) for axis in (1, 0))
    return np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1], np.float32) if len(rows) else None


def _boxes(boxes: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A box loses the rows and columns at its sides that are covered."""
    boxes, visible = boxes.copy(), np.zeros(len(boxes))
    height, width = free.shape
    for i, box in enumerate(boxes):
        left, top = (int(np.clip(np.floor(at), 0, end)) for at, end in zip(box[:2], (width, height), strict=True))
        right, bottom = (int(np.clip(np.ceil(at), 0, end)) for at, end in zip(box[2:], (width, height), strict=True))
        window = free[top:bottom, left:right]
        around = _around(window)
        if around is None:
            continue
        visible[i] = np.count_nonzero(window) / window.size
        around += np.array([left, top, left, top], np.float32)
        inner = np.array([left, top, right, bottom], np.float32)
        box[:] = np.where(around == inner, box, around)
    return boxes, visible


def _rotated(rotated: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """They stay as they are; drawn, they tell what is visible."""
    angles = np.radians(rotated[:, 4])
    right = np.stack([np.cos(angles), -np.sin(angles)], -1) * rotated[:, 2:3] / 2
    down = np.stack([np.sin(angles), np.cos(angles)], -1) * rotated[:, 3:4] / 2
    sides = np.stack([-right - down, right - down, right + down, down - right], axis=1)
    corners = (rotated[:, None, :2] + sides).astype(np.float32)
    drawn = np.asarray(_DENSE(np.ascontiguousarray(corners), np.array(free.shape, np.int32)))
    return rotated, _masks(drawn, free)[1]


def _points(points: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Those that are covered become invisible, if they tell what is visible."""
    height, width = free.shape
    x, y = np.floor(points[..., 0]), np.floor(points[..., 1])
    inside = (x >= 0) & (y >= 0) & (x < width) & (y < height)
    at = np.where(inside, y, 0).astype(int), np.where(inside, x, 0).astype(int)
    seen = ~inside | free[at]  # what lies outside is not covered
    known = points[..., 2] != 0 if points.shape[-1] > 2 else np.ones(seen.shape, bool)
    points = points.copy()
    if points.shape[-1] > 2:
        points[..., 2] *= seen
    return points, (known & seen).sum(axis=1) / np.maximum(known.sum(axis=1), 1)


def others(drawn: np.ndarray, samples: int, count: int) -> list[list[int]]:
    """For each sample ``count`` other ones, by its own numbers from 0 to 1; different ones, if there are enough."""
    chosen = []
    for i, row in enumerate(drawn):
        pool: list[int] = []
        picks = []
        for k in range(count):
            if not pool:
                pool = [j for j in range(samples) if j != i] or [i]
            picks.append(pool.pop(min(int(row[k] * len(pool)), len(pool) - 1)))
        chosen.append(picks)
    return chosen
