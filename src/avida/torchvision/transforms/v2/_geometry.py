"""What moves pixels, and masks, boxes and points with them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import PIL.Image
import torch

from avida.torchvision import tv_tensors
from avida.torchvision.transforms._interpolation import Interpolation
from avida.torchvision.transforms.v2 import functional as F  # noqa: N812
from avida.torchvision.transforms.v2._transform import (
    ANNOTATIONS,
    RandomTransform,
    Transform,
    drawn,
    fills_of,
    get_bounding_boxes,
    has_all,
    has_any,
    numbers_of,
    query_size,
    size_of,
)
from avida.torchvision.transforms.v2.functional import is_pure_tensor
from avida.torchvision.transforms.v2.functional._sizes import four

Fill = Any  # a number, numbers, None, or a dict of them by the type of the input


def whole_number(least: int, most: int) -> int:
    """A whole number, neither of whose ends is left out."""
    return int(torch.randint(least, most + 1, (1,)))


class RandomHorizontalFlip(RandomTransform):
    """Mirrors left and right, with probability p."""

    _functional = F.horizontal_flip


class RandomVerticalFlip(RandomTransform):
    """Mirrors top and bottom, with probability p."""

    _functional = F.vertical_flip


# --- resizing ---


class Resize(Transform):
    """Resizes.

    Args:
        size: Height and width; one number is the length of the shorter side; None takes `max_size` for the longer one.
        interpolation: How pixels are interpolated.
        max_size: What the longer side may be at most.
        antialias: Whether what is made smaller is smoothed, for tensors; PIL images always are.
    """

    _functional = F.resize
    _arguments = ("size", "interpolation", "max_size", "antialias")

    def __init__(
        self,
        size: int | Sequence[int] | None,
        interpolation: Interpolation = "bilinear",
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        if isinstance(size, int):
            size = [size]
        elif size is None:
            if not isinstance(max_size, int):
                raise ValueError(f"max_size must be an integer when size is None, but got {max_size} instead.")
        elif not isinstance(size, Sequence) or len(size) not in (1, 2):
            raise ValueError(f"size can be an integer, a sequence of one or two integers, or None, but got {size}.")
        self.size = None if size is None else list(size)
        self.interpolation = interpolation
        self.max_size = max_size
        self.antialias = antialias


class _ResizesAtRandom(Transform):
    _functional = F.resize
    _arguments = ("interpolation", "antialias")


class RandomResize(_ResizesAtRandom):
    """Resizes so that the shorter side has a random length.

    Args:
        min_size: The least length.
        max_size: The largest length, which is left out.
        interpolation: How pixels are interpolated.
        antialias: As in Resize.
    """

    def __init__(
        self,
        min_size: int,
        max_size: int,
        interpolation: Interpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.min_size = min_size
        self.max_size = max_size
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"size": [int(torch.randint(self.min_size, self.max_size, ()))]}


class RandomShortestSize(_ResizesAtRandom):
    """Resizes so that the shorter side has one of some lengths.

    Args:
        min_size: The lengths.
        max_size: What the longer side may be at most.
        interpolation: How pixels are interpolated.
        antialias: As in Resize.
    """

    def __init__(
        self,
        min_size: list[int] | tuple[int, ...] | int,
        max_size: int | None = None,
        interpolation: Interpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.min_size = [min_size] if isinstance(min_size, int) else list(min_size)
        self.max_size = max_size
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        ratio = self.min_size[int(torch.randint(len(self.min_size), ()))] / min(height, width)
        if self.max_size is not None:
            ratio = min(ratio, self.max_size / max(height, width))
        return {"size": (int(height * ratio), int(width * ratio))}


class ScaleJitter(_ResizesAtRandom):
    """Resizes to a random share of what fits into a size.

    Args:
        target_size: The size.
        scale_range: The least and the largest share.
        interpolation: How pixels are interpolated.
        antialias: As in Resize.
    """

    def __init__(
        self,
        target_size: tuple[int, int],
        scale_range: tuple[float, float] = (0.1, 2.0),
        interpolation: Interpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.target_size = target_size
        self.scale_range = scale_range
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        low, high = self.scale_range
        ratio = min(self.target_size[1] / height, self.target_size[0] / width) * (low + torch.rand(1) * (high - low))
        return {"size": (int(height * ratio), int(width * ratio))}


# --- crops ---


class CenterCrop(Transform):
    """Takes the middle; black where there is nothing.

    Args:
        size: Height and width, or one number for both.
    """

    _functional = F.center_crop

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size = size_of(size)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.center_crop, inpt, output_size=self.size)


def draw_part(
    size: tuple[int, int], scale: Sequence[float], log_ratio: torch.Tensor, *, of_height: bool = False
) -> tuple[int, int]:
    """Height and width of a random part; the ratio is that of the width to the height, or the other way round."""
    area = size[0] * size[1] * drawn(scale[0], scale[1])
    ratio = torch.exp(torch.empty(1).uniform_(float(log_ratio[0]), float(log_ratio[1]))).item()
    longer, shorter = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
    return (longer, shorter) if of_height else (shorter, longer)


def check_scale_and_ratio(scale: Any, ratio: Any) -> None:
    """Warns of ranges that end before they begin."""
    if scale[0] > scale[1] or ratio[0] > ratio[1]:
        warnings.warn("Scale and ratio should be of kind (min, max)", stacklevel=3)


class RandomResizedCrop(Transform):
    """Takes a random part, and resizes it.

    Args:
        size: Height and width of the output, or one number for both.
        scale: The least and the largest share of the area.
        ratio: The least and the largest ratio of width to height.
        interpolation: How pixels are interpolated.
        antialias: As in Resize.
    """

    _functional = F.resized_crop
    _arguments = ("size", "interpolation", "antialias")

    def __init__(
        self,
        size: int | Sequence[int],
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Interpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.size = size_of(size)
        for name, ends in (("Scale", scale), ("Ratio", ratio)):
            if not isinstance(ends, Sequence) or len(ends) != 2:
                raise TypeError(f"{name} should be a sequence of two floats.")
        check_scale_and_ratio(scale, ratio)
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation
        self.antialias = antialias
        self._log_ratio = torch.log(torch.tensor(self.ratio))

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        for _ in range(10):
            h, w = draw_part((height, width), self.scale, self._log_ratio)
            if 0 < w <= width and 0 < h <= height:
                top, left = whole_number(0, height - h), whole_number(0, width - w)
                return {"top": top, "left": left, "height": h, "width": w}
        h, w, now = height, width, width / height  # as much of the middle as the ratio allows
        if now < min(self.ratio):
            h = round(width / min(self.ratio))
        elif now > max(self.ratio):
            w = round(height * max(self.ratio))
        return {"top": (height - h) // 2, "left": (width - w) // 2, "height": h, "width": w}


class _SeveralCrops(Transform):
    def check_inputs(self, flat_inputs: list[Any]) -> None:
        if has_any(flat_inputs, tv_tensors.BoundingBoxes, tv_tensors.Mask):
            raise TypeError(f"BoundingBoxes'es and Mask's are not supported by {type(self).__name__}()")

    def _call_kernel(self, functional: Any, inpt: Any, *args: Any, **kwargs: Any) -> Any:
        warn_of_annotation(self, inpt)
        return super()._call_kernel(functional, inpt, *args, **kwargs)


def warn_of_annotation(transform: Transform, inpt: Any) -> None:
    """Says of masks, boxes and points that they stay what they are."""
    if isinstance(inpt, ANNOTATIONS):
        warnings.warn(
            f"{type(transform).__name__}() is currently passing through inputs of type "
            f"tv_tensors.{type(inpt).__name__}. This will likely change in the future.",
            stacklevel=4,
        )


class FiveCrop(_SeveralCrops):
    """Makes five images: the corners and the middle.

    Args:
        size: Height and width, or one number for both.
    """

    _functional = F.five_crop
    _arguments = ("size",)

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size = size_of(size)


class TenCrop(_SeveralCrops):
    """Makes ten images: the corners and the middle, and those of the mirrored image.

    Args:
        size: Height and width, or one number for both.
        vertical_flip: Whether top and bottom are mirrored instead of left and right.
    """

    _functional = F.ten_crop
    _arguments = ("size", "vertical_flip")

    def __init__(self, size: int | Sequence[int], vertical_flip: bool = False) -> None:
        super().__init__()
        self.size = size_of(size)
        self.vertical_flip = vertical_flip


def _check_padding(padding: Any, padding_mode: Any) -> None:
    several = isinstance(padding, (tuple, list))
    if several and (len(padding) not in (1, 2, 4) or not all(isinstance(each, int) for each in padding)):
        raise ValueError(f"Padding must be an int or a 1, 2, or 4 element of tuple or list, got {padding}.")
    if not several and not isinstance(padding, int):
        raise ValueError(f"Padding must be an int or a 1, 2, or 4 element of tuple or list, got {padding}.")
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")


class Pad(Transform):
    """Adds borders.

    Args:
        padding: Left, top, right, bottom; or two numbers for left and top; or one for all.
        fill: What to fill them with.
        padding_mode: "constant", "edge", "reflect" or "symmetric".
    """

    _functional = F.pad
    _arguments = ("padding", "padding_mode")

    def __init__(self, padding: int | Sequence[int], fill: Fill = 0, padding_mode: str = "constant") -> None:
        super().__init__()
        _check_padding(padding, padding_mode)
        self.padding = padding if isinstance(padding, int) else list(padding)
        self.fill = fill
        self._fill = fills_of(fill)
        self.padding_mode = padding_mode


class RandomCrop(Transform):
    """Takes a random part of a size.

    Args:
        size: Height and width, or one number for both.
        padding: Borders that are added before.
        pad_if_needed: Whether what is too small gets borders.
        fill: What to fill them with.
        padding_mode: "constant", "edge", "reflect" or "symmetric".
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: Fill = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__()
        self.size = size_of(size)
        if pad_if_needed or padding is not None:
            _check_padding(0 if padding is None else padding, padding_mode)
        self.padding = four(padding) if padding else None  # left, right, top, bottom
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self._fill = fills_of(fill)
        self.padding_mode = padding_mode

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        now = list(query_size(flat_inputs))
        left, right, top, bottom = self.padding or (0, 0, 0, 0)
        around = [[top, bottom], [left, right]]
        starts = []
        for axis in (0, 1):
            missing = self.size[axis] - now[axis] - sum(around[axis])
            if self.pad_if_needed and missing > 0:
                around[axis] = [each + missing for each in around[axis]]
            now[axis] += sum(around[axis])
        if now[0] < self.size[0] or now[1] < self.size[1]:
            padded = "padded " if self.padding is not None else ""
            raise ValueError(
                f"Required crop size {tuple(self.size)} is larger than {padded}input image size {tuple(now)}."
            )
        for axis in (0, 1):
            spare = now[axis] - self.size[axis]
            starts.append(int(torch.randint(0, spare + 1, ())) if spare else 0)
        padding = [around[1][0], around[0][0], around[1][1], around[0][1]]
        return {
            "needs_crop": now != list(self.size),
            "top": starts[0],
            "left": starts[1],
            "height": self.size[0],
            "width": self.size[1],
            "needs_pad": any(padding),
            "padding": padding,
        }

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if params["needs_pad"]:
            fill, mode = self._fill_for(inpt), self.padding_mode
            inpt = self._call_kernel(F.pad, inpt, padding=params["padding"], fill=fill, padding_mode=mode)
        if params["needs_crop"]:
            window = {name: params[name] for name in ("top", "left", "height", "width")}
            inpt = self._call_kernel(F.crop, inpt, **window)
        return inpt


