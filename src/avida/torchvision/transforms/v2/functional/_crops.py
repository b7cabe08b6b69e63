"""What moves pixels without changing them: crops, padding, flips."""

from __future__ import annotations

from typing import Any

import PIL.Image
import PIL.ImageOps
import torch

from avida.torchvision import tv_tensors
from avida.torchvision.transforms.v2.functional._boxes import (
    TURNED,
    Size,
    annotation_kernel,
    clamped,
    from_ends,
    to_ends,
    with_channel,
)
from avida.torchvision.transforms.v2.functional._dispatch import IMAGES, functional, kernel, their_functional
from avida.torchvision.transforms.v2.functional._sizes import four, two
from avida.torchvision.tv_tensors import is_rotated_bounding_format

_PADDING = ("constant", "edge", "reflect", "symmetric")
Crops = tuple[torch.Tensor, ...]


# --- flips ---


@functional
def horizontal_flip(inpt: torch.Tensor) -> torch.Tensor:
    """Mirrors left and right."""
    raise NotImplementedError


@functional
def vertical_flip(inpt: torch.Tensor) -> torch.Tensor:
    """Mirrors top and bottom."""
    raise NotImplementedError


def _dense(image: torch.Tensor) -> torch.Tensor:
    """A part of an image is copied first: PyTorch flips what is not dense very slowly."""
    parts = image.ndim >= 3 and not image.is_contiguous() and not image.movedim(-3, -1).is_contiguous()
    return image.contiguous() if parts else image


@kernel(horizontal_flip, *IMAGES, tv_tensors.Mask)
def horizontal_flip_image(image: torch.Tensor) -> torch.Tensor:
    return _dense(image).flip(-1)


@kernel(vertical_flip, *IMAGES, tv_tensors.Mask)
def vertical_flip_image(image: torch.Tensor) -> torch.Tensor:
    return _dense(image).flip(-2)


@kernel(horizontal_flip, PIL.Image.Image)
def _horizontal_flip_pil(image: PIL.Image.Image) -> PIL.Image.Image:
    return image.transpose(PIL.Image.Transpose.FLIP_LEFT_RIGHT)


@kernel(vertical_flip, PIL.Image.Image)
def _vertical_flip_pil(image: PIL.Image.Image) -> PIL.Image.Image:
    return image.transpose(PIL.Image.Transpose.FLIP_TOP_BOTTOM)


def _mirrored(boxes: torch.Tensor, format: Any, axis: int, extent: int) -> torch.Tensor:
    if format == tv_tensors.BoundingBoxFormat.CXCYWH:
        made = boxes.clone()
        made[..., axis] = extent - boxes[..., axis]
        return made
    ends = to_ends(boxes, format)
    made = ends.clone()
    made[..., axis], made[..., axis + 2] = extent - ends[..., axis + 2], extent - ends[..., axis]
    return from_ends(made, format)


@annotation_kernel(horizontal_flip, tv_tensors.BoundingBoxes)
def horizontal_flip_bounding_boxes(bounding_boxes: torch.Tensor, format: Any, canvas_size: Size) -> torch.Tensor:
    if is_rotated_bounding_format(format):
        return their_functional("horizontal_flip_bounding_boxes", TURNED)(bounding_boxes, format, canvas_size)
    return _mirrored(bounding_boxes, format, 0, canvas_size[1])


@annotation_kernel(vertical_flip, tv_tensors.BoundingBoxes)
def vertical_flip_bounding_boxes(bounding_boxes: torch.Tensor, format: Any, canvas_size: Size) -> torch.Tensor:
    if is_rotated_bounding_format(format):
        return their_functional("vertical_flip_bounding_boxes", TURNED)(bounding_boxes, format, canvas_size)
    return _mirrored(bounding_boxes, format, 1, canvas_size[0])


