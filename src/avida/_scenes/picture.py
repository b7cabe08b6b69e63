"""Pictures of Scenes: images with their masks, boxes, points and names, and sheets of them for notebooks."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from avida import _core
from avida._scenes.drawing import Field, area, color_of, dot, name_tag, outline, paint
from avida._values.batch import Batch
from avida._values.picture import contact_sheet, numbers, pixels, png
from avida._values.tensor import Tensor, as_tensor

if TYPE_CHECKING:
    from avida._scenes.scene import Scene

_SAMPLES, _ACROSS = 8, 4
_CELL, _ALONE = 256, 512
_MOST_OBJECTS, _MOST_TAGS = 300, 60
_RESIZE = _core.op("resize")


class Names(dict[int, str]):
    """The names of classes by their labels."""

    def __init__(self, given: Mapping[int, str] | Iterable[str]) -> None:
        pairs = given.items() if isinstance(given, Mapping) else enumerate(given)
        super().__init__((int(label), str(name)) for label, name in pairs)

    def __repr__(self) -> str:
        return f"Names({len(self)})"


def drawn(scene: Scene, size: int | None = None) -> Batch | Tensor:
    """The images with all that is known of them; with ``size`` none is larger."""
    made = [as_tensor(picture, layout="HWC") for picture in _pictures(scene, None, size)]
    return Batch(made) if isinstance(scene.image, Batch) else made[0]


def sheet(scene: Scene) -> np.ndarray:
    """The first samples side by side."""
    if not isinstance(scene.image, Batch):
        return next(iter(_pictures(scene, None, _ALONE)))
    made = list(_pictures(scene, _SAMPLES, _CELL))
    return contact_sheet([[each] for each in made], min(_ACROSS, len(made)))


def scene_png(scene: Scene) -> bytes | None:
    """A sheet as a file, or None where there is nothing to be seen, so that a notebook shows the text."""
    try:
        if isinstance(scene.image, Batch) and scene.image.batch_size == 0:
            return None
        return png(sheet(scene))
    except _NoPictureError:
        return None


def scene_html(scene: Scene) -> str | None:
    """The sheet with a line of text."""
    picture = scene_png(scene)
    if picture is None:
        return None
    source = base64.b64encode(picture).decode()
    count = scene.image.batch_size if isinstance(scene.image, Batch) else 1
    more = f", the first {_SAMPLES} are shown" if count > _SAMPLES else ""
    return (
        f'<figure style="margin:4px"><img src="data:image/png;base64,{source}" style="max-width:100%" '
        f'alt="{html.escape(repr(scene))}"><figcaption style="font:11px monospace">{html.escape(repr(scene))}{more}'
        "</figcaption></figure>"
    )


class _NoPictureError(ValueError):
    """The image of a Scene has a layout that is no picture."""


def _pictures(scene: Scene, most: int | None, size: int | None) -> Iterable[np.ndarray]:
    """Each sample; no larger than `size`, and small ones larger than they are."""
    fields = scene.fields
    if "masks" in fields:
        fields["masks"] = scene.masks_as("dense")
    if not isinstance(scene.image, Batch):
        yield _picture(scene, scene.image, fields, size)
        return
    columns = {name: list(value)[:most] for name, value in fields.items()}
    for i, image in enumerate(list(scene.image)[:most]):
        yield _picture(scene, image, {name: column[i] for name, column in columns.items()}, size)


def _picture(scene: Scene, image: Any, fields: Mapping[str, Any], size: int | None) -> np.ndarray:
    image = image.cpu()
    if (image.layout or "").startswith("F"):
        image = image[0]  # of a video
    base = pixels(image)
    if base is None:
        raise _NoPictureError(f"expected images to draw on, such as HWC of 1, 3 or 4 channels, got {image!r:.200}")
    base = np.repeat(base, 3, axis=2) if base.shape[2] == 1 else base[:, :, :3]
    height, width = base.shape[:2]
    base, scale = _scaled(base, size)
    picture = np.array(base)
    known = {name: numbers(value) for name, value in fields.items() if name in _DRAWN}
    # The pixel of the image that is seen at each of the picture.
    rows = np.minimum((np.arange(picture.shape[0]) + 0.5) / scale[1], height - 1).astype(int)
    columns = np.minimum((np.arange(picture.shape[1]) + 0.5) / scale[0], width - 1).astype(int)
    if "mask" in known:
        _draw_label_map(picture, known["mask"].reshape(height, width)[rows[:, None], columns], scene.ignore)
    _draw_objects(picture, known, scale, (rows, columns), scene._kept.names or {})
    return picture


_DRAWN = ("mask", "boxes", "rotated", "masks", "keypoints", "labels")


def _scaled(base: np.ndarray, size: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The picture in its size, and by how much it is larger than the image."""
    longest = max(base.shape[:2])
    if size is None or longest == size:
        return base, np.ones(2)
    if longest * 2 <= size:
        times = size // longest
        return base.repeat(times, axis=0).repeat(times, axis=1), np.full(2, float(times))
    extents = [max(1, round(each * size / longest)) for each in base.shape[:2]]
    if longest < size:
        return base, np.ones(2)
    small = numbers(_RESIZE(as_tensor(base, layout="HWC"), size=extents))
    return small, np.array([small.shape[1] / base.shape[1], small.shape[0] / base.shape[0]])