class RandomZoomOut(RandomTransform):
    """Puts the image somewhere on a larger canvas, with probability p.

    Args:
        fill: What the canvas is filled with.
        side_range: How many times as long its sides are: the least and the largest number.
        p: How often.
    """

    _functional = F.pad

    def __init__(self, fill: Fill = 0, side_range: Sequence[float] = (1.0, 4.0), p: float = 0.5) -> None:
        super().__init__(p=p)
        self.fill = fill
        self._fill = fills_of(fill)
        numbers_of(side_range, "side_range", (2,))
        self.side_range = side_range
        if side_range[0] < 1.0 or side_range[0] > side_range[1]:
            raise ValueError(f"Invalid side range provided {side_range}.")

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        ratio = self.side_range[0] + torch.rand(1) * (self.side_range[1] - self.side_range[0])
        more_rows, more_columns = int(height * ratio) - height, int(width * ratio) - width
        share = torch.rand(2)
        left, top = int(more_columns * share[0]), int(more_rows * share[1])
        return {"padding": [left, top, more_columns - left, more_rows - top]}


class RandomIoUCrop(Transform):
    """Takes a random part that shows enough of a box, as in the training of SSD.

    SanitizeBoundingBoxes belongs after it.

    Args:
        min_scale: The least share of height and width.
        max_scale: The largest share.
        min_aspect_ratio: The least ratio of width to height.
        max_aspect_ratio: The largest ratio.
        sampler_options: Overlaps, of which one is chosen, that a box must have with the part; 1 leaves all as it is.
        trials: How many parts are tried for each.
    """

    def __init__(
        self,
        min_scale: float = 0.3,
        max_scale: float = 1.0,
        min_aspect_ratio: float = 0.5,
        max_aspect_ratio: float = 2.0,
        sampler_options: list[float] | None = None,
        trials: int = 40,
    ) -> None:
        super().__init__()
        self.min_scale = min_scale
        self.max_scale = max_scale
        self.min_aspect_ratio = min_aspect_ratio
        self.max_aspect_ratio = max_aspect_ratio
        self.options = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0] if sampler_options is None else sampler_options
        self.trials = trials

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        images = (PIL.Image.Image, tv_tensors.Image, is_pure_tensor)
        if not (has_all(flat_inputs, tv_tensors.BoundingBoxes) and has_any(flat_inputs, *images)):
            raise TypeError(
                f"{type(self).__name__}() requires input sample to contain tensor or PIL images "
                "and bounding boxes. Sample can also contain masks."
            )

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        size, boxes = query_size(flat_inputs), get_bounding_boxes(flat_inputs)
        ends = F.convert_bounding_box_format(boxes.as_subclass(torch.Tensor), boxes.format, "XYXY").tolist()
        while True:
            least = self.options[int(torch.randint(0, len(self.options), (1,)))]
            if least >= 1.0:
                return {}
            for _ in range(self.trials):
                part = self._part(size)
                inside = [part is not None and _has_middle(part, each) for each in ends]
                if part is None or not any(inside):
                    continue
                if (
                    max(_overlap(part, each) for each, is_inside in zip(ends, inside, strict=True) if is_inside)
                    >= least
                ):
                    left, top, right, bottom = part
                    window = {"top": top, "left": left, "height": bottom - top, "width": right - left}
                    return {**window, "is_within_crop_area": torch.tensor(inside, device=boxes.device)}

    def _part(self, size: tuple[int, int]) -> list[int] | None:
        """Ends of a random part; None where it has another shape than is asked for."""
        share = (self.min_scale + (self.max_scale - self.min_scale) * torch.rand(2)).tolist()
        width, height = int(size[1] * share[0]), int(size[0] * share[1])
        if not self.min_aspect_ratio <= width / height <= self.max_aspect_ratio:
            return None
        place = torch.rand(2).tolist()
        left, top = int((size[1] - width) * place[0]), int((size[0] - height) * place[1])
        return [left, top, left + width, top + height] if width and height else None

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if not params:
            return inpt
        window = {name: params[name] for name in ("top", "left", "height", "width")}
        output = self._call_kernel(F.crop, inpt, **window)
        if isinstance(output, tv_tensors.BoundingBoxes):
            output[~params["is_within_crop_area"]] = 0  # which SanitizeBoundingBoxes takes away
        return output


def _has_middle(part: list[int], box: list[float]) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return part[0] < x < part[2] and part[1] < y < part[3]


def _overlap(part: list[int], box: list[float]) -> float:
    """What a part and a box have in common, as a share of what either has."""
    width = min(part[2], box[2]) - max(part[0], box[0])
    height = min(part[3], box[3]) - max(part[1], box[1])
    common = max(0.0, width) * max(0.0, height)
    either = (part[2] - part[0]) * (part[3] - part[1]) + (box[2] - box[0]) * (box[3] - box[1]) - common
    return common / either