@annotation_kernel(horizontal_flip, tv_tensors.KeyPoints)
def horizontal_flip_keypoints(keypoints: torch.Tensor, canvas_size: Size) -> torch.Tensor:
    return torch.stack([canvas_size[1] - 1 - keypoints[..., 0], keypoints[..., 1]], -1)


@annotation_kernel(vertical_flip, tv_tensors.KeyPoints)
def vertical_flip_keypoints(keypoints: torch.Tensor, canvas_size: Size) -> torch.Tensor:
    return torch.stack([keypoints[..., 0], canvas_size[0] - 1 - keypoints[..., 1]], -1)


# --- padding ---


@functional
def pad(
    inpt: torch.Tensor,
    padding: list[int],
    fill: int | float | list[float] | None = None,
    padding_mode: str = "constant",
) -> torch.Tensor:
    """Adds borders: left, top, right, bottom, or one number for several."""
    raise NotImplementedError


@kernel(pad, *IMAGES)
def pad_image(
    image: torch.Tensor,
    padding: list[int],
    fill: int | float | list[float] | None = None,
    padding_mode: str = "constant",
) -> torch.Tensor:
    around = four(padding)
    if padding_mode not in _PADDING:
        raise ValueError(f"`padding_mode` should be one of {_PADDING}, but got `'{padding_mode}'`.")
    colours = [0.0] if fill is None else [fill] if isinstance(fill, (int, float)) else list(fill)
    if len(colours) > 1 and padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported if fill is not scalar")
    if padding_mode == "symmetric" or (min(around) < 0 and padding_mode == "edge"):
        return _repeated(image, around, padding_mode)
    frames = image.reshape(-1, *image.shape[-3:])
    if padding_mode == "constant":
        made = torch.nn.functional.pad(frames, around, value=float(colours[0]))
    else:
        exact = frames if frames.is_floating_point() else frames.float()
        mode = "replicate" if padding_mode == "edge" else padding_mode
        made = torch.nn.functional.pad(exact, around, mode=mode).to(image.dtype)
    if len(colours) > 1:
        _paint_border(made, around, colours)
    return made.reshape(image.shape[:-2] + made.shape[-2:])


def _paint_border(image: torch.Tensor, around: list[int], colours: list[Any]) -> None:
    colour = torch.tensor(colours, device=image.device).to(image.dtype).reshape(-1, 1, 1)
    left, right, top, bottom = (max(0, each) for each in around)
    height, width = image.shape[-2:]
    for rows, columns in (
        (slice(0, top), slice(None)),
        (slice(height - bottom, height), slice(None)),
        (slice(None), slice(0, left)),
        (slice(None), slice(width - right, width)),
    ):
        image[..., rows, columns] = colour


def _repeated(image: torch.Tensor, around: list[int], padding_mode: str) -> torch.Tensor:
    """Padding by picking rows and columns."""
    left, right, top, bottom = around
    for axis, before, after in ((-2, top, bottom), (-1, left, right)):
        extent = image.shape[axis]
        index = torch.arange(-before, extent + after, device=image.device)
        if padding_mode == "symmetric":
            index = index.remainder(2 * extent)
            index = torch.where(index < extent, index, 2 * extent - 1 - index)
        image = image.index_select(axis, index.clamp(0, extent - 1))
    return image


@kernel(pad, PIL.Image.Image)
def _pad_pil(
    image: PIL.Image.Image,
    padding: list[int],
    fill: int | float | list[float] | None = 0,
    padding_mode: str = "constant",
) -> PIL.Image.Image:
    left, right, top, bottom = four(padding)
    if padding_mode not in _PADDING:
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    if padding_mode == "constant":
        colour = pil_colour(fill, image, "fill")
        if image.mode == "P":
            padded = PIL.ImageOps.expand(image, border=(left, top, right, bottom), fill=colour)
            padded.putpalette(image.getpalette() or [])
            return padded
        return PIL.ImageOps.expand(image, border=(left, top, right, bottom), fill=colour)
    return _through_tensor(image, lambda pixels: _padded_by_picking(pixels, [left, right, top, bottom], padding_mode))


