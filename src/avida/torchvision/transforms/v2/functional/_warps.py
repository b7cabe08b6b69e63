"""What moves pixels to places between pixels: affine maps, rotation, perspective, elastic distortion."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import PIL.Image
import torch

from avida.torchvision import tv_tensors
from avida.torchvision.transforms._interpolation import Interpolation, InterpolationMode, mode_of, pil_number
from avida.torchvision.transforms.v2.functional._boxes import (
    TURNED,
    Size,
    annotation_kernel,
    clamped,
    from_ends,
    move_boxes,
    move_points,
    to_ends,
    with_channel,
)
from avida.torchvision.transforms.v2.functional._crops import pil_colour
from avida.torchvision.transforms.v2.functional._dispatch import IMAGES, functional, kernel, their_functional
from avida.torchvision.transforms.v2.functional._operators import PIL_MODES, can_run, run, run_on_pil
from avida.torchvision.tv_tensors import is_rotated_bounding_format

Fill = list[float] | float | None
_NEAREST, _BILINEAR = InterpolationMode.NEAREST, InterpolationMode.BILINEAR
_ENDS = tv_tensors.BoundingBoxFormat.XYXY


# --- where pixels come from ---


Matrix = list[float]  # 3 x 3, by rows: small matrices are faster in plain Python


def _affine_matrix(
    center: Sequence[float], angle: float, translate: Sequence[float], scale: float, shear: Sequence[float]
) -> Matrix:
    """What brings positions of the input to the output: shear, rotation and scale about a centre."""
    turn, shear_x, shear_y = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    b = -a * math.tan(shear_x) - math.sin(turn)
    d = -c * math.tan(shear_x) + math.cos(turn)
    a, b, c, d = a * scale, b * scale, c * scale, d * scale
    x, y = center
    return [a, b, x + translate[0] - a * x - b * y, c, d, y + translate[1] - c * x - d * y, 0.0, 0.0, 1.0]


def _inverse(matrix: Matrix) -> Matrix:
    a, b, c, d, e, f, g, h, i = matrix
    determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    if determinant == 0:
        raise RuntimeError(f"expected a matrix that can be inverted, got {matrix}")
    adjugate = [e * i - f * h, c * h - b * i, b * f - c * e, f * g - d * i, a * i - c * g, c * d - a * f]
    adjugate += [d * h - e * g, b * g - a * h, a * e - b * d]
    return [each / determinant for each in adjugate]


def _shifted(matrix: Matrix, x: float, y: float) -> Matrix:
    """An affine matrix, and then a translation."""
    return [*matrix[:2], matrix[2] + x, *matrix[3:5], matrix[5] + y, *matrix[6:]]


def _on_points(matrix: Matrix) -> torch.Tensor:
    return torch.tensor(matrix, dtype=torch.float64).reshape(3, 3)


def _about(center: Any, size: Any) -> list[float]:
    return [size[1] * 0.5, size[0] * 0.5] if center is None else [float(each) for each in center]


def _checked(angle: Any, translate: Any, scale: Any, shear: Any, center: Any) -> tuple[float, Any, Any]:
    """Angle, translation and shear of an affine map, if they are what is expected."""
    if not isinstance(angle, (int, float)):
        raise TypeError("Argument angle should be int or float")
    if not isinstance(translate, (list, tuple)):
        raise TypeError("Argument translate should be a sequence")
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    if not isinstance(shear, (numbers.Number, list, tuple)):
        raise TypeError("Shear should be either a single value or a sequence of two values")
    if not isinstance(shear, (list, tuple)):
        shear = [shear, 0.0]
    elif len(shear) == 1:
        shear = [shear[0], shear[0]]
    if len(shear) != 2:
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")
    if center is not None and not isinstance(center, (list, tuple)):
        raise TypeError("Argument center should be a sequence")
    return float(angle), translate, shear


def _check_fill(image: torch.Tensor, fill: Fill, mode: InterpolationMode) -> None:
    if isinstance(fill, (tuple, list)):
        if len(fill) > 1 and len(fill) != image.shape[-3]:
            raise ValueError(
                "The number of elements in 'fill' cannot broadcast to match the number of channels of the image "
                f"({len(fill)} != {image.shape[-3]})"
            )
    elif fill is not None and not isinstance(fill, (int, float)):
        raise ValueError("Argument fill should be either int, float, tuple or list")
    if mode not in (_NEAREST, _BILINEAR):
        raise ValueError(f"Interpolation mode '{mode.value}' is unsupported with Tensor input")


def _warped(
    image: torch.Tensor, inverse: Matrix, mode: InterpolationMode, fill: Fill, size: Sequence[int]
) -> torch.Tensor:
    """An image whose pixels come from where a matrix brings the corners of the output's pixels."""
    _check_fill(image, fill, mode)
    if can_run(image):
        return run("experimental.warp_perspective", image, **_warp_arguments(inverse, mode, fill, size))
    height, width = size
    dtype = image.dtype if image.is_floating_point() else torch.float32
    y, x = torch.meshgrid(torch.arange(height) + 0.5, torch.arange(width) + 0.5, indexing="ij")
    places = torch.stack([x, y, torch.ones_like(x)], -1).double() @ _on_points(inverse).T
    places = places[..., :2] / places[..., 2:]
    grid = places / torch.tensor([image.shape[-1] / 2, image.shape[-2] / 2]) - 1
    return _sampled(image, grid[None].to(device=image.device, dtype=dtype), mode, fill)


