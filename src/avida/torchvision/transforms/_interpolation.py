"""InterpolationMode: torchvision's own where it is installed, else the same made here."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from avida.torchvision import _theirs

if TYPE_CHECKING or _theirs.torchvision() is None:

    class InterpolationMode(enum.Enum):
        """How pixels are interpolated. The last three are for PIL images, `LANCZOS` in some versions of tensors too."""

        NEAREST = "nearest"
        NEAREST_EXACT = "nearest-exact"
        BILINEAR = "bilinear"
        BICUBIC = "bicubic"
        BOX = "box"
        HAMMING = "hamming"
        LANCZOS = "lanczos"

else:
    from torchvision.transforms import InterpolationMode

Interpolation = InterpolationMode | str | int
_MODES = {mode.value: mode for mode in InterpolationMode}
_OF_PIL = {"nearest": 0, "nearest-exact": 0, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5, "lanczos": 1}


def mode_of(interpolation: Any) -> InterpolationMode:
    """The mode that a mode, its name or Pillow's number stands for."""
    if isinstance(interpolation, InterpolationMode):
        return interpolation
    if isinstance(interpolation, str):
        if interpolation not in _MODES:
            raise ValueError(f"Invalid interpolation mode: '{interpolation}'. Supported string values: {list(_MODES)}")
        return _MODES[interpolation]
    if isinstance(interpolation, int):
        for mode, number in _OF_PIL.items():
            if number == interpolation:
                return _MODES[mode]
    raise ValueError(
        "Argument interpolation should be an `InterpolationMode` or a corresponding Pillow integer constant, "
        f"but got {interpolation}."
    )


def pil_number(mode: InterpolationMode) -> Any:
    """Pillow's number of a mode."""
    return _OF_PIL[mode.value]