def _padded_by_picking(pixels: torch.Tensor, around: list[int], padding_mode: str) -> torch.Tensor:
    if padding_mode == "reflect":
        left, right, top, bottom = around
        for axis, before, after in ((-2, top, bottom), (-1, left, right)):
            extent = pixels.shape[axis]
            index = torch.arange(-before, extent + after).remainder(max(1, 2 * extent - 2))
            pixels = pixels.index_select(axis, torch.where(index < extent, index, 2 * extent - 2 - index))
        return pixels
    return _repeated(pixels, around, padding_mode)


def _through_tensor(image: PIL.Image.Image, change: Any) -> PIL.Image.Image:
    from avida.torchvision.transforms.v2.functional._conversions import pil_to_tensor, to_pil_image

    made = to_pil_image(change(pil_to_tensor(image)), mode=image.mode)
    if image.mode == "P":
        made.putpalette(image.getpalette() or [])
    return made


def pil_colour(fill: Any, image: PIL.Image.Image, name: str) -> Any:
    """A colour as Pillow wants it, from a number, numbers or None."""
    bands = len(image.getbands())
    fill = 0 if fill is None else fill
    if isinstance(fill, (int, float)):
        numbers: list[Any] = [fill] * bands
    else:
        numbers = list(fill) * bands if len(fill) == 1 else list(fill)
        if len(numbers) != bands:
            raise ValueError(
                f"The number of elements in '{name}' does not match the number of channels of the image "
                f"({len(numbers)} != {bands})"
            )
    if image.mode != "F":
        numbers = [int(number) for number in numbers]
    return numbers[0] if bands == 1 else tuple(numbers)


@annotation_kernel(pad, tv_tensors.Mask)
def pad_mask(
    mask: torch.Tensor,
    padding: list[int],
    fill: int | float | list[float] | None = None,
    padding_mode: str = "constant",
) -> torch.Tensor:
    if isinstance(fill, (tuple, list)):
        raise ValueError("Non-scalar fill value is not supported")
    return with_channel(mask, lambda image: pad_image(image, padding, fill or 0, padding_mode))


def _shift(like: torch.Tensor, format: Any, left: int, top: int) -> torch.Tensor:
    if format == tv_tensors.BoundingBoxFormat.XYXYXYXY:
        numbers = [left, top] * 4
    elif format == tv_tensors.BoundingBoxFormat.XYXY:
        numbers = [left, top] * 2
    else:
        numbers = [left, top] + [0] * (like.shape[-1] - 2)
    return torch.tensor(numbers, dtype=like.dtype, device=like.device)


@annotation_kernel(pad, tv_tensors.BoundingBoxes)
def pad_bounding_boxes(
    bounding_boxes: torch.Tensor,
    format: Any,
    canvas_size: Size,
    padding: list[int],
    padding_mode: str = "constant",
    clamping_mode: str | None = "soft",
) -> tuple[torch.Tensor, Size]:
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported with bounding boxes")
    left, right, top, bottom = four(padding)
    canvas = (canvas_size[0] + top + bottom, canvas_size[1] + left + right)
    moved = bounding_boxes + _shift(bounding_boxes, format, left, top)
    return clamped(moved, format, canvas, clamping_mode), canvas


@annotation_kernel(pad, tv_tensors.KeyPoints)
def pad_keypoints(
    keypoints: torch.Tensor, canvas_size: Size, padding: list[int], padding_mode: str = "constant"
) -> tuple[torch.Tensor, Size]:
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported with KeyPoints")
    left, right, top, bottom = four(padding)
    canvas = (canvas_size[0] + top + bottom, canvas_size[1] + left + right)
    return keypoints + torch.tensor([left, top], dtype=keypoints.dtype, device=keypoints.device), canvas


# --- crops ---


