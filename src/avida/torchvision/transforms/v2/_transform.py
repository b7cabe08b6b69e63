"""What all transforms are: what they take from a sample, how they draw, what they hand to functions."""

from __future__ import annotations

import enum
import numbers
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import PIL.Image
import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from avida.torchvision import _theirs, tv_tensors
from avida.torchvision.transforms.v2._samples import VALUES, on_samples
from avida.torchvision.transforms.v2.functional._dispatch import is_pure_tensor, kernel_for
from avida.torchvision.transforms.v2.functional._sizes import get_dimensions, get_size

_IMAGES = (tv_tensors.Image, tv_tensors.Video, PIL.Image.Image)
ANNOTATIONS = (tv_tensors.BoundingBoxes, tv_tensors.KeyPoints, tv_tensors.Mask)
_PLAIN = (bool, int, float, str, tuple, list, enum.Enum)


# --- what is in a sample ---


def check_type(obj: Any, types_or_checks: Sequence[Any]) -> bool:
    """Whether something is of one of some types, or passes one of some checks."""
    return any(isinstance(obj, each) if isinstance(each, type) else each(obj) for each in types_or_checks)


def has_any(flat_inputs: Sequence[Any], *types_or_checks: Any) -> bool:
    """Whether a sample has something of any of these types."""
    return any(check_type(each, types_or_checks) for each in flat_inputs)


def has_all(flat_inputs: Sequence[Any], *types_or_checks: Any) -> bool:
    """Whether a sample has something of each of these types."""
    return all(any(check_type(each, (kind,)) for each in flat_inputs) for kind in types_or_checks)


def _first(flat_inputs: Sequence[Any], kind: type, what: str) -> Any:
    for each in flat_inputs:
        if isinstance(each, kind):
            return each
    raise ValueError(f"No {what} were found in the sample")


def get_bounding_boxes(flat_inputs: Sequence[Any]) -> Any:
    """The boxes of a sample."""
    return _first(flat_inputs, tv_tensors.BoundingBoxes, "bounding boxes")


def get_keypoints(flat_inputs: Sequence[Any]) -> Any:
    """The points of a sample."""
    return _first(flat_inputs, tv_tensors.KeyPoints, "keypoints")


def _only(sizes: set[tuple[int, ...]], what: str, kinds: str) -> tuple[int, ...]:
    if not sizes:
        raise TypeError(f"No {kinds} was found in the sample")
    if len(sizes) > 1:
        raise ValueError(f"Found multiple {what} in the sample: {', '.join(map(str, sorted(sizes)))}")
    return sizes.pop()


def query_chw(flat_inputs: Sequence[Any]) -> tuple[int, int, int]:
    """Channels, height and width of the images of a sample, which must be the same."""
    kinds = (is_pure_tensor, *_IMAGES)
    found = {tuple(get_dimensions(each)) for each in flat_inputs if check_type(each, kinds)}
    channels, height, width = _only(found, "CxHxW dimensions", "image or video")
    return channels, height, width


def query_size(flat_inputs: Sequence[Any]) -> tuple[int, int]:
    """Height and width of all that a sample has, which must be the same."""
    kinds = (is_pure_tensor, *_IMAGES, *ANNOTATIONS)
    found = {tuple(get_size(each)) for each in flat_inputs if check_type(each, kinds)}
    height, width = _only(found, "HxW dimensions", "image, video, mask, bounding box of keypoint")
    return height, width


# --- arguments ---


def numbers_of(value: Any, name: str, lengths: Sequence[int], *, least: float | None = None) -> None:
    """Raises unless a value is a sequence of one of some lengths."""
    if not isinstance(value, Sequence):
        raise TypeError(f"{name} should be a sequence of length {' or '.join(map(str, lengths))}.")
    if len(value) not in lengths:
        raise ValueError(f"{name} should be a sequence of length {' or '.join(map(str, lengths))}.")


def range_of_angles(value: Any, name: str, lengths: Sequence[int] = (2,)) -> list[float]:
    """Ends of a range of angles; one number stands for itself on both sides of zero."""
    if isinstance(value, numbers.Number):
        number = float(value)  # type: ignore[arg-type]
        if number < 0:
            raise ValueError(f"If {name} is a single number, it must be positive.")
        return [-number, number]
    numbers_of(value, name, lengths)
    return [float(each) for each in value]


def pair_of(value: Any, name: str) -> list[float]:
    """Two numbers, of one or of two."""
    if not isinstance(value, (int, float, Sequence)):
        raise TypeError(f"{name} should be a number or a sequence of numbers. Got {type(value)}")
    if isinstance(value, (int, float)):
        return [float(value)] * 2
    if len(value) not in (1, 2):
        raise ValueError(f"If {name} is a sequence its length should be 1 or 2. Got {len(value)}")
    for each in value:
        if not isinstance(each, (int, float)):
            raise ValueError(f"{name} should be a sequence of numbers. Got {type(each)}")
    return [float(value[0]), float(value[-1])]


def size_of(size: Any, message: str = "Please provide only two dimensions (h, w) for size.") -> Sequence[int]:
    """Height and width, of one number or of two."""
    if not isinstance(size, (int, Sequence)):
        raise TypeError(f"size should be an integer or a sequence of integers, got {type(size)}")
    if isinstance(size, int):
        return size, size
    if len(size) not in (1, 2):
        raise ValueError(message)
    return size if len(size) == 2 else (size[0], size[0])


