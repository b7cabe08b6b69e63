"""What the augmentations of the papers do to images: each a function on a Batch, with a parameter for each sample.

They follow Pillow, with which the papers' results were made, within rounding. Images are bytes, HWC or FHWC.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from avida import _ops
from avida._scenes.scene import Scene
from avida._values.batch import Batch, as_batch
from avida._values.tensor import Tensor
from avida._values.typing import FixedInterpType, FloatArg, FloatsArg
from avida.augment._ops import adjust_colors
from avida.types import INTERP_NN

Images = TypeVar("Images", Batch, Scene)

_SMOOTH = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], np.float32) / 13
_UNCHANGED = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)


def _numbers(value: Any, samples: int) -> np.ndarray:
    """A parameter as an array with one row for each sample."""
    value = value.cpu() if isinstance(value, Batch | Tensor) else value
    rows = [np.asarray(row, np.float32) for row in value] if isinstance(value, Batch) else None
    return np.stack(rows) if rows else np.broadcast_to(np.asarray(value, np.float32), (samples,))


def _per_sample(rows: np.ndarray) -> Batch:
    return as_batch(np.ascontiguousarray(rows))


def shear_x(
    images: Images, factor: FloatArg, *, fill_value: float = 128, interp_type: FixedInterpType = INTERP_NN
) -> Images:
    """Shears images along x: each row moves left by ``factor`` pixels more."""
    return _shear(images, factor, (0, 1), fill_value, interp_type)


def shear_y(
    images: Images, factor: FloatArg, *, fill_value: float = 128, interp_type: FixedInterpType = INTERP_NN
) -> Images:
    """Shears images along y: each column moves up by ``factor`` pixels more."""
    return _shear(images, factor, (1, 0), fill_value, interp_type)


def _shear(images: Images, factor: FloatArg, at: tuple[int, int], fill_value: float, interp_type: Any) -> Images:
    matrices = np.tile(np.eye(2, 3, dtype=np.float32), (images.batch_size, 1, 1))
    matrices[:, at[0], at[1]] = _numbers(factor, images.batch_size)
    return _ops.warp_affine(images, matrix=_per_sample(matrices), fill_value=fill_value, interp_type=interp_type)


def translate(
    images: Images, x: FloatsArg = 0, y: FloatsArg = 0, *, relative: bool = False, fill_value: float = 128
) -> Images:
    """Moves images to the left and up by an integer number of pixels.

    If ``relative``, the distances are fractions of width and height.
    """
    n = images.batch_size
    shown: Any = images.image if isinstance(images, Scene) else images
    offsets = np.stack([_numbers(y, n), _numbers(x, n)], axis=1)
    if relative:
        height = (shown.layout or "FHWC"[-shown.ndim :]).index("H")
        offsets *= np.array([shape[height : height + 2] for shape in shown.shape], np.float32).reshape(n, 2)
    window = {"start": _per_sample(np.trunc(offsets).astype(np.int32)), "axis_names": "HW", "rel_shape": [1.0, 1.0]}
    return _ops.slice(images, **window, out_of_bounds_policy="pad", fill_values=fill_value)


def rotate(
    images: Images, angle: FloatArg, *, fill_value: float = 128, interp_type: FixedInterpType = INTERP_NN
) -> Images:
    """Rotates images counter-clockwise about their centre; they keep their size."""
    return _ops.rotate(images, angle=angle, keep_size=True, fill_value=fill_value, interp_type=interp_type)


def brightness(images: Batch, factor: FloatArg) -> Batch:
    """Multiplies all colours: 0 is black, 1 changes nothing."""
    return _ops.brightness(images, brightness=factor)


def contrast(images: Batch, factor: FloatArg) -> Batch:
    """Scales the contrast: 0 gives the mean gray of the image, 1 changes nothing."""
    return adjust_colors(images, contrast=factor)


def color(images: Batch, factor: FloatArg) -> Batch:
    """Scales the saturation: 0 gives gray, 1 changes nothing.

    Gray images stay as they are.
    """
    return images if images.shape[0][-1] == 1 else _ops.saturation(images, saturation=factor)


def sharpness(images: Batch, factor: FloatArg) -> Batch:
    """Smooths or sharpens images: 0 is smoothed, 1 changes nothing, 2 is sharpened."""
    factors = _numbers(factor, images.batch_size)[:, None, None]
    return _ops.filter(images, _per_sample(factors * _UNCHANGED + (1 - factors) * _SMOOTH))


def equalize(images: Batch) -> Batch:
    """Spreads the values of each channel, so that all become about equally frequent."""
    return _ops.equalize(images)