@functional
def crop(inpt: torch.Tensor, top: int, left: int, height: int, width: int) -> torch.Tensor:
    """A part of an image; black where it has nothing."""
    raise NotImplementedError


@kernel(crop, *IMAGES)
def crop_image(image: torch.Tensor, top: int, left: int, height: int, width: int) -> torch.Tensor:
    rows, columns = image.shape[-2:]
    bottom, right = top + height, left + width
    if top >= 0 and left >= 0 and bottom <= rows and right <= columns:
        return image[..., top:bottom, left:right]
    first_row, last_row = min(max(top, 0), rows), max(0, min(bottom, rows))
    first_column, last_column = min(max(left, 0), columns), max(0, min(right, columns))
    if first_row >= last_row or first_column >= last_column:
        return image.new_zeros((*image.shape[:-2], height, width))
    part = image[..., first_row:last_row, first_column:last_column]
    return pad_image(part, [first_column - left, first_row - top, right - last_column, bottom - last_row])


@kernel(crop, PIL.Image.Image)
def crop_pil(image: PIL.Image.Image, top: int, left: int, height: int, width: int) -> PIL.Image.Image:
    """A part of a PIL image."""
    return image.crop((left, top, left + width, top + height))


@annotation_kernel(crop, tv_tensors.Mask)
def crop_mask(mask: torch.Tensor, top: int, left: int, height: int, width: int) -> torch.Tensor:
    return with_channel(mask, lambda image: crop_image(image, top, left, height, width))


@annotation_kernel(crop, tv_tensors.BoundingBoxes)
def crop_bounding_boxes(
    bounding_boxes: torch.Tensor,
    format: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    clamping_mode: str | None = "soft",
) -> tuple[torch.Tensor, Size]:
    if is_rotated_bounding_format(format):
        crop = their_functional("crop_bounding_boxes", TURNED)
        return crop(bounding_boxes, format, top, left, height, width, clamping_mode)
    moved = bounding_boxes - _shift(bounding_boxes, format, left, top)
    return clamped(moved, format, (height, width), clamping_mode), (height, width)


@annotation_kernel(crop, tv_tensors.KeyPoints)
def crop_keypoints(keypoints: torch.Tensor, top: int, left: int, height: int, width: int) -> tuple[torch.Tensor, Size]:
    return keypoints - torch.tensor([left, top], dtype=keypoints.dtype, device=keypoints.device), (height, width)


@functional
def center_crop(inpt: torch.Tensor, output_size: list[int]) -> torch.Tensor:
    """The middle of an image; black where it has nothing."""
    raise NotImplementedError


def _middle(now: Any, output_size: Any) -> tuple[int, int, int, int]:
    height, width = two(output_size) if not isinstance(output_size, (int, float)) else [int(output_size)] * 2
    return round((now[0] - height) / 2.0), round((now[1] - width) / 2.0), height, width