def fills_of(fill: Any) -> dict[Any, Any]:
    """What to fill with, by the type of the input; "others" is for those that are not named."""
    if isinstance(fill, dict):
        return {kind: fills_of(each)["others"] for kind, each in fill.items()}
    if fill is not None and not isinstance(fill, (numbers.Number, tuple, list)):
        raise TypeError("Got inappropriate fill arg, only Numbers, tuples, lists and dicts are allowed.")
    return {"others": [float(each) for each in fill] if isinstance(fill, (tuple, list)) else fill}


def drawn(low: float, high: float) -> float:
    """A number between two, from PyTorch's generator."""
    return torch.empty(1).uniform_(low, high).item()


# --- the classes ---


class Transform(torch.nn.Module):
    """Base class of transforms, and of your own: overwrite `transform`, and `make_params` for what is random.

    Example:
        >>> from avida.torchvision.transforms import v2
        >>> class Half(v2.Transform):
        ...     def transform(self, inpt, params):
        ...         return v2.functional.resize(inpt, [16, 16])
    """

    _transformed_types: ClassVar[tuple[Any, ...]] = (torch.Tensor, PIL.Image.Image)
    # What the classes here do: the function, and the attributes that are arguments of it.
    _functional: ClassVar[Any] = None
    _arguments: ClassVar[tuple[str, ...]] = ()
    _v1_transform_cls: ClassVar[Any] = None  # torchvision's name for the class of the first set: here there is none

    def __init__(self) -> None:
        super().__init__()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._functional = staticmethod(cls._functional) if callable(cls._functional) else cls._functional

    def __call__(self, *inputs: Any) -> Any:
        if any(isinstance(each, VALUES) for each in inputs):
            return on_samples(super().__call__, inputs)
        return super().__call__(*inputs)

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """Raises where a sample is not what the transform expects."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draws what is random, once for all inputs of a sample."""
        return {}

    def _call_kernel(self, functional: Callable[..., Any], inpt: Any, *args: Any, **kwargs: Any) -> Any:
        return kernel_for(functional, type(inpt), pass_through=True)(inpt, *args, **kwargs)

    def _fill_for(self, inpt: Any) -> Any:
        fills: dict[Any, Any] = self._fill  # type: ignore[assignment]
        return fills[type(inpt)] if type(inpt) in fills else fills.get("others")

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """Does to one input of a sample what `make_params` has drawn."""
        if self._functional is None:
            raise NotImplementedError(f"{type(self).__name__}: overwrite transform()")
        arguments = {name: getattr(self, name) for name in self._arguments}
        if "_fill" in self.__dict__:
            arguments["fill"] = self._fill_for(inpt)
        return self._call_kernel(self._functional, inpt, **arguments, **params)

    def forward(self, *inputs: Any) -> Any:
        """Transforms a sample of any structure. Overwrite `transform` instead."""
        sample = inputs[0] if len(inputs) == 1 else inputs
        flat, spec = tree_flatten(sample)
        self.check_inputs(flat)
        if not self._happens():
            return sample
        chosen = self._needs_transform_list(flat)
        params = self.make_params([each for each, is_chosen in zip(flat, chosen, strict=True) if is_chosen])
        made = [
            self.transform(each, params) if is_chosen else each for each, is_chosen in zip(flat, chosen, strict=True)
        ]
        return tree_unflatten(made, spec)

    def _happens(self) -> bool:
        return True

    def _needs_transform_list(self, flat_inputs: list[Any]) -> list[bool]:
        """Which inputs are transformed: of plain tensors the first, and none where there is an image or a video."""
        plain_too = not has_any(flat_inputs, *_IMAGES)
        chosen = []
        for each in flat_inputs:
            is_chosen = check_type(each, self._transformed_types)
            if is_chosen and is_pure_tensor(each):
                is_chosen, plain_too = plain_too, False
            chosen.append(is_chosen)
        return chosen

    def extra_repr(self) -> str:
        shown = ((name, value) for name, value in self.__dict__.items() if name[0] != "_" and name != "training")
        return ", ".join(f"{name}={value}" for name, value in shown if isinstance(value, _PLAIN))

    def __prepare_scriptable__(self) -> Any:
        """What TorchScript makes of it: torchvision's transform, since avida's operators cannot be scripted."""
        if type(self).__module__.partition(".")[0] != "avida":
            raise RuntimeError(f"Transform {type(self).__name__} cannot be JIT scripted.")
        name = type(self).__name__
        cls = _theirs.from_torchvision(f"transforms.v2.{name}", "avida's operators cannot be scripted")
        theirs = cls.__new__(cls)
        theirs.__dict__.update(self.__dict__)
        return theirs.__prepare_scriptable__()


class RandomTransform(Transform):
    """A transform that happens with probability p."""

    def __init__(self, p: float = 0.5) -> None:
        if not 0.0 <= p <= 1.0:
            raise ValueError("`p` should be a floating point value in the interval [0.0, 1.0].")
        super().__init__()
        self.p = p

    def _happens(self) -> bool:
        return bool(torch.rand(1) < self.p)


class Identity(Transform):
    """Changes nothing."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return inpt


class Lambda(Transform):
    """Calls a function of yours with each input of some types."""

    _transformed_types = (object,)

    def __init__(self, lambd: Callable[[Any], Any], *types: type) -> None:
        super().__init__()
        self.lambd = lambd
        self.types = types or self._transformed_types

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self.lambd(inpt) if isinstance(inpt, self.types) else inpt

    def extra_repr(self) -> str:
        name = getattr(self.lambd, "__name__", None)
        types = f"types={[each.__name__ for each in self.types]}"
        return f"{name}, {types}" if name else types