def _warp_arguments(inverse: Matrix, mode: InterpolationMode, fill: Fill, size: Sequence[int]) -> dict[str, Any]:
    colours = [0.0] if fill is None else [float(fill)] if isinstance(fill, (int, float)) else [float(x) for x in fill]
    return {
        "matrix": inverse,
        "size": [float(size[0]), float(size[1])],
        "interp_type": 0 if mode == _NEAREST else 1,
        "fill_value": colours,
    }


def _sampled(image: torch.Tensor, grid: torch.Tensor, mode: InterpolationMode, fill: Fill) -> torch.Tensor:
    """What an image has at places from -1 to 1, 1 x H x W x 2, in PyTorch's arithmetic."""
    shape = (*image.shape[:-2], *grid.shape[1:3])
    if image.numel() == 0:
        return image.new_empty(shape)
    frames = image.reshape(-1, *image.shape[-3:])
    exact = frames.to(grid.dtype)
    if fill is not None:  # a channel that says how much of the image is there
        exact = torch.cat([exact, torch.ones_like(exact[:, :1])], 1)
    grid = grid.expand(len(exact), -1, -1, -1)
    made = torch.nn.functional.grid_sample(exact, grid, mode=mode.value, padding_mode="zeros", align_corners=False)
    if fill is not None:
        made, there = made[:, :-1], made[:, -1:]
        colour = torch.tensor(fill if isinstance(fill, (tuple, list)) else [fill], dtype=made.dtype)
        colour = colour.to(made.device).view(1, -1, 1, 1)
        made = torch.where(there < 0.5, colour, made) if mode == _NEAREST else (made - colour) * there + colour
    made = made if image.dtype == grid.dtype else made.round_().to(image.dtype)
    return made.reshape(shape)


def _warped_pil(
    image: PIL.Image.Image, inverse: Matrix, kind: Any, mode: InterpolationMode, fill: Fill
) -> PIL.Image.Image:
    """Pillow picks nearest neighbours fast; the operator interpolates faster, and in more exact arithmetic."""
    colour = pil_colour(fill, image, "fill")
    if mode == _BILINEAR and image.mode in PIL_MODES and image.width and image.height:
        size = (image.height, image.width)
        numbers = colour if isinstance(colour, tuple) else [colour]
        arguments = _warp_arguments(inverse, mode, [float(number) for number in numbers], size)
        return run_on_pil("experimental.warp_perspective", image, **arguments)
    numbers = [each / inverse[8] for each in inverse]
    count = 6 if kind == PIL.Image.Transform.AFFINE else 8
    return image.transform(image.size, kind, numbers[:count], pil_number(mode), fillcolor=colour)


# --- affine ---


@functional
def affine(
    inpt: torch.Tensor,
    angle: int | float,
    translate: list[float],
    scale: float,
    shear: list[float],
    interpolation: Interpolation = InterpolationMode.NEAREST,
    fill: Fill = None,
    center: list[float] | None = None,
) -> torch.Tensor:
    """Turns clockwise by an angle in degrees, scales, shears and moves, about the middle or `center`."""
    raise NotImplementedError


