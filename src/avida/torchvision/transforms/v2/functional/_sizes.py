"""Sizes of images, masks and what belongs to them; the sizes that arguments ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import PIL.Image
import torch

from avida.torchvision import tv_tensors
from avida.torchvision.transforms.v2.functional._dispatch import IMAGES, functional, kernel

_ANNOTATIONS = (tv_tensors.BoundingBoxes, tv_tensors.KeyPoints)


@functional
def get_dimensions(inpt: torch.Tensor) -> list[int]:
    """Channels, height and width of an image or video."""
    raise NotImplementedError


@kernel(get_dimensions, *IMAGES, unwrapped=False)
def get_dimensions_image(image: torch.Tensor) -> list[int]:
    if image.ndim < 2:
        raise TypeError(f"Pure tensor should have at least two dimensions, but got {image.ndim}")
    return [image.shape[-3] if image.ndim > 2 else 1, *image.shape[-2:]]


@kernel(get_dimensions, PIL.Image.Image)
def _dimensions_of_pil(image: PIL.Image.Image) -> list[int]:
    return [len(image.getbands()), image.height, image.width]


@functional
def get_num_channels(inpt: torch.Tensor) -> int:
    """How many channels an image or video has."""
    raise NotImplementedError


@kernel(get_num_channels, *IMAGES, unwrapped=False)
def get_num_channels_image(image: torch.Tensor) -> int:
    return get_dimensions_image(image)[0]


@kernel(get_num_channels, PIL.Image.Image)
def _channels_of_pil(image: PIL.Image.Image) -> int:
    return len(image.getbands())


@functional
def get_size(inpt: torch.Tensor) -> list[int]:
    """Height and width of an image, or of that to which masks, boxes or points belong."""
    raise NotImplementedError


@kernel(get_size, *IMAGES, tv_tensors.Mask, unwrapped=False)
def get_size_image(image: torch.Tensor) -> list[int]:
    return get_dimensions_image(image)[1:]


@kernel(get_size, PIL.Image.Image)
def _size_of_pil(image: PIL.Image.Image) -> list[int]:
    return [image.height, image.width]


@kernel(get_size, *_ANNOTATIONS, unwrapped=False)
def get_size_bounding_boxes(bounding_box: Any) -> list[int]:
    return list(bounding_box.canvas_size)


get_size_keypoints = get_size_bounding_boxes
get_size_video = get_size_mask = get_size_image
get_dimensions_video = get_dimensions_image
get_num_channels_video = get_num_channels_image
get_image_num_channels = get_num_channels


@functional
def get_num_frames(inpt: torch.Tensor) -> int:
    """How many frames a video has."""
    raise NotImplementedError


@kernel(get_num_frames, torch.Tensor, tv_tensors.Video, unwrapped=False)
def get_num_frames_video(video: torch.Tensor) -> int:
    return video.shape[-4]


def get_image_size(inpt: Any) -> list[int]:
    """Width and height, in this order: the older form of `get_size`."""
    height, width = get_size(inpt)
    return [width, height]


def two(size: Any, message: str = "Please provide only two dimensions (h, w) for size.") -> list[int]:
    """Height and width from one number or two."""
    if isinstance(size, int):
        return [size, size]
    if isinstance(size, Sequence) and len(size) == 1:
        return [size[0], size[0]]
    if not isinstance(size, Sequence) or len(size) != 2:
        raise ValueError(message)
    return list(size)


def four(padding: Any) -> list[int]:
    """Left, right, top and bottom from one, two or four numbers."""
    if isinstance(padding, int):
        return [padding] * 4
    if not isinstance(padding, (tuple, list)):
        raise TypeError(f"`padding` should be an integer or tuple or list of integers, but got {padding}")
    if len(padding) == 1:
        return [padding[0]] * 4
    if len(padding) == 2:
        return [padding[0], padding[0], padding[1], padding[1]]
    if len(padding) == 4:
        left, top, right, bottom = padding
        return [left, right, top, bottom]
    raise ValueError(f"Padding must be an int or a 1, 2, or 4 element tuple or list. Found {len(padding)}")


def resized_size(now: Sequence[int], size: Any, max_size: int | None = None) -> list[int]:
    """Height and width after resizing: of the shorter side, of both, or of the longer one (`max_size` alone)."""
    if isinstance(size, int):
        size = [size]
    if size is not None and len(size) != 1 and max_size is not None:
        raise ValueError(
            "max_size should only be passed if size is None or specifies the length of the smaller edge, "
            "i.e. size should be an int or a sequence of length 1 in torchscript mode."
        )
    if size is not None and len(size) == 2:
        return list(size)
    shorter, longer = min(now), max(now)
    if size is None:
        if not isinstance(max_size, int):
            raise ValueError(f"max_size must be an integer when size is None, but got {max_size} instead.")
        new = [int(max_size * shorter / longer), max_size]
    else:
        new = [size[0], int(size[0] * longer / shorter)]
        if max_size is not None:
            if max_size <= size[0]:
                raise ValueError(
                    f"max_size = {max_size} must be strictly greater than the requested size for the smaller edge "
                    f"size = {size}"
                )
            if new[1] > max_size:
                new = [int(max_size * new[0] / new[1]), max_size]
    return new if now[0] <= now[1] else new[::-1]
