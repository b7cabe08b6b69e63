"""Elastic distortion: each pixel comes from a place of its own."""

from __future__ import annotations

from typing import Any

import PIL.Image
import torch

from avida.torchvision import tv_tensors
from avida.torchvision.transforms._interpolation import Interpolation, InterpolationMode, mode_of
from avida.torchvision.transforms.v2.functional._boxes import (
    TURNED,
    Size,
    annotation_kernel,
    clamped,
    from_ends,
    move_boxes,
    to_ends,
    with_channel,
)
from avida.torchvision.transforms.v2.functional._crops import _through_tensor
from avida.torchvision.transforms.v2.functional._dispatch import IMAGES, functional, kernel, their_functional
from avida.torchvision.transforms.v2.functional._warps import _ENDS, _NEAREST, Fill, _check_fill, _sampled
from avida.torchvision.tv_tensors import is_rotated_bounding_format


@functional
def elastic(
    inpt: torch.Tensor,
    displacement: torch.Tensor,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
) -> torch.Tensor:
    """Takes each pixel from somewhere else: `displacement`, 1 x H x W x 2, is in halves of width and height."""
    raise NotImplementedError


def _grid(displacement: torch.Tensor, size: Any, like: torch.Tensor) -> torch.Tensor:
    """Where pixels come from, from -1 to 1."""
    if not isinstance(displacement, torch.Tensor):
        raise TypeError("Argument displacement should be a Tensor")
    height, width = size
    if tuple(displacement.shape) != (1, height, width, 2):
        raise ValueError(
            f"Argument displacement shape should be {(1, height, width, 2)}, but given {tuple(displacement.shape)}"
        )
    dtype = like.dtype if like.is_floating_point() else torch.float32
    x = (torch.arange(width, device=like.device) + 0.5) * (2 / width) - 1
    y = (torch.arange(height, device=like.device) + 0.5) * (2 / height) - 1
    places = torch.stack([x.expand(height, width), y[:, None].expand(height, width)], -1)[None]
    return places.to(dtype) + displacement.to(device=like.device, dtype=dtype)


@kernel(elastic, *IMAGES)
def elastic_image(
    image: torch.Tensor,
    displacement: torch.Tensor,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
) -> torch.Tensor:
    mode = mode_of(interpolation)
    grid = _grid(displacement, image.shape[-2:], image)
    _check_fill(image, fill, mode)
    if image.numel() == 0:
        return image
    return _sampled(image, grid, mode, fill)


@kernel(elastic, PIL.Image.Image)
def _elastic_pil(
    image: PIL.Image.Image,
    displacement: torch.Tensor,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
) -> PIL.Image.Image:
    return _through_tensor(image, lambda pixels: elastic_image(pixels, displacement, interpolation, fill))


@annotation_kernel(elastic, tv_tensors.Mask)
def elastic_mask(mask: torch.Tensor, displacement: torch.Tensor, fill: Fill = None) -> torch.Tensor:
    return with_channel(mask, lambda image: elastic_image(image, displacement, _NEAREST, fill))


def _move(points: torch.Tensor, pixels: torch.Tensor, canvas_size: Size, displacement: torch.Tensor) -> torch.Tensor:
    """Where points go: against the displacement of the pixel that each is on."""
    back = _grid(-displacement, canvas_size, points)[0]
    height, width = canvas_size
    column, row = pixels[..., 0].long().clamp(0, width - 1), pixels[..., 1].long().clamp(0, height - 1)
    extent = torch.tensor([width, height], device=back.device, dtype=back.dtype)
    return (back[row, column] + 1) * (0.5 * extent) - 0.5


@annotation_kernel(elastic, tv_tensors.BoundingBoxes)
def elastic_bounding_boxes(
    bounding_boxes: torch.Tensor,
    format: Any,
    canvas_size: Size,
    displacement: torch.Tensor,
    clamping_mode: str | None = "soft",
) -> torch.Tensor:
    if is_rotated_bounding_format(format):
        elastic = their_functional("elastic_bounding_boxes", TURNED)
        return elastic(bounding_boxes, format, canvas_size, displacement, clamping_mode=clamping_mode)
    if bounding_boxes.numel() == 0:
        return bounding_boxes
    ends = to_ends(bounding_boxes, format)
    moved = move_boxes(ends, _ENDS, lambda points: _move(points, points.ceil(), canvas_size, displacement))
    made = clamped(moved.to(bounding_boxes.dtype), _ENDS, canvas_size, clamping_mode)
    return from_ends(made, format).reshape(bounding_boxes.shape)


@annotation_kernel(elastic, tv_tensors.KeyPoints)
def elastic_keypoints(keypoints: torch.Tensor, canvas_size: Size, displacement: torch.Tensor) -> torch.Tensor:
    exact = keypoints if keypoints.is_floating_point() else keypoints.float()
    return _move(exact, exact, canvas_size, displacement).to(keypoints.dtype)


elastic_transform, elastic_video = elastic, elastic_image
