"""What changes colours: brightness, contrast, saturation, hue and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import PIL.Image
import PIL.ImageEnhance
import PIL.ImageOps
import torch

from avida.torchvision import tv_tensors
from avida.torchvision.transforms.v2.functional._conversions import bits_of, most_of, to_dtype_image
from avida.torchvision.transforms.v2.functional._dispatch import IMAGES, functional, kernel, their_functional
from avida.torchvision.transforms.v2.functional._operators import PIL_MODES, can_run, run, run_on_pil

_GRAY = (0.2989, 0.587, 0.114)
_OTHER = "avida's operator takes uint8 and float32 in memory, outside of autograd"


def _adjusted(image: torch.Tensor, name: str, factor: float) -> torch.Tensor | None:
    """What the operator makes; None where it cannot."""
    if image.shape[-3] in (1, 3) and can_run(image):
        return run("augment.adjust_colors", image, **{name: factor})
    return None


def _check_colours(image: torch.Tensor, name: str, factor: float, channels: Sequence[int] = (1, 3)) -> None:
    if factor < 0:
        raise ValueError(f"{name} ({factor}) is not non-negative.")
    _check_channels(image, channels)


def _check_channels(image: torch.Tensor, channels: Sequence[int] = (1, 3)) -> None:
    if image.shape[-3] not in channels:
        raise TypeError(
            f"Input image tensor permitted channel values are {' or '.join(map(str, channels))}, "
            f"but found {image.shape[-3]}"
        )


def _adjusted_pil(image: PIL.Image.Image, name: str, factor: float, enhance: Any) -> PIL.Image.Image:
    if factor >= 0 and image.mode in PIL_MODES and image.width and image.height:
        return run_on_pil("augment.adjust_colors", image, **{name: factor})
    return enhance(image).enhance(factor)


def _gray(image: torch.Tensor) -> torch.Tensor:
    """One channel, of floats where the image has whole numbers."""
    if image.shape[-3] == 1:
        return image if image.is_floating_point() else image.float()
    red, green, blue = image.unbind(-3)
    return red.mul(_GRAY[0]).add_(green, alpha=_GRAY[1]).add_(blue, alpha=_GRAY[2]).unsqueeze(-3)


def _blended(image: torch.Tensor, other: torch.Tensor, factor: float) -> torch.Tensor:
    """Between another image, at 0, and the image, at 1, and beyond: for what the operator does not take."""
    made = image.mul(float(factor)).add(other, alpha=1.0 - factor)
    return made.clamp_(0, most_of(image.dtype)).to(image.dtype)


# --- to and from gray ---


@functional
def rgb_to_grayscale(inpt: torch.Tensor, num_output_channels: int = 1) -> torch.Tensor:
    """Gray images of one channel or three."""
    raise NotImplementedError


@kernel(rgb_to_grayscale, torch.Tensor, tv_tensors.Image)
def rgb_to_grayscale_image(image: torch.Tensor, num_output_channels: int = 1) -> torch.Tensor:
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels}.")
    if image.shape[-3] == 1 and num_output_channels == 3:
        return grayscale_to_rgb_image(image)
    if image.shape[-3] == 1:
        return image.clone()
    gray = _gray(image).to(image.dtype)
    return gray.expand(*image.shape[:-3], num_output_channels, *image.shape[-2:])


@kernel(rgb_to_grayscale, PIL.Image.Image)
def _gray_pil(image: PIL.Image.Image, num_output_channels: int = 1) -> PIL.Image.Image:
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels}.")
    gray = image.convert("L")
    return gray if num_output_channels == 1 else PIL.Image.merge("RGB", [gray] * 3)


@functional
def grayscale_to_rgb(inpt: torch.Tensor) -> torch.Tensor:
    """Three equal channels from one."""
    raise NotImplementedError


@kernel(grayscale_to_rgb, torch.Tensor, tv_tensors.Image)
def grayscale_to_rgb_image(image: torch.Tensor) -> torch.Tensor:
    if image.shape[-3] >= 3:
        return image
    return image.expand(*image.shape[:-3], 3, *image.shape[-2:]).contiguous()


@kernel(grayscale_to_rgb, PIL.Image.Image)
def _rgb_pil(image: PIL.Image.Image) -> PIL.Image.Image:
    return image.convert("RGB")


def to_grayscale(inpt: Any, num_output_channels: int = 1) -> Any:
    """The older name of `rgb_to_grayscale`."""
    return rgb_to_grayscale(inpt, num_output_channels=num_output_channels)


# --- what ColorJitter does ---


@functional
def adjust_brightness(inpt: torch.Tensor, brightness_factor: float) -> torch.Tensor:
    """Multiplies all colours: 0 is black, 1 changes nothing."""
    raise NotImplementedError


@kernel(adjust_brightness, *IMAGES)
def adjust_brightness_image(image: torch.Tensor, brightness_factor: float) -> torch.Tensor:
    _check_colours(image, "brightness_factor", brightness_factor)
    made = _adjusted(image, "brightness", brightness_factor)
    return _blended(image, torch.zeros((), device=image.device), brightness_factor) if made is None else made


@kernel(adjust_brightness, PIL.Image.Image)
def _brightness_pil(image: PIL.Image.Image, brightness_factor: float) -> PIL.Image.Image:
    return _adjusted_pil(image, "brightness", brightness_factor, PIL.ImageEnhance.Brightness)


@functional
def adjust_contrast(inpt: torch.Tensor, contrast_factor: float) -> torch.Tensor:
    """Multiplies distances from the mean gray: 0 is gray, 1 changes nothing."""
    raise NotImplementedError


@kernel(adjust_contrast, *IMAGES)
def adjust_contrast_image(image: torch.Tensor, contrast_factor: float) -> torch.Tensor:
    _check_colours(image, "contrast_factor", contrast_factor)
    made = _adjusted(image, "contrast", contrast_factor)
    if made is not None:
        return made
    gray = _gray(image)
    mean = (gray if image.is_floating_point() else gray.floor()).mean((-3, -2, -1), keepdim=True)
    return _blended(image, mean, contrast_factor)


@kernel(adjust_contrast, PIL.Image.Image)
def _contrast_pil(image: PIL.Image.Image, contrast_factor: float) -> PIL.Image.Image:
    return _adjusted_pil(image, "contrast", contrast_factor, PIL.ImageEnhance.Contrast)


@functional
def adjust_saturation(inpt: torch.Tensor, saturation_factor: float) -> torch.Tensor:
    """Multiplies distances from each pixel's gray: 0 is gray, 1 changes nothing."""
    raise NotImplementedError


