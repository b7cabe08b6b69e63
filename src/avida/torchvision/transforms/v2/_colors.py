"""What changes colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from avida.torchvision.transforms.v2 import functional as F  # noqa: N812
from avida.torchvision.transforms.v2._transform import RandomTransform, Transform, drawn, query_chw
from avida.torchvision.transforms.v2.functional._colors import several_adjustments

_Range = float | Sequence[float] | None


class Grayscale(Transform):
    """Makes images gray.

    Args:
        num_output_channels: 1, or 3 that are equal.
    """

    _functional = F.rgb_to_grayscale
    _arguments = ("num_output_channels",)

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels


class RandomGrayscale(RandomTransform):
    """Makes images gray, which keep their channels, with probability p."""

    _functional = F.rgb_to_grayscale

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p=p)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"num_output_channels": query_chw(flat_inputs)[0]}


class RGB(Transform):
    """Makes three equal channels of one."""

    _functional = F.grayscale_to_rgb


class ColorJitter(Transform):
    """Changes brightness, contrast, saturation and hue at random, in random order.

    Args:
        brightness: How far the factor may be from 1, or its least and its largest value.
        contrast: The same.
        saturation: The same.
        hue: How far it is turned at most, of 0.5, or the least and the largest turn.
    """

    def __init__(
        self,
        brightness: _Range = None,
        contrast: _Range = None,
        saturation: _Range = None,
        hue: _Range = None,
    ) -> None:
        super().__init__()
        self.brightness = _range_of(brightness, "brightness", 1.0)
        self.contrast = _range_of(contrast, "contrast", 1.0)
        self.saturation = _range_of(saturation, "saturation", 1.0)
        self.hue = _range_of(hue, "hue", 0.0)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        params: dict[str, Any] = {"fn_idx": torch.randperm(4)}
        for name in ("brightness", "contrast", "saturation", "hue"):
            ends = getattr(self, name)
            params[f"{name}_factor"] = None if ends is None else drawn(*ends)
        return params

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        named = (("brightness", F.adjust_brightness), ("contrast", F.adjust_contrast))
        named += (("saturation", F.adjust_saturation), ("hue", F.adjust_hue))
        order = [i for i in params["fn_idx"].tolist() if params[f"{named[i][0]}_factor"] is not None]
        factors = {named[i][0]: params[f"{named[i][0]}_factor"] for i in order}
        made = several_adjustments(inpt, order, factors)
        if made is not None:
            return made
        for i in order:
            name, adjust = named[i]
            inpt = self._call_kernel(adjust, inpt, factors[name])
        return inpt


def _range_of(value: _Range, name: str, center: float) -> tuple[float, float] | None:
    """The least and the largest value; None where nothing would change."""
    if value is None:
        return None
    if isinstance(value, (int, float)):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be non negative.")
        ends = [center - value, center + value]
        if center:
            ends[0] = max(ends[0], 0.0)
    elif isinstance(value, Sequence) and len(value) == 2:
        ends = [float(each) for each in value]
    else:
        raise TypeError(f"{name}={value} should be a single number or a sequence with length 2.")
    low, high = (0, float("inf")) if center else (-0.5, 0.5)
    if not low <= ends[0] <= ends[1] <= high:
        raise ValueError(f"{name} values should be between {(low, high)} and increasing, but got {ends}.")
    return None if ends[0] == ends[1] == center else (float(ends[0]), float(ends[1]))


class RandomChannelPermutation(Transform):
    """Brings channels into random order."""

    _functional = F.permute_channels

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"permutation": torch.randperm(query_chw(flat_inputs)[0])}


class RandomPhotometricDistort(Transform):
    """Changes colours as in the training of SSD: each change, and the order of channels, with probability p.

    Args:
        brightness: The least and the largest factor.
        contrast: The same; it comes before or after saturation and hue.
        saturation: The same.
        hue: The least and the largest turn.
        p: How often.
    """

    def __init__(
        self,
        brightness: tuple[float, float] = (0.875, 1.125),
        contrast: tuple[float, float] = (0.5, 1.5),
        saturation: tuple[float, float] = (0.5, 1.5),
        hue: tuple[float, float] = (-0.05, 0.05),
        p: float = 0.5,
    ) -> None:
        super().__init__()
        self.brightness = brightness
        self.contrast = contrast
        self.hue = hue
        self.saturation = saturation
        self.p = p

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        channels = query_chw(flat_inputs)[0]
        params: dict[str, Any] = {}
        for name in ("brightness", "contrast", "saturation", "hue"):
            happens = torch.rand(1) < self.p
            params[f"{name}_factor"] = drawn(*getattr(self, name)) if happens else None
        params["contrast_before"] = bool(torch.rand(()) < 0.5)
        params["channel_permutation"] = torch.randperm(channels) if torch.rand(1) < self.p else None
        return params

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        names = ("brightness", "contrast", "saturation", "hue")
        order = [0, 1, 2, 3] if params["contrast_before"] else [0, 2, 3, 1]
        order = [i for i in order if params[f"{names[i]}_factor"] is not None]
        factors = {names[i]: params[f"{names[i]}_factor"] for i in order}
        made = several_adjustments(inpt, order, factors)
        if made is None:
            made = inpt
            for i in order:
                adjust = getattr(F, f"adjust_{names[i]}")
                made = self._call_kernel(adjust, made, factors[names[i]])
        if params["channel_permutation"] is not None:
            made = self._call_kernel(F.permute_channels, made, params["channel_permutation"])
        return made


class RandomEqualize(RandomTransform):
    """Makes all values of a channel about equally frequent, with probability p."""

    _functional = F.equalize


class RandomInvert(RandomTransform):
    """Makes dark what is bright, and the other way round, with probability p."""

    _functional = F.invert


class RandomAutocontrast(RandomTransform):
    """Stretches each channel from black to white, with probability p."""

    _functional = F.autocontrast


class RandomPosterize(RandomTransform):
    """Keeps the highest `bits` of each colour, with probability p."""

    _functional = F.posterize
    _arguments = ("bits",)

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p=p)
        self.bits = bits


class RandomSolarize(RandomTransform):
    """Inverts the colours that are not below `threshold`, with probability p."""

    _functional = F.solarize
    _arguments = ("threshold",)

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p=p)
        self.threshold = threshold


class RandomAdjustSharpness(RandomTransform):
    """Sharpens by a factor, or blurs where it is below 1, with probability p."""

    _functional = F.adjust_sharpness
    _arguments = ("sharpness_factor",)

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p=p)
        self.sharpness_factor = sharpness_factor


class GaussianNoise(Transform):
    """Adds Gaussian noise, whose deviation is a share of white; `clip` keeps it between black and white."""

    _functional = F.gaussian_noise
    _arguments = ("mean", "sigma", "clip")

    def __init__(self, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> None:
        super().__init__()
        self.mean = mean
        self.sigma = sigma
        self.clip = clip
