"""Scenes as what detection models of PyTorch take: images, and a dictionary of tensors for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from avida import _core
from avida._scenes.scene import BoxFormat, Scene
from avida._values.batch import Batch


def images_and_targets(scene: Scene, boxes: BoxFormat, relative: bool) -> tuple[Any, list[dict[str, Any]]]:
    import torch

    image = scene.image
    fields = scene.fields
    if "boxes" in fields and (boxes != "xyxy" or relative):
        fields["boxes"] = scene.boxes_as(boxes, relative)
    if "masks" in fields:
        fields["masks"] = scene.masks_as("dense")
    if not isinstance(image, Batch):
        return image.torch(), [{name: _tensor(torch, name, value) for name, value in fields.items()}]
    images = image.torch() if image._uniform() else [sample.torch() for sample in image]
    columns = {name: list(value) for name, value in fields.items()}
    return images, [
        {name: _tensor(torch, name, column[i]) for name, column in columns.items()} for i in range(image.batch_size)
    ]


def _tensor(torch: Any, name: str, value: Any) -> Any:
    made = value.torch() if value._gpu >= 0 else torch.from_numpy(np.array(_core.read_only(value)))
    if name == "masks":
        return made.bool()
    whole = name in ("labels", "mask", "image_id") and not made.is_floating_point()
    return made.long() if whole else made