@kernel(adjust_saturation, *IMAGES)
def adjust_saturation_image(image: torch.Tensor, saturation_factor: float) -> torch.Tensor:
    _check_colours(image, "saturation_factor", saturation_factor)
    if image.shape[-3] == 1:
        return image
    made = _adjusted(image, "saturation", saturation_factor)
    if made is not None:
        return made
    gray = _gray(image)
    return _blended(image, gray if image.is_floating_point() else gray.floor(), saturation_factor)


@kernel(adjust_saturation, PIL.Image.Image)
def _saturation_pil(image: PIL.Image.Image, saturation_factor: float) -> PIL.Image.Image:
    return _adjusted_pil(image, "saturation", saturation_factor, PIL.ImageEnhance.Color)


@functional
def adjust_hue(inpt: torch.Tensor, hue_factor: float) -> torch.Tensor:
    """Turns the hue by a share of a circle, from -0.5 to 0.5."""
    raise NotImplementedError


def _check_hue(hue_factor: float) -> None:
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")


@kernel(adjust_hue, *IMAGES)
def adjust_hue_image(image: torch.Tensor, hue_factor: float) -> torch.Tensor:
    _check_hue(hue_factor)
    _check_channels(image)
    if image.shape[-3] == 1 or image.numel() == 0:
        return image
    made = _adjusted(image, "hue", hue_factor)
    if made is None:
        made = their_functional("adjust_hue_image", _OTHER)(image, hue_factor)
    return made


@kernel(adjust_hue, PIL.Image.Image)
def _hue_pil(image: PIL.Image.Image, hue_factor: float) -> PIL.Image.Image:
    _check_hue(hue_factor)
    if image.mode in ("L", "1", "I", "F"):
        return image
    if image.mode == "RGB" and image.width and image.height:
        return run_on_pil("augment.adjust_colors", image, hue=hue_factor)
    hue, saturation, value = image.convert("HSV").split()
    hue = hue.point([(i + int(hue_factor * 255)) % 256 for i in range(256)])
    return PIL.Image.merge("HSV", (hue, saturation, value)).convert(image.mode)