def _draw_label_map(picture: np.ndarray, labels: np.ndarray, ignore: int | None) -> None:
    for label in np.unique(labels)[:_MOST_OBJECTS].tolist():
        inside = labels == label
        if label == ignore:
            stripes = (np.add.outer(np.arange(labels.shape[0]), np.arange(labels.shape[1])) // 3) % 2
            paint(picture, inside * np.where(stripes, 0.75, 0.35).astype(np.float32), (235, 235, 235))
        elif label != 0:
            area(picture, inside, color_of(int(label)))


def _draw_objects(
    picture: np.ndarray,
    known: Mapping[str, np.ndarray],
    scale: np.ndarray,
    seen: tuple[np.ndarray, np.ndarray],
    names: Mapping[int, str],
) -> None:
    rows = [len(known[name]) for name in ("boxes", "rotated", "masks", "keypoints", "labels") if name in known]
    count = min(rows[0], _MOST_OBJECTS) if rows else 0
    labels = [int(np.ravel(label)[0]) if np.size(label) else 0 for label in known.get("labels", ())]
    colors = [color_of(label) for label in labels] or [color_of(i) for i in range(count)]
    places: list[np.ndarray | None] = [None] * count
    for i in range(count) if "masks" in known else ():
        inside = known["masks"][i][seen[0][:, None], seen[1]] != 0
        area(picture, inside, colors[i])
        y, x = np.nonzero(inside)
        places[i] = np.array([x.min(), y.min(), x.max() + 1, y.max() + 1]) if len(x) else None
    for i in range(count) if "boxes" in known else ():
        left, top, right, bottom = known["boxes"][i].astype(np.float64)
        corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]]) * scale
        outline(picture, corners, colors[i])
        places[i] = corners[[0, 2]].ravel()
    for i in range(count) if "rotated" in known else ():
        corners = _corners(known["rotated"][i].astype(np.float64)) * scale
        outline(picture, corners, colors[i])
        places[i] = np.array([*corners.min(axis=0), *corners.max(axis=0)]) if places[i] is None else places[i]
    for i in range(count) if "keypoints" in known else ():
        _draw_points(picture, known["keypoints"][i].astype(np.float64), scale, i if count > 1 else None, colors[i])
    taken: list[Field] = []
    for i in range(min(len(labels), count, _MOST_TAGS)):
        place = places[i]
        if place is not None and np.isfinite(place).all() and (np.abs(place) < 1e6).all():
            name_tag(picture, names.get(labels[i], str(labels[i])), place, colors[i], taken)


def _draw_points(picture: np.ndarray, points: np.ndarray, scale: np.ndarray, number: int | None, color: Any) -> None:
    """Those of an object in its colour; of a single object each in its own."""
    radius = 2.0 if max(picture.shape[:2]) <= _CELL else 3.0
    for i, point in enumerate(points):
        if len(point) < 3 or point[2] > 0:
            shade = color_of(i) if number is None else color
            dot(picture, point[:2] * scale, shade, radius, filled=len(point) < 3 or point[2] != 1)


def _corners(box: np.ndarray) -> np.ndarray:
    x, y, width, height, degrees = box
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    right, down = np.array([c, -s]) * width / 2, np.array([s, c]) * height / 2
    middle = np.array([x, y])
    return np.array([middle - right - down, middle + right - down, middle + right + down, middle - right + down])