def _middle_of_image(now: Any, output_size: Any) -> tuple[int, int, int, int]:
    """Where padding is needed, it is first made, with its own rounding."""
    top, left, height, width = _middle(now, output_size)
    around = [max(0, (size - extent) // 2) for size, extent in zip((height, width), now, strict=True)]
    if height > now[0]:
        top = -around[0]
    if width > now[1]:
        left = -around[1]
    return top, left, height, width


@kernel(center_crop, *IMAGES)
def center_crop_image(image: torch.Tensor, output_size: list[int]) -> torch.Tensor:
    return crop_image(image, *_middle_of_image(image.shape[-2:], output_size))


@kernel(center_crop, PIL.Image.Image)
def _center_crop_pil(image: PIL.Image.Image, output_size: list[int]) -> PIL.Image.Image:
    return crop_pil(image, *_middle_of_image((image.height, image.width), output_size))


@annotation_kernel(center_crop, tv_tensors.Mask)
def center_crop_mask(mask: torch.Tensor, output_size: list[int]) -> torch.Tensor:
    return with_channel(mask, lambda image: center_crop_image(image, output_size))


@annotation_kernel(center_crop, tv_tensors.BoundingBoxes)
def center_crop_bounding_boxes(
    bounding_boxes: torch.Tensor,
    format: Any,
    canvas_size: Size,
    output_size: list[int],
    clamping_mode: str | None = "soft",
) -> tuple[torch.Tensor, Size]:
    return crop_bounding_boxes(bounding_boxes, format, *_middle(canvas_size, output_size), clamping_mode)


@annotation_kernel(center_crop, tv_tensors.KeyPoints)
def center_crop_keypoints(inpt: torch.Tensor, canvas_size: Size, output_size: list[int]) -> tuple[torch.Tensor, Size]:
    return crop_keypoints(inpt, *_middle(canvas_size, output_size))


@functional
def five_crop(inpt: torch.Tensor, size: list[int]) -> Crops:
    """The four corners and the middle."""
    raise NotImplementedError


@functional
def ten_crop(inpt: torch.Tensor, size: list[int], vertical_flip: bool = False) -> Crops:
    """The four corners and the middle, and those of the mirrored image."""
    raise NotImplementedError


def _five(image: Any, now: Any, size: Any, crop: Any) -> Any:
    height, width = two(size)
    if height > now[0] or width > now[1]:
        raise ValueError(f"Requested crop size {size} is bigger than input size {tuple(now)}")
    down, right = now[0] - height, now[1] - width
    corners = [crop(image, top, left, height, width) for top in (0, down) for left in (0, right)]
    return (*corners, crop(image, *_middle(now, [height, width])))


@kernel(five_crop, *IMAGES)
def five_crop_image(image: torch.Tensor, size: list[int]) -> Crops:
    return _five(image, image.shape[-2:], size, crop_image)


@kernel(five_crop, PIL.Image.Image)
def _five_crop_pil(image: PIL.Image.Image, size: list[int]) -> tuple[PIL.Image.Image, ...]:
    return _five(image, (image.height, image.width), size, crop_pil)


@kernel(ten_crop, *IMAGES)
def ten_crop_image(image: torch.Tensor, size: list[int], vertical_flip: bool = False) -> Crops:
    mirrored = vertical_flip_image(image) if vertical_flip else horizontal_flip_image(image)
    return five_crop_image(image, size) + five_crop_image(mirrored, size)


@kernel(ten_crop, PIL.Image.Image)
def _ten_crop_pil(image: PIL.Image.Image, size: list[int], vertical_flip: bool = False) -> tuple[PIL.Image.Image, ...]:
    mirrored = _vertical_flip_pil(image) if vertical_flip else _horizontal_flip_pil(image)
    return _five_crop_pil(image, size) + _five_crop_pil(mirrored, size)


@functional
def erase(inpt: torch.Tensor, i: int, j: int, h: int, w: int, v: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    """Paints a rectangle: from row i and column j, of height h and width w, with what v has."""
    raise NotImplementedError


@kernel(erase, *IMAGES)
def erase_image(
    image: torch.Tensor, i: int, j: int, h: int, w: int, v: torch.Tensor, inplace: bool = False
) -> torch.Tensor:
    made = image if inplace else image.clone()
    made[..., i : i + h, j : j + w] = v
    return made


@kernel(erase, PIL.Image.Image)
def _erase_pil(
    image: PIL.Image.Image, i: int, j: int, h: int, w: int, v: torch.Tensor, inplace: bool = False
) -> PIL.Image.Image:
    return _through_tensor(image, lambda pixels: erase_image(pixels, i, j, h, w, v))


hflip, vflip = horizontal_flip, vertical_flip
horizontal_flip_mask = horizontal_flip_video = horizontal_flip_image
vertical_flip_mask = vertical_flip_video = vertical_flip_image
pad_video, crop_video, center_crop_video = pad_image, crop_image, center_crop_image
five_crop_video, ten_crop_video, erase_video = five_crop_image, ten_crop_image, erase_image
