"""MixUp and CutMix of Scenes: the objects of both images stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from avida import _ops
from avida._scenes.scene import Scene
from avida._values.batch import Batch, as_batch
from avida._values.typing import KeyedBy
from avida.augment._draw import draw
from avida.augment._mixing.objects import (
    count_of,
    covered,
    joined,
    of_batch,
    others,
    picked,
    rows_of,
    run_on,
    with_form,
    with_pixels,
    without_polygons,
)
from avida.augment._mixing.pieces import one_size, pasted
from avida.random._ops import beta, uniform
from avida.random._rng import RNG


def mixup_of_scenes(scene: Scene, alpha: float, rng: RNG | None, keyed_by: KeyedBy | None) -> Scene:
    drawn = _drawn("mixup", of_batch("mixup", scene), alpha, 1, rng, keyed_by)

    def function(samples: Scene, numbers: np.ndarray) -> tuple[Any, Mapping[str, Any]]:
        images: Any = samples.image
        one_size("mixup", images)
        own, partners = numbers[:, 0], partners_of(numbers[:, 1:])
        other = picked(samples, partners)
        shape = (-1, *[1] * images.ndim)
        weight = as_batch(np.ascontiguousarray(own.astype(np.float32).reshape(shape)))
        blended = _ops.cast(images * weight + other.image * (1 - weight), dtype=images.dtype)
        fields: dict[str, Any] = {}
        if samples._rows():
            rows = []
            for mine, its, share in zip(rows_of(samples), rows_of(other), own, strict=True):
                rows.append([_shared(mine, share), _shared(its, 1 - share)])
            fields.update(joined("mixup", rows))
        if "mask" in samples._fields:
            stronger = [i if share >= 0.5 else its for i, (its, share) in enumerate(zip(partners, own, strict=True))]
            mask: Any = samples._fields["mask"]
            fields["mask"] = mask._select(stronger)
        return blended, fields

    adds = ["shares"] if scene._rows() else []
    return run_on("mixup", scene, scene._kept, function, drawn, (alpha,), adds)


def cutmix_of_scenes(
    scene: Scene, alpha: float, min_visible: float, rng: RNG | None, keyed_by: KeyedBy | None
) -> Scene:
    drawn = _drawn("cutmix", of_batch("cutmix", scene), alpha, 3, rng, keyed_by)
    kept = without_polygons(scene._kept)

    def function(samples: Scene, numbers: np.ndarray) -> tuple[Any, Mapping[str, Any]]:
        images: Any = samples.image
        layout = images.layout or {3: "HWC", 4: "FHWC"}.get(images.ndim, "")
        height = layout.index("H")
        size = np.array(one_size("cutmix", images)[height : height + 2])
        extent = size * np.sqrt(1 - numbers[:, :1])
        centre = size * numbers[:, 1:3]
        start, end = (np.clip(np.round(centre + side * extent / 2), 0, size).astype(np.int32) for side in (-1, 1))
        partners = partners_of(numbers[:, 3:])
        samples = with_pixels(samples)
        other = picked(samples, partners)
        above: Any = other.image
        rows = []
        for mine, its, (top, left), (bottom, right) in zip(rows_of(samples), rows_of(other), start, end, strict=True):
            cover = np.zeros(size, bool)
            cover[top:bottom, left:right] = True
            rows.append([covered(mine, cover, min_visible), covered(its, ~cover, min_visible)])
        fields: dict[str, Any] = with_form(joined("cutmix", rows), kept) if samples._rows() else {}
        if "mask" in samples._fields:
            mask: Any = samples._fields["mask"]
            over: Any = other._fields["mask"]
            fields["mask"] = pasted(mask, over, mask.layout or "HWC"[: mask.ndim], start, end)
        return pasted(images, above, layout, start, end), fields

    return run_on("cutmix", scene, kept, function, drawn, (alpha, min_visible))


def _drawn(name: str, scene: Scene, alpha: float, more: int, rng: RNG | None, keyed_by: KeyedBy | None) -> Batch:
    """For each sample its own share, and some numbers from 0 to 1."""
    image: Any = scene.image
    share = draw(name, beta, image, rng, keyed_by, alpha=alpha, beta=alpha)
    numbers = draw(name, uniform, image, rng, keyed_by, range=[0.0, 1.0], shape=[more])
    return _ops.cat(_ops.reshape(share, shape=[1]), numbers, axis=0)


def partners_of(numbers: np.ndarray) -> list[int]:
    return [chosen[0] for chosen in others(numbers, len(numbers), 1)]


def _shared(rows: dict[str, np.ndarray], share: float) -> dict[str, np.ndarray]:
    """Rows with the share that the image of their objects has."""
    before = rows.get("shares", np.ones(count_of(rows), np.float32))
    return {**rows, "shares": (before * np.float32(share)).astype(np.float32)}
