"""Presets for detection, on Scenes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from avida import _core, _ops
from avida._scenes.scene import Scene
from avida._values.batch import Batch, as_batch
from avida._values.typing import KeyedBy
from avida.augment import _ops as augment_ops
from avida.augment._arguments import between, either
from avida.augment._checks import integer
from avida.augment._combinators import maybe, one_of
from avida.augment._mixing.mosaic import mosaic as join_four
from avida.augment.presets._common import coin, decoded, to_input
from avida.random._ops import coin_flip, uniform
from avida.random._rng import RNG

_SELECT = _core.op("_select_rows")
_SSD_MEAN, _SSD_STD = (0.48235, 0.45882, 0.40784), (1 / 255, 1 / 255, 1 / 255)
_DETR_SIZES, _DETR_MOST = range(480, 801, 32), 1333
_YOLO_GRAY = 114


def ssd(scene: Scene, size: int = 300, *, rng: RNG | None = None, keyed_by: KeyedBy | None = None) -> Scene:
    """SSD: other colours, zoomed out, cropped around objects, mirrored.

    After Liu et al., 2016. It follows torchvision's ``references/detection/presets.py`` and the resizing of its
    ``ssd300_vgg16``.

    Args:
        scene: A batch of images of bytes (HWC, RGB), or of image files, with boxes.
        size: Height and width of the result.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that a reader has read: each gets the same in any batch. See `avida.random`.

    Returns:
        A Scene of float32, 3 x size x size, without objects whose centres were cut off.

    Example:
        >>> scene = avida.Scene(batch, boxes=[[[0, 0, 2, 3]], [[1, 1, 4, 3]]], labels=[[1], [2]])
        >>> avida.augment.presets.ssd(scene, size=30).image.shape
        [(3, 30, 30), (3, 30, 30)]
    """
    size = integer("ssd", "size", size, low=1)
    draws: dict[str, Any] = {"rng": rng, "keyed_by": keyed_by}
    x = _distorted(_with_boxes("ssd", scene), draws)
    places = {name: between(0, 1) for name in ("paste_x", "paste_y")}
    x = maybe(x, _ops.paste, p=0.5, ratio=between(1, 4), fill_value=[123, 117, 104], **places, **draws)
    x = _cropped_around(x, draws)
    x = _ops.resize(x, size=[size, size])
    return to_input(x, mirror=coin(0.5, **draws), mean=_SSD_MEAN, std=_SSD_STD)


def detr(scene: Scene, *, train: bool = True, rng: RNG | None = None, keyed_by: KeyedBy | None = None) -> Scene:
    """DETR: mirrored, of random size, some of them cropped before.

    After Carion et al., 2020. It follows ``make_coco_transforms`` of the paper's code.
    ``scene.torch(boxes="cxcywh", relative=True)`` gives the boxes that its losses take.

    Args:
        scene: A batch of images of bytes (HWC, RGB), or of image files, with boxes.
        train: Whether to draw; else images are only resized, to 800 pixels along the shorter side.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that a reader has read: each gets the same in any batch. See `avida.random`.

    Returns:
        A Scene of float32, channels first, of at most 1333 pixels along the longer side.

    Example:
        >>> scene = avida.Scene(batch, boxes=[[[0, 0, 2, 3]], [[1, 1, 4, 3]]], labels=[[1], [2]])
        >>> avida.augment.presets.detr(scene, train=False).image.shape
        [(3, 800, 1200), (3, 800, 1333)]
    """
    x = _with_boxes("detr", scene)
    if not train:
        return to_input(_resized(x, [800]))
    draws: dict[str, Any] = {"rng": rng, "keyed_by": keyed_by}
    x = _ops.flip(x, horizontal=coin(0.5, **draws), vertical=0)
    x = one_of(x, [functools.partial(_resized, sizes=_DETR_SIZES), _cropped_and_resized], **draws)
    return to_input(x.clean())


def _with_boxes(name: str, scene: Any) -> Scene:
    if not isinstance(scene, Scene) or not isinstance(scene.image, Batch) or "boxes" not in scene._fields:
        raise TypeError(f"{name}: expected a Scene of a batch of images, with boxes; got {type(scene).__name__}")
    return decoded(scene)


def _distorted(x: Scene, draws: dict[str, Any]) -> Scene:
    """Other colours, each by a coin: the contrast first or last, and channels in another order."""

    def factor(low: float, high: float, neutral: float) -> Any:
        like: Any = x.image
        on = coin_flip(like=like, probability=0.5, **draws)
        return uniform(like=like, range=[low - neutral, high - neutral], **draws) * on + neutral

    x = augment_ops.adjust_colors(
        x,
        brightness=factor(0.875, 1.125, 1),
        contrast=factor(0.5, 1.5, 1),
        saturation=factor(0.5, 1.5, 1),
        hue=factor(-0.05, 0.05, 0),
        order=either([0, 1, 2, 3], [0, 2, 3, 1], **draws),
    )
    return maybe(x, augment_ops.channel_shuffle, p=0.5, **draws)


def _cropped_around(x: Scene, draws: dict[str, Any]) -> Scene:
    """A window in which a box has at least a drawn overlap with it, with the objects whose centres are in it."""
    anchor, shape, *_ = _ops.random_bbox_crop(
        x.clean().boxes_as("xyxy", relative=True),
        scaling=[0.3, 1.0],
        aspect_ratio=[0.5, 2.0],
        thresholds=[0.0, 0.1, 0.3, 0.5, 0.7, 0.9],
        all_boxes_above_threshold=False,
        num_attempts=40,
        total_num_attempts=400,
        input_shape=_ops.cast(x._extents(), dtype="int32"),
        shape_layout="HW",
        **draws,
    )
    x = _ops.slice(x, anchor, shape, axis_names="WH")
    fields = x.fields
    kept = _core.python_call(_centred, "ssd", [fields["boxes"], x._extents()], [], 1, x.batch_size, True, ("centred",))[
        0
    ]
    fields |= {name: _SELECT(fields[name], kept) for name in x._rows()}
    return x._having(x._image, fields).clean()


def _centred(values: list[Any]) -> list[Any]:
    """Whether the centre of each box is inside of its image."""
    kept = []
    for boxes, extents in zip(*map(_core.read_only, values), strict=True):
        centres = (np.asarray(boxes)[:, :2] + np.asarray(boxes)[:, 2:]) / 2
        kept.append(np.all((centres > 0) & (centres < np.asarray(extents)[1::-1]), axis=1))
    return [as_batch(kept)]


def _resized(x: Scene, sizes: Any) -> Scene:
    return _ops.resize(x, resize_shorter=either(*sizes), max_size=_DETR_MOST, size_rounding="detr")


def _cropped_and_resized(x: Scene) -> Scene:
    x = _ops.resize(x, resize_shorter=either(400, 500, 600), size_rounding="detr")
    like: Any = x.image
    share = uniform(like=like, range=[0.0, 1.0], shape=[2])
    size = _core.python_call(
        _window_sizes, "detr", [x._extents(), share], [], 1, x.batch_size, True, ("window_sizes",)
    )[0]
    x = _ops.crop(x, crop=size, crop_pos_x=between(0, 1), crop_pos_y=between(0, 1))
    return _resized(x, _DETR_SIZES)


def _window_sizes(values: list[Any]) -> list[Any]:
    """Height and width from 384 to 600, as far as images are so large."""
    sizes = []
    for extents, share in zip(*map(_core.read_only, values), strict=True):
        most = np.minimum(600, np.asarray(extents)[:2])
        least = np.minimum(384, most)
        sizes.append(np.minimum(least + np.floor(np.asarray(share) * (most - least + 1)), most).astype(np.float32))
    return [as_batch(sizes)]


def yolo(
    scene: Scene, size: int = 640, *, mosaic: bool = True, rng: RNG | None = None, keyed_by: KeyedBy | None = None
) -> Scene:
    """YOLO: four images in one, scaled and moved, with other colours, mirrored.

    It follows the defaults of Ultralytics' YOLOv8.

    Args:
        scene: A batch of images of bytes (HWC, RGB), or of image files, with boxes. Masks and keypoints follow.
        size: Height and width of the result.
        mosaic: Whether to join images; the last epochs do without.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that a reader has read: each gets the same in any batch. See `avida.random`.

    Returns:
        A Scene of float32 from 0 to 1, 3 x size x size, without objects of which less than a tenth, or than two pixels,
        can be seen.

    Example:
        >>> scene = avida.Scene(batch, boxes=[[[0, 0, 2, 3]], [[1, 1, 4, 3]]], labels=[[1], [2]])
        >>> avida.augment.presets.yolo(scene, size=32).image.shape
        [(3, 32, 32), (3, 32, 32)]
    """
    size = integer("yolo", "size", size, low=2)
    x = _with_boxes("yolo", scene)
    draws: dict[str, Any] = {"rng": rng, "keyed_by": keyed_by}
    if mosaic:
        x = join_four(x, output_size=2 * size, image_size=size, fill_value=_YOLO_GRAY, **draws)
    else:
        x = _ops.letterbox(x, size=[size, size], fill_value=_YOLO_GRAY)
    moved = between([-0.1 * size] * 2, [0.1 * size] * 2, **draws)
    x = augment_ops.affine(
        x, scale=between(0.5, 1.5, **draws), translate=moved, size=size, fill_value=_YOLO_GRAY, interp_type="linear"
    )
    colors: dict[str, Any] = {"hue": between(-5.4, 5.4, **draws), "saturation": between(0.3, 1.7, **draws)}
    x = _ops.hsv(x, value=between(0.6, 1.4, **draws), **colors)
    x = _ops.flip(x, horizontal=coin(0.5, **draws), vertical=0)
    return to_input(x.clean(min_visible=0.1, min_size=2), mean=(0, 0, 0), std=(1, 1, 1))
