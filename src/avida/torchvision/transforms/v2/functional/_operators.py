"""Running avida's operators on tensors and on PIL images."""

from __future__ import annotations

from typing import Any

import numpy as np
import PIL.Image
import torch

from avida import _core
from avida._values.tensor import as_tensor

FLOATS_AND_BYTES = (torch.uint8, torch.float32)
PIL_MODES = ("RGB", "L")


def can_run(image: torch.Tensor, dtypes: tuple[torch.dtype, ...] = FLOATS_AND_BYTES) -> bool:
    """Whether operators take a tensor: in memory, of an element type they know, and outside of autograd and tracing."""
    return (
        image.dtype in dtypes
        and image.device.type == "cpu"
        and not image.requires_grad
        and image.numel() > 0
        and not torch.compiler.is_compiling()
        and type(image) is torch.Tensor
    )


def run(operator: str, image: torch.Tensor, *inputs: Any, **arguments: Any) -> torch.Tensor:
    """What an operator makes of images, ... x C x H x W. Images that lie in memory by pixels stay so."""
    if image.ndim == 3:
        by_pixels = image.permute(1, 2, 0)
        if image.shape[0] > 1 and by_pixels.is_contiguous():
            return _called(operator, by_pixels, "HWC", inputs, arguments).permute(2, 0, 1)
        return _called(operator, image, "CHW", inputs, arguments)
    frames = image.reshape(-1, *image.shape[-3:])
    made = _called(operator, frames, "FCHW", inputs, arguments)
    return made.reshape(image.shape[:-3] + made.shape[-3:])


def run_on_pil(operator: str, image: PIL.Image.Image, **arguments: Any) -> PIL.Image.Image:
    """What an operator makes of a PIL image in one of PIL_MODES."""
    pixels = np.asarray(image)
    layout = "HWC"
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    made = np.asarray(_core.op(operator)(as_tensor(pixels, layout=layout), **arguments))
    return PIL.Image.fromarray(made[:, :, 0] if image.mode == "L" else made, image.mode)


def _called(operator: str, pixels: torch.Tensor, layout: str, inputs: Any, arguments: Any) -> torch.Tensor:
    return _core.op(operator)(as_tensor(pixels, layout=layout), *inputs, **arguments).torch()
