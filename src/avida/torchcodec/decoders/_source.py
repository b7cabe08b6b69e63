"""What decoders of torchcodec are given: paths, bytes, tensors of bytes and file objects."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch

from avida.decoders._media_info import core

Source = str | Path | bytes | torch.Tensor | IO[bytes]


def opened(kind: str, source: Any, stream: int | None, *more: Any) -> Any:
    """An OpenVideo or OpenSound of the core."""
    if stream is not None and stream < 0:
        raise ValueError(f"expected a stream_index of at least 0, got {stream}")
    if isinstance(source, torch.Tensor):
        if source.dtype != torch.uint8 or source.ndim != 1:
            raise ValueError(f"expected a uint8 tensor with one axis, got {source.dtype} with {source.ndim}")
        given: Any = source.cpu().contiguous().numpy()
    elif isinstance(source, str | os.PathLike):
        given = os.fspath(source)
    elif isinstance(source, bytes | bytearray | memoryview | np.ndarray) or (
        hasattr(source, "read") and hasattr(source, "seek")
    ):
        given = source
    elif hasattr(source, "read") or hasattr(source, "seek"):
        raise RuntimeError("File like object must implement read(size) and seek(offset, whence) methods")
    else:
        raise TypeError(
            f"Unknown source type: {type(source)}. Expected str, Path, bytes, Tensor, or a file-like object with "
            "read(size) and seek(offset, whence)"
        )
    try:
        return core(kind, "avida.torchcodec")(given, -1 if stream is None else stream, *more)
    except RuntimeError as error:
        if "number of a stream" in str(error) or "the file has none" in str(error) or "is one of" in str(error):
            raise ValueError(f"The stream index {stream} is not a valid stream: {error}") from None
        raise
