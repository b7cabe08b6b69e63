"""Tensors that know what they are, where torchvision is not installed: images, videos, masks, boxes, points."""

from __future__ import annotations

import enum
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

# Operations that keep the class: all others give plain tensors, unless set_return_type says otherwise.
_KEEPING = {
    torch.Tensor.clone,
    torch.Tensor.to,
    torch.Tensor.detach,
    torch.Tensor.requires_grad_,
    torch.Tensor.pin_memory,
}
_keeps_all = False


class TVTensor(torch.Tensor):
    """What all of them are: a tensor whose class tells transforms what to do with it."""

    _metadata: tuple[str, ...] = ()

    @staticmethod
    def _tensor(data: Any, dtype: Any, device: Any, requires_grad: bool | None) -> torch.Tensor:
        if requires_grad is None:
            requires_grad = data.requires_grad if isinstance(data, torch.Tensor) else False
        return torch.as_tensor(data, dtype=dtype, device=device).requires_grad_(requires_grad)

    def __new__(cls, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool | None = None) -> Any:
        return cls._tensor(data, dtype, device, requires_grad).as_subclass(cls)

    @classmethod
    def wrap(cls, tensor: torch.Tensor, like: Any, **changes: Any) -> Any:
        """The tensor as one of this class, with what `like` knows and the changes to it."""
        made = tensor.as_subclass(cls)
        for name in cls._metadata:
            setattr(made, name, changes.get(name, getattr(like, name)))
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not all(issubclass(cls, other) for other in types):
            return NotImplemented
        with torch._C.DisableTorchFunctionSubclass():
            output = func(*args, **(kwargs or {}))
        if not (_keeps_all or (func in _KEEPING and isinstance(args[0], cls))):
            return output.as_subclass(torch.Tensor) if isinstance(output, cls) else output  # that of y.add_() is a cls
        like = next((each for each in tree_leaves((args, kwargs or {})) if isinstance(each, cls)), None)
        if like is None:
            return output
        if isinstance(output, (tuple, list)):
            return type(output)(cls.wrap(each, like) if isinstance(each, torch.Tensor) else each for each in output)
        return cls.wrap(output, like) if isinstance(output, torch.Tensor) else output

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return type(self).wrap(self.as_subclass(torch.Tensor).detach().clone(), self).requires_grad_(self.requires_grad)

    def __reduce_ex__(self, protocol: Any) -> Any:
        metadata = {name: getattr(self, name) for name in self._metadata}
        return _restored, (type(self), self.as_subclass(torch.Tensor), metadata)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        metadata = "".join(f", {name}={getattr(self, name)}" for name in self._metadata)
        return f"{type(self).__name__}({torch.Tensor.__repr__(self.as_subclass(torch.Tensor))}{metadata})"


def _restored(cls: type[TVTensor], tensor: torch.Tensor, metadata: dict[str, Any]) -> TVTensor:
    made = tensor.as_subclass(cls)
    for name, value in metadata.items():
        setattr(made, name, value)
    return made


class _Pixels(TVTensor):
    _least_axes = 3

    def __new__(cls, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool | None = None) -> Any:
        import PIL.Image

        if isinstance(data, PIL.Image.Image):
            from avida.torchvision.transforms.v2.functional import pil_to_tensor

            data = pil_to_tensor(data)
        tensor = cls._tensor(data, dtype, device, requires_grad)
        if (cls is Video and tensor.ndim < 4) or tensor.ndim < 2:
            raise ValueError(f"{cls.__name__}: expected at least {max(2, cls._least_axes)} axes, got {tensor.ndim}")
        return (tensor[None] if tensor.ndim < cls._least_axes else tensor).as_subclass(cls)


class Image(_Pixels):
    """An image: ... x C x H x W."""


class Video(_Pixels):
    """A video: ... x T x C x H x W."""

    _least_axes = 4


class Mask(_Pixels):
    """Masks of segments or of objects: ... x H x W."""

    _least_axes = 2


class BoundingBoxFormat(enum.Enum):
    """What the numbers of a box are; R is an angle in degrees."""

    XYXY = "XYXY"
    XYWH = "XYWH"
    CXCYWH = "CXCYWH"
    XYWHR = "XYWHR"
    CXCYWHR = "CXCYWHR"
    XYXYXYXY = "XYXYXYXY"


def is_rotated_bounding_format(format: BoundingBoxFormat | str) -> bool:
    """Whether boxes of a format may be turned."""
    if not isinstance(format, (BoundingBoxFormat, str)):
        raise ValueError(f"expected a BoundingBoxFormat or a string, got {type(format)}")
    return str(getattr(format, "value", format)) in ("XYWHR", "CXCYWHR", "XYXYXYXY")


class BoundingBoxes(TVTensor):
    """Boxes, N x 4, or N x 5 and N x 8 for turned ones, in an image of `canvas_size`."""

    _metadata = ("format", "canvas_size", "clamping_mode")
    format: BoundingBoxFormat
    canvas_size: tuple[int, int]
    clamping_mode: str | None

    def __new__(
        cls,
        data: Any,
        *,
        format: BoundingBoxFormat | str,
        canvas_size: tuple[int, int],
        clamping_mode: str | None = "soft",
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool | None = None,
    ) -> Any:
        tensor = cls._tensor(data, dtype, device, requires_grad)
        if not torch.is_floating_point(tensor) and is_rotated_bounding_format(format):
            raise ValueError(f"Rotated boxes: expected a floating point tensor, got {tensor.dtype}")
        if tensor.ndim not in (1, 2):
            raise ValueError(f"Boxes: expected a tensor of 1 or 2 axes (1D or 2D), got {tensor.ndim}D")
        if clamping_mode not in (None, "hard", "soft"):
            raise ValueError(f'clamping_mode must be None, "hard" or "soft", got {clamping_mode}')
        made = (tensor[None] if tensor.ndim == 1 else tensor).as_subclass(cls)
        made.format = BoundingBoxFormat[format.upper()] if isinstance(format, str) else format
        made.canvas_size, made.clamping_mode = canvas_size, clamping_mode
        return made


class KeyPoints(TVTensor):
    """Points, ... x 2 (x and y), in an image of `canvas_size`."""

    _metadata = ("canvas_size",)
    canvas_size: tuple[int, int]

    def __new__(
        cls,
        data: Any,
        *,
        canvas_size: tuple[int, int],
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool | None = None,
    ) -> Any:
        tensor = cls._tensor(data, dtype, device, requires_grad)
        if tensor.ndim == 1:
            tensor = tensor[None]
        elif tensor.shape[-1] != 2:
            raise ValueError(f"KeyPoints: expected the last axis to have 2 elements, got {tuple(tensor.shape)}")
        made = tensor.as_subclass(cls)
        made.canvas_size = canvas_size
        return made


def wrap(wrappee: torch.Tensor, *, like: Any, **kwargs: Any) -> Any:
    """The tensor as one of the class of `like`, with its metadata and the changes to it."""
    return type(like).wrap(wrappee, like, **kwargs)


class _ReturnType:
    def __init__(self, keeps_all: bool) -> None:
        global _keeps_all
        self._before, _keeps_all = _keeps_all, keeps_all

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        global _keeps_all
        _keeps_all = self._before


def set_return_type(return_type: str) -> Any:
    """What operations on these tensors return: "Tensor" or "TVTensor"; from now on, or in a `with` block."""
    if return_type.lower() not in ("tensor", "tvtensor"):
        raise ValueError(f'return_type: expected "Tensor" or "TVTensor", got {return_type}')
    return _ReturnType(return_type.lower() == "tvtensor")
