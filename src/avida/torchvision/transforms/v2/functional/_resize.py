"""Resizing, also of a part."""

from __future__ import annotations

import warnings
from typing import Any

import PIL.Image
import torch

from avida.torchvision import tv_tensors
from avida.torchvision.transforms._interpolation import Interpolation, InterpolationMode, mode_of, pil_number
from avida.torchvision.transforms.v2.functional import _crops
from avida.torchvision.transforms.v2.functional._boxes import (
    TURNED,
    Size,
    annotation_kernel,
    with_channel,
)
from avida.torchvision.transforms.v2.functional._dispatch import IMAGES, functional, kernel, their_functional
from avida.torchvision.transforms.v2.functional._operators import FLOATS_AND_BYTES, PIL_MODES, can_run, run, run_on_pil
from avida.torchvision.transforms.v2.functional._sizes import resized_size
from avida.torchvision.tv_tensors import is_rotated_bounding_format

_EXACT = (InterpolationMode.NEAREST, InterpolationMode.NEAREST_EXACT)
_OPERATOR = {InterpolationMode.BILINEAR: 1, InterpolationMode.BICUBIC: 2}  # numbers of avida's filters
_ROUNDED = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


@functional
def resize(
    inpt: torch.Tensor,
    size: list[int] | None,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> torch.Tensor:
    """Resizes to a height and a width, or so that a side has a length."""
    raise NotImplementedError


@kernel(resize, *IMAGES)
def resize_image(
    image: torch.Tensor,
    size: list[int] | None,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> torch.Tensor:
    mode, height, width = mode_of(interpolation), image.shape[-2], image.shape[-1]
    if mode == InterpolationMode.LANCZOS and not antialias:
        raise ValueError("InterpolationMode.LANCZOS requires antialias=True")
    new = resized_size((height, width), size, max_size)
    if new == [height, width]:
        return image
    if antialias and can_run(image, _element_types(mode)) and min(new) > 0:
        return run("resize", image, size=new, interp_type=_OPERATOR[mode], inside_only=True)
    return _interpolated(image, new, mode, bool(antialias))


def _element_types(mode: InterpolationMode) -> tuple[torch.dtype, ...]:
    """What avida resamples as PyTorch and Pillow do, who round cubic sums of bytes after each axis."""
    return FLOATS_AND_BYTES if mode == InterpolationMode.BILINEAR else (torch.float32,) if mode in _OPERATOR else ()


def _interpolated(image: torch.Tensor, new: list[int], mode: InterpolationMode, antialias: bool) -> torch.Tensor:
    """In PyTorch's own arithmetic: nearest neighbours, no antialiasing, other element types and devices."""
    if image.numel() == 0:
        return image.new_empty((*image.shape[:-2], *new))
    frames = image.reshape(-1, *image.shape[-3:])
    bytes_too = frames.dtype == torch.uint8 and mode != InterpolationMode.BILINEAR
    kept = frames.dtype in (torch.float32, torch.float64) or (bytes_too and frames.device.type == "cpu")
    exact = frames if kept else frames.float()
    smooth = mode not in _EXACT
    made = torch.nn.functional.interpolate(
        exact,
        size=new,
        mode=mode.value,
        align_corners=False if smooth else None,
        antialias=antialias and smooth,
    )
    if not kept:
        if image.dtype == torch.uint8:
            made = made.clamp_(0, 255)
        if image.dtype in _ROUNDED:
            made = made.round_()
        made = made.to(image.dtype)
    return made.reshape((*image.shape[:-2], *new))


@kernel(resize, PIL.Image.Image)
def _resize_pil(
    image: PIL.Image.Image,
    size: list[int] | None,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> PIL.Image.Image:
    if antialias is False:
        warnings.warn(
            "Anti-alias option is always applied for PIL Image input. Argument antialias is ignored.", stacklevel=3
        )
    mode, now = mode_of(interpolation), [image.height, image.width]
    new = resized_size(now, size, max_size)
    if new == now:
        return image
    if mode == InterpolationMode.BILINEAR and image.mode in PIL_MODES and min(new) > 0 and min(now) > 0:
        return run_on_pil("resize", image, size=new, interp_type=1, inside_only=True)
    return image.resize((new[1], new[0]), pil_number(mode))


@annotation_kernel(resize, tv_tensors.Mask)
def resize_mask(
    mask: torch.Tensor,
    size: list[int] | None,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
) -> torch.Tensor:
    mode = mode_of(interpolation)
    mode = mode if mode in _EXACT else InterpolationMode.NEAREST
    return with_channel(mask, lambda image: resize_image(image, size, mode, max_size))


def _ratios(like: torch.Tensor, now: Size, new: list[int], times: int = 1) -> torch.Tensor:
    return torch.tensor([new[1] / now[1], new[0] / now[0]] * times, device=like.device)


@annotation_kernel(resize, tv_tensors.BoundingBoxes)
def resize_bounding_boxes(
    bounding_boxes: torch.Tensor,
    canvas_size: Size,
    size: list[int] | None,
    max_size: int | None = None,
    format: Any = tv_tensors.BoundingBoxFormat.XYXY,
    clamping_mode: str | None = "soft",
) -> tuple[torch.Tensor, Size]:
    new = resized_size(canvas_size, size, max_size)
    if tuple(new) == tuple(canvas_size):
        return bounding_boxes, canvas_size
    if is_rotated_bounding_format(format):
        resize = their_functional("resize_bounding_boxes", TURNED)
        return resize(bounding_boxes, canvas_size, size, max_size, format, clamping_mode)
    moved = bounding_boxes * _ratios(bounding_boxes, canvas_size, new, times=2)
    return moved.to(bounding_boxes.dtype), (new[0], new[1])


@annotation_kernel(resize, tv_tensors.KeyPoints)
def resize_keypoints(
    keypoints: torch.Tensor, size: list[int] | None, canvas_size: Size, max_size: int | None = None
) -> tuple[torch.Tensor, Size]:
    new = resized_size(canvas_size, size, max_size)
    if tuple(new) == tuple(canvas_size):
        return keypoints, canvas_size
    return (keypoints * _ratios(keypoints, canvas_size, new)).to(keypoints.dtype), (new[0], new[1])


@functional
def resized_crop(
    inpt: torch.Tensor,
    top: int,
    left: int,
    height: int,
    width: int,
    size: list[int],
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> torch.Tensor:
    """Resizes a part of an image."""
    raise NotImplementedError


def _is_inside(top: int, left: int, height: int, width: int, now: Any) -> bool:
    return 0 <= top < top + height <= now[0] and 0 <= left < left + width <= now[1]


@kernel(resized_crop, *IMAGES)
def resized_crop_image(
    image: torch.Tensor,
    top: int,
    left: int,
    height: int,
    width: int,
    size: list[int],
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> torch.Tensor:
    mode = mode_of(interpolation)
    inside = _is_inside(top, left, height, width, image.shape[-2:])
    if inside and antialias and can_run(image, _element_types(mode)):
        return run("resize", image, **_part(top, left, height, width, size), interp_type=_OPERATOR[mode])
    part = _crops.crop_image(image, top, left, height, width)
    return resize_image(part, size, interpolation=mode, antialias=antialias)


def _part(top: int, left: int, height: int, width: int, size: list[int]) -> dict[str, Any]:
    return {
        "size": resized_size((height, width), size),
        "roi_start": (top, left),
        "roi_end": (top + height, left + width),
        "inside_only": True,
    }


@kernel(resized_crop, PIL.Image.Image)
def _resized_crop_pil(
    image: PIL.Image.Image,
    top: int,
    left: int,
    height: int,
    width: int,
    size: list[int],
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> PIL.Image.Image:
    return _resize_pil(_crops.crop_pil(image, top, left, height, width), size, interpolation, None, antialias)


@annotation_kernel(resized_crop, tv_tensors.Mask)
def resized_crop_mask(
    mask: torch.Tensor, top: int, left: int, height: int, width: int, size: list[int]
) -> torch.Tensor:
    return resize_mask(_crops.crop_mask(mask, top, left, height, width), size)


@annotation_kernel(resized_crop, tv_tensors.BoundingBoxes)
def resized_crop_bounding_boxes(
    bounding_boxes: torch.Tensor,
    format: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: list[int],
    clamping_mode: str | None = "soft",
) -> tuple[torch.Tensor, Size]:
    boxes, now = _crops.crop_bounding_boxes(bounding_boxes, format, top, left, height, width, clamping_mode)
    return resize_bounding_boxes(boxes, now, size, None, format, clamping_mode)


@annotation_kernel(resized_crop, tv_tensors.KeyPoints)
def resized_crop_keypoints(
    keypoints: torch.Tensor, top: int, left: int, height: int, width: int, size: list[int]
) -> tuple[torch.Tensor, Size]:
    points, now = _crops.crop_keypoints(keypoints, top, left, height, width)
    return resize_keypoints(points, size, now)


resize_video = resize_image
resized_crop_video = resized_crop_image
