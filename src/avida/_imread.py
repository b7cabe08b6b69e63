"""imread: image files by their paths."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Never, Unpack, overload

from avida._values.arrays import listed
from avida._values.batch import Batch, as_batch
from avida._values.tensor import Tensor, as_tensor
from avida._values.typing import Array, DeviceArg, DTypeArg, ImageTypeArg
from avida.decoders import image
from avida.io.file import read

if TYPE_CHECKING:
    from avida.decoders._ops import ImageArguments

Path = str | os.PathLike[str]


@overload
def imread(filepaths: Path | Tensor, /, **arguments: Unpack[ImageArguments[Never]]) -> Tensor: ...
@overload
def imread(filepaths: Sequence[Path] | Batch, /, **arguments: Unpack[ImageArguments[Array]]) -> Batch: ...


def imread(
    filepaths: Path | Sequence[Path] | Tensor | Batch,
    /,
    *,
    device: DeviceArg | None = "cpu",
    adjust_orientation: bool | None = None,
    affine: bool | None = None,
    cache_batch_copy: bool | None = None,
    cache_debug: bool | None = None,
    cache_size: int | None = None,
    cache_threshold: int | None = None,
    cache_type: Literal["threshold", "largest", ""] | None = None,
    device_memory_padding: int | None = None,
    device_memory_padding_jpeg2k: int | None = None,
    dtype: DTypeArg | None = None,
    host_memory_padding: int | None = None,
    host_memory_padding_jpeg2k: int | None = None,
    hw_decoder_load: float | None = None,
    hybrid_huffman_threshold: int | None = None,
    jpeg_fancy_upsampling: bool | None = None,
    memory_stats: bool | None = None,
    output_type: ImageTypeArg | None = None,
    preallocate_height_hint: int | None = None,
    preallocate_width_hint: int | None = None,
    split_stages: bool | None = None,
    use_chunk_allocator: bool | None = None,
    use_fast_idct: bool | None = None,
    on_error: Literal["raise", "placeholder"] | None = None,
    frames: Any = None,
    page: Any = None,
    reduce_to: Any = None,
) -> Any:
    """Reads and decodes image files.

    Args:
        filepaths: A path, a list of paths, or paths as bytes in a Tensor or Batch.
        device: Where to decode.
        adjust_orientation: This and the other arguments are those of :func:`avida.decoders.image`.

    Returns:
        For one path a Tensor, for a list of paths a Batch: uint8, layout HWC.

    Raises:
        RuntimeError: A file cannot be read or decoded: raised when the result is read, unless ``on_error`` is
            "placeholder".
    """
    return image(
        read(_paths_as_bytes(filepaths)),
        device=device,
        adjust_orientation=adjust_orientation,
        dtype=dtype,
        output_type=output_type,
        use_fast_idct=use_fast_idct,
        on_error=on_error,
        frames=frames,
        page=page,
        reduce_to=reduce_to,
    )


def _paths_as_bytes(paths: Path | Sequence[Path] | Tensor | Batch) -> Tensor | Batch:
    if isinstance(paths, Tensor | Batch):
        return paths
    if isinstance(paths, str | os.PathLike):
        return as_tensor(os.fsencode(paths))
    items = listed(paths)
    if items is not None and len(items) == 0:
        raise ValueError("expected at least one path, got an empty list")
    if items is not None and all(isinstance(path, str | os.PathLike) for path in items):
        return as_batch([os.fsencode(path) for path in items])
    if isinstance(paths, bytes | bytearray | memoryview):
        raise TypeError("expected a path or a list of paths, got bytes; avida.decoders.image decodes those")
    raise TypeError(f"expected a path or a list of paths, got {paths!r:.80}")
