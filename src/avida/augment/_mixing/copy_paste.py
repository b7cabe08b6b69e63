"""Copy-paste: objects of other images, cut out by their masks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, overload

import numpy as np

from avida import _core, _ops
from avida._scenes.scene import Scene
from avida._values.batch import Batch, as_batch
from avida._values.typing import KeyedBy
from avida.augment._checks import number
from avida.augment._draw import draw
from avida.augment._mixing.objects import (
    Rows,
    count_of,
    covered,
    joined,
    of_batch,
    picked,
    rows_of,
    run_on,
    selected,
    with_form,
    with_pixels,
    without_polygons,
)
from avida.augment._mixing.scene_mix import partners_of
from avida.random._ops import uniform
from avida.random._rng import RNG

_SEEDS = 2**53  # that a number from 0 to 1 can tell apart
Masks = TypeVar("Masks")


@overload
def copy_paste(
    images: Scene,
    masks: None = None,
    *,
    p: float = 0.5,
    scale: tuple[float, float] = (1.0, 1.0),
    min_visible: float = 0.0,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Scene: ...
@overload
def copy_paste(
    images: Batch,
    masks: Any,
    *,
    p: float = 0.5,
    scale: tuple[float, float] = (1.0, 1.0),
    min_visible: float = 0.0,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> tuple[Batch, Batch]: ...
def copy_paste(
    images: Batch | Scene,
    masks: Any = None,
    *,
    p: float = 0.5,
    scale: tuple[float, float] = (1.0, 1.0),
    min_visible: float = 0.0,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Any:
    """Copy-paste: pastes objects of another image over each image.

    They are cut out by their masks (Ghiasi et al., 2021). Each sample draws the other image from its batch, which of its objects come along, and where they go. Objects that
    are covered lose what is covered of their masks and boxes, or go.

    Args:
        images: A Scene with masks of objects, or a Batch of images.
        masks: With a Batch: masks of objects for each image, as `Scene` takes them.
        p: The probability of each object of the other image to be pasted.
        scale: Between which sizes the other image is drawn, as a multiple of its own. It lies at a random place within
            the image, or the image within it; images of one size lie above each other.
        min_visible: The share of an object that must be left of it; others are dropped, as are those of which
            nothing is left.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each draws the same numbers in any batch. See `avida.random`.

    Returns:
        A Scene of a Scene, in which pasted objects are the last ones; else images and masks. Polygons become run
        lengths.

    Example:
        >>> masks = [np.ones((1, *shape[:2]), np.uint8) for shape in batch.shape]
        >>> scene = avida.augment.copy_paste(avida.Scene(batch, masks=masks, labels=[[5], [6]]), p=1.0)
        >>> [labels.numpy().tolist() for labels in scene.labels]
        [[5, 6], [5]]
    """
    if not isinstance(images, Scene):
        if not isinstance(images, Batch) or masks is None:
            raise TypeError("copy_paste: expected a Scene with masks, or a Batch of images and masks")
        made = copy_paste(
            Scene(images, masks=masks), p=p, scale=scale, min_visible=min_visible, rng=rng, keyed_by=keyed_by
        )
        return made.image, made.masks
    scene = of_batch("copy_paste", images)
    image: Any = scene.image
    if masks is not None or "masks" not in scene._fields:
        raise TypeError("copy_paste: expected a Scene with masks of its own, which tell what belongs to an object")
    p = number("copy_paste", "p", p, low=0, high=1)
    min_visible = number("copy_paste", "min_visible", min_visible, low=0, high=1)
    low, high = (number("copy_paste", "scale", each, low=1e-3, high=1e3) for each in scale)
    if low > high:
        raise ValueError(f"copy_paste: expected low <= high as scale, got {low:g}, {high:g}")
    drawn = draw("copy_paste", uniform, image, rng, keyed_by, range=[0.0, 1.0], shape=[5], dtype="float64")
    kept = without_polygons(scene._kept)

    def function(samples: Scene, numbers: np.ndarray) -> tuple[Any, Mapping[str, Any]]:
        samples = with_pixels(samples)
        other = _placed(samples, numbers, low, high)
        rows, covers = [], []
        for mine, its, row in zip(rows_of(samples), rows_of(other), numbers, strict=True):
            chosen = np.random.default_rng(int(row[4] * _SEEDS)).random(count_of(its)) < p
            pasted = _with_pixels_left(selected(its, chosen))
            cover = np.maximum.reduce(pasted["masks"], axis=0, initial=0) != 0
            covers.append(cover)
            rows.append([covered(mine, cover, min_visible), covered(pasted, np.zeros_like(cover), min_visible)])
        fields: dict[str, Any] = with_form(joined("copy_paste", rows), kept)
        if "mask" in samples._fields:
            fields["mask"] = _over(samples._fields["mask"], other._fields["mask"], covers)
        return _over(samples.image, other.image, covers), fields

    return run_on("copy_paste", scene, kept, function, drawn, (p, low, high, min_visible))


def _placed(samples: Scene, numbers: np.ndarray, low: float, high: float) -> Scene:
    """For each sample another one, of its size."""
    extents = np.stack([np.asarray(each) for each in samples._extents()]).astype(np.float64)
    partners = partners_of(numbers)
    other, theirs = picked(samples, partners), extents[partners]
    factors = low + (high - low) * numbers[:, 1:2]
    if np.all(factors == 1) and np.array_equal(theirs, extents):
        return other
    start = np.round((extents - factors * theirs) * numbers[:, 2:4])
    matrices = np.zeros((len(numbers), 2, 3), np.float32)
    matrices[:, 0, 0] = matrices[:, 1, 1] = factors[:, 0]
    matrices[:, :, 2] = start[:, ::-1]
    size = as_batch(extents.astype(np.float32))
    return _ops.warp_affine(other, matrix=as_batch(matrices), size=size, inverse_map=False, fill_value=0)


def _with_pixels_left(rows: Rows) -> Rows:
    return selected(rows, np.maximum.reduce(rows["masks"], axis=(1, 2), initial=0) != 0)


def _over(below: Any, above: Any, covers: list[np.ndarray]) -> Any:
    """One image where nothing covers it, the other one there."""
    layout = below.layout or {2: "HW", 3: "HWC", 4: "FHWC"}.get(below.ndim, "")
    axes = tuple(axis for axis, name in enumerate(layout) if name not in "HW")
    masks = as_batch([np.expand_dims(cover, axes).astype(np.uint8) for cover in covers])
    masks = masks if below._gpu < 0 else masks.gpu(below._gpu)
    made = _ops.cast(below * (1 - masks) + above * masks, dtype=below.dtype)
    return _core.relabel(made, layout)