def several_adjustments(inpt: Any, order: Sequence[int], factors: dict[str, float]) -> Any:
    """Brightness (0), contrast, saturation and hue (3) in one pass, in an order; None where the operator cannot."""
    if not order:
        return inpt
    arguments = {**factors, "order": [*order, *(i for i in range(4) if i not in order)]}
    if isinstance(inpt, PIL.Image.Image):
        fits = inpt.mode == "RGB" and inpt.width and inpt.height
        return run_on_pil("augment.adjust_colors", inpt, **arguments) if fits else None
    if type(inpt) not in IMAGES:
        return None
    pixels = inpt.as_subclass(torch.Tensor)
    if pixels.ndim < 3 or pixels.shape[-3] != 3 or not can_run(pixels):
        return None
    made = run("augment.adjust_colors", pixels, **arguments)
    return made if type(inpt) is torch.Tensor else tv_tensors.wrap(made, like=inpt)


# --- tones ---


@functional
def adjust_gamma(inpt: torch.Tensor, gamma: float, gain: float = 1) -> torch.Tensor:
    """Raises colours from 0 to 1 to a power, and multiplies them."""
    raise NotImplementedError


@kernel(adjust_gamma, *IMAGES)
def adjust_gamma_image(image: torch.Tensor, gamma: float, gain: float = 1.0) -> torch.Tensor:
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number")
    exact = image if image.is_floating_point() else to_dtype_image(image, torch.float32, scale=True)
    made = exact.pow(gamma)
    if gain != 1.0:
        made = made.mul_(gain).clamp_(0.0, 1.0)
    return to_dtype_image(made, image.dtype, scale=True)


@kernel(adjust_gamma, PIL.Image.Image)
def _gamma_pil(image: PIL.Image.Image, gamma: float, gain: float = 1.0) -> PIL.Image.Image:
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number")
    table = [int((255 + 1 - 1e-3) * gain * pow(i / 255.0, gamma)) for i in range(256)] * 3
    return image.convert("RGB").point(table).convert(image.mode)


@functional
def adjust_sharpness(inpt: torch.Tensor, sharpness_factor: float) -> torch.Tensor:
    """Blurred at 0, as it is at 1, sharper beyond."""
    raise NotImplementedError


@kernel(adjust_sharpness, *IMAGES)
def adjust_sharpness_image(image: torch.Tensor, sharpness_factor: float) -> torch.Tensor:
    _check_colours(image, "sharpness_factor", sharpness_factor)
    height, width = image.shape[-2:]
    if image.numel() == 0 or height <= 2 or width <= 2:
        return image
    exact = image if image.is_floating_point() else image.float()
    rows = exact[..., :-2, :] + exact[..., 1:-1, :] + exact[..., 2:, :]
    inner = (rows[..., :-2] + rows[..., 1:-1]).add_(rows[..., 2:])
    inner = inner.add_(exact[..., 1:-1, 1:-1], alpha=4.0).mul_(1.0 / 13)
    if not image.is_floating_point():
        inner.round_()
    made = exact.clone() if exact is image else exact
    made[..., 1:-1, 1:-1].lerp_(inner, 1.0 - sharpness_factor)
    return made.clamp_(0, most_of(image.dtype)).to(image.dtype)


@kernel(adjust_sharpness, PIL.Image.Image)
def _sharpness_pil(image: PIL.Image.Image, sharpness_factor: float) -> PIL.Image.Image:
    return PIL.ImageEnhance.Sharpness(image).enhance(sharpness_factor)


@functional
def posterize(inpt: torch.Tensor, bits: int) -> torch.Tensor:
    """Keeps the highest bits of each colour."""
    raise NotImplementedError


@kernel(posterize, *IMAGES)
def posterize_image(image: torch.Tensor, bits: int) -> torch.Tensor:
    if not isinstance(bits, int) or not 0 <= bits <= 8:
        raise TypeError(f"bits must be a positive integer in the range [0, 8], got {bits} instead.")
    if image.is_floating_point():
        levels = 1 << bits
        return image.mul(levels).floor_().clamp_(0, levels - 1).mul_(1.0 / levels)
    whole = bits_of(image.dtype)
    return image if bits >= whole else image & (((1 << bits) - 1) << (whole - bits))


@kernel(posterize, PIL.Image.Image)
def _posterize_pil(image: PIL.Image.Image, bits: int) -> PIL.Image.Image:
    return PIL.ImageOps.posterize(image, bits)


@functional
def solarize(inpt: torch.Tensor, threshold: float) -> torch.Tensor:
    """Inverts the colours that are not below a threshold."""
    raise NotImplementedError


@kernel(solarize, *IMAGES)
def solarize_image(image: torch.Tensor, threshold: float) -> torch.Tensor:
    if threshold > most_of(image.dtype):
        raise TypeError(f"Threshold should be less or equal the maximum value of the dtype, but got {threshold}")
    if image.ndim >= 3 and can_run(image):
        return run("augment.solarize", image, threshold=threshold)
    return torch.where(image >= threshold, invert_image(image), image)


