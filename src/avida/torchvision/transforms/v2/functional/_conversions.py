"""From images of one kind to another: PIL, NumPy, tensors, element types; numbers that are normalized."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import PIL.Image
import torch

from avida.torchvision import tv_tensors
from avida.torchvision.transforms.v2.functional._boxes import annotation_kernel
from avida.torchvision.transforms.v2.functional._dispatch import IMAGES, functional, kernel, their_functional
from avida.torchvision.transforms.v2.functional._operators import can_run, run

_BITS = {torch.uint8: 8, torch.int8: 7, torch.uint16: 16, torch.int16: 15, torch.int32: 31, torch.int64: 63}
_MODE_OF_ONE = {"uint8": "L", "int16": "I;16", "uint16": "I;16", "int32": "I", "float32": "F"}
_MODES = {2: ("LA",), 3: ("RGB", "YCbCr", "HSV"), 4: ("RGBA", "CMYK", "RGBX")}


def bits_of(dtype: torch.dtype) -> int:
    """How many bits the numbers of an integer type have, without the sign."""
    if dtype not in _BITS:
        raise TypeError(f"Number of value bits is only defined for integer dtypes, but got {dtype}.")
    return _BITS[dtype]


def most_of(dtype: torch.dtype) -> int:
    """What white is: the largest number of an integer type, 1 for others."""
    return (1 << _BITS[dtype]) - 1 if dtype in _BITS else 1


# --- PIL, NumPy ---


def pil_to_tensor(pic: Any) -> torch.Tensor:
    """The pixels of a PIL image, C x H x W, as they are."""
    if not isinstance(pic, PIL.Image.Image):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    pixels = torch.from_numpy(np.array(pic))
    return pixels.view(pic.height, pic.width, len(pic.getbands())).permute(2, 0, 1)


def to_tensor(inpt: Any) -> torch.Tensor:
    """A PIL image or an array as a tensor: bytes as floats from 0 to 1. Deprecated."""
    if isinstance(inpt, np.ndarray):
        if inpt.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {inpt.ndim} dimensions.")
        pixels = torch.from_numpy(inpt[:, :, None] if inpt.ndim == 2 else inpt).permute(2, 0, 1).contiguous()
    elif isinstance(inpt, PIL.Image.Image):
        pixels = pil_to_tensor(inpt).contiguous()
        if inpt.mode == "1":
            pixels = pixels.to(torch.uint8) * 255
        elif pixels.dtype == torch.uint16:
            pixels = pixels.view(torch.int16)  # as torchvision has it
    else:
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(inpt)}")
    return pixels.to(torch.get_default_dtype()).div_(255) if pixels.dtype == torch.uint8 else pixels


def to_image(inpt: Any) -> Any:
    """A `tv_tensors.Image` of a PIL image, an array H x W x C, or a tensor."""
    if isinstance(inpt, np.ndarray):
        pixels = torch.from_numpy(np.atleast_3d(inpt)).permute(2, 0, 1).contiguous()
    elif isinstance(inpt, PIL.Image.Image):
        pixels = pil_to_tensor(inpt)
    elif isinstance(inpt, torch.Tensor):
        pixels = inpt
    else:
        raise TypeError(
            f"Input can either be a pure Tensor, a numpy array, or a PIL image, but got {type(inpt)} instead."
        )
    return tv_tensors.Image(pixels)


def to_pil_image(inpt: Any, mode: str | None = None) -> PIL.Image.Image:
    """A PIL image of a tensor C x H x W, or of an array H x W x C; floats are from 0 to 1."""
    if isinstance(inpt, torch.Tensor):
        pixels = (inpt.permute(1, 2, 0) if inpt.ndim == 3 else inpt).numpy(force=True)
    elif isinstance(inpt, np.ndarray):
        pixels = inpt
    else:
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(inpt)}.")
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3:
        raise ValueError(f"pic should be 2/3 dimensional. Got {pixels.ndim} dimensions.")
    channels = pixels.shape[2]
    if channels > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {channels} channels.")
    if pixels.dtype.kind == "f" and mode != "F":
        pixels = (pixels * 255).astype(np.uint8)
    if channels == 1:
        expected = _MODE_OF_ONE.get(str(pixels.dtype))
        if mode is not None and mode != expected:
            raise ValueError(f"Incorrect mode ({mode}) supplied for input type {pixels.dtype}. Should be {expected}")
        mode, pixels = expected, pixels[:, :, 0]
    elif mode is not None and mode not in _MODES[channels]:
        raise ValueError(f"Only modes {list(_MODES[channels])} are supported for {channels}D inputs")
    elif mode is None and pixels.dtype == np.uint8:
        mode = _MODES[channels][0]
    if mode is None:
        raise TypeError(f"Input type {pixels.dtype} is not supported")
    made = PIL.Image.fromarray(np.ascontiguousarray(pixels))
    return made if made.mode == mode else PIL.Image.frombytes(mode, made.size, made.tobytes())


# --- element types ---


@functional
def to_dtype(inpt: torch.Tensor, dtype: torch.dtype = torch.float32, scale: bool = False) -> torch.Tensor:
    """Another element type; with `scale`, white stays white: 255 of bytes is 1 of floats."""
    raise NotImplementedError


@kernel(to_dtype, *IMAGES)
def to_dtype_image(image: torch.Tensor, dtype: torch.dtype = torch.float32, scale: bool = False) -> torch.Tensor:
    old = image.dtype
    if old == dtype:
        return image
    if not scale or (old.is_floating_point and dtype.is_floating_point):
        return image.to(dtype)
    if dtype.is_floating_point:
        return image.to(dtype).mul_(1.0 / most_of(old))
    if old.is_floating_point:
        if dtype == torch.int64 or (old == torch.float32 and dtype == torch.int32):
            raise RuntimeError(f"The conversion from {old} to {dtype} cannot be performed safely.")
        return image.mul(most_of(dtype) + 1.0 - 1e-3).to(dtype)
    more = bits_of(dtype) - bits_of(old)
    if more < 0:
        return (image.int() if old == torch.uint16 else image).bitwise_right_shift(-more).to(dtype)
    if dtype == torch.uint16:
        return image.int().bitwise_left_shift(more).to(dtype)
    return image.to(dtype).bitwise_left_shift_(more)


@annotation_kernel(to_dtype, tv_tensors.Mask)
def _to_dtype_mask(inpt: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return inpt.to(dtype)


annotation_kernel(to_dtype, tv_tensors.BoundingBoxes)(_to_dtype_mask)
annotation_kernel(to_dtype, tv_tensors.KeyPoints)(_to_dtype_mask)


def convert_image_dtype(image: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Another element type, in which white stays white."""
    return to_dtype_image(image, dtype=dtype, scale=True)


