"""Boxes and points: their formats, and what remains of them inside of an image."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch

from avida.torchvision import tv_tensors
from avida.torchvision.transforms.v2.functional._dispatch import _KERNELS, is_pure_tensor, their_functional
from avida.torchvision.tv_tensors import BoundingBoxFormat, is_rotated_bounding_format

TURNED = "avida has no boxes that are turned"
_METADATA = ("format", "canvas_size", "clamping_mode")
Size = tuple[int, int]


def annotation_kernel(of: Any, annotated: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates what a function does with boxes, points or masks: it gets their metadata, and arguments that it knows.

    It returns a tensor, or a tensor and the size of the image that it belongs to.
    """

    def register(made: Callable[..., Any]) -> Callable[..., Any]:
        known = set(inspect.signature(made).parameters)
        metadata = [name for name in _METADATA if name in known and annotated is not tv_tensors.Mask]
        names = list(inspect.signature(of).parameters)[1:]

        @functools.wraps(made)
        def run(inpt: Any, *args: Any, **kwargs: Any) -> Any:
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            arguments = {name: value for name, value in given.items() if name in known}
            arguments.update((name, getattr(inpt, name)) for name in metadata)
            output = made(inpt.as_subclass(torch.Tensor), **arguments)
            if isinstance(output, tuple):
                return tv_tensors.wrap(output[0], like=inpt, canvas_size=tuple(output[1]))
            return tv_tensors.wrap(output, like=inpt)

        _KERNELS[of][annotated] = run
        return made

    return register


