"""What the augmentations of the papers do to images: each a function with a parameter for each sample.

They follow Pillow, with which the papers' results were made, within rounding. They take Batches and Scenes of bytes,
uint16 and floats (colours from 0 to 1): HWC, CHW, FHWC and FCHW.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from avida import _ops, reductions
from avida._scenes.scene import Scene
from avida._values.batch import Batch, as_batch
from avida._values.dtype import DType, uint8, uint16
from avida._values.tensor import Tensor
from avida._values.typing import FixedInterpType, FloatArg, FloatsArg
from avida.augment import _ops as augment_ops
from avida.math import clamp
from avida.types import INTERP_NN

_SMOOTH = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], np.float32) / 13
_UNCHANGED = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)


def white_of(dtype: DType) -> float:
    """The value of white: colours of floats are from 0 to 1."""
    return 255.0 if dtype == uint8 else 65535.0 if dtype == uint16 else 1.0


def layout_of(images: Batch) -> str:
    """The layout, with the channels last where there is none."""
    return images.layout or "FHWC"[-images.ndim :]


def _numbers(value: Any, samples: int) -> np.ndarray:
    """A parameter as an array with one row for each sample."""
    value = value.cpu() if isinstance(value, Batch | Tensor) else value
    rows = [np.asarray(row, np.float32) for row in value] if isinstance(value, Batch) else None
    return np.stack(rows) if rows else np.broadcast_to(np.asarray(value, np.float32), (samples,))


def _per_sample(rows: np.ndarray) -> Batch:
    return as_batch(np.ascontiguousarray(rows))


def _image(x: Any) -> Any:
    return x.image if isinstance(x, Scene) else x


def _showing(x: Any, image: Batch) -> Any:
    return x._showing(image) if isinstance(x, Scene) else image


def _clamped(x: Any, changed: Batch) -> Any:
    """With changed images, of which colours stay between black and white: integers do by themselves."""
    if changed.dtype.kind == DType.Kind.float:
        changed = _ops.cast(clamp(changed, 0, 1), dtype=changed.dtype)
    return _showing(x, changed)


def gray_or(value: float | None, images: Any) -> float:
    """A given value, or mid-gray of these images: 128 of 255."""
    return 128 * white_of(_image(images).dtype) / 255 if value is None else value


def _channels(images: Batch) -> int:
    return images.shape[0][layout_of(images).index("C")] if images.batch_size else 0


def _on_frames(x: Any, function: Callable[[Any], Any]) -> Any:
    """Applies a function that needs the channels last, and keeps sizes: channels that are first become frames."""
    images = _image(x)
    layout = layout_of(images)
    if layout not in ("CHW", "FCHW"):
        return function(x)
    shapes = np.array(images.shape, np.int32).reshape(images.batch_size, images.ndim)
    frames = np.column_stack([shapes[:, :-2].prod(axis=1), shapes[:, -2:], np.ones(len(shapes), np.int32)])
    seen = _ops.reshape(images, shape=_per_sample(frames.astype(np.int32)), layout="FHWC")
    made = function(_showing(x, seen))
    return _showing(made, _ops.reshape(_image(made), shape=_per_sample(shapes), layout=layout))


def shear_x(
    images: Any, factor: FloatArg, *, fill_value: float | None = None, interp_type: FixedInterpType = INTERP_NN
) -> Any:
    """Shears images along x: each row moves left by ``factor`` pixels more."""
    return _shear(images, factor, (0, 1), fill_value, interp_type)


def shear_y(
    images: Any, factor: FloatArg, *, fill_value: float | None = None, interp_type: FixedInterpType = INTERP_NN
) -> Any:
    """Shears images along y: each column moves up by ``factor`` pixels more."""
    return _shear(images, factor, (1, 0), fill_value, interp_type)


def _shear(images: Any, factor: FloatArg, at: tuple[int, int], fill_value: float | None, interp_type: Any) -> Any:
    samples = _image(images).batch_size
    matrices = np.tile(np.eye(2, 3, dtype=np.float32), (samples, 1, 1))
    matrices[:, at[0], at[1]] = _numbers(factor, samples)
    options = {"matrix": _per_sample(matrices), "fill_value": gray_or(fill_value, images), "interp_type": interp_type}
    return _on_frames(images, lambda frames: _ops.warp_affine(frames, **options))


def translate(
    images: Any,
    x: FloatsArg = 0,
    y: FloatsArg = 0,
    *,
    relative: bool = False,
    fill_value: float | None = None,
) -> Any:
    """Moves images to the left and up by an integer number of pixels.

    If ``relative``, the distances are fractions of width and height.
    """
    pixels = _image(images)
    n = pixels.batch_size
    offsets = np.stack([_numbers(y, n), _numbers(x, n)], axis=1)
    if relative:
        height = layout_of(pixels).index("H")
        offsets *= np.array([shape[height : height + 2] for shape in pixels.shape], np.float32).reshape(n, 2)
    window = {"start": _per_sample(np.trunc(offsets).astype(np.int32)), "axis_names": "HW", "rel_shape": [1.0, 1.0]}
    return _ops.slice(images, **window, out_of_bounds_policy="pad", fill_values=gray_or(fill_value, images))


def translate_x(images: Any, distance: FloatArg, *, relative: bool = False, fill_value: float | None = None) -> Any:
    """Moves images to the left."""
    return translate(images, x=distance, relative=relative, fill_value=fill_value)


def translate_y(images: Any, distance: FloatArg, *, relative: bool = False, fill_value: float | None = None) -> Any:
    """Moves images up."""
    return translate(images, y=distance, relative=relative, fill_value=fill_value)


def rotate(
    images: Any, angle: FloatArg, *, fill_value: float | None = None, interp_type: FixedInterpType = INTERP_NN
) -> Any:
    """Rotates images counter-clockwise about their centre; they keep their size."""
    options = {"angle": angle, "keep_size": True, "fill_value": gray_or(fill_value, images), "interp_type": interp_type}
    return _on_frames(images, lambda frames: _ops.rotate(frames, **options))


def brightness(images: Any, factor: FloatArg) -> Any:
    """Multiplies all colours: 0 is black, 1 changes nothing."""
    return _clamped(images, _ops.brightness(_image(images), brightness=factor))


def contrast(images: Any, factor: FloatArg) -> Any:
    """Scales the contrast: 0 gives the mean gray of the image, 1 changes nothing.

    Of images that are neither RGB nor gray, the mean is that of all channels.
    """
    pixels = _image(images)
    if _channels(pixels) in (0, 1, 3):
        return augment_ops.adjust_colors(images, contrast=factor)
    mean = reductions.mean(pixels, axes=[*range(pixels.ndim)])
    return _clamped(images, _ops.brightness_contrast(pixels, contrast=factor, contrast_center=mean))


def color(images: Any, factor: FloatArg) -> Any:
    """Scales the saturation: 0 gives gray, 1 changes nothing.

    Images that are not RGB stay as they are.
    """
    pixels = _image(images)
    return _clamped(images, _ops.saturation(pixels, saturation=factor)) if _channels(pixels) == 3 else images


def sharpness(images: Any, factor: FloatArg) -> Any:
    """Smooths or sharpens images: 0 is smoothed, 1 changes nothing, 2 is sharpened.

    Pixels at the border stay as they are.
    """
    samples = _image(images).batch_size
    factors = _numbers(factor, samples)[:, None, None]
    kernels = _per_sample(factors * _UNCHANGED + (1 - factors) * _SMOOTH)

    def within_border(frames: Any) -> Any:
        pixels = _image(frames)
        layout = layout_of(pixels)
        height = layout.index("H")
        sizes = np.array([shape[height : height + 2] for shape in pixels.shape], np.int32).reshape(samples, 2)
        inner = np.minimum(1, sizes // 2)
        places = np.stack([np.zeros_like(inner), inner], axis=1)
        extents = np.stack([sizes, np.maximum(sizes - 2 * inner, 0)], axis=1)
        filtered = _ops.filter(pixels, kernels)
        pasted = _ops.multi_paste(
            pixels,
            filtered,
            in_anchors=_per_sample(places),
            out_anchors=_per_sample(places),
            shapes=_per_sample(extents),
            output_size=_per_sample(sizes),
            dtype=pixels.dtype,
        )
        return _clamped(frames, pasted)

    return _on_frames(images, within_border)


def equalize(images: Any) -> Any:
    """Spreads the values of each channel, so that all become about equally frequent.

    Of uint16 and floats the 256 levels that bytes have are spread.
    """
    pixels = _image(images)
    if pixels.dtype == uint8:
        return _ops.equalize(images)
    steps = (white_of(pixels.dtype) + (pixels.dtype == uint16)) / 256
    levels = _ops.cast(pixels * (1 / steps) - 0.4999, dtype=uint8)  # casts round; this is the level below
    made = _ops.cast(_ops.equalize(levels) * (white_of(pixels.dtype) / 255), dtype=pixels.dtype)
    return _showing(images, made)


def solarize_levels(images: Any, levels: FloatArg) -> Any:
    """Inverts what is at least as bright as a level, of which white is the 255th."""
    white = white_of(_image(images).dtype)
    threshold: Any = levels
    return augment_ops.solarize(images, threshold if white == 255 else threshold * (white / 255))


def solarize_add(images: Any, levels: FloatArg) -> Any:
    """Makes dark colours brighter by whole levels, of which white is the 255th.

    Those from the 128th level on stay as they are."""
    pixels = _image(images)
    white = white_of(pixels.dtype)
    added = np.floor(_numbers(levels, pixels.batch_size)).astype(np.float32) * np.float32(white / 255)
    brighter = _ops.cast(pixels + (pixels < 128 * white / 255) * _per_sample(added), dtype=pixels.dtype)
    return _showing(images, brighter)


def blur(images: Any, sigma: FloatArg) -> Any:
    """Blurs images by a Gaussian."""
    return _ops.gaussian_blur(images, sigma=sigma)
