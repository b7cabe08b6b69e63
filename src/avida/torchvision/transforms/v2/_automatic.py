"""Policies of random augmentations: AutoAugment, RandAugment, TrivialAugment, AugMix."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import PIL.Image
import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from avida.augment._automatic.sub_policies import CIFAR10, IMAGENET, SVHN
from avida.torchvision import _theirs, tv_tensors
from avida.torchvision.transforms._interpolation import Interpolation
from avida.torchvision.transforms.v2 import functional as F  # noqa: N812
from avida.torchvision.transforms.v2._transform import ANNOTATIONS, Transform, check_type, fills_of
from avida.torchvision.transforms.v2.functional import is_pure_tensor
from avida.torchvision.transforms.v2.functional._conversions import most_of

if TYPE_CHECKING or _theirs.torchvision() is None:

    class AutoAugmentPolicy(enum.Enum):
        """For which data AutoAugment found its policies."""

        IMAGENET = "imagenet"
        CIFAR10 = "cifar10"
        SVHN = "svhn"

else:
    from torchvision.transforms import AutoAugmentPolicy

Step = tuple[str, float, int | None]


# What avida.augment calls them.
_NAMES = {"autocontrast": "AutoContrast", "auto_contrast": "AutoContrast"}


def _policies(policy: Any) -> list[tuple[Step, ...]]:
    """The sub-policies for some data: names, probabilities and magnitudes of augmentations."""
    found = {"imagenet": IMAGENET, "cifar10": CIFAR10, "svhn": SVHN}.get(getattr(policy, "value", ""))
    if found is None:
        raise ValueError(f"The provided policy {policy} is not recognized.")
    return [
        tuple((_name(step.augmentation), step.probability, step.magnitude) for step in steps)
        for steps in found.sub_policies
    ]


def _name(name: str) -> str:
    return _NAMES.get(name) or "".join(word.capitalize() for word in name.split("_"))


# --- what the augmentations do, and how much ---


def _sheared(image: Any, x: float, y: float, interpolation: Any, fill: Any) -> Any:
    shear = [math.degrees(math.atan(x)), math.degrees(math.atan(y))]
    return F.affine(image, 0.0, [0, 0], 1.0, shear, interpolation=interpolation, fill=fill, center=[0, 0])


def _moved(image: Any, x: float, y: float, interpolation: Any, fill: Any) -> Any:
    return F.affine(image, 0.0, [int(x), int(y)], 1.0, [0.0, 0.0], interpolation=interpolation, fill=fill)


def _solarized(image: Any, share: float) -> Any:
    white = most_of(image.dtype) if isinstance(image, torch.Tensor) else 255.0
    return F.solarize(image, threshold=white * share)


_WITH_FILL: dict[str, Callable[..., Any]] = {
    "ShearX": lambda image, m, mode, fill: _sheared(image, m, 0.0, mode, fill),
    "ShearY": lambda image, m, mode, fill: _sheared(image, 0.0, m, mode, fill),
    "TranslateX": lambda image, m, mode, fill: _moved(image, m, 0, mode, fill),
    "TranslateY": lambda image, m, mode, fill: _moved(image, 0, m, mode, fill),
    "Rotate": lambda image, m, mode, fill: F.rotate(image, angle=m, interpolation=mode, fill=fill),
}
_OTHERS: dict[str, Callable[..., Any]] = {
    "Identity": lambda image, m: image,
    "Brightness": lambda image, m: F.adjust_brightness(image, 1.0 + m),
    "Color": lambda image, m: F.adjust_saturation(image, 1.0 + m),
    "Contrast": lambda image, m: F.adjust_contrast(image, 1.0 + m),
    "Sharpness": lambda image, m: F.adjust_sharpness(image, 1.0 + m),
    "Posterize": lambda image, m: F.posterize(image, int(m)),
    "Solarize": _solarized,
    "AutoContrast": lambda image, m: F.autocontrast(image),
    "Equalize": lambda image, m: F.equalize(image),
    "Invert": lambda image, m: F.invert(image),
}
_SIGNED = {*_WITH_FILL, "Brightness", "Color", "Contrast", "Sharpness"}


def _space(
    names: str,
    *,
    shear: float = 0.3,
    move: Callable[[int], float] = lambda side: 150.0 / 331.0 * side,
    turn: float = 30.0,
    change: float = 0.9,
    bits: tuple[int, int] = (8, 4),
) -> dict[str, tuple[Callable[[int, int, int], Any], bool]]:
    """The magnitudes of the augmentations of a paper, by the number of bins and the height and width of the image."""

    def magnitudes(name: str) -> Callable[[int, int, int], Any]:
        if name in ("ShearX", "ShearY"):
            return lambda bins, height, width: torch.linspace(0.0, shear, bins)
        if name in ("TranslateX", "TranslateY"):
            return lambda bins, height, width: torch.linspace(0.0, move(width if name[-1] == "X" else height), bins)
        if name == "Rotate":
            return lambda bins, height, width: torch.linspace(0.0, turn, bins)
        if name == "Posterize":
            most, fewer = bits
            return lambda bins, height, width: (most - torch.arange(bins) / ((bins - 1) / fewer)).round().int()
        if name == "Solarize":
            return lambda bins, height, width: torch.linspace(1.0, 0.0, bins)
        if name in ("Brightness", "Color", "Contrast", "Sharpness"):
            return lambda bins, height, width: torch.linspace(0.0, change, bins)
        return lambda bins, height, width: None

    return {name: (magnitudes(name), name in _SIGNED) for name in names.split()}


_GEOMETRY = "ShearX ShearY TranslateX TranslateY Rotate"
_TONES = "Posterize Solarize AutoContrast Equalize"
_COLOURS = "Brightness Color Contrast Sharpness"


class _Automatic(Transform):
    _AUGMENTATION_SPACE: dict[str, tuple[Callable[[int, int, int], Any], bool]]

    def __init__(self, *, interpolation: Interpolation, fill: Any) -> None:
        super().__init__()
        self.interpolation = interpolation
        self.fill = fill
        self._fill = fills_of(fill)

    def forward(self, *inputs: Any) -> Any:
        flat, spec = tree_flatten(inputs[0] if len(inputs) == 1 else inputs)
        place = self._only_image(flat)
        flat[place] = self._augmented(flat[place])
        return tree_unflatten(flat, spec)

    def _only_image(self, flat: list[Any]) -> int:
        found = []
        kinds = (tv_tensors.Image, PIL.Image.Image, is_pure_tensor, tv_tensors.Video)
        for i, is_chosen in enumerate(self._needs_transform_list(flat)):
            if is_chosen and check_type(flat[i], kinds):
                found.append(i)
            elif isinstance(flat[i], ANNOTATIONS):
                raise TypeError(f"Inputs of type {type(flat[i]).__name__} are not supported by {type(self).__name__}()")
        if not found:
            raise TypeError("Found no image in the sample.")
        if len(found) > 1:
            raise TypeError(
                "Auto augment transformations are only properly defined for a single image or video, "
                f"but found {len(found)}."
            )
        return found[0]

    def _augmented(self, image: Any) -> Any:
        raise NotImplementedError

    def _magnitude(self, name: str, bins: int, at: int | None, image: Any) -> float:
        height, width = F.get_size(image)
        make, signed = self._AUGMENTATION_SPACE[name]
        all_of_them = make(bins, height, width)
        if all_of_them is None:
            return 0.0
        magnitude = float(all_of_them[int(torch.randint(bins, ())) if at is None else at])
        return -magnitude if signed and torch.rand(()) <= 0.5 else magnitude

    def _any_of(self, space: dict[str, Any]) -> str:
        return list(space)[int(torch.randint(len(space), ()))]

    def _carry_out(self, image: Any, name: str, magnitude: float) -> Any:
        if name in _WITH_FILL:
            return _WITH_FILL[name](image, magnitude, self.interpolation, self._fill_for(image))
        return _OTHERS[name](image, magnitude)


class AutoAugment(_Automatic):
    """Does one of the pairs of augmentations that AutoAugment found.

    Args:
        policy: For which data they were found.
        interpolation: How pixels are interpolated.
        fill: What to fill the rest with.
    """

    _AUGMENTATION_SPACE = _space(f"{_GEOMETRY} {_COLOURS} {_TONES} Invert")

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Interpolation = "nearest",
        fill: Any = None,
    ) -> None:
        super().__init__(interpolation=interpolation, fill=fill)
        self.policy = policy
        self._policies = _policies(policy)

    def _augmented(self, image: Any) -> Any:
        for name, p, at in self._policies[int(torch.randint(len(self._policies), ()))]:
            if torch.rand(()) <= p:
                image = self._carry_out(image, name, self._magnitude(name, 10, at or 0, image))
        return image


class RandAugment(_Automatic):
    """Does some augmentations, of one magnitude.

    Args:
        num_ops: How many.
        magnitude: Which of the magnitudes.
        num_magnitude_bins: How many magnitudes there are.
        interpolation: How pixels are interpolated.
        fill: What to fill the rest with.
    """

    _AUGMENTATION_SPACE = _space(f"Identity {_GEOMETRY} {_COLOURS} {_TONES}")

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Interpolation = "nearest",
        fill: Any = None,
    ) -> None:
        super().__init__(interpolation=interpolation, fill=fill)
        if not isinstance(num_ops, int) or num_ops < 0:
            raise ValueError(f"num_ops should be a non-negative integer, but got {num_ops} instead.")
        self.num_ops = num_ops
        self.magnitude = magnitude
        self.num_magnitude_bins = num_magnitude_bins

    def _augmented(self, image: Any) -> Any:
        for _ in range(self.num_ops):
            name = self._any_of(self._AUGMENTATION_SPACE)
            image = self._carry_out(image, name, self._magnitude(name, self.num_magnitude_bins, self.magnitude, image))
        return image


class TrivialAugmentWide(_Automatic):
    """Does one augmentation, of any magnitude.

    Args:
        num_magnitude_bins: How many magnitudes there are.
        interpolation: How pixels are interpolated.
        fill: What to fill the rest with.
    """

    _AUGMENTATION_SPACE = _space(
        f"Identity {_GEOMETRY} {_COLOURS} {_TONES}",
        shear=0.99,
        move=lambda side: 32.0,
        turn=135.0,
        change=0.99,
        bits=(8, 6),
    )

    def __init__(
        self, num_magnitude_bins: int = 31, interpolation: Interpolation = "nearest", fill: Any = None
    ) -> None:
        super().__init__(interpolation=interpolation, fill=fill)
        self.num_magnitude_bins = num_magnitude_bins

    def _augmented(self, image: Any) -> Any:
        name = self._any_of(self._AUGMENTATION_SPACE)
        return self._carry_out(image, name, self._magnitude(name, self.num_magnitude_bins, None, image))


class AugMix(_Automatic):
    """Mixes an image with several chains of augmentations of it.

    Args:
        severity: How many of ten magnitudes there are.
        mixture_width: How many chains.
        chain_depth: How long they are; by default from 1 to 3.
        alpha: The parameter of the distributions of shares.
        all_ops: Whether brightness, colour, contrast and sharpness are among the augmentations.
        interpolation: How pixels are interpolated.
        fill: What to fill the rest with.
    """

    _PARTIAL_AUGMENTATION_SPACE = _space(f"{_GEOMETRY} {_TONES}", move=lambda side: side / 3.0, bits=(4, 4))
    _AUGMENTATION_SPACE = _space(f"{_GEOMETRY} {_TONES} {_COLOURS}", move=lambda side: side / 3.0, bits=(4, 4))

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: Interpolation = "bilinear",
        fill: Any = None,
    ) -> None:
        super().__init__(interpolation=interpolation, fill=fill)
        self._PARAMETER_MAX = 10
        if not 1 <= severity <= self._PARAMETER_MAX:
            raise ValueError(f"The severity must be between [1, {self._PARAMETER_MAX}]. Got {severity} instead.")
        self.severity = severity
        self.mixture_width = mixture_width
        self.chain_depth = chain_depth
        self.alpha = alpha
        self.all_ops = all_ops

    def _sample_dirichlet(self, params: torch.Tensor) -> torch.Tensor:
        return torch._sample_dirichlet(params)  # pyright: ignore[reportPrivateImportUsage]

    def _augmented(self, image: Any) -> Any:
        is_pil = isinstance(image, PIL.Image.Image)
        pixels = F.pil_to_tensor(image) if is_pil else image.as_subclass(torch.Tensor)
        axes = 5 if isinstance(image, tv_tensors.Video) else 4
        batch = pixels.reshape([1] * max(axes - pixels.ndim, 0) + list(pixels.shape))
        ones = [1] * (batch.ndim - 1)
        of_two = torch.tensor([self.alpha] * 2, device=batch.device).expand(len(batch), -1)
        of_chains = torch.tensor([self.alpha] * self.mixture_width, device=batch.device).expand(len(batch), -1)
        shares = self._sample_dirichlet(of_two)
        weights = self._sample_dirichlet(of_chains) * shares[:, 1].reshape(len(batch), -1)
        mixed = shares[:, 0].reshape(-1, *ones) * batch
        for chain in range(self.mixture_width):
            mixed.add_(weights[:, chain].reshape(-1, *ones) * self._chain(batch, image))
        made = mixed.reshape(pixels.shape).to(pixels.dtype)
        if is_pil:
            return F.to_pil_image(made)
        return tv_tensors.wrap(made, like=image) if isinstance(image, tv_tensors.TVTensor) else made

    def _chain(self, batch: torch.Tensor, image: Any) -> torch.Tensor:
        space = self._AUGMENTATION_SPACE if self.all_ops else self._PARTIAL_AUGMENTATION_SPACE
        depth = self.chain_depth if self.chain_depth > 0 else int(torch.randint(1, 4, (1,)))
        for _ in range(depth):
            name = self._any_of(space)
            make, signed = space[name]
            magnitudes = make(self._PARAMETER_MAX, *F.get_size(image))
            magnitude = 0.0
            if magnitudes is not None:
                magnitude = float(magnitudes[int(torch.randint(self.severity, ()))])
                if signed and torch.rand(()) <= 0.5:
                    magnitude = -magnitude
            batch = self._carry_out(batch, name, magnitude)
        return batch