def with_channel(mask: torch.Tensor, change: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """Changes a mask as if it were an image of one channel."""
    return change(mask[None])[0] if mask.ndim < 3 else change(mask)


def _format(format: Any) -> Any:
    return BoundingBoxFormat[format.upper()] if isinstance(format, str) else format


def _half(extent: torch.Tensor, *, up: bool) -> torch.Tensor:
    if extent.is_floating_point():
        return extent / 2
    return -torch.div(-extent, 2, rounding_mode="floor") if up else torch.div(extent, 2, rounding_mode="floor")


def to_ends(boxes: torch.Tensor, format: Any) -> torch.Tensor:
    """Boxes as XYXY."""
    if format == BoundingBoxFormat.XYXY:
        return boxes
    first, extent = boxes[..., :2], boxes[..., 2:]
    if format == BoundingBoxFormat.CXCYWH:
        first = first - _half(extent, up=True)
    return torch.cat([first, first + extent], -1)


def from_ends(boxes: torch.Tensor, format: Any) -> torch.Tensor:
    """Boxes of a format, from XYXY."""
    if format == BoundingBoxFormat.XYXY:
        return boxes
    first, extent = boxes[..., :2], boxes[..., 2:] - boxes[..., :2]
    if format == BoundingBoxFormat.CXCYWH:
        first = first + _half(extent, up=False)
    return torch.cat([first, extent], -1)


def _converted(boxes: torch.Tensor, old: Any, new: Any, inplace: bool) -> torch.Tensor:
    if old == new:
        return boxes
    if is_rotated_bounding_format(old) or is_rotated_bounding_format(new):
        convert = their_functional("convert_bounding_box_format", TURNED)
        return convert(boxes, old_format=old, new_format=new, inplace=inplace)
    if {old, new} == {BoundingBoxFormat.XYWH, BoundingBoxFormat.CXCYWH}:  # whole numbers stay what they are
        extent = boxes[..., 2:]
        up = old == BoundingBoxFormat.CXCYWH
        first = boxes[..., :2] - _half(extent, up=True) if up else boxes[..., :2] + _half(extent, up=False)
        made = torch.cat([first, extent], -1)
    else:
        made = from_ends(to_ends(boxes, old), new)
    return boxes.copy_(made) if inplace else made


def convert_bounding_box_format(
    inpt: torch.Tensor, old_format: Any = None, new_format: Any = None, inplace: bool = False
) -> torch.Tensor:
    """Boxes in another format: a tensor from `old_format`, BoundingBoxes from theirs."""
    if new_format is None:
        raise TypeError("convert_bounding_box_format() missing 1 required argument: 'new_format'")
    old_format, new_format = _format(old_format), _format(new_format)
    if is_pure_tensor(inpt):
        if old_format is None:
            raise ValueError("For pure tensor inputs, `old_format` has to be passed.")
        return _converted(inpt, old_format, new_format, inplace)
    if not isinstance(inpt, tv_tensors.BoundingBoxes):
        raise TypeError(
            f"Input can either be a plain tensor or a bounding box tv_tensor, but got {type(inpt)} instead."
        )
    if old_format is not None:
        raise ValueError("For bounding box tv_tensor inputs, `old_format` must not be passed.")
    output = _converted(inpt.as_subclass(torch.Tensor), inpt.format, new_format, inplace)
    return tv_tensors.wrap(output, like=inpt, format=new_format)


def clamped(boxes: torch.Tensor, format: Any, canvas_size: Size, clamping_mode: str | None) -> torch.Tensor:
    """What is inside of an image, for boxes that are not turned: "soft" and "hard" say the same of them."""
    if clamping_mode is None:
        return boxes.clone()
    if is_rotated_bounding_format(format):
        clamp = their_functional("clamp_bounding_boxes", TURNED)
        return clamp(boxes, format=format, canvas_size=canvas_size, clamping_mode=clamping_mode)
    exact = boxes if boxes.is_floating_point() else boxes.float()
    ends = to_ends(exact, format)
    height, width = canvas_size
    x, y = ends[..., 0::2].clamp(0, width), ends[..., 1::2].clamp(0, height)
    return from_ends(torch.stack([x, y], -1).flatten(-2), format).to(boxes.dtype)


def clamp_bounding_boxes(
    inpt: torch.Tensor,
    format: Any = None,
    canvas_size: Size | None = None,
    clamping_mode: str | None = "auto",
) -> torch.Tensor:
    """What is inside of the image of boxes."""
    if clamping_mode not in (None, "soft", "hard", "auto"):
        raise ValueError(f"clamping_mode must be soft, hard, auto or None, got {clamping_mode}")
    if is_pure_tensor(inpt):
        if format is None or canvas_size is None or clamping_mode == "auto":
            raise ValueError("For pure tensor inputs, `format`, `canvas_size` and `clamping_mode` have to be passed.")
        return clamped(inpt, _format(format), canvas_size, clamping_mode)
    if not isinstance(inpt, tv_tensors.BoundingBoxes):
        raise TypeError(
            f"Input can either be a plain tensor or a bounding box tv_tensor, but got {type(inpt)} instead."
        )
    if format is not None or canvas_size is not None:
        raise ValueError("For bounding box tv_tensor inputs, `format` and `canvas_size` must not be passed.")
    mode = inpt.clamping_mode if clamping_mode == "auto" else clamping_mode
    return tv_tensors.wrap(clamped(inpt.as_subclass(torch.Tensor), inpt.format, inpt.canvas_size, mode), like=inpt)


def clamp_keypoints(inpt: torch.Tensor, canvas_size: Size | None = None) -> torch.Tensor:
    """Points at the nearest pixel of their image."""
    if is_pure_tensor(inpt):
        if canvas_size is None:
            raise ValueError("For pure tensor inputs, `canvas_size` has to be passed.")
        height, width = canvas_size
        return torch.stack([inpt[..., 0].clamp(0, width - 1), inpt[..., 1].clamp(0, height - 1)], -1)
    if not isinstance(inpt, tv_tensors.KeyPoints):
        raise TypeError(f"Input can either be a plain tensor or a keypoints tv_tensor, but got {type(inpt)} instead.")
    if canvas_size is not None:
        raise ValueError("For keypoints tv_tensor inputs, `canvas_size` must not be passed.")
    return tv_tensors.wrap(clamp_keypoints(inpt.as_subclass(torch.Tensor), inpt.canvas_size), like=inpt)


def valid_boxes(boxes: torch.Tensor, format: Any, canvas_size: Size, min_size: float, min_area: float) -> torch.Tensor:
    """Which boxes are inside of an image and large enough."""
    if is_rotated_bounding_format(format):
        sanitize = their_functional("sanitize_bounding_boxes", TURNED)
        return sanitize(boxes, format=format, canvas_size=canvas_size, min_size=min_size, min_area=min_area)[1]
    ends = to_ends(boxes.as_subclass(torch.Tensor), format)
    extents = ends[:, 2:] - ends[:, :2]
    limits = torch.tensor([canvas_size[1], canvas_size[0]] * 2, device=ends.device)
    inside = ((ends >= 0) & (ends <= limits)).all(-1)
    return inside & (extents >= min_size).all(-1) & (extents.prod(-1) >= min_area)


def sanitize_bounding_boxes(
    bounding_boxes: torch.Tensor,
    format: Any = None,
    canvas_size: Size | None = None,
    min_size: float = 1.0,
    min_area: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The boxes that are inside of their image and large enough, and which those are."""
    if is_pure_tensor(bounding_boxes):
        if format is None or canvas_size is None:
            raise ValueError("format and canvas_size cannot be None if bounding_boxes is a pure tensor.")
        valid = valid_boxes(bounding_boxes, _format(format), canvas_size, min_size, min_area)
        return bounding_boxes[valid], valid
    if not isinstance(bounding_boxes, tv_tensors.BoundingBoxes):
        raise ValueError("bounding_boxes must be a tv_tensors.BoundingBoxes instance or a pure tensor.")
    if format is not None or canvas_size is not None:
        raise ValueError(
            "format and canvas_size must be None when bounding_boxes is a tv_tensors.BoundingBoxes instance."
        )
    boxes = bounding_boxes
    valid = valid_boxes(boxes, boxes.format, boxes.canvas_size, min_size, min_area)
    return tv_tensors.wrap(boxes.as_subclass(torch.Tensor)[valid], like=boxes), valid


def valid_points(points: torch.Tensor, canvas_size: Size) -> torch.Tensor:
    """Which objects have all of their points inside of an image."""
    points = points.as_subclass(torch.Tensor)
    limits = torch.tensor([canvas_size[1], canvas_size[0]], device=points.device)
    return ((points >= 0) & (points < limits)).flatten(1).all(-1)


def sanitize_keypoints(key_points: torch.Tensor, canvas_size: Size | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """The points that are inside of their image, and which those are."""
    if is_pure_tensor(key_points):
        if canvas_size is None:
            raise ValueError("canvas_size cannot be None if key_points is a pure tensor.")
        valid = valid_points(key_points, canvas_size)
        return key_points[valid], valid
    if not isinstance(key_points, tv_tensors.KeyPoints):
        raise ValueError("key_points must be a tv_tensors.KeyPoints instance or a pure tensor.")
    if canvas_size is not None:
        raise ValueError("canvas_size must be None when key_points is a tv_tensors.KeyPoints instance.")
    valid = valid_points(key_points, key_points.canvas_size)
    return tv_tensors.wrap(key_points.as_subclass(torch.Tensor)[valid], like=key_points), valid


def move_points(points: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Where a 3 x 3 matrix brings points, ... x 2."""
    exact = points if points.is_floating_point() else points.float()
    matrix = matrix.to(device=exact.device, dtype=exact.dtype)
    moved = exact.reshape(-1, 2) @ matrix[:, :2].T + matrix[:, 2]
    return (moved[:, :2] / moved[:, 2:]).reshape(points.shape)


def move_boxes(boxes: torch.Tensor, format: Any, move: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """The boxes, as XYXY, around where a function brings the corners of boxes."""
    exact = boxes if boxes.is_floating_point() else boxes.float()
    ends = to_ends(exact, format).reshape(-1, 4)
    corners = move(ends[:, [[0, 1], [2, 1], [2, 3], [0, 3]]])
    return torch.cat([corners.amin(1), corners.amax(1)], -1)
