"""Data sets with annotations, and what a policy does to them: Scenes for contact sheets."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import avida
from avida._cli.images import NoImagesError

Policy = Callable[..., Any]
_LEAST_VISIBLE = 0.1


def read_policy(file: str | None) -> Policy | None:
    """What a file of JSON says."""
    if file is None:
        return None
    try:
        return avida.augment.Policy.from_json(pathlib.Path(file).read_text())
    except (TypeError, ValueError) as error:
        raise NoImagesError(f"{file}: {error}") from None


def find_scenes(folder: str, annotations: str | None, split: str | None) -> avida.readers.COCO | Any | None:
    """A reader of Scenes, if there are annotations: those of a file of COCO, or those in the folder."""
    if annotations is not None:
        return avida.readers.COCO(
            file_root=folder,
            annotations_file=annotations,
            scene=True,
            instance_masks=True,
            keypoints=True,
            on_error="skip",
            last_batch="partial",
        )
    try:
        plain = avida.readers.Annotated(file_root=folder, split=split, on_error="skip", last_batch="partial")
    except (RuntimeError, ValueError):
        if split is not None:
            raise
        return None
    kinds = plain._item_form(0)
    if "kind" in kinds and not plain.classes:
        return None  # files of JSON that are something else
    if "kind" not in kinds and (len(kinds) > 5 or "boxes" not in kinds):
        return plain  # Pascal VOC has masks of some images only
    try:
        return avida.readers.Annotated(
            file_root=folder,
            split=split,
            masks=True,
            keypoints="kind" in kinds,
            on_error="skip",
            last_batch="partial",
        )
    except RuntimeError:
        return plain  # YOLO's boxes alone


def strips_of_scenes(
    reader: Any, indices: Sequence[int], policy: Policy | None, variants: int, cell: int, rng: avida.random.RNG
) -> tuple[list[list[np.ndarray | None]], list[str]]:
    """A row of pictures for each sample: as it is, and what becomes of it; and why others have none."""
    strips: list[list[np.ndarray | None]] = []
    errors: list[str] = []
    for index in indices:
        try:
            scene = next(reader.next_epoch(batch_size=1, indices=[index], ahead=0), None)
            if scene is None:
                errors.append(f"{reader.errors[-1].source}: {reader.errors[-1].message}")
                continue
            shown = [scene, *(changed(scene, policy, cell, rng) for _ in range(variants))]
            strips.append([np.asarray(each.draw(cell).tensors[0]) for each in shown])
        except RuntimeError as error:
            errors.append(str(error))
    return strips, errors


def changed(scene: Any, policy: Policy | None, cell: int, rng: avida.random.RNG) -> Any:
    """What a network would see in training; of objects those that are still visible."""
    if policy is None:
        scene = avida.random_resized_crop(scene, size=[cell, cell], random_area=[0.2, 1.0], rng=rng)
        scene = avida.flip(scene, horizontal=avida.random.coin_flip(batch_size=scene.batch_size, rng=rng))
    else:
        scene = policy(scene, rng=rng)
    return scene.clean(min_visible=_LEAST_VISIBLE) if "boxes" in scene.fields else scene
