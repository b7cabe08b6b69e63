"""From one kind of input to another; numbers that are normalized."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import PIL.Image
import torch

from avida.torchvision import tv_tensors
from avida.torchvision.transforms.v2 import functional as F  # noqa: N812 - as everybody calls it
from avida.torchvision.transforms.v2._transform import Transform, has_any
from avida.torchvision.transforms.v2.functional import is_pure_tensor

_PIXELS = (tv_tensors.Image, tv_tensors.Video)


class PILToTensor(Transform):
    """Makes tensors of PIL images, with their numbers."""

    _transformed_types = (PIL.Image.Image,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> torch.Tensor:
        return F.pil_to_tensor(inpt)


class ToImage(Transform):
    """Makes `tv_tensors.Image` of tensors, arrays and PIL images, with their numbers."""

    _transformed_types = (is_pure_tensor, PIL.Image.Image, np.ndarray)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.to_image(inpt)


class ToPILImage(Transform):
    """Makes PIL images of tensors and arrays.

    Args:
        mode: Pillow's name of what the channels are; by default it follows from their number and type.
    """

    _transformed_types = (is_pure_tensor, tv_tensors.Image, np.ndarray)

    def __init__(self, mode: str | None = None) -> None:
        super().__init__()
        self.mode = mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> PIL.Image.Image:
        return F.to_pil_image(inpt, mode=self.mode)


class ToPureTensor(Transform):
    """Makes plain tensors of all `tv_tensors`."""

    _transformed_types = (tv_tensors.TVTensor,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> torch.Tensor:
        return inpt.as_subclass(torch.Tensor)


class ToTensor(Transform):
    """Makes tensors of PIL images and arrays, floats from 0 to 1 of bytes. Deprecated: use ToImage and ToDtype."""

    _transformed_types = (PIL.Image.Image, np.ndarray)

    def __init__(self) -> None:
        warnings.warn(
            "The transform `ToTensor()` is deprecated and will be removed in a future release. "
            "Instead, please use `v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])`.",
            stacklevel=2,
        )
        super().__init__()

    def transform(self, inpt: Any, params: dict[str, Any]) -> torch.Tensor:
        return F.to_tensor(inpt)


class ToDtype(Transform):
    """Changes the element type.

    Args:
        dtype: The element type of images and videos; or one for each type of input, "others" for those that are not
            named, None for those that stay.
        scale: Whether white stays white: 255 of bytes is 1 of floats.
    """

    _transformed_types = (torch.Tensor,)

    def __init__(self, dtype: torch.dtype | dict[type | str, torch.dtype | None], scale: bool = False) -> None:
        super().__init__()
        if not isinstance(dtype, (dict, torch.dtype)):
            raise ValueError(f"dtype must be a dict or a torch.dtype, got {type(dtype)} instead")
        if isinstance(dtype, dict) and torch.Tensor in dtype and any(kind in dtype for kind in _PIXELS):
            warnings.warn(
                "Got `dtype` values for `torch.Tensor` and either `tv_tensors.Image` or `tv_tensors.Video`. "
                "Note that a plain `torch.Tensor` will *not* be transformed by this (or any other transformation) "
                "in case a `tv_tensors.Image` or `tv_tensors.Video` is present in the input.",
                stacklevel=2,
            )
        self.dtype = dtype
        self.scale = scale

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        has_white = is_pure_tensor(inpt) or isinstance(inpt, _PIXELS)
        if isinstance(self.dtype, torch.dtype):
            if not has_white:
                return inpt
            dtype: torch.dtype | None = self.dtype
        elif type(inpt) in self.dtype:
            dtype = self.dtype[type(inpt)]
        elif "others" in self.dtype:
            dtype = self.dtype["others"]
        else:
            raise ValueError(
                f"No dtype was specified for type {type(inpt)}. To convert images and videos only, pass "
                'dtype=torch.float32; in a dict, the key "others" stands for all types that are not named, and None '
                "for no change."
            )
        if dtype is None:
            if self.scale and has_white:
                warnings.warn(
                    "scale was set to True but no dtype was specified for images or videos: no scaling will be done.",
                    stacklevel=2,
                )
            return inpt
        return self._call_kernel(F.to_dtype, inpt, dtype=dtype, scale=self.scale)


class ConvertImageDtype(Transform):
    """Changes the element type of images, in which white stays white. ToDtype does more.

    Args:
        dtype: The element type.
    """

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.dtype = dtype

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.to_dtype, inpt, dtype=self.dtype, scale=True)


class _OnTensors(Transform):
    def check_inputs(self, flat_inputs: list[Any]) -> None:
        if has_any(flat_inputs, PIL.Image.Image):
            raise TypeError(f"{type(self).__name__}() does not support PIL images.")


class Normalize(_OnTensors):
    """Subtracts a mean from each channel, and divides it by a deviation.

    Args:
        mean: One number for each channel.
        std: One number for each channel.
        inplace: Whether the tensor itself changes.
    """

    _functional = F.normalize
    _arguments = ("mean", "std", "inplace")

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        super().__init__()
        self.mean = list(mean)
        self.std = list(std)
        self.inplace = inplace


class LinearTransformation(_OnTensors):
    """Multiplies all numbers of an image, less a mean, with a matrix: whitening.

    Args:
        transformation_matrix: D x D, where D is C * H * W.
        mean_vector: D numbers.
    """

    _transformed_types = (is_pure_tensor, *_PIXELS)

    def __init__(self, transformation_matrix: torch.Tensor, mean_vector: torch.Tensor) -> None:
        super().__init__()
        matrix, mean = transformation_matrix, mean_vector
        if matrix.size(0) != matrix.size(1):
            raise ValueError(f"transformation_matrix should be square. Got {tuple(matrix.size())} rectangular matrix.")
        if mean.size(0) != matrix.size(0):
            raise ValueError(
                f"mean_vector should have the same length {mean.size(0)}"
                f" as any one of the dimensions of the transformation_matrix [{tuple(matrix.size())}]"
            )
        if matrix.device != mean.device:
            raise ValueError(f"Input tensors should be on the same device. Got {matrix.device} and {mean.device}")
        if matrix.dtype != mean.dtype:
            raise ValueError(f"Input tensors should have the same dtype. Got {matrix.dtype} and {mean.dtype}")
        self.transformation_matrix = matrix
        self.mean_vector = mean

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        shape, size = inpt.shape, len(self.transformation_matrix)
        if shape[-3:].numel() != size:
            raise ValueError(
                "Input tensor and transformation matrix have incompatible shape."
                f"[{shape[-3]} x {shape[-2]} x {shape[-1]}] != {size}"
            )
        if inpt.device.type != self.mean_vector.device.type:
            raise ValueError(
                "Input tensor should be on the same device as transformation matrix and mean vector. "
                f"Got {inpt.device} vs {self.mean_vector.device}"
            )
        flat = inpt.as_subclass(torch.Tensor).reshape(-1, size) - self.mean_vector
        made = (flat @ self.transformation_matrix.to(flat.dtype)).reshape(shape)
        return tv_tensors.wrap(made, like=inpt) if isinstance(inpt, _PIXELS) else made


class UniformTemporalSubsample(Transform):
    """Takes frames of videos, at equal distances.

    Args:
        num_samples: How many.
    """

    _transformed_types = (torch.Tensor,)
    _functional = F.uniform_temporal_subsample
    _arguments = ("num_samples",)

    def __init__(self, num_samples: int) -> None:
        super().__init__()
        self.num_samples = num_samples
