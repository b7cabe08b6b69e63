"""Mosaic: four images in one, with their boxes."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from avida import _core, _ops
from avida._scenes.random_arguments import Random, draw_arguments
from avida._scenes.scene import Scene
from avida._values.batch import Batch, as_batch
from avida._values.typing import FixedInterpType, KeyedBy
from avida.augment._checks import integer, interpolation, number, shown
from avida.augment._draw import draw
from avida.augment._mixing.pieces import (
    Piece,
    channels_as,
    channels_last,
    layout_of_mosaic,
    painted,
    sizes_of,
    with_sizes,
)
from avida.augment._mixing.scene_mosaic import mosaic_of_scenes
from avida.random._ops import uniform
from avida.random._rng import RNG
from avida.types import INTERP_LINEAR


@overload
def mosaic(
    images: Scene,
    boxes: None = None,
    labels: None = None,
    *,
    output_size: int | Sequence[int],
    image_size: int | Batch | Random | None = None,
    center_range: tuple[float, float] = (0.25, 0.75),
    ltrb: bool = False,
    ratio: bool = False,
    min_visible: float = 0.0,
    fill_value: float = 114,
    interp_type: FixedInterpType = INTERP_LINEAR,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Scene: ...
@overload
def mosaic(
    images: Batch,
    boxes: None = None,
    labels: None = None,
    *,
    output_size: int | Sequence[int],
    image_size: int | Batch | Random | None = None,
    center_range: tuple[float, float] = (0.25, 0.75),
    ltrb: bool = False,
    ratio: bool = False,
    min_visible: float = 0.0,
    fill_value: float = 114,
    interp_type: FixedInterpType = INTERP_LINEAR,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Batch: ...
@overload
def mosaic(
    images: Batch,
    boxes: Batch,
    labels: None = None,
    *,
    output_size: int | Sequence[int],
    image_size: int | Batch | Random | None = None,
    center_range: tuple[float, float] = (0.25, 0.75),
    ltrb: bool = False,
    ratio: bool = False,
    min_visible: float = 0.0,
    fill_value: float = 114,
    interp_type: FixedInterpType = INTERP_LINEAR,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def mosaic(
    images: Batch,
    boxes: Batch,
    labels: Batch,
    *,
    output_size: int | Sequence[int],
    image_size: int | Batch | Random | None = None,
    center_range: tuple[float, float] = (0.25, 0.75),
    ltrb: bool = False,
    ratio: bool = False,
    min_visible: float = 0.0,
    fill_value: float = 114,
    interp_type: FixedInterpType = INTERP_LINEAR,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> tuple[Batch, Batch, Batch]: ...
def mosaic(
    images: Batch | Scene,
    boxes: Batch | None = None,
    labels: Batch | None = None,
    *,
    output_size: int | Sequence[int],
    image_size: int | Batch | Random | None = None,
    center_range: tuple[float, float] = (0.25, 0.75),
    ltrb: bool = False,
    ratio: bool = False,
    min_visible: float = 0.0,
    fill_value: float = 114,
    interp_type: FixedInterpType = INTERP_LINEAR,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Any:
    """Mosaic, as in YOLO: joins four images around a random centre.

    Their boxes and labels follow.

    Sample ``i`` comes to the upper left, the three samples after it (the first ones after the last) to the upper right,
    lower left and lower right. All are resized with their aspect ratio kept, and touch the centre with a corner; what
    lies beyond the output is cut off.

    Of a Scene, sample ``i`` draws the other three from the batch, and all annotations follow. Objects are clipped at
    the borders of their image's part, and go if less than ``min_visible`` of them is left, as with `Scene.clean`.

    Args:
        images: Images (HWC or CHW), which may differ in size, or a Scene of such.
        boxes: For each image rows of four numbers: x, y, width, height in pixels, unless ``ltrb`` and ``ratio`` say
            otherwise. The same holds for the result.
        labels: For each image as many labels as it has boxes; they may be left out.
        output_size: Height and width of the results, or one number for both.
        image_size: The longer side of each resized image, one for the four of a mosaic; by default the longer one of
            ``output_size``. For the uncut canvas of YOLO, half of ``output_size``. To scale at random, give
            ``between(320, 960)``, or a Batch of numbers: that is one step less than a warp of the mosaic.
        center_range: Where the centre may be, as shares of height and width.
        ltrb: Boxes are left, top, right, bottom.
        ratio: Boxes are shares of width and height.
        min_visible: The share of a box's area that must be left of it; other boxes are dropped, as are those of which
            nothing is left.
        fill_value: The colour where no image is.
        interp_type: How images are resized.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same centre in any batch. See `avida.random`.

    Returns:
        The images; with ``boxes`` a tuple of images and boxes, and of labels if they are given. A Scene of a Scene.

    Example:
        >>> boxes = avida.as_batch([np.float32([[1, 1, 3, 2]]), np.float32([[0, 0, 4, 3]])])
        >>> images, boxes, labels = avida.mosaic(batch, boxes, avida.as_batch([[5], [6]]), output_size=64)
        >>> images.shape
        [(64, 64, 3), (64, 64, 3)]
    """
    if not isinstance(images, Batch | Scene):
        raise TypeError(
            f"mosaic: expected a Batch of images or a Scene, got {type(images).__name__}; see avida.as_batch"
        )
    extents = _pair("output_size", [output_size] * 2 if isinstance(output_size, numbers.Number) else output_size)
    size = np.array([integer("mosaic", "output_size", each, low=1) for each in extents])
    low, high = (number("mosaic", "center_range", each, low=0, high=1) for each in _pair("center_range", center_range))
    if low > high:
        raise ValueError(f"mosaic: expected low <= high as center_range, got {low:g}, {high:g}")
    longer = _image_size(images, image_size, int(size.max()), rng, keyed_by)
    min_visible = number("mosaic", "min_visible", min_visible, low=0, high=1)
    fill_value = number("mosaic", "fill_value", fill_value)
    interp_type = interpolation("mosaic", interp_type)
    if isinstance(images, Scene):
        if boxes is not None or labels is not None or ltrb or ratio:
            raise TypeError("mosaic: a Scene has its boxes and labels; expected it alone")
        return mosaic_of_scenes(
            images, size, longer, (low, high), min_visible, fill_value, interp_type, rng=rng, keyed_by=keyed_by
        )
    n = images.batch_size
    given = _annotations(n, boxes, labels)
    centres = draw("mosaic", uniform, images, rng, keyed_by, range=[0.0, 1.0], shape=[2])
    centres, longer = with_sizes(centres, longer)

    def run(values: list[Any]) -> list[Any]:
        samples, drawn = values[:2]
        annotations = values[2:]
        layout = layout_of_mosaic(samples)
        if samples.batch_size == 0:
            return [_ops.resize(samples, size=size.tolist()), *annotations]
        samples = channels_last(samples, layout)
        rows = np.stack([np.asarray(row) for row in _core.read_only(drawn.cpu())])
        centre, sizes = rows[:, :2] * (high - low) + low, sizes_of(rows, 2, longer)
        pieces = [
            Piece(samples, corner, [(i + corner) % n for i in range(n)], np.round(centre * size), size, sizes)
            for corner in range(4)
        ]
        parts = [
            _ops.resize(samples._select(piece.sources), **piece.window, interp_type=interp_type, antialias=True)
            for piece in pieces
        ]
        made = channels_as(layout, painted(parts, pieces, size, fill_value))
        if not annotations:
            return [made]
        return [made, *_moved(pieces, size, annotations, ltrb, ratio, min_visible)]

    key = ("mosaic", *size.tolist(), longer, low, high, ltrb, ratio, min_visible, fill_value, interp_type)
    made = _core.python_call(run, "mosaic", [images, centres, *given], [], 1 + len(given), n, True, key)
    return tuple(made) if given else made[0]


def _image_size(
    images: Batch | Scene, given: Any, usual: int, rng: RNG | None, keyed_by: KeyedBy | None
) -> int | Batch:
    """One number for all, or one for each sample."""
    first: Any = images.image if isinstance(images, Scene) else images
    if isinstance(given, Random):
        arguments = {"image_size": given, "rng": rng, "keyed_by": keyed_by}
        given = draw_arguments("mosaic", first, arguments, [])["image_size"]
    if not isinstance(given, Batch):
        return integer("mosaic", "image_size", usual if given is None else given, low=1)
    if given.batch_size != first.batch_size:
        raise ValueError(f"mosaic: expected {first.batch_size} numbers as image_size, got {given.batch_size}")
    return given


def _pair(argument: str, values: Any) -> Sequence[Any]:
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str) or len(values) != 2:
        found = f"{len(values)} numbers" if isinstance(values, tuple | list) else shown(values)
        raise ValueError(f"mosaic: expected two numbers as {argument}, got {found}")
    return list(values)


def _annotations(images: int, boxes: Batch | None, labels: Batch | None) -> list[Batch]:
    """Those that are given: none, boxes, or boxes and labels."""
    if boxes is None and labels is not None:
        raise ValueError("mosaic: expected boxes and labels, or boxes alone; boxes are missing")
    given = {"boxes": boxes, "labels": labels}
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(value, Batch):
            raise TypeError(f"mosaic: expected a Batch of {name}, got {shown(value)}; see avida.as_batch")
        if value.batch_size != images:
            raise ValueError(f"mosaic: expected {name} for each of {images} images, got {value.batch_size}")
    return [value for value in given.values() if value is not None]


def _moved(
    pieces: list[Piece], size: np.ndarray, annotations: list[Batch], ltrb: bool, ratio: bool, min_visible: float
) -> list[Batch]:
    """Boxes and labels of the mosaics, or boxes if there are no labels."""
    box_rows = [np.asarray(sample, np.float64) for sample in _core.read_only(annotations[0].cpu())]
    # boxes count as labels where there are none
    label_rows = [np.asarray(sample) for sample in _core.read_only(annotations[-1].cpu())]
    for i, (four, label) in enumerate(zip(box_rows, label_rows, strict=True)):
        if four.ndim != 2 or (four.size and four.shape[1] != 4) or len(label) != len(four):
            labels = f" and labels of the shape {label.shape}" if len(annotations) > 1 else ""
            raise ValueError(
                f"mosaic: expected rows of four numbers as boxes, and a label for each if there are any; "
                f"sample {i} has boxes of the shape {four.shape}{labels}"
            )
    every, counts = np.concatenate([rows.reshape(-1, 4) for rows in box_rows]), np.array([*map(len, box_rows)])
    starts = np.cumsum(counts) - counts
    wholes, seen, taken = [], [], []
    for piece in pieces:
        # Which mosaic each row comes to, and which row it is.
        given = counts[piece.sources]
        to = np.repeat(np.arange(len(given)), given)
        rows = np.arange(len(to)) + np.repeat(starts[piece.sources] - (np.cumsum(given) - given), given)
        corners = every[rows]
        if not ltrb:
            corners[:, 2:] += corners[:, :2]
        if ratio:
            corners *= np.tile(piece.extents[to, ::-1], 2)
        wholes.append(corners * np.tile(piece.factors[to, ::-1], 2) + np.tile(piece.anchor[to, ::-1], 2))
        seen.append(np.clip(wholes[-1], np.tile(piece.start[to, ::-1], 2), np.tile(piece.end[to, ::-1], 2)))
        taken.append(np.stack([to, rows], axis=1))
    corners, taken = np.concatenate(seen), np.concatenate(taken)
    area = _area(corners)
    kept = np.flatnonzero((area > 0) & (area >= min_visible * _area(np.concatenate(wholes))))
    kept = kept[np.argsort(taken[kept, 0], kind="stable")]
    corners = corners[kept] * (1 / np.tile(size[::-1], 2) if ratio else 1)
    if not ltrb:
        corners[:, 2:] -= corners[:, :2]
    made = [corners.astype(np.float32), np.concatenate(label_rows)[taken[kept, 1]]][: len(annotations)]
    ends = np.cumsum(np.bincount(taken[kept, 0], minlength=len(counts)))[:-1]
    return [as_batch(np.split(each, ends)) for each in made]


def _area(corners: np.ndarray) -> np.ndarray:
    return np.prod(np.maximum(corners[:, 2:] - corners[:, :2], 0), axis=1)