@kernel(affine, *IMAGES)
def affine_image(
    image: torch.Tensor,
    angle: int | float,
    translate: list[float],
    scale: float,
    shear: list[float],
    interpolation: Interpolation = InterpolationMode.NEAREST,
    fill: Fill = None,
    center: list[float] | None = None,
) -> torch.Tensor:
    mode = mode_of(interpolation)
    angle, translate, shear = _checked(angle, translate, scale, shear, center)
    size = image.shape[-2:]
    matrix = _affine_matrix(_about(center, size), angle, translate, scale, shear)
    return _warped(image, _inverse(matrix), mode, fill, size)


@kernel(affine, PIL.Image.Image)
def _affine_pil(
    image: PIL.Image.Image,
    angle: int | float,
    translate: list[float],
    scale: float,
    shear: list[float],
    interpolation: Interpolation = InterpolationMode.NEAREST,
    fill: Fill = None,
    center: list[float] | None = None,
) -> PIL.Image.Image:
    mode = mode_of(interpolation)
    angle, translate, shear = _checked(angle, translate, scale, shear, center)
    matrix = _affine_matrix(_about(center, (image.height, image.width)), angle, translate, scale, shear)
    return _warped_pil(image, _inverse(matrix), PIL.Image.Transform.AFFINE, mode, fill)


@annotation_kernel(affine, tv_tensors.Mask)
def affine_mask(
    mask: torch.Tensor,
    angle: int | float,
    translate: list[float],
    scale: float,
    shear: list[float],
    fill: Fill = None,
    center: list[float] | None = None,
) -> torch.Tensor:
    arguments = (angle, translate, scale, shear, _NEAREST, fill, center)
    return with_channel(mask, lambda image: affine_image(image, *arguments))


@annotation_kernel(affine, tv_tensors.BoundingBoxes)
def affine_bounding_boxes(
    bounding_boxes: torch.Tensor,
    format: Any,
    canvas_size: Size,
    angle: int | float,
    translate: list[float],
    scale: float,
    shear: list[float],
    center: list[float] | None = None,
    clamping_mode: str | None = "soft",
) -> torch.Tensor:
    if is_rotated_bounding_format(format):
        affine = their_functional("affine_bounding_boxes", TURNED)
        return affine(
            bounding_boxes, format, canvas_size, angle, translate, scale, shear, center, clamping_mode=clamping_mode
        )
    angle, translate, shear = _checked(angle, translate, scale, shear, center)
    matrix = _affine_matrix(_about(center, canvas_size), angle, translate, scale, shear)
    return _moved(bounding_boxes, format, canvas_size, matrix, clamping_mode).to(bounding_boxes.dtype)


def _moved(boxes: torch.Tensor, format: Any, canvas_size: Size, matrix: Matrix, mode: str | None) -> torch.Tensor:
    """Boxes whose corners a matrix has moved, and what is inside of the image; whole numbers as floats."""
    if boxes.numel() == 0:
        return boxes
    made = clamped(
        move_boxes(boxes, format, lambda points: move_points(points, _on_points(matrix))), _ENDS, canvas_size, mode
    )
    return from_ends(made, format).reshape(boxes.shape)


@annotation_kernel(affine, tv_tensors.KeyPoints)
def affine_keypoints(
    keypoints: torch.Tensor,
    canvas_size: Size,
    angle: int | float,
    translate: list[float],
    scale: float,
    shear: list[float],
    center: list[float] | None = None,
) -> tuple[torch.Tensor, Size]:
    angle, translate, shear = _checked(angle, translate, scale, shear, center)
    matrix = _affine_matrix(_about(center, canvas_size), angle, translate, scale, shear)
    return move_points(keypoints, _on_points(matrix)).to(keypoints.dtype), canvas_size


# --- rotation ---


@functional
def rotate(
    inpt: torch.Tensor,
    angle: float,
    interpolation: Interpolation = InterpolationMode.NEAREST,
    expand: bool = False,
    center: list[float] | None = None,
    fill: Fill = None,
) -> torch.Tensor:
    """Turns counter-clockwise by an angle in degrees; the image grows until all of it is visible, if `expand`."""
    raise NotImplementedError