# --- numbers ---


@functional
def normalize(inpt: torch.Tensor, mean: list[float], std: list[float], inplace: bool = False) -> torch.Tensor:
    """Subtracts a mean from each channel, and divides it by a deviation."""
    raise NotImplementedError


@kernel(normalize, *IMAGES)
def normalize_image(image: torch.Tensor, mean: list[float], std: list[float], inplace: bool = False) -> torch.Tensor:
    if not image.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {image.dtype}.")
    if image.ndim < 3:
        raise ValueError(f"Expected tensor to be a tensor image of size (..., C, H, W). Got {tuple(image.shape)}.")
    if not all(std) if isinstance(std, (tuple, list)) else isinstance(std, (int, float)) and std == 0:
        raise ValueError("std evaluated to zero, leading to division by zero.")
    means = torch.as_tensor(mean, dtype=image.dtype, device=image.device)
    deviations = torch.as_tensor(std, dtype=image.dtype, device=image.device)
    means = means.view(-1, 1, 1) if means.ndim == 1 else means
    deviations = deviations.view(-1, 1, 1) if deviations.ndim == 1 else deviations
    return (image.sub_(means) if inplace else image.sub(means)).div_(deviations)


@functional
def gaussian_blur(inpt: torch.Tensor, kernel_size: list[int], sigma: list[float] | None = None) -> torch.Tensor:
    """Blurs with a Gaussian: `kernel_size` and `sigma` are of x and y."""
    raise NotImplementedError


def _window(kernel_size: Any, sigma: Any) -> tuple[list[int], list[float]]:
    sizes = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
    if len(sizes) != 2:
        raise ValueError(f"If kernel_size is a sequence its length should be 2. Got {len(sizes)}")
    if any(size % 2 == 0 or size < 0 for size in sizes):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {sizes}")
    if sigma is None:
        return sizes, [size * 0.15 + 0.35 for size in sizes]
    if not isinstance(sigma, (int, float, list, tuple)):
        raise TypeError(f"sigma should be either float or sequence of floats. Got {type(sigma)}")
    sigmas = [float(sigma)] * 2 if isinstance(sigma, (int, float)) else list(sigma) * (3 - len(sigma) if sigma else 1)
    if len(sigmas) != 2:
        raise ValueError(f"If sigma is a sequence, its length should be 2. Got {len(sigmas)}")
    if any(each <= 0.0 for each in sigmas):
        raise ValueError(f"sigma should have positive values. Got {sigmas}")
    return sizes, sigmas