@kernel(solarize, PIL.Image.Image)
def _solarize_pil(image: PIL.Image.Image, threshold: float) -> PIL.Image.Image:
    return PIL.ImageOps.solarize(image, threshold)  # type: ignore[arg-type]  # any number


@functional
def autocontrast(inpt: torch.Tensor) -> torch.Tensor:
    """Stretches each channel from its lowest and highest values to black and white."""
    raise NotImplementedError


@kernel(autocontrast, *IMAGES)
def autocontrast_image(image: torch.Tensor) -> torch.Tensor:
    _check_channels(image)
    if image.numel() == 0:
        return image
    if can_run(image):
        return run("augment.autocontrast", image)
    most = most_of(image.dtype)
    exact = image if image.is_floating_point() else image.float()
    low, high = exact.amin((-2, -1), keepdim=True), exact.amax((-2, -1), keepdim=True)
    flat = low == high
    low, scale = torch.where(flat, 0, low), torch.where(flat, 1, (high - low) / most)
    return ((exact - low) / scale).clamp_(0, most).to(image.dtype)


@kernel(autocontrast, PIL.Image.Image)
def _autocontrast_pil(image: PIL.Image.Image) -> PIL.Image.Image:
    return PIL.ImageOps.autocontrast(image)


@functional
def equalize(inpt: torch.Tensor) -> torch.Tensor:
    """Makes all values of a channel about equally frequent."""
    raise NotImplementedError


@kernel(equalize, *IMAGES)
def equalize_image(image: torch.Tensor) -> torch.Tensor:
    """By Pillow: the tables of avida's `equalize` are others."""
    if image.numel() == 0:
        return image
    exact = to_dtype_image(image, torch.uint8, scale=True)
    planes = exact.reshape(-1, *exact.shape[-2:]).cpu().numpy()
    equal = [np.asarray(PIL.ImageOps.equalize(PIL.Image.fromarray(plane))) for plane in planes]
    made = torch.from_numpy(np.stack(equal)).to(image.device)
    return to_dtype_image(made.reshape(exact.shape), image.dtype, scale=True)


@kernel(equalize, PIL.Image.Image)
def _equalize_pil(image: PIL.Image.Image) -> PIL.Image.Image:
    return PIL.ImageOps.equalize(image)


@functional
def invert(inpt: torch.Tensor) -> torch.Tensor:
    """Makes dark what is bright, and the other way round."""
    raise NotImplementedError


@kernel(invert, *IMAGES)
def invert_image(image: torch.Tensor) -> torch.Tensor:
    if image.is_floating_point():
        return 1.0 - image
    if image.dtype == torch.uint8:
        return image.bitwise_not()
    return image.bitwise_xor((1 << bits_of(image.dtype)) - 1)


@kernel(invert, PIL.Image.Image)
def _invert_pil(image: PIL.Image.Image) -> PIL.Image.Image:
    return PIL.ImageOps.invert(image)


@functional
def permute_channels(inpt: torch.Tensor, permutation: list[int]) -> torch.Tensor:
    """Channels in another order."""
    raise NotImplementedError


@kernel(permute_channels, *IMAGES)
def permute_channels_image(image: torch.Tensor, permutation: list[int]) -> torch.Tensor:
    if len(permutation) != image.shape[-3]:
        raise ValueError(
            f"Length of permutation does not match number of channels: {len(permutation)} != {image.shape[-3]}"
        )
    order = torch.as_tensor(permutation, device=image.device)
    return image.index_select(-3, order) if image.numel() else image


@kernel(permute_channels, PIL.Image.Image)
def _permute_channels_pil(image: PIL.Image.Image, permutation: list[int]) -> PIL.Image.Image:
    bands = image.split()
    if len(permutation) != len(bands):
        raise ValueError(f"Length of permutation does not match number of channels: {len(permutation)} != {len(bands)}")
    return PIL.Image.merge(image.mode, [bands[i] for i in permutation])


adjust_brightness_video, adjust_contrast_video = adjust_brightness_image, adjust_contrast_image
adjust_saturation_video, adjust_hue_video = adjust_saturation_image, adjust_hue_image
adjust_gamma_video, adjust_sharpness_video = adjust_gamma_image, adjust_sharpness_image
posterize_video, solarize_video, autocontrast_video = posterize_image, solarize_image, autocontrast_image
equalize_video, invert_video, permute_channels_video = equalize_image, invert_image, permute_channels_image