def _rotation(angle: float, now: Any, expand: bool, center: Any) -> tuple[Matrix, Size]:
    """Where pixels go, and the size of the output."""
    matrix = _affine_matrix(_about(center, now), -angle, [0.0, 0.0], 1.0, [0.0, 0.0])
    if not expand:
        return matrix, (now[0], now[1])
    # Corners, from the middle of the image: a little over a whole number is still that number.
    half = torch.tensor([now[1] / 2, now[0] / 2])
    corners = torch.tensor([[-1.0, -1], [-1, 1], [1, 1], [1, -1]]) * half
    offset = (torch.tensor(_about(center, now)) - half).tolist()
    inverse = _affine_matrix(offset, angle, [0.0, 0.0], 1.0, [0.0, 0.0])
    places = move_points(corners, _on_points(inverse)) + half
    low = ((places.amin(0) * 1e4).trunc() * 1e-4).floor()
    high = ((places.amax(0) * 1e4).trunc() * 1e-4).ceil()
    width, height = (int(each) for each in high - low)
    return matrix, (height, width)


@kernel(rotate, *IMAGES)
def rotate_image(
    image: torch.Tensor,
    angle: float,
    interpolation: Interpolation = InterpolationMode.NEAREST,
    expand: bool = False,
    center: list[float] | None = None,
    fill: Fill = None,
) -> torch.Tensor:
    mode, angle = mode_of(interpolation), angle % 360
    if center is None and angle % 90 == 0:
        if angle == 0:
            return image.clone()
        if angle == 180 or expand or image.shape[-1] == image.shape[-2]:
            return torch.rot90(image, int(angle // 90), (-2, -1))
    matrix, size = _rotation(angle, image.shape[-2:], expand, center)
    if expand:  # the middle of the image comes to the middle of the output
        matrix = _shifted(matrix, (size[1] - image.shape[-1]) / 2, (size[0] - image.shape[-2]) / 2)
    return _warped(image, _inverse(matrix), mode, fill, size)


@kernel(rotate, PIL.Image.Image)
def _rotate_pil(
    image: PIL.Image.Image,
    angle: float,
    interpolation: Interpolation = InterpolationMode.NEAREST,
    expand: bool = False,
    center: list[float] | None = None,
    fill: Fill = None,
) -> PIL.Image.Image:
    mode = mode_of(interpolation)
    if mode == _BILINEAR and not expand and angle % 90:
        matrix, _ = _rotation(angle, (image.height, image.width), False, center)
        return _warped_pil(image, _inverse(matrix), PIL.Image.Transform.AFFINE, mode, fill)
    middle: Any = None if center is None else tuple(center)
    colour = pil_colour(fill, image, "fill")
    return image.rotate(angle, pil_number(mode), expand=expand, center=middle, fillcolor=colour)


@annotation_kernel(rotate, tv_tensors.Mask)
def rotate_mask(
    mask: torch.Tensor,
    angle: float,
    expand: bool = False,
    center: list[float] | None = None,
    fill: Fill = None,
) -> torch.Tensor:
    return with_channel(mask, lambda image: rotate_image(image, angle, _NEAREST, expand, center, fill))


def _rotation_of_points(canvas_size: Size, angle: float, expand: bool, center: Any) -> tuple[Matrix, Size]:
    matrix, size = _rotation(angle, canvas_size, expand, center)
    if expand:
        height, width = canvas_size
        corners = torch.tensor([[0, 0], [0, height], [width, height], [width, 0]]).double()
        x, y = move_points(corners, _on_points(matrix)).amin(0).tolist()
        matrix = _shifted(matrix, -x, -y)
    return matrix, size


@annotation_kernel(rotate, tv_tensors.BoundingBoxes)
def rotate_bounding_boxes(
    bounding_boxes: torch.Tensor,
    format: Any,
    canvas_size: Size,
    angle: float,
    expand: bool = False,
    center: list[float] | None = None,
    clamping_mode: str | None = "soft",
) -> tuple[torch.Tensor, Size]:
    if is_rotated_bounding_format(format):
        rotate = their_functional("rotate_bounding_boxes", TURNED)
        return rotate(bounding_boxes, format, canvas_size, angle, expand, center, clamping_mode)
    if bounding_boxes.numel() == 0:
        return bounding_boxes, canvas_size
    matrix, size = _rotation_of_points(canvas_size, angle, expand, center)
    return _moved(bounding_boxes, format, size, matrix, clamping_mode).to(bounding_boxes.dtype), size


@annotation_kernel(rotate, tv_tensors.KeyPoints)
def rotate_keypoints(
    keypoints: torch.Tensor,
    canvas_size: Size,
    angle: float,
    expand: bool = False,
    center: list[float] | None = None,
) -> tuple[torch.Tensor, Size]:
    matrix, size = _rotation_of_points(canvas_size, angle, expand, center)
    return move_points(keypoints, _on_points(matrix)).to(keypoints.dtype), size


# --- perspective ---


@functional
def perspective(
    inpt: torch.Tensor,
    startpoints: list[list[int]] | None,
    endpoints: list[list[int]] | None,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
    coefficients: list[float] | None = None,
) -> torch.Tensor:
    """Brings four points of the image to four others; `coefficients` are those of the way back."""
    raise NotImplementedError


def perspective_coefficients(startpoints: Any, endpoints: Any) -> list[float]:
    """The eight numbers that bring endpoints to startpoints."""
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise ValueError(f"Please provide exactly four corners, got {len(startpoints)} startpoints, {len(endpoints)}")
    rows, targets = [], []
    for (x, y), (u, v) in zip(endpoints, startpoints, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        targets += [u, v]
    solved = torch.linalg.lstsq(
        torch.tensor(rows, dtype=torch.float64), torch.tensor(targets, dtype=torch.float64), driver="gels"
    )
    return solved.solution.float().tolist()


def _way_back(startpoints: Any, endpoints: Any, coefficients: Any) -> Matrix:
    if coefficients is not None:
        if startpoints is not None and endpoints is not None:
            raise ValueError("The startpoints/endpoints and the coefficients shouldn't be defined concurrently.")
        if len(coefficients) != 8:
            raise ValueError("Argument coefficients should have 8 float values")
    elif startpoints is None or endpoints is None:
        raise ValueError("Either the startpoints/endpoints or the coefficients must have non `None` values.")
    else:
        coefficients = perspective_coefficients(startpoints, endpoints)
    return [*(float(each) for each in coefficients), 1.0]


@kernel(perspective, *IMAGES)
def perspective_image(
    image: torch.Tensor,
    startpoints: list[list[int]] | None,
    endpoints: list[list[int]] | None,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
    coefficients: list[float] | None = None,
) -> torch.Tensor:
    inverse = _way_back(startpoints, endpoints, coefficients)
    return _warped(image, inverse, mode_of(interpolation), fill, image.shape[-2:])


@kernel(perspective, PIL.Image.Image)
def _perspective_pil(
    image: PIL.Image.Image,
    startpoints: list[list[int]] | None,
    endpoints: list[list[int]] | None,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
    coefficients: list[float] | None = None,
) -> PIL.Image.Image:
    inverse = _way_back(startpoints, endpoints, coefficients)
    return _warped_pil(image, inverse, PIL.Image.Transform.PERSPECTIVE, mode_of(interpolation), fill)


@annotation_kernel(perspective, tv_tensors.Mask)
def perspective_mask(
    mask: torch.Tensor,
    startpoints: list[list[int]] | None,
    endpoints: list[list[int]] | None,
    fill: Fill = None,
    coefficients: list[float] | None = None,
) -> torch.Tensor:
    arguments = (startpoints, endpoints, _NEAREST, fill, coefficients)
    return with_channel(mask, lambda image: perspective_image(image, *arguments))


@annotation_kernel(perspective, tv_tensors.BoundingBoxes)
def perspective_bounding_boxes(
    bounding_boxes: torch.Tensor,
    format: Any,
    canvas_size: Size,
    startpoints: list[list[int]] | None,
    endpoints: list[list[int]] | None,
    coefficients: list[float] | None = None,
    clamping_mode: str | None = "soft",
) -> torch.Tensor:
    inverse = _way_back(startpoints, endpoints, coefficients)
    if is_rotated_bounding_format(format):
        perspective = their_functional("perspective_bounding_boxes", TURNED)
        return perspective(
            bounding_boxes, format, canvas_size, startpoints, endpoints, coefficients, clamping_mode=clamping_mode
        )
    ends = to_ends(bounding_boxes, format)
    made = _moved(ends, _ENDS, canvas_size, _inverse(inverse), clamping_mode)
    return from_ends(made, format).to(bounding_boxes.dtype)


@annotation_kernel(perspective, tv_tensors.KeyPoints)
def perspective_keypoints(
    keypoints: torch.Tensor,
    canvas_size: Size,
    startpoints: list[list[int]] | None,
    endpoints: list[list[int]] | None,
    coefficients: list[float] | None = None,
) -> torch.Tensor:
    matrix = _inverse(_way_back(startpoints, endpoints, coefficients))
    return move_points(keypoints, _on_points(matrix)).to(keypoints.dtype)


affine_video, rotate_video, perspective_video = affine_image, rotate_image, perspective_image