@kernel(gaussian_blur, *IMAGES)
def gaussian_blur_image(image: torch.Tensor, kernel_size: list[int], sigma: list[float] | None = None) -> torch.Tensor:
    sizes, sigmas = _window(kernel_size, sigma)
    if image.numel() == 0:
        return image
    if can_run(image) and sizes[0] // 2 < image.shape[-1] and sizes[1] // 2 < image.shape[-2]:
        return run("gaussian_blur", image, window_size=sizes[::-1], sigma=sigmas[::-1])
    exact = image if image.is_floating_point() else image.float()
    frames = exact.reshape(-1, 1, *image.shape[-2:])
    x, y = sizes[0] // 2, sizes[1] // 2
    frames = torch.nn.functional.pad(frames, [x, x, y, y], mode="reflect")
    across, along = (_weights(size, each, exact) for size, each in zip(sizes, sigmas, strict=True))
    made = torch.nn.functional.conv2d(frames, (along[:, None] * across)[None, None]).reshape(image.shape)
    return made if image.is_floating_point() else made.round_().to(image.dtype)


def _weights(size: int, sigma: float, like: torch.Tensor) -> torch.Tensor:
    places = torch.arange(size, dtype=like.dtype, device=like.device) - (size - 1) / 2
    return torch.softmax(-((places / sigma) ** 2) / 2, 0)


@kernel(gaussian_blur, PIL.Image.Image)
def _gaussian_blur_pil(
    image: PIL.Image.Image, kernel_size: list[int], sigma: list[float] | None = None
) -> PIL.Image.Image:
    return to_pil_image(gaussian_blur_image(pil_to_tensor(image), kernel_size, sigma), mode=image.mode)


@functional
def gaussian_noise(inpt: torch.Tensor, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> torch.Tensor:
    """Adds Gaussian noise, whose deviation is a share of white."""
    raise NotImplementedError


@kernel(gaussian_noise, *IMAGES)
def gaussian_noise_image(image: torch.Tensor, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> torch.Tensor:
    if sigma < 0:
        raise ValueError(f"sigma shouldn't be negative. Got {sigma}")
    if image.is_floating_point():
        made = image + (mean + torch.randn_like(image) * sigma)
        return made.clamp_(0, 1) if clip else made
    if image.dtype != torch.uint8:
        raise ValueError(f"Input tensor is expected to be in uint8 or float dtype, got dtype={image.dtype}")
    noise = mean * 255 + torch.randn_like(image, dtype=torch.float32) * (sigma * 255)
    made = image + noise.to(torch.int16)
    return (made.clamp_(0, 255) if clip else made).to(torch.uint8)


@kernel(gaussian_noise, PIL.Image.Image)
def _gaussian_noise_pil(
    image: PIL.Image.Image, mean: float = 0.0, sigma: float = 0.1, clip: bool = True
) -> PIL.Image.Image:
    raise ValueError("Gaussian Noise is not implemented for PIL images.")


# --- files, frames ---


@functional
def jpeg(image: torch.Tensor, quality: int) -> torch.Tensor:
    """What JPEG of a quality from 1 to 100 leaves of an image."""
    raise NotImplementedError


@kernel(jpeg, *IMAGES)
def jpeg_image(image: torch.Tensor, quality: int) -> torch.Tensor:
    if image.numel() == 0:
        return image.clone()
    if image.shape[-3] == 3 and can_run(image, (torch.uint8,)):
        frames = image.movedim(-3, -1).contiguous().reshape(-1, *image.shape[-2:], 3)
        made = torch.stack(
            [run("jpeg_compression_distortion", each.permute(2, 0, 1), quality=quality) for each in frames]
        )
        return made.reshape(image.shape)
    return their_functional("jpeg_image", "avida makes JPEG of bytes in RGB")(image, quality)


@kernel(jpeg, PIL.Image.Image)
def _jpeg_pil(image: PIL.Image.Image, quality: int) -> PIL.Image.Image:
    file = io.BytesIO()
    image.save(file, format="JPEG", quality=quality)
    return PIL.Image.open(file).copy()


@functional
def uniform_temporal_subsample(inpt: torch.Tensor, num_samples: int) -> torch.Tensor:
    """Frames of a video, at equal distances."""
    raise NotImplementedError


@kernel(uniform_temporal_subsample, torch.Tensor, tv_tensors.Video)
def uniform_temporal_subsample_video(video: torch.Tensor, num_samples: int) -> torch.Tensor:
    frames = torch.linspace(0, video.shape[-4] - 1, num_samples, device=video.device).long()
    return video.index_select(-4, frames)


to_dtype_video, normalize_video, jpeg_video = to_dtype_image, normalize_image, jpeg_image
gaussian_blur_video, gaussian_noise_video = gaussian_blur_image, gaussian_noise_image
