"""Mixing the samples of a batch: MixUp and CutMix."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from avida import _core, _ops
from avida._scenes.scene import Scene
from avida._values.batch import Batch, as_batch
from avida._values.tensor import Tensor
from avida._values.typing import KeyedBy, TensorLike
from avida.augment._checks import integer, number
from avida.augment._draw import draw
from avida.augment._mixing.pieces import one_size, pasted
from avida.augment._mixing.scene_mix import cutmix_of_scenes, mixup_of_scenes
from avida.random._ops import beta, uniform
from avida.random._rng import RNG


@overload
def mixup(
    images: Scene,
    labels: None = None,
    *,
    alpha: float = 0.2,
    num_classes: None = None,
    per_sample: bool = True,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Scene: ...
@overload
def mixup(
    images: Batch,
    labels: TensorLike,
    *,
    alpha: float = 0.2,
    num_classes: int | None = None,
    per_sample: bool = False,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> tuple[Batch, Batch]: ...
def mixup(
    images: Batch | Scene,
    labels: TensorLike | None = None,
    *,
    alpha: float = 0.2,
    num_classes: int | None = None,
    per_sample: bool = False,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Any:
    """MixUp: blends each sample and its label with those of its neighbour.

    Sample ``i`` is mixed with sample ``i - 1``, the first one with the last: give shuffled batches.

    Of a Scene, each sample draws the one that it is mixed with, and has the objects of both, with their image's share
    in the field ``shares``. Label maps cannot be blended: that of the larger share stays.

    Args:
        images: Samples of one shape, of any element type, which the result keeps; or a Scene of such.
        labels: A class for each sample, or a list of numbers that tells how much it belongs to each class. Scenes have
            their own.
        alpha: The sample's own share is drawn from a beta distribution of this parameter for both sides. Small numbers
            mix little; 1 draws all shares equally often.
        num_classes: How many classes there are; needed where ``labels`` are classes.
        per_sample: Draw a share for every sample, rather than one for the batch. Scenes always do.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same share in any batch. Needs ``per_sample``.

    Returns:
        The images, and a float32 number for each class and sample. A Scene of a Scene.

    Example:
        >>> images = avida.crop(batch, crop=[3, 5])
        >>> mixed, shares = avida.mixup(images, [0, 2], num_classes=3)
        >>> shares.shape
        [(3,), (3,)]
    """
    if isinstance(images, Scene):
        _check_scene("mixup", labels, num_classes, alpha)
        return mixup_of_scenes(images, alpha, rng, keyed_by)
    labels = _labels("mixup", images, labels, num_classes)
    shares = _draw_shares("mixup", images, alpha, per_sample, rng, keyed_by)

    def run(values: list[Any]) -> list[Any]:
        samples, classes, drawn = values
        _shape("mixup", samples)
        own = _per_sample(drawn, samples.batch_size)
        weight = as_batch(own)
        blended = samples * weight + _neighbours(samples) * (1 - weight)
        if blended.dtype != samples.dtype:
            blended = _ops.cast(blended, dtype=samples.dtype)
        return [blended, _mixed(_soft("mixup", classes, num_classes), own)]

    key = ("mixup", num_classes)
    mixed = _core.python_call(run, "mixup", [images, labels, shares], [], 2, images.batch_size, True, key)
    return mixed[0], mixed[1]


@overload
def cutmix(
    images: Scene,
    labels: None = None,
    *,
    alpha: float = 1.0,
    num_classes: None = None,
    per_sample: bool = True,
    min_visible: float = 0.0,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Scene: ...
@overload
def cutmix(
    images: Batch,
    labels: TensorLike,
    *,
    alpha: float = 1.0,
    num_classes: int | None = None,
    per_sample: bool = False,
    min_visible: float = 0.0,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> tuple[Batch, Batch]: ...
def cutmix(
    images: Batch | Scene,
    labels: TensorLike | None = None,
    *,
    alpha: float = 1.0,
    num_classes: int | None = None,
    per_sample: bool = False,
    min_visible: float = 0.0,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Any:
    """CutMix: replaces a rectangle of each image by that of its neighbour.

    Labels are mixed by area.

    Sample ``i`` gets a rectangle of sample ``i - 1``, the first one of the last: give shuffled batches.

    Of a Scene, each sample draws the one whose rectangle it gets. Objects lose what lies behind it, or outside of it,
    of their masks and boxes; polygons become run lengths.

    Args:
        images: Images (HWC or CHW) or videos (FHWC or FCHW) of one size; HWC and FHWC where there is no layout.
            Or a Scene of such.
        labels: A class for each sample, or a list of numbers that tells how much it belongs to each class. Scenes have
            their own.
        alpha: The image's own share is drawn from a beta distribution of this parameter for both sides; the rectangle
            has the rest, unless it crosses the border, which cuts it.
        num_classes: How many classes there are; needed where ``labels`` are classes.
        per_sample: Draw a rectangle for every sample, rather than one for the batch. Scenes always do.
        min_visible: Of a Scene: the share of an object that must be left of it; others are dropped, as are those of
            which nothing is left.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same rectangle in any batch. Needs ``per_sample``.

    Returns:
        The images, and a float32 number for each class and sample. A Scene of a Scene.

    Example:
        >>> images = avida.crop(batch, crop=[3, 5])
        >>> mixed, shares = avida.cutmix(images, avida.as_batch([[0.9, 0.1], [0.0, 1.0]]), per_sample=True)
        >>> mixed.shape
        [(3, 5, 3), (3, 5, 3)]
    """
    if isinstance(images, Scene):
        _check_scene("cutmix", labels, num_classes, alpha)
        min_visible = number("cutmix", "min_visible", min_visible, low=0, high=1)
        return cutmix_of_scenes(images, alpha, min_visible, rng, keyed_by)
    if min_visible:
        raise TypeError("cutmix: images have no objects; expected min_visible with a Scene only")
    labels = _labels("cutmix", images, labels, num_classes)
    shares = _draw_shares("cutmix", images, alpha, per_sample, rng, keyed_by)
    like = images if per_sample else None
    centres = draw("cutmix", uniform, like, rng, keyed_by, range=[0.0, 1.0], shape=[2])

    def run(values: list[Any]) -> list[Any]:
        samples, classes, drawn, middle = values
        shape = _shape("cutmix", samples)
        layout = samples.layout or {3: "HWC", 4: "FHWC"}.get(samples.ndim, "")
        if "HW" not in layout:
            raise ValueError(
                "cutmix: expected images (HWC or CHW) or videos (FHWC or FCHW), got "
                f"{samples.layout or f'{samples.ndim} axes'}"
            )
        n = samples.batch_size
        height = layout.index("H")
        size = np.array(shape[height : height + 2])
        extent = size * np.sqrt(1 - _per_sample(drawn, n)[:, None])
        centre = size * _per_sample(middle, n)
        start, end = (np.clip(np.round(centre + side * extent / 2), 0, size).astype(np.int32) for side in (-1, 1))
        own = 1 - np.prod(end - start, axis=1) / max(np.prod(size), 1)
        return [
            pasted(samples, _neighbours(samples), layout, start, end),
            _mixed(_soft("cutmix", classes, num_classes), own.astype(np.float32)),
        ]

    inputs, key = [images, labels, shares, centres], ("cutmix", num_classes)
    mixed = _core.python_call(run, "cutmix", inputs, [], 2, images.batch_size, True, key)
    return mixed[0], mixed[1]


def _check_scene(name: str, labels: Any, num_classes: int | None, alpha: float) -> None:
    if labels is not None or num_classes is not None:
        raise TypeError(f"{name}: a Scene has labels of its own; expected it alone")
    if number(name, "alpha", alpha) <= 0:
        raise ValueError(f"{name}: expected alpha above 0, got {alpha}")


def _draw_shares(
    name: str, images: Batch, alpha: float, per_sample: bool, rng: RNG | None, keyed_by: KeyedBy | None
) -> Any:
    if number(name, "alpha", alpha) <= 0:
        raise ValueError(f"{name}: expected alpha above 0, got {alpha}")
    if keyed_by is not None and not per_sample:
        raise ValueError(f"{name}: what is drawn for a whole batch cannot be keyed; expected per_sample=True")
    return draw(name, beta, images if per_sample else None, rng, keyed_by, alpha=alpha, beta=alpha)


def _labels(name: str, images: Any, labels: TensorLike | None, num_classes: int | None) -> Batch:
    if not isinstance(images, Batch):
        raise TypeError(f"{name}: expected a Batch of images, got {type(images).__name__}; see avida.as_batch")
    if labels is None:
        raise TypeError(f"{name}: expected labels, got None")
    if num_classes is not None:
        integer(name, "num_classes", num_classes, low=1)
    if not isinstance(labels, Batch):
        rows = np.asarray(labels.cpu() if isinstance(labels, Tensor) else labels)
        if rows.dtype.kind not in "biuf" or rows.ndim == 0:
            raise TypeError(f"{name}: expected numbers for each image as labels, got {rows.ndim} axes of {rows.dtype}")
        labels = as_batch(rows)
    if labels.batch_size != images.batch_size:
        raise ValueError(f"{name}: expected a label for each of {images.batch_size} images, got {labels.batch_size}")
    return labels


def _shape(name: str, images: Batch) -> tuple[int, ...]:
    """The one shape of all images."""
    return one_size(name, images) if images.batch_size else (0,) * images.ndim


def _per_sample(drawn: Any, samples: int) -> np.ndarray:
    """A row for each sample, also where one was drawn for all."""
    drawn = _core.read_only(drawn.cpu())
    rows = [np.asarray(row) for row in drawn] if isinstance(drawn, Batch) else [np.asarray(drawn)] * samples
    return np.stack(rows) if rows else np.zeros((0, *([2] if drawn.ndim else [])), np.float32)


def _neighbours(images: Batch) -> Batch:
    n = images.batch_size
    return images._select([(i - 1) % n for i in range(n)])


def _soft(name: str, labels: Batch, num_classes: int | None) -> np.ndarray:
    """How much each sample belongs to each class: a row for each sample."""
    rows = [np.asarray(row) for row in _core.read_only(labels.cpu())]
    if not rows:
        return np.zeros((0, num_classes or 0), np.float32)
    if rows[0].dtype.kind == "f" and rows[0].ndim == 1:
        if len({row.shape for row in rows}) > 1 or num_classes not in (None, rows[0].size):
            raise ValueError(
                f"{name}: expected a number for each of {num_classes or rows[0].size} classes, got {labels.shape}"
            )
        return np.stack(rows).astype(np.float32)
    if rows[0].dtype.kind not in "iu" or any(row.size != 1 for row in rows):
        raise ValueError(
            f"{name}: expected one integer, or a list of floats with one for each class, as the label of a sample; got "
            f"{labels.dtype} of the shape {labels.shape[0]}"
        )
    if num_classes is None:
        raise ValueError(f"{name}: expected num_classes, since the labels are classes")
    classes = np.array([row.item() for row in rows])
    if classes.min() < 0 or classes.max() >= num_classes:
        raise ValueError(
            f"{name}: expected classes from 0 to {num_classes - 1}, got {classes.min()} to {classes.max()}"
        )
    return np.eye(num_classes, dtype=np.float32)[classes]


def _mixed(labels: np.ndarray, own: np.ndarray) -> Batch:
    own = own[:, None]
    return as_batch(labels * own + np.roll(labels, 1, axis=0) * (1 - own))
