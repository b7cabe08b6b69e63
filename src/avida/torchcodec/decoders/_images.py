"""decode_image and its siblings, with torchcodec's names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

import avida

Mode = Literal["UNCHANGED", "GRAY", "GRAY_ALPHA", "RGB", "RGB_ALPHA"]
_CHANNELS = {"GRAY": 1, "GRAY_ALPHA": 2, "RGB": 3, "RGB_ALPHA": 4}
_ANIMATED = ("GIF", "WebP")


def decode_image(
    source: str | Path | bytes | torch.Tensor,
    *,
    mode: Mode = "RGB",
    output_dtype: torch.dtype | Literal["auto"] = torch.uint8,
) -> torch.Tensor:
    """Decodes an image of any format that avida reads, to (C, H, W).

    Animations, which are GIF and WebP files with several frames, become (N, C, H, W).

    Args:
        source: A path, the bytes of a file, or a uint8 tensor of them.
        mode: The colours: "RGB", "GRAY", "RGB_ALPHA", "GRAY_ALPHA", or "UNCHANGED" for those of the file.
        output_dtype: torch.uint8, torch.uint16, or "auto": what the file stores.

    Example:
        >>> avida.torchcodec.decoders.decode_image(b"P5 2 1 255 ab", mode="GRAY").tolist()
        [[[97, 98]]]

    """
    return _decoded(source, None, mode, output_dtype)


def decode_jpeg(source: str | Path | bytes | torch.Tensor, *, mode: Mode = "RGB") -> torch.Tensor:
    """Decodes a JPEG file to (C, H, W)."""
    return _decoded(source, "JPEG", mode, torch.uint8)


def decode_png(
    source: str | Path | bytes | torch.Tensor,
    *,
    mode: Mode = "RGB",
    output_dtype: torch.dtype | Literal["auto"] = torch.uint8,
) -> torch.Tensor:
    """Decodes a PNG file to (C, H, W)."""
    return _decoded(source, "PNG", mode, output_dtype)


def decode_webp(source: str | Path | bytes | torch.Tensor, *, mode: Mode = "RGB") -> torch.Tensor:
    """Decodes a WebP file to (C, H, W), or an animation to (N, C, H, W)."""
    return _decoded(source, "WebP", mode, torch.uint8)


def decode_gif(source: str | Path | bytes | torch.Tensor, *, mode: Mode = "RGB") -> torch.Tensor:
    """Decodes a GIF file to (C, H, W), or an animation to (N, C, H, W)."""
    return _decoded(source, "GIF", mode, torch.uint8)


def _decoded(source: Any, expected: str | None, mode: Any, output_dtype: Any) -> torch.Tensor:
    name = str(getattr(mode, "name", mode)).upper()
    if name != "UNCHANGED" and name not in _CHANNELS:
        raise ValueError(f"Invalid mode ({mode}). Supported values are {', '.join(['UNCHANGED', *_CHANNELS])}.")
    file = _bytes(source)
    info = avida.decoders.image_info(file)
    if expected and info.format != expected:
        raise RuntimeError(f"expected a file in the format {expected}, got {info.format}")
    wide = output_dtype == torch.uint16 or (output_dtype == "auto" and info.bits > 8)
    if output_dtype not in (torch.uint8, torch.uint16, "auto"):
        raise ValueError(
            f"Invalid output_dtype ({output_dtype}). Supported values are torch.uint8, torch.uint16, auto."
        )
    frames = info.frames > 1 and info.format in _ANIMATED
    colors = {"GRAY": "GRAY", "RGB": "RGB"}.get(name, "ANY_DATA")
    pixels = _pixels(file, colors, frames, wide)
    pixels = pixels if colors != "ANY_DATA" or name == "UNCHANGED" else _with_alpha(file, pixels, name, frames, wide)
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(pixels, -1, -3)))


def _with_alpha(file: Any, pixels: np.ndarray, name: str, frames: bool, wide: bool) -> np.ndarray:
    """Colours of the kind that was asked for, with the file's alpha, or with none that is transparent."""
    white = np.iinfo(pixels.dtype).max
    alpha = pixels[..., -1:] if pixels.shape[-1] in (2, 4) else np.full_like(pixels[..., :1], white)
    colors = "GRAY" if name == "GRAY_ALPHA" else "RGB"
    return np.concatenate([_pixels(file, colors, frames, wide), alpha], -1)


def _pixels(file: np.ndarray, colors: str, frames: bool, wide: bool) -> np.ndarray:
    output_type = getattr(avida.types, colors)
    if frames:
        return np.asarray(avida.decoders.image(file, output_type=output_type, frames=True))
    return np.asarray(avida.decoders.image(file, output_type=output_type, dtype=avida.uint16 if wide else avida.uint8))


def _bytes(source: Any) -> np.ndarray:
    if isinstance(source, str | os.PathLike):
        return np.asarray(avida.io.file.read(os.fspath(source)))
    if isinstance(source, torch.Tensor):
        return source.cpu().contiguous().numpy()
    return np.frombuffer(source, np.uint8)
