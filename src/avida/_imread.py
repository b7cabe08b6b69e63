"""imread: image files by their paths."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from avida._batch import Batch, as_batch
from avida._tensor import Tensor, as_tensor
from avida._typing import DTypeArg
from avida.decoders import image
from avida.io.file import read

Path = str | os.PathLike[str]


def imread(
    filepaths: Path | Sequence[Path] | Tensor | Batch,
    /,
    *,
    device: Any = "cpu",
    adjust_orientation: bool | None = None,
    affine: bool | None = None,
    cache_batch_copy: bool | None = None,
    cache_debug: bool | None = None,
    cache_size: int | None = None,
    cache_threshold: int | None = None,
    cache_type: str | None = None,
    device_memory_padding: int | None = None,
    device_memory_padding_jpeg2k: int | None = None,
    dtype: DTypeArg | None = None,
    host_memory_padding: int | None = None,
    host_memory_padding_jpeg2k: int | None = None,
    hw_decoder_load: float | None = None,
    hybrid_huffman_threshold: int | None = None,
    jpeg_fancy_upsampling: bool | None = None,
    memory_stats: bool | None = None,
    output_type: int | None = None,
    preallocate_height_hint: int | None = None,
    preallocate_width_hint: int | None = None,
    split_stages: bool | None = None,
    use_chunk_allocator: bool | None = None,
    use_fast_idct: bool | None = None,
    on_error: str | None = None,
    reduce_to: Any = None,
) -> Any:
    """Reads and decodes image files: one path gives a Tensor, a list of paths a Batch.

    Args:
        filepaths: A path, a list of paths, or paths as bytes in a Tensor or Batch.
        device: Where to decode.
        adjust_orientation: These and the others are the arguments of :func:`avida.decoders.image`.
    """
    return image(
        read(_paths_as_bytes(filepaths)),
        device=device,
        adjust_orientation=adjust_orientation,
        dtype=dtype,
        output_type=output_type,
        use_fast_idct=use_fast_idct,
        on_error=on_error,
        reduce_to=reduce_to,
    )


def _paths_as_bytes(paths: Path | Sequence[Path] | Tensor | Batch) -> Tensor | Batch:
    if isinstance(paths, Tensor | Batch):
        return paths
    if isinstance(paths, str | os.PathLike):
        return as_tensor(_bytes_of(paths))
    if isinstance(paths, Sequence) and not paths:
        raise ValueError("expected at least one path, got an empty list")
    if isinstance(paths, Sequence) and all(isinstance(path, str | os.PathLike) for path in paths):
        return as_batch([_bytes_of(path) for path in paths])
    raise TypeError(f"expected a path or a list of paths, got {paths!r}")


def _bytes_of(path: Path) -> np.ndarray:
    return np.frombuffer(os.fsencode(path), np.uint8)
