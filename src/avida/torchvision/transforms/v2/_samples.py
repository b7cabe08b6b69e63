"""Batches and Scenes as inputs of transforms: each sample is transformed by itself, with random numbers of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from avida._scenes.scene import Scene
from avida._values.batch import Batch, as_batch
from avida._values.tensor import Tensor, as_tensor
from avida.torchvision import tv_tensors
from avida.torchvision.transforms.v2.functional._crops import horizontal_flip, vertical_flip
from avida.torchvision.transforms.v2.functional._dispatch import OF_VALUES, kernel, kernel_for

VALUES = (Batch, Scene, Tensor)


class _CornerPoints(tv_tensors.KeyPoints):
    """Points of a Scene, which are counted from the corner of the first pixel, and not from its middle."""


_BOXES: Any = tv_tensors.BoundingBoxes  # whose arguments no type checker sees: those of torch.Tensor are others
_POINTS: Any = _CornerPoints


@kernel(horizontal_flip, _CornerPoints, unwrapped=False)
def _horizontal_flip(points: Any) -> Any:
    x, y = points.as_subclass(torch.Tensor).unbind(-1)
    return tv_tensors.wrap(torch.stack([points.canvas_size[1] - x, y], -1), like=points)


@kernel(vertical_flip, _CornerPoints, unwrapped=False)
def _vertical_flip(points: Any) -> Any:
    x, y = points.as_subclass(torch.Tensor).unbind(-1)
    return tv_tensors.wrap(torch.stack([x, points.canvas_size[0] - y], -1), like=points)


def on_samples(transform: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
    """What a transform makes of inputs of which some are Batches, Scenes or Tensors, sample by sample."""
    counts = {len(_image(each)) for each in inputs if isinstance(_image(each), Batch)}
    if len(counts) > 1:
        raise ValueError(f"expected Batches and Scenes of the same number of samples, got {sorted(counts)}")
    outputs = [transform(*(_sample(each, i) for each in inputs)) for i in range(counts.pop() if counts else 1)]
    if len(inputs) == 1:
        return _joined(inputs[0], outputs)
    return tuple(_joined(each, [output[k] for output in outputs]) for k, each in enumerate(inputs))


def _function_on_samples(function: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
    """What a function makes of a value: of a Scene, of all that has places in the image."""

    def run(sample: Any) -> Any:
        if not isinstance(sample, dict):
            return function(sample, *args, **kwargs)
        return {name: call(each) if isinstance(each, tv_tensors.TVTensor) else each for name, each in sample.items()}

    def call(each: Any) -> Any:
        return kernel_for(function, type(each), pass_through=True)(each, *args, **kwargs)

    return on_samples(run, (value,))


OF_VALUES.update(dict.fromkeys(VALUES, _function_on_samples))


def _image(value: Any) -> Any:
    return value.image if isinstance(value, Scene) else value


def _sample(value: Any, i: int) -> Any:
    """One sample as transforms know it: a tensor, or a dictionary of what a Scene has."""
    if not isinstance(value, Scene):
        return _pixels(_at(value, i)) if isinstance(value, (Batch, Tensor)) else value
    fields = {name: _at(getattr(value, name), i).torch() for name in value._fields}
    image = _pixels(_at(value.image, i))
    size = (image.shape[-2], image.shape[-1])
    made: dict[str, Any] = {"image": tv_tensors.Video(image) if image.ndim > 3 else tv_tensors.Image(image)}
    for name, field in fields.items():
        if name == "rotated":
            raise TypeError("avida.torchvision: a Scene with rotated boxes; use avida's own functions for it")
        if name == "boxes":
            field = _BOXES(field, format="XYXY", canvas_size=size, clamping_mode=None)
        elif name == "keypoints":
            made["visibility"] = field[..., 2:]
            field = _POINTS(field[..., :2], canvas_size=size)
        elif name in ("mask", "masks"):
            field = tv_tensors.Mask(field[..., 0] if name == "mask" and field.ndim == 3 else field)
        made[name] = field
    return made


def _at(value: Any, i: int) -> Tensor:
    return value.tensors[i] if isinstance(value, Batch) else value


def _pixels(value: Tensor) -> torch.Tensor:
    """A tensor whose channels come before height and width, if it has any."""
    tensor = value.torch()
    return tensor.movedim(-1, -3) if (value.layout or "").endswith("HWC") else tensor


def _joined(like: Any, outputs: list[Any]) -> Any:
    """A value of the kind of the input, of what became of its samples; a list of what cannot be in one."""
    if isinstance(like, Scene):
        return _scene(like, outputs)
    if not isinstance(like, (Batch, Tensor)):
        return outputs[0] if len(outputs) == 1 else outputs
    if not all(isinstance(each, torch.Tensor) for each in outputs):
        return outputs[0] if isinstance(like, Tensor) else outputs
    return _value(like, outputs)


def _value(like: Any, outputs: list[Any], layout: str | None = None) -> Any:
    layout = like.layout if layout is None else layout
    plain = [each.as_subclass(torch.Tensor) for each in outputs]
    if layout and layout.endswith("HWC"):
        plain = [each.movedim(-3, -1) for each in plain]
    plain = [each.contiguous() for each in plain]
    same = layout or None
    return as_tensor(plain[0], layout=same) if isinstance(like, Tensor) else as_batch(plain, layout=same)


def _scene(like: Scene, outputs: list[Any]) -> Scene:
    if not all(isinstance(each, dict) and isinstance(each["image"], torch.Tensor) for each in outputs):
        raise TypeError("avida.torchvision: a Scene stays a Scene of tensors; use scene.image for PIL images and crops")
    single = isinstance(like.image, Tensor)
    fields: dict[str, Any] = {}
    for name in like._fields:
        found = [each[name].as_subclass(torch.Tensor) for each in outputs]
        if name == "keypoints":
            found = [torch.cat([points, each["visibility"]], -1) for points, each in zip(found, outputs, strict=True)]
        elif name == "mask" and getattr(like, name).ndim == 3:
            found = [each[..., None] for each in found]
        fields[name] = found[0].numpy() if single else [each.numpy() for each in found]
    image = _value(like.image, [each["image"] for each in outputs])
    kept = like._kept
    return Scene(image, ignore=kept.ignore, per_image=[n for n in kept.per_image if n != "image_id"], **fields)
