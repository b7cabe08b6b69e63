"""What moves pixels to places between pixels: rotation, affine maps, perspective, elastic distortion; blur."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from avida.torchvision.transforms._interpolation import Interpolation
from avida.torchvision.transforms.v2 import functional as F  # noqa: N812
from avida.torchvision.transforms.v2._geometry import Fill, whole_number
from avida.torchvision.transforms.v2._transform import (
    RandomTransform,
    Transform,
    drawn,
    fills_of,
    numbers_of,
    pair_of,
    query_size,
    range_of_angles,
    size_of,
)
from avida.torchvision.transforms.v2.functional._warps import perspective_coefficients


class RandomRotation(Transform):
    """Turns by a random angle.

    Args:
        degrees: The least and the largest angle; one number for both directions.
        interpolation: How pixels are interpolated.
        expand: Whether the image grows until all of it is visible.
        center: What is turned about; by default the middle.
        fill: What to fill the rest with.
    """

    _functional = F.rotate
    _arguments = ("interpolation", "expand", "center")

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: Interpolation = "nearest",
        expand: bool = False,
        center: list[float] | None = None,
        fill: Fill = 0,
    ) -> None:
        super().__init__()
        self.degrees = range_of_angles(degrees, "degrees")
        self.interpolation = interpolation
        self.expand = expand
        self.fill = fill
        self._fill = fills_of(fill)
        if center is not None:
            numbers_of(center, "center", (2,))
        self.center = center

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"angle": drawn(*self.degrees)}


class RandomAffine(Transform):
    """Turns, moves, scales and shears at random.

    Args:
        degrees: The least and the largest angle; one number for both directions.
        translate: How far it moves at most, in shares of width and height.
        scale: The least and the largest factor.
        shear: The least and the largest angle of x, and perhaps those of y.
        interpolation: How pixels are interpolated.
        fill: What to fill the rest with.
        center: What is turned about; by default the middle.
    """

    _functional = F.affine
    _arguments = ("interpolation", "center")

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: Interpolation = "nearest",
        fill: Fill = 0,
        center: list[float] | None = None,
    ) -> None:
        super().__init__()
        self.degrees = range_of_angles(degrees, "degrees")
        if translate is not None:
            numbers_of(translate, "translate", (2,))
            if any(not 0.0 <= each <= 1.0 for each in translate):
                raise ValueError("translation values should be between 0 and 1")
        self.translate = translate
        if scale is not None:
            numbers_of(scale, "scale", (2,))
            if any(each <= 0 for each in scale):
                raise ValueError("scale values should be positive")
        self.scale = scale
        self.shear = None if shear is None else range_of_angles(shear, "shear", (2, 4))
        self.interpolation = interpolation
        self.fill = fill
        self._fill = fills_of(fill)
        if center is not None:
            numbers_of(center, "center", (2,))
        self.center = center

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        angle, translate = drawn(*self.degrees), (0, 0)
        if self.translate is not None:
            far = float(self.translate[0] * width), float(self.translate[1] * height)
            translate = (round(drawn(-far[0], far[0])), round(drawn(-far[1], far[1])))
        scale = 1.0 if self.scale is None else drawn(*self.scale)
        shear = [0.0, 0.0]
        for i in range(0, len(self.shear or ()), 2):
            shear[i // 2] = drawn(*self.shear[i : i + 2])  # type: ignore[index]
        return {"angle": angle, "translate": translate, "scale": scale, "shear": tuple(shear)}


class RandomPerspective(RandomTransform):
    """Brings the corners to random places, with probability p.

    Args:
        distortion_scale: How far they move at most, as a share of half of width and height.
        p: How often.
        interpolation: How pixels are interpolated.
        fill: What to fill the rest with.
    """

    _functional = F.perspective
    _arguments = ("interpolation",)

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: Interpolation = "bilinear",
        fill: Fill = 0,
    ) -> None:
        super().__init__(p=p)
        if not 0 <= distortion_scale <= 1:
            raise ValueError("Argument distortion_scale value should be between 0 and 1")
        self.distortion_scale = distortion_scale
        self.interpolation = interpolation
        self.fill = fill
        self._fill = fills_of(fill)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        rows = int(self.distortion_scale * (height // 2))
        columns = int(self.distortion_scale * (width // 2))
        right, bottom = width - 1, height - 1
        corners = [[0, 0], [right, 0], [right, bottom], [0, bottom]]
        places = []
        for x, y in corners:
            column = whole_number(x - columns, x) if x else whole_number(0, columns)
            row = whole_number(y - rows, y) if y else whole_number(0, rows)
            places.append([column, row])
        coefficients = perspective_coefficients(corners, places)
        return {"startpoints": None, "endpoints": None, "coefficients": coefficients}


class ElasticTransform(Transform):
    """Moves each pixel by a smooth random field.

    Args:
        alpha: How far.
        sigma: How smooth the field is.
        interpolation: How pixels are interpolated.
        fill: What to fill the rest with.
    """

    _functional = F.elastic
    _arguments = ("interpolation",)

    def __init__(
        self,
        alpha: float | Sequence[float] = 50.0,
        sigma: float | Sequence[float] = 5.0,
        interpolation: Interpolation = "bilinear",
        fill: Fill = 0,
    ) -> None:
        super().__init__()
        self.alpha = pair_of(alpha, "alpha")
        self.sigma = pair_of(sigma, "sigma")
        self.interpolation = interpolation
        self.fill = fill
        self._fill = fills_of(fill)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        fields = []
        for alpha, sigma, extent in zip(self.alpha, self.sigma, (width, height), strict=True):
            field = torch.rand(1, 1, height, width) * 2 - 1
            if sigma > 0.0:
                field = self._call_kernel(
                    F.gaussian_blur, field, [int(8 * sigma + 1) // 2 * 2 + 1] * 2, list(self.sigma)
                )
            fields.append(field * alpha / extent)
        return {"displacement": torch.cat(fields, 1).permute(0, 2, 3, 1)}


class GaussianBlur(Transform):
    """Blurs with a random deviation.

    Args:
        kernel_size: The size of the window, odd: of x and y, or one number for both.
        sigma: The least and the largest deviation, or one number.
    """

    _functional = F.gaussian_blur
    _arguments = ("kernel_size",)

    def __init__(self, kernel_size: int | Sequence[int], sigma: float | Sequence[float] = (0.1, 2.0)) -> None:
        super().__init__()
        self.kernel_size = size_of(kernel_size, "Kernel size should be a tuple/list of two integers")
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        self.sigma = pair_of(sigma, "sigma")
        if not 0.0 < self.sigma[0] <= self.sigma[1]:
            raise ValueError(f"sigma values should be positive and of the form (min, max). Got {self.sigma}")

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"sigma": [drawn(*self.sigma)] * 2}
